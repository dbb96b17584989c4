// SPDX-License-Identifier: MIT
#include "davit/core/literal.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string_view>
#include <vector>

namespace {

using davit::Literal;
using davit::same_text;

constexpr std::size_t length(Literal text) {
  return text.size;
}
static_assert(length("") == 0 && length("self") == 4 && length(std::string_view("weight", 3)) == 3);
constexpr const char* chosen = "other";
static_assert(length(chosen) == 5 && length(chosen == nullptr ? "self" : chosen) == 5);
static_assert(std::string_view(Literal("self")) == "self");

constexpr std::array<char, 5> of_the_program{'x', 's', 'e', 'l', 'f'};
static_assert(same_text(of_the_program.data() + 1, "self", 4) && !same_text(of_the_program.data(), "self", 4));

constexpr bool compares() {
  const std::vector<char> computed{'x', 's', 'e', 'l', 'f'};
  return same_text(computed.data() + 1, "self", 4) && same_text(computed.data() + 1, "sell", 3) &&
         !same_text(computed.data(), "self", 4) && !same_text(computed.data() + 1, "sell", 4) &&
         same_text(computed.data(), "self", 0);
}
static_assert(compares());

}  // namespace

TEST_CASE("texts of any origin compare in constant evaluation and when running") {
  CHECK(compares());
  CHECK(length("self") == 4);
}
