// SPDX-License-Identifier: MIT
#include "davit/program/signature.hpp"

#include <doctest/doctest.h>

#include <type_traits>
#include <utility>
#include <vector>

using namespace davit;

namespace {

using Names = std::vector<Name>;
using Values = std::vector<ConstantValue>;

/// The example of torch's documentation: a parameter, two buffers, one of them mutated.
constexpr ExportGraphSignature custom_module() {
  return {.input_specs = {InputToParameterSpec({"p_my_parameter"}, "my_parameter"),
                          InputToBufferSpec({"b_my_buffer1"}, "my_buffer1", true),
                          InputToBufferSpec({"b_my_buffer2"}, "my_buffer2", true), UserInputSpec{TensorArgument{"x1"}},
                          UserInputSpec{TensorArgument{"x2"}}},
          .output_specs = {BufferMutationSpec({"add_2"}, "my_buffer2"), UserOutputSpec{TensorArgument{"add_1"}}}};
}

constexpr bool check_custom_module() {
  const ExportGraphSignature s = custom_module();
  return s.parameters() == Names{"my_parameter"} && s.buffers() == Names{"my_buffer1", "my_buffer2"} &&
         s.non_persistent_buffers().empty() && s.lifted_tensor_constants().empty() && s.lifted_custom_objs().empty() &&
         s.user_inputs() == Values{Name("x1"), Name("x2")} && s.user_outputs() == Values{Name("add_1")} &&
         s.inputs_to_parameters() == NameMap{{"p_my_parameter", "my_parameter"}} &&
         s.inputs_to_buffers() == NameMap{{"b_my_buffer1", "my_buffer1"}, {"b_my_buffer2", "my_buffer2"}} &&
         s.buffers_to_mutate() == NameMap{{"add_2", "my_buffer2"}} && s.parameters_to_mutate().empty() &&
         s.user_inputs_to_mutate().empty() && s.inputs_to_lifted_tensor_constants().empty() &&
         s.inputs_to_lifted_custom_objs().empty() && !*s.backward_signature() && !s.assertion_dep_token() &&
         s.input_tokens().empty() && s.output_tokens().empty();
}
static_assert(check_custom_module());

/// Every kind of input and output, and every kind of argument.
constexpr ExportGraphSignature everything() {
  return {.input_specs = {InputTokenSpec{{"token"}}, InputToParameterSpec({"p_w"}, "w"),
                          InputToBufferSpec({"b_keep"}, "keep", true), InputToBufferSpec({"b_drop"}, "drop", false),
                          InputToTensorConstantSpec({"c_k"}, "k"), InputToCustomObjSpec({"obj"}, "o"),
                          UserInputSpec{TensorArgument{"x"}}, UserInputSpec{SymIntArgument{"n"}},
                          UserInputSpec{SymFloatArgument{"r"}}, UserInputSpec{SymBoolArgument{"flag"}},
                          UserInputSpec{CustomObjArgument{"held", "ns.Foo"}},
                          UserInputSpec{ConstantArgument{"text", Name("txt")}}},
          .output_specs = {OutputTokenSpec{{"token_1"}}, BufferMutationSpec({"add"}, "keep"),
                           ParameterMutationSpec({"sub"}, "w"), UserInputMutationSpec({"mul"}, "x"),
                           UserOutputSpec{TensorArgument{"x"}}, LossOutputSpec{{"loss"}},
                           UserOutputSpec{ConstantArgument{"", {}}}, UserOutputSpec{SymIntArgument{"n"}},
                           GradientToParameterSpec({"mm"}, "w"), GradientToUserInputSpec({"mm_1"}, "x")}};
}

constexpr bool check_everything() {
  const ExportGraphSignature s = everything();
  return s.parameters() == Names{"w"} && s.buffers() == Names{"keep", "drop"} &&
         s.non_persistent_buffers() == Names{"drop"} && s.lifted_tensor_constants() == Names{"k"} &&
         s.lifted_custom_objs() == Names{"o"} &&
         s.user_inputs() == Values{Name("x"), Name("n"), Name("r"), Name("flag"), Name("held"), Name("txt")} &&
         s.user_outputs() == Values{Name("x"), Name("loss"), std::monostate(), Name("n")} &&
         s.inputs_to_parameters() == NameMap{{"p_w", "w"}} &&
         s.inputs_to_buffers() == NameMap{{"b_keep", "keep"}, {"b_drop", "drop"}} &&
         s.buffers_to_mutate() == NameMap{{"add", "keep"}} && s.parameters_to_mutate() == NameMap{{"sub", "w"}} &&
         s.user_inputs_to_mutate() == NameMap{{"mul", "x"}} &&
         s.inputs_to_lifted_tensor_constants() == NameMap{{"c_k", "k"}} &&
         s.inputs_to_lifted_custom_objs() == NameMap{{"obj", "o"}} && s.input_tokens() == Names{"token"} &&
         s.output_tokens() == Names{"token_1"};
}
static_assert(check_everything());

constexpr bool check_backward() {
  const auto backward = everything().backward_signature();
  return backward && *backward && (*backward)->loss_output == "loss" &&
         (*backward)->gradients_to_parameters == NameMap{{"mm", "w"}} &&
         (*backward)->gradients_to_user_inputs == NameMap{{"mm_1", "x"}};
}
static_assert(check_backward());

constexpr bool check_two_losses() {
  ExportGraphSignature s{.input_specs = {}, .output_specs = {LossOutputSpec{{"a"}}, LossOutputSpec{{"b"}}}};
  const auto backward = s.backward_signature();
  return !backward && backward.error().stage == Stage::verify && backward.error().where == "output b";
}
static_assert(check_two_losses());

constexpr bool check_values_keep_their_type() {
  ExportGraphSignature s{
      .input_specs = {UserInputSpec{ConstantArgument{"a", 1}}, UserInputSpec{ConstantArgument{"b", 1.0}},
                      UserInputSpec{ConstantArgument{"c", true}}, UserInputSpec{ConstantArgument{"d", Name("1")}},
                      UserInputSpec{ConstantArgument{"e", {}}}},
      .output_specs = {UserOutputSpec{ConstantArgument{"", 2}}, UserOutputSpec{ConstantArgument{"", false}}}};
  return s.user_inputs() == Values{1, 1.0, true, Name("1"), std::monostate()} && s.user_outputs() == Values{2, false} &&
         s.user_outputs() != Values{2.0, false} && s.user_outputs() != Values{2, 0};
}
static_assert(check_values_keep_their_type());

// -- renaming -----------------------------------------------------------------------------------------------------

constexpr ExportGraphSignature renamed(ExportGraphSignature s, Name from, Name to,
                                       SignatureSemantics semantics = SignatureSemantics::newest) {
  s.replace_all_uses(std::move(from), std::move(to), semantics);
  return s;
}

constexpr bool check_rename_of_each_kind() {
  const ExportGraphSignature s = everything();
  return renamed(s, "token", "t").input_tokens() == Names{"t"} &&
         renamed(s, "p_w", "t").inputs_to_parameters() == NameMap{{"t", "w"}} &&
         renamed(s, "b_drop", "t").inputs_to_buffers() == NameMap{{"b_keep", "keep"}, {"t", "drop"}} &&
         renamed(s, "c_k", "t").inputs_to_lifted_tensor_constants() == NameMap{{"t", "k"}} &&
         renamed(s, "obj", "t").inputs_to_lifted_custom_objs() == NameMap{{"t", "o"}} &&
         renamed(s, "r", "t").user_inputs()[2] == ConstantValue(Name("t")) &&
         renamed(s, "flag", "t").user_inputs()[3] == ConstantValue(Name("t")) &&
         renamed(s, "held", "t").user_inputs()[4] == ConstantValue(Name("t")) &&
         renamed(s, "token_1", "t").output_tokens() == Names{"t"} &&
         renamed(s, "add", "t").buffers_to_mutate() == NameMap{{"t", "keep"}} &&
         renamed(s, "sub", "t").parameters_to_mutate() == NameMap{{"t", "w"}} &&
         renamed(s, "mul", "t").user_inputs_to_mutate() == NameMap{{"t", "x"}} &&
         renamed(s, "loss", "t").user_outputs()[1] == ConstantValue(Name("t")) &&
         (**renamed(s, "mm", "t").backward_signature()).gradients_to_parameters == NameMap{{"t", "w"}} &&
         (**renamed(s, "mm_1", "t").backward_signature()).gradients_to_user_inputs == NameMap{{"t", "x"}};
}
static_assert(check_rename_of_each_kind());

constexpr bool check_rename_in_inputs_and_outputs() {
  const ExportGraphSignature s = renamed(everything(), "n", "t");
  return s.user_inputs()[1] == ConstantValue(Name("t")) && s.user_outputs()[3] == ConstantValue(Name("t"));
}
static_assert(check_rename_in_inputs_and_outputs());

constexpr bool check_rename_leaves_the_rest() {
  const ExportGraphSignature s = everything();
  return renamed(s, "absent", "t") == s && renamed(s, "w", "t") == s && renamed(s, "text", "t") == s &&
         renamed(s, "txt", "t") == s && renamed(s, "", "t") == s &&
         renamed(s, "x", "t").user_inputs_to_mutate() == NameMap{{"mul", "x"}};
}
static_assert(check_rename_leaves_the_rest());

constexpr bool check_rename_of_a_name_held_by_the_signature() {
  ExportGraphSignature s{.input_specs = {}, .output_specs = {}};
  for (int i = 0; i < 3; ++i) s.output_specs.push_back(UserOutputSpec{TensorArgument{Name::own("a_long_name")}});
  s.replace_all_uses(arg_name(s.output_specs[0]), "t");
  return s.user_outputs() == Values{Name("t"), Name("t"), Name("t")};
}
static_assert(check_rename_of_a_name_held_by_the_signature());

constexpr bool check_chain() {
  ExportGraphSignature s = custom_module();
  for (const Name& name : {Name("p_my_parameter"), Name("b_my_buffer1"), Name("b_my_buffer2")})
    s.replace_all_uses(name, "same_name");
  if (s.inputs_to_buffers() != NameMap{{"same_name", "my_buffer2"}}) return false;
  if (s.inputs_to_parameters() != NameMap{{"same_name", "my_parameter"}}) return false;
  s.replace_all_uses("same_name", "back");
  return s.inputs_to_buffers() == NameMap{{"back", "my_buffer2"}} && s.buffers() == Names{"my_buffer1", "my_buffer2"};
}
static_assert(check_chain());

// -- the hook -----------------------------------------------------------------------------------------------------

constexpr bool acts(ReplaceHookOptions options, NodeOp old_op, NodeOp user_op) {
  ExportGraphSignature s = custom_module();
  s.get_replace_hook(options)("x1", old_op, "t", user_op);
  return s.user_inputs()[0] == ConstantValue(Name("t"));
}

constexpr bool check_hook() {
  using enum NodeOp;
  return acts({}, placeholder, output) && acts({}, call_function, output) && !acts({}, placeholder, call_function) &&
         !acts({}, call_function, call_function) && !acts({}, call_function, input) &&
         acts({.replace_inputs = true}, placeholder, call_function) &&
         acts({.replace_inputs = true}, call_function, output) &&
         !acts({.replace_inputs = true}, call_function, call_function) &&
         !acts({.replace_inputs = true}, get_attr, call_module);
}
static_assert(check_hook());

// The hook refers to its signature, so a temporary has none.
template <class Signature>
concept has_hook = requires(Signature&& s) { std::forward<Signature>(s).get_replace_hook(); };
static_assert(has_hook<ExportGraphSignature&> && !has_hook<ExportGraphSignature>);

// -- behaviours that are easily missed ------------------------------------------------------------------------------

constexpr bool check_k01() {
  return check_values_keep_their_type() && !std::is_constructible_v<InputToBufferSpec, TensorArgument, Name>;
}
static_assert(check_k01());

constexpr bool check_k02() {
  ExportGraphSignature s{
      .input_specs = {},
      .output_specs = {UserOutputSpec{TensorArgument{"x"}}, UserOutputSpec{CustomObjArgument{"o", "ns.Foo"}}}};
  const auto legacy = s.user_outputs(SignatureSemantics::legacy);
  return s.user_outputs() == Values{Name("x"), Name("o")} && !legacy && legacy.error().where == "output o";
}
static_assert(check_k02());

constexpr bool check_k03() {
  ExportGraphSignature s{.input_specs = {}, .output_specs = {GradientToParameterSpec({"mm"}, "w")}};
  return s.backward_signature() && !*s.backward_signature();
}
static_assert(check_k03());

constexpr bool check_k05() {
  using enum NodeOp;
  constexpr ReplaceHookOptions legacy{.semantics = SignatureSemantics::legacy};
  return acts(legacy, call_function, output) && acts(legacy, call_function, input) &&
         !acts(legacy, placeholder, call_function) && !acts(legacy, placeholder, placeholder) &&
         !acts({.replace_inputs = true, .semantics = SignatureSemantics::legacy}, placeholder, call_function);
}
static_assert(check_k05());

constexpr bool check_k06() {
  constexpr auto legacy = SignatureSemantics::legacy;
  const ExportGraphSignature s = everything();
  return s.user_outputs(SignatureSemantics::newest) == s.user_outputs() &&
         s.user_outputs(legacy) == Values{Name("x"), std::monostate(), Name("n")} &&
         renamed(s, "token", "t", legacy) == s && renamed(s, "token_1", "t", legacy) == s &&
         renamed(s, "r", "t", legacy) == s && renamed(s, "flag", "t", legacy) == s &&
         renamed(s, "n", "t", legacy) == renamed(s, "n", "t") && renamed(s, "x", "t", legacy) == renamed(s, "x", "t") &&
         renamed(s, "held", "t", legacy) == renamed(s, "held", "t") &&
         renamed(s, "obj", "t", legacy) == renamed(s, "obj", "t");
}
static_assert(check_k06());

}  // namespace

