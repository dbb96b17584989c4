// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Joining tensors and taking them apart.
inline constexpr OperatorRow joining[] = {
    // clang-format off
    {.rule = R"(aten.broadcast_tensors.default(tensors): s = joint(tensors, 0); [t in tensors: expand(t, s)])"sv},
    {.rule = R"(aten.cartesian_prod.default(tensors):
       len(tensors) == 1 ? reshape(tensors[0], [product(sizes(tensors[0]))]) :
         stack([g in $grid(tensors): reshape(g, [product(sizes(g))])], 1))"sv},
    {.schema = "aten.cat.default(Tensor[] tensors, int dim=0) -> Tensor"sv,
     .rule = R"(aten.cat.default(tensors, dim=0)!:
       fold(a: true; t in tensors: a && dtype(t) == outtype) ? fail(0) :
         cat([t in tensors: cast(t, outtype)], dim))"sv},
    {.schema = "aten.chunk.default(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]"sv,
     .rule = R"(aten.chunk.default(self, chunks, dim=0):
       n = size(self, dim);
       p = max(1, (n + chunks - 1) // chunks);
       split.Tensor(self, p, dim))"sv},
    {.rule = R"(aten.column_stack.default(tensors):
       cat([t in tensors: rank(t) < 2 ? reshape(t, [product(sizes(t)), 1]) : t], 1))"sv},
    {.rule = R"(aten.concat.default = aten.cat.default)"sv},
    {.rule = R"(aten.concatenate.default = aten.cat.default)"sv},
    {.rule = R"(aten.dsplit.array(self, indices): tensor_split.indices(self, indices, 2))"sv},
    {.rule = R"(aten.dsplit.int(self, sections): tensor_split.sections(self, sections, 2))"sv},
    {.rule = R"(aten.dstack.default(tensors): cat([t in tensors: atleast_3d(t)], 2))"sv},
    {.rule = R"(aten.hsplit.array(self, indices): tensor_split.indices(self, indices, rank(self) == 1 ? 0 : 1))"sv},
    {.rule = R"(aten.hsplit.int(self, sections): tensor_split.sections(self, sections, rank(self) == 1 ? 0 : 1))"sv},
    {.rule = R"(aten.hstack.default(tensors): cat([t in tensors: atleast_1d(t)], rank(tensors[0]) < 2 ? 0 : 1))"sv},
    {.rule = R"(aten.meshgrid.default(tensors): $grid(tensors))"sv},
    {.rule = R"(aten.meshgrid.indexing(tensors, indexing):
       indexing == 'xy' && len(tensors) > 1 ? $swapped($grid($swapped(tensors))) : $grid(tensors))"sv},
    {.rule = R"(aten.row_stack.default = aten.vstack.default)"sv},
    {.schema = "aten.split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]"sv,
     .rule = R"(aten.split.Tensor(self, split_size, dim=0):
       n = size(self, dim);
       k = max(1, (n + split_size - 1) // max(split_size, 1));
       $cuts(self, dim, [i in range(0, k): i * split_size] + [n]))"sv},
    {.rule = R"(aten.split.sizes = aten.split_with_sizes.default)"sv},
    {.rule = R"(aten.split_copy.Tensor = aten.split.Tensor)"sv},
    {.schema = "aten.split_with_sizes.default(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]"sv,
     .rule = R"(aten.split_with_sizes.default(self, split_sizes, dim=0):
       $cuts(self, dim, fold(a: [0]; n in split_sizes: a + [a[-1] + n])))"sv},
    {.rule = R"(aten.split_with_sizes_copy.default = aten.split_with_sizes.default)"sv},
    {.schema = "aten.stack.default(Tensor[] tensors, int dim=0) -> Tensor"sv,
     .rule = R"(aten.stack.default(tensors, dim=0):
       s = sizes(tensors[0]);
       d = wrap(dim, len(s) + 1);
       d == len(s) ? cat([t in tensors: unsqueeze(t, d)], d) :
         view(cat(tensors, d), s[:d] + [len(tensors)] + s[d:]))"sv},
    {.rule = R"(aten.tensor_split.indices(self, indices, dim=0):
       $cuts(self, dim, [0] + indices + [size(self, dim)]))"sv},
    {.rule = R"(aten.tensor_split.sections(self, sections, dim=0):
       n = size(self, dim);
       p = n // sections;
       m = n % sections;
       $cuts(self, dim, [i in range(0, sections + 1): i * p + min(i, m)]))"sv},
    {.schema = "aten.unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]"sv,
     .rule = R"(aten.unbind.int(self, dim=0): [i in range(0, size(self, dim)): select.int(self, dim, i)])"sv},
    {.rule = R"(aten.unbind_copy.int = aten.unbind.int)"sv},
    {.rule = R"(aten.unsafe_chunk.default = aten.chunk.default)"sv},
    {.rule = R"(aten.unsafe_split.Tensor = aten.split.Tensor)"sv},
    {.rule = R"(aten.unsafe_split_with_sizes.default = aten.split_with_sizes.default)"sv},
    {.rule = R"(aten.vsplit.array(self, indices): tensor_split.indices(self, indices, 0))"sv},
    {.rule = R"(aten.vsplit.int(self, sections): tensor_split.sections(self, sections, 0))"sv},
    {.rule = R"(aten.vstack.default(tensors): cat([t in tensors: atleast_2d(t)], 0))"sv},

    // shared sub-rules
    {.rule = R"($cuts(x, d, ends): [i in range(0, len(ends) - 1): slice.Tensor(x, d, ends[i], ends[i + 1])])"sv},
    {.rule = R"($swapped(l): [l[1], l[0]] + l[2:])"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts joining_facts[] = {
    // clang-format off
    {.name = "aten.broadcast_tensors"sv, .view = ViewKind::unknown, .apart = true},
    {.name = "aten.cartesian_prod"sv, .view = ViewKind::unknown, .apart = true},
    {.name = "aten.cat"sv, .shape = ShapeRule::concatenated, .range = RangeBound::maximum, .keeps_nonfinite = true,
     .result = ResultRule::promoted, .data_movement = true},
    {.name = "aten.chunk"sv, .view = ViewKind::split},
    {.name = "aten.dsplit"sv, .view = ViewKind::other, .apart = true},
    {.name = "aten.hsplit"sv, .view = ViewKind::other, .apart = true},
    {.name = "aten.meshgrid"sv, .view = ViewKind::unknown, .apart = true},
    {.name = "aten.split"sv, .view = ViewKind::split, .range = RangeBound::maximum, .keeps_nonfinite = true},
    {.name = "aten.split_with_sizes"sv, .view = ViewKind::split, .range = RangeBound::maximum, .keeps_nonfinite = true},
    {.name = "aten.stack"sv, .shape = ShapeRule::stacked, .result = ResultRule::promoted},
    {.name = "aten.tensor_split"sv, .view = ViewKind::split},
    {.name = "aten.unbind"sv, .view = ViewKind::unbind},
    {.name = "aten.vsplit"sv, .view = ViewKind::other, .apart = true},
    // clang-format on
};

}  // namespace davit::operator_families

// how calls are read
namespace davit::operators {

/// The operators whose results lie behind one another along one dimension of their operand, as long as the results'
/// sizes say.
inline constexpr std::array split_operators{"aten.split_with_sizes.default", "aten.split.Tensor", "aten.chunk.default",
                                            "aten.tensor_split.sections", "aten.tensor_split.indices"};

}  // namespace davit::operators
