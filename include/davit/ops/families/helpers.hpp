// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Parts that rules of several families share.
inline constexpr OperatorRow helpers[] = {
    // clang-format off
    {.rule = R"($and_one(x, d, value):
       constant_pad_nd(x, [i in range(0, 2 * (rank(x) - 1 - d)): 0] + [0, 1], value))"sv},
    {.rule = R"($between(x, low, high): logical_and(x >= low, x <= high))"sv},
    {.rule = R"($dims(x, dim):
       dim == none || (islist(dim) && len(dim) == 0) ? range(0, rank(x)) : islist(dim) ? dim : [dim])"sv},
    {.rule = R"($grid(t):
       x = [i in t: reshape(i, [product(sizes(i))])];
       s = [i in x: size(i, 0)];
       [i in range(0, len(x)): expand(view(x[i], [k in range(0, len(x)): k == i ? s[k] : 1]), s)])"sv},
    {.rule = R"($im(x): iscomplex(x) ? select.int(view_as_real(x), -1, 1) : zeros_like(x))"sv},
    {.rule = R"($inside(index, n):
       index_select(arange.start_step(0, n), 0, rank(index) == 0 ? reshape(index, [1]) : index))"sv},
    {.rule = R"($is_nonzero(x): iscomplex(x) ? logical_or($re(x) != 0, $im(x) != 0) : x)"sv},
    {.rule = R"($lead(s, n): [i in range(len(s), n): 1] + s)"sv},
    {.rule = R"($linspace(start, end, steps, type):
       t = type == float64 ? float64 : float32;
       i = arange.start_step(0, steps, 1, dtype=t);
       d = (end - start) / (float(steps) - 1);
       steps == 1 ? cast(i + start, type) :
         cast(where(i < steps // 2, i * d + start, end - ((steps - 1) - i) * d), type))"sv},
    {.rule = R"($of_floats(x): isint(x) ? cast(x, float32) : x)"sv},
    {.rule = R"($part(x): dtype(x) == complex128 || dtype(x) == float64 ? float64 : float32)"sv},
    {.rule = R"($per_channel(x, v, d): view(v, [i in range(0, rank(x)): i == wrap(d, rank(x)) ? size(x, i) : 1]))"sv},
    {.rule = R"($re(x): iscomplex(x) ? select.int(view_as_real(x), -1, 0) : x)"sv},
    {.rule = R"($spread(x, dims): fold(a: x; d in sorted(dims): unsqueeze(a, d)))"sv},
    {.rule = R"($spread_back(g, s, n, places, o):
       b = s[:len(s) - 1];
       k = product(sizes(g)[rank(g) - n:]);
       view(index_add(full(s, 0, dtype=dtype(g)), len(b), cast(reshape(places, [k]), int64), reshape(g, b + [k])),
           o))"sv},
    {.rule = R"($sure(x, ok):
       x + reshape(index_select(full([1], 0, dtype=dtype(x)), 0, cast(reshape(any(logical_not(ok)), [1]), int64)),
           []))"sv},
    {.rule = R"($xlogy(x, y):
       istensor(y) ? where(isnan(y), nan, where(x == 0, 0, istensor(x) ? x * log(y) : log(y) * x)) :
         where(x == 0, 0, x * log_of(y)))"sv},
    {.rule = R"($z(a, b): complex(a, b))"sv},
    // clang-format on
};

}  // namespace davit::operator_families