TEST_CASE("the seed's CustomModule answers every query") { CHECK(check_custom_module()); }
TEST_CASE("a signature of every kind answers every query") { CHECK(check_everything()); }
TEST_CASE("a loss and its gradients are the backward signature") { CHECK(check_backward()); }
TEST_CASE("two losses are an error") { CHECK(check_two_losses()); }
TEST_CASE("constants are listed by value, to the type") { CHECK(check_values_keep_their_type()); }
TEST_CASE("a name is replaced in every kind of spec") { CHECK(check_rename_of_each_kind()); }
TEST_CASE("a name is replaced in inputs and outputs alike") { CHECK(check_rename_in_inputs_and_outputs()); }
TEST_CASE("targets, constants and other names stay") { CHECK(check_rename_leaves_the_rest()); }
TEST_CASE("the old name may be the signature's own") { CHECK(check_rename_of_a_name_held_by_the_signature()); }
TEST_CASE("names that become one make one entry with the last target") { CHECK(check_chain()); }
TEST_CASE("the replace hook acts at the graph's boundary") { CHECK(check_hook()); }

TEST_CASE("K01 a buffer without persistent cannot be written; constants are listed by value") { CHECK(check_k01()); }
TEST_CASE("K02 a custom object is an output to the newest class, refused by the legacy one") { CHECK(check_k02()); }
TEST_CASE("K03 gradients without a loss give no backward signature") { CHECK(check_k03()); }
TEST_CASE("K05 the legacy replace hook acts for users that are graph outputs or inputs") { CHECK(check_k05()); }
TEST_CASE("K06 the newest class is the default, the legacy one a named option") { CHECK(check_k06()); }
