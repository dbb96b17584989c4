// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/dim_order.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <vector>

#include "davit/program/graph.hpp"

using namespace davit;
using xnnpack_parts::DimOrder;

namespace {

[[nodiscard]] constexpr std::vector<Dim> sizes(std::initializer_list<std::int64_t> list) {
  std::vector<Dim> dims;
  for (const std::int64_t size : list) dims.push_back({.value = size});
  return dims;
}

/// The order of NHWC images viewed in other sizes; a rank of 0 if that takes a copy.
[[nodiscard]] constexpr DimOrder view_of_image(std::initializer_list<std::int64_t> from,
                                               std::initializer_list<std::int64_t> to) {
  const std::vector<Dim> a = sizes(from);
  const std::vector<Dim> b = sizes(to);
  return xnnpack_parts::detail::order_of_view(a, DimOrder::channels_last(a.size()), b).value_or(DimOrder{});
}

constexpr DimOrder channels_last{.dim = {0, 2, 3, 1}, .rank = 4};
static_assert(DimOrder::channels_last(4) == channels_last);
static_assert(DimOrder::channels_last(1) == DimOrder::row_major(1));
// dimensions of size 1 do not matter, others do
static_assert(same_order(sizes({2, 1, 3, 4}), DimOrder::channels_last(4), DimOrder::row_major(4)));
static_assert(!same_order(sizes({2, 5, 3, 4}), DimOrder::channels_last(4), DimOrder::row_major(4)));
static_assert(!same_order(sizes({2, 1}), DimOrder::channels_last(4),
                          DimOrder::channels_last(4)));  // of another rank
static_assert(!xnnpack_parts::detail::order_of_view(sizes({2, 1}), DimOrder::row_major(3), sizes({2})));
// height and width merge: they are adjacent; channels and height are not
static_assert(view_of_image({2, 8, 3, 4}, {2, 8, 12}) == DimOrder{.dim = {0, 2, 1}, .rank = 3});
static_assert(view_of_image({2, 8, 3, 4}, {2, 24, 4}).rank == 0);
static_assert(view_of_image({2, 8, 3, 4}, {2, 2, 4, 3, 4}) == DimOrder{.dim = {0, 3, 4, 1, 2}, .rank = 5});
static_assert(view_of_image({2, 8, 1, 1}, {2, 8}) == DimOrder::row_major(2));

}  // namespace

TEST_CASE("orders of views, at run time too") {
  CHECK(view_of_image({2, 8, 3, 4}, {2, 8, 12}) == DimOrder{.dim = {0, 2, 1}, .rank = 3});
  CHECK(view_of_image({2, 8, 3, 4}, {2, 24, 4}).rank == 0);
  CHECK(view_of_image({6, 4, 1, 1}, {24}) == DimOrder::row_major(1));
}
