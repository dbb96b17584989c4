// SPDX-License-Identifier: MIT
#pragma once

#include "davit/ops/families/pooling.hpp"
#include "davit/program/operators/spatial.hpp"

namespace davit::operators {

/// Arguments of a pooling over sliding windows. All arrays end with the width.
struct PoolView {
  ValueId input = no_id;  ///< (N?, C, spatial)
  std::size_t dims = 0;   ///< spatial dimensions: 1 to 3
  bool batched = true;
  bool maximum = false;  ///< false: average
  bool ceil_mode = false;
  bool count_include_pad = true;
  std::int64_t divisor = 0;  ///< for an average; 0: the number of elements
  Spatial kernel{1, 1, 1};
  Spatial stride{1, 1, 1};
  Spatial padding{};
  Spatial dilation{1, 1, 1};

  [[nodiscard]] constexpr bool is_padded() const noexcept {
    return padding[0] != 0 || padding[1] != 0 || padding[2] != 0;
  }
  /// Returns the number of outputs for an input of that size in spatial dimension `d`; below 1 if there is none.
  /// Source: pooling_output_shape of ATen's Pool.h.
  [[nodiscard]] constexpr std::int64_t out_size(std::size_t d, std::int64_t in) const noexcept {
    const std::int64_t room = in + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1;
    const std::int64_t rounded = room + (ceil_mode ? stride[d] - 1 : 0);
    if (rounded < 0) return 0;
    const std::int64_t out = rounded / stride[d] + 1;
    return ceil_mode && (out - 1) * stride[d] >= in + padding[d] ? out - 1 : out;
  }
  /// Returns the number of elements by which the last of `out` windows exceeds the input in spatial dimension `d`.
  [[nodiscard]] constexpr std::int64_t padding_end(std::size_t d, std::int64_t in, std::int64_t out) const noexcept {
    const std::int64_t reach = (out - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1;
    return reach > in + padding[d] ? reach - in - padding[d] : 0;
  }

  friend constexpr bool operator==(const PoolView&, const PoolView&) = default;
};

/// Reads a call of that pooling. Errors: invalid_argument, invalid_shape, out_of_range.
/// Source: pool2d_shape_check of ATen's Pool.h.
template <CallArguments Call>
constexpr Refusal read_pool(const Call& call, const PoolOperator& op, PoolView& view) noexcept {
  view.input = call.value(op.at("self", 0));
  if (view.input == no_id) return {"pooling: the input is no tensor"};
  view.dims = op.dims;
  view.maximum = op.maximum;
  const std::size_t rank = call.rank(view.input);
  view.batched = rank == view.dims + 2;
  if (!view.batched && rank != view.dims + 1)
    return {"pooling: the input has the wrong number of dimensions", ErrorCode::invalid_shape};
  if (call.find(op.at("kernel_size", 1)) == nullptr) return {"pooling: the kernel's size is missing"};
  if (const Refusal wrong = read_spatial(call, op.at("kernel_size", 1), view.dims, 1, 1, view.kernel)) return wrong;
  const auto* const stride = call.find(op.at("stride", 2));
  std::int64_t number = 0;
  if (stride != nullptr && (call.items(*stride).size() != 0 || call.read_integer(*stride, number))) {
    if (const Refusal wrong = read_spatial(call, op.at("stride", 2), view.dims, 1, 1, view.stride)) return wrong;
  } else {
    view.stride = view.kernel;
  }
  if (const Refusal wrong = read_spatial(call, op.at("padding", 3), view.dims, 0, 0, view.padding)) return wrong;
  for (std::size_t d = 0; d < 3; ++d)
    if (view.padding[d] > view.kernel[d] / 2)
      return {"pooling: the padding is more than half of the kernel size", ErrorCode::out_of_range};
  if (view.maximum)
    if (const Refusal wrong = read_spatial(call, op.at("dilation", 4), view.dims, 1, 1, view.dilation)) return wrong;
  if (!read_flag(call, op.at("ceil_mode", view.maximum ? 5 : 4), false, view.ceil_mode))
    return {"pooling: ceil_mode is not known"};
  if (view.maximum) return {};
  if (!read_flag(call, op.at("count_include_pad", 5), true, view.count_include_pad))
    return {"pooling: count_include_pad is not known"};
  if (view.dims == 1) return {};
  const Parameter divisor = op.at("divisor_override", 6);
  if (call.find(divisor) == nullptr) return {};
  if (!read_integer(call, divisor, 0, view.divisor)) return {"pooling: the divisor is not known"};
  return view.divisor == 0 ? Refusal{"avg_pool: the divisor must not be zero", ErrorCode::out_of_range} : Refusal{};
}
/// Reads a call of any pooling over sliding windows.
template <CallArguments Call>
constexpr Refusal read_pool(const Call& call, PoolView& view) noexcept {
  const PoolOperator* const op = find_row(pool_operators, call);
  return op == nullptr ? Refusal{"the operator is no pooling"} : read_pool(call, *op, view);
}

/// Arguments of an adaptive average pooling, whose windows divide the input into `out` places.
struct AdaptivePoolView {
  ValueId input = no_id;  ///< (N?, C, spatial)
  std::size_t dims = 0;
  bool batched = true;
  Spatial out{1, 1, 1};

  friend constexpr bool operator==(const AdaptivePoolView&, const AdaptivePoolView&) = default;
};

/// Reads a call of that adaptive average. Errors: invalid_argument, invalid_shape, out_of_range.
template <CallArguments Call>
constexpr Refusal read_adaptive_pool(const Call& call, const AdaptivePoolOperator& op,
                                     AdaptivePoolView& view) noexcept {
  view.input = call.value({"self", 0});
  if (view.input == no_id) return {"pooling: the input is no tensor"};
  view.dims = op.dims;
  const std::size_t rank = call.rank(view.input);
  view.batched = rank == view.dims + 2;
  if (!view.batched && rank != view.dims + 1)
    return {"pooling: the input has the wrong number of dimensions", ErrorCode::invalid_shape};
  if (call.find({"output_size", 1}) == nullptr) return {"pooling: the output's size is missing"};
  return read_spatial(call, {"output_size", 1}, view.dims, 0, 1, view.out);
}
/// Reads a call of any adaptive average.
template <CallArguments Call>
constexpr Refusal read_adaptive_pool(const Call& call, AdaptivePoolView& view) noexcept {
  const AdaptivePoolOperator* const op = find_row(adaptive_pool_operators, call);
  return op == nullptr ? Refusal{"the operator is no adaptive pooling"} : read_adaptive_pool(call, *op, view);
}

}  // namespace davit::operators
