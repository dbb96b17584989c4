// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/mapped.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstdint>

#include "davit/kernels/functions.hpp"

namespace {

namespace sf = davit::static_kernels;
using davit::ErrorCode;

constexpr sf::Walk<2> column_and_row() {
  sf::Walk<2> walk;
  (void)(walk.push(2, {1, 0}) && walk.push(3, {0, 1}));
  return walk;
}
constexpr bool check_maps() {
  const std::array<std::int32_t, 3> x{5, -7, INT32_MAX};
  std::array<std::int32_t, 3> y{};
  if (sf::map_with_number<davit::kernels::Add>(
          sf::MapWithNumber<0>{3, 0, std::bit_cast<sf::NumberParam>(std::int64_t{1})}, x.data(), y.data()) !=
      ErrorCode::ok)
    return false;
  if (y != std::array<std::int32_t, 3>{6, -6, INT32_MIN}) return false;  // modulo 2^32
  if (sf::map_with_number<davit::kernels::FloorDivide>(sf::MapWithNumber<0>{3, 0, {}}, x.data(), y.data()) !=
      ErrorCode::out_of_range)
    return false;
  std::array<bool, 3> positive{};
  if (sf::map_with_number<davit::kernels::Greater>(sf::MapWithNumber<0>{3, 1, {}}, x.data(), positive.data()) !=
      ErrorCode::ok)
    return false;
  if (positive != std::array<bool, 3>{false, true, false}) return false;  // 0 > x
  const std::array<float, 2> column{1, 2};
  const std::array<float, 3> row{10, 20, 30};
  std::array<float, 6> sum{};
  if (sf::map_two<davit::kernels::Add>(sf::MapTwo<0>{column_and_row()}, column.data(), row.data(), sum.data()) !=
      ErrorCode::ok)
    return false;
  if (sum != std::array<float, 6>{11, 21, 31, 12, 22, 32}) return false;
  const sf::NumberParam slope = std::bit_cast<sf::NumberParam>(0.5);
  std::array<float, 2> leaky{-2, 4};
  if (sf::map_one<davit::kernels::LeakyRelu>(sf::MapOne<1>{2, {slope}}, leaky.data(), leaky.data()) != ErrorCode::ok)
    return false;
  return leaky == std::array<float, 2>{-1, 4};
}
static_assert(check_maps());

constexpr bool check_others() {
  sf::Walk<3> walk;
  if (!walk.push(3, {1, 1, 0})) return false;
  const std::array<bool, 3> condition{true, false, true};
  const std::array<std::int8_t, 3> a{1, 2, 3};
  const std::array<std::int8_t, 1> b{-1};
  std::array<std::int8_t, 3> y{};
  sf::choose(sf::Choose{walk}, condition.data(), a.data(), b.data(), y.data());
  if (y != std::array<std::int8_t, 3>{1, -1, 3}) return false;
  std::array<bool, 3> truth{};
  const std::array<float, 3> numbers{0, -0.5f, 2.75f};
  sf::convert(sf::Convert{3}, numbers.data(), truth.data());
  std::array<std::int64_t, 3> whole{};
  sf::convert(sf::Convert{3}, numbers.data(), whole.data());
  if (truth != std::array<bool, 3>{false, true, true} || whole != std::array<std::int64_t, 3>{0, 0, 2}) return false;
  std::array<std::int32_t, 3> sequence{};
  sf::sequence(sf::Sequence{3, std::bit_cast<sf::NumberParam>(std::int64_t{5}),
                            std::bit_cast<sf::NumberParam>(std::int64_t{-2})},
               sequence.data());
  return sequence == std::array<std::int32_t, 3>{5, 3, 1};
}
static_assert(check_others());

}  // namespace

TEST_CASE("static elementwise functions on any type") {
  CHECK(check_maps());
  CHECK(check_others());
}
TEST_CASE("a walk has at most six dimensions, of which those that follow one another are one") {
  sf::Walk<2> walk;
  CHECK(walk.push(4, {6, 6}));
  CHECK(walk.push(6, {1, 1}));
  CHECK(walk.rank == 1);
  for (int i = 0; i < 5; ++i) CHECK(walk.push(2, {i % 2, 0}));
  CHECK_FALSE(walk.push(2, {7, 9}));
}
