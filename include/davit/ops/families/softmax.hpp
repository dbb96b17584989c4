// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/pattern_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Softmax and its logarithm.
inline constexpr OperatorRow softmax[] = {
    // clang-format off
    {.schema = "aten._log_softmax.default(Tensor self, int dim, bool half_to_float) -> Tensor"sv},
    {.rule = R"(aten._log_softmax_backward_data.default(grad_output, output, dim, input_dtype)^:
       grad_output - exp(output) * sum.dim_IntList(grad_output, [dim], true))"sv},
    {.schema = "aten._safe_softmax.default(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"sv,
     .rule = R"(aten._safe_softmax.default(self, dim, dtype=none):
       x = cast(self, dtype);
       where(all.dim(x == -inf, dim, true), 0, _softmax(x, dim, false)))"sv},
    {.schema = "aten._softmax.default(Tensor self, int dim, bool half_to_float) -> Tensor"sv},
    {.rule = R"(aten._softmax_backward_data.default(grad_output, output, dim, input_dtype)^:
       g = grad_output * output;
       g - output * sum.dim_IntList(g, [dim], true))"sv},
    {.schema = "aten.log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"sv,
     .rule = R"(aten.log_softmax.int(self, dim, dtype=none): _log_softmax(cast(self, dtype), dim, false))"sv},
    {.schema = "aten.softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"sv,
     .rule = R"(aten.softmax.int(self, dim, dtype=none): _softmax(cast(self, dtype), dim, false))"sv},
    {.rule = R"(aten.special_log_softmax.default = aten.log_softmax.int)"sv},
    {.rule = R"(aten.special_softmax.default = aten.softmax.int)"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts softmax_facts[] = {
    // clang-format off
    {.name = "aten._log_softmax"sv, .shape = ShapeRule::same, .keeps_nonfinite = true},
    {.name = "aten._safe_softmax"sv, .shape = ShapeRule::same, .range = RangeBound::softmax, .keeps_nonfinite = true},
    {.name = "aten._softmax"sv, .shape = ShapeRule::same, .range = RangeBound::softmax, .keeps_nonfinite = true},
    {.name = "aten.log_softmax"sv, .shape = ShapeRule::same, .keeps_nonfinite = true},
    {.name = "aten.softmax"sv, .shape = ShapeRule::same, .range = RangeBound::softmax, .keeps_nonfinite = true},
    // clang-format on
};

/// Forms in which programs write these operators, and others that become simpler.
inline constexpr PatternRow softmax_patterns[] = {
    // clang-format off
    // a line of which nothing is left is 0
    {.example = R"((x: [2, 3]) where.self(logical_not(any.dim(logical_not(x == -inf), -1, true)), zeros_like(x),
       _softmax(x, 1, false)))"sv,
     .pattern = R"(where.self(gone: logical_not(any.dim(left: logical_not(eq.Scalar(x, -inf)), @d, true)), filled(0),
         _softmax(x, @d, false))
       => _safe_softmax(x, d)
       if same(x, out) && rank(x) > 0 && sizes(left) == sizes(x) && rank(gone) == rank(x) && unit(gone, d))"sv,
     .use = PatternUse::composite, .worth_a_pass = true},
    // clang-format on
};

}  // namespace davit::operator_families

// how calls are read
namespace davit::operators {

/// One of ATen's softmaxes: self, dim, half_to_float or dtype.
struct SoftmaxOperator {
  const char* target;
  bool logarithm = false;
  bool core = false;  ///< has half_to_float
  bool masked = false;
};

inline constexpr std::array softmax_operators{
    SoftmaxOperator{"aten._softmax.default", false, true},
    SoftmaxOperator{"aten.softmax.int", false, false},
    SoftmaxOperator{"aten._log_softmax.default", true, true},
    SoftmaxOperator{"aten.log_softmax.int", true, false},
    SoftmaxOperator{"aten._safe_softmax.default", false, false, true},
};

}  // namespace davit::operators
