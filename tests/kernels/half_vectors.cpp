// SPDX-License-Identifier: MIT
#include "davit/kernels/half_vectors.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/kernels/convert.hpp"

using namespace davit;

namespace {

/// Elements converted by blocks, on this CPU's widest vectors.
template <class To, class From>
std::vector<To> converted(const std::vector<From>& from) {
  std::vector<To> to(from.size());
  kernels::detail::convert_block<From, To>(from.data(), to.data(), static_cast<std::int64_t>(from.size()));
  return to;
}
template <class T>
std::vector<T> all_of() {
  std::vector<T> all(0x10000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].bits = static_cast<std::uint16_t>(i);
  return all;
}
template <class T>
void check_both_ways() {
  const std::vector<T> halves = all_of<T>();
  const std::vector<float> floats = converted<float>(halves);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < halves.size(); ++i)
    wrong += std::bit_cast<std::uint32_t>(floats[i]) != std::bit_cast<std::uint32_t>(static_cast<float>(halves[i]));
  CHECK(wrong == 0);
  std::vector<float> values;
  for (std::uint32_t word = 0; word < 0xfff00000u; word += 0x3137u) values.push_back(std::bit_cast<float>(word));
  for (const float value : floats)
    for (const std::uint32_t beside : {0u, 1u, 0xffffffffu, 0x1000u, 0x0fffu, 0x1001u, 0x8000u, 0x7fffu, 0x8001u})
      values.push_back(std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) + beside));
  const std::vector<T> narrowed = converted<T>(values);
  for (std::size_t i = 0; i < values.size(); ++i) wrong += narrowed[i].bits != T(values[i]).bits;
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("every half, and floats between and beside them, as Half converts them") { check_both_ways<Half>(); }
TEST_CASE("every bfloat16, and floats between and beside them, as BFloat16 converts them") {
  check_both_ways<BFloat16>();
}
TEST_CASE("the vectors of each width") {
  std::array<Half, 16> halves{};
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = Half(0.5f * static_cast<float>(i) - 3.0f);
  std::array<float, 16> floats{};
  std::array<Half, 16> back{};
  kernels::widen<16>(halves.data(), floats.data());
  kernels::narrow<16>(floats.data(), back.data());
  for (std::size_t i = 0; i < 4; ++i) CHECK(back[i].bits == halves[i].bits);
}
