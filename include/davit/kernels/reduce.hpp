// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "davit/core/walk.hpp"
#include "davit/kernels/blocks.hpp"
#include "davit/kernels/reduce_loops.hpp"
#include "davit/kernels/walk_in_parallel.hpp"

namespace davit::kernels {

/// A tensor's groups of elements, each reduced to one.
class Groups {
 public:
  static constexpr std::size_t max_at_once = AccumulatedColumns::most;

  /// `kept`: dimensions that index a group; `reduced`: dimensions inside a group; strides are in elements. Unless
  /// `in_order`, a group's elements come in memory order.
  Groups(const TensorView& x, std::span<const std::int64_t> kept, std::span<const std::int64_t> kept_strides,
         std::span<const std::int64_t> reduced, std::span<const std::int64_t> reduced_strides,
         bool in_order = true) noexcept
      : data_(static_cast<const std::byte*>(x.data)), element_(size_of(x.dtype)), outer_(kept), inner_(reduced) {
    outer_.add(kept_strides, element_).collapse();
    inner_.add(reduced_strides, element_);
    if (!in_order) inner_.sort_by(0);
    inner_.collapse();
    const auto bytes = static_cast<std::int64_t>(element_);
    const bool few = inner_.count <= max_gathered;
    // overlapping windows are adjacent, too: if they are long and few, rows are faster
    const bool side_by_side =
        outer_.strides[0][0] == bytes && (few || inner_.strides[0][0] != bytes || outer_.sizes[0] >= columns_of_a_part);
    in_columns_ = inner_.count > 1 && outer_.sizes[0] >= fewest_columns && (few || side_by_side);
  }

  /// Calls each(first element, groups) for all groups in order: max_at_once groups at a time if their elements are
  /// adjacent, or few, and `loop` can take columns; else one.
  template <class F>
  void for_each(const ReduceLoop& loop, F&& each) const {
    if (outer_.count == 0) return;
    const std::int64_t step = outer_.strides[0][0];
    const auto most = static_cast<std::int64_t>(in_columns_ && loop.columns != nullptr ? max_at_once : 1);
    outer_.for_each_row([&](const auto& at) {
      for (std::int64_t i = 0, n = 0; i < outer_.sizes[0]; i += n) {
        n = std::min(most, outer_.sizes[0] - i);
        each(data_ + at[0] + i * step, static_cast<std::size_t>(n));
      }
    });
  }
  /// Calls f(groups, number of earlier groups) for stretches of the groups in order, on the threads of the team.
  template <class F>
  void in_parallel(F&& f) const {
    if (outer_.count == 0) return;
    const bool together = in_columns_ && outer_.rank == 1;
    walk_in_parallel(outer_, together ? columns_of_a_part : 1, operations(inner_.count, 4),
                     [&](std::size_t, const WalkPart& part) {
                       Groups own = *this;
                       own.outer_ = part.walk;
                       own.data_ += part.at[0];
                       f(own, part.before);
                     });
  }
  /// Reduces one group (or the batch of groups of `for_each`) into its accumulators, after conversion; `loop` is the
  /// loop of the converted type.
  [[gnu::noinline]] void reduce(const std::byte* first, const Conversion& conversion, const ReduceLoop& loop,
                                AccumulatedColumns& so_far) const {
    if (inner_.count == 0) return;
    if (so_far.count > 1) return reduce_columns(first, conversion, loop, so_far);
    Accumulated one = so_far.first();
    reduce_row(first, conversion, loop, one);
    so_far.set_first(one);
  }

 private:
  static constexpr std::int64_t fewest_columns = 8;
  static constexpr std::int64_t columns_of_a_part = 64;  ///< threads share groups in multiples of it
  static constexpr std::int64_t max_gathered = 32;  ///< the most elements of a group that is gathered into a column
  static constexpr std::int64_t shortest_row = 64;  ///< the shortest row that is read in place
  const std::byte* data_;
  std::size_t element_;
  Walk outer_;
  Walk inner_;
  bool in_columns_;

