// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "davit/backends/onednn/library.hpp"
#include "davit/backends/onednn/operation.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/operators/spatial.hpp"

namespace davit::onednn_ops {

using operators::NodeArguments;
using operators::Refusal;

/// Sizes for oneDNN: a tensor without dimensions gets one of size 1.
[[nodiscard]] inline Dims sizes_of(GraphModuleView graph, ValueId v) {
  Dims dims;
  for (const Dim& d : graph.dims_of(graph.values[v].sizes)) dims.push_back(d.value);
  if (dims.empty()) dims.push_back(1);
  return dims;
}

/// The row-major descriptor of a value. A value of a dtype that the library lacks is bytes: only kernels take it.
[[nodiscard]] inline MemoryDesc plain_of(GraphModuleView graph, ValueId v) {
  const Dims dims = sizes_of(graph, v);
  const ScalarType dtype = graph.values[v].dtype;
  const DataType type = data_type_of(dtype);
  return type == DataType::undef ? plain({count_of(dims) * static_cast<std::int64_t>(size_of(dtype))}, DataType::u8)
                                 : plain(dims, type);
}

/// Returns nullptr for a tensor, of any dtype, that the backend can hold in memory, else the reason. Symbolic sizes
/// count as their examples: code is compiled for the sizes of a call.
[[nodiscard]] inline const char* check_tensor(GraphModuleView graph, ValueId v) noexcept {
  const Value& value = graph.values[v];
  if (value.kind != ValueKind::tensor) return "an operand is no tensor";
  if (value.layout != Layout::strided && value.layout != Layout::unknown) return "a tensor is not strided";
  if (value.sizes.count > max_dims) return "a tensor has too many dimensions";
  std::int64_t count = 1;
  for (const Dim& d : graph.dims_of(value.sizes)) {
    if (d.value <= 0) return "a tensor has no elements";
    if (__builtin_mul_overflow(count, d.value, &count) || count > (std::int64_t{1} << 40))
      return "a tensor is too large";
  }
  return nullptr;
}
/// True for the dtypes in which the library computes.
[[nodiscard]] constexpr bool is_computed(ScalarType dtype) noexcept {
  return dtype == ScalarType::float32 || dtype == ScalarType::bfloat16 || dtype == ScalarType::float16;
}

/// The spatial numbers for `dims` spatial dimensions, in oneDNN's order.
[[nodiscard]] inline Dims spatial_dims(const operators::Spatial& s, std::size_t dims) {
  return Dims(s.end() - static_cast<std::ptrdiff_t>(dims), s.end());
}
/// Dilations, which oneDNN counts from 0.
[[nodiscard]] inline Dims dilation_dims(const operators::Spatial& s, std::size_t dims) {
  Dims out = spatial_dims(s, dims);
  for (std::int64_t& d : out) --d;
  return out;
}

/// A row of the op table: an operator, and the reader of its nodes, which returns nullptr or the reason of a refusal.
struct OpRow {
  std::string_view name;
  const char* (*describe)(const operators::NodeArguments& in, const OpRow& row, Operation& op);
  dnnl::algorithm algorithm = dnnl::algorithm::undef;
  float alpha = 0;
  float beta = 0;
  bool any_dtype = false;  ///< of tensors; else they must all be float32, all bfloat16 or all float16
};

}  // namespace davit::onednn_ops
