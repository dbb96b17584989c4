// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/dispatch.hpp"
#include "davit/backends/portable/run_time/element_bits.hpp"
#include "davit/backends/portable/run_time/movement/accumulate.hpp"
#include "davit/backends/portable/run_time/movement/index_plan.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/core/next_index.hpp"

namespace davit::portable_kernels {

/// Reads a list of index tensors: int64 and int32 select single positions of a dimension (negative ones count from its
/// end), bool and uint8 mask as many dimensions as they have, and None keeps a dimension.
class IndexPlanner {
 public:
  IndexPlanner(KernelCall& call, const TensorView& self) noexcept : call_(&call), self_(self) {}

  /// Errors: invalid_dtype, invalid_shape, out_of_range, out_of_memory. Takes the call's temporary memory. O(elements
  /// of the index tensors and of their broadcast shape).
  [[nodiscard]] ErrorCode plan(std::span<const EValue> indices, IndexPlan& out) {
    if (const ErrorCode code = read(indices); code != ErrorCode::ok) return code;
    if (const ErrorCode code = shape(out); code != ErrorCode::ok) return code;
    const auto empty = [](const Sizes& sizes) { return std::ranges::count(sizes.span(), 0) != 0; };
    if (!empty(out.result)) return locate(out);
    for (std::size_t i = 0; i < used_ && !empty(out.picked); ++i)
      if (!entries_[i].is_mask && self_.size(entries_[i].dim) == 0) return outside();
    return ErrorCode::ok;
  }

 private:
  struct Entry {
    TensorView index{};
    std::size_t dim = 0;   ///< its first indexed dimension
    std::size_t dims = 1;  ///< their number
    std::int64_t count = 0;
    bool is_mask = false;
  };

  [[nodiscard]] ErrorCode read(std::span<const EValue> indices) {
    std::size_t dim = 0;
    for (const EValue& v : indices) {
      Entry entry{.dim = dim};
      if (v.is_tensor()) {
        entry.index = v.tensor();
        if (const ErrorCode code = describe(entry); code != ErrorCode::ok) return code;
        entries_[used_++] = entry;
      } else if (!v.is_none()) {
        return call_->refuse(ErrorCode::invalid_argument, "an index must be a tensor or None");
      } else if (dim == self_.rank) {
        return too_many();
      }
      dim += entry.dims;
    }
    return ErrorCode::ok;
  }

  /// Reads the kind of an index, and checks it against the tensor.
  [[nodiscard]] ErrorCode describe(Entry& entry) {
    const ScalarType type = entry.index.dtype;
    entry.is_mask = type == ScalarType::bool_ || type == ScalarType::uint8;
    if (!entry.is_mask) {
      if (type != ScalarType::int64 && type != ScalarType::int32)
        return call_->refuse(ErrorCode::invalid_dtype, "index tensors must be int64, int32, bool or uint8");
      return entry.dim < self_.rank ? ErrorCode::ok : too_many();
    }
    entry.dims = entry.index.rank;
    if (entry.dims == 0) return call_->refuse(ErrorCode::invalid_shape, "a mask must have at least one dimension");
    if (entry.dims > self_.rank - entry.dim) return too_many();
    if (!std::ranges::equal(entry.index.sizes(), self_.sizes().subspan(entry.dim, entry.dims)))
      return call_->refuse(ErrorCode::invalid_shape, "a mask must have the sizes of the dimensions it indexes");
    if (checked_numel(entry.index) < 0) return no_memory();
    const auto* mask = entry.index.as<ElementBits<std::uint8_t>>();
    for_each_index<1>(entry.index.sizes(), {strides_of(entry.index)},
                      [&](std::int64_t i) { entry.count += mask[i].bits != 0 ? 1 : 0; });
    return ErrorCode::ok;
  }

