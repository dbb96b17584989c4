// SPDX-License-Identifier: MIT
#include "davit/ops/operator_schema.hpp"

#include <doctest/doctest.h>

using namespace davit;

namespace {

constexpr bool check_parameters() {
  const OperatorSchema s = parse_schema(
      "ns.op.overload(Tensor(a!) self, SymInt[2] size, Tensor?[] indices, int[1]? dim=None, float[2] f=[0.5, 1], *, "
      "Scalar alpha=1, "
      "str mode='mean') -> (Tensor(a!), Tensor)");
  const auto& p = s.parameters;
  return s.name == "ns.op.overload" && s.returns == 2 && p.size() == 7 && p[0].type == "Tensor" &&
         p[0].name == "self" && !p[0].has_default && !p[0].is_list() && p[1].type == "SymInt[2]" && p[1].is_list() &&
         p[1].element() == "SymInt" && p[2].is_list() && p[2].element() == "Tensor?" && !p[2].is_optional() &&
         p[3].is_optional() && p[3].base() == "int[1]" && p[3].default_value == "None" &&
         p[4].default_value == "[0.5, 1]" && !p[4].keyword_only && p[5].keyword_only && p[5].name == "alpha" &&
         p[6].default_value == "'mean'" && s.index_of("alpha") == 5 && s.index_of("nosuch") == 7;
}
static_assert(check_parameters());

constexpr bool check_returns() {
  return parse_schema("a.b.c() -> ()").returns == 0 && parse_schema("a.b.c() -> ()").parameters.empty() &&
         parse_schema("a.b.c(Tensor self) -> Tensor(a)[]").returns == 1 &&
         parse_schema("a.b.c(Tensor self) -> (Tensor values, Tensor indices)").returns == 2;
}
static_assert(check_returns());

constexpr bool check_writes() {
  const OperatorSchema s =
      parse_schema("a.b.c(Tensor(a!) x, Tensor(b!)[] ys, Tensor(c!)? z=None, Tensor(d) w, Tensor v) -> ()");
  const auto& p = s.parameters;
  return p.size() == 5 && p[0].is_written && p[1].is_written && p[1].type == "Tensor[]" && p[2].is_written &&
         p[2].type == "Tensor?" && p[2].has_default && !p[3].is_written && p[3].type == "Tensor" && !p[4].is_written;
}
static_assert(check_writes());

constexpr bool check_form() {
  const auto is_none = [](auto... texts) { return (!is_schema(texts) && ...); };
  return is_schema("a.b.c() -> ()") &&
         is_schema("a.b.c(Tensor(a!)[] xs, *, int[2] k=[1, 2], str mode='a b') -> (Tensor, Tensor)") &&
         is_schema("_c10d.x_.out(__torch__.torch.classes.a.B? b=None) -> Tensor(a!)") &&
         is_none("", "a.b.c", "a.b.c()", "a.b.c() -> ", "a.b() -> ()", "a::b(Tensor x) -> Tensor",
                 "a.b.c(Tensor x,int y) -> ()", "a.b.c(Tensor) -> ()", "a.b.c(Tensor x, ) -> ()", "a.b.c(Tensor x, ",
                 "a.b.c(Tensor  x) -> ()", "(Tensor x) -> Tensor", "a.b.c(x: Tensor) -> Tensor",
                 "a.b.c(Tensor x,) -> ()");
}
static_assert(check_form());

}  // namespace

TEST_CASE("which arguments are written") { CHECK(check_writes()); }
TEST_CASE("a schema has torch's form") { CHECK(check_form()); }
TEST_CASE("types, names, defaults and keyword-only parameters") { CHECK(check_parameters()); }
TEST_CASE("numbers of returns") { CHECK(check_returns()); }
