// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/movement/indexing.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/kernel_test.hpp"

using namespace davit;
using portable_kernels::indexing_ops;
using portable_kernels::real_indexing_ops;
using Numbers = KernelTest::Numbers;
using Integers = KernelTest::Integers;

namespace {

constexpr auto f32 = ScalarType::float32;
constexpr auto i64 = ScalarType::int64;
constexpr auto i32 = ScalarType::int32;
constexpr auto b8 = ScalarType::bool_;

struct Indexing : KernelTest {
  EValue grid = tensor(f32, {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});

  EValue ints(const Integers& sizes, const Numbers& values) { return tensor(i64, sizes, values); }
  EValue mask(const Integers& sizes, const Numbers& values) { return tensor(b8, sizes, values); }
  ErrorCode index(const EValue& x, std::initializer_list<EValue> indices) {
    return run(indexing_ops, "aten.index.Tensor", {x, list(indices)});
  }
  ErrorCode put(const EValue& x, std::initializer_list<EValue> indices, const EValue& values, bool accumulate = false) {
    return run(indexing_ops, "aten.index_put.default", {x, list(indices), values, accumulate});
  }
};

}  // namespace

TEST_CASE("index: positions of one dimension, negative ones from its end") {
  Indexing t;
  REQUIRE(t.index(t.grid, {t.ints({2}, {-1, 0})}) == ErrorCode::ok);
  CHECK(t.sizes() == Integers{2, 4});
  CHECK(t.values() == Numbers{8, 9, 10, 11, 0, 1, 2, 3});
  REQUIRE(t.index(t.grid, {{}, t.tensor(i32, {1, 2}, {1, -1})}) == ErrorCode::ok);
  CHECK(t.sizes() == Integers{3, 1, 2});
  CHECK(t.values() == Numbers{1, 3, 5, 7, 9, 11});
  REQUIRE(t.index(t.grid, {t.ints({}, {1})}) == ErrorCode::ok);
  CHECK(t.sizes() == Integers{4});
}

