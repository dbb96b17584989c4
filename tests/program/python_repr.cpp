// SPDX-License-Identifier: MIT
#include "davit/program/python_repr.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <string_view>

namespace {

std::string repr(std::string_view text) {
  std::string out;
  davit::detail::append_python_str(out, text);
  return out;
}

std::string repr(double value) {
  std::string out;
  davit::detail::append_python_float(out, value);
  return out;
}

}  // namespace

TEST_CASE("strings are quoted as Python quotes them") {
  CHECK(repr("") == "''");
  CHECK(repr("plain.name_1") == "'plain.name_1'");
  CHECK(repr("it's") == "\"it's\"");
  CHECK(repr("say \"hi\"") == "'say \"hi\"'");
  CHECK(repr("it's \"hi\"") == "'it\\'s \"hi\"'");
  CHECK(repr("back\\slash") == "'back\\\\slash'");
  CHECK(repr("a\nb\rc\td") == "'a\\nb\\rc\\td'");
  CHECK(repr(std::string_view("\0\x1f\x7f", 3)) == "'\\x00\\x1f\\x7f'");
}

TEST_CASE("printable text beyond ASCII stays, other characters are escaped") {
  CHECK(repr("\u00e9\u4e2d\U0001f600") == "'\u00e9\u4e2d\U0001f600'");
  CHECK(repr("\u0085\u00a0\u00ad") == "'\\x85\\xa0\\xad'");
  CHECK(repr("\u200b\u2028\ufeff\ue000") == "'\\u200b\\u2028\\ufeff\\ue000'");
  CHECK(repr("\U000e0001") == "'\\U000e0001'");
}

TEST_CASE("bytes that are no UTF-8 are escaped one by one") {
  CHECK(repr("\xff") == "'\\xff'");
  CHECK(repr("a\xc3") == "'a\\xc3'");
  CHECK(repr("\xc3(") == "'\\xc3('");
  CHECK(repr("\xed\xa0\x80") == "'\\xed\\xa0\\x80'");
  CHECK(repr("\xc0\x80") == "'\\xc0\\x80'");
  CHECK(repr("\xf4\x90\x80\x80") == "'\\xf4\\x90\\x80\\x80'");
}

TEST_CASE("floats have the shortest digits that read back, in Python's form") {
  CHECK(repr(1.0) == "1.0");
  CHECK(repr(0.0) == "0.0");
  CHECK(repr(-0.0) == "-0.0");
  CHECK(repr(0.1) == "0.1");
  CHECK(repr(-2.5) == "-2.5");
  CHECK(repr(1.0 / 3.0) == "0.3333333333333333");
  CHECK(repr(0.0001) == "0.0001");
  CHECK(repr(1e-05) == "1e-05");
  CHECK(repr(1.5e-7) == "1.5e-07");
  CHECK(repr(123456789012345.0) == "123456789012345.0");
  CHECK(repr(9007199254740993.0) == "9007199254740992.0");
  CHECK(repr(1e15) == "1000000000000000.0");
  CHECK(repr(1e16) == "1e+16");
  CHECK(repr(123456789012345680.0) == "1.2345678901234568e+17");
  CHECK(repr(1e100) == "1e+100");
  CHECK(repr(5e-324) == "5e-324");
  CHECK(repr(std::numeric_limits<double>::max()) == "1.7976931348623157e+308");
}

TEST_CASE("infinities and NaN have names") {
  CHECK(repr(std::numeric_limits<double>::infinity()) == "inf");
  CHECK(repr(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(repr(std::numeric_limits<double>::quiet_NaN()) == "nan");
}
