// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/reductions/sorting.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::sorting_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("portable: sort keeps the order of equal elements and puts NaN above everything") {
  KernelTest test;
  const auto sort = [&](EValue x, int dim, bool descending) {
    return test.run(sorting_ops, "aten.sort.default", {x, EValue(dim), EValue(descending)}, 2);
  };
  const EValue x = test.tensor(ScalarType::float32, {6}, {1, not_a_number, -inf, 0.0, -0.0, inf});
  CHECK(sort(x, -1, false) == ErrorCode::ok);
  CHECK(test.values(1) == Numbers{2, 3, 4, 0, 5, 1});
  CHECK(test.dtype(1) == ScalarType::int64);
  CHECK(std::isnan(test.values()[5]));
  CHECK(sort(x, 0, true) == ErrorCode::ok);
  CHECK(test.values(1) == Numbers{1, 5, 0, 3, 4, 2});

  CHECK(sort(test.tensor(ScalarType::int64, {2, 2}, {1, -3, -5, 2}), 0, false) == ErrorCode::ok);
  CHECK(test.values() == Numbers{-5, -3, 1, 2});
  CHECK(test.values(1) == Numbers{1, 0, 0, 1});
  CHECK(sort(test.tensor(ScalarType::bool_, {3}, {1, 0, 1}), 0, true) == ErrorCode::ok);
  CHECK(test.values(1) == Numbers{0, 2, 1});
  CHECK(sort(test.tensor(ScalarType::bfloat16, {}, {4}), -1, false) == ErrorCode::ok);
  CHECK(test.values(1) == Numbers{0});
  CHECK(sort(test.tensor(ScalarType::float32, {2, 0}, {}), 1, false) == ErrorCode::ok);
  CHECK(test.sizes(1) == Integers{2, 0});
  CHECK(sort(x, 1, false) == ErrorCode::out_of_range);

  CHECK(test.run(sorting_ops, "aten.sort.default", {x, EValue(0), EValue(false)}, 1) == ErrorCode::ok);
  CHECK(test.values()[0] == -inf);
}

TEST_CASE("portable: topk returns the k largest or smallest elements of each line") {
  KernelTest test;
  const auto topk = [&](EValue x, int k, int dim, bool largest) {
    return test.run(sorting_ops, "aten.topk.default", {x, EValue(k), EValue(dim), EValue(largest), EValue(true)}, 2);
  };
  const EValue x = test.tensor(ScalarType::float32, {2, 4}, {3, 1, not_a_number, 2, 8, 7, 6, 5});
  CHECK(topk(x, 2, 1, true) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{2, 2});
  CHECK(test.values(1) == Numbers{2, 0, 0, 1});
  CHECK(topk(x, 3, -1, false) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 2, 3, 5, 6, 7});
  CHECK(topk(x, 1, 0, false) == ErrorCode::ok);
  CHECK(test.values(1) == Numbers{0, 0, 1, 0});
  CHECK(topk(x, 0, 0, true) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{0, 4});
  CHECK(topk(test.tensor(ScalarType::int32, {}, {4}), 1, 0, true) == ErrorCode::ok);
  CHECK(test.values() == Numbers{4});
  CHECK(topk(x, 5, 1, true) == ErrorCode::out_of_range);
  CHECK(topk(x, -1, 1, true) == ErrorCode::out_of_range);
  CHECK(topk(x, 1, 2, true) == ErrorCode::out_of_range);
  CHECK(topk(test.tensor(ScalarType::bool_, {2}, {}), 1, 0, true) == ErrorCode::invalid_dtype);
}

TEST_CASE("portable: kthvalue is the element that a stable sort puts there") {
  KernelTest test;
  const auto kth = [&](EValue x, int k, int dim, bool keep) {
    return test.run(sorting_ops, "aten.kthvalue.default", {x, EValue(k), EValue(dim), EValue(keep)}, 2);
  };
  const EValue x = test.tensor(ScalarType::float32, {2, 5}, {3, not_a_number, 1, 3, 1, 0.0, 5, -0.0, 5, 5});
  for (int k = 1; k <= 5; ++k) {
    CAPTURE(k);
    CHECK(test.run(sorting_ops, "aten.sort.default", {x, EValue(1), EValue(false)}, 2) == ErrorCode::ok);
    const Numbers values = test.values(), places = test.values(1);
    const auto at = static_cast<std::size_t>(k - 1);
    CHECK(kth(x, k, -1, false) == ErrorCode::ok);
    CHECK(test.sizes() == Integers{2});
    CHECK(test.values(1) == Numbers{places[at], places[at + 5]});
    CHECK((test.values()[0] == values[at] || std::isnan(values[at])));
  }
  CHECK(kth(x, 2, 0, true) == ErrorCode::ok);
  CHECK(test.sizes(1) == Integers{1, 5});
  CHECK(test.values(1) == Numbers{0, 0, 0, 1, 1});
  CHECK(kth(x, 1, 0, false) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 5, -0.0, 3, 1});
  CHECK(kth(test.tensor(ScalarType::int64, {}, {4}), 1, 0, false) == ErrorCode::ok);
  CHECK(test.values() == Numbers{4});
  CHECK(test.sizes().empty());
  CHECK(kth(x, 0, 1, false) == ErrorCode::out_of_range);
  CHECK(kth(x, 6, 1, false) == ErrorCode::out_of_range);
}
