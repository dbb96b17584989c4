// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/movement/slice_scatter.hpp"

#include <doctest/doctest.h>

#include "support/kernel_test.hpp"

using namespace davit;
using portable_kernels::slice_scatter_ops;
using Numbers = KernelTest::Numbers;

namespace {

constexpr auto f32 = ScalarType::float32;

struct Slices : KernelTest {
  EValue grid = tensor(f32, {2, 3}, {0, 1, 2, 3, 4, 5});

  ErrorCode select(const EValue& source, std::int64_t dim, std::int64_t index) {
    return run(slice_scatter_ops, "aten.select_scatter.default", {grid, source, dim, index});
  }
  ErrorCode slice(const EValue& source, std::int64_t dim, const EValue& start, const EValue& end,
                  std::int64_t step = 1) {
    return run(slice_scatter_ops, "aten.slice_scatter.default", {grid, source, dim, start, end, step});
  }
};

}  // namespace

TEST_CASE("select_scatter replaces one index of a dimension") {
  Slices t;
  REQUIRE(t.select(t.tensor(f32, {2}, {-1, -2}), -1, -3) == ErrorCode::ok);
  CHECK(t.values() == Numbers{-1, 1, 2, -2, 4, 5});
  t.grid = t.view(t.grid, {3, 2}, {1, 3});
  REQUIRE(t.select(t.tensor(ScalarType::int64, {2}, {7, 8}), 0, 1) == ErrorCode::ok);
  CHECK(t.dtype() == f32);
  CHECK(t.values() == Numbers{0, 3, 7, 8, 2, 5});
}

TEST_CASE("select_scatter refuses arguments that do not fit") {
  Slices t;
  CHECK(t.select(t.tensor(f32, {2}, {}), 1, 3) == ErrorCode::out_of_range);
  CHECK(t.select(t.tensor(f32, {2}, {}), 2, 0) == ErrorCode::out_of_range);
  CHECK(t.select(t.tensor(f32, {1}, {}), 1, 0) == ErrorCode::invalid_shape);  // is not broadcast
  t.grid = t.tensor(f32, {}, {1});
  CHECK(t.select(t.tensor(f32, {}, {}), 0, 0) == ErrorCode::out_of_range);
}

TEST_CASE("slice_scatter replaces a slice, its ends clamped as Python's") {
  Slices t;
  REQUIRE(t.slice(t.tensor(f32, {2, 2}, {-1, -2, -3, -4}), 1, 0, 99, 2) == ErrorCode::ok);
  CHECK(t.values() == Numbers{-1, 1, -2, -3, 4, -4});
  REQUIRE(t.slice(t.tensor(ScalarType::bool_, {1, 3}, {1, 0, 1}), -2, -1, {}) == ErrorCode::ok);
  CHECK(t.values() == Numbers{0, 1, 2, 1, 0, 1});
  REQUIRE(t.slice(t.tensor(f32, {0, 3}, {}), 0, 2, 1) == ErrorCode::ok);
  CHECK(t.values() == Numbers{0, 1, 2, 3, 4, 5});
  REQUIRE(t.slice(t.tensor(f32, {1, 3}, {7, 8, 9}), 0, {}, {}, INT64_MAX) == ErrorCode::ok);
  CHECK(t.values() == Numbers{7, 8, 9, 3, 4, 5});
}

TEST_CASE("slice_scatter refuses arguments that do not fit") {
  Slices t;
  CHECK(t.slice(t.tensor(f32, {2, 3}, {}), 0, 0, 1) == ErrorCode::invalid_shape);
  CHECK(t.slice(t.tensor(f32, {3}, {}), 0, 0, 1) == ErrorCode::invalid_shape);
  CHECK(t.slice(t.grid, 0, 0, 2, 0) == ErrorCode::invalid_argument);
  CHECK(t.slice(t.grid, -3, 0, 2) == ErrorCode::out_of_range);
}
