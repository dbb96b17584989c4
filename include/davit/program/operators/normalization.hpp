// SPDX-License-Identifier: MIT
#pragma once

#include "davit/ops/families/normalization.hpp"
#include "davit/program/operators/arguments.hpp"

namespace davit::operators {

/// Arguments of a batch norm.
struct BatchNormView {
  ValueId input = no_id;  ///< (N, C, *)
  ValueId weight = no_id;
  ValueId bias = no_id;
  ValueId mean = no_id;  ///< running statistics; unused when training
  ValueId variance = no_id;
  bool training = false;
  double momentum = 0;
  double eps = 0;

  friend constexpr bool operator==(const BatchNormView&, const BatchNormView&) = default;
};

/// Reads a call of that batch norm. Errors: invalid_argument, invalid_shape.
template <CallArguments Call>
constexpr Refusal read_batch_norm(const Call& call, const BatchNormOperator& op, BatchNormView& view) noexcept {
  view.input = call.value({"input", 0});
  view.weight = call.value({"weight", 1});
  view.bias = call.value({"bias", 2});
  if (view.input == no_id) return {"batch_norm: the input is no tensor"};
  if (call.rank(view.input) < 2)
    return {"batch_norm: the input needs at least two dimensions", ErrorCode::invalid_shape};
  if (op.has_running) {
    view.mean = call.value({"running_mean", 3});
    view.variance = call.value({"running_var", 4});
  }
  std::uint32_t at = op.has_running ? 5 : 3;
  if (op.has_training) {
    const auto* const training = call.find({"training", at++});
    double number = 0;
    if (training == nullptr || !call.read_number(*training, number))
      return {"batch_norm: whether it trains is not known"};
    view.training = number != 0;
  }
  if (!read_number(call, {"momentum", at}, 0, view.momentum) || !read_number(call, {"eps", at + 1}, 1e-5, view.eps))
    return {"batch_norm: momentum or epsilon is no number"};
  const bool running = view.mean != no_id && view.variance != no_id;
  if (!running && (!view.training || view.mean != no_id || view.variance != no_id))
    return {"batch_norm: the running statistics must be given"};
  const std::int64_t channels = call.size(view.input, 1);
  for (const ValueId v : {view.weight, view.bias, view.mean, view.variance}) {
    if (v == no_id) continue;
    if (call.rank(v) != 1) return {"batch_norm: a parameter must have one dimension", ErrorCode::invalid_shape};
    const std::int64_t numbers = call.size(v, 0);
    if (numbers >= 0 && channels >= 0 && numbers != channels)
      return {"batch_norm: a parameter needs one element per channel", ErrorCode::invalid_shape};
  }
  return {};
}
/// Reads a call of any batch norm.
template <CallArguments Call>
constexpr Refusal read_batch_norm(const Call& call, BatchNormView& view) noexcept {
  const BatchNormOperator* const op = find_row(batch_norm_operators, call);
  return op == nullptr ? Refusal{"the operator is no batch norm"} : read_batch_norm(call, *op, view);
}

/// Arguments of a layer norm: a normalization of the last dimensions.
struct LayerNormView {
  ValueId input = no_id;
  ValueId weight = no_id;  ///< has the normalized sizes
  ValueId bias = no_id;    ///< has the normalized sizes
  std::size_t dims = 0;    ///< number of trailing dimensions that are normalized together: at least 1
  double eps = 0;

