// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/graph_json.hpp"

#include <doctest/doctest.h>

#include <string>

#include "davit/program/check_tables.hpp"
#include "support/program_json.hpp"

using namespace davit;
using namespace davit::formats;
using namespace program_json;

namespace {

struct Read {
  explicit Read(const std::string& text) {
    auto parsed = parse_json(text, "graph");
    REQUIRE_MESSAGE(parsed, text);
    GraphBuilder builder;
    id = GraphReader(builder).read(parsed->root());
    if (id) module = std::move(builder).finish();
  }
  explicit Read(const GraphText& graph) : Read(graph.text()) {}
  [[nodiscard]] GraphModuleView view() const {
    REQUIRE_MESSAGE(id, to_string(id.error()));
    return module.view();
  }
  Result<GraphId> id;
  GraphModule module;
};

/// x, then "y = x + x".
GraphText one_add() {
  return {.inputs = tensor("x"),
          .nodes = add("x", "x", "y"),
          .outputs = tensor("y"),
          .tensor_values = value("x") + ", " + value("y")};
}

void check_refused(const GraphText& graph, std::string_view where, std::string_view what) {
  const Read read(graph);
  REQUIRE(!read.id);
  CHECK(read.id.error().code == ErrorCode::corrupt_data);
  CHECK(read.id.error().where == where);
  CHECK_MESSAGE(read.id.error().what.view().find(what) != std::string_view::npos, to_string(read.id.error()));
}

std::string subgraph(const GraphText& graph) {
  return R"({"as_graph": {"name": "body", "graph": )" + graph.text() + "}}";
}

/// A cond whose branches are `one_add`, and whose outputs are written as `outputs`.
GraphText cond(const std::string& outputs, const std::string& extra = "") {
  const std::string operands = named("", tensor("p")) + ", " + named("", subgraph(one_add())) + ", " +
                               named("", subgraph(one_add())) + ", " + named("", R"({"as_tensors": [{"name": "x"}]})");
  std::string call = node("torch.ops.higher_order.cond", operands, outputs);
  call.insert(call.size() - 1, extra);
  return {.inputs = tensor("p") + ", " + tensor("x"),
          .nodes = call,
          .outputs = tensor("z"),
          .tensor_values = value("p", meta("", "", "12")) + ", " + value("x") + ", " + value("z")};
}

}  // namespace

TEST_CASE("a graph becomes tables in the order of definition") {
  const Read read(one_add());
  const GraphModuleView g = read.view();
  REQUIRE(g.values.size() == 2);
  CHECK(g.name(0) == "x");
  CHECK(g.name(1) == "y");
  CHECK(g.values[0].producer == no_id);
  CHECK(g.values[1].producer == 0);
  REQUIRE(g.nodes.size() == 1);
  CHECK(g.target(g.nodes[0]) == "aten.add.Tensor");
  CHECK(g.find_input(g.nodes[0], "other")->value() == 0);
  CHECK(g.nodes[0].metadata == 0);
  CHECK(g.args(g.root().outputs)[0].value() == 1);
  CHECK(check_tables(g).has_value());
}

TEST_CASE("graph inputs may be constants") {
  GraphText graph = one_add();
  graph.inputs += R"(, {"as_int": 3}, {"as_none": true}, {"as_string": "mean"}, {"as_float": "Infinity"})";
  const Read read(graph);
  const auto inputs = read.view().args(read.view().root().inputs);
  REQUIRE(inputs.size() == 5);
  CHECK(inputs[1].payload == 3);
  CHECK(read.view().string(inputs[3]) == "mean");
  graph.inputs = R"({"as_ints": [3]})";
  check_refused(graph, "graph.inputs[0]", "cannot be a list");
}

TEST_CASE("results are values, nothing, or lists of values") {
  GraphText graph = one_add();
  graph.nodes = node("torch.ops.aten.split.Tensor", named("self", tensor("x")),
                     R"({"as_tensors": [{"name": "y"}, {"name": "z"}]}, {"as_none": true})");
  graph.tensor_values += ", " + value("z");
  const Read read(graph);
  const auto outputs = read.view().outputs(read.view().nodes[0]);
  REQUIRE(outputs.size() == 2);
  CHECK(outputs[0].is_list());
  CHECK(outputs[1].kind == ArgumentKind::none);
  CHECK(read.view().values[2].producer == 0);
  graph.nodes = node("torch.ops.aten.foo.default", "", R"({"as_int": 3})");
  check_refused(graph, "graph.nodes[0].outputs[0]", "must return values");
}

TEST_CASE("the tuple of one of a higher-order operator reads the same in both forms") {
  const Read old_form(cond(R"({"as_tensors": [{"name": "z"}]})"));
  const Read new_form(cond(tensor("z"), R"(, "is_hop_single_tensor_return": false, "name": "cond")"));
  const GraphModuleView a = old_form.view();
  const GraphModuleView b = new_form.view();
  REQUIRE(a.nodes.size() == 3);
  CHECK(a.graphs.size() == 3);
  CHECK(a.arguments.size() == b.arguments.size());
  CHECK(a.text == b.text);
  const Node& call = a.nodes[a.root().nodes.first];
  REQUIRE(a.outputs(call).size() == 1);
  CHECK(a.outputs(call)[0].is_value());
  CHECK(b.outputs(b.nodes[b.root().nodes.first])[0].payload == a.outputs(call)[0].payload);
  CHECK(a.inputs(call)[1].kind == ArgumentKind::graph);
  CHECK(a.str(a.graphs[1].name) == "body");
  CHECK(check_tables(a).has_value());
}

