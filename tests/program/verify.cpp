// SPDX-License-Identifier: MIT
#include "davit/program/verify.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "../programs.hpp"

using namespace davit;

namespace {

constexpr auto f32 = ScalarType::float32;

/// True if `program` has exactly one violation, with this place and this text.
constexpr bool only(const ExportedProgram& program, std::string_view where, std::string_view what,
                    VerifyOptions options = {}) {
  const std::vector<Error> violations = verify(program, options);
  return violations.size() == 1 && violations[0].code == ErrorCode::invalid_program &&
         violations[0].stage == Stage::verify && violations[0].where == where && violations[0].what == what &&
         !violations[0].fix.empty();
}

/// Puts `spec` in place of element i; assigning another alternative is no constant expression with libstdc++ 12.
template <class Spec>
constexpr void put(std::vector<Spec>& list, std::size_t i, Spec spec) {
  std::vector<Spec> changed;
  for (std::size_t k = 0; k < list.size(); ++k) changed.push_back(k == i ? spec : list[k]);
  list = std::move(changed);
}

constexpr bool check_seed() {
  return verify(programs::seed()).empty();
}
static_assert(check_seed());

constexpr ValueId named(const GraphModule& m, std::string_view name) {
  for (ValueId v = 0; v < m.values.size(); ++v)
    if (m.view().name(v) == name) return v;
  return no_id;
}

// -- definitions and names ----------------------------------------------------------------------------------------

constexpr bool check_use_before_definition() {
  ExportedProgram p = programs::seed();
  p.graph_module.arguments[p.graph_module.nodes[0].inputs.first].payload = named(p.graph_module, "mul_1");
  return only(p, "node 0 'add' (aten.add.Tensor)", "'mul_1' is used before it is defined");
}
static_assert(check_use_before_definition());

constexpr bool check_defined_twice() {
  ExportedProgram p = programs::seed();
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
  ExportedProgram p = programs::identity();
  p.graph_module.graphs[0].inputs.count = 0;
  p.signature.input_specs.clear();
  const std::vector<Error> v = verify(p);
  return v.size() == 2 && v[0].where == "outputs of graph ''" && v[0].what == "'x' is used before it is defined";
}
static_assert(check_output_undefined());

constexpr bool check_names() {
  ExportedProgram p = programs::add();
  p.graph_module.values[2].name = p.graph_module.values[0].name;
  p.signature.output_specs.clear();
  p.signature.output_specs.push_back(UserOutputSpec{TensorArgument{"x"}});
  ExportedProgram q = programs::add();
  q.graph_module.values[2].name = {};
  q.signature.output_specs.clear();
  q.signature.output_specs.push_back(UserOutputSpec{TensorArgument{""}});
  return only(p, "value 'x'", "two values of one graph have this name") && only(q, "value 2", "it has no name");
}
static_assert(check_names());

constexpr bool check_foreign_values() {  // a sub-graph may not use what it was not given
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

// -- operators ----------------------------------------------------------------------------------------------------

constexpr bool check_operators() {
  const auto with = [](std::string_view target) { return programs::binary(target); };
  const VerifyOptions open{.allow_unknown_operators = true};
  return only(with("aten.nosuch.default"), "node 0 'result' (aten.nosuch.default)",
              "'aten.nosuch.default' is not an operator davit knows") &&
         verify(with("aten.nosuch.default"), open).empty() && verify(with("my.op.default")).empty() &&
         verify(with("quantized_decomposed.quantize_per_tensor.default")).empty() &&
         only(with("add"), "node 0 'result' (add)", "'add' is no operator name", open) &&
         only(with(".add.Tensor"), "node 0 'result' (.add.Tensor)", "'.add.Tensor' is no operator name", open) &&
         only(with("aten.add."), "node 0 'result' (aten.add.)", "'aten.add.' is no operator name", open) &&
         only(with("aten.add"), "node 0 'result' (aten.add)", "'aten.add' has no overload", open) &&
         only(with("_operator.nosuch"), "node 0 'result' (_operator.nosuch)",
              "'_operator.nosuch' is not an operation on symbolic numbers", open) &&
         verify(with("_operator.add")).empty();
}
static_assert(check_operators());

// -- sub-graphs ---------------------------------------------------------------------------------------------------

/// cond whose true graph takes `inputs` values and gives `outputs`.
constexpr ExportedProgram conditional(int inputs, int outputs, bool has_graph = true) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId p = b.input("p", ScalarType::bool_, {});
  const ValueId x = b.input("x", f32, {});
  const auto branch = [&](std::string_view name, int in, int out) {
    const GraphId id = b.begin_graph(name);
    ValueId last = no_id;
    for (int i = 0; i < in; ++i) last = b.input(concat("a", i), f32, {});
    std::vector<Argument> results;
    for (int i = 0; i < out; ++i) results.push_back(in > 0 ? b.value(last) : b.integer(1));
    b.end_graph(std::span<const Argument>(results));
    return id;
  };
  const GraphId yes = has_graph ? branch("true_graph", inputs, outputs) : no_id;
  const GraphId no = branch("false_graph", 1, 1);
  b.end_graph({b.call(
      "higher_order.cond",
      {{"", b.value(p)}, {"", has_graph ? b.subgraph(yes) : b.none()}, {"", b.subgraph(no)}, {"", b.tensors({x})}},
      "cond", f32, {})});
  return programs::user_program(std::move(b).finish());
}
constexpr bool check_arity() {
  constexpr std::string_view place = "node 0 'cond' (higher_order.cond)";
  return verify(conditional(1, 1)).empty() &&
         only(conditional(2, 1), place, "sub-graph 'true_graph' takes 2 values, but the operator passes 1") &&
         only(conditional(1, 2), place, "sub-graph 'true_graph' returns 2 values, but the operator returns 1") &&
         only(conditional(1, 1, false), place, "argument 1 must be a sub-graph");
}
static_assert(check_arity());

constexpr ExportedProgram loop(std::size_t results) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId i = b.input("i", ScalarType::int64, {});
  const ValueId x = b.input("x", f32, {});
  const GraphId test = b.begin_graph("cond_graph");
  const ValueId t = b.input("i", ScalarType::bool_, {});
  b.input("x", f32, {});
  b.end_graph({t});
  const GraphId body = b.begin_graph("body_graph");
  const ValueId p = b.input("i", ScalarType::int64, {});
  const ValueId q = b.input("x", f32, {});
  b.end_graph({p, q});
  std::vector<Argument> outputs;
  for (std::size_t k = 0; k < results; ++k) outputs.push_back(b.value(b.tensor(concat("o", k), f32, {})));
  const Argument inputs[] = {b.subgraph(test), b.subgraph(body), b.tensors({i, x}), b.tensors({})};
  b.node("higher_order.while_loop", inputs, outputs);
  b.end_graph(std::span<const Argument>(outputs));
  return programs::user_program(std::move(b).finish());
}
constexpr bool check_while_loop() {
  return verify(loop(2)).empty() &&
         only(loop(1), "node 0 'o0' (higher_order.while_loop)", "it must return one value per carried input");
}
static_assert(check_while_loop());

