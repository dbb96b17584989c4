// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/pattern_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Activations of neural networks.
inline constexpr OperatorRow activations[] = {
    // clang-format off
    {.schema = "aten._prelu_kernel.default(Tensor self, Tensor weight) -> Tensor"sv,
     .rule = R"(aten._prelu_kernel.default(self, weight): where(self > 0, self, self * weight))"sv},
    {.rule = R"(aten._prelu_kernel_backward.default(grad_output, self, weight):
       k = self > 0;
       [where(k, grad_output, grad_output * weight), where(k, 0, grad_output * self)])"sv},
    {.rule = R"(aten.celu.default(self, alpha=1.0): elu(self, alpha, 1.0, 1.0 / alpha))"sv},
    {.schema = "aten.elu.default(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor"sv},
    {.rule = R"(aten.elu_backward.default(grad_output, alpha, scale, input_scale, is_result, self_or_result)^:
       x = self_or_result;
       n = alpha * scale;
       where(x <= 0, is_result ? grad_output * input_scale * (x + n) :
           grad_output * (input_scale * n) * exp(x * input_scale), grad_output * scale))"sv},
    {.schema = "aten.gelu.default(Tensor self, *, str approximate=\"none\") -> Tensor"sv},
    {.rule = R"(aten.gelu_backward.default(grad_output, self, approximate='none')^:
       i = (self + self * self * self * 0.044715) * 0.7978845608028654;
       t = tanh(i);
       approximate == 'tanh' ? grad_output
           * ((t + 1) * 0.5 + self * 0.5 * (1 - t * t) * (self * self * 0.134145 + 1) * 0.7978845608028654) :
         grad_output * ((erf(self * 0.7071067811865476) + 1) * 0.5
           + self * exp(self * self * -0.5) * 0.3989422804014327))"sv},
    {.rule = R"(aten.glu.default(self, dim=-1)^:
       d = wrap(dim, rank(self));
       h = size(self, d) // 2;
       narrow(self, d, 0, h) * sigmoid(narrow(self, d, h, h)))"sv},
    {.rule = R"(aten.glu_backward.default(grad_output, self, dim)^:
       n = size(self, dim) // 2;
       a = narrow(self, dim, 0, n);
       s = sigmoid(narrow(self, dim, n, n));
       cat([s * grad_output, (1 - s) * s * grad_output * a], dim))"sv},
    {.rule = R"(aten.hardshrink.default(self, lambd=0.5): where(abs(self) <= lambd, 0, self))"sv},
    {.rule = R"(aten.hardshrink_backward.default(grad_out, self, lambd): where(abs(self) <= lambd, 0, grad_out))"sv},
    {.schema = "aten.hardsigmoid.default(Tensor self) -> Tensor"sv,
     .rule = R"(aten.hardsigmoid.default(self)^: clamp(self + 3, 0, 6) / 6)"sv},
    {.schema = "aten.hardsigmoid_.default(Tensor(a!) self) -> Tensor(a!)"sv},
    {.rule = R"(aten.hardsigmoid_backward.default(grad_output, self)^:
       where(abs(self) < 3, grad_output * 0.16666666666666666, 0))"sv},
    {.schema = "aten.hardswish.default(Tensor self) -> Tensor"sv,
     .rule = R"(aten.hardswish.default(self)^: self * clamp(self + 3, 0, 6) / 6)"sv},
    {.schema = "aten.hardswish_.default(Tensor(a!) self) -> Tensor(a!)"sv},
    {.rule = R"(aten.hardswish_backward.default(grad_output, self)^:
       where(self < -3, 0, where(self <= 3, grad_output * (self / 3 + 0.5), grad_output)))"sv},
    {.schema = "aten.hardtanh.default(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor"sv},
    {.schema = "aten.hardtanh_.default(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) -> Tensor(a!)"sv},
    {.rule = R"(aten.hardtanh_backward.default(grad_output, self, min_val, max_val):
       where(logical_or(self <= min_val, self >= max_val), 0, grad_output))"sv},
    {.schema = "aten.leaky_relu.default(Tensor self, Scalar negative_slope=0.01) -> Tensor"sv},
    {.schema = "aten.leaky_relu_.default(Tensor(a!) self, Scalar negative_slope=0.01) -> Tensor(a!)"sv},
    {.rule = R"(aten.leaky_relu_backward.default(grad_output, self, negative_slope, self_is_result)^:
       where(self > 0, grad_output, grad_output * negative_slope))"sv},
    {.rule = R"(aten.log_sigmoid.default(self)^: minimum(self, zeros_like(self)) - log1p(exp(-abs(self))))"sv},
    {.rule = R"(aten.log_sigmoid_backward.default(grad_output, self, buffer)^:
       z = exp(-abs(self));
       grad_output * where(self < 0, 1 - z / (z + 1), z / (z + 1)))"sv},
    {.rule = R"(aten.log_sigmoid_forward.default(self)^: [log_sigmoid(self), exp(-abs(self))])"sv},
    {.rule = R"(aten.logit.default(self, eps=none)^:
       t = isint(self) ? cast(self, float32) : self;
       x = eps == none ? t : clamp(t, rounded(eps, outtype), rounded(1.0 - eps, outtype));
       log(x / (1 - x)))"sv},
    {.rule = R"(aten.logit_backward.default(grad_output, self, eps=none)^:
       g = grad_output / (self * (1 - self));
       eps == none ? where($between(self, 0, 1), g, nan) : where($between(self, eps, 1.0 - eps), g, 0))"sv},
    {.schema = "aten.mish.default(Tensor self) -> Tensor"sv,
     .rule = R"(aten.mish.default(self)^: self * tanh(softplus(self)))"sv},
    {.rule = R"(aten.mish_backward.default(grad_output, self)^:
       t = tanh(softplus(self));
       grad_output * (t + self * sigmoid(self) * (1 - t * t)))"sv},
    {.rule = R"(aten.prelu.default(self, weight):
       c = rank(weight) == 0 ? 1 : size(weight, 0);
       w = rank(self) < 2 ? reshape(weight, rank(self) == 0 ? [] : [c]) :
         view(weight, [1, c] + [d in range(2, rank(self)): 1]);
       _prelu_kernel(self, w))"sv},
    {.schema = "aten.relu.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.relu6.default(Tensor self) -> Tensor"sv,
     .rule = R"(aten.relu6.default(self): hardtanh(self, 0, 6))"sv},
    {.schema = "aten.relu6_.default(Tensor(a!) self) -> Tensor(a!)"sv},
    {.schema = "aten.relu_.default(Tensor(a!) self) -> Tensor(a!)"sv},
    {.rule = R"(aten.selu.default(self): elu(self, 1.6732632423543772, 1.0507009873554805))"sv},
    {.schema = "aten.sigmoid.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.sigmoid_.default(Tensor(a!) self) -> Tensor(a!)"sv},
    {.rule = R"(aten.sigmoid_backward.default(grad_output, output)^: grad_output * ((1 - output) * output))"sv},
    {.schema = "aten.silu.default(Tensor self) -> Tensor"sv,
     .rule = R"(aten.silu.default(self)^: self * sigmoid(self))"sv},
    {.schema = "aten.silu_.default(Tensor(a!) self) -> Tensor(a!)"sv},
    {.rule = R"(aten.silu_backward.default(grad_output, self)^:
       s = sigmoid(self);
       grad_output * s * (self * (1 - s) + 1))"sv},
    {.rule = R"(aten.softplus.default(self, beta=1, threshold=20)^:
       t = beta == 1 ? self : self * beta;
       l = log1p(exp(t));
       where(t > threshold, self, beta == 1 ? l : l / beta))"sv},
    {.rule = R"(aten.softplus_backward.default(grad_output, self, beta, threshold)^:
       z = exp(self * beta);
       where(self * beta > threshold, grad_output, grad_output * z / (z + 1)))"sv},
    {.rule = R"(aten.softshrink.default(self, lambd=0.5)^: self - clamp(self, -lambd, lambd))"sv},
    {.rule = R"(aten.softshrink_backward.default(grad_output, self, lambd):
       where(abs(self) <= lambd, 0, grad_output))"sv},
    {.rule = R"(aten.tanh_backward.default(grad_output, output)^: grad_output * (1 - output * output))"sv},
    {.rule = R"(aten.threshold.default(self, threshold, value):
       where(self <= threshold, full([], value, dtype=dtype(self)), self))"sv},
    {.rule = R"(aten.threshold_backward.default(grad_output, self, threshold):
       where(self <= threshold, 0, grad_output))"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts activations_facts[] = {
    // clang-format off
    {.name = "aten._prelu_kernel"sv, .shape = ShapeRule::same, .range = RangeBound::product_or_first,
     .keeps_nonfinite = true},
    {.name = "aten.elu"sv, .shape = ShapeRule::same, .range = RangeBound::maximum},
    {.name = "aten.gelu"sv, .shape = ShapeRule::same, .range = RangeBound::maximum},
    {.name = "aten.hardsigmoid"sv, .shape = ShapeRule::same, .range = RangeBound::unit_interval},
    {.name = "aten.hardswish"sv, .shape = ShapeRule::same, .range = RangeBound::maximum},
    {.name = "aten.hardtanh"sv, .shape = ShapeRule::same, .range = RangeBound::maximum},
    {.name = "aten.leaky_relu"sv, .shape = ShapeRule::same, .range = RangeBound::maximum_scaled},
    {.name = "aten.mish"sv, .range = RangeBound::maximum, .keeps_nonfinite = true},
    {.name = "aten.relu"sv, .shape = ShapeRule::same, .range = RangeBound::maximum},
    {.name = "aten.relu6"sv, .range = RangeBound::maximum},
    {.name = "aten.sigmoid"sv, .shape = ShapeRule::floating, .range = RangeBound::unit_interval,
     .keeps_nonfinite = true,
     .result = ResultRule::floating},
    {.name = "aten.silu"sv, .shape = ShapeRule::same, .range = RangeBound::maximum, .keeps_nonfinite = true},
    // clang-format on
};

