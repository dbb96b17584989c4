// SPDX-License-Identifier: MIT
#include "davit/program/operators/matmul.hpp"

#include <doctest/doctest.h>

#include "one_call.hpp"

using namespace davit;
using operators::MatmulView;

namespace {

using Made = one_call::Reading<MatmulView>;
using Sizes = std::initializer_list<std::int64_t>;

constexpr Made read(std::string_view target, std::string_view left_name, Sizes left, std::string_view right_name,
                    Sizes right, Arg more = {"unused", GraphBuilder::none()}) {
  return one_call::reading<MatmulView>(
      [&](GraphBuilder& b) {
        const ValueId x = one_call::tensor(b, left), w = one_call::tensor(b, right), added = one_call::tensor(b, {4});
        Arg last = more;
        if (last.argument.kind == ArgumentKind::value) last.argument = b.value(added);
        return one_call::call(b, target, {{left_name, b.value(x)}, {right_name, b.value(w)}, last});
      },
      [](const auto& call, MatmulView& view) { return operators::read_matmul(call, view); });
}
constexpr Argument third = GraphBuilder::value(2);

constexpr bool check_forms() {
  const Made linear = read("aten.linear.default", "input", {2, 5, 3}, "weight", {4, 3}, {"bias", third});
  const Made addmm = read("aten.addmm.default", "mat1", {2, 3}, "mat2", {3, 4}, {"beta", GraphBuilder::real(0.5)});
  const Made bmm = read("aten.bmm.default", "self", {5, 2, 3}, "mat2", {5, 3, 4});
  const Made matmul = read("aten.matmul.default", "self", {3}, "other", {3});
  return linear.why.empty() && linear.view == MatmulView{.left = 0, .right = 1, .addend = 2, .transposed = true} &&
         linear.view.is_plain() && addmm.view.beta == 0.5 && addmm.view.alpha == 1 && !addmm.view.is_plain() &&
         addmm.view.rank == 2 && bmm.why.empty() && bmm.view.rank == 3 && matmul.why.empty() && matmul.view.rank == 0;
}
static_assert(check_forms());

constexpr bool check_hostile() {
  return read("aten.relu.default", "self", {2, 3}, "mat2", {3, 4}).why == "the operator is no matrix product" &&
         read("aten.mm.default", "self", {2, 3}, "mat1", {3, 4}).why == "an operand is no tensor" &&
         read("aten.mm.default", "self", {2, 3}, "mat2", {2, 4}).why ==
             "the sizes of the operands do not fit a matrix product" &&
         read("aten.mm.default", "self", {2, 3}, "mat2", {5, 3, 4}).why == "the operands are no matrices" &&
         read("aten.matmul.default", "self", {}, "other", {1}).why == "the operands are no matrices" &&
         read("aten.linear.default", "input", {2, 3}, "weight", {4, 3}, {"bias", GraphBuilder::real(1)}).why ==
             "the bias is no tensor" &&
         read("aten.addmm.default", "mat1", {2, 3}, "mat2", {3, 4}, {"alpha", third}).why ==
             "alpha or beta is no number";
}
static_assert(check_hostile());

}  // namespace

TEST_CASE("matrix products by their forms") { CHECK(check_forms()); }

TEST_CASE("impossible matrix products are refused with a reason") { CHECK(check_hostile()); }

TEST_CASE("matrix products have their arguments where their schemas say") {
  for (const operators::MatmulOperator& op : operators::matmul_operators) {
    CHECK(one_call::stands_there(op.target, op.left));
    CHECK(one_call::stands_there(op.target, op.right));
    if (op.addend.name != nullptr) CHECK(one_call::stands_there(op.target, op.addend));
    if (!op.scaled) continue;
    CHECK(one_call::stands_there(op.target, {"beta", 3}));
    CHECK(one_call::stands_there(op.target, {"alpha", 4}));
  }
}
