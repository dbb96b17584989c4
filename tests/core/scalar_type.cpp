// SPDX-License-Identifier: MIT
#include "davit/core/scalar_type.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

using namespace davit;

namespace {

constexpr bool check_half() {
  return Half(1.0f).bits == 0x3c00 && Half(-2.0f).bits == 0xc000 && Half(65504.0f).bits == 0x7bff &&
         Half(65520.0f).bits == 0x7c00 && Half(1e-8f).bits == 0 && Half(-0.0f).bits == 0x8000 &&
         Half(0x1p-24f).bits == 1 && Half(0x1p-14f).bits == 0x0400 && Half(2049.0f).bits == Half(2048.0f).bits &&
         Half(2051.0f).bits == Half(2052.0f).bits && float(Half::from_bits(0x0001)) == 0x1p-24f &&
         float(Half::from_bits(0x3555)) == 0x1.554p-2f &&
         float(Half::from_bits(0x7c00)) == std::numeric_limits<float>::infinity() &&
         float(Half::from_bits(0x83ff)) == -0x1.ff8p-15f;
}
static_assert(check_half());

constexpr bool check_names() {
  for (const auto& row : detail::scalar_type_names) {
    if (scalar_type_named(name_of(row.type)) != row.type || short_name_of(row.type) == "?" || size_of(row.type) == 0)
      return false;
    if (is_complex(row.type) + is_floating(row.type) + is_integral(row.type) != 1) return false;
  }
  return name_of(ScalarType::undefined) == "undefined" && scalar_type_named("nosuch") == ScalarType::undefined &&
         size_of(ScalarType::undefined) == 0 && !is_integral(ScalarType::undefined) && is_integral(ScalarType::bool_) &&
         short_name_of(ScalarType::float32) == "f32" && size_of(ScalarType::complex128) == 16;
}
static_assert(check_names());

static_assert(scalar_type_of<float> == ScalarType::float32 && scalar_type_of<bool> == ScalarType::bool_ &&
              scalar_type_of<std::int64_t> == ScalarType::int64 &&
              scalar_type_of<std::complex<float>> == ScalarType::complex64);
static_assert(static_cast<int>(ScalarType::bfloat16) == 15 && static_cast<int>(ScalarType::uint64) == 29 &&
              static_cast<int>(ScalarType::float8_e8m0fnu) == 44 && size_of(ScalarType::float8_e8m0fnu) == 1 &&
              is_floating(ScalarType::float8_e8m0fnu));

}  // namespace

TEST_CASE("halves round to nearest even, with subnormals and infinities") { CHECK(check_half()); }
TEST_CASE("every half survives the way through float") {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const Half half = Half::from_bits(static_cast<std::uint16_t>(bits));
    const float value = half;
    if (std::isnan(value)) continue;
    REQUIRE(Half(value).bits == bits);
  }
  CHECK(std::isnan(static_cast<float>(Half(std::numeric_limits<float>::quiet_NaN()))));
}
TEST_CASE("every bfloat16 survives the way through float") {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto value = std::bit_cast<float>(bits << 16);
    if (std::isnan(value)) continue;
    const BFloat16 b(value);
    REQUIRE(std::bit_cast<std::uint32_t>(static_cast<float>(b)) == bits << 16);
  }
  CHECK(static_cast<float>(BFloat16(1.0f + 0x1p-8f)) == 1.0f);  // a tie goes to even
  CHECK(static_cast<float>(BFloat16(1.0f + 0x1.8p-7f)) == 1.0f + 0x1p-6f);
  CHECK(std::isnan(static_cast<float>(BFloat16(std::numeric_limits<float>::quiet_NaN()))));
}
TEST_CASE("every scalar type has a name, a size and one family") { CHECK(check_names()); }

TEST_CASE("numbers of a dtype: rounded, and its epsilon") {
  static_assert(rounded_to(ScalarType::bfloat16, 0.1) == 0.10009765625 && rounded_to(ScalarType::float32, 0.1) == 0.1);
  CHECK(rounded_to(ScalarType::float16, 1e-8) == 0);
  CHECK(rounded_to(ScalarType::float16, 0.1) == 0.0999755859375);
  CHECK(epsilon_of(ScalarType::bfloat16) == 0.0078125);
  CHECK(epsilon_of(ScalarType::float16) == 0.0009765625);
  CHECK(epsilon_of(ScalarType::float32) == std::numeric_limits<float>::epsilon());
  CHECK(epsilon_of(ScalarType::float64) == std::numeric_limits<double>::epsilon());
}
