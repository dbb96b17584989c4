// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace davit::testing {

/// Random numbers that are equal on every machine.
class Random {
 public:
  /// Different seeds give independent numbers.
  explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du) {
    state_ = next();
  }
  constexpr std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  /// Returns a number in [0, limit); limit must not be 0.
  constexpr std::size_t below(std::size_t limit) noexcept { return static_cast<std::size_t>(next() % limit); }
  constexpr bool one_in(std::size_t n) noexcept { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

/// The recipe of a random program: equal recipes give equal programs, fewer steps a smaller program.
struct ProgramRecipe {
  std::uint64_t seed = 0;
  std::vector<std::uint64_t> steps{};  ///< a node or a control-flow construct each

  /// The recipe for a seed: 1 to 20 steps.
  [[nodiscard]] static ProgramRecipe of(std::uint64_t seed) {
    Random random(seed);
    ProgramRecipe out{.seed = random.next()};
    for (std::size_t i = 1 + random.below(20); i > 0; --i) out.steps.push_back(random.next());
    return out;
  }
  /// Shrinks a recipe by leaving steps out while `fails` holds. O(steps^2) calls.
  template <class Fails>
  [[nodiscard]] ProgramRecipe shrunk(Fails&& fails) const {
    ProgramRecipe best = *this;
    for (std::size_t size = best.steps.size(), before = size + 1; size > 0;
         size = size == 1 && before > best.steps.size() ? 1 : size / 2) {
      before = best.steps.size();
      for (std::size_t at = 0; at + size <= best.steps.size();) {
        ProgramRecipe less = best;
        less.steps.erase(less.steps.begin() + static_cast<std::ptrdiff_t>(at),
                         less.steps.begin() + static_cast<std::ptrdiff_t>(at + size));
        if (fails(less)) {
          best = std::move(less);
        } else {
          ++at;
        }
      }
    }
    return best;
  }
};

}  // namespace davit::testing
