// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "davit/backends/onednn/descriptors.hpp"
#include "davit/backends/onednn/op_row.hpp"
#include "davit/backends/onednn/operands.hpp"
#include "davit/program/operators/activation.hpp"
#include "davit/program/operators/binary.hpp"
#include "davit/program/operators/bounds.hpp"

namespace davit::onednn_ops {

namespace detail {
[[nodiscard]] inline const char* unary(const NodeArguments& in, Operation& op,
                                       std::initializer_list<Function> functions) {
  const ValueId x = in.value({"self", 0});
  if (x == no_id) return "an operand is no tensor";
  if (sizes_of(in.graph(), x) != sizes_of(in.graph(), in.output())) return "the sizes of input and output differ";
  op.kind = OpKind::eltwise;
  op.inputs = {x};
  op.functions = functions;
  return nullptr;
}
[[nodiscard]] inline const char* unary(const NodeArguments& in, Operation& op, dnnl::algorithm a, double alpha = 0,
                                       double beta = 0) {
  return unary(in, op, {{a, static_cast<float>(alpha), static_cast<float>(beta)}});
}
/// A tensor divided by a number: multiplied with its reciprocal only where that is exact.
[[nodiscard]] inline const char* quotient(const NodeArguments& in, Operation& op, float divisor) {
  if (!std::isnormal(divisor)) return "the divisor is out of float's range";
  int exponent = 0;
  const bool exact = std::frexp(std::fabs(divisor), &exponent) == 0.5f && std::isnormal(1 / divisor);
  if (const char* const wrong = unary(in, op, algorithm::eltwise_linear, 1 / divisor, -0.0f); wrong != nullptr || exact)
    return wrong;
  op.kind = OpKind::binary;
  op.algorithm = algorithm::binary_div;
  op.functions.clear();
  op.inputs.push_back(no_id);
  op.epsilon = divisor;
  return nullptr;
}
/// A number that is added, as torch adds it: rounded to the result's dtype; what multiplies or divides is not.
[[nodiscard]] inline float addend(const NodeArguments& in, double number) {
  const auto wide = static_cast<float>(number);
  return in.graph().values[in.output()].dtype == ScalarType::bfloat16 ? static_cast<float>(BFloat16(wide)) : wide;
}
[[nodiscard]] inline algorithm algorithm_of(operators::BinaryFunction f) noexcept {
  switch (f) {
    case operators::BinaryFunction::add: return algorithm::binary_add;
    case operators::BinaryFunction::subtract: return algorithm::binary_sub;
    case operators::BinaryFunction::multiply: return algorithm::binary_mul;
    case operators::BinaryFunction::divide: return algorithm::binary_div;
    case operators::BinaryFunction::maximum: return algorithm::binary_max;
    case operators::BinaryFunction::minimum: return algorithm::binary_min;
  }
  return algorithm::undef;
}
}  // namespace detail

/// What eltwise_linear adds to a product, so that a zero keeps its sign.
inline constexpr float minus_zero = -0.0f;

/// Functions of one tensor without further arguments: the row says which.
[[nodiscard]] inline const char* describe_unary(const NodeArguments& in, const OpRow& row, Operation& op) {
  return detail::unary(in, op, row.algorithm, row.alpha, row.beta);
}

[[nodiscard]] inline const char* describe_hardsigmoid(const NodeArguments& in, const OpRow&, Operation& op) {
  return detail::unary(in, op, {{algorithm::eltwise_linear, 1.0f / 6, 0.5f}, {algorithm::eltwise_clip, 0, 1}});
}

/// relu, relu6, hardtanh and clamp.
[[nodiscard]] inline const char* describe_bounds(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::BoundsView view;
  if (const Refusal wrong = operators::read_bounds(in, view)) return wrong.what;
  if (!(view.low <= view.high)) return "the bounds cross";
  if (view.low == 0 && view.high == std::numeric_limits<double>::infinity())
    return detail::unary(in, op, algorithm::eltwise_relu);
  return detail::unary(in, op, algorithm::eltwise_clip, view.low, view.high);
}

/// gelu, leaky_relu, and pow for the exponents that have a primitive of their own.
[[nodiscard]] inline const char* describe_activation(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::ActivationView view;
  if (const Refusal wrong = operators::read_activation(in, view)) return wrong.what;
  switch (view.function) {
    case operators::ActivationFunction::gelu: return detail::unary(in, op, algorithm::eltwise_gelu_erf);
    case operators::ActivationFunction::gelu_tanh: return detail::unary(in, op, algorithm::eltwise_gelu_tanh);
    case operators::ActivationFunction::leaky_relu:
      return detail::unary(in, op, algorithm::eltwise_relu, view.numbers[0]);
    case operators::ActivationFunction::power:
      if (view.numbers[0] == 2) return detail::unary(in, op, algorithm::eltwise_square);
      if (view.numbers[0] == 1) return detail::unary(in, op, algorithm::eltwise_linear, 1, 0);
      return "the exponent is neither 1 nor 2";
    case operators::ActivationFunction::elu: break;
  }
  return "the library computes it otherwise";
}

[[nodiscard]] inline const char* describe_reciprocal_root(const NodeArguments& in, const OpRow&, Operation& op) {
  return detail::unary(in, op, {{algorithm::eltwise_sqrt, 0, 0}, {algorithm::eltwise_pow, 1, -1}});
}

/// add, sub, mul, div, maximum and minimum of two tensors, or of a tensor and a number; a number less a tensor.
[[nodiscard]] inline const char* describe_binary(const NodeArguments& in, const OpRow&, Operation& op) {
  operators::BinaryView view;
  if (const Refusal wrong = operators::read_binary(in, view)) return wrong.what;
  if (view.alpha != 1) return "alpha is not 1";
  if (view.left == no_id) {
    if (view.function != operators::BinaryFunction::subtract || view.right == no_id)
      return "the first operand is no tensor";
    if (sizes_of(in.graph(), view.right) != sizes_of(in.graph(), in.output()))
      return "the sizes of input and output differ";
    op.kind = OpKind::eltwise;
    op.inputs = {view.right};
    op.functions = {{algorithm::eltwise_linear, -1.0f, detail::addend(in, view.left_number)}};
    return nullptr;
  }
  if (view.right == no_id) {
    const double c = view.right_number;
    switch (view.function) {
      case operators::BinaryFunction::add:
        return detail::unary(in, op, algorithm::eltwise_linear, 1, detail::addend(in, c));
      case operators::BinaryFunction::subtract:
        return detail::unary(in, op, algorithm::eltwise_linear, 1, -detail::addend(in, c));
      case operators::BinaryFunction::multiply: return detail::unary(in, op, algorithm::eltwise_linear, c, minus_zero);
      case operators::BinaryFunction::divide: return detail::quotient(in, op, static_cast<float>(c));
      default: return "the second operand is a number";
    }
  }
  const Dims a = sizes_of(in.graph(), view.left);
  const Dims b = sizes_of(in.graph(), view.right);
  const Dims out = sizes_of(in.graph(), in.output());
  const auto fits = [&](const Dims& dims) {
    if (dims.size() > out.size()) return false;
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (const std::int64_t size = dims[dims.size() - 1 - d]; size != 1 && size != out[out.size() - 1 - d])
        return false;
    return true;
  };
  if (!fits(a) || !fits(b)) return "the operands do not broadcast to the output";
  op.kind = OpKind::binary;
  op.algorithm = detail::algorithm_of(view.function);
  op.inputs = {view.left, view.right};
  const bool commutes = op.algorithm != algorithm::binary_sub && op.algorithm != algorithm::binary_div;
  if (count_of(a) != count_of(out) && commutes && count_of(b) == count_of(out)) std::swap(op.inputs[0], op.inputs[1]);
  return nullptr;
}

}  // namespace davit::onednn_ops
