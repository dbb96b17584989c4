// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/backends/portable/static/embed_fill.hpp"
#include "davit/backends/portable/static/embed_index.hpp"
#include "davit/kernels/resize_axis.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/resize.hpp"

/// What writes a part of a tensor, pads it, or reads it in another order, of portable's static face.
namespace davit::static_lowering {

struct linear_resize {
  using Params = sf::LinearResize;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x, const std::int32_t* taps,
                                                   const float* shares) noexcept {
    sf::linear_resize(p, x, taps, shares, y);
  }
};
struct tap_resize {
  using Params = sf::TapResize;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x, const std::int32_t* taps,
                                                   const float* weights) noexcept {
    sf::tap_resize(p, x, taps, weights, y);
  }
};
struct table_copy {
  using Params = sf::TableCopy;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& p, T* y, const T* x, const std::int32_t* offsets) noexcept {
    sf::table_copy(p, x, offsets, y);
  }
};

/// slice_scatter and select_scatter.
constexpr const char* embed_slice_scatter(const EmbedNode& n, StepWriter& steps) {
  operators::SliceView v;
  if (const operators::Refusal wrong = operators::read_slice(n, v)) return wrong.what;
  if (const char* why = not_movable(n, v.input)) return why;
  if (n.g.dtype(v.source) != n.g.dtype(v.input)) return "its source has another element type";
  const std::uint32_t rank = n.g.rank(v.input);
  if (n.g.rank(v.source) + (v.selects ? 1 : 0) != rank) return "its source has another number of dimensions";
  const std::vector<std::int64_t> from = strides_of(n.g, v.source), to = strides_of(n.g, v.input);
  sf::StridedCopy copy;
  copy.to = int32(v.start * to[v.dim]);
  for (std::size_t d = 0, s = 0; d < rank; ++d) {
    if (v.selects && d == v.dim) continue;
    if (const std::int64_t size = d == v.dim ? v.length : n.size(v.input, d); size >= 0 && n.size(v.source, s) != size)
      return "its source does not have the sizes of the part";
    if (!copy.push(n.size(v.source, s), from[s], to[d] * (d == v.dim ? v.step : 1))) return too_many_dims;
    ++s;
  }
  write_whole(n, steps, v.input);
  if (n.g.numel(v.source) != 0) steps.step<strided_copy>(copy).out(n.output()).in(v.source);
  return nullptr;
}
/// constant_pad_nd of any type; negative padding cuts off.
constexpr const char* embed_any_pad(const EmbedNode& n, StepWriter& steps) {
  operators::PadView v;
  if (const operators::Refusal wrong = operators::read_pad(n, v)) return wrong.what;
  const ValueId x = v.input;
  if (const char* why = not_movable(n, x)) return why;
  const ScalarType type = n.g.dtype(x);
  if (!is_computed(type)) return "elements of this type are not computed with";
  const std::vector<std::int64_t> from = strides_of(n.g, x), to = strides_of(n.g, n.output());
  sf::StridedCopy copy;
  bool pads = false, moves = true;
  for (std::size_t d = 0; d < v.rank; ++d) {
    const std::int64_t before = v.before[d], after = v.after[d];
    const std::int64_t kept = n.size(x, d) + (before < 0 ? before : 0) + (after < 0 ? after : 0);
    moves = moves && kept > 0;
    pads = pads || before > 0 || after > 0;
    copy.from += int32(before < 0 ? -before * from[d] : 0);
    copy.to += int32(before > 0 ? before * to[d] : 0);
    if (moves && !copy.push(kept, from[d], to[d])) return too_many_dims;
  }
  if (!pads) return write_copy(n, steps, x, copy);
  MappedOperand number;
  number.real = v.value;
  number.integer = static_cast<std::int64_t>(v.value > -0x1p62 && v.value < 0x1p62 ? v.value : 0);
  steps.step<sequence>({int32(n.g.numel(n.output())), number.param(type), {}}).out(n.output());
  if (moves) steps.step<strided_copy>(copy).out(n.output()).in(x);
  return nullptr;
}
/// copy: the source as elements of the output's type and sizes.
constexpr const char* embed_copy(const EmbedNode& n, StepWriter& steps) {
  const ValueId source = n.value({"src", 1}), y = n.output();
  if (source == no_id || y == no_id) return "an operand is missing";
  if (const char* why = not_walkable(n, {source})) return why;
  if (!is_computed(n.g.dtype(source)) || !is_computed(n.g.dtype(y))) return "elements of this type are not converted";
  const ReadAs read = read_as(n, steps, source, n.g.dtype(y));
  sf::StridedCopy copy;
  const std::vector<std::int64_t> to = strides_of(n.g, y);
  for (std::uint32_t d = 0; d < to.size(); ++d)
    if (!copy.push(n.g.size(y, d), walked_stride(n.g, source, d, n.g.rank(y)), to[d])) return too_many_dims;
  StepOperands step = steps.step<strided_copy>(copy);
  step.out(y);
  read.to(step);
  return nullptr;
}
/// unfold: windows of a dimension, as a last one.
constexpr const char* embed_unfold(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0});
  if (const char* why = not_movable(n, x)) return why;
  std::size_t dim = 0;
  std::int64_t step = 1;
  if (const operators::Refusal wrong = operators::read_dim(n, {"dimension", 1}, n.g.rank(x), dim)) return wrong.what;
  if (!operators::read_integer(n, {"step", 3}, 1, step)) return "a number is not known";
  std::vector<std::int64_t> from = strides_of(n.g, x);
  from.push_back(from[dim]);
  from[dim] *= step;
  const std::vector<std::int64_t> to = strides_of(n.g, n.output());
  sf::StridedCopy copy;
  for (std::size_t d = 0; d < to.size(); ++d)
    if (!copy.push(n.size(n.output(), d), from[d], to[d])) return too_many_dims;
  return write_copy(n, steps, x, copy);
}

