// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Sorting, selection by rank, search in sorted sequences, and counting.
inline constexpr OperatorRow sorting[] = {
    // clang-format off
    {.schema = "aten._unique2.default(Tensor self, bool sorted=True, bool return_inverse=False, "
               "bool return_counts=False) -> (Tensor, Tensor, Tensor)"sv},
    {.rule = R"(aten.argsort.default(self, dim=-1, descending=false): sort(self, dim, descending)[1])"sv},
    {.rule = R"(aten.argsort.stable(self, stable, dim=-1, descending=false): sort(self, dim, descending)[1])"sv},
    {.schema = "aten.bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, "
               "bool right=False) -> Tensor"sv,
     .rule = R"(aten.bucketize.Scalar(self, boundaries, out_int32=false, right=false)!:
       $rank_in(boundaries, full([], self, dtype=dtype(boundaries)), right))"sv},
    {.schema = "aten.bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, "
               "bool right=False) -> Tensor"sv,
     .rule = R"(aten.bucketize.Tensor(self, boundaries, out_int32=false, right=false)!:
       $rank_in(boundaries, self, right))"sv},
    {.rule = R"(aten.histc.default(self, bins=100, min=0, max=0):
       x = reshape(self, [product(sizes(self))]);
       product(sizes(self)) == 0 ? full([bins], 0, dtype=dtype(x)) :
         min == max ? $widened(x, amin(x, [0]), amax(x, [0]), bins) :
         $histogram(x, full([], min, dtype=dtype(x)), full([], max, dtype=dtype(x)), bins))"sv},
    {.rule = R"(aten.isin.Scalar_Tensor(element, test_elements, assume_unique=false, invert=false):
       f = any(test_elements == element);
       invert ? logical_not(f) : f)"sv},
    {.rule = R"(aten.isin.Tensor_Scalar(elements, test_element, assume_unique=false, invert=false):
       invert ? elements != test_element : elements == test_element)"sv},
    {.rule = R"(aten.isin.Tensor_Tensor(elements, test_elements, assume_unique=false, invert=false):
       n = product(sizes(test_elements));
       y = reshape(test_elements, [n]);
       t = promote(elements, test_elements);
       f = isfixed(n) && n > 32 && t != bool ? $found(sort(cast(y, t), 0, false)[0], cast(elements, t), n) :
         any.dim(unsqueeze(elements, -1) == y, -1);
       invert ? logical_not(f) : f)"sv},
    {.schema = "aten.kthvalue.default(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor, Tensor)"sv},
    {.rule = R"(aten.median.default(self):
       n = product(sizes(self));
       x = reshape(self, [n]);
       m = $middle(isint(self) || atleast(n, 1) ? x : $and_one(x, 0, nan), n, 0, false)[0];
       isint(self) ? m : where(any(isnan(self)), nan, m))"sv},
    {.rule = R"(aten.median.dim(self, dim, keepdim=false):
       d = wrap(dim, rank(self));
       m = rank(self) == 0 ? [self, full([], 0, dtype=int64)] : $middle(self, size(self, d), d, keepdim);
       isint(self) || rank(self) == 0 ? m : $odd_first(isnan(self), d, keepdim, m))"sv},
    {.rule = R"(aten.mode.default(self, dim=-1, keepdim=false):
       rank(self) == 0 ? [self, full([], 0, dtype=int64)] : $mode(self, wrap(dim, rank(self)), keepdim))"sv},
    {.rule = R"(aten.msort.default(self): sort(self, 0, false)[0])"sv},
    {.rule = R"(aten.nanmedian.default(self):
       n = product(sizes(self));
       x = reshape(self, [n]);
       $nanmiddle(isint(self) || atleast(n, 1) ? x : $and_one(x, 0, nan), 0, false)[0])"sv},
    {.rule = R"(aten.nanmedian.dim(self, dim, keepdim=false):
       rank(self) == 0 ? [self, full([], 0, dtype=int64)] : $nanmiddle(self, wrap(dim, rank(self)), keepdim))"sv},
    {.schema = "aten.searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, "
               "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor"sv,
     .rule = R"(aten.searchsorted.Scalar(sorted_sequence, self, out_int32=false, right=false, side=none, sorter=none)!:
       $rank_in(sorter == none ? sorted_sequence : gather(sorted_sequence, -1, sorter),
           full([], self, dtype=dtype(sorted_sequence)), side == none ? right : side == 'right'))"sv},
    {.schema = "aten.searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, "
               "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor"sv,
     .rule = R"(aten.searchsorted.Tensor(sorted_sequence, self, out_int32=false, right=false, side=none, sorter=none)!:
       $rank_in(sorter == none ? sorted_sequence : gather(sorted_sequence, -1, sorter), self,
           side == none ? right : side == 'right'))"sv},
    {.schema = "aten.sort.default(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, "
               "Tensor indices)"sv},
    {.rule = R"(aten.sort.stable(self, stable=none, dim=-1, descending=false): sort(self, dim, descending))"sv,
     .form = "aten.sort.values_stable = aten.sort.stable"sv},
    {.schema = "aten.topk.default(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) "
               "-> (Tensor values, Tensor indices)"sv},
    {.schema = "aten.unique_consecutive.default(Tensor self, bool return_inverse=False, bool return_counts=False, "
               "int? dim=None) -> (Tensor, Tensor, Tensor)"sv},

    // shared sub-rules
    {.rule = R"($found(sorted, x, n):
       p = clamp(searchsorted.Tensor(sorted, x, sizes=dims(x), as=int64), none, n - 1);
       reshape(index_select(sorted, 0, reshape(p, [product(sizes(x))])), sizes(x)) == x)"sv},
    {.rule = R"($histogram(x, low, high, bins):
       p = floor((x - low) * bins / (high - low));
       i = clamp(p, 0, bins - 1);
       m = logical_and(x >= low, x <= high);
       scatter_add(full([bins], 0, dtype=outtype), 0, cast(where(m, i, 0), int64), cast(m, outtype)))"sv},
    {.rule = R"($middle(x, n, d, keep):
       r = keep ? set(dims(x), d, 1) : dims(x)[:d] + dims(x)[d + 1:];
       kthvalue(x, max((n + 1) // 2, 1), d, keep, sizes=[r, r], as=[dtype(x), int64]))"sv},
    {.rule = R"($mode(x, d, keep):
       n = size(x, d);
       s = sort(x, d, false)[0];
       p = $per_channel(x, arange.start_step(0, n), d);
       r = where(slice.Tensor(s, d, 1, n) != slice.Tensor(s, d, 0, n - 1), slice.Tensor(p, d, 1, n), 0);
       b = cummax(cat([full(set(sizes(x), d, 1), 0, dtype=int64), r], d), d, sizes=[dims(x), dims(x)], as=int64)[0];
       v = gather(s, d, argmax(p - b, d, true));
       i = amax(where(x == v, p, 0), [d], true);
       keep ? [v, i] : [squeeze.dims(v, [d]), squeeze.dims(i, [d])])"sv},
    {.rule = R"($nanmiddle(x, d, keep):
       c = sum.dim_IntList(logical_not(isnan(x)), [d], true);
       k = clamp((c - 1) // 2, 0);
       s = sort(x, d, false);
       r = [gather(s[0], d, k), gather(s[1], d, k)];
       keep ? r : [squeeze.dims(r[0], [d]), squeeze.dims(r[1], [d])])"sv},
    {.rule = R"($odd_first(n, d, keep, m):
       a = any.dim(n, d, keep);
       [where(a, nan, m[0]), where(a, argmax(cast(n, int64), d, keep), m[1])])"sv},
    {.rule = R"($rank_in(s, x, right):
       v = unsqueeze(x, -1);
       q = rank(s) == 1 ? s : unsqueeze(s, -2);
       sum.dim_IntList(logical_not(right ? q > v : q >= v), [-1], dtype=outtype))"sv},
    {.rule = R"($widened(x, low, high, bins):
       e = cast(low == high, dtype(x));
       $histogram(x, low - e, high + e, bins))"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts sorting_facts[] = {
    // clang-format off
    {.name = "aten.argsort"sv, .result = ResultRule::index},
    {.name = "aten.bucketize"sv, .result = ResultRule::index},
    {.name = "aten.kthvalue"sv, .result = ResultRule::promoted_and_index},
    {.name = "aten.median"sv, .result = ResultRule::promoted_and_index},
    {.name = "aten.mode"sv, .result = ResultRule::promoted_and_index},
    {.name = "aten.nanmedian"sv, .result = ResultRule::unknown_and_index},
    {.name = "aten.nanquantile"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.quantile"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.searchsorted"sv, .result = ResultRule::index},
    {.name = "aten.sort"sv, .shape = ShapeRule::sorted, .result = ResultRule::promoted_and_index},
    {.name = "aten.topk"sv, .shape = ShapeRule::topk, .result = ResultRule::promoted_and_index},
    // clang-format on
};

}  // namespace davit::operator_families