// -- the signature ------------------------------------------------------------------------------------------------

constexpr bool check_counts() {
  ExportedProgram p = programs::seed();
  p.signature.input_specs.pop_back();
  ExportedProgram q = programs::seed();
  q.signature.output_specs.push_back(UserOutputSpec{TensorArgument{"mul"}});
  return only(p, "signature", "it lists 4 inputs, the graph has 5") &&
         only(q, "signature", "it lists 3 outputs, the graph has 2");
}
static_assert(check_counts());

constexpr bool check_signature_names() {
  ExportedProgram p = programs::seed();
  put<InputSpec>(p.signature.input_specs, 3, UserInputSpec{TensorArgument{"y1"}});
  ExportedProgram q = programs::seed();
  put<OutputSpec>(q.signature.output_specs, 1, UserOutputSpec{TensorArgument{"mul"}});
  return only(p, "signature, input 3 'y1'", "the graph calls this input 'x1'") &&
         only(q, "signature, output 1 'mul'", "the graph calls this output 'add_1'");
}
static_assert(check_signature_names());

constexpr bool check_weights() {
  ExportedProgram p = programs::seed();
  p.state_dict.erase(p.state_dict.begin());
  ExportedProgram q = programs::seed();
  q.state_dict.erase(q.state_dict.begin() + 1);
  ExportedProgram r = programs::seed();
  put<InputSpec>(r.signature.input_specs, 1, InputToBufferSpec({"b_my_buffer1"}, "my_buffer1", false));
  const std::vector<Error> v = verify(r);
  ExportedProgram s = programs::seed();
  put<InputSpec>(s.signature.input_specs, 1, InputToTensorConstantSpec({"b_my_buffer1"}, "k"));
  return only(p, "signature, input 0 'p_my_parameter'", "parameter 'my_parameter' is not in the state dict") &&
         only(q, "signature, input 1 'b_my_buffer1'", "persistent buffer 'my_buffer1' is not in the state dict") &&
         v.size() == 2 && v[0].what == "non-persistent buffer 'my_buffer1' is in the state dict" &&
         v[1].what == "non-persistent buffer 'my_buffer1' is not among the constants" &&
         only(s, "signature, input 1 'b_my_buffer1'", "constant 'k' is not among the constants");
}
static_assert(check_weights());

