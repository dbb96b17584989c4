// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/static/computed.hpp"
#include "davit/kernels/functions.hpp"
#include "davit/kernels/layer_norm.hpp"
#include "davit/kernels/row_moments.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::static_kernels {

/// y = (x - mean) / sqrt(variance + eps) * weight + bias, row by row; weight and bias have `length` elements or are
/// nullptr, `y` may be `x`. O(rows * length). Source: at::layer_norm.
struct layer_norm {
  struct Params {
    std::int32_t rows = 1, length = 1;
    NumberParam eps = wide_param(1e-5);
  };
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& params, float* y, const float* x, const float* weight,
                                                   const float* bias) noexcept {
    const Params& p = numbers_of(params);
    kernels::LayerNormRows<Wide>::run<kernels::vector_bytes>(Index{p.rows}, Index{p.length}, number_from<Wide>(p.eps),
                                                             x, weight, bias, y, static_cast<float*>(nullptr),
                                                             static_cast<float*>(nullptr));
  }
};

/// y = (x - mean) / sqrt(variance + eps) * weight + bias over (batch, channels, plane) with the running statistics;
/// weight, bias and the statistics have one element per channel, weight and bias may be nullptr, `y` may be `x`. Types
/// other than float32 are rounded after each operation. O(numel). Source: at::_native_batch_norm_legit_no_training.
struct batch_norm {
  struct Params {
    std::int32_t batch = 1, channels = 1, plane = 1;
    NumberParam eps = wide_param(1e-5);  ///< for float32 by wide_param, else by number_param
  };
  template <class P, class T, class W, class B>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* x, const W* weight, const B* bias,
                                                   const T* mean, const T* variance) noexcept {
    const Params& p = numbers_of(params);
    for (Index c = 0; c < p.channels; ++c)
      if constexpr (std::is_same_v<T, float>) {
        const auto inverse = static_cast<float>(
            kernels::Moments<Wide>{0, static_cast<Wide>(variance[c])}.inverse_deviation(number_from<Wide>(p.eps)));
        const float factor = weight != nullptr ? inverse * weight[c] : inverse;
        const float shift = (bias != nullptr ? bias[c] : 0.0f) - mean[c] * factor;
        for (Index n = 0; n < p.batch; ++n) {
          const Index at = (n * p.channels + c) * p.plane;
          for_packs<false>(p.plane, [&]<Index N>(Index i) __attribute__((always_inline)) {
            store<N>(y + at + i, load<N>(x + at + i) * factor + shift);
          });
        }
      } else {
        using C = Computed<T>;
        const auto rounded = [](C v) { return loaded(kernels::convert<T>(v)); };
        const C inverse = rounded(kernels::Rsqrt<C>{}(rounded(loaded(variance[c]) + number_from<C>(p.eps))));
        for (Index n = 0; n < p.batch; ++n)
          for (Index i = 0; i < p.plane; ++i) {
            const Index at = (n * p.channels + c) * p.plane + i;
            C v = rounded(rounded(loaded(x[at]) - loaded(mean[c])) * inverse);
            if (weight != nullptr) v = rounded(v * kernels::convert<C>(weight[c]));
            if (bias != nullptr) v = rounded(v + kernels::convert<C>(bias[c]));
            y[at] = kernels::convert<T>(v);
          }
      }
  }
};

}  // namespace davit::static_kernels
