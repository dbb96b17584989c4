// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "davit/core/target.hpp"
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
  /// True for bounds that are numbers, the upper one not zero: ARM64's minimum of zeros is -0.
  [[nodiscard]] bool clamps_vectors() const noexcept { return low == low && high == high && high != 0; }
  /// The epilogue of the rows from `row` on.
  [[nodiscard]] RowEpilogue from(std::int64_t row) const noexcept {
    return factors == nullptr ? *this : RowEpilogue{factors + row, shifts + row, rows - row, low, high};
  }
};

/// The vectors of a row times a factor plus a shift if `Scaled`, clamped to bounds for which
/// RowEpilogue::clamps_vectors. NaN stays NaN.
template <bool Scaled, class V, std::size_t Vectors>
[[gnu::always_inline]] inline void finish_vectors(float factor, float shift, const V& low, const V& high,
                                                  V (&x)[Vectors]) noexcept {
#pragma GCC unroll 8
  for (std::size_t v = 0; v < Vectors; ++v) {
    if constexpr (Scaled) x[v] = x[v] * factor + shift;
    const V raised = low > x[v] ? low : x[v];
#if DAVIT_TARGET_ARM64
    asm("fmin %0.4s, %1.4s, %2.4s" : "=w"(x[v]) : "w"(raised), "w"(high));
#else
    x[v] = high < raised ? high : raised;
#endif
  }
}

/// Applies the epilogue to some rows of `width` elements.
struct FinishRows {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const RowEpilogue* epilogue, std::int64_t rows, std::int64_t width, float* c,
                                         std::int64_t c_row) {
    const RowEpilogue& e = *epilogue;
    if (!e.clamps_vectors())
      finish_elements(e, rows, width, c, c_row);
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
        finish_vectors<Scaled>(factor, shift, below, above, x);
#pragma GCC unroll 4
        for (std::int64_t v = 0; v < Vectors; ++v) kernels::vector_at<Bytes>(c + i + v * step) = x[v];
      };
      std::int64_t i = 0;
      if constexpr (kernels::many_narrow_registers<Bytes>)
        for (; i + 4 * step <= width; i += 4 * step) take.template operator()<4>(i);
      for (; i + step <= width; i += step) take.template operator()<1>(i);
      for (; i < width; ++i) c[i] = bounds(Scaled ? c[i] * factor + shift : c[i]);
    }
  }
  [[gnu::always_inline]] static void finish_elements(const RowEpilogue& e, std::int64_t rows, std::int64_t width,
                                                     float* c, std::int64_t c_row) {
    const kernels::Hardtanh<float> bounds(e.low, e.high);
    for (std::int64_t r = 0; r < rows; ++r, c += c_row)
      for (std::int64_t i = 0; i < width; ++i)
        c[i] = bounds(e.factors == nullptr ? c[i] : c[i] * e.factors[r] + e.shifts[r]);
  }
};

}  // namespace davit::portable_kernels