/// Forms in which programs write these operators, and others that become simpler.
inline constexpr PatternRow activations_patterns[] = {
    // clang-format off
    // elu: run_decompositions leaves its factors of 1 out
    {.example = "(x: [2, 3]) where.self(x > 0, x * 1.5, expm1(x * 0.5) * 3)"sv,
     .pattern = R"(where.self(gt.Scalar(x, 0), mul.Tensor?(x, #scale=1),
         mul.Tensor?(expm1(mul.Tensor?(x, #inner=1)), #alpha=1))
       => elu(x, alpha / scale, scale, inner) if floating(x) && dtype(x) == dtype(out) && scale != 0)"sv,
     .worth_a_pass = true},
    {.example = "(x: [2, 3]) x * clamp(clamp(x + 3, 0), max=6) / 6"sv,
     .pattern = R"(div.Tensor(mul.Tensor(x, clamp(clamp(add.Tensor(x, 3), 0), max=6)), 6) => hardswish(x)
       if floating(x) && dtype(x) == dtype(out))"sv},
    {.example = "(x: [2, 3]) x * tanh(where.self(x > 20, x, log1p(exp(x))))"sv,
     .pattern = R"(mul.Tensor(x, tanh(where.self(gt.Scalar(x, 20), x, log1p(exp(x))))) => mish(x)
       if floating(x) && dtype(x) == dtype(out))"sv},
    {.example = "(x: [2, 3], w: [3]) where.self(x > 0, x, x * w)"sv,
     .pattern = R"(where.self(gt.Scalar(x, 0), x, mul.Tensor(x, weight)) => _prelu_kernel(x, weight)
       if floating(x) && same(x, out) && dtype(weight) == dtype(x))"sv,
     .worth_a_pass = true},
    {.example = "(x: [2, 3]) x * sigmoid(x)"sv,
     .pattern = R"(mul.Tensor(x, once sigmoid(x)) => silu(x) if floating(x) && dtype(x) == dtype(out))"sv},
    // clang-format on
};

}  // namespace davit::operator_families

