// SPDX-License-Identifier: MIT
// A network with a KV cache continues a rhyme. `prefill` reads all given letters at once; `decode` reads its own output
// letter by letter; both share the cache. On the host: writes the results as a header. On the board: returns 0 only if
// every step has the host's results, and if decode gives the same results after it has refilled the cleared cache
// alone.
#include <algorithm>
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

[[maybe_unused]] constexpr const char* letters = " .abcdefghijklmnopqrstuvwxyz";
constexpr std::array<std::int64_t, 16> beginning{21, 24, 10, 15, 12, 13, 6, 0,
                                                 21, 24, 10, 15, 12, 13, 6, 0};  // "twinkle twinkle "
constexpr std::size_t steps = 54;
using Scores = std::array<float, 28>;
using Model = davit::static_module<rhyme, davit::portable>;

static_assert(Model::arena_bytes ==
              std::max(Model::method<rhyme::prefill>::arena_bytes, Model::method<rhyme::decode>::arena_bytes));
static_assert(Model::state_bytes == 2 * 64 * 24 * sizeof(float), "keys and values, once");

constinit Model model;

std::int64_t best(const Scores& scores) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < scores.size(); ++k)
    if (scores[k] > scores[best]) best = k;
  return static_cast<std::int64_t>(best);
}

/// Calls `each(place, letter, scores)` with the last letter and its scores. False if a step fails.
template <class Each>
bool write(bool at_once, Each&& each) {
  model.reset();
  Scores scores{};
  std::array<std::int64_t, 1> letter{}, place{};
  std::size_t at = 0;
  if (at_once) {
    if (!model.prefill(beginning, scores)) return false;
    at = beginning.size();
    each(at - 1, beginning.back(), scores);
  }
  for (; at < steps; ++at) {
    letter[0] = at < beginning.size() ? beginning[at] : best(scores);
    place[0] = static_cast<std::int64_t>(at);
    if (!model.decode(letter, place, scores)) return false;
    if (at + 1 >= beginning.size()) each(at, letter[0], scores);
  }
  return true;
}

}  // namespace

#ifdef __arm__
int main() {
  int wrong = 0;
  const auto compare = [&](std::size_t place, std::int64_t, const Scores& scores) {
    bool same = true;
    for (std::size_t k = 0; k < scores.size(); ++k) {
      const float gap = scores[k] - decoded[place - beginning.size() + 1][k];
      same = same && gap <= 1e-4F && -gap <= 1e-4F;  // rounding differs if a multiplication and addition are fused
    }
    wrong += same ? 0 : 1;
  };
  const auto compare_and_print = [&](std::size_t place, std::int64_t letter, const Scores& scores) {
    const char text[] = {letters[letter], '\0'};
    firmware::write(text);
    compare(place, letter, scores);
  };
  const bool ok = write(true, compare_and_print) && write(false, compare);
  firmware::print("\n  ", steps, " letters, ", wrong, " otherwise than on the host");
  return ok && wrong == 0 ? 0 : 1;
}
#else
int main() {
  std::puts("#pragma once\ninline constexpr float decoded[][28] = {");
  const bool ok = write(true, [](std::size_t, std::int64_t, const Scores& scores) {
    std::printf("  {");
    for (const float score : scores) std::printf("%aF, ", static_cast<double>(score));
    std::puts("},");
  });
  std::puts("};");
  return ok ? 0 : 1;
}
#endif