TEST_CASE("tokens of effects are tokens") {
  GraphText graph = one_add();
  graph.inputs = tensor("t") + ", " + tensor("x");
  graph.tensor_values += ", " + value("t", meta("0", "1")) + ", " + value("u", meta("0", "1"));
  graph.nodes = node("torch.ops.higher_order.with_effects",
                     named("", tensor("t")) + ", " + named("", R"({"as_operator": "torch.ops.aten._print.default"})"),
                     tensor("u") + R"(, {"as_none": true})") +
                ", " + graph.nodes;
  const Read read(graph);
  CHECK(read.view().values[0].kind == ValueKind::token);
  CHECK(read.view().values[1].kind == ValueKind::tensor);
  CHECK(read.view().values[2].kind == ValueKind::token);
  CHECK(read.view().name(2) == "u");
}

TEST_CASE("arguments keep whether they were passed by keyword") {
  GraphText graph = one_add();
  graph.nodes = node("torch.ops.aten.add.Tensor",
                     R"({"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
                        {"name": "alpha", "arg": {"as_int": 2}, "kind": 2},
                        {"name": "other", "arg": {"as_tensor": {"name": "x"}}, "kind": null})",
                     tensor("y"));
  const Read read(graph);
  const auto inputs = read.view().inputs(read.view().nodes[0]);
  CHECK(inputs[0].keyword == 0);
  CHECK(inputs[1].keyword == 1);
  CHECK(inputs[2].keyword == 0);
}

TEST_CASE("a scan without a direction goes over dimension 0, forwards") {
  const auto operands = [](const std::string& behind) {
    GraphText graph = one_add();
    GraphText body = one_add();
    graph.nodes =
        node("torch.ops.higher_order.scan",
             named("", R"({"as_graph": {"name": "body", "graph": )" + body.text() + "}}") + ", " +
                 named("", R"({"as_tensors": []})") + ", " + named("", R"({"as_tensors": [{"name": "x"}]})") + behind,
             tensor("y"));
    const Read read(graph);
    const GraphModuleView view = read.view();
    std::string text;
    for (const Argument& a : view.inputs(view.nodes_of(view.root())[0]))
      text += std::to_string(static_cast<int>(a.kind)) + (a.is_list() ? "" : ":" + std::to_string(a.payload)) + " ";
    return text;
  };
  const std::string list = ", " + named("", R"({"as_tensors": []})");
  const std::string older =
      operands(", " + named("", R"({"as_int": 0})") + ", " + named("", R"({"as_bool": false})") + list);
  CHECK(operands(list) == older);
  CHECK(operands("") != older);
  CHECK(older.starts_with(operands("")));
  CHECK(operands(", " + named("", R"({"as_int": 1})") + ", " + named("", R"({"as_bool": true})") + list) != older);
}

TEST_CASE("damaged graphs are refused with the node") {
  GraphText graph = one_add();
  graph.nodes = add("x", "q", "y");
  check_refused(graph, "graph.nodes[0].inputs[1].arg.as_tensor.name", "value 'q' does not exist in this graph");
  graph.nodes = add("x", "y", "y");
  check_refused(graph, "graph.nodes[0].inputs[1].arg.as_tensor.name", "value 'y' is used before it is defined");
  graph.nodes = add("x", "x", "y") + ", " + add("x", "x", "y");
  check_refused(graph, "graph.nodes[1].outputs[0].as_tensor.name", "value 'y' is defined a second time");
  graph.nodes = add("x", "x", "z");
  check_refused(graph, "graph.nodes[0].outputs[0].as_tensor.name", "does not say what value 'z' is");
  graph.nodes = "3";
  check_refused(graph, "graph.nodes[0]", "expected an object");
  graph.nodes = R"({"target": 3})";
  check_refused(graph, "graph.nodes[0].target", "expected a string");
  graph = one_add();
  graph.outputs = tensor("q");
  check_refused(graph, "graph.outputs[0].as_tensor.name", "value 'q' does not exist");
  graph = one_add();
  graph.inputs += ", " + tensor("x");
  check_refused(graph, "graph.inputs[1].as_tensor.name", "defined a second time");
}

TEST_CASE("a sub-graph sees nothing of the graph around it") {
  GraphText body = one_add();
  body.nodes = add("x", "p", "y");
  GraphText graph = cond(tensor("z"));
  const std::string text = graph.nodes;
  graph.nodes = node("torch.ops.higher_order.cond", named("", subgraph(body)), tensor("z"));
  check_refused(graph, "graph.nodes[0].inputs[0].arg.as_graph.graph.nodes[0].inputs[1].arg.as_tensor.name",
                "value 'p' does not exist in this graph");
}

TEST_CASE("nesting of sub-graphs is bounded") {
  const auto nested = [](int depth) {
    std::string text = GraphText{}.text();
    for (int i = 0; i < depth; ++i) {
      GraphText outer;
      outer.nodes =
          node("torch.ops.higher_order.cond", named("", R"({"as_graph": {"name": "", "graph": )" + text + "}}"), "");
      text = outer.text();
    }
    return text;
  };
  CHECK(Read(nested(max_graph_depth)).id.has_value());
  const Read deep(nested(max_graph_depth + 1));
  REQUIRE(!deep.id);
  CHECK(deep.id.error().what == "sub-graphs are nested too deeply");
}