// how calls are read
namespace davit::operators {

enum class ActivationFunction : std::uint8_t { gelu, gelu_tanh, leaky_relu, elu, power };

/// One of ATen's: self, then numbers of these names, which may be left out; of gelu, whether it is approximate.
struct ActivationOperator {
  const char* target;
  ActivationFunction function;
  std::array<const char*, 3> names{};
  std::array<double, 3> otherwise{};
};

inline constexpr std::array activation_operators{
    ActivationOperator{"aten.gelu.default", ActivationFunction::gelu},
    ActivationOperator{"aten.leaky_relu.default", ActivationFunction::leaky_relu, {"negative_slope"}, {0.01}},
    ActivationOperator{"aten.elu.default", ActivationFunction::elu, {"alpha", "scale", "input_scale"}, {1, 1, 1}},
    ActivationOperator{"aten.pow.Tensor_Scalar", ActivationFunction::power, {"exponent"}},
};

/// One of ATen's activations of this kind: the names of the bounds at positions 1 and 2, if it has any, and their
/// defaults.
struct ClampOperator {
  const char* target;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  const char* low_name = nullptr;
  const char* high_name = nullptr;
};

inline constexpr std::array clamp_operators{
    ClampOperator{.target = "aten.relu.default", .low = 0},
    ClampOperator{
        .target = "aten.hardtanh.default", .low = -1, .high = 1, .low_name = "min_val", .high_name = "max_val"},
    ClampOperator{.target = "aten.clamp.default", .low_name = "min", .high_name = "max"},
    ClampOperator{.target = "aten.relu6.default", .low = 0, .high = 6},
};

}  // namespace davit::operators
