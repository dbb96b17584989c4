// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/in_place.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::in_place_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

}  // namespace

TEST_CASE("portable: copy_ writes its first argument and returns it") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {2, 2}, {1, 2, 3, 4});
  const EValue column = test.view(x, {2}, {2}, 1);
  CHECK(test.run(in_place_ops, "aten.copy_.default",
                 {column, test.tensor(ScalarType::int64, {1}, {7}), EValue(false)}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{7, 7});
  CHECK(test.outputs[0].tensor().data == column.tensor().data);
  CHECK(x.tensor().as<float>()[0] == 1);
  CHECK(x.tensor().as<float>()[3] == 7);

  const EValue whole = test.tensor(ScalarType::int64, {2}, {1, 2});
  CHECK(test.run(in_place_ops, "aten.copy_.default", {whole, test.tensor(ScalarType::int64, {2, 2}, {})}) ==
        ErrorCode::invalid_shape);
  CHECK(test.run(in_place_ops, "aten.copy_.default", {test.view(whole, {2}, {0}), whole}) ==
        ErrorCode::invalid_argument);
  CHECK(test.run(in_place_ops, "aten.copy_.default", {EValue(1), whole}) == ErrorCode::invalid_argument);
  CHECK(whole.tensor().as<std::int64_t>()[1] == 2);
  CHECK(test.run(in_place_ops, "aten.copy_.default", {whole, test.tensor(ScalarType::float32, {2}, {3.5, -4})}) ==
        ErrorCode::ok);
  CHECK(test.values() == Numbers{3, -4});
}

TEST_CASE("portable: resize_ shows the first elements of the storage, or of a larger copy") {
  KernelTest test;
  const auto resize = [&](EValue x, EValue sizes, EValue format = {}) {
    return test.run(in_place_ops, "aten.resize_.default", {x, sizes, format});
  };
  const EValue x = test.tensor(ScalarType::float32, {2, 3}, {0, 1, 2, 3, 4, 5});
  CHECK(resize(x, test.list({2, 2})) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 1, 2, 3});
  CHECK(test.outputs[0].tensor().data == x.tensor().data);
  CHECK(resize(test.view(x, {3, 2}, {1, 3}), test.list({6})) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 1, 2, 3, 4, 5});
  CHECK(resize(test.view(x, {3, 2}, {1, 3}), test.list({3, 2})) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 3, 1, 4, 2, 5});
  CHECK(resize(test.view(x, {2}, {1}), test.list({3})) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 1, 0});
  CHECK(resize(x, test.list({1, 2, 1, 3}), EValue(2)) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 2, 4, 1, 3, 5});
  CHECK(resize(x, test.list({1, 2, 2, 2}), EValue(2)) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 2, 4, 0, 1, 3, 5, 0});
  CHECK(resize(x, test.list({6}), EValue(2)) == ErrorCode::invalid_argument);
  CHECK(resize(x, test.list({-1})) == ErrorCode::invalid_shape);
  CHECK(resize(x, test.list({std::int64_t{1} << 30, std::int64_t{1} << 30})) == ErrorCode::out_of_memory);
}
