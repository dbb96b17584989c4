// SPDX-License-Identifier: MIT
#include "davit/runtime/guard_checks.hpp"

#include <doctest/doctest.h>

#include <tuple>
#include <vector>

#include "../programs.hpp"
#include "support/compiler_demo.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "davit/runtime/typed_method.hpp"

using namespace davit;

namespace {

/// forward(x: [?, 2], n: int) behind a buffer, with x.shape[0] > n
MethodInterface method() {
  MethodInterface interface;
  interface.exprs = {{.op = ExprOp::symbol}, {.op = ExprOp::symbol}};
  interface.inputs = {
      {.name = "total", .role = InputRole::state, .type = {.tag = EValue::Tag::tensor, .dtype = ScalarType::float32}},
      {.name = "x",
       .type = {.tag = EValue::Tag::tensor,
                .dtype = ScalarType::float32,
                .dims = {{.value = 3, .expr = 0}, {.value = 2}}}},
      {.name = "n", .type = {.tag = EValue::Tag::int_, .expr = 1}}};
  interface.guards.nodes = {
      {.op = GuardOp::size, .a = 0, .b = 0}, {.op = GuardOp::input, .a = 1}, {.op = GuardOp::greater, .a = 0, .b = 1}};
  interface.guards.roots = {2};
  return interface;
}
Result<void> check(GuardChecks& checks, std::int64_t rows, std::int64_t n, bool changed = false) {
  const Tensor total = programs::scalar(0);
  const Tensor x = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{rows, 2});
  const EValue inputs[] = {total, x, n};
  return checks.check("forward", "toy", inputs, changed);
}

/// y = x + h of 3 elements each, with a guard on sizes or strides that the program decides.
ExportedProgram adds(GuardNode leaf, std::int64_t value) {
  ExportedProgram program = programs::add({3});
  program.guards = {.nodes = {leaf, {.value = value}, {.op = GuardOp::equal, .a = 0, .b = 1}}, .roots = {2}};
  return program;
}

}  // namespace

TEST_CASE("a broken guard is an error, with the names and sizes of the call") {
  const MethodInterface interface = method();
  GuardChecks checks(interface);
  CHECK(checks.any());
  CHECK(check(checks, 3, 2));
  const Result<void> broken = check(checks, 3, 3);
  REQUIRE(!broken);
  CHECK(broken.error().code == ErrorCode::invalid_shape);
  CHECK(broken.error().stage == Stage::execute);
  CHECK(broken.error().backend == "toy");
  CHECK(broken.error().where == "arguments of forward()");
  CHECK(broken.error().what == "x.shape[0] > n does not hold: x.shape[0] is 3, n is 3");
  CHECK(!broken.error().fix.empty());
  CHECK(!check(checks, 3, 3));  // each call reports it
  CHECK(check(checks, 4, 3));
}

TEST_CASE("guards of sizes alone are read where sizes changed") {
  MethodInterface interface = method();
  interface.guards.nodes[1] = {.value = 2};
  GuardChecks checks(interface);
  CHECK(check(checks, 3, 0, true));
  CHECK(check(checks, 1, 0, false));  // the caller says that sizes did not change
  CHECK(!check(checks, 1, 0, true));
  CHECK(!check(checks, 1, 0, false));
  CHECK(check(checks, 3, 0, true));
}

TEST_CASE("a method without guards, or with fixed sizes that fulfil them, has nothing to check") {
  MethodInterface interface = method();
  interface.guards.nodes = {
      {.op = GuardOp::size, .a = 0, .b = 1}, {.value = 2}, {.op = GuardOp::equal, .a = 0, .b = 1}};
  CHECK(!GuardChecks(interface).any());
  interface.guards.nodes[1].value = 3;
  GuardChecks broken(interface);
  CHECK(broken.any());
  CHECK(!check(broken, 3, 0, true));
  interface.inputs[2].constant = std::int64_t{5};
  interface.guards.nodes = {{.op = GuardOp::input, .a = 1},
                            {.op = GuardOp::storage_offset, .a = 0},
                            {.op = GuardOp::greater, .a = 0, .b = 1}};
  CHECK(!GuardChecks(interface).any());  // an input that the export fixed, and an offset that is always 0
  interface.guards.nodes[0].a = 2;       // there is no input 2
  GuardChecks unfit(interface);
  CHECK(unfit.any());
  CHECK(check(unfit, 3, 5).error().code == ErrorCode::invalid_program);
  interface.guards = {};
  GuardChecks none(interface);
  CHECK(!none.any());
  CHECK(check(none, 3, 0, true));
}

TEST_CASE("sessions check guards before anything runs") {
  const auto lowered = to_backend<compiler_demo>(adds({.op = GuardOp::stride, .a = 0, .b = 0}, 1));
  REQUIRE(lowered);
  CHECK(lowered->methods()[0].interface.guards.size() == 1);
  CHECK(lowered->methods()[0].parent.guards.size() == 1);
  CHECK(lowered->methods()[0].delegates[0].interface.guards.empty());
  auto session = Session::make(*lowered);
  REQUIRE(session);
  const Tensor x = programs::tensor({3}, {1, 2, 3}), h = programs::tensor({3}, {4, 5, 6}),
               wide = programs::tensor({6}, {1, 0, 2, 0, 3, 0});
  const EValue good[] = {x, h};
  const std::int64_t sizes[] = {3}, strides[] = {2};
  const EValue bad[] = {
      TensorView{const_cast<std::byte*>(wide.storage.bytes().data()), sizes, strides, 1, ScalarType::float32},
      EValue(h)};
  for (int i = 0; i < 3; ++i) {
    CHECK(session->run("forward", good));
    const auto broken = session->run("forward", bad);
    REQUIRE(!broken);
    CHECK(broken.error().code == ErrorCode::invalid_shape);
    CHECK(broken.error().what == "x.stride(0) == 1 does not hold: x.stride(0) is 2");
  }
}

TEST_CASE("typed methods check guards when they are bound") {
  using F3 = StaticTensor<float, 3>;
  using Adds = TypedMethod<compiler_demo, std::tuple<F3>(F3, F3)>;
  for (const std::int64_t size : {3, 4}) {
    const auto lowered = to_backend<compiler_demo>(adds({.op = GuardOp::size, .a = 1, .b = 0}, size));
    REQUIRE(lowered);
    const auto bound = Adds::bind(*lowered, "forward");
    CHECK(bound.has_value() == (size == 3));
    if (!bound) CHECK(bound.error().code == ErrorCode::invalid_shape);
  }
}
