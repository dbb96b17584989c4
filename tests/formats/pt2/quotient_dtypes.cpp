// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/quotient_dtypes.hpp"

#include <doctest/doctest.h>

#include "support/draft.hpp"

using namespace davit;

TEST_CASE("quotients of integers, and values computed from them, are floats, whatever is recorded") {
  support::Draft d;
  const std::int64_t four[] = {4};
  const auto value = [&](std::string_view name, ScalarType dtype) { return d.b.tensor(name, dtype, four); };
  const auto x = d.user("x", {4});
  d.b.module().values[x].dtype = ScalarType::int64;
  const auto node = [&](std::string_view target, std::initializer_list<Argument> in, ValueId out) {
    const Argument made = GraphBuilder::value(out);
    d.b.node(target, in, {&made, 1}, d.metadata);
  };
  const Argument own = GraphBuilder::value(x);
  const auto quotient = value("quotient", ScalarType::int64), sum = value("sum", ScalarType::int64),
             cast = value("cast", ScalarType::int64);
  const auto largest = value("largest", ScalarType::int64), half = value("half", ScalarType::float32),
             floors = value("floors", ScalarType::int64);
  node("aten.div.Tensor", {own, own}, quotient);
  node("aten.add.Tensor", {GraphBuilder::value(quotient), own}, sum);
  Argument dtype = GraphBuilder::scalar_type(ScalarType::int64);
  dtype.name = d.b.text("dtype");
  node("aten._to_copy.default", {GraphBuilder::value(sum), dtype}, cast);
  node("aten.argmax.default", {GraphBuilder::value(sum)}, largest);
  node("aten.div.Tensor", {own, GraphBuilder::real(2)}, half);
  node("aten.div.Tensor_mode", {own, own, d.b.string("floor")}, floors);
  d.output(cast);
  ExportedProgram program = d.finish();
  formats::correct_quotient_dtypes(program);
  const auto dtype_of = [&](ValueId v) { return program.view().values[v].dtype; };
  CHECK(dtype_of(quotient) == ScalarType::float32);
  CHECK(dtype_of(sum) == ScalarType::float32);
  CHECK(dtype_of(cast) == ScalarType::int64);
  CHECK(dtype_of(largest) == ScalarType::int64);
  CHECK(dtype_of(half) == ScalarType::float32);
  CHECK(dtype_of(floors) == ScalarType::int64);
}
