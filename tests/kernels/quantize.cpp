// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/quantize.hpp"

using namespace davit;

namespace {

/// Halves around zero, with ties, and numbers far outside; NaN and infinities both in a vector and in its remainder.
std::vector<float> numbers() {
  std::vector<float> out;
  for (int i = -700; i <= 700; ++i) out.push_back(static_cast<float>(i) * 0.5f);
  for (const float v : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                        -std::numeric_limits<float>::infinity(), 1e30f, -1e30f, -0.0f}) {
    out.insert(out.begin() + 20, v);
    out.push_back(v);
  }
  return out;
}
template <class Byte>
void check(std::int32_t least, std::int32_t most) {
  const std::vector<float> x = numbers();
  const auto n = static_cast<std::int64_t>(x.size());
  for (const float inverse : {1.0f, 0.5f, 7.3f, 1 / 0.0137f})
    for (const std::int32_t zero_point : {least, least + 5, (least + most) / 2, most}) {
      const kernels::ByteRange range{inverse, zero_point, least + 3, most - 1};
      std::vector<Byte> wide(x.size()), one(x.size());
      kernels::run_widest<kernels::Quantize>(x.data(), wide.data(), n, &range);
      kernels::run_on<kernels::Quantize, kernels::vector_bytes>(x.data(), one.data(), n, &range);
      const kernels::ByteScale scale{1 / inverse, static_cast<float>(zero_point)};
      std::vector<float> back(x.size());
      kernels::run_widest<kernels::Dequantize>(wide.data(), back.data(), n, &scale);
      std::vector<Byte> sum(x.size());
      const kernels::ByteScale other{0.37f, 3};
      kernels::run_widest<kernels::AddQuantized>(wide.data(), one.data(), sum.data(), n, &scale, &other, &range);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const volatile float product = x[i] * inverse;  // rounded separately
        const float v = std::nearbyint(product) + static_cast<float>(zero_point);
        const auto low = static_cast<float>(range.low), high = static_cast<float>(range.high);
        const auto expected = std::isnan(v) ? Byte{0} : static_cast<Byte>(std::fmin(std::fmax(v, low), high));
        CHECK(wide[i] == expected);
        CHECK(one[i] == expected);
        const float a = (static_cast<float>(expected) - scale.zero_point) * scale.scale;
        CHECK(back[i] == a);
        const float b = (static_cast<float>(expected) - other.zero_point) * other.scale;
        const volatile float added = a + b;
        CHECK(sum[i] == kernels::quantized<Byte>(added, range));
      }
    }
}

/// Rows in float and in double, with both orders of rounding, on vectors of two sizes.
template <class Byte, class T>
void check_rows() {
  const std::vector<float> x = numbers();
  const auto n = static_cast<std::int64_t>(x.size());
  for (const T scale : {T{1}, T{2}, static_cast<T>(0.137)})
    for (const bool rounds_first : {false, true}) {
      const kernels::RowQuantization<T> row{T{1} / scale, T{5}, T{3}, T{120}, rounds_first};
      std::vector<Byte> wide(x.size()), one(x.size());
      kernels::run_widest<kernels::QuantizeRow>(x.data(), wide.data(), n, &row);
      kernels::run_on<kernels::QuantizeRow, kernels::vector_bytes>(x.data(), one.data(), n, &row);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const volatile T product = static_cast<T>(x[i]) * row.inverse;  // rounded separately
        const T v = rounds_first ? std::nearbyint(product) + T{5} : std::nearbyint(product + T{5});
        const auto expected = static_cast<Byte>(std::isnan(v) ? row.low : std::fmin(std::fmax(v, row.low), row.high));
        CHECK(wide[i] == expected);
        CHECK(one[i] == expected);
      }
    }
}

}  // namespace

TEST_CASE("rows of bytes: ties, bounds, NaN as 0 or the nearest bound, in float and double") {
  check_rows<std::int8_t, float>();
  check_rows<std::uint8_t, double>();
}

TEST_CASE("the range of floats: zero counts, and NaN hides it") {
  for (const std::int64_t n : {0, 1, 3, 16, 17, 70}) {
    std::vector<float> x(static_cast<std::size_t>(n));
    float low = 7, high = 7;
    const auto range = [&] { kernels::run_widest<kernels::RangeOf>(x.data(), n, &low, &high); };
    range();
    CHECK((low == 0 && high == 0));
    if (n == 0) continue;
    x.back() = 3;
    range();
    CHECK((low == 0 && high == 3));
    x.front() = -std::numeric_limits<float>::infinity();
    range();
    CHECK((low == x.front() && high == (n == 1 ? 0 : 3)));
    x[x.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    range();
    CHECK((std::isnan(low) && std::isnan(high)));
  }
}

TEST_CASE("bytes of floats and floats of bytes: ties to even, bounds, NaN, for every width of vectors") {
  check<std::int8_t>(-128, 127);
  check<std::uint8_t>(0, 255);
}

TEST_CASE("zero points and bounds whose differences a float cannot hold are reported") {
  CHECK(kernels::is_exact(-128, 127, 0));
  CHECK(kernels::is_exact(0, 255, 255));
  CHECK_FALSE(kernels::is_exact(127, -128, 0));
  CHECK_FALSE(kernels::is_exact(-128, std::int64_t{1} << 30, 0));
  CHECK_FALSE(kernels::is_exact(-128, 127, INT64_MIN));
}
