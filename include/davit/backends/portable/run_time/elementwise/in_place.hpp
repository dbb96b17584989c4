// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "davit/backends/portable/run_time/elementwise/copies.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/program/graph.hpp"

namespace davit::portable_kernels {

/// copy_(self, src): overwrites self with the elements of src, converted and broadcast, and returns self. functionalize
/// rewrites all other in-place operators to values and this copy. Source: at::native::copy_.
[[nodiscard]] inline ErrorCode copy_to(KernelCall& call) {
  if (!call.is_tensor(0)) return call.refuse(ErrorCode::invalid_argument, "only a tensor can be written in place");
  if (const ErrorCode code = detail::copy(call); code != ErrorCode::ok) return code;
  const TensorView &self = call.tensor(0), &result = call.output(0);
  if (repeats_elements(self))
    return call.refuse(ErrorCode::invalid_argument, "an expanded tensor cannot be written in place");
  if (!kernels::convert_elements(self.sizes(), result.data, result.dtype, result.strides(), self.data, self.dtype,
                                 self.strides()))
    return call.refuse(ErrorCode::invalid_dtype, "elements of these dtypes are not converted");
  return call.alias(0, self, self.sizes(), self.strides());
}

namespace detail {

/// The strides of a tensor in a memory format; false if the format does not exist for its rank. Source:
/// c10::TensorImpl::empty_tensor_restride.
[[nodiscard]] inline bool format_strides(MemoryFormat format, const Sizes& sizes, Sizes& strides) noexcept {
  strides = sizes;
  contiguous_strides(sizes, {strides.values.data(), sizes.rank});
  if (format == MemoryFormat::contiguous) return true;
  if (format != (sizes.rank == 4 ? MemoryFormat::channels_last : MemoryFormat::channels_last_3d)) return false;
  if (sizes.rank != 4 && sizes.rank != 5) return false;
  std::int64_t step = 1;
  const auto place = [&](std::size_t d) {
    strides[d] = step;
    step *= std::max<std::int64_t>(sizes[d], 1);
  };
  place(1);
  for (std::size_t d = sizes.rank; d-- > 2;) place(d);
  place(0);
  return true;
}

}  // namespace detail

/// resize_(self, size, memory_format?): the first elements of the storage in other sizes. A storage that is too small
/// is copied into a larger one, with zeros behind. Source: at::native::resize_.
[[nodiscard]] inline ErrorCode resize(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  Sizes sizes;
  if (!detail::ints_of(call.list(1), sizes)) return call.refuse(ErrorCode::invalid_argument, "sizes must be integers");
  if (!call.has(2) && std::ranges::equal(sizes.span(), x.sizes())) return call.alias(0, x, x.sizes(), x.strides());
  const std::int64_t count = davit::checked_numel(sizes, max_numel);
  for (const std::int64_t size : sizes.span())
    if (size < 0) return call.refuse(ErrorCode::invalid_shape, "a size is negative");
  if (count < 0) return call.refuse(ErrorCode::out_of_memory, "the sizes are too large");
  Sizes strides;
  const auto format = static_cast<MemoryFormat>(call.integer(2, static_cast<std::int64_t>(MemoryFormat::contiguous)));
  if (!detail::format_strides(format, sizes, strides))
    return call.refuse(ErrorCode::invalid_argument, "the sizes do not have this memory format");
  const auto* data = static_cast<const std::byte*>(x.data);
  const MemoryRange own = memory_range(x);
  const std::size_t wanted = static_cast<std::size_t>(count) * size_of(x.dtype);
  const std::size_t available = own.end == nullptr ? 0 : static_cast<std::size_t>(own.end - data);
  if (wanted <= available) return call.alias(0, x, sizes, strides);
  if (const ErrorCode code = call.make(0, x.dtype, sizes); code != ErrorCode::ok) return code;
  auto* to = static_cast<std::byte*>(call.output(0).data);
  if (available != 0) std::memcpy(to, data, available);
  std::memset(to + available, 0, wanted - available);
  const TensorView whole = call.output(0);
  return call.alias(0, whole, sizes, strides);
}

inline constexpr auto in_place_ops = std::to_array<OpRow>({
    {"aten.copy_.default", copy_to, Aliasing::may_alias, true},
    {"aten.resize_.default", resize, Aliasing::may_alias},
});

}  // namespace davit::portable_kernels
