// SPDX-License-Identifier: MIT
#include "davit/core/real_from_chars.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

using davit::real_from_chars;

namespace {

std::from_chars_result real_by_strtod(const char* first, const char* last, double& value) {
  return davit::detail::real_by_strtod(first, last, value);
}
std::from_chars_result from_chars_of_double(const char* first, const char* last, double& value) {
  return davit::number_from_chars(first, last, value);
}

}  // namespace

namespace {

constexpr double untouched = -77.5;

struct Read {
  double value = untouched;
  std::size_t length = 0;
  std::errc error{};
  friend bool operator==(const Read& a, const Read& b) {
    return a.length == b.length && a.error == b.error &&
           (std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value) ||
            (std::isnan(a.value) && std::isnan(b.value)));
  }
};
template <class F>
Read read(std::string_view text, F&& f) {
  Read out;
  const auto [end, error] = f(text.data(), text.data() + text.size(), out.value);
  out.length = static_cast<std::size_t>(end - text.data());
  out.error = error;
  return out;
}

}  // namespace

TEST_CASE("numbers, and texts that only begin with one") {
  for (const auto& f : {from_chars_of_double, real_by_strtod}) {
    CHECK(read("1.5", f) == Read{1.5, 3});
    CHECK(read("-0", f) == Read{-0.0, 2});
    CHECK(read("5.", f) == Read{5.0, 2});
    CHECK(read(".25x", f) == Read{0.25, 3});
    CHECK(read("1e", f) == Read{1.0, 1});
    CHECK(read("1e-", f) == Read{1.0, 1});
    CHECK(read("2E+3,4", f) == Read{2000.0, 4});
    CHECK(read("0x10", f) == Read{0.0, 1});
    CHECK(read("4.9e-324", f) == Read{4.9e-324, 8});
    CHECK(read("2.2250738585072011e-308", f) == Read{2.2250738585072011e-308, 23});
    CHECK(read("-inf", f) == Read{-INFINITY, 4});
    CHECK(read("InfinityX", f) == Read{INFINITY, 8});
    CHECK(read("nan", f) == Read{NAN, 3});
    CHECK(read("0e99999", f) == Read{0.0, 7});
    for (const std::string_view none : {"", "-", "+1", " 1", ".", "-.", "e5", ".e5", "x"})
      CHECK(read(none, f) == Read{untouched, 0, std::errc::invalid_argument});
    CHECK(read("1e400", f) == Read{untouched, 5, std::errc::result_out_of_range});
    CHECK(read("-1e400 ", f) == Read{untouched, 6, std::errc::result_out_of_range});
    CHECK(read("0.00001e-400", f) == Read{untouched, 12, std::errc::result_out_of_range});
  }
}
TEST_CASE("a float is rounded once; integers are std's") {
  constexpr std::string_view between = "1.00000005960464477540";  // just above the middle of two floats
  float nearest = 0, by_strtof = 0;
  CHECK(real_from_chars(between.data(), between.data() + between.size(), nearest).ec == std::errc());
  CHECK(davit::detail::real_by_strtod(between.data(), between.data() + between.size(), by_strtof).ec == std::errc());
  CHECK(nearest == 1.0f + 0x1p-23f);
  CHECK(by_strtof == nearest);
  constexpr std::string_view large = "1e39";
  CHECK(davit::detail::real_by_strtod(large.data(), large.data() + 4, by_strtof).ec == std::errc::result_out_of_range);
  int whole = 0;
  CHECK(davit::number_from_chars(large.data(), large.data() + 4, whole).ptr == large.data() + 1);
  CHECK(whole == 1);
}
TEST_CASE("nothing behind the last character is read") {
  CHECK(read(std::string_view("12345").substr(0, 2), real_by_strtod) == Read{12.0, 2});
  CHECK(read(std::string_view("1e55").substr(0, 3), real_by_strtod) == Read{1e5, 3});
}
TEST_CASE("strtod and from_chars agree for texts of doubles of all sizes") {
  std::uint64_t bits = 1;
  for (int i = 0; i < 2000; ++i) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    const double value = std::bit_cast<double>(bits);
    if (!std::isfinite(value)) continue;
    char text[64];
    const char* const end = std::to_chars(text, text + sizeof text, value).ptr;
    const std::string_view printed(text, static_cast<std::size_t>(end - text));
    CHECK(read(printed, real_by_strtod) == Read{value, printed.size()});
    CHECK(read(printed, from_chars_of_double) == Read{value, printed.size()});
  }
}
