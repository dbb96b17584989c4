// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "davit/core/nearest_even.hpp"
#include "davit/core/tensor_view.hpp"
#include "davit/ops/families/quantization.hpp"
#include "davit/program/operators/arguments.hpp"
#include "davit/program/operators/bounds.hpp"

namespace davit::operators {

/// Arguments of a quantize or dequantize of quantized_decomposed.
struct QuantizationView {
  ValueId input = no_id;
  ValueId scales = no_id;       ///< one element, or one per index of dimension `axis`; no_id: use `scale`
  ValueId zero_points = no_id;  ///< likewise; no_id per channel: zeros
  double scale = 1;             ///< per tensor
  std::int64_t zero_point = 0;
  std::int64_t low = 0;  ///< quant_min
  std::int64_t high = 0;
  std::size_t axis = 0;
  bool quantizes = false;
  bool per_channel = false;

  friend constexpr bool operator==(const QuantizationView&, const QuantizationView&) = default;
};

/// Reads a call of that quantize or dequantize. Errors: invalid_argument.
template <CallArguments Call>
constexpr Refusal read_quantization(const Call& call, const QuantizationOperator& op, QuantizationView& view) noexcept {
  view.quantizes = op.quantizes;
  view.per_channel = op.per_channel;
  view.input = call.value({"input", 0});
  if (view.input == no_id) return {"an operand is no tensor"};
  if (!read_integer(call, op.at("quant_min", 3), 0, view.low) ||
      !read_integer(call, op.at("quant_max", 4), 0, view.high) || view.low > view.high)
    return {"quant_min or quant_max is no number, or they cross"};
  if (op.by_tensors) {
    view.scales = call.value({"scale", 1});
    view.zero_points = call.value({"zero_point", 2});
    return view.scales != no_id && view.zero_points != no_id ? Refusal{}
                                                             : Refusal{"the scale or the zero point is no tensor"};
  }
  if (!op.per_channel)
    return read_number(call, {"scale", 1}, 1, view.scale) && read_integer(call, {"zero_point", 2}, 0, view.zero_point)
               ? Refusal{}
               : Refusal{"the scale or the zero point is no number"};
  view.scales = call.value({"scales", 1});
  view.zero_points = call.value({"zero_points", 2});
  std::int64_t axis = 0;
  if (view.scales == no_id || !read_integer(call, {"axis", 3}, 0, axis) || call.rank(view.input) == 0 ||
      !wrap_dim(axis, call.rank(view.input)))
    return {"the scales are no tensor, or their dimension is not one of the input's"};
  view.axis = static_cast<std::size_t>(axis);
  return {};
}
/// Reads a call of any quantize or dequantize.
template <CallArguments Call>
constexpr Refusal read_quantization(const Call& call, QuantizationView& view) noexcept {
  const QuantizationOperator* const op = find_row(quantization_operators, call);
  return op == nullptr ? Refusal{"the operator neither quantizes nor dequantizes"} : read_quantization(call, *op, view);
}

/// Quantizes a number that is not NaN, before clamping to low and high; saturates at 2^40 steps. The scale must be
/// positive. Rounds in the steps in which torch's float arithmetic rounds. Source:
/// quantized_decomposed.quantize_per_tensor.
[[nodiscard]] constexpr std::int64_t integer_of(double scale, std::int64_t zero_point, double number) noexcept {
  constexpr float largest = 3.4e38f, most = 0x1p40f;
  const double inverse = 1 / scale;
  const float x = number > double{largest}    ? largest
                  : number < -double{largest} ? -largest
                                              : static_cast<float>(number);
  const double steps = double{x} * double{inverse > double{largest} ? largest : static_cast<float>(inverse)};  // exact
  const float rounded = steps > double{most} ? most : steps < -double{most} ? -most : static_cast<float>(steps);
  constexpr std::int64_t furthest = std::int64_t{1} << 40;
  const std::int64_t zero = zero_point > furthest ? furthest : zero_point < -furthest ? -furthest : zero_point;
  return static_cast<std::int64_t>(nearest_even(double{rounded})) + zero;
}

/// Narrows low and high of a quantize by the bounds of a clamp before it, which is exact because both are monotonic.
/// low > high if no number is left. Returns false for bounds that are NaN or cross.
[[nodiscard]] constexpr bool narrow(QuantizationView& view, const ClampView& bounds) noexcept {
  if (!(bounds.low <= bounds.high)) return false;
  const std::int64_t low = integer_of(view.scale, view.zero_point, bounds.low);
  const std::int64_t high = integer_of(view.scale, view.zero_point, bounds.high);
  if (low > view.low) view.low = low;
  if (high < view.high) view.high = high;
  return true;
}

}  // namespace davit::operators
