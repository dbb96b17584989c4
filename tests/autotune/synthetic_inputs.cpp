// SPDX-License-Identifier: MIT
#include "davit/autotune/synthetic_inputs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "../support/draft.hpp"

using namespace davit;
using support::Draft;

TEST_CASE("floats from 0.25 to 1 that a seed decides; zeros of other dtypes") {
  GraphBuilder b;
  b.begin_graph();
  b.input("x", ScalarType::float32, {2, 50});
  b.input("i", ScalarType::int64, {3});
  b.input("h", ScalarType::float16, {4});
  b.input("d", ScalarType::float64, {4});
  b.end_graph({});
  const ExportedProgram program = programs::user_program(std::move(b).finish());
  const auto made = synthetic_inputs(program, 1);
  REQUIRE(made);
  REQUIRE(made->values.size() == 4);
  const auto* x = made->values[0].tensor().as<float>();
  CHECK(made->values[0].tensor().numel() == 100);
  CHECK(std::all_of(x, x + 100, [](float f) { return f >= 0.25f && f < 1.0f; }));
  CHECK(*std::min_element(x, x + 100) < *std::max_element(x, x + 100));
  const auto* i = made->values[1].tensor().as<std::int64_t>();
  CHECK(std::all_of(i, i + 3, [](std::int64_t n) { return n == 0; }));
  CHECK(made->values[3].tensor().as<double>()[3] >= 0.25);
  const auto again = synthetic_inputs(program, 1);
  CHECK(std::equal(x, x + 100, again->values[0].tensor().as<float>()));
  const auto other = synthetic_inputs(program, 2);
  CHECK(!std::equal(x, x + 100, other->values[0].tensor().as<float>()));
}

TEST_CASE("held values are not inputs; symbolic sizes are as exported") {
  Draft d;
  const ValueId w = d.parameter("w", 2);
  const ValueId x = d.user("x", d.b.symbol("s0"), 7);
  d.output(d.op("aten.mul.Tensor", "m", x, {w}));
  const auto made = synthetic_inputs(d.finish());
  REQUIRE(made);
  REQUIRE(made->values.size() == 1);
  CHECK(made->values[0].tensor().size(0) == 7);
}

TEST_CASE("inputs that are too large or cannot be made up are errors") {
  Draft d;
  d.output(d.neg("n", d.user("x", {1 << 20, 1 << 20})));
  const auto large = synthetic_inputs(d.finish());
  REQUIRE(!large);
  CHECK(large.error().code == ErrorCode::out_of_memory);
  CHECK(large.error().where == "input 'x'");
  Draft e;
  e.output(e.neg("n", e.user("x", {INT64_MAX, INT64_MAX})));
  CHECK(synthetic_inputs(e.finish()).error().code == ErrorCode::out_of_memory);
  Draft f;
  f.output(f.neg("n", f.user("x", {3})));
  CHECK(synthetic_inputs(f.finish(), 0, 11).error().code == ErrorCode::out_of_memory);
  Draft g;
  g.output(g.neg("n", g.user("x", {3})));
  CHECK(synthetic_inputs(g.finish(), 0, 12));
}
