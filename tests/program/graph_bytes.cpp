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
