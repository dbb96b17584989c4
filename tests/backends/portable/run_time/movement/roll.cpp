// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/movement/roll.hpp"

#include <doctest/doctest.h>

#include "support/kernel_test.hpp"

TEST_CASE("portable: roll moves elements on and brings the last to the front") {
  using davit::ErrorCode;
  using davit::EValue;
  using davit::ScalarType;
  using Numbers = KernelTest::Numbers;
  KernelTest test;
  const auto roll = [&](EValue x, EValue shifts, EValue dims) {
    return test.run(davit::portable_kernels::roll_ops, "aten.roll.default", {x, shifts, dims});
  };
  const EValue x = test.tensor(ScalarType::int16, {2, 3}, {0, 1, 2, 3, 4, 5});
  CHECK(roll(x, test.list({7}), test.list({})) == ErrorCode::ok);
  CHECK(test.values() == Numbers{5, 0, 1, 2, 3, 4});
  CHECK(roll(x, test.list({-1}), test.list({1})) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 2, 0, 4, 5, 3});
  CHECK(roll(x, test.list({1, 1, 1}), test.list({1, 0, -1})) == ErrorCode::ok);
  CHECK(test.values() == Numbers{4, 5, 3, 1, 2, 0});
  CHECK(roll(test.view(x, {3, 2}, {1, 3}), test.list({INT64_MIN}), test.list({0})) == ErrorCode::ok);
  CHECK(test.values() == Numbers{2, 5, 0, 3, 1, 4});
  CHECK(roll(test.tensor(ScalarType::float32, {}, {3}), test.list({5}), test.list({})) == ErrorCode::ok);
  CHECK(test.values() == Numbers{3});
  CHECK(roll(test.tensor(ScalarType::float32, {0}, {}), test.list({5}), test.list({0})) == ErrorCode::ok);
  CHECK(roll(x, test.list({}), test.list({})) == ErrorCode::invalid_argument);
  CHECK(roll(x, test.list({1, 2}), test.list({0})) == ErrorCode::invalid_argument);
  CHECK(roll(x, test.list({1}), test.list({2})) == ErrorCode::out_of_range);
}
