// SPDX-License-Identifier: MIT
#include "davit/program/strip_metadata.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "../programs.hpp"
#include "davit/program/check_tables.hpp"
#include "davit/program/graph_equal.hpp"

using namespace davit;

namespace {

constexpr bool check_strip() {
  const ProgramTables program = programs::add({3});
  const GraphModule stripped = strip_metadata(program.view());
  const std::string_view text = stripped.view().text;
  return graph_equal(stripped.view(), program.view()) && stripped.metadata.empty() &&
         stripped.nodes[0].metadata == no_id && program.graph_module.metadata.size() == 1 &&
         text.find("model.py") == std::string_view::npos && text.find("aten.add.Tensor") != std::string_view::npos &&
         check_tables(stripped.view()).has_value() &&
         graph_equal(strip_metadata(stripped.view()).view(), stripped.view(), {.metadata = true});
}
static_assert(check_strip());

constexpr bool check_texts() {  // texts of arguments are kept
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {});
  b.end_graph({b.call("aten.gelu.default", {{"self", b.value(x)}, {"approximate", b.string("tanh")}}, "gelu",
                      ScalarType::float32, {})});
  const GraphModule module = std::move(b).finish();
  const GraphModule stripped = strip_metadata(module.view());
  return graph_equal(module.view(), stripped.view());
}
static_assert(check_texts());

}  // namespace

TEST_CASE("stripping drops only metadata and its text") {
  CHECK(check_strip());
  CHECK(check_texts());
}
