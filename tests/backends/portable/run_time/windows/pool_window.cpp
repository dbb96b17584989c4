// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/windows/pool_window.hpp"

#include <doctest/doctest.h>

#include <cstddef>

#include "davit/backends/portable/run_time/windows/adaptive_avg_pool.hpp"
#include "davit/backends/portable/run_time/windows/avg_pool.hpp"
#include "davit/backends/portable/run_time/windows/max_pool.hpp"
#include "support/kernel_test.hpp"

using davit::EValue;
using davit::ScalarType;
using Numbers = KernelTest::Numbers;
using namespace davit::portable_kernels;

TEST_CASE("portable: threads share the planes of pools") {
  KernelTest test;
  Numbers values(5 * 6 * 7);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 7919 % 1009) / 100;
  const EValue x = test.tensor(ScalarType::float32, {1, 5, 6, 7}, values);
  const auto pair = [&](int a, int b) { return test.list({EValue(a), EValue(b)}); };
  CHECK(test.is_same_on_threads(adaptive_avg_pool_ops, "aten._adaptive_avg_pool2d.default", {x, pair(2, 3)}));
  CHECK(test.is_same_on_threads(avg_pool_ops, "aten.avg_pool2d.default",
                                {x, pair(2, 3), pair(1, 2), pair(0, 1), EValue(true), EValue(false), EValue()}));
  CHECK(test.is_same_on_threads(max_pool_ops, "aten.max_pool2d.default",
                                {x, pair(3, 3), pair(1, 1), pair(1, 1), pair(1, 1), EValue(false)}));
}
