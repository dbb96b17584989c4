// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "davit/backends/onednn/builder.hpp"
#include "davit/kernels/fold_batch_norm.hpp"

namespace davit::onednn_ops {

/// True if a batch norm can become part of the weights of a convolution: all parameters of both are constants, and rounding them
/// again loses nothing that matters.
[[nodiscard]] inline bool folds(const Builder& b, const Operation& base, const Operation& norm) {
  if (base.kind != OpKind::convolution || b.trial() || b.type(base.inputs[1]) != DataType::f32) return false;
  for (std::size_t i = 1; i < base.inputs.size(); ++i)
    if (base.inputs[i] != no_id && !b.is_constant(base.inputs[i])) return false;
  for (std::size_t i = 1; i < norm.inputs.size(); ++i)
    if (norm.inputs[i] != no_id && !b.is_constant(norm.inputs[i])) return false;
  return true;
}

/// Weight and bias of a convolution that also does the batch norm after it.
[[nodiscard]] inline std::pair<Place, Place> fold_norm(Builder& b, const Operation& base, const Operation& norm) {
  const Dims dims = b.sizes(base.inputs[1]);
  const auto channels = static_cast<std::size_t>(dims[0]);
  const auto each = static_cast<std::size_t>(count_of(dims)) / channels;
  const auto values = [&](ValueId v) {
    return v == no_id ? nullptr : reinterpret_cast<const float*>(b.constant_data(b.row_major(b.place_of(v))));
  };
  const float* const weight = values(base.inputs[1]);
  const float* const bias = values(base.inputs[2]);
  const kernels::BatchNormChannels channel{.mean = values(norm.inputs[1]),
                                           .variance = values(norm.inputs[2]),
                                           .scale = values(norm.inputs[3]),
                                           .shift = values(norm.inputs[4]),
                                           .epsilon = static_cast<double>(norm.epsilon)};
  const auto fold = [=](std::size_t numbers, float* new_weight, float* new_bias) {
    bias != nullptr ? std::copy_n(bias, channels, new_bias) : std::fill_n(new_bias, channels, 0.0f);
    kernels::fold_batch_norm(channel, channels, numbers, new_weight, new_bias);
  };
  const auto fill_weight = [=](std::byte* to) {
    std::vector<float> ignored(channels);
    std::copy_n(weight, channels * each, reinterpret_cast<float*>(to));
    fold(each, reinterpret_cast<float*>(to), ignored.data());
  };
  const auto fill_bias = [=](std::byte* to) { fold(0, nullptr, reinterpret_cast<float*>(to)); };
  const Place from = b.row_major(b.place_of(base.inputs[1]));
  const PackedConstants::Others others{{bias, channel.mean, channel.variance, channel.scale, channel.shift}, channels, norm.epsilon};
  return {b.lazy_constant(from, plain(dims, DataType::f32), fill_weight, others), b.lazy_constant(from, plain({dims[0]}, DataType::f32), fill_bias, others)};
}

}  // namespace davit::onednn_ops
