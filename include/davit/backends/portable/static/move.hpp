// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "davit/backends/portable/static/elementwise_lowering.hpp"
#include "davit/backends/portable/static/packs.hpp"
#include "davit/backends/portable/static/walk.hpp"
#include "davit/core/error.hpp"
#include "davit/core/next_index.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/reduction.hpp"

/// Data movement for elements of any type.
namespace davit::static_kernels {

/// A copy between strided tensors: permute, slice, select, expand, one operand of cat.
struct StridedCopy {
  std::int32_t from = 0, to = 0;  ///< the first elements
  Walk<2> walk{};

  /// Adds an innermost dimension; false if there are too many.
  constexpr bool push(std::int64_t size, std::int64_t from_stride, std::int64_t to_stride) noexcept {
    return walk.push(size, {from_stride, to_stride});
  }
};

/// Copies elements; sizes must not be 0. O(numel). Source: at::copy_.
struct strided_copy {
  using Params = StridedCopy;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* x) noexcept {
    const Params& p = numbers_of(params);
    x += p.from;
    y += p.to;
    detail::walk_rows(
        p.walk, [&](const std::array<Index, 2>& at, Index count, std::size_t inner) __attribute__((always_inline)) {
          const Index from_stride = p.walk.strides[0][inner], to_stride = p.walk.strides[1][inner];
          if !consteval {
            if (from_stride == 1 && to_stride == 1) {
              std::memcpy(y + at[1], x + at[0], static_cast<std::size_t>(count) * sizeof(T));
              return;
            }
          }
          for (Index i = 0; i < count; ++i) y[at[1] + i * to_stride] = x[at[0] + i * from_stride];
        });
  }
};

/// A copy with a table of offsets per dimension, of `sizes[d]` entries, one table after the other: y[i, j, ...] =
/// x[offsets_0[i] + offsets_1[j] + ...]. O(elements of y). Source: at::flip, at::reflection_pad2d.
struct table_copy {
  static constexpr std::int32_t max_rank = 6;
  struct Params {
    std::int32_t rank = 0;
    std::array<std::int32_t, max_rank> sizes{};
  };
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* x,
                                                   const std::int32_t* offsets) noexcept {
    const Params& p = numbers_of(params);
    std::array<std::int32_t, max_rank> index{};
    const auto inner = static_cast<std::size_t>(p.rank - 1);
    do {
      Index at = 0;
      const std::int32_t* table = offsets;
      for (std::size_t d = 0; d < inner; table += p.sizes[d++]) at += table[index[d]];
      for (Index i = 0; i < p.sizes[inner]; ++i) *y++ = x[at + table[i]];
    } while (next_index(inner, index, p.sizes));
  }
};

/// y[i] = row indices[i] of a table of any type. Errors: out_of_range for an index outside [0, rows). O(count *
/// length). Source: at::embedding.
struct embedding {
  struct Params {
    std::int32_t count = 0, rows = 0, length = 0;
  };
  template <class P, class T, class I>
  [[nodiscard, gnu::always_inline]] static constexpr ErrorCode run(const P& params, T* y, const T* table,
                                                                   const I* indices) noexcept {
    const Params& p = numbers_of(params);
    for (Index i = 0; i < p.count; ++i, y += p.length) {
      if (indices[i] < 0 || indices[i] >= p.rows) return ErrorCode::out_of_range;
      const T* row = table + static_cast<Index>(indices[i]) * p.length;
      if constexpr (std::is_same_v<T, float>)
        for_packs<false>(p.length,
                         [&]<Index N>(Index k) __attribute__((always_inline)) { store<N>(y + k, load<N>(row + k)); });
      else
        for (Index k = 0; k < p.length; ++k) y[k] = row[k];
    }
    return ErrorCode::ok;
  }
};

}  // namespace davit::static_kernels

