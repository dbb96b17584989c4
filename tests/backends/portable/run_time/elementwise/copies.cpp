// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/copies.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::copy_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("portable: a range of integers is counted in integers, of the dtype that is asked for") {
  KernelTest test;
  const auto arange = [&](EValue start, EValue end, EValue step, EValue dtype) {
    return test.run(copy_ops, "aten.arange.start_step", {start, end, step, dtype, EValue(), EValue(), EValue()});
  };
  const EValue as_it_is;
  const auto as = [](ScalarType type) { return EValue(static_cast<std::int64_t>(type)); };
  REQUIRE(arange(1700000000000000000, 1700000000000000010, 1, as_it_is) == ErrorCode::ok);
  REQUIRE(test.sizes() == Integers{10});
  CHECK(test.outputs[0].tensor().as<std::int64_t>()[9] == 1700000000000000009);
  REQUIRE(arange(most - 3, most, 2, as_it_is) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{2});
  REQUIRE(arange(-most, most, most, as_it_is) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{2});
  REQUIRE(arange(5, 0, -2, as_it_is) == ErrorCode::ok);
  CHECK(test.values() == Numbers{5, 3, 1});
  REQUIRE(arange(5, 5, -2, as_it_is) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{0});
  REQUIRE(arange(0, 10, 3.5, as(ScalarType::int64)) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 3, 6, 9});
  REQUIRE(arange(0.5, 3, 1, as(ScalarType::int32)) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 1, 2});
  REQUIRE(arange(0.5, 3, 1, as_it_is) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0.5, 1.5, 2.5});
  CHECK(arange(0, 5, -1, as_it_is) == ErrorCode::out_of_range);
  CHECK(arange(-most, most, 1, as_it_is) == ErrorCode::out_of_range);
  CHECK(arange(0, 5, 0, as_it_is) == ErrorCode::invalid_argument);
  CHECK(arange(0, 5, 0.5, as(ScalarType::int64)) == ErrorCode::invalid_argument);
}

TEST_CASE("portable: to returns the tensor itself if it has that dtype, unless a copy is requested") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {2}, {1.5, -2});
  const EValue same(static_cast<std::int64_t>(ScalarType::float32)),
      other(static_cast<std::int64_t>(ScalarType::int64)), no(false);
  const EValue none;
  CHECK(test.run(copy_ops, "aten.to.dtype", {x, same, no, no, none}) == ErrorCode::ok);
  CHECK(test.outputs[0].tensor().data == x.tensor().data);
  CHECK(test.run(copy_ops, "aten.to.dtype", {x, same, no, EValue(true), none}) == ErrorCode::ok);
  CHECK(test.outputs[0].tensor().data != x.tensor().data);
  CHECK(test.run(copy_ops, "aten.to.dtype", {x, other, no, no, none}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1, -2});
}