TEST_CASE("index: index tensors broadcast, adjacent or not") {
  Indexing t;
  REQUIRE(t.index(t.grid, {t.ints({2, 1}, {0, 2}), t.ints({2}, {1, 3})}) == ErrorCode::ok);
  CHECK(t.values() == Numbers{1, 3, 9, 11});
  const EValue cube = t.tensor(i64, {2, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  REQUIRE(t.index(cube, {t.ints({3}, {0, 1, 1}), {}, t.ints({3}, {0, 2, 1})}) == ErrorCode::ok);
  CHECK(t.sizes() == Integers{3, 2});  // the selection comes first
  CHECK(t.values() == Numbers{0, 3, 8, 11, 7, 10});
  REQUIRE(t.index(cube, {{}, t.ints({1}, {1}), t.ints({2}, {2, 0})}) == ErrorCode::ok);
  CHECK(t.sizes() == Integers{2, 2});  // the selection stays in place
  CHECK(t.values() == Numbers{5, 3, 11, 9});
}

TEST_CASE("index: masks select the true elements") {
  Indexing t;
  REQUIRE(t.index(t.grid, {t.mask({3}, {1, 0, 1}), t.ints({1}, {-2})}) == ErrorCode::ok);
  CHECK(t.values() == Numbers{2, 10});
  REQUIRE(t.index(t.grid, {t.mask({3, 4}, {0, 1, 0, 0, 0, 0, 0, 1})}) == ErrorCode::ok);
  CHECK(t.values() == Numbers{1, 7});
  REQUIRE(t.index(t.grid, {{}, t.tensor(ScalarType::uint8, {4}, {0, 7, 0, 0})}) == ErrorCode::ok);
  CHECK(t.sizes() == Integers{3, 1});
  REQUIRE(t.index(t.grid, {t.mask({3}, {0, 0, 0})}) == ErrorCode::ok);
  CHECK(t.sizes() == Integers{0, 4});
}

TEST_CASE("index: strides of any kind, no elements, no index") {
  Indexing t;
  const EValue turned = t.view(t.grid, {4, 3}, {1, 4});
  REQUIRE(t.index(turned, {t.view(t.ints({1}, {3}), {2}, {0})}) == ErrorCode::ok);
  CHECK(t.values() == Numbers{3, 7, 11, 3, 7, 11});
  REQUIRE(t.index(t.tensor(f32, {3, 0}, {}), {t.ints({1}, {7})}) == ErrorCode::ok);  // reads nothing
  CHECK(t.sizes() == Integers{1, 0});
  REQUIRE(t.index(turned, {}) == ErrorCode::ok);
  CHECK(t.sizes() == Integers{4, 3});
  CHECK(t.values()[1] == 4);
}

TEST_CASE("index: arguments that do not fit are an error") {
  Indexing t;
  CHECK(t.index(t.grid, {t.ints({2}, {0, 3})}) == ErrorCode::out_of_range);
  CHECK(t.index(t.grid, {t.ints({1}, {-4})}) == ErrorCode::out_of_range);
  CHECK(t.index(t.tensor(f32, {0, 3}, {}), {t.ints({1}, {0})}) == ErrorCode::out_of_range);
  CHECK(t.index(t.grid, {t.tensor(f32, {1}, {0})}) == ErrorCode::invalid_dtype);
  CHECK(t.index(t.grid, {t.ints({1}, {0}), {}, {}}) == ErrorCode::invalid_shape);
  CHECK(t.index(t.grid, {t.ints({2}, {0, 0}), t.ints({3}, {0, 0, 0})}) == ErrorCode::invalid_shape);
  CHECK(t.index(t.grid, {t.mask({2}, {1, 1})}) == ErrorCode::invalid_shape);
  CHECK(t.index(t.grid, {{}, t.mask({4, 1}, {1})}) == ErrorCode::invalid_shape);
  CHECK(t.index(t.grid, {EValue(1)}) == ErrorCode::invalid_argument);
  const std::int64_t much = std::int64_t{1} << 60;
  CHECK(t.index(t.grid, {t.view(t.ints({1}, {0}), {much, much}, {0, 0})}) == ErrorCode::out_of_memory);
  CHECK(!t.why.empty());
}

TEST_CASE("index_put: values broadcast to the selection; the tensor itself stays") {
  Indexing t;
  REQUIRE(t.put(t.grid, {{}, t.ints({2}, {0, -1})}, t.tensor(f32, {3, 1}, {-1, -2, -3})) == ErrorCode::ok);
  CHECK(t.values() == Numbers{-1, 1, 2, -1, -2, 5, 6, -2, -3, 9, 10, -3});
  CHECK(t.grid.tensor().as<float>()[0] == 0);
  REQUIRE(t.put(t.grid, {t.mask({3}, {0, 1, 0})}, t.tensor(i64, {1}, {9})) == ErrorCode::ok);  // converted
  CHECK(t.values() == Numbers{0, 1, 2, 3, 9, 9, 9, 9, 8, 9, 10, 11});
}

TEST_CASE("index_put: accumulate adds once per index") {
  Indexing t;
  const EValue index = t.ints({3}, {1, 1, 0});
  REQUIRE(t.put(t.tensor(ScalarType::int8, {2}, {1, 100}), {index}, t.tensor(ScalarType::int8, {3}, {100, 100, 5}),
                true) == ErrorCode::ok);
  CHECK(t.values() == Numbers{6, 44});  // modulo 256
  REQUIRE(t.put(t.tensor(b8, {3}, {0, 1, 0}), {index}, t.tensor(b8, {3}, {1, 1, 0}), true) == ErrorCode::ok);
  CHECK(t.values() == Numbers{0, 1, 0});
  REQUIRE(t.put(t.tensor(ScalarType::float16, {2}, {0, 2048}), {index}, t.tensor(ScalarType::float16, {}, {1}), true) ==
          ErrorCode::ok);
  CHECK(t.values() == Numbers{1, 2048});  // each sum is rounded
}

TEST_CASE("index_put: arguments that do not fit are an error") {
  Indexing t;
  CHECK(t.put(t.grid, {t.ints({1}, {5})}, t.tensor(f32, {}, {1})) == ErrorCode::out_of_range);
  CHECK(t.put(t.grid, {t.ints({1}, {0})}, t.tensor(i64, {}, {1})) == ErrorCode::invalid_dtype);
  CHECK(t.put(t.grid, {t.ints({2}, {0, 1})}, t.tensor(f32, {3, 4}, {})) == ErrorCode::invalid_shape);
  CHECK(t.put(t.grid, {t.ints({1}, {0})}, t.tensor(f32, {1, 1, 4}, {})) == ErrorCode::invalid_shape);
}

TEST_CASE("nonzero: one row of indices per element, NaN among them") {
  Indexing t;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  REQUIRE(t.run(real_indexing_ops, "aten.nonzero.default", {t.tensor(f32, {2, 2}, {nan, -0.0, 0, 2})}) ==
          ErrorCode::ok);
  CHECK(t.dtype() == i64);
  CHECK(t.sizes() == Integers{2, 2});
  CHECK(t.values() == Numbers{0, 0, 1, 1});
  REQUIRE(t.run(real_indexing_ops, "aten.nonzero.default", {t.view(t.grid, {2, 2}, {0, 1})}) == ErrorCode::ok);
  CHECK(t.values() == Numbers{0, 1, 1, 1});
  REQUIRE(t.run(real_indexing_ops, "aten.nonzero.default", {t.tensor(i64, {}, {3})}) == ErrorCode::ok);
  CHECK(t.sizes() == Integers{1, 0});
  REQUIRE(t.run(real_indexing_ops, "aten.nonzero.default", {t.tensor(i64, {0, 3}, {})}) == ErrorCode::ok);
  CHECK(t.sizes() == Integers{0, 2});
}

TEST_CASE("masked_scatter: the source's elements in order") {
  Indexing t;
  const auto scatter = [&](const EValue& x, const EValue& mask, const EValue& source) {
    return t.run(real_indexing_ops, "aten.masked_scatter.default", {x, mask, source});
  };
  const EValue source = t.view(t.grid, {2, 2}, {1, 4});  // 0 4 1 5
  REQUIRE(scatter(t.tensor(f32, {2}, {-1, -2}), t.mask({2, 2}, {1, 0, 1, 1}), source) == ErrorCode::ok);
  CHECK(t.sizes() == Integers{2, 2});
  CHECK(t.values() == Numbers{0, -2, 4, 1});
  CHECK(scatter(t.grid, t.mask({4}, {1, 1, 0, 0}), source) == ErrorCode::invalid_shape);  // six wanted, four given
  CHECK(scatter(t.grid, t.mask({3}, {1, 0, 0}), source) == ErrorCode::invalid_shape);
  CHECK(scatter(t.grid, t.ints({4}, {1, 0, 0, 0}), source) == ErrorCode::invalid_dtype);
  CHECK(scatter(t.ints({1}, {1}), t.mask({1}, {1}), source) == ErrorCode::invalid_dtype);
}

TEST_CASE("portable: elements where a mask is true, both broadcast") {
  Indexing test;
  const EValue x = test.tensor(f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const EValue row = test.tensor(b8, {3}, {1, 0, 1});
  CHECK(test.run(indexing_ops, "aten.masked_select.default", {x, row}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 3, 4, 6});
  const EValue column = test.tensor(b8, {2, 1}, {0, 1});
  CHECK(test.run(indexing_ops, "aten.masked_select.default", {test.view(x, {3}, {2}), column}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 3, 5});
  CHECK(test.run(indexing_ops, "aten.masked_select.default", {x, test.tensor(b8, {1}, {0})}) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{0});
  CHECK(test.run(indexing_ops, "aten.masked_select.default", {x, test.tensor(ScalarType::uint8, {3}, {1, 0, 1})}) ==
        ErrorCode::invalid_dtype);
  CHECK(test.run(indexing_ops, "aten.masked_select.default", {x, test.tensor(b8, {4}, {})}) ==
        ErrorCode::invalid_shape);
}
