// SPDX-License-Identifier: MIT
#include "davit/program/verify_signature.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "../programs.hpp"
#include "program/only_violation.hpp"

using namespace davit;

namespace {

constexpr bool check_counts() {
  ProgramTables p = programs::seed();
  p.signature.input_specs.pop_back();
  ProgramTables q = programs::seed();
  q.signature.output_specs.push_back(UserOutputSpec{TensorArgument{"mul"}});
  return only(p, "signature", "it lists 4 inputs, the graph has 5") &&
         only(q, "signature", "it lists 3 outputs, the graph has 2");
}
static_assert(check_counts());

constexpr bool check_signature_names() {
  ProgramTables p = programs::seed();
  put<InputSpec>(p.signature.input_specs, 3, UserInputSpec{TensorArgument{"y1"}});
  ProgramTables q = programs::seed();
  put<OutputSpec>(q.signature.output_specs, 1, UserOutputSpec{TensorArgument{"mul"}});
  return only(p, "signature, input 3 'y1'", "the graph calls this input 'x1'") &&
         only(q, "signature, output 1 'mul'", "the graph calls this output 'add_1'");
}
static_assert(check_signature_names());

constexpr bool check_weights() {
  ProgramTables p = programs::seed();
  p.state_dict.erase(p.state_dict.begin());
  ProgramTables q = programs::seed();
  q.state_dict.erase(q.state_dict.begin() + 1);
  ProgramTables r = programs::seed();
  put<InputSpec>(r.signature.input_specs, 1, InputToBufferSpec({"b_my_buffer1"}, "my_buffer1", false));
  const std::vector<Error> v = verify(r);
  ProgramTables s = programs::seed();
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
    ProgramTables p = programs::seed();
    put<OutputSpec>(p.signature.output_specs, 0, std::move(spec));
    return p;
  };
  constexpr std::string_view place = "signature, output 0 'add_2'";
  return only(mutated(BufferMutationSpec({"add_2"}, "nosuch")), place,
              "BUFFER_MUTATION names 'nosuch', which is no input of that kind") &&
         only(mutated(BufferMutationSpec({"add_2"}, "my_parameter")), place,
              "BUFFER_MUTATION names 'my_parameter', which is no input of that kind") &&
         only(mutated(ParameterMutationSpec({"add_2"}, "my_buffer2")), place,
              "PARAMETER_MUTATION names 'my_buffer2', which is no input of that kind") &&
         only(mutated(UserInputMutationSpec({"add_2"}, "x3")), place,
              "USER_INPUT_MUTATION names 'x3', which is no input of that kind") &&
         verify(mutated(ParameterMutationSpec({"add_2"}, "my_parameter"))).empty() &&
         verify(mutated(UserInputMutationSpec({"add_2"}, "x1"))).empty();
}
static_assert(check_mutations());

constexpr bool check_gradients() {
  ProgramTables p = programs::seed();
  p.signature.output_specs.clear();
  p.signature.output_specs.push_back(LossOutputSpec{TensorArgument{"add_2"}});
  p.signature.output_specs.push_back(GradientToParameterSpec({"add_1"}, "my_buffer1"));
  ProgramTables q = programs::seed();
  q.signature.output_specs.clear();
  q.signature.output_specs.push_back(LossOutputSpec{TensorArgument{"add_2"}});
  q.signature.output_specs.push_back(GradientToUserInputSpec({"add_1"}, "x1"));
  return only(p, "signature, output 1 'add_1'",
              "GRADIENT_TO_PARAMETER names 'my_buffer1', which is no input of that kind") &&
         verify(q).empty();
}
static_assert(check_gradients());

constexpr bool check_order() {
  ProgramTables p = programs::seed();
  const ExportGraphSignature order = programs::seed_signature();
  put<OutputSpec>(p.signature.output_specs, 0, order.output_specs[1]);
  put<OutputSpec>(p.signature.output_specs, 1, order.output_specs[0]);
  std::swap(p.graph_module.arguments[p.graph_module.graphs[0].outputs.first],
            p.graph_module.arguments[p.graph_module.graphs[0].outputs.first + 1]);
  return only(p, "signature, output 1 'add_2'", "outputs must come as tokens, mutations, user outputs, gradients");
}
static_assert(check_order());

}  // namespace

TEST_CASE("signature and graph agree in number and names") {
  CHECK(check_counts());
  CHECK(check_signature_names());
}
TEST_CASE("weights are where the signature says") { CHECK(check_weights()); }
TEST_CASE("mutations and gradients name inputs of their kind") {
  CHECK(check_mutations());
  CHECK(check_gradients());
}
TEST_CASE("outputs come in torch's order") { CHECK(check_order()); }
