// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Indexing by tensors: gather, scatter, masks, embeddings.
inline constexpr OperatorRow indexing[] = {
    // clang-format off
    {.schema = "aten._embedding_bag.default(Tensor weight, Tensor indices, Tensor offsets, "
               "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, "
               "bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)"sv,
     .rule = R"(aten._embedding_bag.default(weight, indices, offsets, scale_grad_by_freq=false, mode=0, sparse=false,
           per_sample_weights=none, include_last_offset=false, padding_idx=-1)!:
       n = size(indices, 0);
       e = size(offsets, 0) - (include_last_offset ? 1 : 0);
       b = sum.dim_IntList(unsqueeze(arange.start_step(0, n), 1) >= slice.Tensor(offsets, 0, 0, e), [1]) - 1;
       m = unsqueeze(indices != padding_idx, 1);
       r = embedding(weight, indices);
       x = per_sample_weights == none ? r : r * unsqueeze(per_sample_weights, 1);
       y = padding_idx < 0 ? x : where(m, x, 0.0);
       z = full([e, size(weight, 1)], 0.0, dtype=dtype(weight));
       c = mode == 1 ? index_put(full([e], 0, dtype=int64), [b], cast(squeeze.dims(m, [1]), int64), true) :
         full([e], 0, dtype=int64);
       t = index_put(z, [b], y, true);
       mode == 2 ? fail(0) :
         [mode == 1 ? t / cast(unsqueeze(clamp(c, 1), 1), dtype(weight)) : t,
           mode == 0 && padding_idx < 0 ? full([0], 0, dtype=int64) : b, c, c])"sv},
    {.rule = R"(aten._embedding_bag_backward.default(grad, indices, offsets, offset2bag, bag_size, maximum_indices,
           num_weights, scale_grad_by_freq, mode, sparse, per_sample_weights, padding_idx=-1):
       b = sum.dim_IntList(unsqueeze(arange.start_step(0, size(indices, 0)), 1) >= offsets, [1]) - 1;
       sparse ? fail(0) :
         _embedding_bag_dense_backward(grad, indices, b, bag_size, maximum_indices, num_weights, scale_grad_by_freq,
           mode, per_sample_weights, padding_idx))"sv},
    {.rule = R"(aten._embedding_bag_dense_backward.default(grad, indices, offset2bag, bag_size, maximum_indices,
           num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx=-1):
       g = index.Tensor(grad, [offset2bag]);
       c = index.Tensor(clamp(bag_size, 1), [offset2bag]);
       x = mode == 1 ? g / cast(unsqueeze(c, 1), dtype(grad)) : g;
       y = per_sample_weights == none ? x : x * unsqueeze(per_sample_weights, 1);
       mode == 2 ? fail(0) : embedding_dense_backward(y, indices, num_weights, padding_idx, scale_grad_by_freq))"sv},
    {.rule = R"(aten._embedding_bag_forward_only.default = aten._embedding_bag.default)"sv},
    {.rule = R"(aten._unsafe_index.Tensor = aten.index.Tensor)"sv},
    {.rule = R"(aten._unsafe_index_put.default = aten.index_put.default)"sv},
    {.rule = R"(aten._unsafe_masked_index.default(self, mask, indices, fill):
       where(mask, index.Tensor(self, $within(self, indices)), full([], fill, dtype=dtype(self))))"sv},
    {.rule = R"(aten._unsafe_masked_index_put_accumulate.default(self, mask, indices, values):
       index_put(self, $within(self, indices), where(mask, values, full([], 0, dtype=dtype(values))), true))"sv},
    {.rule = R"(aten.argwhere.default(self): nonzero(self, sizes=out, as=int64))"sv},
    {.schema = "aten.embedding.default(Tensor weight, Tensor indices, SymInt padding_idx=-1, "
               "bool scale_grad_by_freq=False, bool sparse=False) -> Tensor"sv, .group = OperatorGroup::movement},
    {.rule = R"(aten.embedding_bag.default(weight, indices, offsets, scale_grad_by_freq=false, mode=0, sparse=false,
           per_sample_weights=none, include_last_offset=false):
       _embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
           include_last_offset))"sv},
    {.rule = R"(aten.embedding_bag.padding_idx(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
           per_sample_weights, include_last_offset, padding_idx):
       _embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
           include_last_offset, padding_idx == none ? -1 : padding_idx < 0 ? size(weight, 0) + padding_idx :
           padding_idx))"sv},
    {.schema = "aten.embedding_dense_backward.default(Tensor grad_output, Tensor indices, SymInt num_weights, "
               "SymInt padding_idx, bool scale_grad_by_freq) -> Tensor"sv, .group = OperatorGroup::gradients},
    {.rule = R"(aten.embedding_renorm.default(self, indices, max_norm, norm_type):
       k = size(self, 0);
       n = linalg_vector_norm(self, norm_type, [1], true);
       t = index_put(full([k], false, dtype=bool), [reshape(indices, [product(sizes(indices))])],
           full([], true, dtype=bool));
       where(logical_and(unsqueeze(t, 1), n > max_norm), self * (full([], max_norm, dtype=dtype(self)) / (n + 1e-07)),
           self))"sv},
    {.schema = "aten.gather.default(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor"sv},
    {.schema = "aten.index.Tensor(Tensor self, Tensor?[] indices) -> Tensor"sv},
    {.rule = R"(aten.index_add.default(self, dim, index, source, alpha=1):
       t = dtype(self);
       f = rounded(alpha, t);
       wide = alpha != 1 && (t == float16 || t == bfloat16) && rank(self) > 1 && wrap(dim, rank(self)) == 0
           && isfixed(product(sizes(self)[1:])) && product(sizes(self)[1:]) >= 32;
       rank(self) == 0 ? reshape(index_add(reshape(self, [1]), 0, index, reshape(source, [1]), alpha), []) :
         wide ? cast(index_put(cast(self, float32), $at(self, dim, $inside(index, size(self, dim))),
           cast(source, float32) * f, true), t) :
         index_put(self, $at(self, dim, $inside(index, size(self, dim))), cast(alpha == 1 ? source : source * f, t),
           true))"sv,
     .complex_rule = R"(aten.index_add.default(self, dim, index, source, alpha=1):
       $z(index_add($re(self), dim, index, $re(source), alpha),
           index_add($im(self), dim, index, $im(source), alpha)))"sv},
    {.rule = R"(aten.index_copy.default(self, dim, index, source):
       rank(self) == 0 ? reshape(index_copy(reshape(self, [1]), 0, index, reshape(source, [1])), []) :
         index_put(self, $at(self, dim, $inside(index, size(self, dim))), source))"sv},
    {.rule = R"(aten.index_fill.int_Scalar(self, dim, index, value):
       index_fill.int_Tensor(self, dim, index, full([], value, dtype=dtype(self))))"sv},
    {.rule = R"(aten.index_fill.int_Tensor(self, dim, index, value):
       rank(self) == 0 ? reshape(index_fill.int_Tensor(reshape(self, [1]), 0, index, value), []) :
         index_put(self, $at(self, dim, index), cast(value, dtype(self))))"sv},
    {.schema = "aten.index_put.default(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) "
               "-> Tensor"sv,
     .rule = R"(aten.index_put.default(self, indices, values, accumulate=false)!:
       len(indices) != 1 || accumulate ? fail(0) :
         dtype(indices[0]) != bool || product(sizes(values)) != 1 ? fail(0) :
         where(view(indices[0], sizes(indices[0]) + [i in range(rank(indices[0]), rank(self)): 1]), reshape(values, []),
           self))"sv},
    {.rule = R"(aten.index_reduce.default(self, dim, index, source, reduce, include_self=true):
       d = wrap(dim, rank(self));
       scatter_reduce.two(self, d, expand(view(index, [i in range(0, rank(self)): i == d ? -1 : 1]), sizes(source)),
           source, reduce, include_self))"sv},
    {.schema = "aten.index_select.default(Tensor self, int dim, Tensor index) -> Tensor"sv,
     .group = OperatorGroup::movement},
    {.rule = R"(aten.masked_fill.Scalar(self, mask, value): where(mask, full([], value, dtype=dtype(self)), self))"sv},
    {.rule = R"(aten.masked_fill.Tensor(self, mask, value): where(mask, cast(value, dtype(self)), self))"sv},
    {.schema = "aten.masked_scatter.default(Tensor self, Tensor mask, Tensor source) -> Tensor"sv,
     .rule = R"(aten.masked_scatter.default(self, mask, source)!:
       m = expand(mask, sizes(self));
       n = product(sizes(self));
       k = clamp(cumsum(cast(reshape(m, [n]), int64), 0) - 1, 0);
       where(m, view(gather(reshape(source, [product(sizes(source))]), 0, k), sizes(self)), self))"sv,
     .complex_rule = R"(aten.masked_scatter.default(self, mask, source):
       x = expand(self, joint([self, mask], 0));
       $z(masked_scatter($re(x), mask, $re(source)), masked_scatter($im(x), mask, $im(source))))"sv},
    {.schema = "aten.masked_select.default(Tensor self, Tensor mask) -> Tensor"sv},
    {.schema = "aten.nonzero.default(Tensor self) -> Tensor"sv,
     .complex_rule = R"(aten.nonzero.default(self): nonzero($is_nonzero(self)))"sv},
    {.rule = R"(aten.nonzero_numpy.default(self):
       x = rank(self) == 0 ? reshape(self, [1]) : self;
       p = nonzero(x, sizes=[out[0], rank(x)], as=int64);
       [d in range(0, rank(x)): select.int(p, 1, d)])"sv,
     .complex_rule = R"(aten.nonzero_numpy.default(self): nonzero_numpy($is_nonzero(self)))"sv},
    {.rule = R"(aten.nonzero_static.default(self, size, fill_value=-1):
       n = product(sizes(self));
       size == 0 || rank(self) == 0 || (isfixed(n) && n == 0) ? full([size, rank(self)], fill_value, dtype=int64) :
         $nonzero(self, n, size, fill_value))"sv},
    {.rule = R"(aten.put.default(self, index, source, accumulate=false):
       n = [product(sizes(self))];
       m = [product(sizes(index))];
       view(index_put(reshape(self, n), [reshape(index, m)], reshape(source, m), accumulate), sizes(self)))"sv},
    {.rule = R"(aten.scatter.reduce(self, dim, index, src, reduce):
       scatter_reduce.two(self, dim, index, src, reduce == 'add' ? 'sum' : 'prod'))"sv},
    {.schema = "aten.scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor"sv},
    {.schema = "aten.scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor"sv},
    {.rule = R"(aten.scatter.value_reduce(self, dim, index, value, reduce):
       scatter_reduce.two(self, dim, index, full(sizes(index), value, dtype=dtype(self)),
           reduce == 'add' ? 'sum' : 'prod'))"sv},
    {.schema = "aten.scatter_add.default(Tensor self, int dim, Tensor index, Tensor src) -> Tensor"sv,
     .complex_rule = R"(aten.scatter_add.default(self, dim, index, src):
       $z(scatter_add($re(self), dim, index, $re(src)), scatter_add($im(self), dim, index, $im(src))))"sv},
    {.schema = "aten.scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, "
               "bool include_self=True) -> Tensor"sv,
     .rule = R"(aten.scatter_reduce.two(self, dim, index, src, reduce, include_self=true)!:
       reduce == 'mean' && isfloat(self) || reduce == 'sum' ?
           $scatter_sum(self, dim, index, src, reduce == 'mean', include_self) :
         fail(0))"sv},
    {.rule = R"(aten.take.default(self, index): index.Tensor(reshape(self, [product(sizes(self))]), [index]))"sv},
    {.rule = R"(aten.take_along_dim.default(self, indices, dim=none):
       dim == none ? gather(reshape(self, [product(sizes(self))]), 0, reshape(indices, [product(sizes(indices))])) :
         $along(self, indices, wrap(dim, rank(self))))"sv},

    // shared sub-rules
    {.rule = R"($along(x, i, d):
       s = joint([x, i], 0);
       gather(expand(x, set(s, d, size(x, d))), d, expand(i, set(s, d, size(i, d)))))"sv},
    {.rule = R"($at(x, dim, index):
       [i in range(0, wrap(dim, rank(x))): none] + [rank(index) == 0 ? reshape(index, [1]) : index])"sv},
    {.rule = R"($nonzero(x, n, size, fill):
       m = reshape(x != 0, [n]);
       p = cumsum(cast(m, int64), 0) - 1;
       q = where(logical_and(m, p < size), p, size);
       f = slice.Tensor(index_put(full([size + 1], -1, dtype=int64), [q], arange.start_step(0, n)), 0, 0, size);
       stack([d in range(0, rank(x)): where(f < 0, fill, (f // product(sizes(x)[d + 1:])) % size(x, d))], 1))"sv},
    {.rule = R"($scatter_sum(x, d, i, y, mean, all):
       c = scatter_add(full(sizes(x), all ? 1 : 0, dtype=dtype(x)), d, i, full(sizes(i), 1, dtype=dtype(x)));
       t = scatter_add(all ? x : where(c == 0, x, 0), d, i, y);
       mean ? t / clamp(c, 1) : t)"sv},
    {.rule = R"($within(x, indices):
       [d in range(0, len(indices)): indices[d] == none || dtype(indices[d]) == bool ? indices[d] :
           clamp(indices[d], -size(x, d), size(x, d) - 1)])"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts indexing_facts[] = {
    // clang-format off
    {.name = "aten.embedding"sv, .shape = ShapeRule::embedded, .range = RangeBound::embedding, .keeps_nonfinite = true},
    {.name = "aten.gather"sv, .shape = ShapeRule::gathered, .result = ResultRule::promoted},
    {.name = "aten.index"sv, .shape = ShapeRule::indexed},
    {.name = "aten.index_put"sv, .shape = ShapeRule::same},
    {.name = "aten.index_select"sv, .shape = ShapeRule::index_selected, .result = ResultRule::promoted},
    {.name = "aten.masked_scatter"sv, .shape = ShapeRule::same},
    {.name = "aten.masked_select"sv, .result = ResultRule::promoted},
    {.name = "aten.scatter"sv, .shape = ShapeRule::same},
    {.name = "aten.scatter_add"sv, .shape = ShapeRule::same},
    {.name = "aten.scatter_reduce"sv, .shape = ShapeRule::same},
    {.name = "aten.take"sv, .result = ResultRule::promoted},
    {.name = "aten.take_along_dim"sv, .result = ResultRule::promoted},
    // clang-format on
};

}  // namespace davit::operator_families
