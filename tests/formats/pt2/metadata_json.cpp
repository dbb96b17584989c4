// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/graph_json.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace davit;
using namespace davit::formats;

TEST_CASE("equal rows are stored once, and every node has one") {
  const auto document = parse_json(R"([
      {"metadata": {"stack_trace": "File", "torch_fn": "add", "nn_module_stack": "", "unknown": [1]}},
      {"metadata": {"torch_fn": "add", "stack_trace": "File", "custom": null}},
      {"metadata": {"stack_trace": "Other", "nn_module_stack": "M", "source_fn_stack": "s", "custom": "{}"}},
      {"metadata": {}}, {}, {"metadata": {"torch_fn": 3}}, {"metadata": []}])",
                                   "nodes");
  REQUIRE(document);
  GraphBuilder builder;
  MetadataReader reader(builder);
  std::vector<Result<std::uint32_t>> rows;
  const Result<JsonArray> nodes = document->root().array();
  REQUIRE(nodes);
  for (const Json node : *nodes) rows.push_back(reader.read(node));
  REQUIRE(rows.size() == 7);
  CHECK(rows[0] == 0u);
  CHECK(rows[1] == 0u);
  CHECK(rows[2] == 1u);
  CHECK(rows[3] == 2u);
  CHECK(rows[4] == 2u);
  REQUIRE_FALSE(rows[5]);
  REQUIRE_FALSE(rows[6]);
  CHECK(rows[5].error().where == "nodes[5].metadata.torch_fn");
  CHECK(rows[6].error().where == "nodes[6].metadata");
  const GraphModuleView view = builder.module().view();
  REQUIRE(view.metadata.size() == 3);
  CHECK(view.str(view.metadata[0].stack_trace) == "File");
  CHECK(view.str(view.metadata[0].torch_fn) == "add");
  CHECK(view.str(view.metadata[1].custom) == "{}");
  CHECK(view.str(view.metadata[1].source_fn_stack) == "s");
  CHECK(view.str(view.metadata[2].stack_trace).empty());
}
