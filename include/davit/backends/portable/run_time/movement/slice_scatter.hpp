// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/movement/slicing.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"
#include "davit/program/operators/movement.hpp"

namespace davit::portable_kernels {

namespace detail {

/// Records the part for undo if output 0 overwrites argument 0.
inline void keep_part(KernelCall& call, const TensorPart& part) {
  if (!call.is_in_place()) return;
  Sizes sizes(part.sizes());
  const Sizes strides(part.strides());
  const auto element = static_cast<std::int64_t>(size_of(call.output(0).dtype));
  std::int64_t run = 1;
  for (std::size_t d = sizes.rank; d-- > 0 && strides[d] == run;) run *= std::exchange(sizes[d], 1);
  for_each_index<1>(sizes, {strides}, [&](std::int64_t at) {
    call.undo->keep(call.output(0).as<std::byte>() + (part.offset + at) * element,
                    static_cast<std::size_t>(run * element));
  });
}

/// slice_scatter and select_scatter: a copy of argument 0 whose part is argument 1, converted to its dtype.
[[nodiscard]] inline ErrorCode put_part(KernelCall& call, const operators::SliceOperator& op) {
  const TensorView& x = call.tensor(0);
  Sizes dense(x.sizes());
  contiguous_strides(x.sizes(), {dense.values.data(), x.rank});
  TensorPart part;
  if (const ErrorCode code = read_part(call, op, dense, part); code != ErrorCode::ok) return code;
  const TensorView& source = call.tensor(1);
  if (!std::ranges::equal(source.sizes(), part.sizes()))
    return call.refuse(ErrorCode::invalid_shape, "the source must have the sizes of the part it replaces");
  if (!kernels::is_movable(x.dtype) ||
      (x.dtype != source.dtype && !(kernels::is_real(x.dtype) && kernels::is_real(source.dtype))))
    return ErrorCode::invalid_dtype;
  if (const ErrorCode code = copy_out(call, 0, x); code != ErrorCode::ok) return code;
  keep_part(call, part);
  (void)kernels::convert_elements(part.sizes(), source.data, source.dtype, source.strides(),
                                  call.output(0).element_at(part.offset), x.dtype, part.strides());
  return ErrorCode::ok;
}
[[nodiscard]] constexpr bool puts_part(const operators::SliceOperator& op) noexcept { return op.puts; }

}  // namespace detail

inline constexpr auto slice_scatter_ops =
    rows_of<operators::slice_operators, detail::put_part, detail::puts_part>({.updates = true});

}  // namespace davit::portable_kernels
