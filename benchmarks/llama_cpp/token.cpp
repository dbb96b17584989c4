// SPDX-License-Identifier: MIT
// Milliseconds of CPU time of a token of decoders that run in turn, behind 256 tokens.
//   token DECODER.davit...
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "davit/davit.hpp"
#include "davit/formats/package.hpp"

int main(int argc, char** argv) {
  using namespace davit;
  constexpr int tokens = 64, warm = 4;
  std::vector<Session> sessions;
  for (int i = 1; i < argc; ++i)
    sessions.push_back(
        value_or_exit(Session::make(value_or_exit(formats::load_program<portable>(std::string(argv[i]))))));
  std::vector<std::vector<double>> times(sessions.size());
  for (int t = 0; t < tokens; ++t)
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      const std::array<std::int64_t, 1> token{5 + t}, place{256 + t};
      const std::clock_t start = std::clock();
      (void)value_or_exit(sessions[i].run("forward", tensor(token, {1, 1}), tensor(place, {1})));
      if (t >= warm) times[i].push_back(1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
  for (std::size_t i = 0; i < times.size(); ++i) {
    std::ranges::sort(times[i]);
    std::printf("%s cpu_ms=%.2f\n", argv[i + 1], times[i][times[i].size() / 2]);
  }
}
