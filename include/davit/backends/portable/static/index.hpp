// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "davit/backends/portable/static/computed.hpp"
#include "davit/backends/portable/static/move.hpp"
#include "davit/backends/portable/static/walk.hpp"
#include "davit/core/error.hpp"

/// Copies to and from elements that index tensors select, for any element type.
namespace davit::static_kernels {

/// A walk over an indexed tensor, another tensor (contiguous or strided) and N index tensors. Index k counts steps[k]
/// elements of the indexed tensor, and must be below `sizes[k]`; with `wraps`, negative indices count from the end.
template <std::size_t N>
struct Indexed {
  Walk<N + 2> walk{};  ///< indexed, other, indices
  std::array<std::int32_t, N> sizes{}, steps{};
  std::int32_t wraps = 0;
};

namespace detail {

/// Calls f(offset in the indexed tensor, offset in the other) for each position. Errors: out_of_range.
template <std::size_t N, class I, class F>
[[nodiscard, gnu::always_inline]] constexpr ErrorCode walk_indexed(const Indexed<N>& p,
                                                                   const std::array<const I*, N>& indices,
                                                                   F&& f) noexcept {
  ErrorCode code = ErrorCode::ok;
  walk_each(p.walk, [&](const std::array<Index, N + 2>& at) __attribute__((always_inline)) {
    Index indexed = at[0];
    for (std::size_t k = 0; k < N; ++k) {
      auto index = static_cast<std::int64_t>(indices[k][at[k + 2]]);
      if (index < 0 && p.wraps != 0) index += p.sizes[k];
      if (index < 0 || index >= p.sizes[k]) {
        code = ErrorCode::out_of_range;
        return;
      }
      indexed += static_cast<Index>(index) * p.steps[k];
    }
    f(indexed, at[1]);
  });
  return code;
}

}  // namespace detail

/// y[i] = x[indices[i]]. Errors: out_of_range for an index outside its dimension. O(indices). Source: at::index,
/// at::gather, at::index_select.
template <std::size_t N>
struct pick {
  using Params = Indexed<N>;
  template <class P, class T, class I, class... More>
  [[nodiscard, gnu::always_inline]] static constexpr ErrorCode run(const P& params, T* y, const T* x, const I* first,
                                                                   const More*... more) noexcept {
    return detail::walk_indexed<N, I>(numbers_of(params), {first, more...},
                                      [&](Index from, Index to) __attribute__((always_inline)) { y[to] = x[from]; });
  }
};

/// The `Op` that stores the new element.
struct Replace {
  template <class C>
  [[gnu::always_inline]] constexpr C operator()(C, C v) const noexcept {
    return v;
  }
};
/// y[indices[i]] = Op(y[indices[i]], x[i]); the other elements of y stay. Of several values for one element the last
/// one counts. Errors: out_of_range for an index outside its dimension. O(indices). Source: at::index_put, at::scatter,
/// at::scatter_add, at::scatter_reduce.
template <class Op, std::size_t N>
struct put {
  using Params = Indexed<N>;
  template <class P, class T, class X, class I, class... More>
  [[nodiscard, gnu::always_inline]] static constexpr ErrorCode run(const P& params, T* y, X* x, const I* first,
                                                                   const More*... more) noexcept {
    static_assert(std::is_same_v<std::remove_const_t<X>, T>);
    return detail::walk_indexed<N, I>(
        numbers_of(params), {first, more...}, [&](Index to, Index from) __attribute__((always_inline)) {
          if constexpr (std::is_same_v<Op, Replace>)
            y[to] = x[from];
          else
            y[to] = kernels::convert<T>(static_cast<Computed<T>>(Op{}(loaded(y[to]), loaded(x[from]))));
        });
  }
};

}  // namespace davit::static_kernels

