// SPDX-License-Identifier: MIT
#include "davit/program/operators/bounds.hpp"

#include <doctest/doctest.h>

#include "one_call.hpp"

using namespace davit;
using operators::ClampView;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

constexpr one_call::Reading<ClampView> read(std::string_view target, Arg low = {"", GraphBuilder::none()},
                                            Arg high = {"", GraphBuilder::none()}) {
  return one_call::reading<ClampView>(
      [&](GraphBuilder& b) {
        return one_call::call(b, target, {{"self", b.value(one_call::tensor(b, {2}))}, low, high});
      },
      [](const auto& call, ClampView& view) { return operators::read_clamp(call, view); });
}
constexpr bool is(const one_call::Reading<ClampView>& made, double low, double high) {
  return made.why.empty() && made.view == ClampView{.input = 0, .low = low, .high = high};
}

constexpr bool check_bounds() {
  return is(read("aten.relu.default"), 0, inf) && is(read("aten.relu6.default"), 0, 6) &&
         is(read("aten.hardtanh.default"), -1, 1) &&
         is(read("aten.hardtanh.default", {"max_val", GraphBuilder::integer(6)}), -1, 6) &&
         is(read("aten.clamp.default", {"min", GraphBuilder::real(0.5)}), 0.5, inf) &&
         is(read("aten.clamp.default", {"min", GraphBuilder::none()}, {"max", GraphBuilder::integer(3)}), -inf, 3) &&
         is(read("aten.clamp.default", {"min", GraphBuilder::real(2)}, {"max", GraphBuilder::real(1)}), 2, 1) &&
         is(read("aten.clamp.default", {"min", GraphBuilder::real(nan)}), -inf,
            inf) &&  // as the only bound it changes nothing
         is(read("aten.clamp.default", {"min", GraphBuilder::none()}, {"max", GraphBuilder::real(nan)}), -inf, inf);
}
static_assert(check_bounds());

constexpr bool check_hostile() {
  return read("aten.clamp.default", {"min", GraphBuilder::value(0)}).why == "a bound is no number" &&
         read("aten.hardtanh.default", {"max_val", GraphBuilder::scalar_type(ScalarType::int8)}).why ==
             "a bound is no number" &&
         read("aten.neg.default").why == "the operator is no clamping activation";
}
static_assert(check_hostile());

}  // namespace

TEST_CASE("activations that keep bounds") { CHECK(check_bounds()); }

TEST_CASE("bounds that are not known are refused") { CHECK(check_hostile()); }

TEST_CASE("bounds are in the places of their schemas") {
  for (const operators::ClampOperator& op : operators::clamp_operators) {
    if (op.low_name == nullptr) continue;
    CHECK(one_call::stands_there(op.target, {op.low_name, 1}));
    CHECK(one_call::stands_there(op.target, {op.high_name, 2}));
  }
}
