// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/symmetric_values.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/backends/portable/run_time/products/decompositions.hpp"

using namespace davit::portable_kernels::detail;

namespace {

/// Numbers that differ from each other.
double number(std::int64_t i, std::int64_t j) {
  return std::sin(static_cast<double>(i * 31 + j * 17) + 0.25 * static_cast<double>(i * j));
}

}  // namespace

TEST_CASE("eigenvalues without vectors are those of the rotations") {
  for (const std::int64_t n : {1, 2, 3, 5, 8, 9, 16, 33})
    for (const double scale : {1.0, 1e-160, 1e300}) {
      CAPTURE(n);
      CAPTURE(scale);
      const std::int64_t stride = symmetric_stride(n);
      const auto count = static_cast<std::size_t>(n);
      std::vector<double> a(static_cast<std::size_t>(n * stride)), work(static_cast<std::size_t>(symmetric_work(n))),
          values(count);
      std::vector<double> b(count * count), vectors(count * count), wanted(count);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const double x = number(std::min(i, j), std::max(i, j));
          a[static_cast<std::size_t>(i * stride + j)] = x * scale;
          b[static_cast<std::size_t>(i * n + j)] = x;
        }
      symmetric_values(a.data(), n, values.data(), work.data());
      eigen(b.data(), n, vectors.data(), wanted.data());
      for (std::size_t i = 0; i < count; ++i) CHECK(std::fabs(values[i] / scale - wanted[i]) < 1e-12);
    }
}

TEST_CASE("matrices of zeros, of a diagonal, and of one rank") {
  std::vector<double> a(24), work(32), values(3);
  symmetric_values(a.data(), 3, values.data(), work.data());
  CHECK(values == std::vector<double>{0, 0, 0});
  a[0] = 3, a[9] = -1, a[18] = 2;
  symmetric_values(a.data(), 3, values.data(), work.data());
  CHECK(values == std::vector<double>{-1, 2, 3});
  const std::vector<double> rows{1, 2, 2, 2, 4, 4, 3, 6, 6, 0, 0, 0, 1, 2, 2};
  std::vector<double> gram(24);
  singular_values_of_rows(rows.data(), 5, 3, values.data(), gram.data(), work.data());
  CHECK(values[0] == doctest::Approx(std::sqrt(15.0 * 9)));
  CHECK(values[1] < 1e-6);
}
