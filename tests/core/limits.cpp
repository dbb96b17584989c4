// SPDX-License-Identifier: MIT
#include "davit/core/limits.hpp"

#include <doctest/doctest.h>

using davit::Limits;

TEST_CASE("the defaults fit large models") {
  constexpr Limits limits;
  static_assert(limits.max_memory >= std::uint64_t{1} << 36 && limits.max_loop_iterations >= std::int64_t{1} << 32);
  CHECK(limits.max_parsed_bytes >= std::size_t{1} << 30);
}
