// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Cumulative reductions, differences and integrals along a dimension.
inline constexpr OperatorRow scans[] = {
    // clang-format off
    {.schema = "aten.cummax.default(Tensor self, int dim) -> (Tensor values, Tensor indices)"sv},
    {.schema = "aten.cummin.default(Tensor self, int dim) -> (Tensor values, Tensor indices)"sv},
    {.schema = "aten.cumprod.default(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor"sv,
     .complex_rule = R"(aten.cumprod.default(self, dim, dtype=none):
       polar(cumprod(abs(self), dim), cumsum(angle(self), dim)))"sv},
    {.schema = "aten.cumsum.default(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor"sv,
     .complex_rule = R"(aten.cumsum.default(self, dim, dtype=none):
       view_as_complex(cumsum(view_as_real(self), wrap(dim, rank(self)))))"sv, .group = OperatorGroup::float_inference},
    {.rule = R"(aten.cumulative_trapezoid.dx(y, dx=1, dim=-1):
       n = size(y, dim);
       cumsum((slice.Tensor(y, dim, 1, n) + slice.Tensor(y, dim, 0, n - 1)) * (dx / 2.0), dim))"sv},
    {.rule = R"(aten.cumulative_trapezoid.x(y, x, dim=-1): cumsum($areas(y, x, dim), dim))"sv},
    {.rule = R"(aten.diff.default(self, n=1, dim=-1, prepend=none, append=none):
       d = wrap(dim, rank(self));
       x = n == 0 || (prepend == none && append == none) ? self : cat(compact([prepend, self, append]), d);
       fold(a: x; i in range(0, n): $step(slice.Tensor(a, d, 1, size(a, d)),
           slice.Tensor(a, d, 0, size(a, d) - 1))))"sv},
    {.rule = R"(aten.gradient.array(self, dim, edge_order=1): [d in dim: $gradient(self, d, 1, edge_order)])"sv},
    {.rule = R"(aten.gradient.scalararray(self, spacing, dim, edge_order=1):
       [d in dim: $gradient(self, d, spacing, edge_order)])"sv},
    {.rule = R"(aten.gradient.scalarint(self, spacing=none, dim=none, edge_order=1):
       [d in $dims(self, dim): $gradient(self, d, spacing == none ? 1 : spacing, edge_order)])"sv},
    {.rule = R"(aten.gradient.scalarrayarray(self, spacing, dim, edge_order=1):
       $gradients(self, spacing, dim, edge_order))"sv},
    {.rule = R"(aten.gradient.scalarrayint(self, spacing, dim=none, edge_order=1):
       $gradients(self, spacing, dim, edge_order))"sv},
    {.rule = R"(aten.gradient.tensorarray(self, spacing, dim, edge_order=1):
       $gradients(self, spacing, dim, edge_order))"sv},
    {.rule = R"(aten.gradient.tensorarrayint(self, spacing, dim=none, edge_order=1):
       $gradients(self, spacing, dim, edge_order))"sv},
    {.schema = "aten.logcumsumexp.default(Tensor self, int dim) -> Tensor"sv},
    {.rule = R"(aten.trapezoid.dx(y, dx=1, dim=-1):
       (sum.dim_IntList(y, [dim]) - (select.int(y, dim, 0) + select.int(y, dim, -1)) * 0.5) * dx)"sv},
    {.rule = R"(aten.trapezoid.x(y, x, dim=-1): sum.dim_IntList($areas(y, x, dim), [dim]))"sv},
    {.rule = R"(aten.trapz.dx(y, dx=1, dim=-1): trapezoid.dx(y, dx, dim))"sv},
    {.rule = R"(aten.trapz.x(y, x, dim=-1): trapezoid.x(y, x, dim))"sv},

    // shared sub-rules
    {.rule = R"($areas(y, x, dim):
       d = wrap(dim, rank(y));
       v = rank(x) == 1 ? view(x, [i in range(0, rank(y)): i == d ? size(x, 0) : 1]) : x;
       e = d - rank(y) + rank(v);
       n = size(y, d);
       k = size(v, e);
       (slice.Tensor(v, e, 1, k) - slice.Tensor(v, e, 0, k - 1))
           * (slice.Tensor(y, d, 1, n) + slice.Tensor(y, d, 0, n - 1)) / 2)"sv},
    {.rule = R"($gradient(x, dim, h, edge):
       d = wrap(dim, rank(x));
       n = size(x, d);
       istensor(h) ? $gradient_at(x, d, n,
           view(slice.Tensor(h, 0, 1, n) - slice.Tensor(h, 0, 0, n - 1), [i in range(0, rank(x)): i == d ? n - 1 : 1]),
           edge) :
         $gradient_by(x, d, n, float(h), edge))"sv},
    {.rule = R"($gradient_at(x, d, n, h, edge):
       p = slice.Tensor(h, d, 0, n - 2);
       q = slice.Tensor(h, d, 1, n - 1);
       l = slice.Tensor(x, d, 0, n - 2);
       m = slice.Tensor(x, d, 1, n - 1);
       r = slice.Tensor(x, d, 2, n);
       s = p + q;
       k = n - 2;
       a = edge == 1 ? (narrow(x, d, 1, 1) - narrow(x, d, 0, 1)) / narrow(h, d, 0, 1) :
         narrow(m * s / (p * q) - l * (p + s) / (p * s) - r * p / (q * s), d, 0, 1);
       b = edge == 1 ? (narrow(x, d, n - 1, 1) - narrow(x, d, n - 2, 1)) / narrow(h, d, n - 2, 1) :
         narrow(l * q / (p * s) - m * s / (p * q) + r * (q + s) / (q * s), d, k - 1, 1);
       cat([a, m * (q - p) / (p * q) - l * q / (p * s) + r * p / (q * s), b], d))"sv},
    {.rule = R"($gradient_by(x, d, n, h, edge):
       a = edge == 1 ? narrow(x, d, 1, 1) - narrow(x, d, 0, 1) :
         narrow(x, d, 1, 1) * 2 - narrow(x, d, 0, 1) * 1.5 - narrow(x, d, 2, 1) * 0.5;
       b = edge == 1 ? narrow(x, d, n - 1, 1) - narrow(x, d, n - 2, 1) :
         narrow(x, d, n - 1, 1) * 1.5 - narrow(x, d, n - 2, 1) * 2 + narrow(x, d, n - 3, 1) * 0.5;
       cat([a / h, (slice.Tensor(x, d, 2, n) - slice.Tensor(x, d, 0, n - 2)) / (h * 2), b / h], d))"sv},
    {.rule = R"($gradients(x, h, dim, edge):
       d = $dims(x, dim);
       [i in range(0, len(d)): $gradient(x, d[i], h[i], edge)])"sv},
    {.rule = R"($step(b, a): dtype(a) == bool ? logical_xor(b, a) : b - a)"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts scans_facts[] = {
    // clang-format off
    {.name = "aten.cummax"sv, .result = ResultRule::promoted_and_index},
    {.name = "aten.cummin"sv, .result = ResultRule::promoted_and_index},
    {.name = "aten.cumprod"sv, .shape = ShapeRule::same, .result = ResultRule::dtype_argument},
    {.name = "aten.cumsum"sv, .shape = ShapeRule::cumulative, .result = ResultRule::dtype_argument},
    {.name = "aten.logcumsumexp"sv, .shape = ShapeRule::same},
    // clang-format on
};

}  // namespace davit::operator_families
