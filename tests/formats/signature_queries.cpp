// SPDX-License-Identifier: MIT
#include "../../tools/davit/signature_queries.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace davit;
using namespace davit::formats;

TEST_CASE("an empty signature gives torch 2.6's answers to every query") {
  CHECK(*signature_queries_json({}) ==
        R"({"parameters":[],"buffers":[],"non_persistent_buffers":[],"lifted_tensor_constants":[],)"
        R"("lifted_custom_objs":[],"user_inputs":[],"user_outputs":[],"inputs_to_parameters":[],)"
        R"("inputs_to_buffers":[],"buffers_to_mutate":[],"user_inputs_to_mutate":[],)"
        R"("inputs_to_lifted_tensor_constants":[],"inputs_to_lifted_custom_objs":[],"backward_signature":null,)"
        R"("assertion_dep_token":null,"input_tokens":[],"output_tokens":[]})");
}

TEST_CASE("names, mappings, gradients and constants are written") {
  const ExportGraphSignature signature{
      .input_specs = {InputToParameterSpec({"p_w"}, "w"), UserInputSpec{TensorArgument{"it's \"x\""}},
                      UserInputSpec{ConstantArgument{"a", 1}}, UserInputSpec{ConstantArgument{"b", 1.0}},
                      UserInputSpec{ConstantArgument{"c", true}}, UserInputSpec{ConstantArgument{"d", {}}},
                      UserInputSpec{ConstantArgument{"e", Name("\n")}}, UserInputSpec{ConstantArgument{"f", 1e-05}},
                      UserInputSpec{ConstantArgument{"g", -std::numeric_limits<double>::infinity()}}},
      .output_specs = {ParameterMutationSpec({"sub"}, "w"), LossOutputSpec{{"loss"}},
                       GradientToParameterSpec({"mm"}, "w")}};
  const std::string json = *signature_queries_json(signature);
  const auto has = [&json](std::string_view part) { return json.find(part) != json.npos; };
  CHECK(has(R"("user_inputs":["it's \"x\"",1,1.0,true,null,"\n",1e-05,-Infinity],)"));
  CHECK(has(R"("user_outputs":["loss"],)"));
  CHECK(has(R"("inputs_to_parameters":[["p_w","w"]],)"));
  CHECK(has(R"("buffers_to_mutate":[],"parameters_to_mutate":[["sub","w"]],"user_inputs_to_mutate":[],)"));
  CHECK(has(R"("backward_signature":{"loss_output":"loss","gradients_to_parameters":[["mm","w"]],)"
            R"("gradients_to_user_inputs":[]},)"));
}

TEST_CASE("two losses are an error") {
  const ExportGraphSignature signature{.input_specs = {},
                                       .output_specs = {LossOutputSpec{{"a"}}, LossOutputSpec{{"b"}}}};
  CHECK(!signature_queries_json(signature));
}
