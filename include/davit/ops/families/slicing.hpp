// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/pattern_row.hpp"
#include "davit/ops/parameter.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Parts of a tensor, and writing into them.
inline constexpr OperatorRow slicing[] = {
    // clang-format off
    {.schema = "aten.as_strided.default(Tensor(a) self, SymInt[] size, SymInt[] stride, "
               "SymInt? storage_offset=None) -> Tensor(a)"sv,
     .rule = R"(aten.as_strided.default(self, size, stride, storage_offset=none)!:
       n = product(sizes(self));
       k = product(size);
       i = fold(a: full([], storage_offset == none ? 0 : storage_offset - storageoffset(self), dtype=int64);
           d in range(0, len(size)): unsqueeze(a, -1) + arange.start_step(0, size[d]) * stride[d]);
       iscontiguous(self, contiguous_format) ? view(index_select(view(self, [n]), 0, view(i, [k])), size) :
         fail(0))"sv},
    {.rule = R"(aten.as_strided_copy.default = aten.as_strided.default)"sv},
    {.rule = R"(aten.as_strided_scatter.default(self, src, size, stride, storage_offset=none):
       n = product(sizes(self));
       i = as_strided(arange.start_step(0, n), size, stride,
           storage_offset == none ? 0 : storage_offset - storageoffset(self), sizes=size, as=int64);
       iscontiguous(self, contiguous_format) ? view(index_put(view(self, [n]), [i], src), sizes(self)) : fail(0))"sv},
    {.rule = R"(aten.diag.default(self, diagonal=0):
       rank(self) == 1 ? diag_embed(self, diagonal) : diagonal(self, diagonal, 0, 1, sizes=out, as=outtype))"sv},
    {.rule = R"(aten.diag_embed.default(self, offset=0, dim1=-2, dim2=-1):
       n = size(self, -1) + (offset < 0 ? -offset : offset);
       y = unsqueeze(offset == 0 ? self : constant_pad_nd(self, offset > 0 ? [offset, 0] : [0, -offset], 0), -2);
       m = arange.start_step(0, n) - unsqueeze(arange.start_step(0, n), 1) == offset;
       permute(where(m, y, full([], 0, dtype=dtype(self))), moved(rank(self) + 1, [-2, -1], [dim1, dim2])))"sv},
    {.rule = R"(aten.diagflat.default(self, offset=0): diag_embed(reshape(self, [product(sizes(self))]), offset))"sv},
    {.schema = "aten.diagonal.default(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)"sv,
     .rule = R"(aten.diagonal.default(self, offset=0, dim1=0, dim2=1)!:
       k = rank(self);
       a = wrap(dim1, k);
       b = wrap(dim2, k);
       r = fold(l: []; i in range(0, k): i == a || i == b ? l : l + [i]);
       w = size(self, b);
       x = reshape(permute(self, r + [a, b]), [i in r: size(self, i)] + [size(self, a) * w]);
       index_select(x, -1, arange.start_step(0, out[len(r)]) * (w + 1) + (offset < 0 ? -offset * w : offset)))"sv},
    {.rule = R"(aten.diagonal_backward.default(grad_output, input_sizes, offset, dim1, dim2):
       diagonal_scatter(full(input_sizes, 0, dtype=dtype(grad_output)), grad_output, offset, dim1, dim2))"sv},
    {.rule = R"(aten.diagonal_copy.default = aten.diagonal.default)"sv},
    {.rule = R"(aten.diagonal_scatter.default(self, src, offset=0, dim1=0, dim2=1):
       n = product(sizes(self));
       i = view(arange.start_step(0, n), sizes(self));
       view(index_put(reshape(self, [n]), [diagonal(i, offset, dim1, dim2, sizes=dims(src), as=int64)], src),
           sizes(self)))"sv},
    {.rule = R"(aten.narrow.default(self, dim, start, length):
       s = start < 0 ? size(self, dim) + start : start;
       slice.Tensor(self, dim, s, s + length))"sv},
    {.rule = R"(aten.narrow_copy.default = aten.narrow.default)"sv},
    {.schema = "aten.select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)"sv},
    {.rule = R"(aten.select_backward.default(grad_output, input_sizes, dim, index):
       select_scatter(full(input_sizes, 0, dtype=dtype(grad_output)), grad_output, dim, index))"sv},
    {.rule = R"(aten.select_copy.int = aten.select.int)"sv},
    {.schema = "aten.select_scatter.default(Tensor self, Tensor src, int dim, SymInt index) -> Tensor"sv},
    {.schema = "aten.slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, "
               "SymInt step=1) -> Tensor(a)"sv},
    {.rule = R"(aten.slice_backward.default(grad_output, input_sizes, dim, start, end, step):
       slice_scatter(full(input_sizes, 0, dtype=dtype(grad_output)), grad_output, dim, start, end, step))"sv},
    {.rule = R"(aten.slice_copy.Tensor = aten.slice.Tensor)"sv},
    {.schema = "aten.slice_scatter.default(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, "
               "SymInt step=1) -> Tensor"sv},
    {.rule = R"(aten.tril.default(self, diagonal=0):
       where($lower(self, diagonal), self, full([], 0, dtype=dtype(self))))"sv},
    {.rule = R"(aten.triu.default(self, diagonal=0):
       where($lower(self, diagonal - 1), full([], 0, dtype=dtype(self)), self))"sv},
    {.schema = "aten.unfold.default(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)"sv},
    {.rule = R"(aten.unfold_backward.default(grad_in, input_sizes, dim, size, step):
       k = len(input_sizes);
       d = wrap(dim, k);
       n = size(grad_in, d);
       i = unsqueeze(arange.start_step(0, n) * step, 1) + arange.start_step(0, size);
       g = permute(grad_in, range(0, d + 1) + [k] + range(d + 1, k));
       index_add(full(input_sizes, 0, dtype=dtype(grad_in)), d, reshape(i, [n * size]),
           reshape(g, set(input_sizes, d, n * size))))"sv},
    {.rule = R"(aten.unfold_copy.default = aten.unfold.default)"sv},

    // shared sub-rules
    {.rule = R"($lower(x, k):
       unsqueeze(arange.start_step(0, size(x, -1)), -2) - unsqueeze(arange.start_step(0, size(x, -2)), -1) <= k)"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts slicing_facts[] = {
    // clang-format off
    {.name = "aten.as_strided"sv, .view = ViewKind::other},
    {.name = "aten.as_strided_"sv, .view = ViewKind::other},
    {.name = "aten.diag"sv, .result = ResultRule::promoted},
    {.name = "aten.diagonal"sv, .view = ViewKind::diagonal},
    {.name = "aten.narrow"sv, .view = ViewKind::other, .apart = true},
    {.name = "aten.select"sv, .view = ViewKind::select, .shape = ShapeRule::selected, .range = RangeBound::maximum,
     .keeps_nonfinite = true},
    {.name = "aten.select_scatter"sv, .shape = ShapeRule::same},
    {.name = "aten.slice"sv, .view = ViewKind::slice, .shape = ShapeRule::sliced, .range = RangeBound::maximum,
     .keeps_nonfinite = true},
    {.name = "aten.slice_scatter"sv, .shape = ShapeRule::same},
    {.name = "aten.tril"sv, .shape = ShapeRule::same, .result = ResultRule::promoted},
    {.name = "aten.triu"sv, .shape = ShapeRule::same, .result = ResultRule::promoted},
    {.name = "aten.unfold"sv, .view = ViewKind::other},
    // clang-format on
};

