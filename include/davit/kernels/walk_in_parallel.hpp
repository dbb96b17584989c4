// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/core/walk.hpp"
#include "davit/kernels/function_ref.hpp"
#include "davit/kernels/thread_team.hpp"

namespace davit::kernels {

/// A part of a walk.
struct WalkPart {
  const Walk& walk;
  std::array<std::int64_t, Walk::max_operands> at;  ///< its offset in the whole, in bytes, per operand
  std::int64_t before;                              ///< elements before it, if the outermost dimension was cut
};

/// Calls f(number, part) for stretches of dimension d that begin at multiples of `step`, on the threads of the team, as
/// in_parallel; `each`: operations per element.
[[gnu::noinline]] inline void walk_in_parallel(const Walk& walk, std::size_t d, std::int64_t step, double each,
                                               FunctionRef<void(std::size_t number, const WalkPart& part)> f) noexcept {
  in_parallel(walk.sizes[d], step, operations(walk.count, each),
              [&](std::size_t number, std::int64_t first, std::int64_t end) {
                if (end - first == walk.sizes[d]) return f(number, WalkPart{walk, {}, 0});
                Walk stretch = walk;
                stretch.sizes[d] = end - first;
                stretch.count = walk.count / walk.sizes[d] * (end - first);
                WalkPart part{stretch, {}, walk.count / walk.sizes[d] * first};
                for (std::size_t n = 0; n < walk.operands(); ++n) part.at[n] = first * walk.strides[n][d];
                f(number, part);
              });
}
/// walk_in_parallel along the outermost dimension, so that the stretches are in the walk's order.
inline void walk_in_parallel(const Walk& walk, std::int64_t step, double each,
                             FunctionRef<void(std::size_t number, const WalkPart& part)> f) noexcept {
  walk_in_parallel(walk, walk.rank - 1, step, each, f);
}

}  // namespace davit::kernels
