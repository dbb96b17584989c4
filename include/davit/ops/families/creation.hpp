// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/pattern_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Creation of tensors.
inline constexpr OperatorRow creation[] = {
    // clang-format off
    {.rule = R"(aten.arange.default(end, dtype=none):
       arange.start_step(0, end, 1, dtype=outtype, sizes=out, as=outtype))"sv},
    {.rule = R"(aten.arange.start(start, end, dtype=none):
       arange.start_step(start, end, 1, dtype=outtype, sizes=out, as=outtype))"sv},
    {.schema = "aten.arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, "
               "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"sv,
     .form = "aten.arange.start_out = aten.arange.start_step"sv},
    {.schema = "aten.empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
               "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"sv},
    {.rule = R"(aten.empty_like.default(self, dtype=none): full(sizes(self), 0, dtype=outtype))"sv},
    {.schema = "aten.empty_permuted.default(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, "
               "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"sv,
     .rule = R"(aten.empty_permuted.default(size, physical_layout, dtype=none): full(size, 0, dtype=outtype))"sv},
    {.schema = "aten.empty_strided.default(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, "
               "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"sv},
    {.rule = R"(aten.eye.default(n, dtype=none): eye.m(n, n, dtype=dtype))"sv},
    {.rule = R"(aten.eye.m(n, m, dtype=none):
       cast(unsqueeze(arange.start_step(0, n), 1) == arange.start_step(0, m), dtype == none ? float32 : dtype))"sv},
    {.schema = "aten.fill.Scalar(Tensor self, Scalar value) -> Tensor"sv},
    {.rule = R"(aten.fill.Tensor(self, value): expand(cast(value, dtype(self)), sizes(self)))"sv},
    {.schema = "aten.fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)"sv},
    {.schema = "aten.fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)"sv},
    {.rule = R"(aten.fill_diagonal.default(self, fill_value, wrap=false):
       where($on_diagonal(self, wrap), full([], fill_value, dtype=dtype(self)), self))"sv},
    {.schema = "aten.full.default(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, "
               "Device? device=None, bool? pin_memory=None) -> Tensor"sv},
    {.schema = "aten.full_like.default(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, "
               "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
               "MemoryFormat? memory_format=None) -> Tensor"sv},
    {.rule = R"(aten.linspace.Scalar_Tensor(start, end, steps, dtype=none): $linspace(start, end, steps, outtype))"sv},
    {.rule = R"(aten.linspace.Tensor_Scalar(start, end, steps, dtype=none): $linspace(start, end, steps, outtype))"sv},
    {.rule = R"(aten.linspace.Tensor_Tensor(start, end, steps, dtype=none): $linspace(start, end, steps, outtype))"sv},
    {.rule = R"(aten.linspace.default(start, end, steps, dtype=none): $linspace(start, end, steps, outtype))"sv},
    {.rule = R"(aten.logspace.Scalar_Tensor = aten.logspace.default)"sv},
    {.rule = R"(aten.logspace.Tensor_Scalar = aten.logspace.default)"sv},
    {.rule = R"(aten.logspace.Tensor_Tensor = aten.logspace.default)"sv},
    {.rule = R"(aten.logspace.default(start, end, steps, base=10.0, dtype=none):
       cast(pow.Scalar(base, $linspace(start, end, steps, outtype == float64 ? float64 : float32),
           as=outtype == float64 ? float64 : float32), outtype))"sv},
    {.rule = R"(aten.new_empty.default(self, size, dtype=none): full(size, 0, dtype=outtype))"sv},
    {.rule = R"(aten.new_empty_strided.default(self, size, stride, dtype=none): full(size, 0, dtype=outtype))"sv},
    {.rule = R"(aten.new_full.default(self, size, fill_value, dtype=none): full(size, fill_value, dtype=outtype))"sv},
    {.rule = R"(aten.new_ones.default(self, size, dtype=none): full(size, 1, dtype=outtype))"sv},
    {.rule = R"(aten.new_zeros.default(self, size, dtype=none): full(size, 0, dtype=outtype))"sv},
    {.rule = R"(aten.one_hot.default(self, num_classes=-1):
       num_classes == -1 ? fail(0) :
         scatter.value(full(sizes(self) + [num_classes], 0, dtype=int64), -1, unsqueeze(self, -1), 1))"sv},
    {.schema = "aten.ones.default(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
               "bool? pin_memory=None) -> Tensor"sv},
    {.schema = "aten.ones_like.default(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
               "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"sv},
    {.rule = R"(aten.range.default(start, end, dtype=none):
       cast(arange.start_step(0, out[0], 1, dtype=outtype) + start, outtype))"sv},
    {.rule = R"(aten.range.step(start, end, step=1, dtype=none):
       cast(arange.start_step(0, out[0], 1, dtype=outtype) * step + start, outtype))"sv,
     .form = "aten.range.out = aten.range.step"sv},
    {.schema = "aten.resize_.default(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) "
               "-> Tensor(a!)"sv},
    {.schema = "aten.scalar_tensor.default(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, "
               "Device? device=None, bool? pin_memory=None) -> Tensor"sv},
    {.schema = "aten.tril_indices.default(int row, int col, int offset=0, *, ScalarType? dtype=4, "
               "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"sv,
     .group = OperatorGroup::indexing},
    {.schema = "aten.triu_indices.default(int row, int col, int offset=0, *, ScalarType? dtype=4, "
               "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"sv,
     .group = OperatorGroup::indexing},
    {.rule = R"(aten.zero.default(self): zeros_like(self))"sv},
    {.schema = "aten.zeros.default(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
               "Device? device=None, bool? pin_memory=None) -> Tensor"sv},
    {.schema = "aten.zeros_like.default(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
               "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"sv},
    {.rule = R"(prims.scalar_tensor.default(s, dtype=none): full([], s, dtype=outtype))"sv},

    // shared sub-rules
    {.rule = R"($on_diagonal(x, wrap):
       n = size(x, -1);
       k = rank(x);
       rows = $steps(sizes(x)[:1]);
       k == 2 && (wrap == false || atleast(n, size(x, 0))) ? unsqueeze(rows, 1) == $steps([n]) :
         remainder.Scalar(view($steps(sizes(x)), sizes(x)), fold(a: 0; i in range(0, k): a * n + 1)) == 0)"sv},
    {.rule = R"($steps(s): arange.start_step(0, product(s)))"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts creation_facts[] = {
    // clang-format off
    {.name = "aten.arange"sv, .shape = ShapeRule::arange, .result = ResultRule::dtype_argument, .data_movement = true},
    {.name = "aten.empty"sv, .shape = ShapeRule::factory, .data_movement = true, .random = true},
    {.name = "aten.empty_like"sv, .shape = ShapeRule::same, .random = true},
    {.name = "aten.empty_permuted"sv, .random = true},
    {.name = "aten.empty_strided"sv, .random = true},
    {.name = "aten.eye"sv, .result = ResultRule::dtype_argument},
    {.name = "aten.fill"sv, .shape = ShapeRule::same},
    {.name = "aten.full"sv, .shape = ShapeRule::filled, .range = RangeBound::maximum, .keeps_nonfinite = true,
     .result = ResultRule::dtype_argument, .data_movement = true},
    {.name = "aten.full_like"sv, .shape = ShapeRule::same, .range = RangeBound::maximum, .keeps_nonfinite = true,
     .data_movement = true},
    {.name = "aten.linspace"sv, .result = ResultRule::dtype_argument},
    {.name = "aten.logspace"sv, .result = ResultRule::dtype_argument},
    {.name = "aten.ones"sv, .shape = ShapeRule::factory, .result = ResultRule::dtype_argument, .data_movement = true},
    {.name = "aten.ones_like"sv, .shape = ShapeRule::same},
    {.name = "aten.scalar_tensor"sv, .shape = ShapeRule::scalar},
    {.name = "aten.zeros"sv, .shape = ShapeRule::factory, .result = ResultRule::dtype_argument, .data_movement = true},
    {.name = "aten.zeros_like"sv, .shape = ShapeRule::same},
    // clang-format on
};

/// Forms in which programs write these operators, and others that become simpler.
inline constexpr PatternRow creation_patterns[] = {
    // clang-format off
    {.example = "(x: [2, 3]) x + full_like(x, 2)"sv,
     .pattern = R"(full_like(x, value, ...) => full(out, value, dtype=outtype) if fixed(out) && number(value))"sv,
     .use = PatternUse::always, .worth_a_pass = true},
    {.example = "(x: [2, 3]) x + ones([2, 3], sizes=[2, 3], as=float32)"sv,
     .pattern = R"(ones(size, ...) => full(out, 1, dtype=outtype) if fixed(out))"sv, .use = PatternUse::always,
     .worth_a_pass = true},
    {.pattern = R"(ones(size, ...) => full(size, 1, dtype=outtype))"sv, .use = PatternUse::always},
    {.example = "(x: [2, 3]) x + ones_like(x)"sv,
     .pattern = R"(ones_like(x, ...) => full(out, 1, dtype=outtype) if fixed(out))"sv, .use = PatternUse::always,
     .worth_a_pass = true},
    {.pattern = R"(ones_like(x, ...) => full_like(x, 1) if dtype(x) == dtype(out))"sv, .use = PatternUse::always},
    {.pattern = R"(ones_like(x, ...) => full_like(x, 1, dtype=outtype))"sv, .use = PatternUse::always},
    {.example = "(x: [2, 3]) x + zeros([2, 3], sizes=[2, 3], as=float32)"sv,
     .pattern = R"(zeros(size, ...) => full(out, 0, dtype=outtype) if fixed(out))"sv, .use = PatternUse::always,
     .worth_a_pass = true},
    {.pattern = R"(zeros(size, ...) => full(size, 0, dtype=outtype))"sv, .use = PatternUse::always},
    {.example = "(x: [2, 3]) x + zeros_like(x)"sv,
     .pattern = R"(zeros_like(x, ...) => full(out, 0, dtype=outtype) if fixed(out))"sv, .use = PatternUse::always,
     .worth_a_pass = true},
    {.pattern = R"(zeros_like(x, ...) => full_like(x, 0) if dtype(x) == dtype(out))"sv, .use = PatternUse::always},
    {.pattern = R"(zeros_like(x, ...) => full_like(x, 0, dtype=outtype))"sv, .use = PatternUse::always},
    // clang-format on
};

}  // namespace davit::operator_families
