// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/sympy.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace davit::formats::detail;

namespace {

/// One letter per word.
std::string kinds(std::string_view text) {
  SympyLexer words(text);
  std::string all;
  while (words.peek().kind != SympyToken::Kind::end && all.size() < 100)
    all += "ns'(),=e!"[static_cast<std::size_t>(words.take().kind)];
  return all;
}

}  // namespace

TEST_CASE("expressions are split into words") {
  CHECK(kinds("Symbol('s0', positive=True)") ==
        "n('"
        ",n=n)");
  CHECK(kinds("Integer(-3)") == "n(s)");
  CHECK(kinds("Float(\"1e-05\", precision=53)") ==
        "n('"
        ",n=s)");
  CHECK(kinds("-oo") == "s");
  CHECK(kinds("") == "");
  CHECK(kinds("  ") == "");
  CHECK(kinds("a?") == "n!");
  CHECK(kinds("'open") == "!");
  CHECK(kinds("'esc\\'") == "!!");
}

TEST_CASE("words know their text and place") {
  SympyLexer words("Add(  'x' )");
  CHECK(words.take().text == "Add");
  CHECK(words.take_if(SympyToken::Kind::open));
  CHECK(!words.take_if(SympyToken::Kind::close));
  const SympyToken text = words.take();
  CHECK(text.text == "x");
  CHECK(text.offset == 6);
}
