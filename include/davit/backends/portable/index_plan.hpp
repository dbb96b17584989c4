// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/dispatch.hpp"

namespace davit::portable_kernels {

/// Which elements a list of index tensors selects: dimensions before the indexed ones, the shape that the index tensors
/// broadcast to, and the dimensions after. Where a dimension between two indexed ones is not indexed, the selection
/// comes first and all other dimensions after it.
/// Source: at::native::make_info and AdvancedIndex.
struct IndexPlan {
  Sizes before;
  Sizes picked;
  Sizes after;
  Sizes before_strides;
  Sizes after_strides;
  Sizes result;                           ///< the three after one another
  const std::int64_t* offsets = nullptr;  ///< per position of `picked`, in elements; none if the result is empty
  bool one_mask = false;                  ///< a mask is the only index
};

/// Calls f(offset in the indexed tensor, offset in the other) for each selected element in row-major order of the
/// result, which the other tensor walks with `strides`.
template <class F>
void for_each_indexed(const IndexPlan& plan, const Sizes& strides, F&& f) {
  if (plan.offsets == nullptr) return;
  const std::size_t tail = plan.before.rank + plan.picked.rank;
  std::int64_t run = 1;  // the innermost dimensions that both walk evenly
  std::int64_t own_step = 0;
  std::int64_t other_step = 0;
  std::size_t rest = plan.after.rank;
  for (; rest > 0; --rest) {
    const std::int64_t size = plan.after[rest - 1];
    const std::int64_t own = plan.after_strides[rest - 1];
    const std::int64_t other = strides[tail + rest - 1];
    if (size == 1) continue;
    if (run == 1) {
      own_step = own;
      other_step = other;
    } else if (own != own_step * run || other != other_step * run) {
      break;
    }
    run *= size;
  }
  const auto along = [&](std::int64_t own, std::int64_t other) {
    for (std::int64_t i = 0; i < run; ++i) f(own + i * own_step, other + i * other_step);
  };
  const std::array<Sizes, 2> after{plan.after_strides, Sizes(strides.span().subspan(tail))};
  const std::array<Sizes, 1> picked{Sizes(strides.span().subspan(plan.before.rank, plan.picked.rank))};
  for_each_index<2>(plan.before, {plan.before_strides, Sizes(strides.span().first(plan.before.rank))},
                    [&](std::int64_t own, std::int64_t other) {
                      const std::int64_t* offset = plan.offsets;
                      for_each_index<1>(plan.picked, picked, [&](std::int64_t at) {
                        const std::int64_t start = own + *offset++;
                        if (rest == 0) return along(start, other + at);
                        for_each_index<2>(plan.after.span().first(rest), after,
                                          [&](std::int64_t a, std::int64_t b) { along(start + a, other + at + b); });
                      });
                    });
}

}  // namespace davit::portable_kernels