/// Static lowering of copies to and from elements that index tensors select.
namespace davit::static_lowering {

inline constexpr std::size_t max_indices = 3;

/// The index tensors of a call, the dimensions that they index, and the walk.
struct IndexCall {
  ValueId indexed = no_id;
  std::array<ValueId, max_indices> indices{};
  std::array<std::size_t, max_indices> dims{};
  std::size_t count = 0;
  bool wraps = true;
};
/// The parameters of a call, before its walk is known.
template <std::size_t N>
[[nodiscard]] constexpr sf::Indexed<N> indexed_of(const EmbedNode& n, const IndexCall& call) {
  sf::Indexed<N> p;
  const std::vector<std::int64_t> strides = strides_of(n.g, call.indexed);
  for (std::size_t k = 0; k < N; ++k) {
    p.sizes[k] = int32(n.size(call.indexed, call.dims[k]));
    p.steps[k] = int32(strides[call.dims[k]]);
  }
  p.wraps = call.wraps ? 1 : 0;
  return p;
}
[[nodiscard]] constexpr const char* not_indices(const EmbedNode& n, const IndexCall& call) noexcept {
  const ScalarType type = n.g.dtype(call.indices[0]);
  if (type != ScalarType::int64 && type != ScalarType::int32) return "its indices are no int64 or int32";
  for (std::size_t k = 1; k < call.count; ++k)
    if (n.g.dtype(call.indices[k]) != type) return "its indices have different element types";
  return nullptr;
}

/// Reads the index list of index.Tensor and index_put.
constexpr const char* read_indices(const EmbedNode& n, IndexCall& call) {
  call.indexed = n.value({"self", 0});
  if (call.indexed == no_id || n.output() == no_id) return "an operand is missing";
  std::size_t dim = 0;
  for (const StaticArgument& item : n.items("indices")) {
    if (item.is_value()) {
      if (call.count == max_indices) return "it has more than 3 index tensors";
      call.indices[call.count] = item.value();
      call.dims[call.count++] = dim;
    } else if (item.kind != ArgumentKind::none) {
      return "an index is no tensor";
    }
    ++dim;
  }
  if (call.count == 0 || dim > n.g.rank(call.indexed)) return "it has no index tensors, or too many";
  return not_indices(n, call);
}
/// The dimensions of the selection: `before` dimensions of the indexed tensor, the broadcast dimensions of the indices,
/// then the others.
struct PickedShape {
  std::uint32_t before = 0, picked = 0;
};
constexpr PickedShape picked_shape(const EmbedNode& n, const IndexCall& call) noexcept {
  PickedShape shape;
  bool adjacent = true;
  for (std::size_t k = 0; k < call.count; ++k) {
    adjacent = adjacent && call.dims[k] == call.dims[0] + k;
    if (n.g.rank(call.indices[k]) > shape.picked) shape.picked = n.g.rank(call.indices[k]);
  }
  shape.before = adjacent ? static_cast<std::uint32_t>(call.dims[0]) : 0;
  return shape;
}
/// The walk of index.Tensor and index_put over the sizes of the selection; `other` broadcasts to them.
template <std::size_t N>
constexpr const char* walk_picked(const EmbedNode& n, const IndexCall& call, std::span<const std::int64_t> sizes,
                                  ValueId other, sf::Indexed<N>& p) {
  const PickedShape shape = picked_shape(n, call);
  const std::vector<std::int64_t> own = strides_of(n.g, call.indexed);
  std::vector<std::int64_t> kept;  // strides of dimensions without an index
  for (std::size_t d = 0; d < own.size(); ++d) {
    bool indexed = false;
    for (std::size_t k = 0; k < N; ++k) indexed = indexed || call.dims[k] == d;
    if (!indexed) kept.push_back(own[d]);
  }
  const auto rank = static_cast<std::uint32_t>(sizes.size());
  if (rank != kept.size() + shape.picked) return "its sizes do not fit";
  for (std::uint32_t d = 0; d < rank; ++d) {
    std::array<std::int64_t, N + 2> strides{};
    const bool picks = d >= shape.before && d < shape.before + shape.picked;
    if (!picks) strides[0] = kept[d < shape.before ? d : d - shape.picked];
    strides[1] = walked_stride(n.g, other, d, rank);
    if (picks)
      for (std::size_t k = 0; k < N; ++k)
        strides[k + 2] = walked_stride(n.g, call.indices[k], d - shape.before, shape.picked);
    if (!p.walk.push(sizes[d], strides)) return too_many_dims;
  }
  return nullptr;
}
[[nodiscard]] constexpr std::vector<std::int64_t> sizes_of(const EmbedGraph& g, ValueId v) {
  std::vector<std::int64_t> sizes;
  for (std::uint32_t d = 0; d < g.rank(v); ++d) sizes.push_back(g.size(v, d));
  return sizes;
}

template <std::size_t N>
constexpr void write_pick(const EmbedNode& n, StepWriter& steps, const IndexCall& call, const sf::Indexed<N>& p) {
  StepOperands step = steps.step<sf::pick<N>>(p);
  step.out(n.output()).in(call.indexed);
  for (std::size_t k = 0; k < N; ++k) step.in(call.indices[k]);
}
template <std::size_t N>
constexpr const char* write_index(const EmbedNode& n, StepWriter& steps, const IndexCall& call) {
  sf::Indexed<N> p = indexed_of<N>(n, call);
  if (const char* why = walk_picked<N>(n, call, sizes_of(n.g, n.output()), n.output(), p)) return why;
  write_pick<N>(n, steps, call, p);
  return nullptr;
}
constexpr const char* lower_index(const EmbedNode& n, StepWriter& steps) {
  IndexCall call;
  if (const char* why = read_indices(n, call)) return why;
  if (const char* why = not_movable(n, call.indexed)) return why;
  return call.count == 1   ? write_index<1>(n, steps, call)
         : call.count == 2 ? write_index<2>(n, steps, call)
                           : write_index<3>(n, steps, call);
}

/// Reads self, dim and index of gather, scatter and index_select.
constexpr const char* read_along(const EmbedNode& n, IndexCall& call, std::size_t& dim) {
  call = {.indexed = n.value({"self", 0}), .indices = {n.value({"index", 2})}, .count = 1, .wraps = false};
  if (call.indexed == no_id || call.indices[0] == no_id || n.output() == no_id) return "an operand is missing";
  std::int64_t number = 0;
  const StaticArgument* const a = n.find({"dim", 1});
  if (a == nullptr || !EmbedNode::read_integer(*a, number) || !wrap_dim(number, n.g.rank(call.indexed)))
    return "its dimension is not known";
  dim = static_cast<std::size_t>(number);
  call.dims[0] = dim;
  if (n.g.rank(call.indexed) == 0) return "it indexes a number";
  if (const char* why = not_movable(n, call.indexed)) return why;
  return not_indices(n, call);
}
constexpr const char* lower_index_select(const EmbedNode& n, StepWriter& steps) {
  IndexCall call;
  std::size_t dim = 0;
  if (const char* why = read_along(n, call, dim)) return why;
  if (n.g.rank(call.indices[0]) > 1) return "its index has more than one dimension";
  sf::Indexed<1> p = indexed_of<1>(n, call);
  const std::vector<std::int64_t> own = strides_of(n.g, call.indexed), to = strides_of(n.g, n.output());
  for (std::size_t d = 0; d < to.size(); ++d)
    if (!p.walk.push(n.size(n.output(), d), {d == dim ? 0 : own[d], to[d], d == dim ? 1 : 0})) return too_many_dims;
  write_pick<1>(n, steps, call, p);
  return nullptr;
}
/// The walk of gather and scatter over the index tensor; `other` is at least as large, or has one element.
constexpr const char* walk_along(const EmbedNode& n, const IndexCall& call, std::size_t dim, ValueId other,
                                 sf::Indexed<1>& p) {
  const ValueId index = call.indices[0];
  const std::uint32_t rank = n.g.rank(call.indexed);
  const bool repeats = other == no_id || n.g.numel(other) == 1;
  if (n.g.rank(index) != rank || (!repeats && n.g.rank(other) != rank))
    return "its index has another number of dimensions";
  if (n.g.numel(index) == 0) return "a tensor has no elements";
  p = indexed_of<1>(n, call);
  const std::vector<std::int64_t> own = strides_of(n.g, call.indexed), steps = strides_of(n.g, index);
  const std::vector<std::int64_t> others = strides_of(n.g, repeats ? index : other);
  for (std::uint32_t d = 0; d < rank; ++d)
    if (!p.walk.push(n.g.size(index, d), {d == dim ? 0 : own[d], repeats ? 0 : others[d], steps[d]}))
      return too_many_dims;
  return nullptr;
}
constexpr const char* lower_gather(const EmbedNode& n, StepWriter& steps) {
  IndexCall call;
  std::size_t dim = 0;
  sf::Indexed<1> p;
  if (const char* why = read_along(n, call, dim)) return why;
  if (const char* why = walk_along(n, call, dim, n.output(), p)) return why;
  write_pick<1>(n, steps, call, p);
  return nullptr;
}

template <class Op, std::size_t N>
constexpr const char* write_put(const EmbedNode& n, StepWriter& steps, const IndexCall& call, const sf::Indexed<N>& p,
                                ValueId values) {
  write_copied(n, steps, call.indexed);
  StepOperands step = steps.step<sf::put<Op, N>>(p);
  step.out(n.output()).in(values);
  for (std::size_t k = 0; k < N; ++k) step.in(call.indices[k]);
  return nullptr;
}
template <std::size_t N>
constexpr const char* write_index_put(const EmbedNode& n, StepWriter& steps, const IndexCall& call, ValueId values,
                                      bool adds) {
  const PickedShape shape = picked_shape(n, call);
  std::vector<std::int64_t> sizes;
  const auto kept = [&](std::size_t d) {
    for (std::size_t k = 0; k < N; ++k)
      if (call.dims[k] == d) return false;
    return true;
  };
  const auto push_picked = [&] {
    for (std::uint32_t d = 0; d < shape.picked; ++d) {
      std::int64_t size = 1;
      for (std::size_t k = 0; k < N; ++k) {
        const std::uint32_t rank = n.g.rank(call.indices[k]);
        if (d + rank >= shape.picked && n.g.size(call.indices[k], d + rank - shape.picked) != 1)
          size = n.g.size(call.indices[k], d + rank - shape.picked);
      }
      sizes.push_back(size);
    }
  };
  for (std::size_t d = 0; d < n.g.rank(call.indexed); ++d) {
    if (sizes.size() == shape.before && d >= shape.before && shape.picked != 0 &&
        sizes.size() < shape.before + shape.picked)
      push_picked();
    if (kept(d)) sizes.push_back(n.size(call.indexed, d));
  }
  if (n.g.rank(values) > sizes.size()) return "its values have too many dimensions";
  for (const std::int64_t size : sizes)
    if (size == 0) return "a tensor has no elements";
  sf::Indexed<N> p = indexed_of<N>(n, call);
  if (const char* why = walk_picked<N>(n, call, sizes, values, p)) return why;
  return adds ? write_put<sf::SumOf, N>(n, steps, call, p, values)
              : write_put<sf::Replace, N>(n, steps, call, p, values);
}
constexpr const char* lower_index_put(const EmbedNode& n, StepWriter& steps) {
  IndexCall call;
  if (const char* why = read_indices(n, call)) return why;
  const ValueId values = n.value({"values", 2});
  if (const char* why = not_movable(n, call.indexed)) return why;
  if (values == no_id || n.g.dtype(values) != n.g.dtype(call.indexed)) return "its values have another element type";
  const bool adds = n.flag("accumulate");
  return call.count == 1   ? write_index_put<1>(n, steps, call, values, adds)
         : call.count == 2 ? write_index_put<2>(n, steps, call, values, adds)
                           : write_index_put<3>(n, steps, call, values, adds);
}
/// Reads scatter.src, scatter_add and scatter_reduce, and the walk over the index tensor.
constexpr const char* read_scatter(const EmbedNode& n, IndexCall& call, std::size_t& dim, ValueId& source,
                                   sf::Indexed<1>& p) {
  if (const char* why = read_along(n, call, dim)) return why;
  source = n.value({"src", 3});
  if (source == no_id || n.g.dtype(source) != n.g.dtype(call.indexed)) return "its source has another element type";
  return walk_along(n, call, dim, source, p);
}
/// scatter.src and scatter_add.
template <class Op>
constexpr const char* lower_scatter(const EmbedNode& n, StepWriter& steps) {
  IndexCall call;
  std::size_t dim = 0;
  ValueId source = no_id;
  sf::Indexed<1> p;
  if (const char* why = read_scatter(n, call, dim, source, p)) return why;
  return write_put<Op, 1>(n, steps, call, p, source);
}
/// Writes the output as a copy of the indexed tensor, with the number at the indices.
constexpr const char* write_number(const EmbedNode& n, StepWriter& steps, const IndexCall& call, std::size_t dim,
                                   const sf::NumberParam& number) {
  sf::Indexed<1> p;
  if (const char* why = walk_along(n, call, dim, no_id, p)) return why;
  const std::uint32_t one = steps.temporary(n.g.dtype(call.indexed), 1);
  steps.step<sf::fill>({1, number}).scratch(one);
  write_copied(n, steps, call.indexed);
  steps.step<sf::put<sf::Replace, 1>>(p).out(n.output()).scratch(one).in(call.indices[0]);
  return nullptr;
}
constexpr const char* lower_scatter_value(const EmbedNode& n, StepWriter& steps) {
  IndexCall call;
  std::size_t dim = 0;
  if (const char* why = read_along(n, call, dim)) return why;
  Operand number;
  const ScalarType type = n.g.dtype(call.indexed);
  if (!read_operand(n, {"value", 3}, number) || number.value != no_id || !is_computed(type))
    return "its value is no number";
  return write_number(n, steps, call, dim, number.param(type));
}
template <class Op>
constexpr const char* write_folded(const EmbedNode& n, StepWriter& steps, const IndexCall& call, std::size_t dim,
                                   const sf::Indexed<1>& p, ValueId source) {
  const ScalarType type = n.g.dtype(call.indexed);
  bool all = true;
  if (!operators::read_flag(n, {"include_self", 5}, true, all)) return "an argument is not known";
  Operand start;  // the first operand of a fold without the output's own element
  start.real = Op::template start<double>;
  start.integer = Op::template start<std::int64_t>;
  if (!all && !is_floating(type) && type != ScalarType::int64 && start.integer != 1)
    return "include_self=False needs int64 for integers";
  if (all)
    write_copied(n, steps, call.indexed);
  else if (const char* why = write_number(n, steps, call, dim, start.param(type)))
    return why;
  steps.step<sf::put<Op, 1>>(p).out(n.output()).in(source).in(call.indices[0]);
  return nullptr;
}
/// scatter_reduce with prod, amax or amin; sums and means use scatter_add.
constexpr const char* lower_scatter_reduce(const EmbedNode& n, StepWriter& steps) {
  IndexCall call;
  std::size_t dim = 0;
  ValueId source = no_id;
  sf::Indexed<1> p;
  const std::string_view reduce = n.string("reduce");
  if (reduce != "amax" && reduce != "amin" && reduce != "prod") return "it sums";
  if (const char* why = read_scatter(n, call, dim, source, p)) return why;
  if (!is_computed(n.g.dtype(source))) return not_computed;
  return reduce == "prod"   ? write_folded<sf::ProductOf>(n, steps, call, dim, p, source)
         : reduce == "amax" ? write_folded<sf::ExtremeOf<true>>(n, steps, call, dim, p, source)
                            : write_folded<sf::ExtremeOf<false>>(n, steps, call, dim, p, source);
}

template <class... Ops>
using put_kernels = kernel_list<sf::put<Ops, 1>...>;
using index_kernels =
    joined_kernels<kernel_list<sf::pick<1>, sf::pick<2>, sf::pick<3>, sf::put<sf::Replace, 2>, sf::put<sf::Replace, 3>,
                               sf::put<sf::SumOf, 2>, sf::put<sf::SumOf, 3>>,
                   put_kernels<sf::Replace, sf::SumOf, sf::ProductOf, sf::ExtremeOf<true>, sf::ExtremeOf<false>>>;

inline constexpr std::array index_rows{
    EmbedRow{"aten.index.Tensor", lower_index},
    EmbedRow{"aten.index_select.default", lower_index_select},
    EmbedRow{"aten.gather.default", lower_gather},
    EmbedRow{"aten.index_put.default", lower_index_put},
    EmbedRow{"aten.scatter.src", lower_scatter<sf::Replace>},
    EmbedRow{"aten.scatter.value", lower_scatter_value},
    EmbedRow{"aten.scatter_add.default", lower_scatter<sf::SumOf>},
    EmbedRow{"aten.scatter_reduce.two", lower_scatter_reduce},
};

}  // namespace davit::static_lowering