constexpr bool check_mutations() {
  const auto mutated = [](OutputSpec spec) {
    ExportedProgram p = programs::seed();
    put<OutputSpec>(p.signature.output_specs, 0, std::move(spec));
    return p;
  };
  constexpr std::string_view place = "signature, output 0 'add_2'";
  return only(mutated(BufferMutationSpec({"add_2"}, "nosuch")), place,
              "BUFFER_MUTATION names 'nosuch', which is no such input") &&
         only(mutated(BufferMutationSpec({"add_2"}, "my_parameter")), place,
              "BUFFER_MUTATION names 'my_parameter', which is no such input") &&
         only(mutated(ParameterMutationSpec({"add_2"}, "my_buffer2")), place,
              "PARAMETER_MUTATION names 'my_buffer2', which is no such input") &&
         only(mutated(UserInputMutationSpec({"add_2"}, "x3")), place,
              "USER_INPUT_MUTATION names 'x3', which is no such input") &&
         verify(mutated(ParameterMutationSpec({"add_2"}, "my_parameter"))).empty() &&
         verify(mutated(UserInputMutationSpec({"add_2"}, "x1"))).empty();
}
static_assert(check_mutations());

constexpr bool check_gradients() {
  ExportedProgram p = programs::seed();
  p.signature.output_specs.clear();
  p.signature.output_specs.push_back(LossOutputSpec{TensorArgument{"add_2"}});
  p.signature.output_specs.push_back(GradientToParameterSpec({"add_1"}, "my_buffer1"));
  ExportedProgram q = programs::seed();
  q.signature.output_specs.clear();
  q.signature.output_specs.push_back(LossOutputSpec{TensorArgument{"add_2"}});
  q.signature.output_specs.push_back(GradientToUserInputSpec({"add_1"}, "x1"));
  return only(p, "signature, output 1 'add_1'", "GRADIENT_TO_PARAMETER names 'my_buffer1', which is no such input") &&
         verify(q).empty();
}
static_assert(check_gradients());

constexpr bool check_order() {
  ExportedProgram p = programs::seed();
  const ExportGraphSignature order = programs::seed_signature();
  put<OutputSpec>(p.signature.output_specs, 0, order.output_specs[1]);
  put<OutputSpec>(p.signature.output_specs, 1, order.output_specs[0]);
  std::swap(p.graph_module.arguments[p.graph_module.graphs[0].outputs.first],
            p.graph_module.arguments[p.graph_module.graphs[0].outputs.first + 1]);
  return only(p, "signature, output 1 'add_2'", "outputs must come as tokens, mutations, user outputs, gradients");
}
static_assert(check_order());

// -- all together -------------------------------------------------------------------------------------------------

constexpr bool check_all_come_back() {
  ExportedProgram p = programs::seed();
  p.state_dict.clear();                                                                   // 3 violations
  put<OutputSpec>(p.signature.output_specs, 0, BufferMutationSpec({"add_9"}, "nosuch"));  // 2
  p.graph_module.nodes[1].target = p.graph_module.values[0].name;                         // 1
  p.graph_module.nodes[3].target = {};                                                    // 1
  return verify(p).size() == 7;
}
static_assert(check_all_come_back());

constexpr bool check_damaged_tables() {
  ExportedProgram p = programs::seed();
  p.graph_module.arguments[0].payload = 1000;
  const std::vector<Error> v = verify(p);
  return v.size() == 1 && v[0].code == ErrorCode::corrupt_data && v[0].stage == Stage::verify &&
         v[0].where == "table 'arguments', row 0" && v[0].what == "unknown value";
}
static_assert(check_damaged_tables());

}  // namespace

TEST_CASE("a sound program has no violation") {
  CHECK(check_seed());
}
TEST_CASE("values are defined before they are used") {
  CHECK(check_use_before_definition());
  CHECK(check_output_undefined());
}
TEST_CASE("values are defined once") {
  CHECK(check_defined_twice());
}
TEST_CASE("values have names, and no two of a graph the same") {
  CHECK(check_names());
}
TEST_CASE("a sub-graph sees only its operands") {
  CHECK(check_foreign_values());
}
TEST_CASE("operators are known, or of a custom namespace, or allowed by option") {
  CHECK(check_operators());
}
TEST_CASE("sub-graphs have the arity of their operator") {
  CHECK(check_arity());
  CHECK(check_while_loop());
}
TEST_CASE("signature and graph agree in number and names") {
  CHECK(check_counts());
  CHECK(check_signature_names());
}
TEST_CASE("weights are where the signature says") {
  CHECK(check_weights());
}
TEST_CASE("mutations and gradients name inputs of their kind") {
  CHECK(check_mutations());
  CHECK(check_gradients());
}
TEST_CASE("outputs come in torch's order") {
  CHECK(check_order());
}
TEST_CASE("every violation comes back, not the first alone") {
  CHECK(check_all_come_back());
}
TEST_CASE("damaged tables are one error with table and row") {
  CHECK(check_damaged_tables());
}
