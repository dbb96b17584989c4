// SPDX-License-Identifier: MIT
#include "davit/core/move_elements.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

using Integers = std::vector<std::int64_t>;

TEST_CASE("elements of each width move from strides to strides") {
  const auto turned = [](auto zero) {
    std::array<decltype(zero), 6> from{};
    std::iota(from.begin(), from.end(), decltype(zero){1});
    std::array<decltype(zero), 6> to{};
    davit::move_elements(sizeof zero, Integers{3, 2}, from.data(), Integers{1, 3}, to.data(), Integers{2, 1});
    return Integers(to.begin(), to.end());
  };
  const Integers expected{1, 4, 2, 5, 3, 6};
  CHECK(turned(std::uint8_t{}) == expected);
  CHECK(turned(std::uint16_t{}) == expected);
  CHECK(turned(std::uint32_t{}) == expected);
  CHECK(turned(std::uint64_t{}) == expected);
}
TEST_CASE("dimensions are permuted, with any remainder beside whole tiles") {
  const auto check = [](auto zero, const Integers& sizes, const Integers& order) {
    using T = decltype(zero);
    std::int64_t count = 1;
    Integers strides(sizes.size());
    for (std::size_t d = sizes.size(); d-- > 0; count *= sizes[d]) strides[d] = count;
    std::vector<T> from(static_cast<std::size_t>(count)), to(from.size()), expected(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i * 7);
    Integers turned_sizes, turned_strides, to_strides(sizes.size());
    for (const std::int64_t d : order)
      turned_sizes.push_back(sizes[static_cast<std::size_t>(d)]),
          turned_strides.push_back(strides[static_cast<std::size_t>(d)]);
    std::int64_t step = 1;
    for (std::size_t d = sizes.size(); d-- > 0; step *= turned_sizes[d]) to_strides[d] = step;
    for (std::uint32_t backwards = 0; backwards < 1u << sizes.size();
         ++backwards) {  // bit d: the source's dimension d is walked backwards
      Integers from_strides = turned_strides;
      std::int64_t start = 0;
      for (std::size_t d = 0; d < sizes.size(); ++d) {
        if ((backwards >> d & 1) == 0) continue;
        start += (turned_sizes[d] - 1) * turned_strides[d];
        from_strides[d] = -turned_strides[d];
      }
      for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t at = start;
        for (std::size_t d = 0; d < sizes.size(); ++d) at += i / to_strides[d] % turned_sizes[d] * from_strides[d];
        expected[static_cast<std::size_t>(i)] = from[static_cast<std::size_t>(at)];
      }
      std::ranges::fill(to, T{});
      davit::move_elements(sizeof zero, turned_sizes, from.data() + start, from_strides, to.data(), to_strides);
      CHECK(to == expected);
      // the same elements in the order of the source's memory
      const auto back = [&](const Integers& of) {
        Integers result(of.size());
        for (std::size_t d = 0; d < of.size(); ++d) result[static_cast<std::size_t>(order[d])] = of[d];
        return result;
      };
      std::ranges::fill(to, T{});
      davit::move_elements(sizeof zero, back(turned_sizes), from.data() + start, back(from_strides), to.data(),
                           back(to_strides));
      CHECK(to == expected);
    }
  };
  const auto check_all = [&](auto zero) {
    check(zero, {37, 70}, {1, 0});
    check(zero, {4, 4}, {1, 0});
    check(zero, {3, 9, 5}, {2, 0, 1});
    check(zero, {2, 5, 8, 17}, {0, 3, 1, 2});
    check(zero, {2, 5, 8, 17}, {3, 1, 2, 0});
  };
  check_all(std::uint8_t{});
  check_all(std::uint16_t{});
  check_all(std::uint32_t{});
  check_all(std::uint64_t{});
}
