// SPDX-License-Identifier: MIT
#include "davit/program/operators/binary.hpp"

#include <doctest/doctest.h>

#include "one_call.hpp"

using namespace davit;
using operators::BinaryFunction;
using operators::BinaryView;

namespace {

constexpr one_call::Reading<BinaryView> read(std::string_view target, Argument self, Argument other,
                                             Argument alpha = GraphBuilder::none()) {
  return one_call::reading<BinaryView>(
      [&](GraphBuilder& b) {
        (void)one_call::tensor(b, {2});
        (void)one_call::tensor(b, {2});
        return one_call::call(b, target, {{"self", self}, {"other", other}, {"alpha", alpha}});
      },
      [](const auto& call, BinaryView& view) { return operators::read_binary(call, view); });
}
constexpr Argument x = GraphBuilder::value(0), y = GraphBuilder::value(1);

constexpr bool check_forms() {
  const auto sum = read("aten.add.Tensor", x, y, GraphBuilder::integer(2));
  const auto quotient = read("aten.div.Scalar", x, GraphBuilder::real(0.5));
  const auto turned = read("aten.mul.Tensor", GraphBuilder::integer(3), y);
  return sum.why.empty() && sum.view == BinaryView{.left = 0, .right = 1, .alpha = 2} &&
         quotient.view == BinaryView{.function = BinaryFunction::divide, .left = 0, .right_number = 0.5} &&
         turned.view == BinaryView{.function = BinaryFunction::multiply, .right = 1, .left_number = 3} &&
         read("aten.sub.Tensor", x, y).view.function == BinaryFunction::subtract;
}
static_assert(check_forms());

constexpr bool check_hostile() {
  return read("aten.add.Tensor", x, GraphBuilder::none()).why == "an operand is neither a tensor nor a number" &&
         read("aten.add.Tensor", x, GraphBuilder::scalar_type(ScalarType::int8)).why ==
             "an operand is neither a tensor nor a number" &&
         read("aten.add.Tensor", GraphBuilder::integer(1), GraphBuilder::integer(1)).why == "no operand is a tensor" &&
         read("aten.add.Tensor", x, y, x).why == "alpha is no number" && read("aten.mul.Tensor", x, y, x).why.empty() &&
         read("aten.pow.Tensor_Tensor", x, y).why == "the operator is no function of two operands";
}
static_assert(check_hostile());

}  // namespace

TEST_CASE("functions of two operands, one of which may be a number") { CHECK(check_forms()); }

TEST_CASE("operands that are not known are refused") { CHECK(check_hostile()); }

TEST_CASE("operands are in the places of their schemas") {
  for (const operators::BinaryOperator& op : operators::binary_operators) {
    CHECK(one_call::stands_there(op.target, {"self", 0}));
    CHECK(one_call::stands_there(op.target, {"other", 1}));
    if (op.scaled) CHECK(one_call::stands_there(op.target, {"alpha", 2}));
  }
}
