// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/movement/scatter.hpp"

#include <doctest/doctest.h>

#include "support/kernel_test.hpp"

using namespace davit;
using portable_kernels::scatter_ops;
using Numbers = KernelTest::Numbers;
using Integers = KernelTest::Integers;

namespace {

constexpr auto f32 = ScalarType::float32;
constexpr auto i64 = ScalarType::int64;

struct Scatter : KernelTest {
  EValue grid = tensor(f32, {2, 3}, {0, 1, 2, 3, 4, 5});

  EValue ints(const Integers& sizes, const Numbers& values) { return tensor(i64, sizes, values); }
  ErrorCode gather(const EValue& x, std::int64_t dim, const EValue& index) {
    return run(scatter_ops, "aten.gather.default", {x, dim, index, false});
  }
  ErrorCode scatter(const EValue& x, std::int64_t dim, const EValue& index, const EValue& source) {
    return run(scatter_ops, source.is_tensor() ? "aten.scatter.src" : "aten.scatter.value", {x, dim, index, source});
  }
};

}  // namespace

TEST_CASE("gather along a dimension") {
  Scatter t;
  REQUIRE(t.gather(t.grid, 1, t.ints({2, 4}, {2, 0, 0, 1, 1, 1, 2, 0})) == ErrorCode::ok);
  CHECK(t.values() == Numbers{2, 0, 0, 1, 4, 4, 5, 3});
  REQUIRE(t.gather(t.grid, -2, t.ints({1, 2}, {1, 0})) == ErrorCode::ok);  // fewer columns than the tensor
  CHECK(t.values() == Numbers{3, 1});
  REQUIRE(t.gather(t.view(t.grid, {3, 2}, {1, 3}), 0, t.view(t.ints({1}, {2}), {2, 2}, {0, 0})) == ErrorCode::ok);
  CHECK(t.values() == Numbers{2, 5, 2, 5});
}

TEST_CASE("gather: rank 0 counts as one element, an empty index gives nothing") {
  Scatter t;
  REQUIRE(t.gather(t.tensor(f32, {}, {7}), 0, t.ints({2}, {0, 0})) == ErrorCode::ok);
  CHECK(t.values() == Numbers{7, 7});
  REQUIRE(t.gather(t.tensor(f32, {2}, {7, 8}), -1, t.ints({}, {1})) == ErrorCode::ok);
  CHECK(t.sizes() == Integers{});
  CHECK(t.values() == Numbers{8});
  REQUIRE(t.gather(t.grid, 0, t.ints({0, 9}, {})) == ErrorCode::ok);
  CHECK(t.sizes() == Integers{0, 9});
}

TEST_CASE("gather refuses arguments that do not fit") {
  Scatter t;
  CHECK(t.gather(t.grid, 1, t.ints({1, 1}, {3})) == ErrorCode::out_of_range);
  CHECK(t.gather(t.grid, 1, t.ints({1, 1}, {-1})) == ErrorCode::out_of_range);
  CHECK(t.gather(t.grid, 2, t.ints({1, 1}, {0})) == ErrorCode::out_of_range);
  CHECK(t.gather(t.tensor(f32, {0}, {}), 0, t.ints({1}, {0})) == ErrorCode::out_of_range);
  CHECK(t.gather(t.grid, 1, t.ints({3, 1}, {})) == ErrorCode::invalid_shape);
  CHECK(t.gather(t.grid, 1, t.ints({3}, {})) == ErrorCode::invalid_shape);
  CHECK(t.gather(t.grid, 1, t.tensor(ScalarType::int32, {1, 1}, {0})) == ErrorCode::invalid_dtype);
}

TEST_CASE("scatter.src: the later of two values stays; the source may be larger than the index") {
  Scatter t;
  const EValue source = t.tensor(f32, {2, 3}, {-1, -2, -3, -4, -5, -6});
  REQUIRE(t.scatter(t.grid, 1, t.ints({2, 2}, {2, 0, 1, 1}), source) == ErrorCode::ok);
  CHECK(t.values() == Numbers{-2, 1, -1, 3, -5, 5});
  CHECK(t.grid.tensor().as<float>()[0] == 0);
  REQUIRE(t.scatter(t.tensor(f32, {}, {1}), 0, t.ints({}, {0}), t.tensor(f32, {1}, {9})) == ErrorCode::ok);
  CHECK(t.values() == Numbers{9});
  REQUIRE(t.scatter(t.grid, 0, t.ints({0}, {}), source) == ErrorCode::ok);
  CHECK(t.values() == Numbers{0, 1, 2, 3, 4, 5});
}

TEST_CASE("scatter.value converts to the tensor's dtype") {
  Scatter t;
  REQUIRE(t.scatter(t.ints({3}, {1, 2, 3}), 0, t.ints({2}, {2, 0}), -2.7) == ErrorCode::ok);
  CHECK(t.values() == Numbers{-2, 2, -2});
  REQUIRE(t.scatter(t.tensor(ScalarType::bool_, {2}, {0, 0}), 0, t.ints({1}, {1}), 0.3) == ErrorCode::ok);
  CHECK(t.values() == Numbers{0, 1});
  REQUIRE(t.scatter(t.tensor(ScalarType::bfloat16, {2}, {0, 1}), 0, t.ints({1}, {0}), 3) == ErrorCode::ok);
  CHECK(t.values() == Numbers{3, 1});
}

TEST_CASE("the scatters refuse arguments that do not fit") {
  Scatter t;
  const EValue one = t.ints({1, 1}, {0});
  CHECK(t.scatter(t.grid, 1, t.ints({1, 1}, {3}), 1.0) == ErrorCode::out_of_range);
  CHECK(t.scatter(t.grid, 0, t.ints({1, 4}, {}), 1.0) == ErrorCode::invalid_shape);
  CHECK(t.scatter(t.grid, 0, one, {}) == ErrorCode::invalid_argument);
  CHECK(t.scatter(t.grid, 0, one, t.ints({1, 1}, {1})) == ErrorCode::invalid_dtype);
  CHECK(t.scatter(t.grid, 0, one, t.tensor(f32, {1}, {1})) == ErrorCode::invalid_shape);
  CHECK(t.scatter(t.grid, 0, t.ints({1, 2}, {}), t.tensor(f32, {1, 1}, {1})) == ErrorCode::invalid_shape);
  const std::int64_t much = std::int64_t{1} << 60;
  CHECK(t.scatter(t.grid, 0, t.view(one, {much, much}, {0, 0}), 1.0) == ErrorCode::out_of_memory);
}
