// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/windows/upsample.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::upsample_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

std::size_t count_nan(const Numbers& numbers) {
  std::size_t n = 0;
  for (const double v : numbers) n += std::isnan(v) ? 1 : 0;
  return n;
}
Numbers ramp(std::size_t n) {
  Numbers out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(static_cast<double>(i * 7 % 11));
  return out;
}

}  // namespace

TEST_CASE("portable: a resize reads the taps of an element only: a NaN stays with its neighbours") {
  KernelTest test;
  Numbers image = ramp(64);
  image[8 * 3 + 4] = not_a_number;
  const EValue x = test.tensor(ScalarType::float32, {1, 1, 8, 8}, image);
  struct Row {
    std::string_view name;
    std::int64_t size;
    std::size_t affected;
  };
  for (const auto& [name, size, affected] :
       {Row{"aten.upsample_bicubic2d.vec", 16, 64}, Row{"aten._upsample_bilinear2d_aa.vec", 4, 4},
        Row{"aten._upsample_bicubic2d_aa.vec", 4, 16}}) {
    CAPTURE(name);
    CHECK(test.run(upsample_ops, name, {x, test.list({EValue(size), EValue(size)}), EValue(false), EValue()}) ==
          ErrorCode::ok);
    CHECK(test.sizes() == Integers{1, 1, size, size});
    CHECK(count_nan(test.values()) == affected);
    CHECK(test.is_same_on_threads(upsample_ops, name,
                                  {test.tensor(ScalarType::float32, {2, 3, 8, 8}, ramp(384)),
                                   test.list({EValue(5), EValue(13)}), EValue(false), EValue()}));
  }
}

TEST_CASE("portable: cubic and antialiased resizes equal torch's") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {1, 1, 3, 4}, {0, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0});
  const auto sizes = [&](std::int64_t h, std::int64_t w) { return test.list({EValue(h), EValue(w)}); };
  for (const ScalarType type : {ScalarType::float32, ScalarType::float64}) {
    const EValue image = test.tensor(type, {1, 1, 3, 4}, {0, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0});
    CHECK(test.run(upsample_ops, "aten.upsample_bicubic2d.default",
                   {image, sizes(2, 3), EValue(false), EValue(), EValue()}) == ErrorCode::ok);
    CHECK(KernelTest::near(test.values(), {2.146073, 5.059448, 8.376554, 2.954667, 6.701904, 1.567145}, 1e-5));
    CHECK(test.run(upsample_ops, "aten._upsample_bilinear2d_aa.default",
                   {image, sizes(2, 3), EValue(false), EValue(), EValue()}) == ErrorCode::ok);
    CHECK(KernelTest::near(test.values(), {3.1125, 5.1875, 7.262501, 3.7375, 5.8125, 3.075}, 1e-5));
    CHECK(test.run(upsample_ops, "aten._upsample_bicubic2d_aa.default",
                   {image, sizes(2, 3), EValue(false), EValue(), EValue()}) == ErrorCode::ok);
    CHECK(KernelTest::near(test.values(), {2.953157, 5.139357, 7.688957, 3.643366, 6.096823, 2.663226}, 1e-5));
  }
  CHECK(test.run(upsample_ops, "aten.upsample_bicubic2d.vec",
                 {x, EValue(), EValue(true), test.list({EValue(1.5), EValue(0.5)})}) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{1, 1, 4, 2});
  CHECK(KernelTest::near(test.values(), {0.0, 10.0, 4.666667, 7.129634, 5.092592, 2.870369, 1.0, 0.0}, 1e-5));
  const EValue bytes = test.tensor(ScalarType::uint8, {1, 1, 3, 4}, {0, 70, 30, 100, 60, 20, 90, 50, 10, 80, 255, 0});
  CHECK(test.run(upsample_ops, "aten._upsample_bicubic2d_aa.default",
                 {bytes, sizes(2, 5), EValue(false), EValue(), EValue()}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{24, 43, 46, 55, 86, 29, 39, 142, 158, 15});
  CHECK(test.run(upsample_ops, "aten.upsample_bicubic2d.vec", {bytes, sizes(5, 3), EValue(false), EValue()}) ==
        ErrorCode::ok);
  CHECK(test.values() == Numbers{7, 50, 92, 30, 42, 78, 53, 55, 57, 34, 143, 44, 14, 212, 38});
  CHECK(test.run(upsample_ops, "aten.upsample_bilinear2d.vec", {bytes, sizes(5, 3), EValue(false), EValue()}) ==
        ErrorCode::ok);
  CHECK(test.values() == Numbers{12, 50, 88, 28, 52, 76, 53, 55, 57, 34, 123, 48, 22, 168, 42});
}

