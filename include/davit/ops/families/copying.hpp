// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/pattern_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Copies, and conversions of dtype, layout and device.
inline constexpr OperatorRow copying[] = {
    // clang-format off
    {.rule = R"(aten._autocast_to_full_precision.default(self, cuda_enabled, cpu_enabled):
       cpu_enabled && isfloat(self) ? cast(self, float32) : self)"sv},
    {.rule = R"(aten._autocast_to_reduced_precision.default(self, cuda_enabled, cpu_enabled, cuda_dtype, cpu_dtype):
       cpu_enabled && dtype(self) == float32 ? cast(self, cpu_dtype) : self)"sv},
    {.rule = R"(aten._cast_Byte.default(self, non_blocking=false): cast(self, uint8))"sv},
    {.rule = R"(aten._cast_Char.default(self, non_blocking=false): cast(self, int8))"sv},
    {.rule = R"(aten._cast_Double.default(self, non_blocking=false): cast(self, float64))"sv},
    {.rule = R"(aten._cast_Float.default(self, non_blocking=false): cast(self, float32))"sv},
    {.rule = R"(aten._cast_Half.default(self, non_blocking=false): cast(self, float16))"sv},
    {.rule = R"(aten._cast_Int.default(self, non_blocking=false): cast(self, int32))"sv},
    {.rule = R"(aten._cast_Long.default(self, non_blocking=false): cast(self, int64))"sv},
    {.rule = R"(aten._cast_Short.default(self, non_blocking=false): cast(self, int16))"sv},
    {.schema = "aten._to_copy.default(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
               "Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
               "MemoryFormat? memory_format=None) -> Tensor"sv},
    {.schema = "aten.alias.default(Tensor(a) self) -> Tensor(a)"sv},
    {.rule = R"(aten.alias_copy.default = aten.clone.default)"sv},
    {.schema = "aten.clone.default(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor"sv},
    {.schema = "aten.contiguous.default(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)"sv,
     .rule = R"(aten.contiguous.default(self, memory_format=none):
       iscontiguous(self, memory_format) ? self : clone(self, memory_format=memory_format))"sv},
    {.schema = "aten.copy.default(Tensor self, Tensor src, bool non_blocking=False) -> Tensor"sv},
    {.schema = "aten.copy_.default(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)"sv},
    {.schema = "aten.detach.default(Tensor(a) self) -> Tensor(a)"sv,
     .rule = R"(aten.detach.default(self): self)"sv},
    {.schema = "aten.detach_.default(Tensor(a!) self) -> Tensor(a!)"sv},
    {.rule = R"(aten.detach_copy.default = aten.clone.default)"sv},
    {.rule = R"(aten.lift.default(self): self)"sv},
    {.rule = R"(aten.lift_fresh.default(self): self)"sv},
    {.schema = "aten.lift_fresh_copy.default(Tensor self) -> Tensor"sv},
    {.rule = R"(aten.pin_memory.default(self, device=none): self)"sv},
    {.rule = R"(aten.to.device(self, device, dtype, non_blocking=false, copy=false, memory_format=none):
       copy || dtype != dtype(self) ? _to_copy(self, dtype=dtype) : self)"sv},
    {.schema = "aten.to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
               "MemoryFormat? memory_format=None) -> Tensor(a)"sv,
     .rule = R"(aten.to.dtype(self, dtype, non_blocking=false, copy=false, memory_format=none):
       copy || dtype != dtype(self) ? _to_copy(self, dtype=dtype) : self)"sv},
    {.rule = R"(aten.to.dtype_layout(self, dtype=none, layout=none, device=none, pin_memory=none, non_blocking=false,
           copy=false, memory_format=none):
       copy || (dtype != none && dtype != dtype(self)) ? _to_copy(self, dtype=dtype) : self)"sv},
    {.rule = R"(aten.to.other(self, other, non_blocking=false, copy=false, memory_format=none):
       copy || dtype(other) != dtype(self) ? _to_copy(self, dtype=dtype(other)) : self)"sv},
    {.rule = R"(aten.type_as.default(self, other): cast(self, dtype(other)))"sv},
    {.schema = "dim_order_ops._clone_dim_order.default(Tensor self, *, bool non_blocking=False, "
               "int[]? dim_order=None) -> Tensor"sv},
    {.schema = "dim_order_ops._to_dim_order_copy.default(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
               "Device? device=None, bool? pin_memory=None, bool non_blocking=False, int[]? dim_order=None) "
               "-> Tensor"sv},
    {.rule = R"(prims.convert_element_type.default(a, dtype): cast(a, dtype))"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts copying_facts[] = {
    // clang-format off
    {.name = "aten._autocast_to_full_precision"sv, .view = ViewKind::maybe_same},
    {.name = "aten._autocast_to_reduced_precision"sv, .view = ViewKind::maybe_same},
    {.name = "aten._cast_Byte"sv, .view = ViewKind::maybe_same},
    {.name = "aten._cast_Char"sv, .view = ViewKind::maybe_same},
    {.name = "aten._cast_Double"sv, .view = ViewKind::maybe_same},
    {.name = "aten._cast_Float"sv, .view = ViewKind::maybe_same},
    {.name = "aten._cast_Half"sv, .view = ViewKind::maybe_same},
    {.name = "aten._cast_Int"sv, .view = ViewKind::maybe_same},
    {.name = "aten._cast_Long"sv, .view = ViewKind::maybe_same},
    {.name = "aten._cast_Short"sv, .view = ViewKind::maybe_same},
    {.name = "aten._to_copy"sv, .shape = ShapeRule::same, .keeps_nonfinite = true, .data_movement = true},
    {.name = "aten.alias"sv, .view = ViewKind::same, .shape = ShapeRule::same, .range = RangeBound::maximum,
     .keeps_nonfinite = true},
    {.name = "aten.clone"sv, .shape = ShapeRule::same, .range = RangeBound::maximum, .keeps_nonfinite = true,
     .data_movement = true},
    {.name = "aten.contiguous"sv, .view = ViewKind::maybe_same, .range = RangeBound::maximum, .keeps_nonfinite = true},
    {.name = "aten.copy"sv, .shape = ShapeRule::same, .data_movement = true},
    {.name = "aten.detach"sv, .view = ViewKind::same},
    {.name = "aten.detach_"sv, .view = ViewKind::same},
    {.name = "aten.lift"sv, .view = ViewKind::same},
    {.name = "aten.lift_fresh"sv, .view = ViewKind::same},
    {.name = "aten.pin_memory"sv, .view = ViewKind::same},
    {.name = "aten.to"sv, .view = ViewKind::maybe_same, .keeps_nonfinite = true},
    {.name = "aten.type_as"sv, .view = ViewKind::maybe_same},
    // clang-format on
};

/// Forms in which programs write these operators, and others that become simpler.
inline constexpr PatternRow copying_patterns[] = {
    // clang-format off
    {.example = "(x: [2, 3]) exp(_to_copy(x, dtype=float32))"sv,
     .pattern = R"(_to_copy(x, ...) => x if same(x, out) && hidden(out))"sv, .use = PatternUse::always},
    {.example = "(x: [2, 3], y: [2, 3]) exp(copy(x, y, sizes=dims(x), as=dtype(x)))"sv,
     .pattern = R"(copy(_, source, ...) => source if same(source, out) && hidden(out))"sv, .use = PatternUse::always,
     .worth_a_pass = true},
    // clang-format on
};

}  // namespace davit::operator_families
