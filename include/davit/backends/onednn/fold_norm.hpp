// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "davit/backends/onednn/builder.hpp"
#include "davit/backends/onednn/kernels.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/kernels/fold_batch_norm.hpp"

namespace davit::onednn_ops {

/// True if a batch norm can be folded into the weights of a convolution: all parameters of both are constants.
[[nodiscard]] inline bool folds(const Builder& b, const Operation& base, const Operation& norm) {
  if (base.kind != OpKind::convolution || b.trial()) return false;
  for (std::size_t i = 1; i < base.inputs.size(); ++i)
    if (base.inputs[i] != no_id && !b.is_constant(base.inputs[i])) return false;
  for (std::size_t i = 1; i < norm.inputs.size(); ++i)
    if (norm.inputs[i] != no_id && !b.is_constant(norm.inputs[i])) return false;
  return true;
}

namespace detail {
/// The elements of a constant. Without a constant every element is `otherwise`.
struct ConstantNumbers {
  SharedBytes bytes{};
  ScalarType dtype = ScalarType::float32;
  float otherwise = 0;

  void copy(std::size_t count, float* to) const {
    if (bytes.empty())
      std::fill_n(to, count, otherwise);
    else
      convert(dtype, bytes.data(), ScalarType::float32, reinterpret_cast<std::byte*>(to),
              static_cast<std::int64_t>(count));
  }
};
}  // namespace detail

/// Weight and bias of a convolution with the batch norm after it folded in, as float32; the layout step rounds them to
/// the weights' dtype once.
[[nodiscard]] inline std::pair<Place, Place> fold_norm(Builder& b, const Operation& base, const Operation& norm) {
  const Dims dims = b.sizes(base.inputs[1]);
  const auto channels = static_cast<std::size_t>(dims[0]);
  const auto each = static_cast<std::size_t>(count_of(dims)) / channels;
  const auto numbers = [&](ValueId v, float otherwise) {
    if (v == no_id) return detail::ConstantNumbers{.otherwise = otherwise};
    return detail::ConstantNumbers{b.constant_bytes(b.row_major(b.place_of(v))), b.graph().values[v].dtype};
  };
  const detail::ConstantNumbers weight = numbers(base.inputs[1], 0), bias = numbers(base.inputs[2], 0);
  const detail::ConstantNumbers of_norm[] = {numbers(norm.inputs[1], 0), numbers(norm.inputs[2], 0),
                                             numbers(norm.inputs[3], 1), numbers(norm.inputs[4], 0)};
  const PackedConstants::Others others{
      .number = norm.epsilon,
      .more = {bias.bytes, of_norm[0].bytes, of_norm[1].bytes, of_norm[2].bytes, of_norm[3].bytes}};
  const auto fold = [=, all = std::to_array(of_norm), epsilon = static_cast<double>(norm.epsilon)](
                        std::size_t count, float* new_weight, float* new_bias) {
    std::vector<float> rows(4 * channels);
    for (std::size_t i = 0; i < 4; ++i) all[i].copy(channels, rows.data() + i * channels);
    const float* const row = rows.data();
    bias.copy(channels, new_bias);
    kernels::fold_batch_norm({row, row + channels, row + 2 * channels, row + 3 * channels, epsilon}, channels, count,
                             new_weight, new_bias);
  };
  const auto fill_weight = [=](std::byte* to) {
    std::vector<float> ignored(channels);
    weight.copy(channels * each, reinterpret_cast<float*>(to));
    fold(each, reinterpret_cast<float*>(to), ignored.data());
  };
  const auto fill_bias = [=](std::byte* to) { fold(0, nullptr, reinterpret_cast<float*>(to)); };
  const Place from = b.row_major(b.place_of(base.inputs[1]));
  return {b.lazy_constant(from, plain(dims, DataType::f32), fill_weight, others),
          b.lazy_constant(from, plain({dims[0]}, DataType::f32), fill_bias, others)};
}

}  // namespace davit::onednn_ops