/// Static lowering of views, copies, padding and tables of rows.
namespace davit::static_lowering {

/// A view in other sizes.
constexpr const char* lower_view(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value(n.argument("self") != nullptr ? "self" : "input");
  if (x == no_id || n.output() == no_id) return "an operand is missing";
  if (n.g.dtype(x) != n.g.dtype(n.output())) return "it changes the element type";
  if (n.g.numel(x) != n.g.numel(n.output())) return "it changes the number of elements";
  steps.alias(n.output(), x);
  return nullptr;
}
constexpr const char* lower_dropout(const EmbedNode& n, StepWriter& steps) {
  return n.flag("train") ? "it trains" : lower_view(n, steps);
}

/// Reason why a call cannot be read as `view`, or why its input cannot be moved; nullptr if there is none.
template <class View>
[[nodiscard]] constexpr const char* not_movable(const EmbedNode& n, operators::Refusal wrong,
                                                const View& view) noexcept {
  return wrong ? wrong.what : not_movable(n, view.input);
}

/// Writes a walk over `x`, or an alias if the walk meets every element in order.
constexpr const char* write_copy(const EmbedNode& n, StepWriter& steps, ValueId x, const sf::StridedCopy& copy) {
  const bool in_order =
      copy.from == 0 && (copy.walk.rank == 0 || (copy.walk.rank == 1 && copy.walk.strides[0][0] == 1));
  if (in_order && n.g.numel(x) == n.g.numel(n.output())) {
    steps.alias(n.output(), x);
  } else {
    steps.step<sf::strided_copy>(copy).out(n.output()).in(x);
  }
  return nullptr;
}
constexpr const char* lower_permute(const EmbedNode& n, StepWriter& steps) {
  operators::PermutationView v;
  if (const char* why = not_movable(n, operators::read_permutation(n, v), v)) return why;
  const ValueId x = v.input;
  const std::vector<std::int64_t> from = strides_of(n.g, x), to = strides_of(n.g, n.output());
  sf::StridedCopy copy;
  for (std::size_t d = 0; d < v.rank; ++d)
    if (!copy.push(n.size(n.output(), d), from[v.from[d]], to[d])) return too_many_dims;
  return write_copy(n, steps, x, copy);
}
constexpr const char* lower_expand(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value("self");
  if (const char* why = not_movable(n, x)) return why;
  const std::vector<std::int64_t> from = strides_of(n.g, x), to = strides_of(n.g, n.output());
  const std::uint32_t added = n.g.rank(n.output()) - n.g.rank(x);
  sf::StridedCopy copy;
  for (std::uint32_t d = 0; d < to.size(); ++d) {
    const bool repeats = d < added || n.g.size(x, d - added) == 1;
    if (!copy.push(n.g.size(n.output(), d), repeats ? 0 : from[d - added], to[d])) return too_many_dims;
  }
  return write_copy(n, steps, x, copy);
}
/// slice.Tensor and select.int.
constexpr const char* lower_slice(const EmbedNode& n, StepWriter& steps) {
  operators::SliceView v;
  if (const char* why = not_movable(n, operators::read_slice(n, v), v)) return why;
  const ValueId x = v.input;
  const std::vector<std::int64_t> from = strides_of(n.g, x), to = strides_of(n.g, n.output());
  sf::StridedCopy copy;
  copy.from = int32(v.start * from[v.dim]);
  for (std::size_t d = 0, o = 0; d < n.g.rank(x); ++d) {
    if (v.selects && d == v.dim) continue;
    if (!copy.push(n.size(n.output(), o), from[d] * (d == v.dim ? v.step : 1), to[o])) return too_many_dims;
    ++o;
  }
  return write_copy(n, steps, x, copy);
}
constexpr const char* lower_cat(const EmbedNode& n, StepWriter& steps) {
  if (n.output() == no_id) return "an operand is missing";
  const std::uint32_t rank = n.g.rank(n.output());
  std::size_t dim = 0;
  if (const operators::Refusal wrong = operators::read_cat(n, rank, dim)) return wrong.what;
  const std::vector<std::int64_t> to = strides_of(n.g, n.output());
  std::int64_t at = 0;
  for (const StaticArgument& item : n.items("tensors")) {
    const ValueId x = item.is_value() ? item.value() : no_id;
    if (const char* why = not_movable(n, x)) return why;
    if (n.g.rank(x) != rank) return "its tensors have different ranks";
    const std::vector<std::int64_t> from = strides_of(n.g, x);
    sf::StridedCopy copy;
    copy.to = int32(at * to[dim]);
    for (std::size_t d = 0; d < rank; ++d)
      if (!copy.push(n.size(x, d), from[d], to[d])) return too_many_dims;
    if (n.g.numel(x) != 0) steps.step<sf::strided_copy>(copy).out(n.output()).in(x);
    at += n.size(x, dim);
  }
  return nullptr;
}

/// Writes the output as a copy of `self`, in its memory if no later step reads it.
constexpr void write_copied(const EmbedNode& n, StepWriter& steps, ValueId self) {
  steps.step<sf::convert>({int32(n.g.numel(self))}).out(n.output()).in(self).overwrites(self);
}
/// slice_scatter and select_scatter.
constexpr const char* lower_slice_scatter(const EmbedNode& n, StepWriter& steps) {
  operators::SliceView v;
  if (const char* why = not_movable(n, operators::read_slice(n, v), v)) return why;
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
  write_copied(n, steps, v.input);
  if (n.g.numel(v.source) != 0) steps.step<sf::strided_copy>(copy).out(n.output()).in(v.source);
  return nullptr;
}
/// constant_pad_nd: a fill, then the elements; negative padding crops.
constexpr const char* lower_pad(const EmbedNode& n, StepWriter& steps) {
  operators::PadView v;
  if (const char* why = not_movable(n, operators::read_pad(n, v), v)) return why;
  const ValueId x = v.input;
  if (!is_computed(n.g.dtype(x))) return not_computed;
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
  if (const char* why = write_fill(n, steps, number_operand(v.value))) return why;
  if (moves) steps.step<sf::strided_copy>(copy).out(n.output()).in(x);
  return nullptr;
}
/// copy: the source, converted to the output's type and broadcast to its sizes.
constexpr const char* lower_copy(const EmbedNode& n, StepWriter& steps) {
  const ValueId source = n.value({"src", 1}), y = n.output();
  if (source == no_id || y == no_id) return "an operand is missing";
  if (const char* why = not_walkable(n, {source})) return why;
  if (!is_computed(n.g.dtype(source)) || !is_computed(n.g.dtype(y))) return "elements of this type are not converted";
  const ReadAs read = read_as(n, steps, source, n.g.dtype(y));
  sf::StridedCopy copy;
  const std::vector<std::int64_t> to = strides_of(n.g, y);
  for (std::uint32_t d = 0; d < to.size(); ++d)
    if (!copy.push(n.g.size(y, d), walked_stride(n.g, source, d, n.g.rank(y)), to[d])) return too_many_dims;
  StepOperands step = steps.step<sf::strided_copy>(copy);
  step.out(y);
  read.to(step);
  return nullptr;
}
/// unfold: windows along a dimension, in a new last dimension.
constexpr const char* lower_unfold(const EmbedNode& n, StepWriter& steps) {
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

/// A copy in which index i of dimension d of the output reads index place(d, i) of the input.
template <class Place>
constexpr const char* write_table_copy(const EmbedNode& n, StepWriter& steps, ValueId x, Place&& place) {
  const std::vector<std::int64_t> from = strides_of(n.g, x);
  sf::table_copy::Params p;
  std::vector<std::int32_t> offsets;
  for (std::size_t d = 0; d < from.size(); ++d) {
    const std::int64_t size = n.size(n.output(), d);
    if (size == 1 && n.size(x, d) == 1) continue;
    if (p.rank == sf::table_copy::max_rank) return too_many_dims;
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
  steps.step<sf::table_copy>(p).out(n.output()).in(x).table<std::int32_t>(offsets);
  return nullptr;
}
constexpr const char* lower_flip(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"self", 0});
  if (const char* why = not_movable(n, x)) return why;
  std::uint32_t dims = 0;
  if (n.count("dims") == 0 || n.g.rank(x) == 0) return lower_view(n, steps);
  if (const operators::Refusal wrong = operators::read_dims(n, {"dims", 1}, n.g.rank(x), dims)) return wrong.what;
  return write_table_copy(
      n, steps, x, [&](std::size_t d, std::int64_t i) { return (dims >> d & 1u) != 0 ? n.size(x, d) - 1 - i : i; });
}
/// reflection_pad and replication_pad.
template <bool Reflects>
constexpr const char* lower_edge_pad(const EmbedNode& n, StepWriter& steps) {
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
/// embedding: rows of a table.
constexpr const char* lower_embedding(const EmbedNode& n, StepWriter& steps) {
  const ValueId table = n.value({"weight", 0}), indices = n.value({"indices", 1});
  if (indices == no_id) return "an operand is missing";
  if (const char* why = not_movable(n, table)) return why;
  if (n.g.rank(table) != 2) return "its table is no matrix";
  if (n.g.dtype(indices) != ScalarType::int64 && n.g.dtype(indices) != ScalarType::int32)
    return "its indices are no int64 or int32";
  steps.step<sf::embedding>({int32(n.g.numel(indices)), int32(n.g.size(table, 0)), int32(n.g.size(table, 1))})
      .out(n.output())
      .in(table)
      .in(indices);
  return nullptr;
}

using move_kernels = kernel_list<sf::strided_copy, sf::table_copy, sf::embedding>;

inline constexpr std::array move_rows{
    EmbedRow{"aten.view.default", lower_view},
    EmbedRow{"aten._unsafe_view.default", lower_view},
    EmbedRow{"aten.view_copy.default", lower_view},
    EmbedRow{"aten.reshape.default", lower_view},
    EmbedRow{"aten.flatten.using_ints", lower_view},
    EmbedRow{"aten.unsqueeze.default", lower_view},
    EmbedRow{"aten.squeeze.default", lower_view},
    EmbedRow{"aten.squeeze.dim", lower_view},
    EmbedRow{"aten.squeeze.dims", lower_view},
    EmbedRow{"aten.clone.default", lower_view},
    EmbedRow{"aten.contiguous.default", lower_view},
    EmbedRow{"aten.alias.default", lower_view},
    EmbedRow{"aten.detach.default", lower_view},
    EmbedRow{"aten.lift_fresh_copy.default", lower_view},
    EmbedRow{"aten.dropout.default", lower_dropout},
    EmbedRow{"aten.permute.default", lower_permute},
    EmbedRow{"aten.transpose.int", lower_permute},
    EmbedRow{"aten.t.default", lower_permute},
    EmbedRow{"aten.expand.default", lower_expand},
    EmbedRow{"aten.slice.Tensor", lower_slice},
    EmbedRow{"aten.slice_copy.Tensor", lower_slice},
    EmbedRow{"aten.select.int", lower_slice},
    EmbedRow{"aten.cat.default", lower_cat},
    EmbedRow{"aten.constant_pad_nd.default", lower_pad},
    EmbedRow{"aten.embedding.default", lower_embedding},
    EmbedRow{"aten.slice_scatter.default", lower_slice_scatter},
    EmbedRow{"aten.select_scatter.default", lower_slice_scatter},
    EmbedRow{"aten.copy.default", lower_copy},
    EmbedRow{"aten.unfold.default", lower_unfold},
    EmbedRow{"aten.flip.default", lower_flip},
    EmbedRow{"aten.reflection_pad1d.default", lower_edge_pad<true>},
    EmbedRow{"aten.reflection_pad2d.default", lower_edge_pad<true>},
    EmbedRow{"aten.replication_pad2d.default", lower_edge_pad<false>},
};

}  // namespace davit::static_lowering
