// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace davit {

/// Operators whose kernels a program takes together: `portable_of<ops::float_inference, ops::recurrent>`.
enum class OperatorGroup : std::uint8_t {
  of_family,        ///< of one operator: that of its family
  movement,         ///< creates, copies, views, slices, joins and pads tensors; numbers beside tensors. Always there
  float_inference,  ///< convolution, products, attention, pooling, norms, softmax, reductions, arithmetic, activations
  integers,         ///< comparisons, logic, bits, where
  indexing,         ///< index, gather, scatter, masks, nonzero, embedding_bag
  sorting,          ///< sort, topk, unique, searchsorted, scans but cumsum
  vision,           ///< resizing, grid_sampler, col2im, torchvision's operators
  recurrent,        ///< lstm, gru, rnn
  quantization,     ///< quantized_decomposed, products of int8
  random,           ///< rand, randn, randperm, dropout in training
  special_functions,  ///< torch.special, gamma and Bessel functions
  complex_numbers,    ///< complex arithmetic, Fourier transforms
  linear_algebra,     ///< torch.linalg, distances
  gradients,          ///< *_backward
};

/// The names of the groups, by their numbers.
inline constexpr auto operator_group_names = std::to_array<std::string_view>(
    {"", "movement", "float_inference", "integers", "indexing", "sorting", "vision", "recurrent", "quantization",
     "random", "special_functions", "complex_numbers", "linear_algebra", "gradients"});
inline constexpr std::size_t operator_group_count = operator_group_names.size();

[[nodiscard]] constexpr std::string_view name_of(OperatorGroup group) noexcept {
  return operator_group_names[static_cast<std::size_t>(group)];
}

}  // namespace davit
