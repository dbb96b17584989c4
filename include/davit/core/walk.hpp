// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "davit/core/next_index.hpp"
#include "davit/core/tensor_view.hpp"

namespace davit {

/// A strided iteration of several operands over common sizes: dimensions from innermost to outermost, with dimensions
/// of size 1 removed and adjacent dimensions merged if every operand allows it. Strides are in bytes.
///
/// Call `add` for each operand, then `collapse`. Rank 0 becomes one row of one element, so at least one row exists.
class Walk {
 public:
  static constexpr std::size_t max_operands = 4;
  static constexpr std::size_t max_dims = 2 * max_rank;  ///< repeat needs two per dimension of the tensor

  std::size_t rank;
  std::int64_t count;  ///< number of elements
  std::array<std::int64_t, max_dims> sizes;
  std::array<std::array<std::int64_t, max_dims>, max_operands> strides;

  Walk() noexcept : rank(0), count(1) {}
  [[gnu::noinline]] explicit Walk(std::span<const std::int64_t> of) noexcept : rank(of.size()), count(1) {
    for (std::size_t d = 0; d < rank; ++d) {
      sizes[d] = of[rank - 1 - d];
      count *= sizes[d];
    }
  }
  /// Adds an operand, whose strides are in elements of `element` bytes.
  [[gnu::noinline]] Walk& add(std::span<const std::int64_t> of, std::size_t element) noexcept {
    for (std::size_t d = 0; d < rank; ++d)
      strides[operands_][d] = of[rank - 1 - d] * static_cast<std::int64_t>(element);
    ++operands_;
    return *this;
  }
  /// Adds an outermost dimension with the strides of all operands.
  template <std::size_t N>
  Walk& push(std::int64_t size, const std::array<std::int64_t, N>& of) noexcept {
    sizes[rank] = size;
    count *= size;
    for (std::size_t n = 0; n < N; ++n) strides[n][rank] = of[n];
    operands_ = N;
    ++rank;
    return *this;
  }
  /// Sorts the dimensions by the strides of operand n, the smallest innermost; stable.
  void sort_by(std::size_t n) noexcept {
    for (std::size_t i = 1; i < rank; ++i)
      for (std::size_t d = i; d > 0 && strides[n][d] < strides[n][d - 1]; --d) swap(d, d - 1);
  }
  /// Exchanges two dimensions.
  void swap(std::size_t a, std::size_t b) noexcept {
    std::swap(sizes[a], sizes[b]);
    for (std::size_t k = 0; k < operands_; ++k) std::swap(strides[k][a], strides[k][b]);
  }
  [[gnu::noinline]] void collapse() noexcept {
    std::size_t kept = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      if (sizes[d] == 1) continue;
      if (kept != 0 && follows(kept - 1, d)) {
        sizes[kept - 1] *= sizes[d];
        continue;
      }
      sizes[kept] = sizes[d];
      for (std::size_t n = 0; n < operands_; ++n) strides[n][kept] = strides[n][d];
      ++kept;
    }
    if (kept == 0) {
      sizes[0] = count;
      for (std::size_t n = 0; n < operands_; ++n) strides[n][0] = 0;
      kept = 1;
    }
    rank = kept;
  }
  [[nodiscard]] std::size_t operands() const noexcept { return operands_; }
  /// True if operand n is contiguous in the order of the walk, for elements of `element` bytes.
  [[nodiscard]] bool is_dense(std::size_t n, std::size_t element) const noexcept {
    auto expected = static_cast<std::int64_t>(element);
    for (std::size_t d = 0; d < rank; ++d) {
      if (sizes[d] != 1 && strides[n][d] != expected) return false;
      expected *= sizes[d];
    }
    return true;
  }
  /// Returns the dimension with the contiguous stride of operand n, if it is not the innermost and its size is at least
  /// `least`; else 0.
  [[nodiscard]] std::size_t transposed_dimension(std::size_t n, std::size_t element,
                                                 std::int64_t least) const noexcept {
    const auto bytes = static_cast<std::int64_t>(element);
    if (strides[n][0] == bytes) return 0;
    for (std::size_t d = 1; d < rank; ++d)
      if (strides[n][d] == bytes && sizes[d] >= least) return d;
    return 0;
  }
  /// True if all strides of operand n are 0.
  [[nodiscard]] bool is_repeated(std::size_t n) const noexcept {
    for (std::size_t d = 0; d < rank; ++d)
      if (strides[n][d] != 0) return false;
    return true;
  }

  /// Byte offset of an innermost row, for each operand.
  struct Row {
    std::array<std::int64_t, max_operands> at{};
    std::array<std::int64_t, max_dims> index{};
  };
  /// Advances to the next row, or to the next block of the `first` innermost dimensions; false after the last.
  [[nodiscard, gnu::noinline]] bool next(Row& row, std::size_t first = 1) const noexcept {
    return next(row.index, first, [&](std::size_t d, std::ptrdiff_t steps) {
      for (std::size_t n = 0; n < operands_; ++n) row.at[n] += strides[n][d] * steps;
    });
  }
  /// As above for an index alone; calls move(d, steps) for each dimension that changes.
  template <class Move>
  [[gnu::always_inline]] bool next(std::array<std::int64_t, max_dims>& index, std::size_t first,
                                   Move&& move) const noexcept {
    for (std::size_t d = first; d < rank; ++d)
      if (next_in_dimension(d, index, sizes, move)) return true;
    return false;
  }
  /// Calls f(offsets) for each innermost row, or for each block of the `first` innermost dimensions. No size may be 0.
  template <class F>
  void for_each_row(F&& f, std::size_t first = 1) const {
    Row row;
    do f(row.at);
    while (next(row, first));
  }

 private:
  std::size_t operands_ = 0;

  [[nodiscard]] bool follows(std::size_t inner, std::size_t outer) const noexcept {
    for (std::size_t n = 0; n < operands_; ++n)
      if (strides[n][outer] != strides[n][inner] * sizes[inner]) return false;
    return true;
  }
};

}  // namespace davit
