// SPDX-License-Identifier: MIT
#include "davit/lowering/functionalize.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "../support/draft.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/in_place_writes.hpp"
#include "davit/runtime/session.hpp"

using namespace davit;
using support::Draft;
using Floats = std::vector<float>;

namespace {

/// A batch norm in training, with momentum 0.5.
ValueId batch_norm(Draft& d, std::string_view name, ValueId x, ValueId mean, ValueId variance) {
  const ValueId y = d.like(x, name);
  d.node("aten.batch_norm.default",
         {d.b.value(x), d.b.none(), d.b.none(), d.b.value(mean), d.b.value(variance), d.b.boolean(true), d.b.real(0.5),
          d.b.real(1e-5), d.b.boolean(true)},
         {y});
  return y;
}
/// A batch norm of x (2, 2) with its statistics in buffers, followed by `after`.
template <class After>
ExportedProgram training(After&& after) {
  Draft d;
  const ValueId mean = d.buffer("mean", programs::tensor({2}, {0, 0}));
  const ValueId variance = d.buffer("variance", programs::tensor({2}, {1, 1}));
  const ValueId x = d.user("x", {2, 2});
  const ValueId y = batch_norm(d, "y", x, mean, variance);
  after(d, x, y, mean, variance);
  return d.finish();
}
Floats state(const Session& session, std::string_view name) {
  for (const auto& entry : session.state())
    if (entry.name == name) return support::elements(entry.tensor.view());
  return {};
}

}  // namespace

TEST_CASE("batch_norm in training: running statistics are state, of a session") {
  const ExportedProgram program = training([](Draft& d, ValueId, ValueId y, ValueId, ValueId) { d.output(y); });
  CHECK(written_in_place(program) == std::vector<Name>{"mean", "variance"});
  auto lowered = to_backend<portable>(program);
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  Session other = *Session::make(*lowered);
  CHECK(session.state().size() == 2);
  REQUIRE(session.run("forward", programs::tensor({2, 2}, {1, 10, 3, 30})));
  CHECK(state(session, "mean") == Floats{1, 10});
  CHECK(state(session, "variance") == Floats{1.5, 100.5});
  REQUIRE(session.run("forward", programs::tensor({2, 2}, {1, 10, 3, 30})));
  CHECK(state(session, "mean") == Floats{1.5, 15});
  CHECK(state(session, "variance") == Floats{1.75, 150.25});
  CHECK(state(other, "mean") == Floats{0, 0});
  CHECK(state(*Session::make(*lowered), "variance") == Floats{1, 1});
}

TEST_CASE("batch_norm in training: a failed run leaves the statistics as they were") {
  const ExportedProgram program = training([](Draft& d, ValueId, ValueId y, ValueId, ValueId) {
    const ValueId index = d.b.tensor("index", ScalarType::int64, {2, 2});
    Argument dtype = d.b.scalar_type(ScalarType::int64);
    dtype.name = d.b.text("dtype");
    d.node("aten._to_copy.default", {d.b.value(d.mul("large", y, 1000.0)), dtype}, {index});
    const ValueId taken = d.like(y, "taken");
    d.node("aten.gather.default", {d.b.value(y), d.b.integer(0), d.b.value(index)}, {taken});
    d.output(taken);
  });
  auto lowered = to_backend<portable>(program);
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  REQUIRE(!session.run("forward", programs::tensor({2, 2}, {1, 10, 3, 30})));
  CHECK(state(session, "mean") == Floats{0, 0});
  CHECK(state(session, "variance") == Floats{1, 1});
}

TEST_CASE(
    "batch_norm in training: readers of the statistics see them before or after it, and two of them are two updates") {
  const ExportedProgram program = training([](Draft& d, ValueId x, ValueId, ValueId mean, ValueId variance) {
    const ValueId once = d.add("once", mean, 0.0);
    batch_norm(d, "again", x, mean, variance);
    d.output(once);
    d.output(d.add("twice", mean, 0.0));
  });
  auto lowered = to_backend<portable>(program);
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const auto out = session.run("forward", programs::tensor({2, 2}, {1, 10, 3, 30}));
  REQUIRE(out);
  CHECK(support::elements(out->all()[0]) == Floats{1, 10});
  CHECK(support::elements(out->all()[1]) == Floats{1.5, 15});
  CHECK(state(session, "mean") == Floats{1.5, 15});
}

TEST_CASE("instance_norm that keeps statistics: their means over the batch") {
  Draft d;
  const ValueId mean = d.buffer("mean", programs::tensor({1}, {0}));
  const ValueId variance = d.buffer("variance", programs::tensor({1}, {1}));
  const ValueId x = d.user("x", {2, 1, 2});
  const ValueId y = d.like(x, "y");
  d.node("aten.instance_norm.default",
         {d.b.value(x), d.b.none(), d.b.none(), d.b.value(mean), d.b.value(variance), d.b.boolean(true), d.b.real(0.5),
          d.b.real(1e-5), d.b.boolean(true)},
         {y});
  d.output(y);
  auto lowered = to_backend<portable>(ExportedProgram(d.finish()));
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const auto out = session.run("forward", programs::tensor({2, 1, 2}, {1, 3, 4, 8}));
  REQUIRE(out);
  CHECK(state(session, "mean") == Floats{2});      // of 2 and 6
  CHECK(state(session, "variance") == Floats{3});  // of 2 and 8, unbiased
  CHECK(support::elements(out->all()[0])[0] == doctest::Approx(-1).epsilon(1e-4));
}

TEST_CASE("instance_norm without epsilon is its bias where a channel is constant, as batch_norm is") {
  Draft d;
  const ValueId bias = d.parameter("bias", programs::tensor({2}, {5, 0}));
  const ValueId x = d.user("x", {2, 2, 2});
  const ValueId y = d.like(x, "y");
  d.node("aten.instance_norm.default",
         {d.b.value(x), d.b.none(), d.b.value(bias), d.b.none(), d.b.none(), d.b.boolean(true), d.b.real(0.1),
          d.b.real(0), d.b.boolean(true)},
         {y});
  d.output(y);
  auto lowered = to_backend<portable>(ExportedProgram(d.finish()));
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const auto out = session.run("forward", programs::tensor({2, 2, 2}, {3, 3, 1, 3, 4, 4, 5, 5}));
  REQUIRE(out);
  CHECK(support::elements(out->all()[0]) == Floats{5, 5, -1, 1, 5, 5, 0, 0});
}
