// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/movement/embedding_bag.hpp"

#include <doctest/doctest.h>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

struct Bags : KernelTest {
  EValue weight = tensor(ScalarType::float32, {3, 2}, {1, -1, 10, -20, 100, -100});
  EValue indices = tensor(ScalarType::int64, {4}, {0, 2, 1, 1});
  EValue offsets = tensor(ScalarType::int64, {3}, {0, 3, 3});
  EValue scales;
  bool include_last = false;
  int padding_idx = -1;

  ErrorCode operator()(int mode) {
    return run(davit::portable_kernels::embedding_bag_ops, "aten._embedding_bag.default",
               {weight, indices, offsets, EValue(false), EValue(mode), EValue(false), scales, EValue(include_last),
                EValue(padding_idx)},
               4);
  }
};

}  // namespace

TEST_CASE("portable: _embedding_bag sums, averages and takes the maximum of bags") {
  Bags bags;
  CHECK(bags(0) == ErrorCode::ok);
  CHECK(bags.values(0) == Numbers{111, -121, 0, 0, 10, -20});
  CHECK(bags.sizes(1) == Integers{0});
  CHECK(bags.values(2) == Numbers{0, 0, 0});
  CHECK(bags(1) == ErrorCode::ok);
  CHECK(bags.values(0)[0] == doctest::Approx(37));
  CHECK(bags.values(1) == Numbers{0, 0, 0, 2});
  CHECK(bags.values(2) == Numbers{3, 0, 1});
  CHECK(bags.values(3) == Numbers{3, 0, 1});
  CHECK(bags(2) == ErrorCode::ok);
  CHECK(bags.values(0) == Numbers{100, -1, 0, 0, 10, -20});
  CHECK(bags.values(3) == Numbers{2, 0, 0, 0, 1, 1});
}

TEST_CASE("portable: _embedding_bag takes weights, a last offset and a padding index") {
  Bags bags;
  bags.scales = bags.tensor(ScalarType::float32, {4}, {2, 3, 0.5, -1});
  bags.padding_idx = 2;
  CHECK(bags(0) == ErrorCode::ok);
  CHECK(bags.values(0) == Numbers{7, -12, 0, 0, -10, 20});
  CHECK(bags.values(1) == Numbers{0, 0, 0, 2});
  CHECK(bags(1) == ErrorCode::invalid_argument);
  bags.scales = {};
  CHECK(bags(1) == ErrorCode::ok);
  CHECK(bags.values(2) == Numbers{2, 0, 1});
  bags.offsets = bags.tensor(ScalarType::int32, {2}, {0, 4});
  bags.include_last = true;
  CHECK(bags(2) == ErrorCode::ok);
  CHECK(bags.sizes() == Integers{1, 2});
  CHECK(bags.values(0) == Numbers{10, -1});
  CHECK(bags.dtype(3) == ScalarType::int64);
}

TEST_CASE("portable: _embedding_bag refuses arguments that do not fit") {
  Bags bags;
  CHECK(bags(3) == ErrorCode::invalid_argument);
  bags.indices = bags.tensor(ScalarType::int64, {2}, {0, 3});
  bags.offsets = bags.tensor(ScalarType::int64, {1}, {0});
  CHECK(bags(0) == ErrorCode::out_of_range);
  bags.indices = bags.tensor(ScalarType::int64, {2}, {0, -1});
  CHECK(bags(0) == ErrorCode::out_of_range);
  bags.indices = bags.tensor(ScalarType::int64, {2}, {0, 1});
  for (const Numbers& wrong : {Numbers{1, 2}, Numbers{0, 3}, Numbers{0, -1}}) {
    bags.offsets = bags.tensor(ScalarType::int64, {2}, wrong);
    CHECK(bags(0) == ErrorCode::out_of_range);
  }
  bags.offsets = bags.tensor(ScalarType::int64, {0}, {});
  CHECK(bags(1) == ErrorCode::ok);
  CHECK(bags.values(1) == Numbers{-1, -1});
  bags.include_last = true;
  CHECK(bags(0) == ErrorCode::invalid_shape);
  bags.indices = bags.tensor(ScalarType::float32, {2}, {0, 1});
  CHECK(bags(0) == ErrorCode::invalid_dtype);
}