TEST_CASE("portable: bytes of rows of any width are weighted like a single column's") {
  KernelTest test;
  for (const std::string_view name : {"aten.upsample_bilinear2d.vec", "aten.upsample_bicubic2d.vec",
                                      "aten._upsample_bilinear2d_aa.vec", "aten._upsample_bicubic2d_aa.vec"})
    for (const std::int64_t width : {3, 37, 70})
      for (const std::int64_t height : {4, 15}) {
        CAPTURE(name);
        CAPTURE(width);
        Numbers bytes(static_cast<std::size_t>(9 * width)), expected(static_cast<std::size_t>(height * width));
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = i % 5 == 0 ? 255 : static_cast<double>(i * 89 % 251);
        const auto resize = [&](const Numbers& from, std::int64_t columns) {
          const EValue image = test.tensor(ScalarType::uint8, {1, 1, 9, columns}, from);
          REQUIRE(test.run(upsample_ops, name,
                           {image, test.list({EValue(height), EValue(columns)}), EValue(false), EValue()}) ==
                  ErrorCode::ok);
          return test.values();
        };
        for (std::int64_t x = 0; x < width; ++x) {
          Numbers column;
          for (std::int64_t y = 0; y < 9; ++y) column.push_back(bytes[static_cast<std::size_t>(y * width + x)]);
          const Numbers own = resize(column, 1);
          for (std::int64_t y = 0; y < height; ++y)
            expected[static_cast<std::size_t>(y * width + x)] = own[static_cast<std::size_t>(y)];
        }
        CHECK(resize(bytes, width) == expected);
      }
}
TEST_CASE("portable: the element with the nearest centre, of lines, images and volumes") {
  KernelTest test;
  CHECK(test.run(upsample_ops, "aten._upsample_nearest_exact1d.vec",
                 {test.tensor(ScalarType::float32, {1, 1, 3}, {1, 2, 3}), test.list({EValue(5)}), EValue()}) ==
        ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 1, 2, 3, 3});
  CHECK(test.run(upsample_ops, "aten._upsample_nearest_exact2d.default",
                 {test.tensor(ScalarType::uint8, {1, 1, 2, 2}, {1, 2, 3, 4}), test.list({EValue(3), EValue(1)}),
                  EValue(), EValue()}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{2, 4, 4});
  CHECK(test.run(upsample_ops, "aten._upsample_nearest_exact3d.vec",
                 {test.tensor(ScalarType::float64, {1, 1, 2, 1, 2}, {1, 2, 3, 4}), EValue(),
                  test.list({EValue(1.5), EValue(1.0), EValue(2.0)})}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4});
}

TEST_CASE("portable: a bilinear resize by differences makes NaN between two infinities, one by weights does not") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {1, 1, 1, 3}, {infinity, infinity, 0});
  CHECK(test.run(upsample_ops, "aten.upsample_bilinear2d.vec",
                 {x, test.list({EValue(1), EValue(6)}), EValue(false), EValue()}) == ErrorCode::ok);
  CHECK(test.values()[2] == infinity);
  CHECK(test.run(upsample_ops, "aten.upsample_bilinear2d.lerp",
                 {x, test.list({EValue(1), EValue(6)}), EValue(false)}) == ErrorCode::ok);
  CHECK(count_nan(test.values()) == 5);
  CHECK(test.run(upsample_ops, "aten.upsample_bilinear2d.lerp",
                 {test.tensor(ScalarType::float32, {1, 1, 2, 2}, {0, 2, 4, 6}), test.list({EValue(4), EValue(2)}),
                  EValue(false)}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 2, 1, 3, 3, 5, 4, 6});
}
