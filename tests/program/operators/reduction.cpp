// SPDX-License-Identifier: MIT
#include "davit/program/operators/reduction.hpp"

#include <doctest/doctest.h>

#include "one_call.hpp"

using namespace davit;
using operators::ReductionFunction;
using operators::ReductionView;

namespace {

struct Dims {
  std::initializer_list<std::int64_t> list{};
  bool none = false;
};
constexpr one_call::Reading<ReductionView> read(std::string_view target, Dims dims,
                                                Arg more = {"", GraphBuilder::none()}) {
  return one_call::reading<ReductionView>(
      [&](GraphBuilder& b) {
        const Argument over = dims.none ? b.none() : b.ints(dims.list);
        return one_call::call(b, target, {{"self", b.value(one_call::tensor(b, {2, 3, 4}))}, {"dim", over}, more});
      },
      [](const auto& call, ReductionView& view) { return operators::read_reduction(call, view); });
}
constexpr one_call::Reading<ReductionView> one(std::string_view target, Argument dim) {
  return one_call::reading<ReductionView>(
      [&](GraphBuilder& b) {
        return one_call::call(b, target, {{"self", b.value(one_call::tensor(b, {2, 3, 4}))}, {"dim", dim}});
      },
      [](const auto& call, ReductionView& view) { return operators::read_reduction(call, view); });
}

constexpr bool check() {
  using B = GraphBuilder;
  const auto mean = read("aten.mean.dim", {{-1, 1}}, {"keepdim", B::boolean(true)});
  return mean.why.empty() &&
         mean.view == ReductionView{.function = ReductionFunction::mean, .input = 0, .dims = 6, .keepdim = true} &&
         mean.view.reduces(1) && !mean.view.reduces(0) && read("aten.amax.default", {}).view.dims == 7 &&
         read("aten.sum.dim_IntList", {.none = true}).view.dims == 7 &&
         read("aten.sum.dim_IntList", {{0}}, {"dtype", B::scalar_type(ScalarType::float32)}).view.converts &&
         read("aten.mean.default", {}).view.dims == 7 && one("aten.argmax.default", B::integer(-3)).view.dims == 1 &&
         one("aten.argmin.default", B::none()).view.dims == 7 &&
         one("aten.max.dim", B::integer(-1)).view ==
             ReductionView{.function = ReductionFunction::maximum, .input = 0, .dims = 4} &&
         read("aten.any.dims", {{0, 2}}).view ==
             ReductionView{.function = ReductionFunction::any, .input = 0, .dims = 5} &&
         read("aten.prod.default", {}, {"dtype", B::scalar_type(ScalarType::float32)}).view ==
             ReductionView{.function = ReductionFunction::product, .input = 0, .dims = 7, .converts = true};
}
static_assert(check());

constexpr bool check_hostile() {
  return read("aten.mean.dim", {{3}}).why == "a dimension is outside the tensor's rank" &&
         read("aten.mean.dim", {{INT64_MIN}}).why == "a dimension is outside the tensor's rank" &&
         read("aten.mean.dim", {{1, -2}}).why == "a dimension is named twice" &&
         one("aten.argmax.default", GraphBuilder::integer(5)).why == "a dimension is outside the tensor's rank" &&
         read("aten.relu.default", {}).why == "the operator is no reduction";
}
static_assert(check_hostile());

}  // namespace

TEST_CASE("reductions: lists of dimensions, one, and all") { CHECK(check()); }

TEST_CASE("impossible reductions are refused with a reason") { CHECK(check_hostile()); }

TEST_CASE("reductions have their arguments where their schemas say") {
  for (const operators::ReductionOperator& op : operators::reduction_operators) {
    if (op.typed) CHECK(one_call::stands_there(op.target, op.dtype()));
    if (op.all) continue;
    CHECK(one_call::stands_there(op.target, {"dim", 1}));
    CHECK(one_call::stands_there(op.target, {"keepdim", 2}));
  }
}
