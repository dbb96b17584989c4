// SPDX-License-Identifier: MIT
#include "davit/formats/html_text.hpp"

#include <doctest/doctest.h>

using davit::formats::escape_html;

TEST_CASE("markup and quotes are escaped") {
  CHECK(escape_html("<script a=\"b\" c='d'>&amp;") == "&lt;script a=&quot;b&quot; c=&#39;d&#39;&gt;&amp;amp;");
  CHECK(escape_html("").empty());
  CHECK(escape_html("h\xC3\xA4t \xF0\x9F\x90\xA6") == "h\xC3\xA4t \xF0\x9F\x90\xA6");
}

TEST_CASE("control characters and bytes that are no UTF-8 are replaced") {
  CHECK(escape_html(std::string_view("a\0b", 3)) == "a\xEF\xBF\xBD" "b");
  CHECK(escape_html("\x1b[0m\x7f") == "\xEF\xBF\xBD[0m\xEF\xBF\xBD");
  CHECK(escape_html("\xC0\xBCscript\xFF\xE2\x82") == "\xEF\xBF\xBD\xEF\xBF\xBDscript\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(escape_html("a\n\tb") == "a\n\tb");
}
