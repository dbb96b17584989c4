// SPDX-License-Identifier: MIT
#include "davit/runtime/check_values.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <string>
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
  CHECK(check_input_values("f", "b", interface, Sized(4, 9).values, symbols));
  CHECK(bind(interface, {2, 5}, symbols));
  const auto contradicts = bind(interface, {4, 8}, symbols);
  REQUIRE(!contradicts);
  CHECK(contradicts.error().code == ErrorCode::invalid_shape);
  CHECK(contradicts.error().where == "argument 'y' of f()");
  const auto outside = bind(interface, {6, 13}, symbols);
  REQUIRE(!outside);
  CHECK(outside.error().where == "argument 'x' of f()");
  CHECK(outside.error().what == "its size 0 is 6, outside the range the program was exported for");
  CHECK(outside.error().fix == "keep s0=2..5");
}

TEST_CASE("a size that the export fixed is named beside the one that was passed, and how to export others") {
  const MethodInterface interface = dynamic();
  SymbolValues symbols(interface.exprs);
  const auto fault = [&](const EValue& x, const EValue& y) {
    const EValue values[] = {x, y};
    const auto checked = check_input_values("f", "", interface, values, symbols);
    REQUIRE(!checked);
    return std::string(checked.error().what.view()) + " | " + std::string(checked.error().fix.view());
  };
  const Sized sized(4, 9);
  const Tensor wide = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{4, 7});
  const Tensor whole = Tensor::zeros(ScalarType::int64, std::vector<std::int64_t>{4, 3});
  const std::string call = "call it as f(x: float32[s0, 3], y: float32[2*s0 + 1]) with s0=2..5";
  CHECK(fault(wide, sized.y) ==
        "its sizes are [4, 7]: size 1 is 7, and the program was exported for 3 there | pass float32[s0, 3]; " + call +
            "; for other sizes, export it with dimension 1 dynamic");
  CHECK(fault(sized.y, sized.x) == "its rank is 1, not 2 | pass float32[s0, 3]; " + call);
  CHECK(fault(whole, sized.y) == "its dtype is int64, not float32 | pass float32[s0, 3]; " + call);
  CHECK(fault(1, sized.y) ==
        "Expected a value of type 'Tensor' for argument 'x' but instead found type 'int' | pass float32[s0, 3]; " +
            call);
  const auto few = check_input_values("f", "", interface, std::span(sized.values).first(1), symbols);
  REQUIRE(!few);
  CHECK(few.error().fix == call);
  // a method with one argument has no order of arguments, and a backend's result no call
  MethodInterface one = interface;
  one.inputs.pop_back();
  const EValue rank[] = {sized.y};
  CHECK(check_input_values("f", "", one, rank, symbols).error().fix == "pass float32[s0, 3]");
  one.outputs = {{.name = "x", .type = interface.inputs[0].type}};
  CHECK(check_output_values("f", "", one, rank, symbols).error().fix == "the backend must return float32[s0, 3]");
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
