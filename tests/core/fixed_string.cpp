// SPDX-License-Identifier: MIT
#include "davit/core/fixed_string.hpp"

#include <doctest/doctest.h>

#include <boost/hana/equal.hpp>
#include <concepts>
#include <string_view>

using namespace davit::literals;

static_assert(std::same_as<decltype("forward"_s), boost::hana::string<'f', 'o', 'r', 'w', 'a', 'r', 'd'>>);
static_assert(std::same_as<decltype(""_s), boost::hana::string<>>);
static_assert(!std::same_as<decltype("a"_s), decltype("b"_s)>);
static_assert(std::string_view("forward"_s.c_str()) == "forward");

TEST_CASE("a literal is a type: equal ones are one, with its text") {
  CHECK(boost::hana::equal("sub_accum"_s, "sub_accum"_s));
  CHECK(!boost::hana::equal("sub_accum"_s, "accum"_s));
  CHECK(std::string_view("h\xc3\xa9"_s.c_str()) == "h\xc3\xa9");
}