  [[nodiscard]] ErrorCode shape(IndexPlan& out) {
    const Entry& first = entries_[0];
    std::size_t end = first.dim;
    bool adjacent = true;
    std::uint32_t indexed = 0;
    for (std::size_t i = 0; i < used_; ++i) {
      const Entry& entry = entries_[i];
      const Sizes sizes = entry.is_mask ? Sizes({&entry.count, 1}) : Sizes(entry.index.sizes());
      if (!broadcast(out.picked, sizes, out.picked))
        return call_->refuse(ErrorCode::invalid_shape, "the index tensors do not broadcast together");
      adjacent = adjacent && entry.dim == end;
      end = entry.dim + entry.dims;
      for (std::size_t d = entry.dim; d < end; ++d) indexed |= 1u << d;
    }
    for (std::size_t d = 0; d < self_.rank; ++d) {
      if ((indexed >> d & 1u) != 0) continue;
      const bool in_front = adjacent && d < first.dim;
      (void)(in_front ? out.before : out.after).push(self_.size(d));
      (void)(in_front ? out.before_strides : out.after_strides).push(self_.stride(d));
    }
    for (const Sizes* part : {&out.before, &out.picked, &out.after})
      for (const std::int64_t size : part->span())
        if (!out.result.push(size))
          return call_->refuse(ErrorCode::invalid_shape, "the result has too many dimensions");
    out.one_mask = used_ == 1 && first.is_mask;
    return ErrorCode::ok;
  }

  /// Computes the offset of each position.
  [[nodiscard]] ErrorCode locate(IndexPlan& out) {
    const std::int64_t count = davit::checked_numel(out.picked, max_numel);
    if (count < 0) return no_memory();
    std::int64_t most = 0;
    for (std::size_t i = 0; i < used_; ++i) most = std::max(most, entries_[i].count);
    auto* memory = call_->temporary<std::int64_t>(static_cast<std::size_t>(count) + static_cast<std::size_t>(most));
    if (memory == nullptr) return no_memory();
    std::fill_n(memory, count, 0);
    bool inside = true;
    for (std::size_t i = 0; i < used_; ++i) {
      const Entry& entry = entries_[i];
      if (entry.is_mask) {
        add_mask(entry, out.picked, memory, memory + count);
      } else if (entry.index.dtype == ScalarType::int64) {
        inside = add_index<std::int64_t>(entry, out.picked, memory) && inside;
      } else {
        inside = add_index<std::int32_t>(entry, out.picked, memory) && inside;
      }
    }
    out.offsets = memory;
    return inside ? ErrorCode::ok : outside();
  }

  template <class T>
  [[nodiscard]] bool add_index(const Entry& entry, const Sizes& picked, std::int64_t* offsets) const noexcept {
    const std::int64_t size = self_.size(entry.dim);
    const std::int64_t stride = self_.stride(entry.dim);
    const T* index = entry.index.as<T>();
    bool inside = true;
    for_each_index<1>(picked, {broadcast_strides(entry.index, picked)}, [&](std::int64_t i) {
      const std::int64_t at = index[i] < 0 ? index[i] + size : index[i];
      const bool fits = at >= 0 && at < size;
      inside = inside && fits;
      *offsets++ += fits ? at * stride : 0;
    });
    return inside;
  }

  void add_mask(const Entry& entry, const Sizes& picked, std::int64_t* offsets, std::int64_t* found) const noexcept {
    const auto* mask = entry.index.as<ElementBits<std::uint8_t>>();
    std::int64_t* end = found;
    for_each_index<2>(entry.index.sizes(),
                      {strides_of(entry.index), Sizes(self_.strides().subspan(entry.dim, entry.dims))},
                      [&](std::int64_t i, std::int64_t at) {
                        if (mask[i].bits != 0) *end++ = at;
                      });
    const std::int64_t stride = 1;
    const TensorView all{found, &entry.count, &stride, 1, ScalarType::int64};
    for_each_index<1>(picked, {broadcast_strides(all, picked)}, [&](std::int64_t i) { *offsets++ += found[i]; });
  }

  ErrorCode too_many() const {
    return call_->refuse(ErrorCode::invalid_shape, "more indices than the tensor has dimensions");
  }
  ErrorCode outside() const { return call_->refuse(ErrorCode::out_of_range, "an index is outside the dimension"); }
  ErrorCode no_memory() const { return call_->refuse(ErrorCode::out_of_memory, "no memory for the positions"); }

