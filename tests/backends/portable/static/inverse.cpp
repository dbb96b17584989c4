// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/product.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

namespace {

namespace sf = davit::static_kernels;

constexpr bool check_inverse() {
  const std::array<double, 8> x{0, 2, 4, 0, /* no pivot in its second column: */ 1, 2, 2, 4};
  std::array<double, 8> y{};
  std::array<double, 4> work{};
  std::array<std::int32_t, 2> info{-1, -1};
  if (sf::inverse::run(sf::inverse::Params{2, 2}, y.data(), info.data(), work.data(), x.data()) != davit::ErrorCode::ok)
    return false;
  if (info != std::array<std::int32_t, 2>{0, 2}) return false;
  if (y[0] != 0 || y[1] != 0.25 || y[2] != 0.5 || y[3] != 0) return false;
  return sf::inverse::run(sf::inverse::Params{2, 2, 1}, y.data(), info.data(), work.data(), x.data()) ==
         davit::ErrorCode::invalid_argument;
}
static_assert(check_inverse());

}  // namespace

TEST_CASE("static inverses: rows are exchanged for a pivot; a singular matrix is reported, or an error") {
  CHECK(check_inverse());
}
