// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"

namespace davit::portable_kernels {

namespace detail {

/// _unique2(self, sorted, return_inverse, return_counts) and, with `consecutive`, unique_consecutive(self,
/// return_inverse, return_counts, dim?) -> (values, the index of each element's value, counts). NaN equals nothing. O(n
/// log n). Source: at::_unique2, at::unique_consecutive without a dimension.
template <bool consecutive>
[[nodiscard]] ErrorCode unique(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const bool inverse = call.boolean(consecutive ? 1 : 2), counts = call.boolean(consecutive ? 2 : 3);
  if (consecutive && call.has(3))
    return call.refuse(ErrorCode::invalid_argument, "unique_consecutive along a dimension is not supported");
  const auto run = [&]<class C>() -> ErrorCode {
    ComputeBuffers<C> buffers(call);
    const auto in_id = buffers.read(x);
    const std::int64_t n = checked_numel(x);
    const auto order_id = buffers.template buffer_of<std::int64_t>(n);
    const auto group_id = buffers.template buffer_of<std::int64_t>(n);
    if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
    const C* in = buffers.in(in_id);
    auto* const order = buffers.template at<std::int64_t>(order_id);
    auto* const group = buffers.template at<std::int64_t>(group_id);  // of each element, by its position
    std::iota(order, order + n, std::int64_t{0});
    if (!consecutive)
      std::sort(order, order + n, [in](std::int64_t a, std::int64_t b) {
        const bool a_nan = in[a] != in[a], b_nan = in[b] != in[b];
        if (a_nan != b_nan) return b_nan;
        return a_nan || in[a] == in[b] ? a < b : in[a] < in[b];
      });
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (i == 0 || in[order[i]] != in[order[i - 1]]) ++found;
      group[order[i]] = found - 1;
    }
    if (const ErrorCode code = call.make(0, x.dtype, {&found, 1}); code != ErrorCode::ok) return code;
    const std::int64_t none = 0;
    if (call.wants(1))
      if (const ErrorCode code =
              inverse ? call.make(1, ScalarType::int64, x.sizes()) : call.make(1, ScalarType::int64, {&none, 1});
          code != ErrorCode::ok)
        return code;
    if (call.wants(2))
      if (const ErrorCode code = call.make(2, ScalarType::int64, {counts ? &found : &none, 1}); code != ErrorCode::ok)
        return code;
    for (std::int64_t i = 0; i < n; ++i)
      (void)kernels::store_element(in[i], x.dtype, call.output(0).element_at(group[i]));
    if (call.wants(1) && inverse) std::copy_n(group, n, call.output(1).template as<std::int64_t>());
    if (call.wants(2) && counts) {
      auto* const to = call.output(2).template as<std::int64_t>();
      std::fill_n(to, found, std::int64_t{0});
      for (std::int64_t i = 0; i < n; ++i) ++to[group[i]];
    }
    return ErrorCode::ok;
  };
  switch (kernels::compute_of(x.dtype)) {
    case kernels::Compute::float32: return run.template operator()<float>();
    case kernels::Compute::float64: return run.template operator()<double>();
    case kernels::Compute::int64: return run.template operator()<std::int64_t>();
    default: return call.refuse(ErrorCode::invalid_dtype, "unique takes real numbers");
  }
}

/// tril_indices(row, col, offset) and triu_indices: the indices of a triangle, (2, n), row by row. Source:
/// at::tril_indices.
template <bool lower>
[[nodiscard]] ErrorCode triangle_indices(KernelCall& call) {
  const std::int64_t rows = call.integer(0), columns = call.integer(1);
  constexpr std::int64_t most = std::int64_t{1} << 20;
  if (rows < 0 || columns < 0 || rows > most || columns > most)
    return call.refuse(ErrorCode::invalid_argument, "a triangle's size is negative or too large");
  const std::int64_t offset = std::clamp<std::int64_t>(call.integer(2), -most - 1, most + 1);
  const auto first = [&](std::int64_t r) { return lower ? 0 : std::clamp<std::int64_t>(r + offset, 0, columns); };
  const auto last = [&](std::int64_t r) {
    return lower ? std::clamp<std::int64_t>(r + offset + 1, 0, columns) : columns;
  };
  std::array<std::int64_t, 2> sizes{2, 0};
  for (std::int64_t r = 0; r < rows; ++r) sizes[1] += last(r) - first(r);
  const ScalarType type = call.dtype(3, ScalarType::int64);
  if (kernels::compute_of(type) == kernels::Compute::none) return ErrorCode::invalid_dtype;
  if (const ErrorCode code = call.make(0, type, sizes); code != ErrorCode::ok) return code;
  const TensorView& out = call.output(0);
  std::int64_t i = 0;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = first(r); c < last(r); ++c, ++i) {
      (void)kernels::store_element(r, type, out.element_at(i));
      (void)kernels::store_element(c, type, out.element_at(sizes[1] + i));
    }
  return ErrorCode::ok;
}

/// repeat_interleave(repeats, output_size?): repeats index i `repeats[i]` times. Source: at::repeat_interleave.Tensor.
[[nodiscard]] inline ErrorCode repeat_interleave(KernelCall& call) {
  const TensorView& repeats = call.tensor(0);
  if (repeats.rank != 1 || (repeats.dtype != ScalarType::int64 && repeats.dtype != ScalarType::int32))
    return call.refuse(ErrorCode::invalid_argument, "repeat_interleave takes a line of int64 or int32");
  std::int64_t total = 0;
  const auto times = [&](std::int64_t i) { return element_as<std::int64_t>(repeats, i * repeats.stride(0)); };
  for (std::int64_t i = 0; i < repeats.size(0); ++i)
    if (times(i) < 0 || __builtin_add_overflow(total, times(i), &total))
      return call.refuse(ErrorCode::invalid_argument,
                         "repeat_interleave: a number of repeats is negative or too large");
  if (const ErrorCode code = call.make(0, repeats.dtype, {&total, 1}); code != ErrorCode::ok) return code;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < repeats.size(0); ++i)
    for (std::int64_t k = times(i); k > 0; --k)
      (void)kernels::store_element(i, repeats.dtype, call.output(0).element_at(at++));
  return ErrorCode::ok;
}

}  // namespace detail

inline constexpr auto unique_ops = std::to_array<OpRow>({
    {"aten._unique2.default", detail::unique<false>},
    {"aten.repeat_interleave.Tensor", detail::repeat_interleave},
    {"aten.tril_indices.default", detail::triangle_indices<true>},
    {"aten.triu_indices.default", detail::triangle_indices<false>},
    {"aten.unique_consecutive.default", detail::unique<true>},
});

}  // namespace davit::portable_kernels
