// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/layers_any.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>

namespace {

namespace sf = davit::static_kernels;

constexpr bool check_convolutions() {
  const std::array<double, 4> x{1, 2, 3, 4};
  const std::array<double, 2> w{1, 10}, bias{0.5};
  sf::Convolve p;
  p.windows.in = {1, 1, 4};
  p.windows.out = {1, 1, 3};
  p.windows.kernel = {1, 1, 2};
  p.first_step = 2;
  p.bias = 1;
  std::array<double, 3> y{};
  sf::convolve<false>(p, x.data(), w.data(), bias.data(), y.data());
  if (y != std::array<double, 3>{21.5, 32.5, 43.5}) return false;
  p.windows.in = {1, 1, 2};
  p.windows.out = {1, 1, 4};
  p.windows.stride = {1, 1, 2};
  std::array<double, 4> wide{};
  sf::convolve<true>(p, x.data(), w.data(), bias.data(), wide.data());
  return wide == std::array<double, 4>{1.5, 10.5, 2.5, 20.5};
}
static_assert(check_convolutions());

constexpr bool check_pools_and_products() {
  const std::array<float, 5> x{1, 5, 2, 0, 3};
  sf::PoolAny p;
  p.windows.in = {1, 1, 5};
  p.windows.out = {1, 1, 3};
  p.windows.kernel = {1, 1, 2};
  p.windows.stride = {1, 1, 2};
  p.windows.padding = {0, 0, 1};
  std::array<float, 3> y{};
  std::array<std::int64_t, 3> places{};
  sf::max_pool_any(p, x.data(), y.data(), places.data());
  if (y != std::array<float, 3>{1, 5, 3} || places != std::array<std::int64_t, 3>{0, 1, 4}) return false;
  auto odd = x;
  odd[1] = odd[2] = std::numeric_limits<float>::quiet_NaN();  // of several NaN the last
  sf::max_pool_any(p, odd.data(), y.data(), places.data());
  if (places != std::array<std::int64_t, 3>{0, 2, 4}) return false;
  sf::avg_pool_any(p, x.data(), y.data());
  if (y != std::array<float, 3>{0.5f, 3.5f, 1.5f}) return false;
  const std::array<std::int32_t, 4> a{1, 2, 3, 4}, b{5, 6, 7, 8};
  std::array<std::int32_t, 4> c{};
  sf::product_any(sf::ProductAny{1, 2, 2, 2, 1, 2, 0}, a.data(), b.data(), c.data());  // times the transpose
  return c == std::array<std::int32_t, 4>{17, 23, 39, 53};
}
static_assert(check_pools_and_products());

}  // namespace

TEST_CASE("static convolutions of any type, transposed too") { CHECK(check_convolutions()); }
TEST_CASE("static pools and products of any type") { CHECK(check_pools_and_products()); }
