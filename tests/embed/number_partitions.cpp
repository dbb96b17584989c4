// SPDX-License-Identifier: MIT
#include "davit/embed/number_partitions.hpp"

#include <doctest/doctest.h>

#include <array>

namespace {

using davit::no_id;

constexpr bool numbers_runs() {
  constexpr std::array<std::uint8_t, 6> backend_of{1, 255, 1, 0, 255, 1};
  const std::vector<std::uint32_t> numbers = davit::number_partitions(backend_of);
  return numbers == std::vector<std::uint32_t>{0, no_id, 0, 1, no_id, 2};
}
static_assert(numbers_runs());

}  // namespace

TEST_CASE("partitions are numbered in order") {
  CHECK(numbers_runs());
  CHECK(davit::number_partitions({}).empty());
}
