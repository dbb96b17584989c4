// SPDX-License-Identifier: MIT
#include "davit/program/graph_bytes.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "../programs.hpp"
#include "davit/program/check_tables.hpp"
#include "davit/program/graph_equal.hpp"

using namespace davit;

TEST_CASE("a graph survives being written and read, metadata too") {
  const ExportedProgram program = programs::add({2, 3});
  ByteWriter out;
  write_graph(out, program.view());
  ByteReader in(out.written());
  const Result<GraphModule> read = read_graph(in);
  REQUIRE(read);
  CHECK(in.at_end());
  CHECK(graph_equal(read->view(), program.view(), {.metadata = true}));
}

TEST_CASE("truncated and damaged graphs are errors or sound tables, and never crash") {
  ByteWriter out;
  write_graph(out, programs::seed_graph().view());
  const std::vector<std::byte>& bytes = out.written();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ByteReader in{std::span(bytes).first(size)};
    const Result<GraphModule> read = read_graph(in);
    CHECK(!read);
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::vector<std::byte> damaged = bytes;
    damaged[at] ^= std::byte{0x81};
    ByteReader in(damaged);
    if (const Result<GraphModule> read = read_graph(in)) CHECK(check_tables(read->view()).has_value());
  }
}

TEST_CASE("a tensor is written with the bytes it can see and read with its strides") {
  Tensor whole = programs::tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor column = whole;
  column.sizes = {2};
  column.strides = {3};
  column.storage_offset = 1;
  ByteWriter out;
  write_tensor(out, column);
  ByteReader in(out.written());
  const Result<Tensor> read = read_tensor(in);
  REQUIRE(read);
  CHECK(read->sizes == column.sizes);
  CHECK(read->strides == column.strides);
  CHECK(read->storage_offset == 0);
  CHECK(read->storage.size() == 4 * sizeof(float));
  CHECK(read->view().as<float>()[0] == 2);
  CHECK(read->view().as<float>()[3] == 5);
}

TEST_CASE("tensors whose sizes reach outside their bytes are refused") {
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{4}, {INT64_MAX}, {-1}, {1 << 20, 1 << 20, 1 << 20}}) {
    ByteWriter out;
    out.number(ScalarType::float32);
    out.array(std::span<const std::int64_t>(sizes));
    const std::vector<std::int64_t> strides(sizes.size(), 1 << 20);
    out.array(std::span<const std::int64_t>(sizes.size() == 1 ? std::vector<std::int64_t>{1} : strides));
    out.align(64);
    out.bytes(std::vector<std::byte>(12));
    ByteReader in(out.written());
    const Result<Tensor> read = read_tensor(in);
    REQUIRE(!read);
    CHECK(read.error().code == ErrorCode::corrupt_data);
  }
}
