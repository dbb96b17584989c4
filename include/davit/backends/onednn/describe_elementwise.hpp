// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "davit/backends/onednn/descriptors.hpp"
#include "davit/backends/onednn/node_reader.hpp"
#include "davit/backends/onednn/op_row.hpp"

namespace davit::onednn_ops {

namespace detail {
[[nodiscard]] inline const char* unary(const NodeReader& in, Operation& op, std::initializer_list<Function> functions) {
  const ValueId x = in.tensor("self", 0);
  if (x == no_id) return "an operand is no tensor";
  if (in.sizes(x) != in.sizes(in.output())) return "the sizes of input and output differ";
  op.kind = OpKind::eltwise;
  op.inputs = {x};
  op.functions = functions;
  return nullptr;
}
[[nodiscard]] inline const char* unary(const NodeReader& in, Operation& op, dnnl::algorithm a, double alpha = 0,
                                       double beta = 0) {
  return unary(in, op, {{a, static_cast<float>(alpha), static_cast<float>(beta)}});
}
}  // namespace detail

/// Functions of one tensor without further arguments: the row says which.
[[nodiscard]] inline const char* describe_unary(const NodeReader& in, const OpRow& row, Operation& op) {
  return detail::unary(in, op, row.algorithm, row.alpha, row.beta);
}

[[nodiscard]] inline const char* describe_hardsigmoid(const NodeReader& in, const OpRow&, Operation& op) {
  return detail::unary(in, op, {{algorithm::eltwise_linear, 1.0f / 6, 0.5f}, {algorithm::eltwise_clip, 0, 1}});
}

/// aten.hardtanh and aten.clamp; a bound that is missing is an infinity.
[[nodiscard]] inline const char* describe_clip(const NodeReader& in, const OpRow& row, Operation& op) {
  const bool hardtanh = row.name == "aten.hardtanh.default";
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::optional<double> low = in.number(hardtanh ? "min_val" : "min", 1, hardtanh ? -1 : -inf);
  const std::optional<double> high = in.number(hardtanh ? "max_val" : "max", 2, hardtanh ? 1 : inf);
  if (!low || !high) return "a bound is no number";
  if (!(*low <= *high)) return "the bounds cross";
  if (*low == 0 && *high == inf) return detail::unary(in, op, algorithm::eltwise_relu);
  return detail::unary(in, op, algorithm::eltwise_clip, *low, *high);
}

[[nodiscard]] inline const char* describe_gelu(const NodeReader& in, const OpRow&, Operation& op) {
  const Argument* how = in.find("approximate", 1);
  const std::string_view approximate = how == nullptr ? "none" : in.graph().string(*how);
  if (approximate != "none" && approximate != "tanh") return "the approximation is unknown";
  return detail::unary(in, op, approximate == "tanh" ? algorithm::eltwise_gelu_tanh : algorithm::eltwise_gelu_erf);
}

[[nodiscard]] inline const char* describe_elu(const NodeReader& in, const OpRow&, Operation& op) {
  const std::optional<double> alpha = in.number("alpha", 1, 1);
  if (!alpha || in.number("scale", 2, 1) != 1.0 || in.number("input_scale", 3, 1) != 1.0)
    return "it scales its input or output";
  return detail::unary(in, op, algorithm::eltwise_elu, *alpha);
}

[[nodiscard]] inline const char* describe_leaky_relu(const NodeReader& in, const OpRow&, Operation& op) {
  const std::optional<double> slope = in.number("negative_slope", 1, 0.01);
  if (!slope) return "the slope is no number";
  return detail::unary(in, op, algorithm::eltwise_relu, *slope);
}

/// aten.pow.Tensor_Scalar for the exponents that have a primitive of their own.
[[nodiscard]] inline const char* describe_power(const NodeReader& in, const OpRow&, Operation& op) {
  const std::optional<double> exponent = in.number("exponent", 1, 0);
  if (exponent == 2.0) return detail::unary(in, op, algorithm::eltwise_square);
  if (exponent == 1.0) return detail::unary(in, op, algorithm::eltwise_linear, 1, 0);
  return "the exponent is neither 1 nor 2";
}

/// add, sub, mul, div, maximum and minimum of two tensors, or of a tensor and a number.
[[nodiscard]] inline const char* describe_binary(const NodeReader& in, const OpRow& row, Operation& op) {
  if (in.number("alpha", 2, 1) != 1.0) return "alpha is not 1";
  const ValueId x = in.tensor("self", 0);
  const Argument* other = in.find("other", 1);
  if (x == no_id || other == nullptr) return "the first operand is no tensor";
  if (!other->is_value()) {
    const std::optional<double> c = NodeReader::number_in(*other);
    if (!c) return "the second operand is neither a tensor nor a number";
    switch (row.algorithm) {
      case algorithm::binary_add: return detail::unary(in, op, algorithm::eltwise_linear, 1, *c);
      case algorithm::binary_sub: return detail::unary(in, op, algorithm::eltwise_linear, 1, -*c);
      case algorithm::binary_mul: return detail::unary(in, op, algorithm::eltwise_linear, *c, 0);
      case algorithm::binary_div:
        return *c == 0 ? "it divides by 0" : detail::unary(in, op, algorithm::eltwise_linear, 1 / *c, 0);
      default: return "the second operand is a number";
    }
  }
  const Dims a = in.sizes(x);
  const Dims b = in.sizes(other->value());
  const Dims out = in.sizes(in.output());
  const auto fits = [&](const Dims& dims) {
    if (dims.size() > out.size()) return false;
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (const std::int64_t size = dims[dims.size() - 1 - d]; size != 1 && size != out[out.size() - 1 - d])
        return false;
    return true;
  };
  if (!fits(a) || !fits(b)) return "the operands do not broadcast to the output";
  op.kind = OpKind::binary;
  op.algorithm = row.algorithm;
  op.inputs = {x, other->value()};
  const bool commutes = row.algorithm != algorithm::binary_sub && row.algorithm != algorithm::binary_div;
  if (count_of(a) != count_of(out) && commutes && count_of(b) == count_of(out)) std::swap(op.inputs[0], op.inputs[1]);
  if (count_of(in.sizes(op.inputs[0])) != count_of(out)) return "the first operand is broadcast";
  return nullptr;
}

}  // namespace davit::onednn_ops
