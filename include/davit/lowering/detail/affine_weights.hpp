// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/packed_weights.hpp"
#include "davit/core/tensor.hpp"

namespace davit::detail {

/// A matrix of weights (outputs x depth) as it lies in memory.
struct WeightMatrix {
  std::vector<float> elements{};
  std::int64_t outputs = 0, depth = 0;
  bool transposed = false;  ///< lies as (depth x outputs)
  float rounding = 0;       ///< of the weights, relative

  [[nodiscard]] float at(std::int64_t output, std::int64_t input) const noexcept {
    return elements[static_cast<std::size_t>(transposed ? input * outputs + output : output * depth + input)];
  }
};

/// The elements of a tensor of floats, in row-major order; nothing for another dtype. O(elements).
[[nodiscard]] std::optional<std::vector<float>> float_elements(const Tensor& tensor);

/// Weights as PackedWeights says.
struct PackedTensors {
  PackedWeights layout;
  Tensor words{};
  Tensor scales{};
  Tensor offsets{};  ///< without storage: zeros
};

/// Packs weights of which each group of an output is `scale * integer + offset`: finds the scales, and offsets where
/// there are any, among `candidates`, tensors of 1, outputs or outputs * groups elements. Nothing if none fit, or if
/// integers need more than 8 bits. O(weights * candidates squared) at most; candidates that do not fit cost a few
/// weights.
[[nodiscard]] std::optional<PackedTensors> pack_affine(const WeightMatrix& weights,
                                                       std::span<const std::vector<float>> candidates);

}  // namespace davit::detail
