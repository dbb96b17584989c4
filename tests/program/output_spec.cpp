// SPDX-License-Identifier: MIT
#include "davit/program/output_spec.hpp"

#include <doctest/doctest.h>

#include <type_traits>
#include <vector>

using namespace davit;

namespace {

constexpr std::vector<OutputSpec> one_of_each() {
  return {UserOutputSpec{ConstantArgument{"", 3}},
          LossOutputSpec{{"loss"}},
          BufferMutationSpec({"add_2"}, "m"),
          GradientToParameterSpec({"mm"}, "w"),
          GradientToUserInputSpec({"mm_1"}, "x"),
          UserInputMutationSpec({"mul"}, "y"),
          OutputTokenSpec{{"getitem"}},
          ParameterMutationSpec({"sub"}, "w")};
}

constexpr bool check_kinds() {
  const std::vector<OutputSpec> specs = one_of_each();
  const std::string_view names[] = {
      "USER_OUTPUT",         "LOSS_OUTPUT", "BUFFER_MUTATION",   "GRADIENT_TO_PARAMETER", "GRADIENT_TO_USER_INPUT",
      "USER_INPUT_MUTATION", "TOKEN",       "PARAMETER_MUTATION"};
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (static_cast<std::size_t>(kind(specs[i])) != i + 1) return false;
    if (name_of(kind(specs[i])) != names[i]) return false;
  }
  return true;
}
static_assert(check_kinds());

constexpr bool check_arguments() {
  const std::vector<OutputSpec> specs = one_of_each();
  return arg(specs[0]) == ArgumentSpec(ConstantArgument{"", 3}) &&
         arg(specs[1]) == ArgumentSpec(TensorArgument{"loss"}) &&
         arg(specs[6]) == ArgumentSpec(TokenArgument{"getitem"}) && arg_name(specs[0]).empty() &&
         arg_name(specs[2]) == "add_2" && arg_name(specs[7]) == "sub";
}
static_assert(check_arguments());

constexpr bool check_targets() {
  const std::vector<OutputSpec> specs = one_of_each();
  return !target(specs[0]) && !target(specs[1]) && *target(specs[2]) == "m" && *target(specs[3]) == "w" &&
         *target(specs[4]) == "x" && *target(specs[5]) == "y" && !target(specs[6]) && *target(specs[7]) == "w";
}
static_assert(check_targets());

// A specification has exactly the fields of its kind.
static_assert(!std::is_constructible_v<BufferMutationSpec, TensorArgument>);
static_assert(!std::is_constructible_v<BufferMutationSpec, SymIntArgument, Name>);
static_assert(!std::is_constructible_v<UserOutputSpec, TensorArgument, Name>);
static_assert(!std::is_constructible_v<UserOutputSpec, TokenArgument>);
static_assert(!std::is_constructible_v<LossOutputSpec, SymIntArgument>);
static_assert(!std::is_constructible_v<OutputTokenSpec, TensorArgument>);

}  // namespace

TEST_CASE("output kinds have torch.export's names, and the numbers of torch 2.6") { CHECK(check_kinds()); }
TEST_CASE("every output has an argument") { CHECK(check_arguments()); }
TEST_CASE("mutations and gradients have a target") { CHECK(check_targets()); }
