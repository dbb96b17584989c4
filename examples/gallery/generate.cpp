// SPDX-License-Identifier: MIT
// Generates text letter by letter with a model that keeps its attention keys and values between calls (a KV cache).
//   generate rhyme.pt2 [COUNT]
#include <davit/davit.hpp>
#include <davit/formats/pt2.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr std::string_view letters = " .abcdefghijklmnopqrstuvwxyz";

int fail(const davit::Error& error) { return std::fprintf(stderr, "%s\n", to_string(error).c_str()), 1; }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: generate rhyme.pt2 [count]\n"), 2;
  const auto program = davit::formats::read_pt2(argv[1]);
  if (!program) return fail(program.error());
  const auto lowered = davit::to_backend<davit::portable>(*program);
  if (!lowered) return fail(lowered.error());
  auto session = davit::Session::make(*lowered);
  if (!session) return fail(session.error());

  std::array<std::int64_t, 1> letter{static_cast<std::int64_t>(letters.find('t'))};
  std::array<std::int64_t, 1> place{0};
  const std::int64_t count = argc > 2 ? std::atoll(argv[2]) : 54;
  for (; place[0] < count; ++place[0]) {
    std::putchar(letters[static_cast<std::size_t>(letter[0])]);
    // writes a single row of the cache; a place outside the cache is an Error and leaves it unchanged
    const auto outputs = session->run("forward", davit::tensor(letter, {1}), davit::tensor(place, {1}));
    if (!outputs) return std::putchar('\n'), fail(outputs.error());
    const auto scores = (*outputs)[0].as<float>();
    if (!scores) return fail(scores.error());
    letter[0] = std::ranges::max_element(*scores) - scores->begin();
  }
  std::putchar('\n');
}