  void reduce_row(const std::byte* first, const Conversion& conversion, const ReduceLoop& loop,
                  Accumulated& so_far) const {
    if (conversion.count == 0 && (inner_.count == 1 || inner_.strides[0][0] == static_cast<std::int64_t>(element_))) {
      if (inner_.rank == 1) return loop.row(first, inner_.sizes[0], so_far);
      if (inner_.sizes[0] >= shortest_row)
        return inner_.for_each_row([&](const auto& at) { loop.row(first + at[0], inner_.sizes[0], so_far); });
    }
    Block own;
    Block scratch;
    BlockReader reader;
    Conversion load = conversion;
    if (load.count == 0) load.element = element_;
    reader.start(inner_, 0, first, element_, load);
    for (std::int64_t left = inner_.count; left > 0;) {
      const std::int64_t n = std::min(left, block_length);
      loop.row(static_cast<const std::byte*>(reader.next(n, own, scratch)), n, so_far);
      left -= n;
    }
  }
  void reduce_columns(const std::byte* first, const Conversion& conversion, const ReduceLoop& loop,
                      AccumulatedColumns& so_far) const {
    const std::int64_t step = inner_.strides[0][0], across = outer_.strides[0][0];
    const auto bytes = static_cast<std::int64_t>(element_);
    if (conversion.count == 0 && across == bytes)
      return inner_.for_each_row([&](const auto& at) { loop.columns(first + at[0], step, inner_.sizes[0], so_far); });
    const std::int64_t most = block_length / so_far.count;
    Block own;
    Block scratch;
    std::byte* const gathered = block_before(conversion, own, scratch);
    std::int64_t rows = 0;
    const auto work = [&] {
      const std::byte* from = gathered;
      if (conversion.count != 0) {
        conversion.run(gathered, own.bytes.data(), scratch.bytes.data(), rows * so_far.count);
        from = own.bytes.data();
      }
      const std::size_t element = conversion.count != 0 ? conversion.element : element_;
      loop.columns(from, so_far.count * static_cast<std::int64_t>(element), rows, so_far);
      rows = 0;
    };
    inner_.for_each_row([&](const auto& at) {
      for (std::int64_t i = 0; i < inner_.sizes[0]; ++i) {
        move_row(element_, first + at[0] + i * step, across, gathered + rows * so_far.count * bytes, bytes,
                 so_far.count);
        if (++rows == most) work();
      }
    });
    if (rows > 0) work();
  }
};

/// Writes the results of groups, one after the other, to a contiguous tensor, converted by blocks.
class ResultWriter {
 public:
  /// Begins at element `first`. `integers`: results are accumulated in integers, else in double.
  ResultWriter(const TensorView& out, bool integers, std::int64_t first) noexcept
      : to_(static_cast<std::byte*>(out.data) + static_cast<std::size_t>(first) * size_of(out.dtype)),
        store_(Conversion::between(integers ? ScalarType::int64 : ScalarType::float64, out.dtype)),
        integers_(integers) {}
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;
  ~ResultWriter() { flush(); }
  void push(const AccumulatedColumns& results) noexcept {
    if (integers_)
      push(results.integer.data(), static_cast<std::size_t>(results.count));
    else
      push(results.real.data(), static_cast<std::size_t>(results.count));
  }
  /// Writes n results, at most AccumulatedColumns::most.
  template <class T>
  void push(const T* results, std::size_t n) noexcept {
    static_assert(sizeof(T) == sizeof(std::uint64_t));
    if (n > values_.size() - used_) flush();
    if (n == 1)
      std::memcpy(values_.data() + used_, results, sizeof(T));
    else
      std::memcpy(values_.data() + used_, results, n * sizeof(T));
    used_ += n;
  }

 private:
  std::byte* to_;
  Conversion store_;
  bool integers_;
  std::size_t used_ = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(block_length)> values_;

  [[gnu::noinline]] void flush() noexcept {
    if (used_ == 0) return;
    Block scratch;
    if (store_.count == 0) std::memcpy(to_, values_.data(), used_ * sizeof(std::uint64_t));
    store_.run(values_.data(), to_, scratch.bytes.data(), static_cast<std::int64_t>(used_));
    to_ += used_ * store_.element;
    used_ = 0;
  }
};

}  // namespace davit::kernels
