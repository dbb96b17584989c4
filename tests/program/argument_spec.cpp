// SPDX-License-Identifier: MIT
#include "davit/program/argument_spec.hpp"

#include <doctest/doctest.h>

#include <type_traits>

using namespace davit;

namespace {

constexpr bool check_names() {
  return arg_name(ArgumentSpec(TensorArgument{"t"})) == "t" && arg_name(ArgumentSpec(SymIntArgument{"i"})) == "i" &&
         arg_name(ArgumentSpec(SymFloatArgument{"f"})) == "f" && arg_name(ArgumentSpec(SymBoolArgument{"b"})) == "b" &&
         arg_name(ArgumentSpec(ConstantArgument{"c", true})) == "c" &&
         arg_name(ArgumentSpec(CustomObjArgument{"o", "ns.Foo"})) == "o" &&
         arg_name(ArgumentSpec(TokenArgument{"k"})) == "k" && arg_name(UserArgument(TensorArgument{"u"})) == "u";
}
static_assert(check_names());

constexpr bool check_type_names() {
  return type_name(TensorArgument{"t"}) == "TensorArgument" && type_name(SymIntArgument{"i"}) == "SymIntArgument" &&
         type_name(SymFloatArgument{"f"}) == "SymFloatArgument" &&
         type_name(SymBoolArgument{"b"}) == "SymBoolArgument" &&
         type_name(ConstantArgument{"c", {}}) == "ConstantArgument" &&
         type_name(CustomObjArgument{"o", "ns.Foo"}) == "CustomObjArgument" &&
         type_name(TokenArgument{"k"}) == "TokenArgument";
}
static_assert(check_type_names());

constexpr ArgumentSpec constant(ConstantValue value) { return ConstantArgument{"c", std::move(value)}; }

constexpr bool check_equality() {
  return ArgumentSpec(TensorArgument{"x"}) == ArgumentSpec(TensorArgument{"x"}) &&
         ArgumentSpec(TensorArgument{"x"}) != ArgumentSpec(TensorArgument{"y"}) &&
         ArgumentSpec(TensorArgument{"x"}) != ArgumentSpec(TokenArgument{"x"}) &&
         ArgumentSpec(CustomObjArgument{"x", "A"}) != ArgumentSpec(CustomObjArgument{"x", "B"});
}
static_assert(check_equality());

constexpr bool check_constants_differ_by_type() {
  const ConstantValue values[] = {{}, std::int64_t{1}, 1.0, true, Name("1"), std::int64_t{0}, false, Name("")};
  for (std::size_t i = 0; i < std::size(values); ++i)
    for (std::size_t j = 0; j < std::size(values); ++j)
      if ((constant(values[i]) == constant(values[j])) != (i == j)) return false;
  return true;
}
static_assert(check_constants_differ_by_type());

constexpr bool check_conversion() {
  return to_argument_spec(UserArgument(SymIntArgument{"s"})) == ArgumentSpec(SymIntArgument{"s"}) &&
         to_argument_spec(UserArgument(ConstantArgument{"", 2.5})) == ArgumentSpec(ConstantArgument{"", 2.5});
}
static_assert(check_conversion());

// A user input or output is never a token.
static_assert(!std::is_constructible_v<UserArgument, TokenArgument>);

}  // namespace

TEST_CASE("every argument has a name") { CHECK(check_names()); }
TEST_CASE("arguments are called as in torch.export") { CHECK(check_type_names()); }
TEST_CASE("arguments are equal by kind and content") { CHECK(check_equality()); }
TEST_CASE("constants are equal by type and value") { CHECK(check_constants_differ_by_type()); }
TEST_CASE("a user argument is an argument") { CHECK(check_conversion()); }