/// A copy of which dimension d of the output reads place(d, i) of the input.
template <class Place>
constexpr const char* write_table_copy(const EmbedNode& n, StepWriter& steps, ValueId x, Place&& place) {
  const std::vector<std::int64_t> from = strides_of(n.g, x);
  sf::TableCopy p;
  std::vector<std::int32_t> offsets;
  for (std::size_t d = 0; d < from.size(); ++d) {
    const std::int64_t size = n.size(n.output(), d);
    if (size == 1 && n.size(x, d) == 1) continue;
    if (p.rank == sf::TableCopy::max_rank) return too_many_dims;
    p.sizes[static_cast<std::size_t>(p.rank++)] = int32(size);
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t at = place(d, i);
      if (at < 0 || at >= n.size(x, d)) return "it reads outside its input";
      offsets.push_back(int32(at * from[d]));
    }
  }
  if (p.rank == 0) {
    steps.alias(n.output(), x);
    return nullptr;
  }
  steps.step<table_copy>(p).out(n.output()).in(x).table<std::int32_t>(offsets);
  return nullptr;
}
constexpr const char* embed_flip(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0});
  if (const char* why = not_movable(n, x)) return why;
  std::uint32_t dims = 0;
  if (n.count("dims") == 0 || n.g.rank(x) == 0) return embed_view(n, steps);
  if (const operators::Refusal wrong = operators::read_dims(n, {"dims", 1}, n.g.rank(x), dims)) return wrong.what;
  return write_table_copy(
      n, steps, x, [&](std::size_t d, std::int64_t i) { return (dims >> d & 1u) != 0 ? n.size(x, d) - 1 - i : i; });
}
/// reflection_pad and replication_pad.
template <bool Reflects>
constexpr const char* embed_edge_pad(const EmbedNode& n, StepWriter& steps) {
  operators::PadView v;
  if (const operators::Refusal wrong = operators::read_pads(n, "padding", v)) return wrong.what;
  if (const char* why = not_movable(n, v.input)) return why;
  if (v.rank != n.g.rank(n.output())) return "its padding does not fit";
  return write_table_copy(n, steps, v.input, [&](std::size_t d, std::int64_t i) {
    const std::int64_t at = i - v.before[d];
    const std::int64_t last = n.size(v.input, d) - 1;
    if (Reflects) return at < 0 ? -at : at > last ? 2 * last - at : at;
    return at < 0 ? 0 : at > last ? last : at;
  });
}
/// The axes along which images are resized.
constexpr const char* read_axes(const EmbedNode& n, operators::ResizeView& v,
                                std::array<kernels::ResizeAxis, 3>& axes) {
  if (const operators::Refusal wrong = operators::read_resize(n, v)) return wrong.what;
  if (const char* why = not_movable(n, v.input)) return why;
  if (n.g.rank(n.output()) != v.dims + 2) return "its result has other dimensions than it resizes";
  for (std::size_t d = 0; d < v.dims; ++d) axes[d] = {n.size(v.input, d + 2), n.size(n.output(), d + 2), v.factor[d]};
  return nullptr;
}
constexpr const char* embed_upsample_nearest(const EmbedNode& n, StepWriter& steps) {
  operators::ResizeView v;
  std::array<kernels::ResizeAxis, 3> axes{};
  if (const char* why = read_axes(n, v, axes)) return why;
  const bool exact = v.function == operators::ResizeFunction::nearest_exact;
  return write_table_copy(n, steps, v.input, [&](std::size_t d, std::int64_t i) {
    return d < 2 ? i : exact ? axes[d - 2].nearest_exact<float>(i) : axes[d - 2].nearest<float>(i);
  });
}
constexpr const char* embed_upsample_bilinear(const EmbedNode& n, StepWriter& steps) {
  operators::ResizeView v;
  std::array<kernels::ResizeAxis, 3> axes{};
  if (const char* why = read_axes(n, v, axes)) return why;
  if (const char* why = not_float(n, v.input)) return why;
  std::vector<std::int32_t> taps;
  std::vector<float> shares;
  for (const kernels::ResizeAxis& axis : std::span(axes).first(2)) {
    std::vector<std::int32_t> seconds;
    for (std::int64_t i = 0; i < axis.out; ++i) {
      const kernels::LinearTap<float> tap(axis, axis.step<float>(v.aligned), i, v.aligned);
      taps.push_back(int32(tap.first));
      seconds.push_back(int32(tap.second));
      shares.push_back(tap.of_second);
    }
    taps.insert(taps.end(), seconds.begin(), seconds.end());
  }
  const sf::LinearResize p{int32(n.g.size(v.input, 0) * n.g.size(v.input, 1)),
                           int32(axes[0].in),
                           int32(axes[1].in),
                           int32(axes[0].out),
                           int32(axes[1].out),
                           v.function == operators::ResizeFunction::linear_by_difference ? 1 : 0};
  steps.step<linear_resize>(p).out(n.output()).in(v.input).table<std::int32_t>(taps).table<float>(shares);
  return nullptr;
}
constexpr const char* embed_upsample_by_taps(const EmbedNode& n, StepWriter& steps) {
  operators::ResizeView v;
  std::array<kernels::ResizeAxis, 3> axes{};
  if (const char* why = read_axes(n, v, axes)) return why;
  if (const char* why = not_float(n, v.input)) return why;
  const kernels::ResizeFilter filter{v.function != operators::ResizeFunction::smooth_linear,
                                     v.function != operators::ResizeFunction::cubic};
  sf::TapResize p{int32(n.g.size(v.input, 0) * n.g.size(v.input, 1)), int32(axes[0].in), int32(axes[1].in),
                  int32(axes[0].out), int32(axes[1].out)};
  std::vector<std::int32_t> table;
  std::vector<float> weights;
  for (const kernels::ResizeAxis& axis : std::span(axes).first(2)) {
    const kernels::ResizeTaps<float> taps(axis, filter, v.aligned);
    const std::int64_t most = taps.most(axis.in + 4);
    (&axis == axes.data() ? p.rows : p.columns) = int32(most);
    std::vector<std::int64_t> elements(static_cast<std::size_t>(most), 0);
    std::vector<float> own(static_cast<std::size_t>(most), 0.0f);
    for (std::int64_t i = 0; i < axis.out; ++i) {
      table.push_back(int32(taps.write(i, most, elements.data(), own.data())));
      for (const std::int64_t e : elements) table.push_back(int32(e));
      weights.insert(weights.end(), own.begin(), own.end());
    }
  }
  steps.step<tap_resize>(p).out(n.output()).in(v.input).table<std::int32_t>(table).table<float>(weights);
  return nullptr;
}

