// SPDX-License-Identifier: MIT
// Milliseconds of CPU time of decoders that run in turn: a token behind 256 tokens, or, of files named prefill*, 256
// tokens at once.
//   token DECODER.davit...
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "davit/davit.hpp"
#include "davit/formats/package.hpp"

namespace {

using namespace davit;

/// A decoder, and its times.
struct Decoder {
  std::string file;
  bool is_prefill;
  Session session;
  std::vector<double> times{};

  void run(std::int64_t step) {
    const std::int64_t count = is_prefill ? 256 : 1, first = is_prefill ? 0 : 256 + step;
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(count), 5 + step), places(tokens.size());
    std::iota(places.begin(), places.end(), first);
    const std::clock_t start = std::clock();
    (void)value_or_exit(session.run("forward", tensor(tokens, {1, count}), tensor(places, {count})));
    times.push_back(1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<Decoder> decoders;
  for (const std::string& file : std::vector<std::string>(argv + 1, argv + argc))
    decoders.push_back({file, file.find("prefill") != std::string::npos,
                        value_or_exit(Session::make(value_or_exit(formats::load_program<portable>(file))))});
  for (std::int64_t step = 0; step < 64; ++step)
    for (Decoder& each : decoders)
      if (!each.is_prefill || step < 6) each.run(step);
  for (Decoder& each : decoders) {
    each.times.erase(each.times.begin(), each.times.begin() + (each.is_prefill ? 1 : 4));  // the first are slower
    std::ranges::sort(each.times);
    std::printf("%s %scpu_ms=%.2f\n", each.file.c_str(), each.is_prefill ? "prefill_256_" : "",
                each.times[each.times.size() / 2]);
  }
}
