// SPDX-License-Identifier: MIT
#include "davit/kernels/convert.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

using namespace davit;
using kernels::Conversion;
using kernels::convert;

static_assert(convert<std::int8_t>(300.7) == 44 && convert<std::int64_t>(1e30) == INT64_MIN && convert<bool>(0.5f));
// out of range: as torch on x86, by way of int32 or of int64
static_assert(convert<std::int32_t>(3e9f) == INT32_MIN && convert<std::int32_t>(-2147483648.0f) == INT32_MIN &&
              convert<std::int32_t>(2147483647.5) == INT32_MAX);
static_assert(convert<std::int32_t>(std::numeric_limits<float>::quiet_NaN()) == INT32_MIN &&
              convert<std::int16_t>(5e9f) == 0 && convert<std::int16_t>(70000.0) == 4464);
static_assert(convert<std::int8_t>(5000000255.0) == 0 && convert<std::uint8_t>(5000000255.0) == 255 &&
              convert<std::uint16_t>(8589934594.0) == 0);
static_assert(convert<std::uint32_t>(-3e9) == 1294967296u && convert<std::uint64_t>(1e19) == 10000000000000000000u &&
              convert<std::uint64_t>(2e19) == 0);
static_assert(convert<std::uint8_t>(std::int64_t{-1}) == 255 && convert<float>(BFloat16(1.5f)) == 1.5f);

namespace {

constexpr std::array real_types{ScalarType::float32, ScalarType::float64, ScalarType::float16, ScalarType::bfloat16,
                                ScalarType::int64,   ScalarType::int32,   ScalarType::int16,   ScalarType::int8,
                                ScalarType::uint8,   ScalarType::uint16,  ScalarType::uint32,  ScalarType::uint64,
                                ScalarType::bool_};

/// Converts `value` to dtype `from`, then to dtype `to`, and back to a double.
double through(double value, ScalarType from, ScalarType to) {
  std::uint64_t source = 0;
  REQUIRE(kernels::store_element(value, from, &source));
  std::array<std::uint64_t, 3> out{};
  const Conversion c = Conversion::between(from, to);
  CHECK(c.ok);
  CHECK(c.element == size_of(to));
  if (c.count == 0) out[0] = source;
  c.run(&source, &out[0], &out[1], 1);
  double result = 0;
  REQUIRE(kernels::load_element(&out[0], to, result));
  return result;
}

}  // namespace

TEST_CASE("every real dtype turns into every other as torch's to() does") {
  for (const ScalarType from : real_types)
    for (const ScalarType to : real_types) {
      CAPTURE(name_of(from));
      CAPTURE(name_of(to));
      const double expected = from == ScalarType::bool_ || to == ScalarType::bool_ ? 1 : 3;
      CHECK(through(3, from, to) == expected);
      CHECK(through(0, from, to) == 0);
    }
}
TEST_CASE("numbers out of range wrap; a fraction is true; uint64 converts to floats unsigned") {
  CHECK(through(-1, ScalarType::int64, ScalarType::uint16) == 65535);
  CHECK(through(300, ScalarType::float32, ScalarType::int8) == 44);
  CHECK(through(0.25, ScalarType::float16, ScalarType::bool_) == 1);
  CHECK(through(std::numeric_limits<double>::quiet_NaN(), ScalarType::float32, ScalarType::bool_) == 1);
  const std::uint64_t large = ~std::uint64_t{0};
  float as_float = 0;
  Conversion::between(ScalarType::uint64, ScalarType::float32).run(&large, &as_float, nullptr, 1);
  CHECK(as_float == 0x1p64f);
}
TEST_CASE("operands are rounded to the dtype before they are computed in") {
  const std::int64_t number = 300;
  std::array<std::int64_t, 2> blocks{};
  const Conversion c = Conversion::into_compute(ScalarType::int64, ScalarType::int8);
  c.run(&number, &blocks[0], &blocks[1], 1);
  CHECK(blocks[0] == 44);
  const double third = 1.0 / 3;
  std::array<double, 2> wide{};
  Conversion::into_compute(ScalarType::float64, ScalarType::float16).run(&third, &wide[0], &wide[1], 1);
  float rounded = 0;
  std::memcpy(&rounded, &wide[0], sizeof rounded);
  CHECK(rounded == static_cast<float>(Half(1.0f / 3)));
}
TEST_CASE("complex and 8-bit floats are no real numbers here") {
  CHECK_FALSE(Conversion::between(ScalarType::complex64, ScalarType::float32).ok);
  CHECK_FALSE(Conversion::between(ScalarType::float8_e5m2, ScalarType::float8_e5m2).ok);
  CHECK(kernels::compute_of(ScalarType::uint32) == kernels::Compute::none);
  CHECK(kernels::compute_of(ScalarType::bool_) == kernels::Compute::int64);
}

TEST_CASE("floats out of range become torch's integers, on every path") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const ScalarType from : {ScalarType::float32, ScalarType::float64, ScalarType::bfloat16}) {
    for (const double x : {nan, inf, -inf, 0x1p31, -0x1p33, 0x1p32 + 0x1p25, 1e30}) {
      CAPTURE(x);
      CHECK(through(x, from, ScalarType::int32) == -0x1p31);
      CHECK(through(x, from, ScalarType::int16) == 0);
      CHECK(through(x, from, ScalarType::int8) == 0);
      CHECK(through(x, from, ScalarType::uint16) == 0);
    }
    CHECK(through(nan, from, ScalarType::int64) == -0x1p63);
    CHECK(through(-0x1p33, from, ScalarType::int64) == -0x1p33);
    CHECK(through(0x1p33, from, ScalarType::uint32) == 0);
    CHECK(through(-0x1p31, from, ScalarType::int32) == -0x1p31);
    CHECK(through(inf, from, ScalarType::uint64) == 0);
    CHECK(through(-inf, from, ScalarType::uint64) == 0x1p63);
  }
  CHECK(through(nan, ScalarType::float16, ScalarType::int32) == -0x1p31);
  CHECK(through(5000000255.0, ScalarType::float64, ScalarType::uint8) == 255);
}
