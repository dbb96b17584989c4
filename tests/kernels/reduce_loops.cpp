// SPDX-License-Identifier: MIT
#include "davit/kernels/reduce_loops.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

using namespace davit::kernels;

namespace {

template <class T>
Accumulated row(const std::vector<T>& x, const ReduceLoop& loop, Accumulated so_far = {}) {
  loop.row(reinterpret_cast<const std::byte*>(x.data()), static_cast<std::int64_t>(x.size()), so_far);
  return so_far;
}
/// The largest element by definition, one after another.
template <class T>
std::size_t first_largest(const std::vector<T>& x) {
  std::size_t at = 0;
  const auto is_nan = [](T v) { return std::isnan(static_cast<double>(v)); };
  for (std::size_t i = 1; i < x.size() && !is_nan(x[at]); ++i)
    if (is_nan(x[i]) || x[i] > x[at]) at = i;
  return at;
}

}  // namespace

TEST_CASE("the place of the largest of rows of any length, wherever it and a NaN are") {
  for (std::size_t n = 1; n < 150; ++n)
    for (std::size_t at = 0; at < n; at += 1 + n / 9) {
      std::vector<float> x(n, 1);
      for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i * 7919 % 13);
      x[at] = 12;
      std::vector<double> wide(x.begin(), x.end());
      std::vector<std::int64_t> whole(x.begin(), x.end());
      CHECK(row(x, extreme_loops<true>.float32).found_at == static_cast<std::int64_t>(first_largest(x)));
      CHECK(row(wide, extreme_loops<true>.float64).found_at == static_cast<std::int64_t>(first_largest(wide)));
      CHECK(row(whole, extreme_loops<true>.int64).found_at == static_cast<std::int64_t>(first_largest(whole)));
      CHECK(row(x, extreme_loops<true, false>.float32).real == 12);
      CHECK(row(wide, extreme_loops<true, false>.float64).real == 12);
      CHECK(row(whole, extreme_loops<true, false>.int64).integer == 12);
      x[at] = std::numeric_limits<float>::quiet_NaN();
      CHECK(row(x, extreme_loops<true>.float32).found_at == static_cast<std::int64_t>(at));
      CHECK(std::isnan(row(x, extreme_loops<false>.float32).real));
      CHECK(std::isnan(row(x, extreme_loops<true, false>.float32).real));
    }
}
TEST_CASE("a reduction continues, and a NaN stays") {
  const std::vector<float> first{1, 5, 2}, second{5, 7, -1}, lost{std::numeric_limits<float>::quiet_NaN()};
  CHECK(row(second, extreme_loops<true>.float32, row(first, extreme_loops<true>.float32)).found_at == 4);
  CHECK(row(first, extreme_loops<true>.float32, row(second, extreme_loops<true>.float32)).found_at == 1);
  CHECK(row(second, extreme_loops<true>.float32, row(lost, extreme_loops<true>.float32)).found_at == 0);
  CHECK(row(second, sum_loops.float32, row(first, sum_loops.float32)).real == 19);
  CHECK(row(second, product_loops.float32, row(first, product_loops.float32, {.real = 1})).real == -350);
}
TEST_CASE("sums of float32 are as precise as sums in double, rounded, in rows and in columns of any length") {
  for (const std::size_t n : {1u, 7u, 8u, 9u, 255u, 256u, 257u, 5000u}) {
    std::vector<float> x(n * 64);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 + static_cast<float>(i * 7919 % 1013) / 1013;
    double sum = 0;
    for (const float v : x) sum += static_cast<double>(v);
    CHECK(row(x, sum_loops.float32).real == doctest::Approx(sum).epsilon(1e-7));
    for (const std::size_t count : {1u, 8u, 17u, 63u, 64u}) {
      AccumulatedColumns columns;
      columns.start(count, 2.0);
      sum_loops.float32.columns(reinterpret_cast<const std::byte*>(x.data()), 64 * sizeof(float),
                                static_cast<std::int64_t>(n), columns);
      for (std::size_t c = 0; c < count; ++c) {
        double expected = 2;
        for (std::size_t r = 0; r < n; ++r) expected += static_cast<double>(x[r * 64 + c]);
        CHECK(columns.real[c] == doctest::Approx(expected).epsilon(1e-7));
      }
    }
  }
}
TEST_CASE("a NaN and infinities stay in sums of float32") {
  std::vector<float> x(600, 1);
  x[300] = std::numeric_limits<float>::infinity();
  CHECK(row(x, sum_loops.float32).real == std::numeric_limits<double>::infinity());
  x[400] = -std::numeric_limits<float>::infinity();
  CHECK(std::isnan(row(x, sum_loops.float32).real));
}
