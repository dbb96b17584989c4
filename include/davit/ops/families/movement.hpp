// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Order of dimensions and elements: permutation, reversal, repetition.
inline constexpr OperatorRow movement[] = {
    // clang-format off
    {.schema = "aten.flip.default(Tensor self, int[] dims) -> Tensor"sv},
    {.rule = R"(aten.fliplr.default(self): flip(self, [1]))"sv},
    {.rule = R"(aten.flipud.default(self): flip(self, [0]))"sv},
    {.rule = R"(aten.moveaxis.int = aten.movedim.int)"sv},
    {.rule = R"(aten.moveaxis.intlist = aten.movedim.intlist)"sv},
    {.rule = R"(aten.movedim.int(self, source, destination):
       permute(self, moved(rank(self), [source], [destination])))"sv},
    {.rule = R"(aten.movedim.intlist(self, source, destination):
       permute(self, moved(rank(self), source, destination)))"sv},
    {.schema = "aten.permute.default(Tensor(a) self, int[] dims) -> Tensor(a)"sv},
    {.rule = R"(aten.permute_copy.default = aten.permute.default)"sv},
    {.schema = "aten.repeat.default(Tensor self, SymInt[] repeats) -> Tensor"sv,
     .rule = R"(aten.repeat.default(self, repeats)!:
       s = $lead(sizes(self), len(repeats));
       r = range(0, len(repeats));
       reshape(expand(view(self, fold(a: []; i in r: a + (repeats[i] == 1 ? [s[i]] : [1, s[i]]))),
           fold(a: []; i in r: a + (repeats[i] == 1 ? [s[i]] : [repeats[i], s[i]]))), out))"sv},
    {.schema = "aten.repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor"sv,
     .group = OperatorGroup::indexing},
    {.rule = R"(aten.repeat_interleave.self_Tensor(self, repeats, dim=none, output_size=none):
       x = dim == none ? reshape(self, [product(sizes(self))]) : self;
       d = dim == none ? 0 : wrap(dim, rank(self));
       index_select(x, d, repeat_interleave.Tensor(rank(repeats) == 0 || size(repeats, 0) == 1 ?
           expand(reshape(repeats, [1]), [size(x, d)]) : repeats, sizes=[out[d]], as=int64), sizes=out,
           as=outtype))"sv},
    {.rule = R"(aten.repeat_interleave.self_int(self, repeats, dim=none, output_size=none):
       x = dim == none ? reshape(self, [product(sizes(self))]) : self;
       d = dim == none ? 0 : wrap(dim, rank(self));
       s = sizes(x);
       reshape(expand(unsqueeze(x, d + 1), s[:d + 1] + [repeats] + s[d + 1:]),
           s[:d] + [s[d] * repeats] + s[d + 1:]))"sv},
    {.schema = "aten.roll.default(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor"sv,
     .rule = R"(aten.roll.default(self, shifts, dims=none)!:
       n = product(sizes(self));
       dims == none || len(dims) == 0 ? view($rolled(reshape(self, [n]), 0, shifts[0]), sizes(self)) :
         fold(x: self; i in range(0, len(dims)): $rolled(x, wrap(dims[i], rank(self)), shifts[i])))"sv},
    {.rule = R"(aten.rot90.default(self, k=1, dims=[0, 1]):
       n = k % 4;
       n == 0 ? clone(self) :
         n == 1 ? transpose.int(flip(self, [dims[1]]), dims[0], dims[1]) :
         n == 2 ? flip(self, dims) :
         transpose.int(flip(self, [dims[0]]), dims[0], dims[1]))"sv},
    {.rule = R"(aten.swapaxes.default(self, axis0, axis1): transpose.int(self, axis0, axis1))"sv},
    {.rule = R"(aten.swapdims.default = aten.transpose.int)"sv},
    {.schema = "aten.t.default(Tensor(a) self) -> Tensor(a)"sv,
     .rule = R"(aten.t.default(self): rank(self) < 2 ? self : permute(self, [1, 0]))"sv},
    {.rule = R"(aten.t_copy.default = aten.t.default)"sv},
    {.rule = R"(aten.tile.default(self, dims): n = max(rank(self), len(dims)); repeat(self, $lead(dims, n)))"sv},
    {.schema = "aten.transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)"sv,
     .rule = R"(aten.transpose.int(self, dim0, dim1):
       n = rank(self);
       a = wrap(dim0, n);
       b = wrap(dim1, n);
       a == b ? self : permute(self, set(set(range(0, n), a, b), b, a)))"sv,
     .form = "aten.transpose_.default = aten.transpose.int"sv},
    {.rule = R"(aten.transpose_copy.int = aten.transpose.int)"sv},

    // shared sub-rules
    {.rule = R"($rolled(x, d, s):
       n = size(x, d);
       k = n == 0 ? 0 : s % n;
       isfixed(k) && k == 0 ? x : cat([narrow(x, d, n - k, k), narrow(x, d, 0, n - k)], d))"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts movement_facts[] = {
    // clang-format off
    {.name = "aten.flip"sv, .shape = ShapeRule::same},
    {.name = "aten.moveaxis"sv, .view = ViewKind::movedim},
    {.name = "aten.movedim"sv, .view = ViewKind::movedim},
    {.name = "aten.permute"sv, .view = ViewKind::permute, .shape = ShapeRule::permuted, .range = RangeBound::maximum,
     .keeps_nonfinite = true},
    {.name = "aten.repeat"sv, .shape = ShapeRule::repeated, .data_movement = true},
    {.name = "aten.roll"sv, .shape = ShapeRule::same, .range = RangeBound::maximum, .keeps_nonfinite = true},
    {.name = "aten.swapaxes"sv, .view = ViewKind::transpose},
    {.name = "aten.swapdims"sv, .view = ViewKind::transpose},
    {.name = "aten.t"sv, .view = ViewKind::transpose, .shape = ShapeRule::matrix_transposed,
     .range = RangeBound::maximum, .keeps_nonfinite = true},
    {.name = "aten.transpose"sv, .view = ViewKind::transpose, .shape = ShapeRule::transposed,
     .range = RangeBound::maximum, .keeps_nonfinite = true},
    // clang-format on
};

}  // namespace davit::operator_families

// how calls are read
namespace davit::operators {

enum class PermutationForm : std::uint8_t { list, pair, matrix };

struct PermutationOperator {
  const char* target;
  PermutationForm form;
};

inline constexpr std::array permutation_operators{
    PermutationOperator{"aten.permute.default", PermutationForm::list},
    PermutationOperator{"aten.transpose.int", PermutationForm::pair},
    PermutationOperator{"aten.t.default", PermutationForm::matrix},
};

}  // namespace davit::operators
