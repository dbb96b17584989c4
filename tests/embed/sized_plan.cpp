// SPDX-License-Identifier: MIT
#include "davit/embed/sized_plan.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_settings.hpp"
#include "support/static_toy.hpp"

namespace {

using namespace davit;
using namespace static_toy;
using detail::JoinedTable;
using detail::same_code;
using detail::SizedPlan;
using detail::view_of_plan;

/// y = relu(x + x), or with `last` relu(x) + x, for N elements.
template <std::int64_t N, bool last = false>
constexpr GraphModule make_sum() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {N});
  const auto sum = [&](const char* name, ValueId a) {
    return b.call("aten.add.Tensor", {{"self", b.value(a)}, {"other", b.value(x)}}, name, ScalarType::float32, {N});
  };
  const auto relu = [&](const char* name, ValueId a) {
    return b.call("aten.relu.default", {{"self", b.value(a)}}, name, ScalarType::float32, {N});
  };
  b.end_graph({last ? sum("y", relu("r", x)) : relu("y", sum("s", x))});
  return std::move(b).finish();
}
template <std::int64_t N, bool last = false>
struct sum_of : static_program_of<make_sum<N, last>> {};
template <class P>
using Planned = typename detail::StaticSettings<portable>::with_backends<planned_for, P, false>;
template <class... Ps>
using Plan = SizedPlan<std::tuple<Ps...>, std::tuple<Planned<Ps>...>>;

}  // namespace

TEST_CASE("plans of the same steps share code, whatever their numbers") {
  constexpr auto four = view_of_plan<sum_of<4>, Planned<sum_of<4>>>(),
                 nine = view_of_plan<sum_of<9>, Planned<sum_of<9>>>();
  constexpr auto other = view_of_plan<sum_of<4, true>, Planned<sum_of<4, true>>>();
  CHECK(same_code(four, nine));
  CHECK_FALSE(same_code(four, other));
}

TEST_CASE("a difference is a column, which equal numbers share") {
  using Two = Plan<sum_of<4>, sum_of<9>>;
  CHECK(Two::table_bytes == 8);  // the number of elements, for each of the two
  CHECK(Two::offset<0, 0>(0) == Two::offset<0, 0>(1));
}

TEST_CASE("tables of several plans are kept once") {
  JoinedTable<float> table;
  const std::array<float, 3> one{1, 2, 3}, zero{-0.0f, 4, 5};
  table.add(one.data(), 3);
  table.add(zero.data(), 3);
  table.add(one.data(), 2);
  CHECK(table.bases == std::vector<std::uint32_t>{0, 3, 0});
  const float positive = 0;
  table.add(&positive, 1);  // no -0
  CHECK(table.bases.back() == 6);
  CHECK(table.all.size() == 7);
}
