// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/distance.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::distance_ops;
using Numbers = KernelTest::Numbers;

}  // namespace

TEST_CASE("portable: distances of rows, in vectors and in their remainder") {
  KernelTest test;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const ScalarType type : {ScalarType::float32, ScalarType::float64})
    for (const std::int64_t n : {1, 3, 16, 21, 40})
      for (const double p : {0.0, 1.0, 1.5, 2.0, infinity}) {
        CAPTURE(n);
        CAPTURE(p);
        Numbers x, rows;
        for (std::int64_t i = 0; i < n; ++i) x.push_back(static_cast<double>(i % 5) / 4);
        for (std::int64_t r = 0; r < 4; ++r)
          for (std::int64_t i = 0; i < n; ++i)
            rows.push_back(r == 0 ? x[static_cast<std::size_t>(i)] : static_cast<double>((i * 7 + r) % 9) / 8);
        rows[static_cast<std::size_t>(3 * n + n / 2)] = std::numeric_limits<double>::quiet_NaN();
        CHECK(test.run(distance_ops, "aten._cdist_forward.default",
                       {test.tensor(type, {1, n}, x), test.tensor(type, {4, n}, rows), EValue(p), EValue()}) ==
              ErrorCode::ok);
        const Numbers made = test.values();
        CHECK(made[0] == 0);
        CHECK(std::isnan(made[3]));
        for (std::size_t r = 1; r < 3; ++r) {
          double sum = 0;
          for (std::size_t i = 0; i < x.size(); ++i) {
            const double away = std::fabs(x[i] - rows[r * x.size() + i]);
            if (p == 0)
              sum += away != 0;
            else if (std::isinf(p))
              sum = std::fmax(sum, away);
            else
              sum += std::pow(away, p);
          }
          CHECK(made[r] == doctest::Approx(p == 0 || std::isinf(p) ? sum : std::pow(sum, 1 / p)));
        }
      }
}
