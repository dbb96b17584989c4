// SPDX-License-Identifier: MIT
#include "davit/program/sig_to_specs.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace davit;

namespace {

using Arguments = std::vector<ArgumentSpec>;

constexpr SignatureNames custom_module_names() {
  return {.user_inputs = {"x1", "x2"},
          .inputs_to_parameters = {{"p_my_parameter", "my_parameter"}},
          .inputs_to_buffers = {{"b_my_buffer1", "my_buffer1"}, {"b_my_buffer2", "my_buffer2"}},
          .non_persistent_buffers = {"my_buffer1"},
          .user_outputs = {"add_1"},
          .buffer_mutations = {{"add_2", "my_buffer2"}}};
}

constexpr bool check_custom_module() {
  const Arguments inputs{TensorArgument{"p_my_parameter"}, TensorArgument{"b_my_buffer1"},
                         TensorArgument{"b_my_buffer2"}, TensorArgument{"x1"}, TensorArgument{"x2"}};
  const Arguments outputs{TensorArgument{"add_2"}, TensorArgument{"add_1"}};
  ExportGraphSignature expected{
      .input_specs = {InputToParameterSpec({"p_my_parameter"}, "my_parameter"),
                      InputToBufferSpec({"b_my_buffer1"}, "my_buffer1", false),
                      InputToBufferSpec({"b_my_buffer2"}, "my_buffer2", true), UserInputSpec{TensorArgument{"x1"}},
                      UserInputSpec{TensorArgument{"x2"}}},
      .output_specs = {BufferMutationSpec({"add_2"}, "my_buffer2"), UserOutputSpec{TensorArgument{"add_1"}}}};
  return sig_to_specs(custom_module_names(), inputs, outputs) == expected;
}
static_assert(check_custom_module());

constexpr bool check_every_kind() {
  SignatureNames names{.user_inputs = {"x"},
                       .inputs_to_parameters = {{"p_w", "w"}},
                       .inputs_to_buffers = {{"b_m", "m"}},
                       .user_outputs = {"out"},
                       .buffer_mutations = {{"add", "m"}},
                       .parameter_mutations = {{"sub", "w"}},
                       .user_input_mutations = {{"mul", "x"}},
                       .gradients_to_parameters = {{"gw", "w"}},
                       .gradients_to_user_inputs = {{"gx", "x"}},
                       .loss_output = Name("loss"),
                       .input_tokens = {"token"},
                       .output_tokens = {"token_1"}};
  const Arguments inputs{TokenArgument{"token"},           TensorArgument{"p_w"}, TensorArgument{"b_m"},
                         CustomObjArgument{"o", "ns.Foo"}, TensorArgument{"x"},   SymIntArgument{"n"},
                         ConstantArgument{"k", true}};
  const Arguments outputs{TokenArgument{"token_1"}, TensorArgument{"add"}, TensorArgument{"sub"},
                          TensorArgument{"mul"},    TensorArgument{"out"}, ConstantArgument{"", 3},
                          TensorArgument{"loss"},   TensorArgument{"gw"},  TensorArgument{"gx"}};
  ExportGraphSignature expected{
      .input_specs = {InputTokenSpec{{"token"}}, InputToParameterSpec({"p_w"}, "w"),
                      InputToBufferSpec({"b_m"}, "m", true), UserInputSpec{CustomObjArgument{"o", "ns.Foo"}},
                      UserInputSpec{TensorArgument{"x"}}, UserInputSpec{SymIntArgument{"n"}},
                      UserInputSpec{ConstantArgument{"k", true}}},
      .output_specs = {OutputTokenSpec{{"token_1"}}, BufferMutationSpec({"add"}, "m"),
                       ParameterMutationSpec({"sub"}, "w"), UserInputMutationSpec({"mul"}, "x"),
                       UserOutputSpec{TensorArgument{"out"}}, UserOutputSpec{ConstantArgument{"", 3}},
                       LossOutputSpec{{"loss"}}, GradientToParameterSpec({"gw"}, "w"),
                       GradientToUserInputSpec({"gx"}, "x")}};
  return sig_to_specs(names, inputs, outputs) == expected;
}
static_assert(check_every_kind());

/// True if the result is an error of the verifier with this place and this text.
constexpr bool refused(const Result<ExportGraphSignature>& result, std::string_view where, std::string_view what) {
  return !result && result.error().code == ErrorCode::invalid_program && result.error().stage == Stage::verify &&
         result.error().where == where && result.error().what == what && !result.error().fix.empty();
}

constexpr bool check_errors() {
  const SignatureNames names = custom_module_names();
  const Arguments none;
  const Arguments unknown{TensorArgument{"y"}};
  const Arguments late{TensorArgument{"add_2"}, TensorArgument{"y"}};
  const Arguments late_mutation{TensorArgument{"add_2"}, TensorArgument{"add_2"}};
  return refused(sig_to_specs(names, unknown, none), "input y", "Unknown tensor input kind: y") &&
         refused(sig_to_specs(names, none, unknown), "output y", "Unknown tensor mutation kind: y") &&
         refused(sig_to_specs(names, none, late), "output y", "Unknown tensor output kind: y") &&
         refused(sig_to_specs(names, none, late_mutation), "output add_2", "Unknown tensor output kind: add_2");
}
static_assert(check_errors());

constexpr bool check_precedence() {
  SignatureNames names = custom_module_names();
  names.user_inputs.push_back("p_my_parameter");
  names.inputs_to_parameters.push_back({"b_my_buffer1", "shared"});
  names.inputs_to_parameters.push_back({"b_my_buffer1", "last"});
  const Arguments inputs{TensorArgument{"p_my_parameter"}, TensorArgument{"b_my_buffer1"}};
  const auto signature = sig_to_specs(names, inputs, {});
  return signature && signature->input_specs[0] == InputSpec(UserInputSpec{TensorArgument{"p_my_parameter"}}) &&
         signature->parameters() == std::vector<Name>{"last"};
}
static_assert(check_precedence());

constexpr bool check_k01() {
  const Arguments inputs{TensorArgument{"b_my_buffer1"}, ConstantArgument{"k", 1}, ConstantArgument{"f", 1.0}};
  const auto signature = sig_to_specs(custom_module_names(), inputs, {});
  return signature && signature->non_persistent_buffers() == std::vector<Name>{"my_buffer1"} &&
         signature->user_inputs() == std::vector<ConstantValue>{1, 1.0};
}
static_assert(check_k01());

constexpr bool check_k02() {
  const Arguments object{CustomObjArgument{"o", "ns.Foo"}};
  const Arguments symbol{SymFloatArgument{"r"}};
  const Arguments plain{SymIntArgument{"n"}, ConstantArgument{"", 1}, TokenArgument{"t"}};
  constexpr auto legacy = SignatureSemantics::legacy;
  return sig_to_specs({}, {}, object) && sig_to_specs({}, {}, symbol) &&
         refused(sig_to_specs({}, {}, object, legacy), "output o", "a CustomObjArgument cannot be an output") &&
         refused(sig_to_specs({}, {}, symbol, legacy), "output r", "a SymFloatArgument cannot be an output") &&
         sig_to_specs({}, {}, plain, legacy);
}
static_assert(check_k02());

constexpr bool check_k04() {
  SignatureNames names = custom_module_names();
  const Arguments outputs{TokenArgument{"token"}, TensorArgument{"add_2"}, TensorArgument{"add_1"}};
  const bool without = refused(sig_to_specs(names, {}, outputs), "output add_2", "Unknown tensor output kind: add_2");
  names.output_tokens = {"token"};
  const auto with = sig_to_specs(names, {}, outputs);
  return without && with && with->buffers_to_mutate() == NameMap{{"add_2", "my_buffer2"}};
}
static_assert(check_k04());

}  // namespace

TEST_CASE("the seed's CustomModule has its specs") { CHECK(check_custom_module()); }
TEST_CASE("names and mappings give every kind of spec") { CHECK(check_every_kind()); }
TEST_CASE("a tensor of no known kind is an error that names it") { CHECK(check_errors()); }
TEST_CASE("user inputs come before parameters, parameters before buffers, the last entry counts") {
  CHECK(check_precedence());
}
TEST_CASE("K01 a buffer is always persistent or not; constants are listed by value") { CHECK(check_k01()); }
TEST_CASE("K02 the legacy class takes no outputs that are custom objects") { CHECK(check_k02()); }
TEST_CASE("K04 tokens count in the prefix of outputs that are mutations") { CHECK(check_k04()); }

TEST_CASE("many parameters take no quadratic time") {
  SignatureNames names;
  Arguments inputs;
  for (int i = 0; i < 50000; ++i) {
    const Name name = concat("p_", i);
    names.inputs_to_parameters.push_back({name, name});
    inputs.push_back(TensorArgument{name});
  }
  const auto signature = sig_to_specs(names, inputs, {});
  REQUIRE(signature);
  CHECK(signature->parameters().size() == 50000);
}
