// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/prepare.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backends/xnnpack.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "support/draft.hpp"

using namespace davit;

TEST_CASE("sizes that the inputs do not tell are found by the kernels that run then") {
  if (!xnnpack::is_available()) return;
  support::Draft d;
  const ExprId s0 = d.b.symbol("s0");
  const auto part = [&](std::int64_t of) {
    return d.b.expr({.op = ExprOp::floor_div, .a = s0, .b = d.b.expr({.value = of})});
  };
  const auto rows = [&](std::string_view name, ExprId size, std::int64_t example, std::int64_t columns) {
    const Dim dims[] = {{.value = example, .expr = size}, {.value = columns}},
              strides[] = {{.value = columns}, {.value = 1}};
    return d.b.declare(
        {.name = d.b.text(name), .sizes = d.b.dims(dims), .strides = d.b.dims(strides), .dtype = ScalarType::float32});
  };
  const auto named = [&](std::string_view parameter, Argument a) {
    a.name = d.b.text(parameter);
    return a;
  };
  d.program.signature.input_specs.push_back(UserInputSpec{TensorArgument{Name::own("x")}});
  const ValueId x = rows("x", part(4), 2, 4);  // as a part of a program has it: s0 is one of four numbers of these rows
  d.b.input(GraphBuilder::value(x));
  const ValueId y = d.like(x, "y"), z = rows("z", part(2), 4, 2);
  const Argument of_x[] = {named("self", GraphBuilder::value(x))}, to_y = GraphBuilder::value(y);
  d.b.node("aten.relu.default", of_x, {&to_y, 1}, d.metadata);
  const Argument sizes[] = {GraphBuilder::integer(-1), GraphBuilder::integer(2)};
  const Argument of_y[] = {named("self", GraphBuilder::value(y)), named("size", d.b.list(sizes, ArgumentKind::int_))},
                 to_z = GraphBuilder::value(z);
  d.b.node("aten.view.default", of_y, {&to_z, 1}, d.metadata);
  d.output(z);
  const auto lowered = to_backend<xnnpack>(ExportedProgram(d.finish()));
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  auto session = Session::make(*lowered);
  REQUIRE(session);
  for (const std::int64_t count : {2, 3}) {
    const Tensor input = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{count, 4});
    for (std::int64_t i = 0; i < 4 * count; ++i) input.view().as<float>()[i] = static_cast<float>(i % 3 - 1);
    const auto outputs = session->run("forward", input);
    REQUIRE_MESSAGE(outputs, (outputs ? std::string() : to_string(outputs.error())));
    const EValue result = (*outputs)[0];
    const TensorView out = result.tensor();
    REQUIRE(out.rank == 2);
    CHECK(out.size(0) == 2 * count);
    CHECK(out.size(1) == 2);
    for (std::int64_t i = 0; i < 4 * count; ++i) CHECK(out.as<float>()[i] == static_cast<float>(i % 3 == 2 ? 1 : 0));
  }
}

TEST_CASE("nothing is averaged as PyTorch does it") {
  if (!xnnpack::is_available()) return;
  support::Draft d;
  const ExprId s0 = d.b.symbol("s0");
  const ValueId x = d.user("x", s0), y = d.sized("y", s0), mean = d.b.tensor("mean", ScalarType::float32, {});
  const auto node = [&](std::string_view target, ValueId from, ValueId to) {
    Argument in = GraphBuilder::value(from);
    const Argument out = GraphBuilder::value(to);
    in.name = d.b.text("self");
    d.b.node(target, {&in, 1}, {&out, 1}, d.metadata);
  };
  node("aten.relu.default", x, y);
  node("aten.mean.default", y, mean);
  d.output(mean);
  const auto lowered = to_backend<xnnpack>(ExportedProgram(d.finish()));
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  auto session = Session::make(*lowered);
  REQUIRE(session);
  for (const std::int64_t count : {3, 0, 2}) {
    const Tensor input = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{count});
    for (std::int64_t i = 0; i < count; ++i) input.view().as<float>()[i] = 5;
    const auto outputs = session->run("forward", input);
    REQUIRE_MESSAGE(outputs, (outputs ? std::string() : to_string(outputs.error())));
    const EValue result = (*outputs)[0];
    const float made = *result.tensor().as<float>();
    CHECK((count == 0 ? std::isnan(made) : made == 5));
  }
}
