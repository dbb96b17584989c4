// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Sampling of images at the points of grids and regions, and the operators of torchvision.
inline constexpr OperatorRow sampling[] = {
    // clang-format off
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

    // what the rules above share
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

/// What holds for all overloads.
inline constexpr OperatorFacts sampling_facts[] = {
    // clang-format off
    {.name = "aten.grid_sampler"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.grid_sampler_2d"sv, .keeps_nonfinite = true},
    // clang-format on
};

}  // namespace davit::operator_families
