// SPDX-License-Identifier: MIT
#include "davit/program/verify_values.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "../programs.hpp"
#include "program/only_violation.hpp"

using namespace davit;

namespace {

constexpr auto f32 = ScalarType::float32;

constexpr ValueId named(const GraphModule& m, std::string_view name) {
  for (ValueId v = 0; v < m.values.size(); ++v)
    if (m.view().name(v) == name) return v;
  return no_id;
}

constexpr bool check_use_before_definition() {
  ProgramTables p = programs::seed();
  p.graph_module.arguments[p.graph_module.nodes[0].inputs.first].payload = named(p.graph_module, "mul_1");
  return only(p, "node 0 'add' (aten.add.Tensor)", "'mul_1' is used before it is defined");
}
static_assert(check_use_before_definition());

constexpr bool check_defined_twice() {
  ProgramTables p = programs::seed();
  GraphModule& m = p.graph_module;
  m.arguments[m.nodes[2].outputs.first].payload = named(m, "mul");  // mul_1 is then defined nowhere
  const std::vector<Error> v = verify(p);
  return v.size() == 4 && v[0].where == "node 2 'mul' (aten.mul.Tensor)" &&
         v[0].what == "'mul' names another producer" && v[1].where == "node 2 'mul' (aten.mul.Tensor)" &&
         v[1].what == "'mul' is defined a second time" && v[2].where == "node 3 'add_1' (aten.add.Tensor)" &&
         v[2].what == "'mul_1' is used before it is defined" && v[3].where == "value 'mul_1'" &&
         v[3].what == "it is declared, but neither an input nor a node defines it";
}
static_assert(check_defined_twice());

constexpr bool check_output_undefined() {
  ProgramTables p = programs::identity();
  p.graph_module.graphs[0].inputs.count = 0;
  p.signature.input_specs.clear();
  const std::vector<Error> v = verify(p);
  return v.size() == 2 && v[0].where == "outputs of graph ''" && v[0].what == "'x' is used before it is defined";
}
static_assert(check_output_undefined());

constexpr bool check_names() {
  ProgramTables p = programs::add();
  p.graph_module.values[2].name = p.graph_module.values[0].name;
  p.signature.output_specs.clear();
  p.signature.output_specs.push_back(UserOutputSpec{TensorArgument{"x"}});
  ProgramTables q = programs::add();
  q.graph_module.values[2].name = {};
  q.signature.output_specs.clear();
  q.signature.output_specs.push_back(UserOutputSpec{TensorArgument{""}});
  return only(p, "value 'x'", "two values of one graph have this name") && only(q, "value 2", "it has no name");
}
static_assert(check_names());

constexpr bool check_foreign_values() {  // a sub-graph may only use its own values
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {});
  const GraphId inner = b.begin_graph("body");
  b.input("z", f32, {});
  const ValueId e = b.call("aten.exp.default", {{"self", b.value(x)}}, "e", f32, {});
  b.end_graph({e});
  b.end_graph({b.call("higher_order.map_impl", {{"", b.subgraph(inner)}, {"", b.tensors({x})}, {"", b.tensors({})}},
                      "out", f32, {})});
  return only(programs::user_program(std::move(b).finish()), "node 0 'e' (aten.exp.default)",
              "'x' belongs to another graph; a sub-graph sees only its operands");
}
static_assert(check_foreign_values());

constexpr bool check_sizes() {
  const auto refused = [](std::string_view what, auto change) {
    ProgramTables p = programs::add();
    change(p.graph_module);
    const std::vector<Error> v = verify(p);
    return v.size() == 1 && v[0].where == "value 'x'" && v[0].what == what;
  };
  constexpr std::string_view too_large = "its sizes are negative, or multiply to more elements than a tensor can have";
  const auto sizes = [](GraphModule& m, std::initializer_list<std::int64_t> list) {
    const auto first = static_cast<std::uint32_t>(m.dims.size());
    for (const std::int64_t size : list) m.dims.push_back({.value = size});
    m.values[0].sizes = {first, static_cast<std::uint32_t>(list.size())};
    m.values[0].strides = {};
  };
  return refused(too_large, [&](GraphModule& m) { sizes(m, {3, 6148914691236517206}); }) &&
         refused(too_large, [&](GraphModule& m) { sizes(m, {2, -1}); }) &&
         refused(too_large,
                 [&](GraphModule& m) {  // the hint of a symbolic size: its value in the export
                   m.exprs.push_back({.op = ExprOp::symbol});
                   sizes(m, {3, 6148914691236517206});
                   m.dims.back().expr = static_cast<ExprId>(m.exprs.size() - 1);
                 }) &&
         refused("it has 17 dimensions; at most 16 are supported",
                 [&](GraphModule& m) { sizes(m, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}); });
}
static_assert(check_sizes());

}  // namespace

TEST_CASE("values are defined before they are used") {
  CHECK(check_use_before_definition());
  CHECK(check_output_undefined());
}
TEST_CASE("values are defined once") { CHECK(check_defined_twice()); }
TEST_CASE("values have names, and no two of a graph the same") { CHECK(check_names()); }
TEST_CASE("a tensor's rank and sizes must be possible") { CHECK(check_sizes()); }
TEST_CASE("a sub-graph sees only its operands") { CHECK(check_foreign_values()); }
