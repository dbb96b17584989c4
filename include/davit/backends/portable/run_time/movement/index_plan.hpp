// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/run_time/dispatch.hpp"
#include "davit/kernels/function_ref.hpp"
#include "davit/kernels/move.hpp"
#include "davit/kernels/walk_in_parallel.hpp"

namespace davit::portable_kernels {

/// The elements that a list of index tensors selects: the dimensions before the indexed ones, the broadcast shape of
/// the index tensors, and the dimensions after. If a dimension between two indexed ones is not indexed, the broadcast
/// shape comes first, then all other dimensions. Source: at::native::make_info and AdvancedIndex.
struct IndexPlan {
  Sizes before;
  Sizes picked;
  Sizes after;
  Sizes before_strides;
  Sizes after_strides;
  Sizes result;                           ///< the three groups, concatenated
  const std::int64_t* offsets = nullptr;  ///< per position of `picked`, in elements; null if the result is empty
  bool one_mask = false;                  ///< the only index is a mask
};

/// A row of n selected elements: `own_step` apart in the indexed tensor or, with `offsets`, each at its own offset from
/// the first. All in elements.
struct SelectedRow {
  std::int64_t own;
  std::int64_t own_step;
  const std::int64_t* offsets;
  std::int64_t other;
  std::int64_t other_step;
  std::int64_t n;

  /// Calls f(offset in the indexed tensor, offset in the other) for each element.
  template <class F>
  void for_each(F&& f) const {
    std::int64_t at = other;
    if (offsets != nullptr) {
      for (std::int64_t i = 0; i < n; ++i, at += other_step) f(own + offsets[i], at);
    } else {
      std::int64_t mine = own;
      for (std::int64_t i = 0; i < n; ++i, at += other_step, mine += own_step) f(mine, at);
    }
  }
  /// Copies the elements to the other tensor, or from it.
  void move(std::size_t element, bool gathers, void* indexed, void* to_or_from) const noexcept {
    const auto bytes = static_cast<std::int64_t>(element);
    std::byte* const at = static_cast<std::byte*>(indexed) + own * bytes;
    std::byte* const there = static_cast<std::byte*>(to_or_from) + other * bytes;
    if (offsets != nullptr) {
      const kernels::IndexedRow row{reinterpret_cast<const std::byte*>(offsets), sizeof(std::int64_t), INT64_MAX, bytes,
                                    0};
      (void)kernels::move_indexed(element, gathers, row, at, there, other_step * bytes, n);
    } else if (gathers) {
      kernels::move_row(element, at, own_step * bytes, there, other_step * bytes, n);
    } else {
      kernels::move_row(element, there, other_step * bytes, at, own_step * bytes, n);
    }
  }
};

/// Calls f for rows of selected elements, in row-major order of the result; `strides` are the other tensor's. If `f`
/// allows it, on the threads of the team.
inline void for_each_selected_row(const IndexPlan& plan, const Sizes& strides,
                                  kernels::FunctionRef<void(const SelectedRow&)> f, bool on_threads = false) {
  if (plan.offsets == nullptr) return;
  const std::size_t tail = plan.before.rank + plan.picked.rank;
  std::int64_t run = 1;  // the innermost dimensions with even steps in both tensors
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
  const Walk after = kernels::walk_over(plan.after.span().first(rest),
                                        std::array{plan.after_strides, Sizes(strides.span().subspan(tail))});
  Sizes picked(plan.picked);
  const std::array<Sizes, 1> picked_strides{Sizes(strides.span().subspan(plan.before.rank, plan.picked.rank))};
  std::int64_t row = 1;  // positions that form a row each
  std::int64_t row_step = 0;
  if (run == 1 && rest == 0 && picked.rank != 0) {
    row = picked[picked.rank - 1];
    row_step = picked_strides[0][picked.rank - 1];
    picked[picked.rank - 1] = 1;
  }
  const Walk outer =
      kernels::walk_over(plan.before, std::array{plan.before_strides, Sizes(strides.span().first(plan.before.rank))});
  const Walk positions = kernels::walk_over(picked, picked_strides);
  const auto walk_through = [&](const kernels::WalkPart& entries, const kernels::WalkPart& part) {
    for_each_index<2>(entries.walk, [&](std::int64_t own, std::int64_t other) {
      own += entries.at[0];
      other += entries.at[1] + part.at[0];
      const std::int64_t* offset = plan.offsets + part.before * row;
      for_each_index<1>(part.walk, [&](std::int64_t at) {
        const std::int64_t* first = offset;
        offset += row;
        if (row != 1) return f({own, 0, first, other + at, row_step, row});
        for_each_index<2>(after, [&](std::int64_t a, std::int64_t b) {
          f({own + *first + a, own_step, nullptr, other + at + b, other_step, run});
        });
      });
    });
  };
  const kernels::WalkPart all_entries{outer, {}, 0}, all_positions{positions, {}, 0};
  if (!on_threads) return walk_through(all_entries, all_positions);
  const double of_position = kernels::operations(row, after.count, run, 8);
  if (outer.count > 1)
    kernels::walk_in_parallel(outer, 1, kernels::operations(positions.count, of_position),
                              [&](std::size_t, const kernels::WalkPart& part) { walk_through(part, all_positions); });
  else
    kernels::walk_in_parallel(positions, 1, of_position,
                              [&](std::size_t, const kernels::WalkPart& part) { walk_through(all_entries, part); });
}

}  // namespace davit::portable_kernels