/// Forms in which programs write these operators, and others that become simpler.
inline constexpr PatternRow slicing_patterns[] = {
    // clang-format off
    {.example = "(x: [2, 3], y: [2, 3]) exp(slice_scatter(x, y, 0, 0, 2, sizes=dims(x), as=dtype(x)))"sv,
     .pattern = R"(slice_scatter(_, source, _, _, _, 1) => source if same(source, out) && hidden(out))"sv,
     .use = PatternUse::always, .worth_a_pass = true},
    // clang-format on
};

}  // namespace davit::operator_families

// how calls are read
namespace davit::operators {

/// One of ATen's: self, the source if it puts one there, dim, and an index, or start, end and step.
struct SliceOperator {
  const char* target;
  bool selects = false;
  bool puts = false;
  [[nodiscard]] constexpr Parameter at(const char* name, std::uint32_t position) const noexcept {
    return {name, position + (puts ? 1 : 0)};
  }
};

inline constexpr std::array slice_operators{
    SliceOperator{"aten.slice.Tensor"},
    SliceOperator{"aten.select.int", true},
    SliceOperator{"aten.slice_copy.Tensor"},
    SliceOperator{"aten.slice_scatter.default", false, true},
    SliceOperator{"aten.select_scatter.default", true, true},
};

}  // namespace davit::operators
