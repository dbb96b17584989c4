// SPDX-License-Identifier: MIT
// A network with a KV cache writes a rhyme, letter by letter, from its own output. On the host: writes what it answers as a
// header; on the board: returns 0 only if every step answers as there.
#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "rhyme.hpp"  // written by davit embed

#ifdef __arm__
#include "decoded.hpp"  // written by this program on the host
#include "semihosting.hpp"
#else
#include <cstdio>
#endif

namespace {

constexpr const char* letters = " .abcdefghijklmnopqrstuvwxyz";
constexpr std::int64_t steps = 54;
using Scores = std::array<float, 28>;

constinit davit::static_module<rhyme, davit::portable> module;

/// Calls `each(step, letter, scores)`, with the letter that a step is given; false if a step fails.
template <class Each>
bool decode(Each&& each) {
  std::array<std::int64_t, 1> letter{21}, place{0};  // 't'
  for (; place[0] < steps; ++place[0]) {
    Scores scores{};
    if (!module.forward(letter, place, scores)) return false;
    each(static_cast<std::size_t>(place[0]), static_cast<std::size_t>(letter[0]), scores);
    std::size_t best = 0;
    for (std::size_t k = 1; k < scores.size(); ++k)
      if (scores[k] > scores[best]) best = k;
    letter[0] = static_cast<std::int64_t>(best);
  }
  return true;
}

}  // namespace

#ifdef __arm__
int main() {
  int wrong = 0;
  const bool ok = decode([&](std::size_t step, std::size_t letter, const Scores& scores) {
    const char text[] = {letters[letter], '\0'};
    firmware::write(text);
    bool same = true;
    for (std::size_t k = 0; k < scores.size(); ++k) {
      const float gap = scores[k] - decoded[step][k];
      same = same && gap <= 1e-4F && -gap <= 1e-4F;  // it rounds otherwise where it fuses a multiplication with an addition
    }
    wrong += same ? 0 : 1;
  });
  firmware::print("\n  ", steps, " steps, ", wrong, " otherwise than on the host");
  return ok && wrong == 0 ? 0 : 1;
}
#else
int main() {
  std::puts("#pragma once\ninline constexpr float decoded[][28] = {");
  const bool ok = decode([](std::size_t, std::size_t, const Scores& scores) {
    std::printf("  {");
    for (const float score : scores) std::printf("%aF, ", static_cast<double>(score));
    std::puts("},");
  });
  std::puts("};");
  return ok ? 0 : 1;
}
#endif
