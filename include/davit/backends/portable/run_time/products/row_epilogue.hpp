// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "davit/kernels/functions.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::portable_kernels {

/// The epilogue of a product's rows of floats, while they are in the cache: times a factor of the row plus a shift,
/// then clamped. NaN stays NaN.
struct RowEpilogue {
  const float* factors = nullptr;  ///< null: only clamped
  const float* shifts = nullptr;   ///< as many
  std::int64_t rows = 0;           ///< their number
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();

  /// True if rows stay unchanged.
  [[nodiscard]] bool is_none() const noexcept {
    return factors == nullptr && low == -std::numeric_limits<float>::infinity() &&
           high == std::numeric_limits<float>::infinity();
  }
  /// The epilogue of the rows from `row` on.
  [[nodiscard]] RowEpilogue from(std::int64_t row) const noexcept {
    return factors == nullptr ? *this : RowEpilogue{factors + row, shifts + row, rows - row, low, high};
  }
};

/// Applies the epilogue to some rows of `width` elements.
struct FinishRows {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const RowEpilogue* epilogue, std::int64_t rows, std::int64_t width, float* c,
                                         std::int64_t c_row) {
    const RowEpilogue& e = *epilogue;
    if (e.low != e.low || e.high != e.high)
      for (std::int64_t r = 0; r < rows; ++r) std::fill_n(c + r * c_row, width, e.high != e.high ? e.high : e.low);
    else if (e.factors == nullptr)
      finish<Bytes, false>(e, rows, width, c, c_row);
    else
      finish<Bytes, true>(e, rows, width, c, c_row);
  }

 private:
  template <std::size_t Bytes, bool Scaled>
  [[gnu::always_inline]] static void finish(const RowEpilogue& e, std::int64_t rows, std::int64_t width, float* c,
                                            std::int64_t c_row) {
    using V = kernels::Vector<float, Bytes>;
    constexpr std::int64_t step = kernels::lanes<float, Bytes>;
    const kernels::Hardtanh<float> bounds(e.low, e.high);
    const V below = e.low - V{}, above = e.high - V{};
    for (std::int64_t r = 0; r < rows; ++r, c += c_row) {
      const float factor = Scaled ? e.factors[r] : 1, shift = Scaled ? e.shifts[r] : 0;
      const auto take = [&]<std::int64_t Vectors>(std::int64_t i) __attribute__((always_inline)) {
        V x[Vectors];
#pragma GCC unroll 4
        for (std::int64_t v = 0; v < Vectors; ++v) x[v] = kernels::vector_at<Bytes>(c + i + v * step);
#pragma GCC unroll 4
        for (std::int64_t v = 0; v < Vectors; ++v) {
          if constexpr (Scaled) x[v] = x[v] * factor + shift;
          x[v] = below > x[v] ? below : x[v];
          x[v] = above < x[v] ? above : x[v];
        }
#pragma GCC unroll 4
        for (std::int64_t v = 0; v < Vectors; ++v) kernels::vector_at<Bytes>(c + i + v * step) = x[v];
      };
      std::int64_t i = 0;
      for (; i + 4 * step <= width; i += 4 * step) take.template operator()<4>(i);
      for (; i + step <= width; i += step) take.template operator()<1>(i);
      for (; i < width; ++i) c[i] = bounds(Scaled ? c[i] * factor + shift : c[i]);
    }
  }
};

}  // namespace davit::portable_kernels
