// SPDX-License-Identifier: MIT
#include "davit/lowering/glob.hpp"

#include <doctest/doctest.h>

#include <string>

using davit::matches_glob;

namespace {

constexpr bool check_glob() {
  const bool yes = matches_glob("", "") && matches_glob("*", "") && matches_glob("abc", "abc") &&
                   matches_glob("a?c", "abc") && matches_glob("a*", "abc") && matches_glob("*c", "abc") &&
                   matches_glob("*b*", "abc") && matches_glob("a*b*c", "a-b-b-c") && matches_glob("**", "x") &&
                   matches_glob("aten.conv*.default", "aten.convolution.default") && matches_glob("*ab", "aab");
  const bool no = matches_glob("", "a") || matches_glob("a", "") || matches_glob("?", "") ||
                  matches_glob("a?c", "ac") || matches_glob("a*c", "ab") || matches_glob("abc", "abcd") ||
                  matches_glob("b*", "abc") || matches_glob("*a?", "aba");
  return yes && !no;
}
static_assert(check_glob());

}  // namespace

TEST_CASE("stars stand for any characters, question marks for one") { CHECK(check_glob()); }

TEST_CASE("a pattern of many stars ends soon") {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  CHECK_FALSE(matches_glob(pattern + "b", std::string(20000, 'a')));
}
