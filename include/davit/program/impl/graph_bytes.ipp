// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "davit/program/check_tables.hpp"
#include "davit/program/graph_bytes.hpp"

namespace davit {

DAVIT_INLINE void write_graph(ByteWriter& out, GraphModuleView g) {
  out.array(std::span<const char>(g.text.data(), g.text.size()));
  out.array(g.dims);
  out.array(g.exprs);
  out.array(g.values);
  out.array(g.arguments);
  out.array(g.nodes);
  out.array(g.graphs);
  out.array(g.metadata);
}

DAVIT_INLINE Result<GraphModule> read_graph(ByteReader& in) {
  GraphModule g;
  g.text = in.array<char>();
  g.dims = in.array<Dim>();
  g.exprs = in.array<Expr>();
  g.values = in.array<Value>();
  g.arguments = in.array<Argument>();
  g.nodes = in.array<Node>();
  g.graphs = in.array<Graph>();
  g.metadata = in.array<NodeMetadata>();
  if (!in.ok())
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .where = concat("graph tables, byte ", in.position()),
                                 .what = "the bytes end early or a size is wrong",
                                 .fix = "save the module again"});
  if (Result<void> checked = check_tables(g.view()); !checked) return std::unexpected(checked.error());
  return g;
}

DAVIT_INLINE void write_tensor(ByteWriter& out, const Tensor& t) {
  out.number(t.dtype);
  out.array(std::span<const std::int64_t>(t.sizes));
  out.array(std::span<const std::int64_t>(t.strides));
  const std::int64_t extent = storage_extent(t.sizes, t.strides, t.storage_offset, size_of(t.dtype));
  const std::size_t begin = static_cast<std::size_t>(t.storage_offset) * size_of(t.dtype);
  const bool empty = extent <= 0 || static_cast<std::size_t>(extent) > t.storage.size();
  out.align(64);
  out.bytes(empty ? std::span<const std::byte>{}
                  : t.storage.bytes().subspan(begin, static_cast<std::size_t>(extent) - begin));
}

DAVIT_INLINE Result<Tensor> read_tensor(ByteReader& in) {
  Tensor t;
  t.dtype = in.number<ScalarType>();
  t.sizes = in.array<std::int64_t>();
  t.strides = in.array<std::int64_t>();
  in.align(64);
  const std::span<const std::byte> data = in.bytes();
  const std::int64_t extent =
      t.sizes.size() == t.strides.size() ? storage_extent(t.sizes, t.strides, 0, size_of(t.dtype)) : -1;
  if (!in.ok() || size_of(t.dtype) == 0 || t.sizes.size() > max_rank || extent < 0 || checked_numel(t.sizes) < 0 ||
      static_cast<std::size_t>(extent) > data.size())
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .where = concat("tensor, byte ", in.position()),
                                 .what = "its sizes and strides reach outside its bytes, or its dtype is unknown",
                                 .fix = "save the module again"});
  t.storage = SharedBytes::copy_of(data);
  if (t.dtype == ScalarType::bool_) t.storage = SharedBytes::bools(std::move(t.storage));
  if (t.storage.size() != data.size())
    return std::unexpected(Error{.code = ErrorCode::out_of_memory, .where = "tensor", .what = "no memory for its bytes"});
  return t;
}

}  // namespace davit