  friend constexpr bool operator==(const LayerNormView&, const LayerNormView&) = default;
};

/// Checks that the last sizes of `view.input`, and the parameters' sizes, equal the list.
/// Source: _check_layer_norm_inputs of ATen.
template <CallArguments Call>
constexpr Refusal read_normalized(const Call& call, Parameter shape, LayerNormView& view) noexcept {
  const auto* const list = call.find(shape);
  if (list == nullptr) return {"layer_norm: normalized_shape is missing"};
  const auto items = call.items(*list);
  const std::size_t rank = call.rank(view.input);
  const bool alone = items.size() == 0;  // an int means a list of one item
  std::int64_t number = 0;
  view.dims = alone ? (call.read_integer(*list, number) ? 1 : 0) : items.size();
  if (view.dims == 0 || view.dims > rank)
    return {"layer_norm: normalized_shape does not fit the input's rank", ErrorCode::invalid_shape};
  const auto* const numbers = items.data();
  for (std::size_t d = 0; d < view.dims; ++d) {
    if (!alone && !call.read_integer(numbers[d], number)) return {"layer_norm: normalized_shape is not known"};
    const std::int64_t size = call.size(view.input, rank - view.dims + d);
    if (size >= 0 && size != number)
      return {"layer_norm: normalized_shape does not match the input's sizes", ErrorCode::invalid_shape};
    for (const ValueId v : {view.weight, view.bias}) {
      if (v == no_id) continue;
      const std::int64_t own = call.rank(v) == view.dims ? call.size(v, d) : -2;
      if (own != number && own != -1)
        return {"layer_norm: weight and bias must have the sizes normalized_shape", ErrorCode::invalid_shape};
    }
  }
  return {};
}

/// Reads a call of any layer norm. Errors: invalid_argument, invalid_shape.
template <CallArguments Call>
constexpr Refusal read_layer_norm(const Call& call, LayerNormView& view) noexcept {
  view.input = call.value({"input", 0});
  view.weight = call.value({"weight", 2});
  view.bias = call.value({"bias", 3});
  if (view.input == no_id) return {"layer_norm: the input is no tensor"};
  if (!read_number(call, {"eps", 4}, 1e-5, view.eps)) return {"layer_norm: epsilon is no number"};
  return read_normalized(call, {"normalized_shape", 1}, view);
}

/// Arguments of a group norm: a normalization of groups of channels.
struct GroupNormView {
  ValueId input = no_id;                               ///< batch * channels * plane elements
  ValueId weight = no_id;                              ///< one number per channel
  ValueId bias = no_id;                                ///< one number per channel
  std::int64_t batch = -1, channels = -1, plane = -1;  ///< -1: unknown
  std::int64_t groups = 1;
  double eps = 0;

  [[nodiscard]] constexpr std::int64_t group_channels() const noexcept { return channels / groups; }

  friend constexpr bool operator==(const GroupNormView&, const GroupNormView&) = default;
};

/// Reads N, C, HxW and group, which start at position `first`. Errors: invalid_argument, invalid_shape.
template <CallArguments Call>
constexpr Refusal read_groups(const Call& call, std::uint32_t first, GroupNormView& view) noexcept {
  if (!read_integer(call, {"N", first}, -1, view.batch)) view.batch = -1;
  if (!read_integer(call, {"C", first + 1}, -1, view.channels)) view.channels = -1;
  if (!read_integer(call, {"HxW", first + 2}, -1, view.plane)) view.plane = -1;
  if (!read_integer(call, {"group", first + 3}, 0, view.groups))
    return {"group_norm: the number of groups is not known"};
  if (view.groups < 1 || (view.channels >= 0 && view.channels % view.groups != 0))
    return {"group_norm: the channels do not divide into the groups", ErrorCode::invalid_shape};
  return {};
}
/// Reads a call of native_group_norm. Errors: invalid_argument, invalid_shape.
template <CallArguments Call>
constexpr Refusal read_group_norm(const Call& call, GroupNormView& view) noexcept {
  view.input = call.value({"input", 0});
  view.weight = call.value({"weight", 1});
  view.bias = call.value({"bias", 2});
  if (view.input == no_id) return {"group_norm: the input is no tensor"};
  if (!read_number(call, {"eps", 7}, 1e-5, view.eps)) return {"group_norm: epsilon is no number"};
  return read_groups(call, 3, view);
}

}  // namespace davit::operators
