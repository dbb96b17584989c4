// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Arithmetic on symbolic numbers, and the operators that ask a tensor for its sizes.
inline constexpr OperatorRow symbolic_numbers[] = {
    // clang-format off
    {.schema = "_operator.add(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "_operator.and_(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "_operator.eq(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "_operator.floordiv(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "_operator.ge(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "_operator.gt(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "_operator.le(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "_operator.lt(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "_operator.mod(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "_operator.mul(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "_operator.ne(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "_operator.neg(Scalar a) -> Scalar"sv},
    {.schema = "_operator.or_(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "_operator.pos(Scalar a) -> Scalar"sv},
    {.schema = "_operator.pow(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "_operator.sub(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "_operator.truediv(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "aten._assert_scalar.default(Scalar self, str assert_msg) -> ()"sv},
    {.schema = "aten._local_scalar_dense.default(Tensor self) -> Scalar"sv},
    {.schema = "aten._print.default(str s) -> ()"sv},
    {.rule = R"(aten.data.default(self): self)"sv},
    {.schema = "aten.item.default(Tensor self) -> Scalar"sv},
    {.schema = "aten.sym_constrain_range_for_size.default(Scalar size, *, int? min=None, int? max=None) -> ()"sv},
    {.rule = R"(aten.sym_is_contiguous.default(self, memory_format=none):
       symbool(iscontiguous(self, memory_format)))"sv},
    {.schema = "aten.sym_numel.default(Tensor self) -> SymInt"sv},
    {.schema = "aten.sym_size.int(Tensor self, int dim) -> SymInt"sv},
    {.schema = "aten.sym_storage_offset.default(Tensor self) -> SymInt"sv},
    {.schema = "aten.sym_stride.int(Tensor self, int dim) -> SymInt"sv},
    {.schema = "torch.sym_float(Scalar a) -> Scalar"sv},
    {.schema = "torch.sym_int(Scalar a) -> Scalar"sv},
    {.schema = "torch.sym_ite(Scalar a, Scalar b, Scalar c) -> Scalar"sv},
    {.schema = "torch.sym_max(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "torch.sym_min(Scalar a, Scalar b) -> Scalar"sv},
    {.schema = "torch.sym_not(Scalar a) -> Scalar"sv},
    {.schema = "torch.sym_sqrt(Scalar a) -> Scalar"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts symbolic_numbers_facts[] = {
    // clang-format off
    {.name = "aten.data"sv, .view = ViewKind::same},
    {.name = "aten.sym_size"sv, .data_movement = true},
    // clang-format on
};

}  // namespace davit::operator_families
