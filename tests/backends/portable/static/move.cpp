// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/move.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include "davit/backend/step_writer.hpp"
#include "davit/backends/portable/static/elementwise.hpp"

namespace {

namespace sf = davit::static_kernels;
using davit::ErrorCode;

constexpr bool check_copies() {
  const std::array<std::int8_t, 6> x{1, 2, 3, 4, 5, 6};
  std::array<std::int8_t, 6> y{};
  sf::StridedCopy transposed;
  if (!transposed.push(3, 1, 2) || !transposed.push(2, 3, 1)) return false;
  sf::strided_copy::run(transposed, y.data(), x.data());
  if (y != std::array<std::int8_t, 6>{1, 4, 2, 5, 3, 6}) return false;

  sf::StridedCopy whole;
  for (const auto& [size, stride] : {std::pair{1, 6}, {2, 3}, {3, 1}})
    if (!whole.push(size, stride, stride)) return false;
  if (whole.walk.rank != 1 || whole.walk.sizes[0] != 6) return false;  // one row

  sf::StridedCopy column{.from = 1, .to = 3};  // the second column, to the end
  if (!column.push(2, 3, 1)) return false;
  sf::strided_copy::run(column, y.data(), x.data());
  if (y != std::array<std::int8_t, 6>{1, 4, 2, 2, 5, 6}) return false;

  sf::StridedCopy one{.from = 5};
  sf::strided_copy::run(one, y.data(), x.data());
  return y[0] == 6;
}
static_assert(check_copies());

constexpr bool check_fill_and_embedding() {
  std::array<float, 7> y{};
  sf::fill::run(sf::fill::Params{7, sf::number_param(davit::ScalarType::float32, 2.5, 0)}, y.data());
  for (const float v : y)
    if (v != 2.5f) return false;
  const std::array<float, 6> table{1, 2, 3, 4, 5, 6};
  const std::array<std::int64_t, 3> indices{2, 0, 2};
  if (sf::embedding::run(sf::embedding::Params{3, 3, 2}, y.data(), table.data(), indices.data()) != ErrorCode::ok)
    return false;
  if (y != std::array<float, 7>{5, 6, 1, 2, 5, 6, 2.5f}) return false;
  const std::array<std::int32_t, 2> outside{0, 3}, negative{-1, 0};
  return sf::embedding::run(sf::embedding::Params{2, 3, 2}, y.data(), table.data(), outside.data()) ==
             ErrorCode::out_of_range &&
         sf::embedding::run(sf::embedding::Params{2, 3, 2}, y.data(), table.data(), negative.data()) ==
             ErrorCode::out_of_range;
}
static_assert(check_fill_and_embedding());

constexpr bool check_table_copy() {
  const std::array<std::int8_t, 6> x{1, 2, 3, 4, 5, 6};  // (2, 3), columns flipped and repeated
  const std::array<std::int32_t, 6> offsets{0, 3, 2, 1, 0, 0};
  std::array<std::int8_t, 8> y{};
  sf::table_copy::run(sf::table_copy::Params{2, {2, 4}}, y.data(), x.data(), offsets.data());
  return y == std::array<std::int8_t, 8>{3, 2, 1, 1, 6, 5, 4, 4};
}
static_assert(check_table_copy());

constexpr sf::StridedCopy swapped() {
  sf::StridedCopy copy;
  (void)(copy.push(4, 3, 15) && copy.push(5, 12, 3) && copy.push(3, 1, 1));
  return copy;
}

}  // namespace

TEST_CASE("static copies of strided elements") {
  CHECK(check_copies());
  std::array<float, 60> x{}, y{}, z{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  sf::strided_copy::run(swapped(), y.data(), x.data());
  sf::strided_copy::run(davit::Constant<swapped()>{}, z.data(), x.data());
  CHECK(y == z);
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t k = 0; k < 3; ++k) CHECK(y[j * 15 + i * 3 + k] == x[i * 12 + j * 3 + k]);
}
TEST_CASE("static fill and embedding; indices outside the table are errors") { CHECK(check_fill_and_embedding()); }
TEST_CASE("static copies by tables of offsets") { CHECK(check_table_copy()); }
