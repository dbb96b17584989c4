// SPDX-License-Identifier: MIT
#include "davit/embed/control_flow.hpp"

#include <doctest/doctest.h>

#include <array>

namespace {

using namespace davit;
using flow = detail::control_flow;
using Six = std::array<int, 6>;

constexpr bool takes_and_stacks_slices() {
  const Six rows{1, 2, 3, 4, 5, 6};
  const std::int32_t at = 1;
  std::array<int, 3> row{};
  flow::slice::run({1, 2, 3, 0}, row.data(), rows.data(), &at);
  bool ok = row == std::array<int, 3>{4, 5, 6};
  flow::slice::run({1, 2, 3, 1}, row.data(), rows.data(), &at);  // from the last row
  ok = ok && row == std::array<int, 3>{1, 2, 3};
  std::array<int, 2> column{};
  flow::slice::run({2, 3, 1, 0}, column.data(), rows.data(), &at);
  ok = ok && column == std::array<int, 2>{2, 5};
  Six made{};
  flow::stack::run({3, 0}, made.data(), row.data(), &at);
  ok = ok && made == Six{0, 0, 0, 1, 2, 3};
  flow::stack::run({2, 2}, made.data(), column.data(), &at);
  return ok && made == Six{0, 0, 2, 5, 2, 3};
}
static_assert(takes_and_stacks_slices());

constexpr bool checks() {
  const float yes = 0.5f, no = 0;
  return flow::check::run({}, &yes) == ErrorCode::ok && flow::check::run({}, &no) == ErrorCode::assertion_failed;
}
static_assert(checks());

}  // namespace

TEST_CASE("kernels of control flow") {
  CHECK(takes_and_stacks_slices());
  CHECK(checks());
}
