// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"
#include "davit/kernels/walk_in_parallel.hpp"
#include "davit/program/operators/movement.hpp"

namespace davit::portable_kernels {

namespace detail {

/// Writes `from` into output 0 at `start` of dimension `dim`, in the output's dtype.
[[nodiscard]] inline ErrorCode place_part(KernelCall& call, const TensorView& from, std::size_t dim,
                                          std::int64_t start) {
  const TensorView& out = call.output(0);
  return convert_elements(from, out.dtype, out.element_at(start * out.stride(dim)), out.strides());
}

/// cat; it skips empty 1-dimensional tensors, as torch does.
[[nodiscard]] inline ErrorCode cat(KernelCall& call) {
  const std::span<const EValue> list = call.list(0);
  std::size_t d = 0;
  ResultType type;
  const TensorView* shape = nullptr;
  const auto skipped = [](const TensorView& t) { return t.rank == 1 && t.size(0) == 0; };
  for (const EValue& v : list) {
    if (!v.is_tensor()) return call.refuse(ErrorCode::invalid_argument, "cat takes tensors only");
    type.add(v);
    if (shape == nullptr || (skipped(*shape) && !skipped(v.tensor()))) shape = &v.tensor();
  }
  if (shape == nullptr) return call.refuse(ErrorCode::invalid_argument, "cat needs at least one tensor");
  if (const ErrorCode code = answer(call, operators::read_dim(KernelArguments(call), {"dim", 1}, shape->rank, d));
      code != ErrorCode::ok)
    return code;
  Sizes sizes(shape->sizes());
  sizes[d] = 0;
  for (const EValue& v : list) {
    const TensorView& t = v.tensor();
    if (skipped(t) && shape->rank != 1) continue;
    if (t.rank != shape->rank) return call.refuse(ErrorCode::invalid_shape, "the tensors have different ranks");
    for (std::size_t k = 0; k < t.rank; ++k)
      if (k != d && t.size(k) != sizes[k])
        return call.refuse(ErrorCode::invalid_shape, "the tensors differ in another dimension");
    sizes[d] += t.size(d);
  }
  if (const ErrorCode code = call.make(0, type.get(), sizes); code != ErrorCode::ok) return code;
  std::int64_t at = 0;
  for (const EValue& v : list) {
    const TensorView& t = v.tensor();
    if (skipped(t)) continue;
    if (const ErrorCode code = place_part(call, t, d, at); code != ErrorCode::ok) return code;
    at += t.size(d);
  }
  return ErrorCode::ok;
}

[[nodiscard]] inline ErrorCode stack(KernelCall& call) {
  const std::span<const EValue> list = call.list(0);
  if (list.empty() || !list[0].is_tensor())
    return call.refuse(ErrorCode::invalid_argument, "stack needs at least one tensor");
  const TensorView& first = list[0].tensor();
  std::int64_t dim = call.integer(1);
  if (!wrap_dim(dim, first.rank + 1u) || first.rank == max_rank) return bad_dim(call);
  const auto d = static_cast<std::size_t>(dim);
  ResultType type;
  Sizes sizes;
  for (std::size_t k = 0; k <= first.rank; ++k)
    (void)sizes.push(k == d ? static_cast<std::int64_t>(list.size()) : first.size(k < d ? k : k - 1));
  for (const EValue& v : list) {
    if (!v.is_tensor() || !std::ranges::equal(v.tensor().sizes(), first.sizes()))
      return call.refuse(ErrorCode::invalid_shape, "stack takes tensors of one shape");
    type.add(v);
  }
  if (const ErrorCode code = call.make(0, type.get(), sizes); code != ErrorCode::ok) return code;
  std::int64_t at = 0;
  for (const EValue& v : list) {
    TensorView t = v.tensor();
    Sizes own;
    Sizes strides;
    for (std::size_t k = 0; k <= first.rank; ++k) {
      (void)own.push(k == d ? 1 : t.size(k < d ? k : k - 1));
      (void)strides.push(k == d ? 0 : t.stride(k < d ? k : k - 1));
    }
    t.sizes_data = own.values.data();
    t.strides_data = strides.values.data();
    t.rank = static_cast<std::uint8_t>(own.rank);
    if (const ErrorCode code = place_part(call, t, d, at++); code != ErrorCode::ok) return code;
  }
  return ErrorCode::ok;
}

[[nodiscard]] inline ErrorCode repeat(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  Sizes times;
  if (!ints_of(call.list(1), times) || times.rank < x.rank)
    return call.refuse(ErrorCode::invalid_shape, "repeat needs at least as many counts as the tensor has dimensions");
  Sizes sizes;
  Sizes own;
  Sizes strides;
  for (std::size_t d = 0; d < times.rank; ++d) {
    const bool fresh = d + x.rank < times.rank;
    const std::size_t k = fresh ? 0 : d + x.rank - times.rank;
    (void)own.push(fresh ? 1 : x.size(k));
    (void)strides.push(fresh ? 0 : x.stride(k));
    std::int64_t size = 0;
    if (times[d] < 0 || __builtin_mul_overflow(own[d], times[d], &size))
      return call.refuse(ErrorCode::invalid_shape, "a count is negative or too large");
    (void)sizes.push(size);
  }
  if (const ErrorCode code = call.make(0, x.dtype, sizes); code != ErrorCode::ok) return code;
  if (!kernels::is_movable(x.dtype)) return ErrorCode::invalid_dtype;
  // each dimension becomes two: the repeats, and the index
  const std::size_t element = size_of(x.dtype);
  const Sizes dense = strides_of(call.output(0));
  Walk walk;
  for (std::size_t d = sizes.rank; d-- > 0;) {
    const auto bytes = static_cast<std::int64_t>(element);
    walk.push(own[d], std::array{strides[d] * bytes, dense[d] * bytes});
    walk.push(times[d], std::array{std::int64_t{0}, dense[d] * own[d] * bytes});
  }
  walk.collapse();
  kernels::move_in_parallel(element, walk, x.data, call.output(0).data);
  return ErrorCode::ok;
}

[[nodiscard]] inline ErrorCode flip(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  Sizes strides(x.strides());
  std::int64_t start = 0;
  for (const EValue& v : call.list(1)) {
    std::int64_t dim = v.is_number() ? v.integer() : max_rank;
    if (!wrap_dim(dim, x.rank)) return bad_dim(call);
    if (x.rank == 0) continue;  // torch gives it a dimension 0, and there is nothing to flip
    const auto d = static_cast<std::size_t>(dim);
    if (strides[d] != x.stride(d)) return call.refuse(ErrorCode::invalid_argument, "a dimension is named twice");
    if (x.size(d) < 2) continue;
    start += (x.size(d) - 1) * x.stride(d);
    strides[d] = -x.stride(d);
  }
  if (const ErrorCode code = call.make_like(0, x); code != ErrorCode::ok) return code;
  if (!kernels::is_movable(x.dtype)) return ErrorCode::invalid_dtype;
  kernels::move_in_parallel(size_of(x.dtype), x.sizes(), x.element_at(start), strides, call.output(0).data,
                            call.output(0).strides());
  return ErrorCode::ok;
}

/// Rows of a table chosen by indices: embedding, and index_select along any dimension.
[[nodiscard]] inline ErrorCode gather_rows(KernelCall& call, const TensorView& table, std::size_t dim,
                                           const TensorView& indices, std::span<const std::int64_t> sizes) {
  if (indices.dtype != ScalarType::int64 && indices.dtype != ScalarType::int32)
    return call.refuse(ErrorCode::invalid_dtype, "indices must be int64 or int32");
  if (const ErrorCode code = call.make(0, table.dtype, sizes); code != ErrorCode::ok) return code;
  if (!kernels::is_movable(table.dtype)) return ErrorCode::invalid_dtype;
  Sizes inner(table.sizes());
  inner[dim] = 1;
  Sizes out_sizes(table.sizes());
  out_sizes[dim] = indices.numel();
  Sizes out_strides(out_sizes);
  contiguous_strides(out_sizes.span(), {out_strides.values.data(), out_sizes.rank});
  bool inside = true;
  for_each_index<1>(indices.sizes(), {strides_of(indices)}, [&](std::int64_t i) {
    const auto v = element_as<std::int64_t>(indices, i);
    inside = inside && v >= 0 && v < table.size(dim);
  });
  if (!inside) return call.refuse(ErrorCode::out_of_range, "an index is outside the dimension");
  Walk walk(inner);
  if (walk.count == 0) return ErrorCode::ok;
  const std::size_t element = size_of(table.dtype);
  walk.add(table.strides(), element).add(out_strides, element).collapse();
  const auto step = table.stride(dim) * static_cast<std::int64_t>(element);
  const Sizes of_indices = strides_of(indices);
  kernels::walk_in_parallel(kernels::walk_over(indices.sizes(), {&of_indices, 1}), 1,
                            kernels::operations(walk.count, 8), [&](std::size_t, const kernels::WalkPart& part) {
                              auto* to = static_cast<std::byte*>(call.output(0).data) +
                                         part.before * out_strides[dim] * static_cast<std::int64_t>(element);
                              for_each_index<1>(part.walk, [&](std::int64_t i) {
                                const auto* row = static_cast<const std::byte*>(table.data) +
                                                  element_as<std::int64_t>(indices, part.at[0] + i) * step;
                                kernels::move_elements(element, walk, row, to);
                                to += out_strides[dim] * static_cast<std::int64_t>(element);
                              });
                            });
  return ErrorCode::ok;
}
[[nodiscard]] inline ErrorCode embedding(KernelCall& call) {
  const TensorView& weight = call.tensor(0);
  const TensorView& indices = call.tensor(1);
  if (weight.rank != 2) return call.refuse(ErrorCode::invalid_shape, "the weight must have two dimensions");
  Sizes sizes(indices.sizes());
  if (!sizes.push(weight.size(1))) return call.refuse(ErrorCode::invalid_shape, "too many dimensions");
  return gather_rows(call, weight, 0, indices, sizes);
}
/// index_select of a 0-dimensional tensor: its element, with the only index 0.
[[nodiscard]] inline ErrorCode select_scalar(KernelCall& call, const TensorView& x, const TensorView& indices) {
  if (indices.numel() != 1) return call.refuse(ErrorCode::invalid_shape, "a 0-dimensional tensor takes one index");
  if (indices.dtype != ScalarType::int64 && indices.dtype != ScalarType::int32)
    return call.refuse(ErrorCode::invalid_dtype, "indices must be int64 or int32");
  if (element_as<std::int64_t>(indices, 0) != 0)
    return call.refuse(ErrorCode::out_of_range, "an index is outside the dimension");
  return copy_out(call, 0, x);
}
[[nodiscard]] inline ErrorCode index_select(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const TensorView& indices = call.tensor(2);
  std::int64_t dim = call.integer(1);
  if (indices.rank > 1 || !wrap_dim(dim, x.rank)) return bad_dim(call);
  if (x.rank == 0) return select_scalar(call, x, indices);
  Sizes sizes(x.sizes());
  sizes[static_cast<std::size_t>(dim)] = indices.numel();
  return gather_rows(call, x, static_cast<std::size_t>(dim), indices, sizes);
}

}  // namespace detail

inline constexpr auto joining_ops = std::to_array<OpRow>({
    {"aten.cat.default", detail::cat},
    {"aten.embedding.default", detail::embedding},
    {"aten.flip.default", detail::flip},
    {"aten.index_select.default", detail::index_select},
    {"aten.repeat.default", detail::repeat},
    {"aten.stack.default", detail::stack},
});

}  // namespace davit::portable_kernels