using part_kernels = kernel_list<table_copy, linear_resize, tap_resize>;

inline constexpr std::array part_rows{
    EmbedRow{"aten.slice_scatter.default", embed_slice_scatter},
    EmbedRow{"aten.select_scatter.default", embed_slice_scatter},
    EmbedRow{"aten.constant_pad_nd.default", embed_any_pad},
    EmbedRow{"aten.copy.default", embed_copy},
    EmbedRow{"aten.unfold.default", embed_unfold},
    EmbedRow{"aten.flip.default", embed_flip},
    EmbedRow{"aten.reflection_pad1d.default", embed_edge_pad<true>},
    EmbedRow{"aten.reflection_pad2d.default", embed_edge_pad<true>},
    EmbedRow{"aten.replication_pad2d.default", embed_edge_pad<false>},
    EmbedRow{"aten.upsample_nearest2d.vec", embed_upsample_nearest},
    EmbedRow{"aten.upsample_bilinear2d.lerp", embed_upsample_bilinear},
    EmbedRow{"aten.upsample_bilinear2d.vec", embed_upsample_bilinear},
    EmbedRow{"aten.upsample_bicubic2d.default", embed_upsample_by_taps},
    EmbedRow{"aten.upsample_bicubic2d.vec", embed_upsample_by_taps},
    EmbedRow{"aten._upsample_bilinear2d_aa.default", embed_upsample_by_taps},
    EmbedRow{"aten._upsample_bilinear2d_aa.vec", embed_upsample_by_taps},
    EmbedRow{"aten._upsample_bicubic2d_aa.default", embed_upsample_by_taps},
    EmbedRow{"aten._upsample_bicubic2d_aa.vec", embed_upsample_by_taps},
    EmbedRow{"aten._upsample_nearest_exact1d.default", embed_upsample_nearest},
    EmbedRow{"aten._upsample_nearest_exact1d.vec", embed_upsample_nearest},
    EmbedRow{"aten._upsample_nearest_exact2d.default", embed_upsample_nearest},
    EmbedRow{"aten._upsample_nearest_exact2d.vec", embed_upsample_nearest},
    EmbedRow{"aten._upsample_nearest_exact3d.default", embed_upsample_nearest},
    EmbedRow{"aten._upsample_nearest_exact3d.vec", embed_upsample_nearest},
};

}  // namespace davit::static_lowering
