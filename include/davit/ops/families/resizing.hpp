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

/// Resizing of images, the order of their pixels and channels, sampling at the points of grids and regions, and the
/// operators of torchvision.
inline constexpr OperatorRow resizing[] = {
    // clang-format off
    {.schema = "aten._upsample_bicubic2d_aa.default(Tensor self, SymInt[2] output_size, bool align_corners, "
               "float? scales_h=None, float? scales_w=None) -> Tensor"sv,
     .rule = R"(aten._upsample_bicubic2d_aa.default(self, output_size, align_corners, scales_h=none, scales_w=none)^:
       $smooth_resize(self, output_size, align_corners, [scales_h, scales_w], 4))"sv},
    {.schema = "aten._upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
               "float[]? scale_factors) -> Tensor"sv,
     .rule = R"(aten._upsample_bicubic2d_aa.vec(input, output_size, align_corners, scale_factors)^:
       $smooth_resize(input, $sized(input, output_size, scale_factors, 2), align_corners,
           scale_factors == none ? [none, none] : scale_factors, 4))"sv},
    {.schema = "aten._upsample_bilinear2d_aa.default(Tensor self, SymInt[2] output_size, bool align_corners, "
               "float? scales_h=None, float? scales_w=None) -> Tensor"sv,
     .rule = R"(aten._upsample_bilinear2d_aa.default(self, output_size, align_corners, scales_h=none, scales_w=none)^:
       $smooth_resize(self, output_size, align_corners, [scales_h, scales_w], 2))"sv},
    {.schema = "aten._upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
               "float[]? scale_factors) -> Tensor"sv,
     .rule = R"(aten._upsample_bilinear2d_aa.vec(input, output_size, align_corners, scale_factors)^:
       $smooth_resize(input, $sized(input, output_size, scale_factors, 2), align_corners,
           scale_factors == none ? [none, none] : scale_factors, 2))"sv},
    {.schema = "aten._upsample_nearest_exact1d.default(Tensor self, SymInt[1] output_size, float? scales=None) "
               "-> Tensor"sv},
    {.schema = "aten._upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) "
               "-> Tensor"sv,
     .rule = R"(aten._upsample_nearest_exact1d.vec(input, output_size, scale_factors):
       $nearest_resize(input, $sized(input, output_size, scale_factors, 1), scale_factors))"sv},
    {.schema = "aten._upsample_nearest_exact2d.default(Tensor self, SymInt[2] output_size, float? scales_h=None, "
               "float? scales_w=None) -> Tensor"sv},
    {.schema = "aten._upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) "
               "-> Tensor"sv,
     .rule = R"(aten._upsample_nearest_exact2d.vec(input, output_size, scale_factors):
       $nearest_resize(input, $sized(input, output_size, scale_factors, 2), scale_factors))"sv},
    {.schema = "aten._upsample_nearest_exact3d.default(Tensor self, SymInt[3] output_size, float? scales_d=None, "
               "float? scales_h=None, float? scales_w=None) -> Tensor"sv},
    {.schema = "aten._upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) "
               "-> Tensor"sv,
     .rule = R"(aten._upsample_nearest_exact3d.vec(input, output_size, scale_factors):
       $nearest_resize(input, $sized(input, output_size, scale_factors, 3), scale_factors))"sv},
    {.rule = R"(aten.channel_shuffle.default(self, groups):
       s = sizes(self);
       x = reshape(self, [s[0], groups, s[1] // groups, product(s[2:])]);
       reshape(permute(x, [0, 2, 1, 3]), s))"sv},
    {.rule = R"(aten.native_channel_shuffle.default = aten.channel_shuffle.default)"sv},
    {.rule = R"(aten.pixel_shuffle.default(self, upscale_factor):
       s = sizes(self);
       n = rank(self);
       b = s[:n - 3];
       r = upscale_factor;
       c = s[n - 3] // (r * r);
       k = len(b);
       reshape(permute(reshape(self, b + [c, r, r, s[n - 2], s[n - 1]]), range(0, k) + [k, k + 3, k + 1, k + 4, k + 2]),
           b + [c, s[n - 2] * r, s[n - 1] * r]))"sv},
    {.rule = R"(aten.pixel_unshuffle.default(self, downscale_factor):
       s = sizes(self);
       n = rank(self);
       b = s[:n - 3];
       r = downscale_factor;
       k = len(b);
       h = s[n - 2] // r;
       w = s[n - 1] // r;
       reshape(permute(reshape(self, b + [s[n - 3], h, r, w, r]), range(0, k) + [k, k + 2, k + 4, k + 1, k + 3]),
           b + [s[n - 3] * r * r, h, w]))"sv},
    {.schema = "aten.upsample_bicubic2d.default(Tensor self, SymInt[2] output_size, bool align_corners, "
               "float? scales_h=None, float? scales_w=None) -> Tensor"sv,
     .rule = R"(aten.upsample_bicubic2d.default(self, output_size, align_corners, scales_h=none, scales_w=none)^:
       $cubic_resize(self, output_size, align_corners, [scales_h, scales_w]))"sv},
    {.schema = "aten.upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
               "float[]? scale_factors) -> Tensor"sv,
     .rule = R"(aten.upsample_bicubic2d.vec(input, output_size, align_corners, scale_factors)^:
       $cubic_resize(input, $sized(input, output_size, scale_factors, 2), align_corners,
           scale_factors == none ? [none, none] : scale_factors))"sv},
    {.rule = R"(aten.upsample_bicubic2d_backward.default(grad_output, output_size, input_size, align_corners,
           scales_h=none, scales_w=none):
       t = $weights_type(grad_output);
       $resized(grad_output, permute($cubic_weights(input_size[2], output_size[0], align_corners, scales_h, t), [1, 0]),
           permute($cubic_weights(input_size[3], output_size[1], align_corners, scales_w, t), [1, 0])))"sv},
    {.rule = R"(aten.upsample_bilinear2d.default(self, output_size, align_corners, scales_h=none, scales_w=none):
       upsample_bilinear2d.vec(self, scales_h == none || scales_w == none ? output_size : none, align_corners,
           scales_h == none || scales_w == none ? none : [scales_h, scales_w], sizes=out, as=outtype))"sv},
    {.schema = "aten.upsample_bilinear2d.lerp(Tensor input, SymInt[] output_size, bool align_corners) -> Tensor"sv},
    {.schema = "aten.upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
               "float[]? scale_factors) -> Tensor"sv},
    {.rule = R"(aten.upsample_bilinear2d_backward.default(grad_output, output_size, input_size, align_corners,
           scales_h=none, scales_w=none):
       t = $weights_type(grad_output);
       $resized(grad_output, permute($linear_weights(input_size[2], output_size[0], align_corners, scales_h, t),
           [1, 0]), permute($linear_weights(input_size[3], output_size[1], align_corners, scales_w, t), [1, 0])))"sv},
    {.rule = R"(aten.upsample_linear1d.default(self, output_size, align_corners, scales=none):
       squeeze.dims(upsample_bilinear2d.vec(unsqueeze(self, 2), scales == none ? [1] + output_size : none,
           align_corners, scales == none ? none : [1.0, scales], sizes=out[:2] + [1] + out[2:], as=outtype), [2]))"sv},
    {.rule = R"(aten.upsample_linear1d.lerp(input, output_size, align_corners):
       squeeze.dims(upsample_bilinear2d.lerp(unsqueeze(input, 2), [1] + output_size, align_corners,
           sizes=out[:2] + [1] + out[2:], as=outtype), [2]))"sv},
    {.rule = R"(aten.upsample_linear1d.vec(input, output_size, align_corners, scale_factors):
       squeeze.dims(upsample_bilinear2d.vec(unsqueeze(input, 2), output_size == none ? none : [1] + output_size,
           align_corners, scale_factors == none ? none : [1.0] + scale_factors, sizes=out[:2] + [1] + out[2:],
           as=outtype), [2]))"sv},
    {.rule = R"(aten.upsample_nearest1d.default(self, output_size, scales=none):
       squeeze.dims(upsample_nearest2d.vec(unsqueeze(self, 2), scales == none ? [1] + output_size : none,
           scales == none ? none : [1.0, scales], sizes=out[:2] + [1] + out[2:], as=outtype), [2]))"sv},
    {.rule = R"(aten.upsample_nearest1d.vec(input, output_size, scale_factors):
       squeeze.dims(upsample_nearest2d.vec(unsqueeze(input, 2), output_size == none ? none : [1] + output_size,
           scale_factors == none ? none : [1.0] + scale_factors, sizes=out[:2] + [1] + out[2:], as=outtype), [2]))"sv},
    {.rule = R"(aten.upsample_nearest2d.default(self, output_size, scales_h=none, scales_w=none):
       upsample_nearest2d.vec(self, scales_h == none || scales_w == none ? output_size : none,
           scales_h == none || scales_w == none ? none : [scales_h, scales_w], sizes=out, as=outtype))"sv},
    {.schema = "aten.upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"sv},
    {.rule = R"(aten.upsample_nearest2d_backward.default(grad_output, output_size, input_size, scales_h=none,
           scales_w=none):
       p = cast(view(arange.start_step(0, input_size[2] * input_size[3]), [1, 1, input_size[2], input_size[3]]),
           float32);
       $spread_back(grad_output, input_size[:2] + [input_size[2] * input_size[3]], 2,
           upsample_nearest2d(p, output_size, scales_h, scales_w, sizes=[1, 1] + output_size, as=float32),
           input_size))"sv},
    {.rule = R"(aten.upsample_nearest3d.vec(input, output_size, scale_factors):
       o = $sized(input, output_size, scale_factors, 3);
       v = $volume(input, output_size, scale_factors);
       y = upsample_nearest2d.vec(v[0], v[1], v[2], sizes=v[3], as=outtype);
       z = upsample_nearest2d.vec($depth(y, input, o), output_size == none ? none : [o[0], product(o[1:])],
           output_size == none ? [scale_factors[0], 1.0] : none,
           sizes=[size(input, 0) * size(input, 1), 1, out[2], out[3] * out[4]], as=outtype);
       view(z, sizes(input)[:2] + o))"sv},
    {.rule = R"(aten.upsample_trilinear3d.lerp(input, output_size, align_corners):
       v = $volume(input, output_size, none);
       y = upsample_bilinear2d.lerp(v[0], v[1], align_corners, sizes=v[3], as=outtype);
       z = upsample_bilinear2d.lerp($depth(y, input, output_size), [output_size[0], product(output_size[1:])],
           align_corners, sizes=[size(input, 0) * size(input, 1), 1, out[2], out[3] * out[4]], as=outtype);
       view(z, sizes(input)[:2] + output_size))"sv},
    {.rule = R"(aten.upsample_trilinear3d.vec(input, output_size, align_corners, scale_factors):
       o = $sized(input, output_size, scale_factors, 3);
       v = $volume(input, output_size, scale_factors);
       y = upsample_bilinear2d.vec(v[0], v[1], align_corners, v[2], sizes=v[3], as=outtype);
       z = upsample_bilinear2d.vec($depth(y, input, o), output_size == none ? none : [o[0], product(o[1:])],
           align_corners, output_size == none ? [scale_factors[0], 1.0] : none,
           sizes=[size(input, 0) * size(input, 1), 1, out[2], out[3] * out[4]], as=outtype);
       view(z, sizes(input)[:2] + o))"sv},
    {.rule = R"(aten.affine_grid_generator.default(theta, size, align_corners):
       n = len(size) - 2;
       t = dtype(theta);
       x = [i in range(0, n): $ticks(size[i + 2], align_corners, t)];
       g = reversed($grid(x));
       b = stack(g + [full(size[2:], 1.0, dtype=t)], -1);
       m = product(size[2:]);
       r = bmm(expand(view(b, [1, m, n + 1]), [size[0], m, n + 1]), permute(theta, [0, 2, 1]));
       view(r, [size[0]] + size[2:] + [n]))"sv},
    {.rule = R"(aten.grid_sampler.default(input, grid, interpolation_mode, padding_mode, align_corners):
       rank(input) == 4 ? grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners, sizes=out,
           as=outtype) :
         grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners, sizes=out, as=outtype))"sv},
    {.schema = "aten.grid_sampler_2d.default(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
               "bool align_corners) -> Tensor"sv,
     .rule = R"(aten.grid_sampler_2d.default(input, grid, interpolation_mode, padding_mode, align_corners)!:
       h = size(input, 2);
       w = size(input, 3);
       x = $grid_place(select.int(grid, -1, 0), w, padding_mode, align_corners);
       y = $grid_place(select.int(grid, -1, 1), h, padding_mode, align_corners);
       a = floor(x);
       b = floor(y);
       p = x - a;
       q = y - b;
       interpolation_mode == 1 ? $grid_sample(input, round(x), round(y), none) :
         interpolation_mode == 0 ? $grid_sample(input, a, b, (1 - p) * (1 - q))
           + $grid_sample(input, a + 1, b, p * (1 - q)) + $grid_sample(input, a, b + 1, (1 - p) * q)
           + $grid_sample(input, a + 1, b + 1, p * q) :
         fail(0))"sv},
    {.schema = "aten.grid_sampler_3d.default(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
               "bool align_corners) -> Tensor"sv},
    {.schema = "torchvision.deform_conv2d.default(Tensor input, Tensor weight, Tensor offset, Tensor mask, "
               "Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, "
               "SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor"sv},
    {.schema = "torchvision.nms.default(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"sv},
    {.schema = "torchvision.roi_align.default(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
               "SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor"sv},

    // shared sub-rules
    {.rule = R"($by_taps(x, d, p):
       m = size(p[0], 0);
       k = p[3];
       g = reshape(index_select(x, d, reshape(p[0], [m * k])), sizes(x)[:d] + [m, k] + sizes(x)[d + 1:]);
       w = cast(cast(p[2], outtype), dtype(x));
       z = p[1] == none ? g : where(d == 3 ? p[1] : unsqueeze(p[1], 2), g, 0.0);
       sum.dim_IntList(z * (d == 3 ? w : unsqueeze(w, 2)), [d + 1]))"sv},
    {.rule = R"($cubic(d, a):
       where(d <= 1, ((a + 2) * d - (a + 3)) * d * d + 1, where(d < 2, ((d - 5) * d + 8) * d * a - 4 * a, 0.0)))"sv},
    {.rule = R"($cubic_resize(x, o, align, f):
       t = $weights_type(x);
       dtype(x) == uint8 ? $resized(x, $cubic_weights(size(x, 2), o[0], align, f[0], t),
           $cubic_weights(size(x, 3), o[1], align, f[1], t)) :
         $by_taps($by_taps(x, 3, $cubic_taps(size(x, 3), o[1], align, f[1], t)), 2,
           $cubic_taps(size(x, 2), o[0], align, f[0], t)))"sv},
    {.rule = R"($cubic_taps(n, m, align, f, t):
       i = arange.start_step(0, m, 1, dtype=t);
       s = align ? i * $step_of(n, m, align, f) : (i + 0.5) * $step_of(n, m, align, f) - 0.5;
       j = unsqueeze(clamp(floor(s), none, n - 1), 1) + arange.start_step(-1, 3, 1, dtype=t);
       [cast(clamp(j, 0, n - 1), int64), none, $cubic(abs(unsqueeze(s, 1) - j), -0.75), 4])"sv},
    {.rule = R"($cubic_weights(n, m, align, f, t):
       i = arange.start_step(0, m, 1, dtype=t);
       s = align ? i * $step_of(n, m, align, f) : (i + 0.5) * $step_of(n, m, align, f) - 0.5;
       a = floor(s);
       j = arange.start_step(0, n, 1, dtype=t);
       fold(w: 0.0; k in [-1, 0, 1, 2]: w
           + unsqueeze($cubic(abs(s - a - k), -0.75), 1) * cast(unsqueeze(clamp(a + k, 0, n - 1), 1) == j, t)))"sv},
    {.rule = R"($depth(y, x, o): view(y, [size(x, 0) * size(x, 1), 1, size(x, 2), product(o[1:])]))"sv},
    {.rule = R"($fixed_point(w):
       b = pow.Scalar(2.0, arange.start_step(1, 23, 1, dtype=float64)) * amax(w, [0, 1]);
       s = pow.Scalar(2.0, sum.dim_IntList(cast(floor(b + 0.5) < 32768, float64), [0]));
       [sign(w) * floor(abs(w) * s + 0.5), s])"sv},
    {.rule = R"($linear_weights(n, m, align, f, t):
       i = arange.start_step(0, m, 1, dtype=t);
       s = clamp(align ? i * $step_of(n, m, align, f) : (i + 0.5) * $step_of(n, m, align, f) - 0.5, 0, float(n) - 1);
       clamp(1 - abs(unsqueeze(s, 1) - arange.start_step(0, n, 1, dtype=t)), 0))"sv},
    {.rule = R"($nearest_exact(x, d, n, f):
       k = size(x, d);
       i = (arange.start_step(0, n, 1, dtype=float32) + 0.5) * $step_of(k, n, false, f);
       index_select(x, d, clamp(cast(floor(i), int64), none, k - 1)))"sv},
    {.rule = R"($nearest_resize(x, o, f):
       fold(a: x; i in range(0, len(o)): $nearest_exact(a, i + 2, o[i], f == none ? none : f[i])))"sv},
    {.rule = R"($of_fixed_point(x, s): clamp(floor(x / s + 0.5), 0, 255))"sv},
    {.rule = R"($resized(x, h, w):
       y = reshape(x, [size(x, 0) * size(x, 1), size(x, 2), size(x, 3)]);
       reshape(dtype(x) == uint8 ? $resized_bytes(y, h, w) : isint(x) ? fail(0) :
           matmul(matmul(cast(h, dtype(x)), y), permute(cast(w, dtype(x)), [1, 0])), out))"sv},
    {.rule = R"($resized_bytes(x, h, w):
       r = $fixed_point(w);
       c = $fixed_point(h);
       y = $of_fixed_point(matmul(cast(x, float64), permute(r[0], [1, 0])), r[1]);
       cast($of_fixed_point(matmul(c[0], y), c[1]), uint8))"sv},
    {.rule = R"($sized(x, o, f, n):
       o != none ? o :
         [i in range(0, n): isfixed(size(x, i + 2)) ? int(float(size(x, i + 2)) * f[i]) :
           truncated(size(x, i + 2) * f[i], out[i + 2])])"sv},
    {.rule = R"($smooth_resize(x, o, align, f, taps):
       t = $weights_type(x);
       dtype(x) == uint8 || !(isfixed(size(x, 2)) && isfixed(size(x, 3)) && isfixed(o[0]) && isfixed(o[1])) ?
           $resized(x, $smooth_weights(size(x, 2), o[0], align, f[0], taps, t),
           $smooth_weights(size(x, 3), o[1], align, f[1], taps, t)) :
         $by_taps($by_taps(x, 3, $smooth_taps(size(x, 3), o[1], align, f[1], taps, t)), 2,
           $smooth_taps(size(x, 2), o[0], align, f[0], taps, t)))"sv},
    {.rule = R"($smooth_taps(n, m, align, f, taps, t):
       s = $step_of(n, m, align, f);
       w = max(s, 1.0);
       r = w * (float(taps) / 2.0);
       c = unsqueeze((arange.start_step(0, m, 1, dtype=t) + 0.5) * s, 1);
       k = min(2 * int(min(r, float(n))) + 3, n);
       j = floor(clamp(c - r + 0.5, 0)) + arange.start_step(0, k, 1, dtype=t);
       q = j < floor(clamp(c + r + 0.5, none, n));
       d = abs(j + 0.5 - c) / w;
       v = where(q, taps == 4 ? $cubic(d, -0.5) : clamp(1 - d, 0), 0.0);
       [cast(clamp(j, none, n - 1), int64), q, v / sum.dim_IntList(v, [1], true), k])"sv},
    {.rule = R"($smooth_weights(n, m, align, f, taps, t):
       s = $step_of(n, m, align, f);
       w = max(s, 1.0);
       c = unsqueeze((arange.start_step(0, m, 1, dtype=t) + 0.5) * s, 1);
       i = arange.start_step(0, n, 1, dtype=t);
       r = w * (float(taps) / 2.0);
       k = logical_and(i >= floor(clamp(c - r + 0.5, 0)), i < floor(clamp(c + r + 0.5, none, n)));
       d = abs(i + 0.5 - c) / w;
       v = where(k, taps == 4 ? $cubic(d, -0.5) : clamp(1 - d, 0), 0.0);
       v / sum.dim_IntList(v, [1], true))"sv},
    {.rule = R"($step_of(n, m, align, f):
       align ? (m == 1 ? 0.0 : (float(n) - 1) / (float(m) - 1)) : f == none ? float(n) / float(m) : 1.0 / f)"sv},
    {.rule = R"($volume(x, o, f):
       n = size(x, 0) * size(x, 1);
       p = [n, size(x, 2), out[3], out[4]];
       [reshape(x, [n, size(x, 2), size(x, 3), size(x, 4)]), o == none ? none : o[1:], f == none ? none : f[1:],
           p])"sv},
    {.rule = R"($weights_type(x): dtype(x) == uint8 ? float64 : $part(x))"sv},
    {.rule = R"($grid_place(x, n, padding, align):
       u = align ? (x + 1) * ((n - 1) / 2.0) : ((x + 1) * n - 1) / 2.0;
       low = align ? 0.0 : -0.5;
       span = align ? n - 1.0 : float(n);
       v = abs(u - low);
       r = fmod.Scalar(v, span);
       e = remainder.Scalar(floor(v / span), 2.0) == 0;
       padding == 0 ? u :
         clamp(padding == 1 ? u : align && n == 1 ? u * 0 : where(e, r + low, span + low - r), 0, n - 1))"sv},
    {.rule = R"($grid_sample(input, x, y, share):
       c = size(input, 1);
       h = size(input, 2);
       w = size(input, 3);
       m = logical_and(logical_and(x >= 0, x <= w - 1), logical_and(y >= 0, y <= h - 1));
       i = cast(where(m, y, 0.0), int64) * w + cast(where(m, x, 0.0), int64);
       n = size(x, 0);
       k = size(x, 1) * size(x, 2);
       g = gather(reshape(input, [n, c, h * w]), 2, expand(view(i, [n, 1, k]), [n, c, k]));
       v = view(g, [n, c, size(x, 1), size(x, 2)]);
       share == none ? where(unsqueeze(m, 1), v, 0.0) : where(unsqueeze(m, 1), v * unsqueeze(share, 1), 0.0))"sv},
    {.rule = R"($ticks(n, align, t):
       align ? $linspace(-1.0, 1.0, n, t) : $linspace(-1.0, 1.0, n, t) * ((float(n) - 1) / float(n)))"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts resizing_facts[] = {
    // clang-format off
    {.name = "aten.upsample_bilinear2d"sv, .range = RangeBound::maximum, .keeps_nonfinite = true},
    {.name = "aten.upsample_nearest2d"sv, .range = RangeBound::maximum, .keeps_nonfinite = true},
    {.name = "aten.grid_sampler"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.grid_sampler_2d"sv, .keeps_nonfinite = true},
    // clang-format on
};

