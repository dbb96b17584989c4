// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "davit/core/tensor_view.hpp"

namespace davit {

/// How operands walk through common sizes: the dimensions from the innermost to the outermost, without those of size 1,
/// and taken together where every operand's elements follow one another evenly. Strides are in bytes.
///
/// Made by `add` for each operand and one `collapse`. Rank 0 is made a row of one element, so there always is a row.
class Walk {
 public:
  static constexpr std::size_t max_operands = 4;
  static constexpr std::size_t max_dims = 2 * max_rank;  ///< repeat has two for each of the tensor's

  std::size_t rank;
  std::int64_t count;  ///< elements
  std::array<std::int64_t, max_dims> sizes;
  std::array<std::array<std::int64_t, max_dims>, max_operands> strides;

  Walk() noexcept : rank(0), count(1) {}
  [[gnu::noinline]] explicit Walk(std::span<const std::int64_t> of) noexcept : rank(of.size()), count(1) {
    for (std::size_t d = 0; d < rank; ++d) {
      sizes[d] = of[rank - 1 - d];
      count *= sizes[d];
    }
  }
  /// An operand whose strides are given in elements of so many bytes.
  [[gnu::noinline]] Walk& add(std::span<const std::int64_t> of, std::size_t element) noexcept {
    for (std::size_t d = 0; d < rank; ++d)
      strides[operands_][d] = of[rank - 1 - d] * static_cast<std::int64_t>(element);
    ++operands_;
    return *this;
  }
  /// A further outermost dimension, with the strides of all operands.
  template <std::size_t N>
  Walk& push(std::int64_t size, const std::array<std::int64_t, N>& of) noexcept {
    sizes[rank] = size;
    count *= size;
    for (std::size_t n = 0; n < N; ++n) strides[n][rank] = of[n];
    operands_ = N;
    ++rank;
    return *this;
  }
  /// Makes the dimensions along which operand n moves least the innermost; of equals the inner stays so.
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
  /// Whether operand n lies in memory as it is walked, in elements of so many bytes.
  [[nodiscard]] bool is_dense(std::size_t n, std::size_t element) const noexcept {
    auto expected = static_cast<std::int64_t>(element);
    for (std::size_t d = 0; d < rank; ++d) {
      if (sizes[d] != 1 && strides[n][d] != expected) return false;
      expected *= sizes[d];
    }
    return true;
  }
  /// The dimension along which operand n's elements of so many bytes are neighbours, if that is not the innermost and
  /// its size is at least `least`; else 0.
  [[nodiscard]] std::size_t turned_dimension(std::size_t n, std::size_t element, std::int64_t least) const noexcept {
    const auto bytes = static_cast<std::int64_t>(element);
    if (strides[n][0] == bytes) return 0;
    for (std::size_t d = 1; d < rank; ++d)
      if (strides[n][d] == bytes && sizes[d] >= least) return d;
    return 0;
  }
  /// Whether operand n is one element all along.
  [[nodiscard]] bool is_repeated(std::size_t n) const noexcept {
    for (std::size_t d = 0; d < rank; ++d)
      if (strides[n][d] != 0) return false;
    return true;
  }

  /// Where the first element of an innermost row lies, in bytes for each operand.
  struct Row {
    std::array<std::int64_t, max_operands> at{};
    std::array<std::int64_t, max_dims> index{};
  };
  /// Goes on to the next row, or the next of what the `first` innermost dimensions make up; false after the last.
  [[nodiscard, gnu::noinline]] bool next(Row& row, std::size_t first = 1) const noexcept {
    return next(row.index, first, [&](std::size_t d, std::int64_t steps) {
      for (std::size_t n = 0; n < operands_; ++n) row.at[n] += strides[n][d] * steps;
    });
  }
  /// The same for an index alone; move(d, steps) is called for each dimension that it moves along.
  template <class Move>
  [[gnu::always_inline]] bool next(std::array<std::int64_t, max_dims>& index, std::size_t first,
                                   Move&& move) const noexcept {
    for (std::size_t d = first; d < rank; ++d) {
      move(d, std::int64_t{1});
      if (++index[d] < sizes[d]) return true;
      move(d, -sizes[d]);
      index[d] = 0;
    }
    return false;
  }
  /// Calls f(offsets) for each innermost row, or what the `first` innermost dimensions make up. The sizes must not be
  /// 0.
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
