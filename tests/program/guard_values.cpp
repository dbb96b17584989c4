// SPDX-License-Identifier: MIT
#include "davit/program/guard_values.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

using namespace davit;
using Kind = PythonNumber::Kind;

namespace {

GuardNode constant(std::int64_t value) { return {.value = value}; }
GuardNode constant(double value) { return {.op = GuardOp::real, .value = std::bit_cast<std::int64_t>(value)}; }
template <class A, class B>
PythonNumber of(GuardOp op, A a, B b) {
  const std::vector<GuardNode> nodes{constant(a), constant(b), {.op = op, .a = 0, .b = 1}};
  std::vector<PythonNumber> values(3);
  evaluate_guards(nodes, values);
  return values[2];
}
constexpr std::int64_t least = INT64_MIN, most = INT64_MAX;
std::int64_t i(std::int64_t value) { return value; }

}  // namespace

// tests/formats/pt2/guard_code.cpp compares all forms with Python's results.
TEST_CASE("integers overflow to no number, and never to another") {
  CHECK(of(GuardOp::add, most, i(1)).kind == Kind::too_large);
  CHECK(of(GuardOp::subtract, least, i(1)).kind == Kind::too_large);
  CHECK(of(GuardOp::multiply, most, i(2)).kind == Kind::too_large);
  CHECK(of(GuardOp::power, i(3), i(41)).kind == Kind::too_large);
  CHECK(of(GuardOp::power, i(-1), most) == PythonNumber::of(i(-1)));
  CHECK(of(GuardOp::floor_divide, least, i(-1)).kind == Kind::too_large);
  CHECK(of(GuardOp::modulo, least, i(-1)) == PythonNumber::of(i(0)));
  CHECK(of(GuardOp::modulo, least, i(3)) == PythonNumber::of(i(1)));
  CHECK(of(GuardOp::shift_left, i(1), i(63)).kind == Kind::too_large);
  CHECK(of(GuardOp::shift_right, least, i(1000)) == PythonNumber::of(i(-1)));
}

TEST_CASE("floats divide as Python's do") {
  CHECK(of(GuardOp::floor_divide, -7.5, 2.0) == PythonNumber::of(-4.0));
  CHECK(of(GuardOp::modulo, -7.5, i(2)) == PythonNumber::of(0.5));
  CHECK(of(GuardOp::true_divide, 1.0, 0.0).kind == Kind::division_by_zero);
  CHECK(of(GuardOp::power, -8.0, 0.5).kind == Kind::wrong_type);
  CHECK(of(GuardOp::bit_and, 1.0, i(1)).kind == Kind::wrong_type);
}

TEST_CASE("numbers are compared exactly, for any types") {
  const auto compared = [](PythonNumber a, PythonNumber b) { return detail::compare(a, b); };
  CHECK(compared(PythonNumber::of(i(9007199254740993)), PythonNumber::of(9007199254740992.0)) > 0);
  CHECK(compared(PythonNumber::of(9007199254740992.0), PythonNumber::of(i(9007199254740993))) < 0);
  CHECK(compared(PythonNumber::of(most), PythonNumber::of(0x1p63)) < 0);
  CHECK(compared(PythonNumber::of(least), PythonNumber::of(-0x1p63)) == 0);
  CHECK(compared(PythonNumber::of(i(-2)), PythonNumber::of(-2.5)) > 0);
  CHECK(compared(PythonNumber::of(i(-3)), PythonNumber::of(-2.5)) < 0);
  CHECK(compared(PythonNumber::of(true), PythonNumber::of(1.0)) == 0);
  CHECK(compared(PythonNumber::of(i(1)), PythonNumber::of(std::numeric_limits<double>::quiet_NaN())) ==
        std::partial_ordering::unordered);
}

