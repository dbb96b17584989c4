// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/fourier.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <vector>

using namespace davit::portable_kernels::detail;

TEST_CASE("portable: how lines are transformed") {
  const LinePlan even(Transform::real_to_complex, 1024);
  CHECK(even.halved);
  CHECK(even.length == 512);
  CHECK(!even.is_chirped());
  CHECK(!LinePlan(Transform::complex_to_complex, 47 * 47).is_chirped());
  CHECK(LinePlan(Transform::complex_to_complex, 53).inner == 128);
  CHECK(LinePlan(Transform::complex_to_complex, 1031).inner == 2560);
  CHECK(LinePlan(Transform::complex_to_complex, 1399).inner == 3072);
  const LinePlan halved(Transform::complex_to_real, 106);
  CHECK(halved.length == 53);
  CHECK(halved.is_chirped());
  for (const std::int64_t n : {1, 2, 7, 100}) {
    std::vector<std::complex<double>> roots(static_cast<std::size_t>(n));
    fill_roots(n, roots.data());
    for (std::int64_t k = 0; k < n; ++k)
      CHECK(std::abs(roots[static_cast<std::size_t>(k)] -
                     std::polar(1.0, -2 * 3.141592653589793 * static_cast<double>(k) / static_cast<double>(n))) <
            2e-15);
  }
}

TEST_CASE("portable: a line alone and lines side by side are transformed alike") {
  for (const std::int64_t n : {12, 7, 59}) {
    LinePlan plan(Transform::complex_to_complex, n);
    constexpr std::size_t lanes = davit::kernels::vector_bytes / sizeof(double);
    const auto size = static_cast<std::size_t>(plan.line_size());
    std::vector<std::complex<double>> tables(static_cast<std::size_t>(plan.table_size())), room(2 * size);
    fill_tables(plan, tables.data(), room.data());
    std::vector<double> alone(4 * size), together(4 * size * lanes + 8);
    double* const first =
        together.data() + (64 - reinterpret_cast<std::uintptr_t>(together.data()) % 64) % 64 / sizeof(double);
    for (std::size_t i = 0; i < static_cast<std::size_t>(2 * n); ++i) {
      alone[i] = static_cast<double>(i * i % 11);
      for (std::size_t l = 0; l < lanes; ++l) first[i * lanes + l] = alone[i];
    }
    const double* const one = transform_lines<sizeof(double)>(plan, alone.data(), alone.data() + 2 * size);
    const double* const all = transform_lines<davit::kernels::vector_bytes>(plan, first, first + 2 * size * lanes);
    bool same = true;
    for (std::size_t i = 0; i < static_cast<std::size_t>(2 * n) * lanes; ++i)
      same = same && std::abs(all[i] - one[i / lanes]) < 1e-12;
    CHECK(same);
  }
}
