// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/onednn/builder.hpp"
#include "davit/backends/onednn/kernels.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/scalar_type.hpp"

/// Operands and results of primitives that compute in float32, for values of any dtype.
namespace davit::onednn_ops {

namespace detail {
/// Adds a step of convert_kernel: `count` elements in row-major order.
inline void add_conversion(Builder& b, const Place& from, ScalarType from_type, const Place& to, ScalarType to_type,
                           std::int64_t count) {
  const std::array numbers{EValue(static_cast<std::int64_t>(to_type))};
  b.add_kernel(
      own_kernel_step(convert_kernel, std::array{KernelTensor{{count}, from_type}}, numbers, {{count}, to_type}),
      {&from, 1}, {&to, 1});
}
}  // namespace detail

/// The place of a value as float32, or in a layout that `reordered` converts to float32. A kernel converts dtypes other
/// than float32 and, where the library has code for the CPU, bfloat16. Constants are converted only if they are used
/// so.
[[nodiscard]] inline Place floats(Builder& b, ValueId v) {
  const Place from = b.place_of(v);
  const ScalarType dtype = b.graph().values[v].dtype;
  const bool constant = b.is_constant(from) && !b.trial();
  if (dtype == ScalarType::float32 || (dtype == ScalarType::bfloat16 && has_wide_vectors() && !constant)) return from;
  const MemoryDesc md = plain(b.sizes(v), DataType::f32);
  const std::int64_t count = count_of(b.sizes(v));
  const Place rows = dtype == ScalarType::bfloat16 ? b.row_major(from) : from;
  if (constant)
    return b.lazy_constant(rows, md,
                           [&b, rows, dtype, count](std::byte* to) {
                             convert(dtype, b.constant_data(rows), ScalarType::float32, to, count);
                           },
                           {});
  const Place to = b.add_scratch(md);
  detail::add_conversion(b, rows, dtype, to, ScalarType::float32, count);
  return to;
}
/// Returns a place in row-major order, in these sizes, of this dtype.
[[nodiscard]] inline Place in_rows(Builder& b, const Place& from, const Dims& dims, DataType type) {
  return b.reordered(b.viewed(from, dims), plain(dims, type));
}
/// A weight, a bias or a statistic as float32: in row-major order, in these sizes.
[[nodiscard]] inline Place float_parameter(Builder& b, ValueId v, const Dims& dims) {
  return in_rows(b, floats(b, v), dims, DataType::f32);
}

/// Records the place of a value that was computed in float32 or its own dtype; rounds it to its dtype.
inline void place_floats(Builder& b, ValueId v, const Place& made) {
  const ScalarType dtype = b.graph().values[v].dtype;
  if (data_type_of(dtype) == type_of(made.md)) return b.place(v, made);
  if (dtype == ScalarType::bfloat16 && has_wide_vectors())
    return b.place(v, b.reordered(made, with_type(made.md, DataType::bf16)));
  const Place to = b.add_scratch(plain_of(b.graph(), v));
  detail::add_conversion(b, b.row_major(b.viewed(made, b.sizes(v))), ScalarType::float32, to, dtype,
                         count_of(b.sizes(v)));
  b.place(v, to);
}

}  // namespace davit::onednn_ops
