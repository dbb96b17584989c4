// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/parameter.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Pooling and unpooling.
inline constexpr OperatorRow pooling[] = {
    // clang-format off
    {.schema = "aten._adaptive_avg_pool2d.default(Tensor self, SymInt[2] output_size) -> Tensor"sv},
    {.schema = "aten._adaptive_avg_pool2d_backward.default(Tensor grad_output, Tensor self) -> Tensor"sv,
     .group = OperatorGroup::gradients},
    {.schema = "aten._adaptive_avg_pool3d.default(Tensor self, SymInt[3] output_size) -> Tensor"sv,
     .rule = R"(aten._adaptive_avg_pool3d.default(self, output_size)!:
       s = sizes(self);
       k = rank(self);
       n = product(s[:k - 3]);
       o = output_size;
       y = _adaptive_avg_pool2d(view(self, [n, s[k - 3], s[k - 2], s[k - 1]]), [o[1], o[2]],
           sizes=[n, s[k - 3], o[1], o[2]], as=outtype);
       view(_adaptive_avg_pool2d(view(y, [n, 1, s[k - 3], o[1] * o[2]]), [o[0], o[1] * o[2]],
           sizes=[n, 1, o[0], o[1] * o[2]], as=outtype), out))"sv},
    {.schema = "aten.adaptive_avg_pool1d.default(Tensor self, int[1] output_size) -> Tensor"sv,
     .rule = R"(aten.adaptive_avg_pool1d.default(self, output_size)!:
       view(_adaptive_avg_pool2d(unsqueeze(self, -2), [1] + output_size, sizes=out[:len(out) - 1] + [1] + output_size,
           as=outtype), out))"sv},
    {.schema = "aten.adaptive_avg_pool2d.default(Tensor self, SymInt[2] output_size) -> Tensor"sv,
     .rule = R"(aten.adaptive_avg_pool2d.default(self, output_size):
       _adaptive_avg_pool2d(self, times(output_size, 2), sizes=out, as=outtype))"sv},
    {.rule = R"(aten.adaptive_avg_pool3d.default(self, output_size):
       _adaptive_avg_pool3d(self, times(output_size, 3), sizes=out, as=outtype))"sv},
    {.rule = R"(aten.adaptive_max_pool1d.default(self, output_size):
       o = times(output_size, 1);
       n = size(self, -1);
       isfixed(n) ? ($fits(self, o) ? max_pool1d_with_indices(self, [n // o[0]], [n // o[0]]) : $cells(self, n, o[0])) :
         o[0] == 1 ? $one_cell(self, n) :
         fail(0))"sv},
    {.schema = "aten.adaptive_max_pool2d.default(Tensor self, int[2] output_size) -> (Tensor, Tensor)"sv,
     .rule = R"(aten.adaptive_max_pool2d.default(self, output_size):
       o = times(output_size, 2);
       k = $fits(self, o) ? [size(self, -2) // o[0], size(self, -1) // o[1]] : fail(0);
       max_pool2d_with_indices(self, k, k, sizes=[out, out], as=[dtype(self), int64]))"sv},
    {.rule = R"(aten.adaptive_max_pool2d_backward.default(grad_output, self, indices):
       $unpooled(grad_output, self, indices, 2))"sv},
    {.schema = "aten.adaptive_max_pool3d.default(Tensor self, int[3] output_size) -> (Tensor, Tensor)"sv,
     .rule = R"(aten.adaptive_max_pool3d.default(self, output_size):
       o = times(output_size, 3);
       k = $fits(self, o) ? [size(self, -3) // o[0], size(self, -2) // o[1], size(self, -1) // o[2]] : fail(0);
       max_pool3d_with_indices(self, k, k, sizes=[out, out], as=[dtype(self), int64]))"sv},
    {.rule = R"(aten.adaptive_max_pool3d_backward.default(grad_output, self, indices):
       $unpooled(grad_output, self, indices, 3))"sv},
    {.schema = "aten.avg_pool1d.default(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], "
               "bool ceil_mode=False, bool count_include_pad=True) -> Tensor"sv},
    {.schema = "aten.avg_pool2d.default(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
               "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"sv},
    {.schema = "aten.avg_pool2d_backward.default(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, "
               "int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor"sv,
     .group = OperatorGroup::gradients},
    {.schema = "aten.avg_pool3d.default(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, "
               "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"sv},
    {.rule = R"(aten.fractional_max_pool2d.default(self, kernel_size, output_size, random_samples):
       $fraction(self, times(kernel_size, 2), times(output_size, 2), random_samples, [1, 0]))"sv},
    {.rule = R"(aten.fractional_max_pool3d.default(self, kernel_size, output_size, random_samples):
       $fraction(self, times(kernel_size, 3), times(output_size, 3), random_samples, [0, 1, 2]))"sv},
    {.schema = "aten.max_pool1d.default(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], "
               "int[1] dilation=[1], bool ceil_mode=False) -> Tensor"sv,
     .rule = R"(aten.max_pool1d.default(self, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=false):
       max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0])"sv},
    {.rule = R"(aten.max_pool1d_with_indices.default(self, kernel_size, stride=[], padding=0, dilation=1,
           ceil_mode=false):
       s = out[:-1] + [1, out[-1]];
       r = max_pool2d_with_indices(unsqueeze(self, -2), $row(kernel_size, 1), $row(stride, 1), $row(padding, 0),
           $row(dilation, 1), ceil_mode, sizes=[s, s], as=[dtype(self), int64]);
       [squeeze.dims(r[0], [-2]), squeeze.dims(r[1], [-2])])"sv},
    {.schema = "aten.max_pool2d.default(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
               "int[2] dilation=1, bool ceil_mode=False) -> Tensor"sv,
     .rule = R"(aten.max_pool2d.default(self, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=false):
       max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode, sizes=[out, out],
           as=[dtype(self), int64])[0])"sv},
    {.schema = "aten.max_pool2d_with_indices.default(Tensor self, int[2] kernel_size, int[2] stride=[], "
               "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"sv},
    {.schema = "aten.max_pool2d_with_indices_backward.default(Tensor grad_output, Tensor self, int[2] kernel_size, "
               "int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor"sv,
     .group = OperatorGroup::gradients},
    {.schema = "aten.max_pool3d.default(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, "
               "int[3] dilation=1, bool ceil_mode=False) -> Tensor"sv,
     .rule = R"(aten.max_pool3d.default(self, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=false):
       max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode, sizes=[out, out],
           as=[dtype(self), int64])[0])"sv},
    {.schema = "aten.max_pool3d_with_indices.default(Tensor self, int[3] kernel_size, int[3] stride=[], "
               "int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"sv},
    {.rule = R"(aten.max_pool3d_with_indices_backward.default(grad_output, self, kernel_size, stride, padding, dilation,
           ceil_mode, indices):
       $unpooled(grad_output, self, indices, 3))"sv},
    {.rule = R"(aten.max_unpool2d.default(self, indices, output_size): $unpool(self, indices, output_size))"sv},
    {.rule = R"(aten.max_unpool3d.default(self, indices, output_size, stride, padding):
       $unpool(self, indices, output_size))"sv},

    // shared sub-rules
    {.rule = R"($cells(x, n, o):
       s = dims(x)[:-1] + [1, 1];
       r = [i in range(0, o): max_pool2d_with_indices(unsqueeze(slice.Tensor(x, -1, i * n // o,
           ((i + 1) * n + o - 1) // o), -2), [1, ((i + 1) * n + o - 1) // o - i * n // o], sizes=[s, s],
           as=[dtype(x), int64])];
       [squeeze.dims(cat([p in r: p[0]], -1), [-2]),
           squeeze.dims(cat([i in range(0, o): r[i][1] + i * n // o], -1), [-2])])"sv},
    {.rule = R"($fits(x, o):
       fold(a: true; i in range(0, len(o)):
           a && isfixed(size(x, rank(x) - len(o) + i)) && size(x, rank(x) - len(o) + i) % o[i] == 0))"sv},
    {.rule = R"($fraction(x, k, o, u, order):
       m = len(k);
       r = rank(x);
       z = sizes(x)[r - m:];
       b = product(sizes(x)[:r - m]);
       v = slice.Tensor(reshape(u, [product(sizes(u)) // m, m]), 0, 0, b);
       p = fold(a: full([b, 1, 1], 0, dtype=int64);
           i in range(0, m): $fraction_cells(a, $fraction_starts(select.int(v, 1, order[i]), z[i], o[i], k[i]), z[i],
           o[i], k[i]));
       c = [b, product(o), product(k)];
       y = view(gather(reshape(x, [b, product(z)]), 1, view(p, [b, c[1] * c[2]])), c);
       w = $one_cell(y, c[2]);
       [reshape(w[0], out), reshape(gather(p, 2, w[1]), out)])"sv},
    {.rule = R"($fraction_cells(p, s, n, o, k):
       c = unsqueeze(s, -1) + arange.start_step(0, k);
       reshape(unsqueeze(unsqueeze(p * n, 2), -1) + unsqueeze(unsqueeze(c, 1), 3),
           [size(p, 0), size(p, 1) * o, size(p, 2) * k]))"sv},
    {.rule = R"($fraction_starts(u, n, o, k):
       i = arange.start_step(0, o, 1, dtype=dtype(u));
       v = unsqueeze(u, 1);
       a = o == 1 ? 0.0 : float(n - k) / float(o - 1);
       cast(where(i == o - 1, n - k, trunc((i + v) * a) - trunc(v * a)), int64))"sv},
    {.rule = R"($one_cell(x, n):
       r = max.dim(x, -1, true);
       l = amax(where(isnan(x), arange.start_step(0, n), -1), [-1], true);
       [r[0], where(l < 0, r[1], l)])"sv},
    {.rule = R"($row(k, one): islist(k) && len(k) == 0 ? [] : [one, islist(k) ? k[0] : k])"sv},
    {.rule = R"($unpool(x, i, o):
       b = sizes(x)[:rank(x) - len(o)];
       n = product(b);
       m = [product(sizes(x))];
       t = reshape($inside(reshape(i, m), product(o)), sizes(x))
           + view(arange.start_step(0, n), b + [d in o: 1]) * product(o);
       view(index_put(full([n * product(o)], 0, dtype=dtype(x)), [reshape(t, m)], reshape(x, m), sizes=[n * product(o)],
           as=dtype(x)), b + o))"sv},
    {.rule = R"($unpooled(g, x, i, n):
       b = sizes(x)[:rank(x) - n];
       k = product(sizes(g)[rank(g) - n:]);
       view(scatter_add(full(b + [product(sizes(x)[rank(x) - n:])], 0, dtype=dtype(g)), -1, reshape(i, b + [k]),
           reshape(g, b + [k])), sizes(x)))"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts pooling_facts[] = {
    // clang-format off
    {.name = "aten._adaptive_avg_pool2d"sv, .range = RangeBound::maximum},
    {.name = "aten._adaptive_avg_pool3d"sv, .range = RangeBound::maximum},
    {.name = "aten.adaptive_avg_pool1d"sv, .range = RangeBound::maximum},
    {.name = "aten.adaptive_avg_pool2d"sv, .range = RangeBound::maximum},
    {.name = "aten.adaptive_avg_pool3d"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.adaptive_max_pool3d"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.avg_pool1d"sv, .range = RangeBound::maximum},
    {.name = "aten.avg_pool2d"sv, .range = RangeBound::maximum},
    {.name = "aten.avg_pool3d"sv, .range = RangeBound::maximum, .autocast = AutocastPolicy::full},
    {.name = "aten.fractional_max_pool2d"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.fractional_max_pool3d"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.max_pool1d"sv, .range = RangeBound::maximum},
    {.name = "aten.max_pool2d"sv, .range = RangeBound::maximum},
    {.name = "aten.max_pool2d_with_indices"sv, .range = RangeBound::maximum},
    {.name = "aten.max_pool3d"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.max_pool3d_with_indices"sv, .range = RangeBound::maximum},
    // clang-format on
};

}  // namespace davit::operator_families

// how calls are read
namespace davit::operators {

/// One of ATen's poolings over sliding windows: self, kernel_size, stride, padding, then of a maximum dilation and
/// ceil_mode, of an average ceil_mode, count_include_pad and divisor_override.
struct PoolOperator {
  const char* target;
  std::uint8_t dims;
  bool maximum;
  bool gradient = false;  ///< grad_output stands first
  [[nodiscard]] constexpr Parameter at(const char* name, std::uint32_t position) const noexcept {
    return {name, position + (gradient ? 1 : 0)};
  }
};

inline constexpr std::array pool_operators{
    PoolOperator{"aten.max_pool2d_with_indices.default", 2, true},
    PoolOperator{"aten.max_pool2d.default", 2, true},
    PoolOperator{"aten.avg_pool2d.default", 2, false},
    PoolOperator{"aten.max_pool1d.default", 1, true},
    PoolOperator{"aten.avg_pool1d.default", 1, false},
    PoolOperator{"aten.max_pool3d_with_indices.default", 3, true},
    PoolOperator{"aten.max_pool3d.default", 3, true},
    PoolOperator{"aten.avg_pool3d.default", 3, false},
    PoolOperator{"aten.avg_pool2d_backward.default", 2, false, true},
    PoolOperator{"aten.max_pool2d_with_indices_backward.default", 2, true, true},
};

/// One of ATen's adaptive averages: self, output_size.
struct AdaptivePoolOperator {
  const char* target;
  std::uint8_t dims;
};

inline constexpr std::array adaptive_pool_operators{
    AdaptivePoolOperator{"aten._adaptive_avg_pool2d.default", 2},
    AdaptivePoolOperator{"aten.adaptive_avg_pool2d.default", 2},
    AdaptivePoolOperator{"aten.adaptive_avg_pool1d.default", 1},
    AdaptivePoolOperator{"aten._adaptive_avg_pool3d.default", 3},
    AdaptivePoolOperator{"aten.adaptive_avg_pool3d.default", 3},
};

}  // namespace davit::operators
