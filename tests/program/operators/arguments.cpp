// SPDX-License-Identifier: MIT
#include "davit/program/operators/arguments.hpp"

#include <doctest/doctest.h>

#include "one_call.hpp"

using namespace davit;

namespace {

struct Row {
  const char* target;
  int number;
};
constexpr std::array rows{Row{"aten.relu.default", 1}, Row{"aten.neg.default", 2}};
static_assert(operators::row_of(rows, "aten.neg.default").number == 2);

constexpr bool check_rows() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = one_call::tensor(b, {2});
  b.end_graph({one_call::call(b, "aten.neg.default", {{"self", b.value(x)}})});
  const GraphModule module = std::move(b).finish();
  const operators::NodeArguments call(module.view(), 0);
  return operators::find_row(rows, call) == &rows[1] &&
         operators::find_row(std::array{Row{"aten.abs.default", 0}}, call) == nullptr;
}
static_assert(check_rows());

constexpr bool check_numbers() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = one_call::tensor(b, {2});
  b.end_graph({one_call::call(
      b, "toy.op.default",
      {{"self", b.value(x)}, {"half", b.real(0.5)}, {"three", b.integer(3)}, {"yes", b.boolean(true)}})});
  const GraphModule module = std::move(b).finish();
  const operators::NodeArguments call(module.view(), 0);
  double number = 0;
  std::int64_t integer = 0;
  bool flag = false;
  return operators::read_number(call, {"half", 1}, 7, number) && number == 0.5 &&
         operators::read_number(call, {"three", 2}, 7, number) && number == 3 &&
         operators::read_number(call, {"missing", 9}, 7, number) && number == 7 &&
         !operators::read_number(call, {"self", 0}, 7, number) &&
         operators::read_integer(call, {"three", 2}, 7, integer) && integer == 3 &&
         !operators::read_integer(call, {"half", 1}, 7, integer) &&
         operators::read_flag(call, {"yes", 3}, false, flag) && flag &&
         operators::read_flag(call, {"missing", 9}, true, flag) && flag &&
         !operators::read_flag(call, {"self", 0}, true, flag);
}
static_assert(check_numbers());

}  // namespace

TEST_CASE("an operator's row by its target") { CHECK(check_rows()); }

TEST_CASE("optional numbers, and arguments that are not numbers") { CHECK(check_numbers()); }