  KernelCall* call_;
  TensorView self_;
  std::array<Entry, max_rank> entries_{};
  std::size_t used_ = 0;
};

namespace detail {

/// index: returns the selected elements.
[[nodiscard]] inline ErrorCode index(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  IndexPlan plan;
  if (const ErrorCode code = IndexPlanner(call, x).plan(call.list(1), plan); code != ErrorCode::ok) return code;
  if (const ErrorCode code = call.make(0, x.dtype, plan.result); code != ErrorCode::ok) return code;
  if (!kernels::is_movable(x.dtype)) return ErrorCode::invalid_dtype;
  const TensorView& out = call.output(0);
  for_each_selected_row(
      plan, strides_of(out), [&](const SelectedRow& row) { row.move(size_of(x.dtype), true, x.data, out.data); }, true);
  return ErrorCode::ok;
}

/// Adds values of a dtype that is its own compute type.
template <class C>
void add_selected(const IndexPlan& plan, const TensorView& values, const TensorView& out) {
  const C* from = values.as<C>();
  C* to = out.as<C>();
  for_each_selected_row(plan, broadcast_strides(values, plan.result), [=](const SelectedRow& row) {
    const SelectedRow own = row;  // a local copy: stores cannot alias it
    own.for_each([to, from](std::int64_t i, std::int64_t k) { to[i] = kernels::wrap_add(to[i], from[k]); });
  });
}
/// Adds values of any other dtype, one by one.
template <class C>
void add_converted(const IndexPlan& plan, const TensorView& values, const TensorView& out) {
  const auto element = static_cast<std::int64_t>(size_of(out.dtype));
  for_each_selected_row(plan, broadcast_strides(values, plan.result), [&](const SelectedRow& row) {
    row.for_each([&](std::int64_t i, std::int64_t k) {
      const C sum = accumulate(Reduction::sum, element_as<C>(out, i), element_as<C>(values, k));
      (void)kernels::store_element(sum, out.dtype, out.as<std::byte>() + i * element);
    });
  });
}
/// Adds values to the selected elements of output 0 one after the other, rounding each sum to the dtype.
[[nodiscard]] inline ErrorCode add_indexed(KernelCall& call, const IndexPlan& plan, const TensorView& values) {
  const TensorView& out = call.output(0);
  switch (kernels::compute_of(out.dtype)) {
    case kernels::Compute::none:
      if (!is_complex(out.dtype)) return ErrorCode::invalid_dtype;
      (out.dtype == ScalarType::complex64 ? add_selected<std::complex<float>>
                                          : add_selected<std::complex<double>>)(plan, values, out);
      break;
    case kernels::Compute::float64: add_selected<double>(plan, values, out); break;
    case kernels::Compute::float32:
      (out.dtype == ScalarType::float32 ? add_selected<float> : add_converted<float>)(plan, values, out);
      break;
    case kernels::Compute::int64:
      (out.dtype == ScalarType::int64 ? add_selected<std::int64_t> : add_converted<std::int64_t>)(plan, values, out);
      break;
  }
  return ErrorCode::ok;
}

/// Records the selected elements for undo if output 0 overwrites argument 0.
inline void keep_selected(KernelCall& call, const IndexPlan& plan) {
  if (!call.is_in_place()) return;
  const TensorView& out = call.output(0);
  const auto element = static_cast<std::int64_t>(size_of(out.dtype));
  const std::int64_t count = davit::checked_numel(plan.result.span(), max_numel);
  if (count < 0 || count > out.numel() / 8) return call.undo->keep(out.data, out.nbytes());
  Sizes strides(plan.result.span());
  contiguous_strides(plan.result.span(), {strides.values.data(), strides.rank});
  for_each_selected_row(plan, strides, [&](const SelectedRow& row) {
    if (row.offsets == nullptr && row.own_step == 1)
      return call.undo->keep(out.as<std::byte>() + row.own * element, static_cast<std::size_t>(row.n * element));
    row.for_each([&](std::int64_t own, std::int64_t) {
      call.undo->keep(out.as<std::byte>() + own * element, static_cast<std::size_t>(element));
    });
  });
}

/// index_put: a copy of the tensor with new values at the selected elements; of two values for one element the later
/// one stays. A single value under a mask is converted, all others must have the tensor's dtype.
[[nodiscard]] inline ErrorCode index_put(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const bool accumulate = call.boolean(3);
  if (const ErrorCode code = copy_out(call, 0, x); code != ErrorCode::ok) return code;
  IndexPlan plan;
  if (const ErrorCode code = IndexPlanner(call, call.output(0)).plan(call.list(1), plan); code != ErrorCode::ok)
    return code;
  TensorView values = call.tensor(2);
  ScalarTensor single;
  if (plan.one_mask && !accumulate && checked_numel(values) == 1) {
    if (const ErrorCode code = single.set(x.dtype, values); code != ErrorCode::ok) return code;
    values = single.view({});
  }
  if (values.dtype != x.dtype) return call.refuse(ErrorCode::invalid_dtype, "the values must have the tensor's dtype");
  Sizes sizes;
  if (!broadcast(values.sizes(), plan.result, sizes) || !std::ranges::equal(sizes.span(), plan.result.span()))
    return call.refuse(ErrorCode::invalid_shape, "the values do not broadcast to the selected elements");
  if (!kernels::is_movable(x.dtype)) return ErrorCode::invalid_dtype;
  keep_selected(call, plan);
  if (accumulate) return add_indexed(call, plan, values);
  for_each_selected_row(plan, broadcast_strides(values, plan.result), [&](const SelectedRow& row) {
    row.move(size_of(x.dtype), false, call.output(0).data, values.data);
  });
  return ErrorCode::ok;
}

/// nonzero: the indices of the nonzero elements, in row-major order, one row each. NaN is nonzero.
[[nodiscard]] inline ErrorCode nonzero(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const std::int64_t count = checked_numel(x);
  if (count < 0) return call.refuse(ErrorCode::out_of_memory, "the tensor is too large");
  const kernels::Conversion truth = kernels::Conversion::between(x.dtype, ScalarType::bool_);
  if (!truth.ok) return ErrorCode::invalid_dtype;
  Walk walk(x.sizes());
  walk.add(x.strides(), size_of(x.dtype)).collapse();
  // calls f(element != 0) for each element
  const auto for_each_truth = [&](auto&& f) {
    kernels::BlockReader reader;
    kernels::Block own;
    kernels::Block scratch;
    reader.start(walk, 0, x.data, size_of(x.dtype), truth);
    for (std::int64_t left = count; left > 0;) {
      const std::int64_t n = std::min(left, kernels::block_length);
      const auto* block = static_cast<const std::uint8_t*>(reader.next(n, own, scratch));
      for (std::int64_t i = 0; i < n; ++i) f(block[i] != 0);
      left -= n;
    }
  };
  std::int64_t hits = 0;
  for_each_truth([&](bool hit) { hits += hit ? 1 : 0; });
  const std::array<std::int64_t, 2> sizes{hits, static_cast<std::int64_t>(x.rank)};
  if (const ErrorCode code = call.make(0, ScalarType::int64, sizes); code != ErrorCode::ok) return code;
  auto* to = call.output(0).as<std::int64_t>();
  std::array<std::int64_t, max_rank> index{};
  for_each_truth([&](bool hit) {
    if (hit) to = std::copy_n(index.data(), x.rank, to);
    next_index(x.rank, index, x.sizes());
  });
  return ErrorCode::ok;
}

/// masked_scatter: the tensor, broadcast with the mask, with the source's elements in order where the mask is true.
[[nodiscard]] inline ErrorCode masked_scatter(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const TensorView& mask = call.tensor(1);
  const TensorView& source = call.tensor(2);
  if (mask.dtype != ScalarType::bool_) return call.refuse(ErrorCode::invalid_dtype, "the mask must be bool");
  if (source.dtype != x.dtype) return call.refuse(ErrorCode::invalid_dtype, "the source must have the tensor's dtype");
  Sizes sizes;
  if (!broadcast(x.sizes(), mask.sizes(), sizes))
    return call.refuse(ErrorCode::invalid_shape, "tensor and mask do not broadcast together");
  const Sizes strides = broadcast_strides(x, sizes);
  const TensorView spread{x.data, sizes.values.data(), strides.values.data(), static_cast<std::uint8_t>(sizes.rank),
                          x.dtype};
  if (const ErrorCode code = copy_out(call, 0, spread); code != ErrorCode::ok) return code;
  const auto* chosen = mask.as<ElementBits<std::uint8_t>>();
  const Sizes mask_strides = broadcast_strides(mask, sizes);
  std::int64_t wanted = 0;
  for_each_index<1>(sizes, {mask_strides}, [&](std::int64_t i) { wanted += chosen[i].bits != 0 ? 1 : 0; });
  const std::int64_t given = checked_numel(source);
  if (given >= 0 && given < wanted)
    return call.refuse(ErrorCode::invalid_shape, "the source has fewer elements than the mask is true");
  if (!kernels::is_real(x.dtype)) return ErrorCode::invalid_dtype;
  if (wanted == 0) return ErrorCode::ok;
  // the source's elements by blocks, each with the positions where the mask is true
  const std::size_t element = size_of(x.dtype);
  Walk walk(source.sizes());
  walk.add(source.strides(), element).collapse();
  kernels::BlockReader reader;
  kernels::Block own;
  kernels::Block scratch;
  reader.start(walk, 0, source.data, element, kernels::Conversion::between(x.dtype, x.dtype));
  std::array<std::int64_t, static_cast<std::size_t>(kernels::block_length)> places;
  std::size_t found = 0;
  std::int64_t at = 0;
  const auto flush = [&] {
    const auto n = static_cast<std::int64_t>(found);
    const kernels::IndexedRow row{reinterpret_cast<const std::byte*>(places.data()), sizeof(std::int64_t), INT64_MAX,
                                  static_cast<std::int64_t>(element), 0};
    const auto* block = static_cast<const std::byte*>(reader.next(n, own, scratch));
    (void)kernels::move_indexed(element, false, row, call.output(0).as<std::byte>(), const_cast<std::byte*>(block),
                                static_cast<std::int64_t>(element), n);
    found = 0;
  };
  Walk masked(sizes);
  masked.add(mask_strides, 1).collapse();
  const std::int64_t step = masked.strides[0][0];
  masked.for_each_row([&](const auto& first) {
    const std::byte* test = mask.as<std::byte>() + first[0];
    for (std::int64_t left = masked.sizes[0]; left > 0;) {
      const std::int64_t n = std::min(left, static_cast<std::int64_t>(places.size() - found));
      std::size_t next = found;
      for (std::int64_t i = 0; i < n; ++i, test += step) {
        places[next] = at + i;
        next += *test != std::byte{} ? 1 : 0;
      }
      at += n;
      left -= n;
      found = next;
      if (found == places.size()) flush();
    }
  });
  if (found != 0) flush();
  return ErrorCode::ok;
}

/// masked_select(self, mask): the elements where the mask is true, both broadcast, in row-major order.
[[nodiscard]] inline ErrorCode masked_select(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const TensorView& mask = call.tensor(1);
  Sizes sizes;
  if (mask.dtype != ScalarType::bool_)
    return call.refuse(ErrorCode::invalid_dtype, "masked_select: the mask must be of bools");
  if (!broadcast(x.sizes(), mask.sizes(), sizes) || davit::checked_numel(sizes.span(), max_numel) < 0)
    return call.refuse(ErrorCode::invalid_shape, "the sizes of tensor and mask do not broadcast");
  const auto for_each_hit = [&](auto&& f) {
    for_each_index<2>(sizes, {broadcast_strides(x, sizes), broadcast_strides(mask, sizes)},
                      [&](std::int64_t at, std::int64_t in_mask) {
                        if (mask.as<std::uint8_t>()[in_mask] != 0) f(at);
                      });
  };
  const bool any = davit::checked_numel(sizes.span(), max_numel) != 0;
  std::int64_t hits = 0;
  if (any) for_each_hit([&](std::int64_t) { ++hits; });
  if (const ErrorCode code = call.make(0, x.dtype, {&hits, 1}); code != ErrorCode::ok) return code;
  const std::size_t element = size_of(x.dtype);
  auto* to = static_cast<std::byte*>(call.output(0).data);
  if (any)
    for_each_hit([&](std::int64_t at) {
      std::memcpy(to, x.as<std::byte>() + at * static_cast<std::int64_t>(element), element);
      to += element;
    });
  return ErrorCode::ok;
}

}  // namespace detail

inline constexpr auto indexing_ops = std::to_array<OpRow>({
    {"aten.index.Tensor", detail::index},
    {"aten.index_put.default", detail::index_put, Aliasing::none, false, false, true},
    {"aten.masked_select.default", detail::masked_select},
});
/// Operators without complex numbers.
inline constexpr auto real_indexing_ops = std::to_array<OpRow>({
    {"aten.masked_scatter.default", detail::masked_scatter},
    {"aten.nonzero.default", detail::nonzero},
});

}  // namespace davit::portable_kernels
