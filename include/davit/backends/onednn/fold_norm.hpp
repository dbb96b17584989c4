// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "davit/backends/onednn/builder.hpp"

namespace davit::onednn_ops {

/// True if a batch norm can become part of the weights of a convolution: all parameters of both are constants.
[[nodiscard]] inline bool folds(const Builder& b, const Operation& base, const Operation& norm) {
  if (base.kind != OpKind::convolution || b.trial()) return false;
  for (std::size_t i = 1; i < base.inputs.size(); ++i)
    if (base.inputs[i] != no_id && !b.is_constant(base.inputs[i])) return false;
  for (std::size_t i = 1; i < norm.inputs.size(); ++i)
    if (norm.inputs[i] != no_id && !b.is_constant(norm.inputs[i])) return false;
  return true;
}

/// Weight and bias of a convolution that also does the batch norm after it.
/// norm(w * x + b) = (w * s) * x + (b - mean) * s + beta, with s = gamma / sqrt(variance + epsilon), computed in
/// double.
[[nodiscard]] inline std::pair<Place, Place> fold_norm(Builder& b, const Operation& base, const Operation& norm) {
  const Dims dims = b.sizes(base.inputs[1]);
  const auto channels = static_cast<std::size_t>(dims[0]);
  const auto each = static_cast<std::size_t>(count_of(dims)) / channels;
  const auto values = [&](ValueId v) {
    return reinterpret_cast<const float*>(b.constant_data(b.row_major(b.place_of(v))));
  };
  const float* const weight = values(base.inputs[1]);
  const float* const bias = base.inputs[2] == no_id ? nullptr : values(base.inputs[2]);
  const float* const mean = values(norm.inputs[1]);
  const float* const variance = values(norm.inputs[2]);
  const float* const gamma = norm.inputs[3] == no_id ? nullptr : values(norm.inputs[3]);
  const float* const beta = norm.inputs[4] == no_id ? nullptr : values(norm.inputs[4]);
  const Place new_weight = b.add_constant(plain(dims));
  const Place new_bias = b.add_constant(plain({dims[0]}));
  auto* const to = reinterpret_cast<float*>(b.constant_data(new_weight));
  auto* const to_bias = reinterpret_cast<float*>(b.constant_data(new_bias));
  for (std::size_t c = 0; c < channels; ++c) {
    const double scale = (gamma == nullptr ? 1.0 : gamma[c]) /
                         std::sqrt(static_cast<double>(variance[c]) + static_cast<double>(norm.epsilon));
    for (std::size_t i = 0; i < each; ++i) to[c * each + i] = static_cast<float>(weight[c * each + i] * scale);
    to_bias[c] =
        static_cast<float>(((bias == nullptr ? 0.0 : bias[c]) - mean[c]) * scale + (beta == nullptr ? 0.0 : beta[c]));
  }
  return {new_weight, new_bias};
}

}  // namespace davit::onednn_ops
