// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/program/operators/movement.hpp"

namespace davit::portable_kernels {

namespace detail {

/// The place of a slice or selection in a tensor of these strides.
struct TensorPart {
  std::array<std::int64_t, max_rank> all_sizes,
      all_strides;  // uninitialized: zeros would cost a third of a slice
  std::size_t rank;
  std::int64_t offset;

  [[nodiscard]] std::span<const std::int64_t> sizes() const noexcept { return {all_sizes.data(), rank}; }
  [[nodiscard]] std::span<const std::int64_t> strides() const noexcept { return {all_strides.data(), rank}; }
};
/// Reads a slice or selection of a tensor with its sizes and these strides.
[[nodiscard, gnu::noinline]] inline ErrorCode read_part(KernelCall& call, const operators::SliceOperator& op,
                                                        std::span<const std::int64_t> strides, TensorPart& part) {
  operators::SliceView view;
  if (const ErrorCode code = answer(call, operators::read_slice(KernelArguments(call), op, view));
      code != ErrorCode::ok)
    return code;
  const TensorView& x = call.tensor(0);
  part.rank = x.rank - (view.selects ? 1u : 0u);
  for (std::size_t d = 0; d < part.rank; ++d) {
    const std::size_t from = view.selects && d >= view.dim ? d + 1 : d;
    part.all_sizes[d] = x.size(from);
    part.all_strides[d] = strides[from];
  }
  part.offset = view.length == 0 ? 0 : view.start * strides[view.dim];
  if (view.selects) return ErrorCode::ok;
  part.all_sizes[view.dim] = view.length;
  if (view.length > 1) part.all_strides[view.dim] *= view.step;
  return ErrorCode::ok;
}
[[nodiscard]] inline ErrorCode slice(KernelCall& call, const operators::SliceOperator& op) {
  TensorPart part;
  if (const ErrorCode code = read_part(call, op, call.tensor(0).strides(), part); code != ErrorCode::ok) return code;
  return call.alias(0, call.tensor(0), part.sizes(), part.strides(), part.offset);
}
/// True for slice and select; lowering rewrites slice_copy to slice.
[[nodiscard]] constexpr bool is_part_alone(const operators::SliceOperator& op) noexcept {
  return !op.puts && std::string_view(op.target) != "aten.slice_copy.Tensor";
}

[[nodiscard]] inline ErrorCode part(KernelCall& call, std::size_t i, std::size_t dim, std::int64_t start,
                                    std::int64_t length) {
  const TensorView& x = call.tensor(0);
  Sizes sizes(x.sizes());
  sizes[dim] = length;
  return call.alias(i, x, sizes, x.strides(), length == 0 ? 0 : start * x.stride(dim));
}
[[nodiscard]] inline ErrorCode split_with_sizes(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  std::size_t d = 0;
  if (const ErrorCode code = answer(call, operators::read_dim(KernelArguments(call), {"dim", 2}, x.rank, d));
      code != ErrorCode::ok)
    return code;
  std::int64_t at = 0;
  std::size_t i = 0;
  for (const EValue& v : call.list(1)) {
    const std::int64_t length = v.is_number() ? v.integer() : -1;
    if (length < 0 || length > x.size(d) - at)
      return call.refuse(ErrorCode::invalid_shape, "the parts do not add up to the dimension");
    if (call.wants(i))
      if (const ErrorCode code = part(call, i, d, at, length); code != ErrorCode::ok) return code;
    at += length;
    ++i;
  }
  if (at != x.size(d) || i < call.output_count())
    return call.refuse(ErrorCode::invalid_shape, "the parts do not add up to the dimension");
  return ErrorCode::ok;
}
/// chunk and split: parts of equal length, the last one possibly shorter. chunk gets their number, split their length.
template <bool ByLength>
[[nodiscard]] ErrorCode equal_parts(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const std::int64_t number = call.integer(1);
  std::size_t d = 0;
  if (const ErrorCode code = answer(call, operators::read_dim(KernelArguments(call), {"dim", 2}, x.rank, d));
      code != ErrorCode::ok)
    return code;
  if (number <= 0)
    return call.refuse(ErrorCode::invalid_argument, "the number or the length of the parts must be positive");
  const std::int64_t share = ByLength ? number : x.size(d) / number + (x.size(d) % number != 0 ? 1 : 0);
  const std::int64_t length = std::max<std::int64_t>(1, share);
  for (std::size_t i = 0; i < call.output_count(); ++i) {
    const std::int64_t start = std::min(static_cast<std::int64_t>(i) * length, x.size(d));
    if (const ErrorCode code = part(call, i, d, start, std::min(length, x.size(d) - start)); code != ErrorCode::ok)
      return code;
  }
  return ErrorCode::ok;
}

/// unbind(self, dim): a view per index, without that dimension.
[[nodiscard]] inline ErrorCode unbind(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  std::size_t d = 0;
  if (const ErrorCode code = answer(call, operators::read_dim(KernelArguments(call), {"dim", 1}, x.rank, d));
      code != ErrorCode::ok)
    return code;
  if (x.size(d) < static_cast<std::int64_t>(call.output_count()))
    return call.refuse(ErrorCode::invalid_shape, "the dimension is shorter than the number of results");
  Sizes sizes;
  Sizes strides;
  for (std::size_t k = 0; k < x.rank; ++k) {
    if (k == d) continue;
    (void)sizes.push(x.size(k));
    (void)strides.push(x.stride(k));
  }
  for (std::size_t i = 0; i < call.output_count(); ++i)
    if (const ErrorCode code = call.alias(i, x, sizes, strides, static_cast<std::int64_t>(i) * x.stride(d));
        code != ErrorCode::ok)
      return code;
  return ErrorCode::ok;
}

[[nodiscard]] inline ErrorCode diagonal(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const std::int64_t offset = call.integer(1);
  std::int64_t a = call.integer(2, 0);
  std::int64_t b = call.integer(3, 1);
  if (x.rank < 2 || !wrap_dim(a, x.rank) || !wrap_dim(b, x.rank) || a == b) return bad_dim(call);
  const auto i = static_cast<std::size_t>(a);
  const auto k = static_cast<std::size_t>(b);
  std::int64_t length = 0;
  if (offset >= 0 && offset < x.size(k)) length = std::min(x.size(i), x.size(k) - offset);
  if (offset < 0 && offset > -x.size(i)) length = std::min(x.size(i) + offset, x.size(k));
  Sizes sizes;
  Sizes strides;
  for (std::size_t d = 0; d < x.rank; ++d) {
    if (d == i || d == k) continue;
    (void)sizes.push(x.size(d));
    (void)strides.push(x.stride(d));
  }
  (void)sizes.push(length);
  (void)strides.push(x.stride(i) + x.stride(k));
  const std::int64_t start = length == 0 ? 0 : offset >= 0 ? offset * x.stride(k) : -offset * x.stride(i);
  return call.alias(0, x, sizes, strides, start);
}

}  // namespace detail

inline constexpr auto slicing_ops = joined_rows(
    rows_of<operators::slice_operators, detail::slice, detail::is_part_alone>({.aliasing = Aliasing::always}),
    std::to_array<OpRow>({
        {"aten.chunk.default", detail::equal_parts<false>, Aliasing::always},
        {"aten.diagonal.default", detail::diagonal, Aliasing::always},
        {"aten.split_with_sizes.default", detail::split_with_sizes, Aliasing::always},
        {"aten.split.Tensor", detail::equal_parts<true>, Aliasing::always},
        {"aten.unbind.int", detail::unbind, Aliasing::always},
    }));

}  // namespace davit::portable_kernels
