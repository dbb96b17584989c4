// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "davit/core/config.hpp"

namespace davit::detail {

/// How large an operator's results are, by its operands' magnitudes.
enum class Growth : std::uint8_t {
  unknown,     ///< it may make infinities or NaN of ordinary numbers
  largest,     ///< no larger than the largest operand, or than a number that is an argument
  sum,         ///< of its operands
  product,     ///< of its operands; of a prelu also the first of them
  power,       ///< of its operand: squares; unknown for other exponents
  quotient,    ///< by a number; unknown by a tensor
  total,       ///< a sum over dimensions
  one,         ///< at most 1
  products,    ///< sums of products of the first two operands of three
  bias_first,  ///< the same, the bias first
  layer_norm,
  batch_norm,
  scaled,  ///< bytes less a zero point, times a scale that is a number or the second operand
};

struct GrowthRow {
  std::string_view operator_name;  ///< without namespace and overload
  Growth growth = Growth::largest;
  bool loses = false;  ///< a library may turn NaN or an infinity in its operands into something else
};

/// Sorted by name. Operators that are not here are unknown.
inline constexpr auto growth_rows = std::to_array<GrowthRow>({
    {"_adaptive_avg_pool2d", Growth::largest, true},
    {"_adaptive_avg_pool3d", Growth::largest, true},
    {"_log_softmax", Growth::unknown},
    {"_native_batch_norm_legit_no_training", Growth::batch_norm},
    {"_prelu_kernel", Growth::product},
    {"_safe_softmax", Growth::one},
    {"_softmax", Growth::one},
    {"_to_copy", Growth::unknown},  // a float64 may be too large
    {"_unsafe_view"},
    {"abs"},
    {"adaptive_avg_pool1d", Growth::largest, true},
    {"adaptive_avg_pool2d", Growth::largest, true},
    {"add", Growth::sum},
    {"addmm", Growth::bias_first},
    {"alias"},
    {"amax", Growth::largest},
    {"amin", Growth::largest},
    {"avg_pool1d", Growth::largest, true},
    {"avg_pool2d", Growth::largest, true},
    {"avg_pool3d", Growth::largest, true},
    {"batch_norm", Growth::batch_norm},
    {"bmm", Growth::products},
    {"cat"},
    {"ceil"},
    {"clamp", Growth::largest, true},
    {"clone"},
    {"constant_pad_nd"},
    {"contiguous"},
    {"conv1d", Growth::products, true},
    {"conv2d", Growth::products, true},
    {"conv3d", Growth::products, true},
    {"convolution", Growth::products, true},
    {"cos", Growth::one},
    {"dequantize_per_channel", Growth::scaled},
    {"dequantize_per_tensor", Growth::scaled},
    {"div", Growth::quotient},
    {"dropout"},
    {"elu", Growth::largest, true},
    {"embedding"},
    {"erf", Growth::one},
    {"exp", Growth::unknown},
    {"expand"},
    {"expm1", Growth::unknown},
    {"flatten"},
    {"floor"},
    {"full"},
    {"full_like"},
    {"gelu", Growth::largest, true},
    {"grid_sampler_2d", Growth::unknown},
    {"gru", Growth::unknown},
    {"hardsigmoid", Growth::one, true},
    {"hardswish", Growth::largest, true},
    {"hardtanh", Growth::largest, true},
    {"layer_norm", Growth::layer_norm},
    {"leaky_relu", Growth::largest, true},
    {"linear", Growth::products},
    {"log", Growth::unknown},
    {"log1p", Growth::unknown},
    {"log_softmax", Growth::unknown},
    {"lstm", Growth::unknown},
    {"matmul", Growth::products},
    {"max_pool1d", Growth::largest, true},
    {"max_pool2d", Growth::largest, true},
    {"max_pool2d_with_indices", Growth::largest, true},
    {"max_pool3d_with_indices", Growth::largest, true},
    {"maximum", Growth::largest, true},
    {"mean", Growth::largest, true},
    {"minimum", Growth::largest, true},
    {"mish"},
    {"mm", Growth::products},
    {"mul", Growth::product},
    {"native_group_norm", Growth::layer_norm, true},
    {"native_layer_norm", Growth::layer_norm},
    {"neg"},
    {"permute"},
    {"pow", Growth::power},
    {"quantize_per_tensor", Growth::largest, true},
    {"reciprocal", Growth::unknown},
    {"reflection_pad2d"},
    {"relu", Growth::largest, true},
    {"relu6", Growth::largest, true},
    {"replication_pad2d"},
    {"reshape"},
    {"rnn_relu", Growth::unknown},
    {"rnn_tanh", Growth::unknown},
    {"roll"},
    {"round"},
    {"rsqrt", Growth::unknown},
    {"scaled_dot_product_attention", Growth::unknown},
    {"select"},
    {"sigmoid", Growth::one},
    {"silu"},
    {"sin", Growth::one},
    {"slice"},
    {"softmax", Growth::one},
    {"split"},
    {"split_with_sizes"},
    {"sqrt", Growth::unknown},
    {"square", Growth::power},
    {"squeeze"},
    {"sub", Growth::sum},
    {"sum", Growth::total},
    {"t"},
    {"tanh", Growth::one},
    {"to", Growth::unknown},
    {"transpose"},
    {"trunc"},
    {"unsqueeze"},
    {"upsample_bilinear2d"},
    {"upsample_nearest2d"},
    {"view"},
    {"where"},
});
static_assert(std::ranges::is_sorted(growth_rows, {}, &GrowthRow::operator_name));

}  // namespace davit::detail
