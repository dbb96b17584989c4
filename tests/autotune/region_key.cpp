// SPDX-License-Identifier: MIT
#include "davit/autotune/region_key.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <vector>

#include "../support/draft.hpp"

using namespace davit;
using support::Draft;
using support::Sizes;

namespace {

constexpr RegionKey key(const ProgramTables& program, std::initializer_list<NodeId> nodes) {
  const ValueUsers users = value_users(program.view());
  return RegionKeys(program, users).of(std::vector<NodeId>(nodes));
}
/// y = (x + number) * x, with other names and other sizes.
constexpr ProgramTables sample(std::string_view x, std::string_view a, double number = 1, Sizes sizes = {2, 3}) {
  Draft d;
  const ValueId in = d.user(x, sizes);
  d.output(d.mul("y", d.add(a, in, number), in));
  return d.finish();
}
/// Two equal blocks in a row: s = relu(v) + v.
constexpr ProgramTables blocks() {
  Draft d;
  ValueId v = d.user("x", {4});
  for (int i = 0; i < 2; ++i) v = d.add(concat("s", i), d.relu(concat("r", i), v), v);
  d.output(v);
  return d.finish();
}

constexpr bool check_keys() {
  const RegionKey first = key(sample("x", "a"), {0, 1});
  return first == key(sample("input", "other"), {0, 1}) && first != key(sample("x", "a", 2), {0, 1}) &&
         first != key(sample("x", "a", 1, {3, 2}), {0, 1}) && first != key(sample("x", "a", 1, {6}), {0, 1}) &&
         first != key(sample("x", "a"), {0}) && key(blocks(), {0, 1}) == key(blocks(), {2, 3}) &&
         key(blocks(), {0, 1}) != key(blocks(), {0, 1, 2, 3});
}
static_assert(check_keys());

}  // namespace

TEST_CASE("a key identifies a computation, not its names") { CHECK(check_keys()); }

TEST_CASE("operands, dtypes and values with users outside are part of the key") {
  const auto made = [](bool swapped, bool keeps, ScalarType dtype = ScalarType::float32) {
    Draft d;
    const ValueId x = d.user("x");
    const ValueId y = d.user("y");
    const ValueId a = d.op("aten.add.Tensor", "a", x, {y}, dtype);
    d.output(swapped ? d.sub("b", y, a) : d.sub("b", a, y));
    if (keeps) d.output(a);
    return key(d.finish(), {0, 1});
  };
  CHECK(made(false, false) == made(false, false));
  CHECK(made(false, false) != made(true, false));
  CHECK(made(false, false) != made(false, true));
  CHECK(made(false, false) != made(false, false, ScalarType::float64));
}

TEST_CASE("a held value differs from a passed one; its numbers do not count") {
  const auto made = [](bool held, float value) {
    Draft d;
    const ValueId w = held ? d.parameter("w", value) : d.user("w");
    d.output(d.add("a", d.user("x"), w));
    return key(d.finish(), {0});
  };
  CHECK(made(true, 1) == made(true, 2));
  CHECK(made(true, 1) != made(false, 1));
}

TEST_CASE("a value from outside counts the same wherever it comes from") {
  Draft d;
  const ValueId x = d.user("x");
  const ValueId n = d.neg("n", x);
  d.output(d.add("a", x, 1.0));
  d.output(d.add("b", n, 1.0));
  const ExportedProgram program = d.finish();
  CHECK(key(program, {1}) == key(program, {2}));
}

TEST_CASE("symbolic sizes count by their form and example, not by the symbol's name") {
  const auto made = [](std::string_view symbol, std::int64_t example, bool sum) {
    Draft d;
    ExprId size = d.b.symbol(symbol);
    if (sum) size = d.b.expr({.op = ExprOp::add, .a = size, .b = size});
    d.output(d.neg("n", d.user("x", size, example)));
    return key(d.finish(), {0});
  };
  CHECK(made("s0", 4, false) == made("s77", 4, false));
  CHECK(made("s0", 4, false) != made("s0", 8, false));
  CHECK(made("s0", 4, false) != made("s0", 4, true));
}
