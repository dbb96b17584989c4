// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "davit/core/walk.hpp"
#include "davit/kernels/blocks.hpp"
#include "davit/kernels/reduce_loops.hpp"
#include "davit/kernels/walk_in_parallel.hpp"

namespace davit::kernels {

/// A tensor's groups of elements, each of which is reduced to one.
class Groups {
 public:
  static constexpr std::size_t most_at_once = AccumulatedColumns::most;

  /// `kept` are the dimensions that name a group, `reduced` those inside; strides are in elements.
  Groups(const TensorView& x, std::span<const std::int64_t> kept, std::span<const std::int64_t> kept_strides,
         std::span<const std::int64_t> reduced, std::span<const std::int64_t> reduced_strides) noexcept
      : data_(static_cast<const std::byte*>(x.data)), element_(size_of(x.dtype)), outer_(kept), inner_(reduced) {
    outer_.add(kept_strides, element_).collapse();
    inner_.add(reduced_strides, element_).collapse();
    const auto bytes = static_cast<std::int64_t>(element_);
    in_columns_ = inner_.count > 1 && outer_.strides[0][0] == bytes && inner_.strides[0][0] != bytes &&
                  outer_.sizes[0] >= fewest_columns;
  }

  /// Calls each(first element, groups) for all groups in order, most_at_once at a time where their elements lie side by
  /// side and `loop` can take them, otherwise one.
  template <class F>
  void for_each(const ReduceLoop& loop, F&& each) const {
    if (outer_.count == 0) return;
    const std::int64_t step = outer_.strides[0][0];
    const auto most = static_cast<std::int64_t>(in_columns_ && loop.columns != nullptr ? most_at_once : 1);
    outer_.for_each_row([&](const auto& at) {
      for (std::int64_t i = 0, n = 0; i < outer_.sizes[0]; i += n) {
        n = std::min(most, outer_.sizes[0] - i);
        each(data_ + at[0] + i * step, static_cast<std::size_t>(n));
      }
    });
  }
  /// Calls f(groups, how many come before them) for stretches of the groups in order, on the threads of the team.
  template <class F>
  void in_parallel(F&& f) const {
    if (outer_.count == 0) return;
    const bool together = in_columns_ && outer_.rank == 1;
    walk_in_parallel(outer_, together ? static_cast<std::int64_t>(most_at_once) : 1, operations(inner_.count, 4),
                     [&](std::size_t, const WalkPart& part) {
                       Groups own = *this;
                       own.outer_ = part.walk;
                       own.data_ += part.at[0];
                       f(own, part.before);
                     });
  }
  /// Works the elements of one group, or of as many as `for_each` gave, converted, into what is accumulated; the loop
  /// is that of what they are converted to.
  [[gnu::noinline]] void reduce(const std::byte* first, const Conversion& conversion, const ReduceLoop& loop,
                                std::span<Accumulated> so_far) const {
    if (inner_.count == 0) return;
    const std::int64_t step = inner_.strides[0][0];
    if (so_far.size() > 1) return reduce_columns(first, conversion, loop, so_far);
    if (conversion.count == 0) {
      if (inner_.rank == 1) return loop.row(first, step, inner_.sizes[0], so_far[0]);
      return inner_.for_each_row([&](const auto& at) { loop.row(first + at[0], step, inner_.sizes[0], so_far[0]); });
    }
    Block own;
    Block scratch;
    BlockReader reader;
    reader.start(inner_, 0, first, element_, conversion);
    for (std::int64_t left = inner_.count; left > 0;) {
      const std::int64_t n = std::min(left, block_length);
      const auto* block = static_cast<const std::byte*>(reader.next(n, own, scratch));
      loop.row(block, static_cast<std::int64_t>(conversion.element), n, so_far[0]);
      left -= n;
    }
  }

 private:
  static constexpr std::int64_t fewest_columns = 8;
  const std::byte* data_;
  std::size_t element_;
  Walk outer_;
  Walk inner_;
  bool in_columns_;

  [[gnu::noinline]] void reduce_columns(const std::byte* first, const Conversion& conversion, const ReduceLoop& loop,
                                        std::span<Accumulated> groups) const {
    AccumulatedColumns so_far(groups);
    const std::int64_t step = inner_.strides[0][0];
    Block own;
    Block scratch;
    inner_.for_each_row([&](const auto& at) {
      const std::byte* const row = first + at[0];
      if (conversion.count == 0) return loop.columns(row, step, inner_.sizes[0], so_far);
      const std::int64_t most = block_length / so_far.count,
                         bytes = so_far.count * static_cast<std::int64_t>(conversion.element);
      for (std::int64_t i = 0, n = 0; i < inner_.sizes[0]; i += n) {
        n = std::min(most, inner_.sizes[0] - i);
        for (std::int64_t k = 0; k < n; ++k)
          conversion.run(row + (i + k) * step, own.bytes.data() + k * bytes, scratch.bytes.data(), so_far.count);
        loop.columns(own.bytes.data(), bytes, n, so_far);
      }
    });
    so_far.store(groups);
  }
};

/// Writes what groups were reduced to one after another into a contiguous tensor, converted by blocks.
class ResultWriter {
 public:
  /// From element `first` on. `integers`: what was accumulated in integers, else in double.
  ResultWriter(const TensorView& out, bool integers, std::int64_t first) noexcept
      : to_(static_cast<std::byte*>(out.data) + static_cast<std::size_t>(first) * size_of(out.dtype)),
        store_(Conversion::between(integers ? ScalarType::int64 : ScalarType::float64, out.dtype)),
        integers_(integers) {}
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;
  ~ResultWriter() { flush(); }
  void push(const Accumulated& result) noexcept {
    if (integers_)
      values_[used_++] = static_cast<std::uint64_t>(result.integer);
    else
      values_[used_++] = std::bit_cast<std::uint64_t>(result.real);
    if (used_ == values_.size()) flush();
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
