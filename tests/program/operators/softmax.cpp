// SPDX-License-Identifier: MIT
#include "davit/program/operators/softmax.hpp"

#include <doctest/doctest.h>

#include "one_call.hpp"

using namespace davit;
using operators::SoftmaxView;

namespace {

constexpr one_call::Reading<SoftmaxView> read(std::string_view target, Argument dim,
                                              Arg more = {"", GraphBuilder::none()},
                                              std::initializer_list<std::int64_t> sizes = {2, 3, 4}) {
  return one_call::reading<SoftmaxView>(
      [&](GraphBuilder& b) {
        return one_call::call(b, target, {{"self", b.value(one_call::tensor(b, sizes))}, {"dim", dim}, more});
      },
      [](const auto& call, SoftmaxView& view) { return operators::read_softmax(call, view); });
}
constexpr bool check() {
  using B = GraphBuilder;
  return read("aten._softmax.default", B::integer(-1), {"half_to_float", B::boolean(false)}).view ==
             SoftmaxView{.input = 0, .dim = 2} &&
         read("aten.log_softmax.int", B::integer(1), {"dtype", B::scalar_type(ScalarType::float32)}).view ==
             SoftmaxView{.input = 0, .dim = 1, .logarithm = true, .converts = true} &&
         read("aten._log_softmax.default", B::integer(0), {"half_to_float", B::boolean(true)}).view.converts &&
         read("aten.softmax.int", B::integer(-1), {"", B::none()}, {}).view.dim == 0 &&
         read("aten.softmax.int", B::integer(3)).why == "softmax: the dimension is out of range" &&
         read("aten.softmax.int", B::integer(INT64_MIN)).why == "softmax: the dimension is out of range" &&
         read("aten.softmax.int", B::none()).why == "softmax: the dimension is not known" &&
         read("aten.softmax.int", B::real(1)).why == "softmax: the dimension is not known" &&
         read("aten.relu.default", B::integer(0)).why == "the operator is no softmax";
}
static_assert(check());

}  // namespace

TEST_CASE("softmaxes, exported and decomposed") { CHECK(check()); }

TEST_CASE("softmaxes have their arguments where their schemas say") {
  for (const operators::SoftmaxOperator& op : operators::softmax_operators) {
    CHECK(one_call::stands_there(op.target, {"dim", 1}));
    CHECK(one_call::stands_there(op.target, {op.core ? "half_to_float" : "dtype", 2}));
  }
}
