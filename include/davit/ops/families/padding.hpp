// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Padding.
inline constexpr OperatorRow padding[] = {
    // clang-format off
    {.rule = R"(aten._pad_circular.default(self, pad):
       fold(a: self; i in range(0, len(pad) // 2): $wrap_pad(a, rank(self) - 1 - i, pad[2 * i], pad[2 * i + 1])))"sv},
    {.rule = R"(aten._pad_enum.default(self, pad, mode, value=none):
       pad(self, pad, mode == 0 ? 'constant' : mode == 1 ? 'reflect' : mode == 2 ? 'replicate' : 'circular',
           value))"sv},
    {.schema = "aten.constant_pad_nd.default(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor"sv},
    {.rule = R"(aten.pad.default(self, pad, mode='constant', value=none):
       n = len(pad) // 2;
       mode == 'constant' ? constant_pad_nd(self, pad, value == none ? 0 : value) :
         mode == 'circular' ? _pad_circular(self, pad) :
         mode == 'reflect' ? (n == 1 ? reflection_pad1d(self, pad) : n == 2 ? reflection_pad2d(self, pad) :
           reflection_pad3d(self, pad)) :
         n == 1 ? replication_pad1d(self, pad) :
         n == 2 ? replication_pad2d(self, pad) :
         replication_pad3d(self, pad))"sv},
    {.rule = R"(aten.pad_sequence.default(sequences, batch_first=false, padding_value=0.0, padding_side='right'):
       l = fold(a: 0; t in sequences: max(a, size(t, 0)));
       stack([t in sequences: $lengthened(t, l - size(t, 0), padding_side == 'left', padding_value)],
           batch_first ? 0 : 1))"sv},
    {.schema = "aten.reflection_pad1d.default(Tensor self, SymInt[2] padding) -> Tensor"sv},
    {.rule = R"(aten.reflection_pad1d_backward.default(grad_output, self, padding):
       $unpadded(grad_output, self, 1, reflection_pad1d($places(self, 1), padding,
           sizes=[1] + dims(grad_output)[rank(self) - 1:], as=float64)))"sv},
    {.schema = "aten.reflection_pad2d.default(Tensor self, SymInt[4] padding) -> Tensor"sv},
    {.rule = R"(aten.reflection_pad2d_backward.default(grad_output, self, padding):
       $unpadded(grad_output, self, 2, reflection_pad2d($places(self, 2), padding,
           sizes=[1] + dims(grad_output)[rank(self) - 2:], as=float64)))"sv},
    {.schema = "aten.reflection_pad3d.default(Tensor self, SymInt[6] padding) -> Tensor"sv,
     .rule = R"(aten.reflection_pad3d.default(self, padding)!: $pad_volume(self, padding, true))"sv},
    {.rule = R"(aten.reflection_pad3d_backward.default(grad_output, self, padding):
       $unpadded(grad_output, self, 3, reflection_pad3d($places(self, 3), padding,
           sizes=[1] + dims(grad_output)[rank(self) - 3:], as=float64)))"sv},
    {.rule = R"(aten.replication_pad1d.default(self, padding):
       squeeze.dims(replication_pad2d(unsqueeze(self, -2), padding + [0, 0], sizes=out[:-1] + [1, out[-1]], as=outtype),
           [-2]))"sv},
    {.rule = R"(aten.replication_pad1d_backward.default(grad_output, self, padding):
       $unpadded(grad_output, self, 1, replication_pad1d($places(self, 1), padding,
           sizes=[1] + dims(grad_output)[rank(self) - 1:], as=float64)))"sv},
    {.schema = "aten.replication_pad2d.default(Tensor self, SymInt[4] padding) -> Tensor"sv},
    {.rule = R"(aten.replication_pad2d_backward.default(grad_output, self, padding):
       $unpadded(grad_output, self, 2, replication_pad2d($places(self, 2), padding,
           sizes=[1] + dims(grad_output)[rank(self) - 2:], as=float64)))"sv},
    {.schema = "aten.replication_pad3d.default(Tensor self, SymInt[6] padding) -> Tensor"sv,
     .rule = R"(aten.replication_pad3d.default(self, padding)!: $pad_volume(self, padding, false))"sv},
    {.rule = R"(aten.replication_pad3d_backward.default(grad_output, self, padding):
       $unpadded(grad_output, self, 3, replication_pad3d($places(self, 3), padding,
           sizes=[1] + dims(grad_output)[rank(self) - 3:], as=float64)))"sv},

    // shared sub-rules
    {.rule = R"($lengthened(x, n, left, value):
       constant_pad_nd(x, [i in range(0, 2 * (rank(x) - 1)): 0] + (left ? [n, 0] : [0, n]), value))"sv},
    {.rule = R"($pad_plane(x, p, mirror, s):
       mirror ? reflection_pad2d(x, p, sizes=s, as=dtype(x)) : replication_pad2d(x, p, sizes=s, as=dtype(x)))"sv},
    {.rule = R"($pad_volume(x, p, mirror):
       s = sizes(x);
       o = out;
       k = rank(x);
       n = product(s[:k - 3]);
       y = $pad_plane(view(x, [n, s[k - 3], s[k - 2], s[k - 1]]), p[:4], mirror, [n, s[k - 3], o[k - 2], o[k - 1]]);
       view($pad_plane(view(y, [n, 1, s[k - 3], o[k - 2] * o[k - 1]]), [0, 0] + p[4:], mirror,
           [n, 1, o[k - 3], o[k - 2] * o[k - 1]]), o))"sv},
    {.rule = R"($places(x, n):
       s = sizes(x)[rank(x) - n:];
       cast(view(arange.start_step(0, product(s)), [1] + s), float64))"sv},
    {.rule = R"($unpadded(g, x, n, places):
       b = sizes(x)[:rank(x) - n];
       $spread_back(g, b + [product(sizes(x)[rank(x) - n:])], n, places, sizes(x)))"sv},
    {.rule = R"($wrap_pad(x, d, l, r):
       n = size(x, d);
       m = l < 0 || r < 0 ? slice.Tensor(x, d, l < 0 ? -l : 0, r < 0 ? n + r : n) : x;
       k = size(m, d);
       l <= 0 && r <= 0 ? m :
         cat(compact([l > 0 ? slice.Tensor(m, d, k - l, k) : none, m, r > 0 ? slice.Tensor(m, d, 0, r) : none]),
           d))"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts padding_facts[] = {
    // clang-format off
    {.name = "aten.constant_pad_nd"sv, .shape = ShapeRule::padded, .range = RangeBound::maximum,
     .keeps_nonfinite = true, .data_movement = true},
    {.name = "aten.reflection_pad1d"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.reflection_pad2d"sv, .range = RangeBound::maximum, .keeps_nonfinite = true,
     .autocast = AutocastPolicy::full},
    {.name = "aten.replication_pad1d"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.replication_pad2d"sv, .range = RangeBound::maximum, .keeps_nonfinite = true,
     .autocast = AutocastPolicy::full},
    {.name = "aten.replication_pad3d"sv, .autocast = AutocastPolicy::full},
    // clang-format on
};

}  // namespace davit::operator_families
