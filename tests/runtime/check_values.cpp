// SPDX-License-Identifier: MIT
#include "davit/runtime/check_values.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "../programs.hpp"

using namespace davit;

namespace {

/// f(x[s0, 3], y[2 * s0 + 1])
MethodInterface dynamic() {
  GraphBuilder b;
  b.begin_graph();
  const ExprId s0 = b.symbol("s0");
  const ExprId odd = b.expr({.op = ExprOp::add,
                             .a = b.expr({.op = ExprOp::mul, .a = b.expr({.value = 2}), .b = s0}),
                             .b = b.expr({.value = 1})});
  const Dim x_sizes[] = {{.value = 4, .expr = s0}, {.value = 3}};
  const Dim y_sizes[] = {{.value = 9, .expr = odd}};
  for (const auto& [name, sizes] : {std::pair<std::string_view, std::span<const Dim>>{"x", x_sizes}, {"y", y_sizes}})
    b.input(b.value(b.declare({.name = b.text(name), .sizes = b.dims(sizes), .dtype = ScalarType::float32})));
  b.end_graph({0});
  ExportedProgram program = programs::user_program(std::move(b).finish());
  program.range_constraints.push_back({"s0", 2, 5});
  return method_interface(program);
}

struct Sized {
  Tensor x;
  Tensor y;
  EValue values[2];
  Sized(std::int64_t rows, std::int64_t length)
      : x(Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{rows, 3})),
        y(Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{length})),
        values{x.view(), y.view()} {}
};

Result<void> bind(const MethodInterface& interface, const Sized& sized, SymbolValues& symbols) {
  return bind_symbols("f", "b", interface, sized.values, symbols);
}

}  // namespace

TEST_CASE("dynamic sizes must agree with each other and stay in their range") {
  const MethodInterface interface = dynamic();
  SymbolValues symbols(interface.exprs);
  CHECK(bind(interface, {4, 9}, symbols));
  CHECK(check_values("f", "b", "argument", interface.inputs, Sized(4, 9).values, symbols));
  CHECK(bind(interface, {2, 5}, symbols));
  const auto contradicts = bind(interface, {4, 8}, symbols);
  REQUIRE(!contradicts);
  CHECK(contradicts.error().code == ErrorCode::invalid_shape);
  CHECK(contradicts.error().where == "argument 'y' of f()");
  const auto outside = bind(interface, {6, 13}, symbols);
  REQUIRE(!outside);
  CHECK(outside.error().where == "argument 'x' of f()");
  CHECK(outside.error().what == "its size 0 is 6, outside the range the program was exported for");
  CHECK(outside.error().fix == "keep it between 2 and 5");
}

TEST_CASE("the quick check says whether static ports fit, and leaves dynamic ones to the other") {
  PortChecks fixed;
  fixed.add({.tag = EValue::Tag::tensor, .dtype = ScalarType::float32, .dims = {{.value = 1}, {.value = 3}}}, false);
  fixed.add({.tag = EValue::Tag::int_}, false);
  fixed.add({.tag = EValue::Tag::float_}, true);
  const Sized sized(1, 1);
  const EValue good[] = {sized.values[0], 1, "any"};
  const EValue wrong_kind[] = {sized.values[0], 1.0, "any"};
  const EValue wrong_rank[] = {sized.values[1], 1, "any"};
  CHECK(fixed.match(good));
  CHECK(!fixed.match(wrong_kind));
  CHECK(!fixed.match(wrong_rank));
  CHECK(!fixed.match(std::span(good).first(2)));
  PortChecks open;
  open.add({.tag = EValue::Tag::tensor, .dtype = ScalarType::float32, .dims = {{.value = 1, .expr = 0}, {.value = 3}}},
           false);
  CHECK(!open.match(std::span(good).first(1)));
}

TEST_CASE("constants compare by value and kind, numbers across kinds") {
  CHECK(same_constant(2, ConstantValue(std::int64_t{2})));
  CHECK(same_constant(2.0, ConstantValue(std::int64_t{2})));
  CHECK(!same_constant(3, ConstantValue(std::int64_t{2})));
  CHECK(same_constant("a", ConstantValue(Name("a"))));
  CHECK(!same_constant("b", ConstantValue(Name("a"))));
  CHECK(same_constant(EValue(), ConstantValue()));
  CHECK(!same_constant(0, ConstantValue()));
}
