// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>

#include "davit/kernels/arithmetic.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/vector_math.hpp"
#include "davit/backends/xnnpack/vectors.hpp"

namespace davit::xnnpack_parts {

/// x - max - log(sum(exp(x - max))) of every row. O(rows * columns).
inline void log_softmax_rows(const float* x, float* y, std::int64_t rows, std::int64_t columns) noexcept {
  for (std::int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float top = x[0];
    for (std::int64_t i = 1; i < columns; ++i) top = kernels::nan_max(top, x[i]);
    const double sum = kernels::exp_shifted(x, top, y, columns);
    const auto shift = static_cast<float>(std::log(sum));
    for (std::int64_t i = 0; i < columns; ++i) y[i] = x[i] - top - shift;  // in this order, or -0 stays -0
  }
}

struct LayerNormRows {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const float* x, const float* weight, const float* bias, float eps, float* y, std::int64_t rows, std::int64_t columns) noexcept {
    using namespace vectors;
    for (std::int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
      Floats v;
      Floats total{};
      std::int64_t i = 0;
      for (; i + lanes <= columns; i += lanes) {
        load(v, x + i);
        total += v;
      }
      double sum = 0;
      for (std::int64_t k = 0; k < lanes; ++k) sum += static_cast<double>(total[k]);
      for (; i < columns; ++i) sum += static_cast<double>(x[i]);
      const auto mean = static_cast<float>(sum / static_cast<double>(columns));
      total = Floats{};
      for (i = 0; i + lanes <= columns; i += lanes) {
        load(v, x + i);
        v -= mean;
        total += v * v;
      }
      sum = 0;
      for (std::int64_t k = 0; k < lanes; ++k) sum += static_cast<double>(total[k]);
      for (; i < columns; ++i) sum += static_cast<double>((x[i] - mean) * (x[i] - mean));
      const auto factor =
          static_cast<float>(1 / std::sqrt(sum / static_cast<double>(columns) + static_cast<double>(eps)));
      for (i = 0; i + lanes <= columns; i += lanes) {
        load(v, x + i);
        v = (v - mean) * factor;
        Floats w;
        if (weight != nullptr) load(w, weight + i), v *= w;
        if (bias != nullptr) load(w, bias + i), v += w;
        store(y + i, v);
      }
      for (; i < columns; ++i)
        y[i] = (x[i] - mean) * factor * (weight != nullptr ? weight[i] : 1.0f) + (bias != nullptr ? bias[i] : 0.0f);
    }
  }
};
/// (x - mean) / sqrt(variance + eps) * weight + bias of every row; weight and bias may be null. O(rows * columns).
/// Source: torch.nn.functional.layer_norm.
inline void layer_norm_rows(const float* x, const float* weight, const float* bias, float eps, float* y, std::int64_t rows, std::int64_t columns) noexcept {
  kernels::run_widest<LayerNormRows>(x, weight, bias, eps, y, rows, columns);
}

}  // namespace davit::xnnpack_parts
