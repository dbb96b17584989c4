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

/// Convolution, its transposed form, and the columns that it is made of.
inline constexpr OperatorRow convolution[] = {
    // clang-format off
    {.rule = R"(aten._convolution.default(input, weight, bias, stride, padding, dilation, transposed, output_padding,
           groups, benchmark, deterministic, cudnn_enabled, allow_tf32):
       convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, sizes=out,
           as=outtype))"sv},
    {.schema = "aten.col2im.default(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, "
               "int[2] padding, int[2] stride) -> Tensor"sv,
     .rule = R"(aten.col2im.default(self, output_size, kernel_size, dilation, padding, stride)!:
       h = output_size[0];
       w = output_size[1];
       r = $taps(kernel_size[0], h, dilation[0], padding[0], stride[0]);
       c = $taps(kernel_size[1], w, dilation[1], padding[1], stride[1]);
       i = unsqueeze(unsqueeze(r, 2), 1);
       j = unsqueeze(c, 1);
       m = logical_and(logical_and(i >= 0, i < h), logical_and(j >= 0, j < w));
       k = product(sizes(r)) * product(sizes(c));
       p = view(where(m, i * w + j, h * w), [1, k]);
       n = product(sizes(self)) // k;
       y = scatter_add(full([n, h * w + 1], 0, dtype=outtype), 1, expand(p, [n, k]), reshape(self, [n, k]));
       reshape(narrow(y, 1, 0, h * w), out))"sv, .group = OperatorGroup::vision},
    {.schema = "aten.conv1d.default(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], "
               "SymInt[1] padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor"sv,
     .rule = R"(aten.conv1d.default(input, weight, bias=none, stride=1, padding=0, dilation=1, groups=1):
       $conv(1, input, weight, bias, stride, padding, dilation, false, 0, groups))"sv},
    {.schema = "aten.conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], "
               "str padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor"sv,
     .rule = R"(aten.conv1d.padding(input, weight, bias=none, stride=1, padding='valid', dilation=1, groups=1):
       $same(1, input, weight, bias, stride, padding, dilation, groups))"sv},
    {.schema = "aten.conv2d.default(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], "
               "SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor"sv,
     .rule = R"(aten.conv2d.default(input, weight, bias=none, stride=1, padding=0, dilation=1, groups=1):
       $conv(2, input, weight, bias, stride, padding, dilation, false, 0, groups))"sv},
    {.schema = "aten.conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], "
               "str padding=\"valid\", SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor"sv,
     .rule = R"(aten.conv2d.padding(input, weight, bias=none, stride=1, padding='valid', dilation=1, groups=1):
       $same(2, input, weight, bias, stride, padding, dilation, groups))"sv},
    {.schema = "aten.conv3d.default(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], "
               "SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor"sv,
     .rule = R"(aten.conv3d.default(input, weight, bias=none, stride=1, padding=0, dilation=1, groups=1):
       $conv(3, input, weight, bias, stride, padding, dilation, false, 0, groups))"sv},
    {.schema = "aten.conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], "
               "str padding=\"valid\", SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor"sv,
     .rule = R"(aten.conv3d.padding(input, weight, bias=none, stride=1, padding='valid', dilation=1, groups=1):
       $same(3, input, weight, bias, stride, padding, dilation, groups))"sv},
    {.rule = R"(aten.conv_tbc.default(self, weight, bias, pad=0):
       permute(convolution(permute(self, [1, 2, 0]), permute(weight, [2, 1, 0]), bias, [1], [pad], [1], false, [0], 1,
           sizes=[out[1], out[2], out[0]], as=outtype), [2, 0, 1]))"sv},
    {.rule = R"(aten.conv_transpose1d.default(input, weight, bias=none, stride=1, padding=0, output_padding=0, groups=1,
           dilation=1):
       $conv(1, input, weight, bias, stride, padding, dilation, true, output_padding, groups))"sv},
    {.rule = R"(aten.conv_transpose2d.input(input, weight, bias=none, stride=1, padding=0, output_padding=0, groups=1,
           dilation=1):
       $conv(2, input, weight, bias, stride, padding, dilation, true, output_padding, groups))"sv},
    {.rule = R"(aten.conv_transpose3d.input(input, weight, bias=none, stride=1, padding=0, output_padding=0, groups=1,
           dilation=1):
       $conv(3, input, weight, bias, stride, padding, dilation, true, output_padding, groups))"sv},
    {.schema = "aten.convolution.default(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
               "SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) "
               "-> Tensor"sv,
     .complex_rule = R"(aten.convolution.default(input, weight, bias, stride, padding, dilation, transposed,
           output_padding, groups):
       a = $re(input);
       b = $im(input);
       c = $re(weight);
       d = $im(weight);
       e = bias == none ? none : $re(bias);
       f = bias == none ? none : $im(bias);
       $z($real_conv(a, c, e, stride, padding, dilation, transposed, output_padding, groups)
           - $real_conv(b, d, none, stride, padding, dilation, transposed, output_padding, groups),
           $real_conv(a, d, f, stride, padding, dilation, transposed, output_padding, groups)
           + $real_conv(b, c, none, stride, padding, dilation, transposed, output_padding, groups)))"sv},
    {.schema = "aten.convolution_backward.default(Tensor grad_output, Tensor input, Tensor weight, "
               "SymInt[]? bias_sizes, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, "
               "SymInt[] output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"sv,
     .group = OperatorGroup::gradients},
    {.rule = R"(aten.im2col.default(self, kernel_size, dilation, padding, stride):
       u = rank(self) == 3;
       x = u ? unsqueeze(self, 0) : self;
       h = $windows(size(x, 2), kernel_size[0], dilation[0], padding[0], stride[0]);
       w = $windows(size(x, 3), kernel_size[1], dilation[1], padding[1], stride[1]);
       y = constant_pad_nd(x, [padding[1], padding[1], padding[0], padding[0]], 0);
       v = index.Tensor(y, [none, none, unsqueeze(unsqueeze(h[1], -1), -1), w[1]]);
       r = reshape(permute(v, [0, 1, 2, 4, 3, 5]),
           [size(x, 0), size(x, 1) * kernel_size[0] * kernel_size[1], h[0] * w[0]]);
       u ? squeeze.dims(r, [0]) : r)"sv},

    // shared sub-rules
    {.rule = R"($conv(n, x, w, b, s, p, d, t, o, g):
       u = rank(x) == n + 1;
       r = convolution(u ? unsqueeze(x, 0) : x, w, b, times(s, n), times(p, n), times(d, n), t, times(o, n), g,
           sizes=u ? [1] + out : out, as=outtype);
       u ? squeeze.dims(r, [0]) : r)"sv},
    {.rule = R"($real_conv(x, w, b, s, p, d, t, o, g):
       convolution(x, w, b, s, p, d, t, o, g, sizes=len(out) == rank(x) ? out : [1] + out, as=dtype(x)))"sv},
    {.rule = R"($same(n, x, w, b, s, p, d, g):
       k = times(d, n);
       t = [i in range(0, n): p == 'same' ? k[i] * (size(w, i + 2) - 1) : 0];
       e = len(compact([i in t: i % 2 == 0 ? none : i])) == 0;
       y = e ? x : constant_pad_nd(x, flat([i in reversed(t): [i // 2, i - i // 2]]), 0);
       $conv(n, y, w, b, s, e ? [i in t: i // 2] : 0, d, false, 0, g))"sv},
    {.rule = R"($taps(k, n, d, p, s):
       o = (n + p * 2 - d * (k - 1) - 1) // s + 1;
       unsqueeze(arange.start_step(0, k) * d - p, 1) + arange.start_step(0, o) * s)"sv},
    {.rule = R"($windows(n, k, d, p, s):
       o = (n + 2 * p - d * (k - 1) - 1) // s + 1;
       [o, unsqueeze(arange.start_step(0, k) * d, 1) + arange.start_step(0, o) * s])"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts convolution_facts[] = {
    // clang-format off
    {.name = "aten._convolution"sv, .autocast = AutocastPolicy::lower},
    {.name = "aten.conv1d"sv, .range = RangeBound::convolution, .autocast = AutocastPolicy::lower},
    {.name = "aten.conv2d"sv, .range = RangeBound::convolution, .autocast = AutocastPolicy::lower},
    {.name = "aten.conv3d"sv, .range = RangeBound::convolution, .autocast = AutocastPolicy::lower},
    {.name = "aten.conv_tbc"sv, .autocast = AutocastPolicy::lower},
    {.name = "aten.conv_transpose1d"sv, .autocast = AutocastPolicy::lower},
    {.name = "aten.conv_transpose2d"sv, .autocast = AutocastPolicy::lower},
    {.name = "aten.conv_transpose3d"sv, .autocast = AutocastPolicy::lower},
    {.name = "aten.convolution"sv, .range = RangeBound::convolution},
    // clang-format on
};

}  // namespace davit::operator_families

// how calls are read
namespace davit::operators {

/// One of ATen's convolutions, and where it has its arguments: the input, then weight, bias, stride, padding, dilation.
struct ConvolutionOperator {
  const char* target;
  std::uint8_t dims = 0;  ///< spatial dimensions; 0: the weight's
  bool general = false;   ///< has transposed and output_padding, and takes no input without a batch dimension
  bool gradient = false;  ///< grad_output stands first, and the bias is sizes
  [[nodiscard]] constexpr Parameter at(const char* name, std::uint32_t position) const noexcept {
    return {name, position + (gradient ? 1 : 0)};
  }
};

/// The convolutions of ATen, the usual ones first.
inline constexpr std::array convolution_operators{
    ConvolutionOperator{"aten.convolution.default", 0, true},
    ConvolutionOperator{"aten.conv2d.default", 2},
    ConvolutionOperator{"aten.conv1d.default", 1},
    ConvolutionOperator{"aten.conv3d.default", 3},
    ConvolutionOperator{"aten.conv2d.padding", 2},
    ConvolutionOperator{"aten.conv1d.padding", 1},
    ConvolutionOperator{"aten.conv3d.padding", 3},
    ConvolutionOperator{"aten.convolution_backward.default", 0, true, true},
};

}  // namespace davit::operators
