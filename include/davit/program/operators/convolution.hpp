// SPDX-License-Identifier: MIT
#pragma once

#include "davit/ops/families/convolution.hpp"
#include "davit/program/operators/spatial.hpp"

namespace davit::operators {

/// Arguments of a convolution. All arrays end with the width; unused leading entries are neutral.
struct ConvolutionView {
  ValueId input = no_id;   ///< (N?, C, spatial)
  ValueId weight = no_id;  ///< (filters, C / groups, spatial); transposed: (C, filters / groups, spatial)
  ValueId bias = no_id;    ///< one number per output channel
  std::size_t dims = 0;    ///< spatial dimensions: 1 to 3
  bool batched = true;
  bool transposed = false;
  std::int64_t groups = 1;
  Spatial kernel{1, 1, 1};  ///< -1 if the weight's size is unknown
  Spatial stride{1, 1, 1};
  Spatial dilation{1, 1, 1};
  Spatial padding{};         ///< before the first element
  Spatial padding_end{};     ///< after the last element
  Spatial output_padding{};  ///< for a transposed convolution

  friend constexpr bool operator==(const ConvolutionView&, const ConvolutionView&) = default;
};

namespace detail {

/// Reads the padding: numbers, "valid" or "same". Source: at::native::_convolution_same, which puts an odd element at
/// the end.
template <CallArguments Call>
constexpr Refusal read_padding(const Call& call, Parameter p, ConvolutionView& view) noexcept {
  const auto* const a = call.find(p);
  const std::string_view word = a == nullptr ? std::string_view{} : std::string_view(call.text(*a));
  if (word.empty()) {
    if (const Refusal wrong = read_spatial(call, p, view.dims, 0, 0, view.padding)) return wrong;
    view.padding_end = view.padding;
    return {};
  }
  if (word == "valid") return {};
  if (word != "same") return {"convolution: the padding is neither numbers nor a known word"};
  for (std::size_t d = 3 - view.dims; d < 3; ++d) {
    if (view.stride[d] != 1) return {"convolution: padding 'same' needs strides of 1"};
    if (view.kernel[d] < 1) return {"convolution: padding 'same' needs a kernel of known size"};
    const std::int64_t total = view.dilation[d] * (view.kernel[d] - 1);
    view.padding[d] = total / 2;
    view.padding_end[d] = total - total / 2;
  }
  return {};
}

/// Checks the known channel counts. Source: the checks of at::convolution.
template <CallArguments Call>
constexpr Refusal check_channels(const Call& call, const ConvolutionView& view) noexcept {
  const std::int64_t first = call.size(view.weight, 0);
  const std::int64_t second = call.size(view.weight, 1);
  if (view.groups < 1 || (first >= 0 && (first < view.groups || first % view.groups != 0)))
    return {"convolution: the weight's filters do not divide into the groups", ErrorCode::invalid_shape};
  for (std::size_t d = 3 - view.dims; d < 3; ++d)
    if (view.kernel[d] == 0) return {"convolution: the kernel has no elements", ErrorCode::invalid_shape};
  std::int64_t product = 0;
  if (__builtin_mul_overflow(second, view.groups, &product) || product > (std::int64_t{1} << 40))
    return {"convolution: too many groups", ErrorCode::out_of_range};
  const std::int64_t channels = call.size(view.input, view.batched ? 1 : 0);
  const std::int64_t wanted = view.transposed ? first : product;
  if (channels >= 0 && wanted >= 0 && channels != wanted)
    return {"convolution: the input's channels do not fit weight and groups", ErrorCode::invalid_shape};
  if (view.bias == no_id) return {};
  const std::int64_t outputs = view.transposed ? product : first;
  const std::int64_t numbers = call.rank(view.bias) == 1 ? call.size(view.bias, 0) : -2;
  if (numbers != outputs && (numbers == -2 || (numbers >= 0 && outputs >= 0)))
    return {"convolution: the bias needs one element per output channel", ErrorCode::invalid_shape};
  return {};
}

}  // namespace detail

/// Reads a call of that convolution. Errors: invalid_argument, invalid_shape, out_of_range.
template <CallArguments Call>
constexpr Refusal read_convolution(const Call& call, const ConvolutionOperator& op, ConvolutionView& view) noexcept {
  view.input = call.value(op.at("input", 0));
  view.weight = call.value(op.at("weight", 1));
  view.bias = op.gradient ? no_id : call.value({"bias", 2});
  if (view.input == no_id || view.weight == no_id) return {"convolution: an operand is no tensor"};
  const std::size_t rank = call.rank(view.weight);
  if (rank < 3 || rank > 5)
    return {"convolution: the weight needs one to three spatial dimensions", ErrorCode::invalid_shape};
  view.dims = rank - 2;
  if (op.dims != 0 && op.dims != view.dims)
    return {"the weight does not have the operator's number of spatial dimensions", ErrorCode::invalid_shape};
  view.batched = call.rank(view.input) == rank;
  if (!view.batched && (op.general || call.rank(view.input) + 1 != rank))
    return {"convolution: input and weight must have the same number of dimensions", ErrorCode::invalid_shape};
  view.kernel = spatial_sizes(call, view.weight, view.dims);
  if (const Refusal wrong = read_spatial(call, op.at("stride", 3), view.dims, 1, 1, view.stride)) return wrong;
  if (const Refusal wrong = read_spatial(call, op.at("dilation", 5), view.dims, 1, 1, view.dilation)) return wrong;
  if (const Refusal wrong = detail::read_padding(call, op.at("padding", 4), view)) return wrong;
  if (op.general) {
    if (!read_flag(call, op.at("transposed", 6), false, view.transposed))
      return {"convolution: whether it is transposed is not known"};
    if (view.transposed)
      if (const Refusal wrong = read_spatial(call, op.at("output_padding", 7), view.dims, 0, 0, view.output_padding))
        return wrong;
  }
  if (!read_integer(call, op.at("groups", op.general ? 8 : 6), 1, view.groups))
    return {"convolution: the number of groups is not known"};
  return detail::check_channels(call, view);
}
/// Reads a call of any convolution.
template <CallArguments Call>
constexpr Refusal read_convolution(const Call& call, ConvolutionView& view) noexcept {
  const ConvolutionOperator* const op = find_row(convolution_operators, call);
  return op == nullptr ? Refusal{"the operator is no convolution"} : read_convolution(call, *op, view);
}

}  // namespace davit::operators
