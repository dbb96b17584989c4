// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/movement/padding.hpp"

#include <doctest/doctest.h>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::padding_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

}  // namespace

TEST_CASE("portable: constant_pad_nd pads the last dimensions and cuts where padding is negative") {
  KernelTest test;
  const auto pad = [&](EValue x, EValue amounts, EValue value) {
    return test.run(padding_ops, "aten.constant_pad_nd.default", {x, amounts, value});
  };
  const EValue x = test.tensor(ScalarType::float32, {2, 3}, {1, 2, 3, 4, 5, 6});

  CHECK(pad(x, test.list({1, 0}), EValue(0.5)) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{2, 4});
  CHECK(test.values() == Numbers{0.5, 1, 2, 3, 0.5, 4, 5, 6});
  CHECK(pad(x, test.list({-1, 1, 1, -1}), EValue(9)) == ErrorCode::ok);
  CHECK(test.values() == Numbers{9, 9, 9, 2, 3, 9});
  CHECK(pad(test.view(x, {3, 2}, {1, 3}), test.list({0, 1}), EValue(0)) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 4, 0, 2, 5, 0, 3, 6, 0});
  CHECK(pad(x, test.list({-2, -1}), EValue(0)) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{2, 0});
  CHECK(pad(test.tensor(ScalarType::bool_, {1}, {0}), test.list({1, 1}), EValue(0.5)) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 0, 1});
  CHECK(pad(test.tensor(ScalarType::int64, {}, {7}), test.list({}), EValue(0)) == ErrorCode::ok);
  CHECK(test.values() == Numbers{7});

  CHECK(pad(x, test.list({1}), EValue(0)) == ErrorCode::invalid_argument);
  CHECK(pad(x, test.list({1, 1, 1, 1, 1, 1}), EValue(0)) == ErrorCode::invalid_argument);
  CHECK(pad(x, test.list({-4, 5}), EValue(0)) == ErrorCode::invalid_shape);
  CHECK(pad(x, test.list({INT64_MAX, INT64_MAX}), EValue(0)) == ErrorCode::out_of_range);
  CHECK(pad(x, test.list({std::int64_t{1} << 39, std::int64_t{1} << 39}), EValue(0)) == ErrorCode::out_of_memory);
}

TEST_CASE("portable: reflection_pad mirrors without repeating the edge") {
  KernelTest test;
  const EValue row = test.tensor(ScalarType::float32, {1, 4}, {0, 1, 2, 3});
  const auto pad = [&](EValue x, EValue amounts) {
    return test.run(padding_ops, "aten.reflection_pad1d.default", {x, amounts});
  };
  CHECK(pad(row, test.list({3, 1})) == ErrorCode::ok);
  CHECK(test.values() == Numbers{3, 2, 1, 0, 1, 2, 3, 2});
  CHECK(pad(row, test.list({-1, 2})) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 2, 3, 2, 1});
  CHECK(pad(row, test.list({4, 0})) == ErrorCode::invalid_shape);
  CHECK(pad(row, test.list({-3, -1})) == ErrorCode::invalid_shape);
  CHECK(pad(row, test.list({1})) == ErrorCode::invalid_argument);
  CHECK(pad(test.tensor(ScalarType::float32, {4}, {}), test.list({1, 1})) == ErrorCode::invalid_shape);
  CHECK(pad(test.tensor(ScalarType::float32, {2, 0, 3}, {}), test.list({1, 1})) == ErrorCode::invalid_shape);
  CHECK(pad(test.tensor(ScalarType::float32, {0, 2, 3}, {}), test.list({1, 1})) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{0, 2, 5});

  const EValue square = test.tensor(ScalarType::float64, {1, 2, 2}, {0, 1, 2, 3});
  CHECK(test.run(padding_ops, "aten.reflection_pad2d.default", {square, test.list({1, 0, 0, 1})}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 0, 1, 3, 2, 3, 1, 0, 1});
  const EValue cube = test.tensor(ScalarType::float32, {1, 2, 1, 2}, {0, 1, 2, 3});
  CHECK(test.run(padding_ops, "aten.reflection_pad3d.default", {cube, test.list({0, 1, 0, 0, 1, 0})}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{2, 3, 2, 0, 1, 0, 2, 3, 2});
}

TEST_CASE("portable: replication_pad repeats the edge") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::int32, {1, 2, 3}, {0, 1, 2, 3, 4, 5});
  CHECK(test.run(padding_ops, "aten.replication_pad2d.default", {x, test.list({-1, 2, 1, 0})}) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{1, 3, 4});
  CHECK(test.values() == Numbers{1, 2, 2, 2, 1, 2, 2, 2, 4, 5, 5, 5});
  CHECK(test.run(padding_ops, "aten.replication_pad2d.default", {x, test.list({-4, 4, 0, 0})}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{2, 2, 2, 5, 5, 5});
  const EValue cube = test.tensor(ScalarType::float32, {1, 1, 1, 2}, {6, 7});
  CHECK(test.run(padding_ops, "aten.replication_pad3d.default", {cube, test.list({1, 0, 0, 1, 0, 0})}) ==
        ErrorCode::ok);
  CHECK(test.values() == Numbers{6, 6, 7, 6, 6, 7});
  CHECK(test.run(padding_ops, "aten.replication_pad3d.default", {x, test.list({1, 0, 0, 1, 0, 0})}) ==
        ErrorCode::invalid_shape);
}
