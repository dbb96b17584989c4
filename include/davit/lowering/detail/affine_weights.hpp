// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/packed_weights.hpp"
#include "davit/core/tensor.hpp"
#include "davit/core/tensor_view.hpp"

namespace davit::detail {

/// A matrix of weights (outputs x depth), which is read some outputs at a time.
struct WeightMatrix {
  std::int64_t outputs = 0, depth = 0;
  std::int64_t step = 0;                      ///< outputs to read at a time
  bool transposed = false;                    ///< lies as (depth x outputs); `step` is `outputs` then
  float rounding = 0;                         ///< of the weights, relative
  PackedLayout layout = PackedLayout::words;  ///< to make
};
/// Reads the weights of outputs [first, first + count), in row-major order as the matrix lies; false if it fails.
using WeightReader = std::function<bool(std::int64_t first, std::int64_t count, std::vector<float>& elements)>;

/// The elements of a tensor of floats, in row-major order; nothing for another dtype. O(elements).
[[nodiscard]] std::optional<std::vector<float>> float_elements(const TensorView& tensor);

/// Weights as PackedWeights says.
struct PackedTensors {
  PackedWeights layout;
  Tensor words{};
  Tensor scales{};
  Tensor offsets{};  ///< without storage: zeros

  /// Of the weights of each output, as floats (blocks, 1, 16); without storage if there is no memory. O(weights).
  [[nodiscard]] Tensor sums() const;
};

/// Packs weights of which each group of an output is `scale * integer + offset`: finds the scales, and offsets where
/// there are any, among `candidates`, tensors of 1, outputs or outputs * groups elements. Nothing if none fit, or if
/// integers need more than 8 bits. Reads the weights once, again if later ones need more bits than the first. O(weights
/// * candidates squared) at most; candidates that do not fit cost a few weights.
[[nodiscard]] std::optional<PackedTensors> pack_affine(const WeightMatrix& weights, const WeightReader& read,
                                                       std::span<const std::vector<float>> candidates);

}  // namespace davit::detail