/// One dimension of linear resizing, as torch's _upsample_linear writes it: between the elements below and above.
inline constexpr PatternRow linear_step{
    .pattern = R"(add.Tensor(a, mul.Tensor(sub.Tensor(b, a), w)) if tensor(a) && tensor(b) && tensor(w))"sv};

}  // namespace davit::operator_families

// how calls are read
namespace davit::operators {

/// What an output element is made of: the nearest input element, or a weighted sum of its neighbours along each axis.
enum class ResizeFunction : std::uint8_t {
  nearest,
  nearest_exact,
  linear,
  linear_by_difference,  ///< a + (b - a) * w, as decomposed programs compute it: of two infinities NaN
  cubic,
  smooth_linear,  ///< with antialiasing
  smooth_cubic,
};

/// One of ATen's. `.vec`: input, output_size, align_corners if it has it, scale_factors, one of sizes and factors;
/// `.default`: self, output_size, align_corners, and a scale for each dimension.
struct ResizeOperator {
  const char* target;
  ResizeFunction function = ResizeFunction::nearest;
  std::size_t dims = 2;
  bool by_sizes = false;  ///< `.default`
  [[nodiscard]] constexpr bool has_corners() const noexcept {
    return function != ResizeFunction::nearest && function != ResizeFunction::nearest_exact;
  }
  [[nodiscard]] constexpr Parameter factors() const noexcept { return {"scale_factors", has_corners() ? 3u : 2u}; }
  [[nodiscard]] constexpr Parameter scale(std::size_t d) const noexcept {
    constexpr const char* names[] = {"scales_d", "scales_h", "scales_w"};
    return {dims == 1 ? "scales" : names[3 - dims + d], static_cast<std::uint32_t>((has_corners() ? 3u : 2u) + d)};
  }
};

inline constexpr std::array resize_operators{
    ResizeOperator{"aten.upsample_nearest2d.vec"},
    ResizeOperator{"aten.upsample_bilinear2d.vec", ResizeFunction::linear},
    ResizeOperator{"aten.upsample_bilinear2d.lerp", ResizeFunction::linear_by_difference, 2, true},
    ResizeOperator{"aten.upsample_bicubic2d.vec", ResizeFunction::cubic},
    ResizeOperator{"aten.upsample_bicubic2d.default", ResizeFunction::cubic, 2, true},
    ResizeOperator{"aten._upsample_bilinear2d_aa.vec", ResizeFunction::smooth_linear},
    ResizeOperator{"aten._upsample_bilinear2d_aa.default", ResizeFunction::smooth_linear, 2, true},
    ResizeOperator{"aten._upsample_bicubic2d_aa.vec", ResizeFunction::smooth_cubic},
    ResizeOperator{"aten._upsample_bicubic2d_aa.default", ResizeFunction::smooth_cubic, 2, true},
    ResizeOperator{"aten._upsample_nearest_exact1d.vec", ResizeFunction::nearest_exact, 1},
    ResizeOperator{"aten._upsample_nearest_exact1d.default", ResizeFunction::nearest_exact, 1, true},
    ResizeOperator{"aten._upsample_nearest_exact2d.vec", ResizeFunction::nearest_exact, 2},
    ResizeOperator{"aten._upsample_nearest_exact2d.default", ResizeFunction::nearest_exact, 2, true},
    ResizeOperator{"aten._upsample_nearest_exact3d.vec", ResizeFunction::nearest_exact, 3},
    ResizeOperator{"aten._upsample_nearest_exact3d.default", ResizeFunction::nearest_exact, 3, true},
};

}  // namespace davit::operators
