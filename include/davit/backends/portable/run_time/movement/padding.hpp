// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/run_time/elementwise/copies.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/movement/mapped_copy.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"
#include "davit/program/operators/movement.hpp"

namespace davit::portable_kernels {

namespace detail {

/// Reads a call of any padding; `sizes` become the output's.
[[nodiscard]] inline ErrorCode read_padding(KernelCall& call, operators::PadView& view, Sizes& sizes) {
  if (const ErrorCode code = answer(call, operators::read_pads(KernelArguments(call), "padding", view));
      code != ErrorCode::ok)
    return code;
  sizes = Sizes(call.tensor(0).sizes());
  for (std::size_t d = 0; d < view.rank; ++d) sizes[d] += view.before[d] + view.after[d];
  return ErrorCode::ok;
}

/// The part of contiguous `whole` at `start` with the sizes of `part`.
[[nodiscard]] inline TensorView region(const TensorView& whole, std::span<const std::int64_t> start,
                                       std::span<const std::int64_t> sizes) {
  TensorView view = whole;
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < whole.rank; ++d) offset += start[d] * whole.stride(d);
  view.data = whole.element_at(offset);
  view.sizes_data = sizes.data();
  return view;
}

}  // namespace detail

/// constant_pad_nd(self, pad, value): surrounds the tensor with `value`; negative padding crops it. Source:
/// at::native::constant_pad_nd.
[[nodiscard]] inline ErrorCode constant_pad_nd(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const EValue value = call.has(2) ? call.arg(2) : EValue(0);
  if (!value.is_number()) return call.refuse(ErrorCode::invalid_argument, "the padding value must be a number");
  operators::PadView pad;
  Sizes sizes;
  if (const ErrorCode code = detail::read_padding(call, pad, sizes); code != ErrorCode::ok) return code;
  Sizes kept;
  Sizes source_start;
  Sizes target_start;
  bool any_kept = true;
  for (std::size_t d = 0; d < x.rank; ++d) {
    const std::int64_t left =
        x.size(d) + std::min<std::int64_t>(pad.before[d], 0) + std::min<std::int64_t>(pad.after[d], 0);
    if (left < 0) return call.refuse(ErrorCode::invalid_shape, "negative padding cuts off more than a dimension has");
    any_kept = any_kept && left != 0;
    (void)kept.push(left);
    (void)source_start.push(std::max<std::int64_t>(-pad.before[d], 0));
    (void)target_start.push(std::max<std::int64_t>(pad.before[d], 0));
  }
  if (const ErrorCode code = call.make(0, x.dtype, sizes); code != ErrorCode::ok) return code;
  if (const ErrorCode code = detail::fill_with(call, value); code != ErrorCode::ok) return code;
  if (any_kept)
    kernels::move_in_parallel(detail::region(x, source_start, kept),
                              detail::region(call.output(0), target_start, kept));
  return ErrorCode::ok;
}

namespace detail {

/// Pads the last `Dims` dimensions with elements of the tensor; `source(i, size)` returns the index for position i of a
/// dimension of that size, both counted from the tensor's first element.
template <std::size_t Dims, class Source>
[[nodiscard]] ErrorCode pad_with_own(KernelCall& call, bool smaller_than_size, const Source& source) {
  const TensorView& x = call.tensor(0);
  if (call.list(1).size() != 2 * Dims)
    return call.refuse(ErrorCode::invalid_argument, "two numbers are needed for each padded dimension");
  if (x.rank != Dims + 1 && x.rank != Dims + 2)
    return call.refuse(ErrorCode::invalid_shape,
                       "the tensor must have the padded dimensions, channels and at most a batch");
  for (std::size_t d = x.rank == Dims + 2 ? 1 : 0; d < x.rank; ++d)
    if (x.size(d) == 0) return call.refuse(ErrorCode::invalid_shape, "only the batch may be empty");
  operators::PadView pad;
  Sizes sizes;
  if (const ErrorCode code = read_padding(call, pad, sizes); code != ErrorCode::ok) return code;
  bool some_left = false;
  for (std::size_t d = x.rank - Dims; d < x.rank; ++d) {
    if (smaller_than_size && (pad.before[d] >= x.size(d) || pad.after[d] >= x.size(d)))
      return call.refuse(ErrorCode::invalid_shape, "padding by reflection must be smaller than the dimension");
    some_left = some_left || sizes[d] > 0;
  }
  if (!some_left) return call.refuse(ErrorCode::invalid_shape, "negative padding leaves nothing of the tensor");
  if (const ErrorCode code = call.make(0, x.dtype, sizes); code != ErrorCode::ok) return code;
  return copy_mapped(call, x, call.output(0),
                     [&](std::size_t d, std::int64_t i) { return source(i - pad.before[d], x.size(d)); });
}

}  // namespace detail

/// reflection_pad1d, 2d, 3d(self, padding): mirrored at the edges, which are not repeated. Source:
/// at::reflection_pad1d.
template <std::size_t Dims>
[[nodiscard]] ErrorCode reflection_pad(KernelCall& call) {
  return detail::pad_with_own<Dims>(call, true, [](std::int64_t i, std::int64_t size) {
    return i < 0 ? -i : i < size ? i : 2 * (size - 1) - i;
  });
}

/// replication_pad2d, 3d(self, padding): the edges repeated. Source: at::replication_pad2d.
template <std::size_t Dims>
[[nodiscard]] ErrorCode replication_pad(KernelCall& call) {
  return detail::pad_with_own<Dims>(
      call, false, [](std::int64_t i, std::int64_t size) { return std::clamp<std::int64_t>(i, 0, size - 1); });
}

inline constexpr auto padding_ops = std::to_array<OpRow>({
    {"aten.constant_pad_nd.default", constant_pad_nd},
    {"aten.reflection_pad1d.default", reflection_pad<1>},
    {"aten.reflection_pad2d.default", reflection_pad<2>},
    {"aten.reflection_pad3d.default", reflection_pad<3>},
    {"aten.replication_pad2d.default", replication_pad<2>},
    {"aten.replication_pad3d.default", replication_pad<3>},
});

}  // namespace davit::portable_kernels
