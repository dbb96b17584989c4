// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "davit/backends/portable/run_time/result_type.hpp"
#include "davit/backends/portable/run_time/slicing.hpp"

namespace davit::portable_kernels {

namespace detail {

/// Keeps the part of output 0 that begins `offset` elements in, should it lie where argument 0 lies.
inline void keep_part(KernelCall& call, std::int64_t offset, Sizes sizes, const Sizes& strides) {
  if (!call.is_in_place()) return;
  const auto element = static_cast<std::int64_t>(size_of(call.output(0).dtype));
  std::int64_t run = 1;
  for (std::size_t d = sizes.rank; d-- > 0 && strides[d] == run;) run *= std::exchange(sizes[d], 1);
  for_each_index<1>(sizes, {strides}, [&](std::int64_t at) {
    call.undo->keep(call.output(0).as<std::byte>() + (offset + at) * element, static_cast<std::size_t>(run * element));
  });
}

/// A copy of argument 0 with argument 1, converted to its dtype, in the part that begins `offset` elements in and has
/// these sizes and (contiguous) strides.
[[nodiscard]] inline ErrorCode with_part(KernelCall& call, std::int64_t offset, const Sizes& sizes,
                                         const Sizes& strides) {
  const TensorView& source = call.tensor(1);
  if (!std::ranges::equal(source.sizes(), sizes.span()))
    return call.refuse(ErrorCode::invalid_shape, "the source must have the sizes of the part it replaces");
  const ScalarType type = call.tensor(0).dtype;
  if (!kernels::is_movable(type) || (type != source.dtype && !(kernels::is_real(type) && kernels::is_real(source.dtype)))) return ErrorCode::invalid_dtype;
  if (const ErrorCode code = copy_out(call, 0, call.tensor(0)); code != ErrorCode::ok) return code;
  keep_part(call, offset, sizes, strides);
  (void)kernels::convert_elements(sizes, source.data, source.dtype, source.strides(), call.output(0).element_at(offset), type,
                                  strides);
  return ErrorCode::ok;
}

[[nodiscard]] inline ErrorCode select_scatter(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  std::int64_t dim = call.integer(2);
  std::int64_t index = call.integer(3);
  if (x.rank == 0 || !wrap_dim(dim, x.rank)) return bad_dim(call);
  const auto d = static_cast<std::size_t>(dim);
  if (index < -x.size(d) || index >= x.size(d))
    return call.refuse(ErrorCode::out_of_range, "the index is outside the dimension");
  if (index < 0) index += x.size(d);
  Sizes dense(x.sizes());
  contiguous_strides(x.sizes(), {dense.values.data(), x.rank});
  Sizes sizes;
  Sizes strides;
  for (std::size_t k = 0; k < x.rank; ++k) {
    if (k == d) continue;
    (void)sizes.push(x.size(k));
    (void)strides.push(dense[k]);
  }
  return with_part(call, index * dense[d], sizes, strides);
}

[[nodiscard]] inline ErrorCode slice_scatter(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  Slice slice;
  if (const ErrorCode code = read_slice(call, x, 2, slice); code != ErrorCode::ok) return code;
  Sizes sizes(x.sizes());
  Sizes strides(x.sizes());
  contiguous_strides(x.sizes(), {strides.values.data(), x.rank});
  sizes[slice.dim] = slice.length;
  const std::int64_t offset = slice.length == 0 ? 0 : slice.start * strides[slice.dim];
  strides[slice.dim] *= slice.length > 1 ? slice.step : 1;
  return with_part(call, offset, sizes, strides);
}

}  // namespace detail

inline constexpr auto slice_scatter_ops = std::to_array<OpRow>({
    {"aten.select_scatter.default", detail::select_scatter, Aliasing::none, false, false, true},
    {"aten.slice_scatter.default", detail::slice_scatter, Aliasing::none, false, false, true},
});

}  // namespace davit::portable_kernels
