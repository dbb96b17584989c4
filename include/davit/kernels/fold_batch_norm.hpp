// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>

namespace davit::kernels {

/// The numbers per channel of a batch norm in evaluation. `scale` and `shift` may be null: 1 and 0.
struct BatchNormChannels {
  const float* mean = nullptr;
  const float* variance = nullptr;
  const float* scale = nullptr;
  const float* shift = nullptr;
  double epsilon = 0;
};

/// Folds a batch norm into the weights of the convolution or product before it, in double: weight * s and (bias - mean)
/// * s + shift, with s = scale / sqrt(variance + epsilon).
///
/// `weight` is [channels, each], `bias` is [channels]. O(weights). Source: torch.nn.utils.fusion.fuse_conv_bn_weights.
inline void fold_batch_norm(const BatchNormChannels& norm, std::size_t channels, std::size_t each, float* weight,
                            float* bias) noexcept {
  for (std::size_t c = 0; c < channels; ++c, weight += each) {
    const double scale = norm.scale == nullptr ? 1.0 : static_cast<double>(norm.scale[c]);
    const double shift = norm.shift == nullptr ? 0.0 : static_cast<double>(norm.shift[c]);
    const double factor = scale / std::sqrt(static_cast<double>(norm.variance[c]) + norm.epsilon);
    bias[c] = static_cast<float>((static_cast<double>(bias[c]) - static_cast<double>(norm.mean[c])) * factor + shift);
    for (std::size_t i = 0; i < each; ++i) weight[i] = static_cast<float>(static_cast<double>(weight[i]) * factor);
  }
}

}  // namespace davit::kernels
