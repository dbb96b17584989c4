// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/sympy.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <deque>
#include <string>

#include "davit/program/symbols.hpp"
#include "support/repeated.hpp"

using namespace davit;
using namespace davit::formats;
using support::repeated;

namespace {

/// An expression in prefix form: "(2 (0 3) s0)" with the numbers of ExprOp; "error: ..." if it is refused.
class Reader {
 public:
  std::string read(const std::string& text) {
    const Result<ExprId> id = reader_.read(texts_.emplace_back(text));
    return id ? printed(*id) : "error: " + std::string(id.error().what.view());
  }
  ExprId id(const std::string& text) { return reader_.read(texts_.emplace_back(text)).value(); }
  GraphBuilder builder;

 private:
  std::string printed(ExprId id) {
    const GraphModuleView view = builder.module().view();
    const Expr& e = view.exprs[id];
    if (e.op == ExprOp::symbol) return std::string(view.str(e.name));
    if (e.op == ExprOp::integer) return std::to_string(e.value);
    if (e.op == ExprOp::real) return std::to_string(std::bit_cast<double>(e.value));
    if (e.op == ExprOp::rational) return std::to_string(e.value) + "/" + std::to_string(e.c);
    if (e.op == ExprOp::boolean) return e.value != 0 ? "true" : "false";
    std::string text = "(" + std::to_string(static_cast<int>(e.op));
    for (const ExprId operand : {e.a, e.b, e.c})
      if (operand != no_id) text += " " + printed(operand);
    return text + ")";
  }
  SympyReader reader_{builder};
  std::deque<std::string> texts_;
};

std::string op(ExprOp o) { return std::to_string(static_cast<int>(o)); }

}  // namespace

TEST_CASE("numbers, symbols and truth values") {
  Reader r;
  CHECK(r.read("Symbol('s0', positive=True, integer=True)") == "s0");
  CHECK(r.read("Symbol('zuf0')") == "zuf0");
  CHECK(r.read("Integer(-3)") == "-3");
  CHECK(r.read("7") == "7");
  CHECK(r.read("Rational(-1, 2)") == "-1/2");
  CHECK(r.read("Float('0.5', precision=53)") == "0.500000");
  CHECK(r.read("2.5") == "2.500000");
  CHECK(r.read("true") == "true");
  CHECK(r.read("false") == "false");
  CHECK(r.read("oo") == "inf");
  CHECK(r.read("-oo") == "-inf");
  CHECK(r.read("int_oo") == "inf");
  CHECK(r.read("IntInfinity()") == "inf");
  CHECK(r.read("NegativeInfinity()") == "-inf");
}

TEST_CASE("functions of many operands are folded from the left") {
  Reader r;
  CHECK(r.read("Add(Integer(1), Integer(2), Integer(3))") == "(2 (2 1 2) 3)");
  CHECK(r.read("Mul(Integer(2), Symbol('s0'))") == "(3 2 s0)");
  CHECK(r.read("Max(Integer(2))") == "2");
}

TEST_CASE("every function becomes its operator") {
  for (const auto& function : davit::formats::detail::sympy_functions) {
    Reader r;
    std::string operands = "Symbol('a')";
    std::string expected = " a";
    for (int i = 1; i < (function.arity == 0 ? 2 : function.arity); ++i) {
      operands += ", Symbol('b')";
      expected += " b";
    }
    CHECK(r.read(std::string(function.name) + "(" + operands + ")") == "(" + op(function.op) + expected + ")");
  }
  CHECK(Reader().read("Identity(Symbol('a'))") == "a");
}

TEST_CASE("symbols and texts are stored once") {
  Reader r;
  const std::string text = "Add(Symbol('s0', positive=True), Symbol('s0'))";
  const ExprId first = r.id(text);
  const std::size_t size = r.builder.module().exprs.size();
  CHECK(size == 2);
  CHECK(r.id(text) == first);
  CHECK(r.id("Symbol('s0')") < first);
  CHECK(r.builder.module().exprs.size() == size);
}

TEST_CASE("expressions evaluate as in torch") {
  Reader r;
  const ExprId s0 = r.id("Symbol('s0', positive=True, integer=True)");
  const ExprId e = r.id("FloorDiv(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), Integer(3))");
  SymbolValues values(r.builder.module().exprs);
  CHECK(values.bind(s0, 10));
  values.settle();
  CHECK(values.value(e) == 6);
}

TEST_CASE("malformed expressions are refused") {
  Reader r;
  CHECK(r.read("") == "error: expected a number or a function");
  CHECK(r.read("Add(") == "error: expected a number or a function");
  CHECK(r.read("Add(Integer(1)") == "error: expected ',' or ')'");
  CHECK(r.read("Add()") == "error: 'Add' does not take 0 operands");
  CHECK(r.read("Mod(Integer(1))") == "error: 'Mod' does not take 1 operands");
  CHECK(r.read("Integer(1) Integer(2)") == "error: the expression should end here");
  CHECK(r.read("Integer(99999999999999999999)") == "error: expected an integer of 64 bits");
  CHECK(r.read("Rational(1, 0)") == "error: expected two integers");
  CHECK(r.read("Rational(1)") == "error: expected two integers");
  CHECK(r.read("Symbol(s0)") == "error: expected the name of a symbol");
  CHECK(r.read("Symbol('')") == "error: expected the name of a symbol");
  CHECK(r.read("Symbol('s0', positive)") == "error: expected ')'");
  CHECK(r.read("Float('x', precision=53)") == "error: expected a number");
  CHECK(r.read("x") == "error: 'x' is not a number of 64 bits");
  CHECK(r.read("evil('x')") == "error: expected a number or a function");
}

TEST_CASE("an unknown function is named") {
  GraphBuilder builder;
  SympyReader reader(builder);
  const auto id = reader.read("Add(Integer(1), OpaqueUnaryFn_sin(Integer(2)))");
  REQUIRE(!id);
  CHECK(id.error().code == ErrorCode::unsupported_argument);
  CHECK(id.error().what == "function 'OpaqueUnaryFn_sin' is not known");
  CHECK(id.error().where.view().ends_with(", byte 16"));
}

TEST_CASE("nesting is bounded, width is not") {
  CHECK(Reader().read(repeated("Not(", 100'000)) == "error: the expression is nested too deeply");
  Reader r;
  const ExprId sum = r.id("Add(Integer(0)" + repeated(", Integer(1)", 20'000) + ")");
  SymbolValues values(r.builder.module().exprs);
  values.settle();
  CHECK(values.value(sum) == 20000);
}
