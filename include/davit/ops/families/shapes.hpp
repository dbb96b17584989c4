// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/pattern_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Shapes: views of the same elements, and broadcasting.
inline constexpr OperatorRow shapes[] = {
    // clang-format off
    {.rule = R"(aten._reshape_alias.default(self, size, stride): view(self, size))"sv},
    {.schema = "aten._unsafe_view.default(Tensor self, SymInt[] size) -> Tensor"sv,
     .rule = R"(aten._unsafe_view.default = aten.view.default)"sv},
    {.rule = R"(aten.atleast_1d.Sequence(tensors): [t in tensors: atleast_1d(t)])"sv},
    {.rule = R"(aten.atleast_1d.default(self): rank(self) == 0 ? reshape(self, [1]) : self)"sv},
    {.rule = R"(aten.atleast_2d.Sequence(tensors): [t in tensors: atleast_2d(t)])"sv},
    {.rule = R"(aten.atleast_2d.default(self):
       rank(self) == 0 ? reshape(self, [1, 1]) : rank(self) == 1 ? unsqueeze(self, 0) : self)"sv},
    {.rule = R"(aten.atleast_3d.Sequence(tensors): [t in tensors: atleast_3d(t)])"sv},
    {.rule = R"(aten.atleast_3d.default(self):
       rank(self) == 0 ? reshape(self, [1, 1, 1]) :
         rank(self) == 1 ? unsqueeze(unsqueeze(self, 0), 2) :
         rank(self) == 2 ? unsqueeze(self, 2) :
         self)"sv},
    {.rule = R"(aten.broadcast_to.default(self, size): expand(self, size))"sv},
    {.schema = "aten.expand.default(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)"sv},
    {.rule = R"(aten.expand_as.default(self, other): expand(self, sizes(other)))"sv},
    {.rule = R"(aten.expand_copy.default = aten.expand.default)"sv},
    {.schema = "aten.flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)"sv,
     .rule = R"(aten.flatten.using_ints(self, start_dim=0, end_dim=-1):
       a = wrap(start_dim, rank(self));
       b = wrap(end_dim, rank(self));
       s = sizes(self);
       rank(self) == 0 ? reshape(self, [1]) :
         a == b ? self :
         reshape(self, s[:a] + [product(s[a:b + 1])] + s[b + 1:]))"sv},
    {.rule = R"(aten.ravel.default(self): reshape(self, [product(sizes(self))]))"sv},
    {.schema = "aten.reshape.default(Tensor(a) self, SymInt[] shape) -> Tensor(a)"sv,
     .rule = R"(aten.reshape.default(self, shape):
       view(iscontiguous(self, none) ? self : clone(self, memory_format=contiguous_format), shape))"sv},
    {.rule = R"(aten.reshape_as.default(self, other): reshape(self, sizes(other)))"sv},
    {.rule = R"(aten.squeeze.default(self):
       squeeze.dims(self, compact([d in range(0, rank(self)): isfixed(size(self, d)) && size(self, d) == 1 ? d :
           none])))"sv},
    {.schema = "aten.squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)"sv,
     .rule = R"(aten.squeeze.dim(self, dim): squeeze.dims(self, [dim]))"sv},
    {.schema = "aten.squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)"sv},
    {.rule = R"(aten.squeeze_copy.default = aten.squeeze.default)"sv},
    {.rule = R"(aten.squeeze_copy.dim = aten.squeeze.dim)"sv},
    {.rule = R"(aten.squeeze_copy.dims = aten.squeeze.dims)"sv},
    {.rule = R"(aten.unflatten.int(self, dim, sizes):
       d = wrap(dim, rank(self));
       s = sizes(self);
       view(self, s[:d] + sizes + s[d + 1:]))"sv},
    {.schema = "aten.unsqueeze.default(Tensor(a) self, int dim) -> Tensor(a)"sv},
    {.rule = R"(aten.unsqueeze_copy.default = aten.unsqueeze.default)"sv},
    {.schema = "aten.view.default(Tensor(a) self, SymInt[] size) -> Tensor(a)"sv},
    {.schema = "aten.view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)"sv},
    {.rule = R"(aten.view_as.default(self, other): view(self, sizes(other)))"sv},
    {.rule = R"(aten.view_copy.default = aten.view.default)"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts shapes_facts[] = {
    // clang-format off
    {.name = "aten._reshape_alias"sv, .view = ViewKind::shape},
    {.name = "aten._unsafe_view"sv, .shape = ShapeRule::viewed, .range = RangeBound::maximum, .keeps_nonfinite = true,
     .data_movement = true},
    {.name = "aten.atleast_1d"sv, .view = ViewKind::unknown, .apart = true},
    {.name = "aten.atleast_2d"sv, .view = ViewKind::unknown, .apart = true},
    {.name = "aten.atleast_3d"sv, .view = ViewKind::unknown, .apart = true},
    {.name = "aten.broadcast_to"sv, .view = ViewKind::other},
    {.name = "aten.expand"sv, .view = ViewKind::other, .shape = ShapeRule::expanded, .range = RangeBound::maximum,
     .keeps_nonfinite = true},
    {.name = "aten.expand_as"sv, .view = ViewKind::other},
    {.name = "aten.flatten"sv, .view = ViewKind::maybe_shape, .range = RangeBound::maximum, .keeps_nonfinite = true},
    {.name = "aten.ravel"sv, .view = ViewKind::maybe_shape},
    {.name = "aten.reshape"sv, .view = ViewKind::maybe_shape, .shape = ShapeRule::viewed,
     .range = RangeBound::maximum, .keeps_nonfinite = true},
    {.name = "aten.reshape_as"sv, .view = ViewKind::maybe_shape},
    {.name = "aten.squeeze"sv, .view = ViewKind::shape, .shape = ShapeRule::squeezed, .range = RangeBound::maximum,
     .keeps_nonfinite = true},
    {.name = "aten.unflatten"sv, .view = ViewKind::shape},
    {.name = "aten.unsqueeze"sv, .view = ViewKind::shape, .shape = ShapeRule::unsqueezed,
     .range = RangeBound::maximum, .keeps_nonfinite = true},
    {.name = "aten.view"sv, .view = ViewKind::shape, .shape = ShapeRule::viewed, .range = RangeBound::maximum,
     .keeps_nonfinite = true},
    {.name = "aten.view_as"sv, .view = ViewKind::shape},
    // clang-format on
};

/// Forms in which programs write these operators, and others that become simpler.
inline constexpr PatternRow shapes_patterns[] = {
    // clang-format off
    {.example = "(x: [2, 3]) exp(expand(x, [2, 3]))"sv, .pattern = R"(expand(x, ...) => x if same(x, out))"sv,
     .use = PatternUse::always, .worth_a_pass = true},
    // clang-format on
};

}  // namespace davit::operator_families

// how calls are read
namespace davit::operators {

/// An operator whose result is its first argument, in the same order of elements.
struct SameElementsOperator {
  const char* target;
  bool copies = false;  ///< the result is a tensor of its own
  const char* input = "self";
};

inline constexpr std::array same_elements_operators{
    SameElementsOperator{"aten.view.default"},
    SameElementsOperator{"aten.reshape.default"},
    SameElementsOperator{"aten._unsafe_view.default"},
    SameElementsOperator{"aten.flatten.using_ints"},
    SameElementsOperator{"aten.squeeze.default"},
    SameElementsOperator{"aten.squeeze.dim"},
    SameElementsOperator{"aten.squeeze.dims"},
    SameElementsOperator{"aten.unsqueeze.default"},
    SameElementsOperator{"aten.alias.default"},
    SameElementsOperator{"aten.detach.default"},
    SameElementsOperator{"aten.clone.default", true},
    SameElementsOperator{"aten.contiguous.default", true},
    SameElementsOperator{"aten.alias_copy.default", true},
    SameElementsOperator{"aten.view_copy.default", true},
    SameElementsOperator{"aten.dropout.default", true, "input"},
};

}  // namespace davit::operators
