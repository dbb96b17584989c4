// SPDX-License-Identifier: MIT
#pragma once

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
