// SPDX-License-Identifier: MIT
#include "davit/program/input_spec.hpp"

#include <doctest/doctest.h>

#include <type_traits>
#include <vector>

using namespace davit;

namespace {

constexpr std::vector<InputSpec> one_of_each() {
  return {UserInputSpec{SymIntArgument{"s"}},
          InputToParameterSpec({"p_w"}, "w"),
          InputToBufferSpec({"b_m"}, "m", false),
          InputToTensorConstantSpec({"c_k"}, "k"),
          InputToCustomObjSpec({"obj_o", "ns.Foo"}, "o"),
          InputTokenSpec{{"token"}}};
}

constexpr bool check_kinds() {
  const std::vector<InputSpec> specs = one_of_each();
  const std::string_view names[] = {"USER_INPUT", "PARAMETER", "BUFFER", "CONSTANT_TENSOR", "CUSTOM_OBJ", "TOKEN"};
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (static_cast<std::size_t>(kind(specs[i])) != i + 1) return false;
    if (name_of(kind(specs[i])) != names[i]) return false;
  }
  return true;
}
static_assert(check_kinds());

constexpr bool check_arguments() {
  const std::vector<InputSpec> specs = one_of_each();
  return arg(specs[0]) == ArgumentSpec(SymIntArgument{"s"}) && arg(specs[1]) == ArgumentSpec(TensorArgument{"p_w"}) &&
         arg(specs[4]) == ArgumentSpec(CustomObjArgument{"obj_o", "ns.Foo"}) &&
         arg(specs[5]) == ArgumentSpec(TokenArgument{"token"}) && arg_name(specs[0]) == "s" &&
         arg_name(specs[2]) == "b_m" && arg_name(specs[5]) == "token";
}
static_assert(check_arguments());

constexpr bool check_targets() {
  const std::vector<InputSpec> specs = one_of_each();
  return !target(specs[0]) && *target(specs[1]) == "w" && *target(specs[2]) == "m" && *target(specs[3]) == "k" &&
         *target(specs[4]) == "o" && !target(specs[5]);
}
static_assert(check_targets());

constexpr bool check_persistent() {
  const std::vector<InputSpec> specs = one_of_each();
  for (const InputSpec& spec : specs)
    if (persistent(spec).has_value() != (kind(spec) == InputKind::buffer)) return false;
  return persistent(specs[2]) == false && persistent(InputToBufferSpec({"b"}, "b", true)) == true;
}
static_assert(check_persistent());

// A specification has exactly the fields of its kind.
static_assert(std::is_constructible_v<InputToBufferSpec, TensorArgument, Name, bool>);
static_assert(!std::is_constructible_v<InputToBufferSpec, TensorArgument, Name>);
static_assert(!std::is_constructible_v<InputToParameterSpec, TensorArgument>);
static_assert(!std::is_constructible_v<InputToParameterSpec, TensorArgument, Name, bool>);
static_assert(!std::is_constructible_v<InputToParameterSpec, SymIntArgument, Name>);
static_assert(!std::is_constructible_v<InputToCustomObjSpec, TensorArgument, Name>);
static_assert(!std::is_constructible_v<UserInputSpec, TensorArgument, Name>);
static_assert(!std::is_constructible_v<UserInputSpec, TokenArgument>);
static_assert(!std::is_constructible_v<InputTokenSpec, TensorArgument>);

}  // namespace

TEST_CASE("input kinds have torch.export's names and numbers") { CHECK(check_kinds()); }
TEST_CASE("every input has an argument") { CHECK(check_arguments()); }
TEST_CASE("inputs of the state dict and the constants have a target") { CHECK(check_targets()); }
TEST_CASE("only buffers are persistent or not") { CHECK(check_persistent()); }
