// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "davit/backends/portable/run_time/views.hpp"

namespace davit::portable_kernels {

namespace detail {

[[nodiscard]] inline ErrorCode select(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  std::int64_t dim = call.integer(1);
  std::int64_t index = call.integer(2);
  if (x.rank == 0 || !wrap_dim(dim, x.rank)) return bad_dim(call);
  const auto d = static_cast<std::size_t>(dim);
  if (index < -x.size(d) || index >= x.size(d)) return call.refuse(ErrorCode::out_of_range, "the index is outside the dimension");
  if (index < 0) index += x.size(d);
  Sizes sizes;
  Sizes strides;
  for (std::size_t k = 0; k < x.rank; ++k) {
    if (k == d) continue;
    (void)sizes.push(x.size(k));
    (void)strides.push(x.stride(k));
  }
  return call.alias(0, x, sizes, strides, index * x.stride(d));
}

/// A slice of a dimension: first index and number of steps, clamped as Python does.
struct Slice {
  std::size_t dim = 0;
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t length = 0;
};
/// Reads dim, start, end, step from arguments `at`...; the tensor is `x`.
[[nodiscard]] inline ErrorCode read_slice(KernelCall& call, const TensorView& x, std::size_t at, Slice& out) {
  std::int64_t dim = call.integer(at);
  if (x.rank == 0 || !wrap_dim(dim, x.rank)) return bad_dim(call);
  out.dim = static_cast<std::size_t>(dim);
  const std::int64_t size = x.size(out.dim);
  out.step = call.integer(at + 3, 1);
  if (out.step <= 0) return call.refuse(ErrorCode::invalid_argument, "the step must be positive");
  const auto clamped = [&](std::int64_t v) { return std::clamp<std::int64_t>(v < 0 ? std::max<std::int64_t>(v, -size) + size : v, 0, size); };
  out.start = clamped(call.integer(at + 1, 0));
  const std::int64_t end = std::max(out.start, clamped(call.integer(at + 2, std::numeric_limits<std::int64_t>::max())));
  out.length = (end - out.start) / out.step + ((end - out.start) % out.step != 0 ? 1 : 0);
  return ErrorCode::ok;
}
[[nodiscard]] inline ErrorCode slice(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  Slice s;
  if (const ErrorCode code = read_slice(call, x, 1, s); code != ErrorCode::ok) return code;
  Sizes sizes(x.sizes());
  Sizes strides(x.strides());
  sizes[s.dim] = s.length;
  strides[s.dim] *= s.length > 1 ? s.step : 1;
  return call.alias(0, x, sizes, strides, s.length == 0 ? 0 : s.start * x.stride(s.dim));
}

[[nodiscard]] inline ErrorCode part(KernelCall& call, std::size_t i, std::size_t dim, std::int64_t start, std::int64_t length) {
  const TensorView& x = call.tensor(0);
  Sizes sizes(x.sizes());
  sizes[dim] = length;
  return call.alias(i, x, sizes, x.strides(), length == 0 ? 0 : start * x.stride(dim));
}
[[nodiscard]] inline ErrorCode split_with_sizes(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  std::int64_t dim = call.integer(2);
  if (x.rank == 0 || !wrap_dim(dim, x.rank)) return bad_dim(call);
  const auto d = static_cast<std::size_t>(dim);
  std::int64_t at = 0;
  std::size_t i = 0;
  for (const EValue& v : call.list(1)) {
    const std::int64_t length = v.is_number() ? v.integer() : -1;
    if (length < 0 || length > x.size(d) - at) return call.refuse(ErrorCode::invalid_shape, "the parts do not add up to the dimension");
    if (call.wants(i))
      if (const ErrorCode code = part(call, i, d, at, length); code != ErrorCode::ok) return code;
    at += length;
    ++i;
  }
  if (at != x.size(d) || i < call.output_count()) return call.refuse(ErrorCode::invalid_shape, "the parts do not add up to the dimension");
  return ErrorCode::ok;
}
/// Parts of equal length, the last one perhaps shorter: chunk is told how many, split how long.
template <bool ByLength>
[[nodiscard]] ErrorCode equal_parts(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const std::int64_t number = call.integer(1);
  std::int64_t dim = call.integer(2);
  if (x.rank == 0 || !wrap_dim(dim, x.rank)) return bad_dim(call);
  if (number <= 0) return call.refuse(ErrorCode::invalid_argument, "the number or the length of the parts must be positive");
  const auto d = static_cast<std::size_t>(dim);
  const std::int64_t share = ByLength ? number : x.size(d) / number + (x.size(d) % number != 0 ? 1 : 0);
  const std::int64_t length = std::max<std::int64_t>(1, share);
  for (std::size_t i = 0; i < call.output_count(); ++i) {
    const std::int64_t start = std::min(static_cast<std::int64_t>(i) * length, x.size(d));
    if (const ErrorCode code = part(call, i, d, start, std::min(length, x.size(d) - start)); code != ErrorCode::ok) return code;
  }
  return ErrorCode::ok;
}

/// unbind(self, dim): a view per index, without that dimension.
[[nodiscard]] inline ErrorCode unbind(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  std::int64_t dim = call.integer(1);
  if (x.rank == 0 || !wrap_dim(dim, x.rank)) return bad_dim(call);
  const auto d = static_cast<std::size_t>(dim);
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
    if (const ErrorCode code = call.alias(i, x, sizes, strides, static_cast<std::int64_t>(i) * x.stride(d)); code != ErrorCode::ok)
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

inline constexpr auto slicing_ops = std::to_array<OpRow>({
    {"aten.chunk.default", detail::equal_parts<false>, Aliasing::may_alias},
    {"aten.diagonal.default", detail::diagonal, Aliasing::may_alias},
    {"aten.select.int", detail::select, Aliasing::may_alias},
    {"aten.slice.Tensor", detail::slice, Aliasing::may_alias},
    {"aten.split_with_sizes.default", detail::split_with_sizes, Aliasing::may_alias},
    {"aten.split.Tensor", detail::equal_parts<true>, Aliasing::may_alias},
    {"aten.unbind.int", detail::unbind, Aliasing::may_alias},
});

}  // namespace davit::portable_kernels