TEST_CASE("unreached operands need not be numbers") {
  const auto value = [](GuardOp op, std::int64_t first) {
    const std::vector<GuardNode> nodes{constant(first),
                                       constant(std::int64_t{0}),
                                       {.op = GuardOp::modulo, .a = 0, .b = 1},
                                       {.op = op, .a = 0, .b = 2, .c = 0}};
    std::vector<PythonNumber> values(4);
    evaluate_guards(nodes, values);
    return values[3];
  };
  CHECK(value(GuardOp::logical_and, 0) == PythonNumber::of(i(0)));
  CHECK(value(GuardOp::logical_and, 5).kind == Kind::division_by_zero);
  CHECK(value(GuardOp::logical_or, 5) == PythonNumber::of(i(5)));
  CHECK(value(GuardOp::logical_or, 0).kind == Kind::division_by_zero);
  CHECK(value(GuardOp::where, 0) == PythonNumber::of(i(0)));
  CHECK(value(GuardOp::where, 1).kind == Kind::division_by_zero);
}

TEST_CASE("a broken guard is described by the values that it asks for") {
  Guards guards;
  guards.nodes = {{.op = GuardOp::size, .a = 0, .b = 0},
                  {.op = GuardOp::size, .a = 1, .b = 1},
                  {.op = GuardOp::greater, .a = 0, .b = 1},
                  {.op = GuardOp::floor_divide, .a = 0, .b = 1}};
  guards.roots = {2, 3};
  const std::vector<Name> names{"x", "y"};
  std::vector<PythonNumber> values(4);
  const auto set = [&](std::int64_t x, std::int64_t y) {
    values[0] = PythonNumber::of(x);
    values[1] = PythonNumber::of(y);
    evaluate_guards(guards.nodes, values);
    return first_violation(guards, values);
  };
  CHECK(set(7, 3) == 2);
  CHECK(set(3, 7) == 0);
  CHECK(describe_violation(guards, 0, names, values).what ==
        "x.shape[0] > y.shape[1] does not hold: x.shape[0] is 3, y.shape[1] is 7");
  CHECK(set(3, 0) == 1);
  CHECK(describe_violation(guards, 1, names, values).what ==
        "x.shape[0] // y.shape[1] cannot be worked out: it divides by zero; x.shape[0] is 3, y.shape[1] is 0");
  CHECK(describe_violation(guards, 1, names, values).fix ==
        "pass arguments for which it holds: the model was exported for these only");
  CHECK(to_string(PythonNumber::of(0.5)) == "0.5");
  CHECK(to_string(PythonNumber::of(true)) == "True");
}

TEST_CASE("a guard of many sizes names some of them") {
  Guards guards;
  std::vector<Name> names;
  for (std::uint32_t k = 0; k < 300; ++k) {
    guards.nodes.push_back({.op = GuardOp::size, .a = k, .b = 0});
    names.push_back(concat("x", k));
  }
  guards.nodes.push_back({.op = GuardOp::subtract, .a = 0, .b = 1});
  for (std::uint32_t k = 2; k < 300; ++k) guards.nodes.push_back({.op = GuardOp::add, .a = 298 + k, .b = k});
  guards.nodes.push_back({.op = GuardOp::less, .a = 598, .b = 0});
  guards.roots = {599};
  std::vector<PythonNumber> values(guards.nodes.size());
  for (std::size_t k = 0; k < 300; ++k) values[k] = PythonNumber::of(i(1));
  evaluate_guards(guards.nodes, values);
  CHECK(values[598] == PythonNumber::of(i(298)));
  const GuardViolation broken = describe_violation(guards, 0, names, values);
  CHECK(broken.what.ends_with("x7.shape[0] is 1, and 292 more"));
  CHECK(broken.what.size() < 800);
}

TEST_CASE("a guard that does not fit 64 bits says that it refuses the call") {
  Guards guards;
  guards.nodes = {{.op = GuardOp::size, .a = 0, .b = 0}, {.op = GuardOp::multiply, .a = 0, .b = 0}};
  guards.roots = {1};
  const std::vector<Name> names{"x"};
  std::vector<PythonNumber> values{PythonNumber::of(most), {}};
  evaluate_guards(guards.nodes, values);
  const GuardViolation broken = describe_violation(guards, 0, names, values);
  CHECK(broken.what ==
        "x.shape[0] * x.shape[0] cannot be worked out: a number in it does not fit 64 bits; x.shape[0] is "
        "9223372036854775807");
  CHECK(broken.fix == "davit works guards out in 64 bits, and refuses each call for which that is not enough");
}
