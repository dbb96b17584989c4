// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "davit/kernels/functions.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::portable_kernels {

/// What becomes of the rows of a product of floats, while they are near: times a factor of the row plus a shift, then
/// between bounds. NaN stays NaN.
struct RowEpilogue {
  const float* factors = nullptr;  ///< none: rows stay as they are, but for the bounds
  const float* shifts = nullptr;   ///< as many
  std::int64_t rows = 0;           ///< how many of them there are
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();

  /// True if nothing becomes of them.
  [[nodiscard]] bool is_none() const noexcept {
    return factors == nullptr && low == -std::numeric_limits<float>::infinity() &&
           high == std::numeric_limits<float>::infinity();
  }
  /// That of the rows behind the first ones.
  [[nodiscard]] RowEpilogue from(std::int64_t row) const noexcept {
    return factors == nullptr ? *this : RowEpilogue{factors + row, shifts + row, rows - row, low, high};
  }
};

/// Finishes some rows of `width` elements.
struct FinishRows {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const RowEpilogue* epilogue, std::int64_t rows, std::int64_t width, float* c,
                                         std::int64_t c_row) {
    using V = kernels::Vector<float, Bytes>;
    const kernels::Hardtanh<float> bounds(epilogue->low, epilogue->high);
    for (std::int64_t r = 0; r < rows; ++r, c += c_row) {
      const float factor = epilogue->factors == nullptr ? 1 : epilogue->factors[r];
      const float shift = epilogue->factors == nullptr ? 0 : epilogue->shifts[r];
      std::int64_t i = 0;
      for (; i + kernels::lanes<float, Bytes> <= width; i += kernels::lanes<float, Bytes>) {
        V x = kernels::vector_at<Bytes>(c + i);
        if (epilogue->factors != nullptr) x = x * factor + shift;
        bounds(x, x);
        kernels::vector_at<Bytes>(c + i) = x;
      }
      for (; i < width; ++i) c[i] = bounds(epilogue->factors == nullptr ? c[i] : c[i] * factor + shift);
    }
  }
};

}  // namespace davit::portable_kernels
