// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/complex.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>

#include "davit/backends/portable/run_time/elementwise/complex_forms.hpp"
#include "davit/backends/portable/run_time/elementwise/copies.hpp"
#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::complex_form_ops;
using davit::portable_kernels::complex_ops;
using davit::portable_kernels::copy_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

/// A vector of complex64 numbers, given by pairs.
EValue complex(KernelTest& test, const Numbers& pairs) { return test.complex_line(ScalarType::complex64, pairs); }
/// The pairs of output 0.
Numbers pairs(const KernelTest& test) {
  const davit::TensorView& t = test.outputs[0].tensor();
  Numbers out;
  for (std::int64_t i = 0; i < t.numel(); ++i) {
    out.push_back(static_cast<double>(t.as<std::complex<float>>()[i].real()));
    out.push_back(static_cast<double>(t.as<std::complex<float>>()[i].imag()));
  }
  return out;
}

}  // namespace

TEST_CASE("portable: pairs are views of complex numbers and back") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {2, 2}, {1, 2, 3, 4});
  CHECK(test.run(complex_ops, "aten.view_as_complex.default", {x}) == ErrorCode::ok);
  CHECK(test.dtype() == ScalarType::complex64);
  CHECK(test.outputs[0].tensor().data == x.tensor().data);
  CHECK(pairs(test) == Numbers{1, 2, 3, 4});
  CHECK(test.run(complex_ops, "aten.view_as_complex.default", {test.view(x, {2, 2}, {1, 2})}) ==
        ErrorCode::ok);  // a copy
  CHECK(pairs(test) == Numbers{1, 3, 2, 4});
  const EValue gaps = test.tensor(ScalarType::float32, {2, 3}, {1, 2, 0, 3, 4, 0});
  CHECK(test.run(complex_ops, "aten.view_as_complex.default", {test.view(gaps, {2, 2}, {3, 1})}) == ErrorCode::ok);
  CHECK(pairs(test) == Numbers{1, 2, 3, 4});
  CHECK(test.run(complex_ops, "aten.view_as_complex.default", {gaps}) == ErrorCode::invalid_shape);
  CHECK(test.run(complex_ops, "aten.view_as_real.default", {complex(test, {1, 2, 3, 4})}) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{2, 2});
  CHECK(test.values() == Numbers{1, 2, 3, 4});
  CHECK(test.run(complex_ops, "aten.view_as_real.default", {x}) == ErrorCode::invalid_dtype);
}

TEST_CASE("portable: casts between real and complex keep the real part") {
  KernelTest test;
  const auto cast = [&](EValue x, ScalarType to) {
    return test.run(copy_ops, "aten._to_copy.default",
                    {x, EValue(static_cast<std::int64_t>(to)), EValue(), EValue(), EValue(), EValue(false), EValue()});
  };
  CHECK(cast(test.tensor(ScalarType::int64, {2}, {3, -4}), ScalarType::complex64) == ErrorCode::ok);
  CHECK(pairs(test) == Numbers{3, 0, -4, 0});
  CHECK(cast(complex(test, {1.5, 2, -3, 4}), ScalarType::float64) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1.5, -3});
}

TEST_CASE("portable: products and sums of complex numbers in rows of any length and layout") {
  KernelTest test;
  const auto run = [&](const char* name, EValue a, EValue b) {
    CHECK(test.run(complex_form_ops, name,
                   name[5] == 'm' ? std::vector<EValue>{a, b} : std::vector<EValue>{a, b, EValue(-2)}) ==
          ErrorCode::ok);
  };
  for (const std::int64_t n : {1, 3, 8, 37, 700}) {
    Numbers x, y, product, sum, difference, by_first, row;
    for (std::int64_t i = 0; i < 2 * n; ++i) {
      const double a = static_cast<double>(i % 11 - 5), b = static_cast<double>(i % 7 - 3),
                   c = static_cast<double>(i % 5 - 2), d = static_cast<double>(i % 3);
      for (const double part : {a, b}) x.push_back(part);
      for (const double part : {c, d}) y.push_back(part);
      for (const double part : {a * c - b * d, a * d + b * c}) product.push_back(part);
      for (const double part : {a - 2 * c, b - 2 * d}) sum.push_back(part);
      for (const double part : {a + 2 * c, b + 2 * d}) difference.push_back(part);
      for (const double part : {a * y[0] - b * y[1], a * y[1] + b * y[0]}) by_first.push_back(part);
      const auto k = static_cast<std::size_t>(i % n * 2);
      for (const double part : {a * y[k] - b * y[k + 1], a * y[k + 1] + b * y[k]}) row.push_back(part);
    }
    const EValue a = complex(test, x), b = complex(test, y);
    run("aten.mul.Tensor", a, b);
    CHECK(pairs(test) == product);
    run("aten.add.Tensor", a, b);
    CHECK(pairs(test) == sum);
    run("aten.sub.Tensor", a, b);
    CHECK(pairs(test) == difference);
    run("aten.mul.Tensor", a, test.view(b, {1}, {1}));
    CHECK(pairs(test) == by_first);
    run("aten.mul.Tensor", test.view(a, {2, n}, {n, 1}), test.view(b, {n}, {1}));  // a row for each
    CHECK(pairs(test) == row);
    run("aten.mul.Tensor", test.view(a, {n, 2}, {1, n}), test.view(b, {n, 1}, {1, 1}));  // columns
    Numbers turned;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
      for (const std::size_t k :
           {2 * i, 2 * i + 1, 2 * (i + static_cast<std::size_t>(n)), 2 * (i + static_cast<std::size_t>(n)) + 1})
        turned.push_back(row[k]);
    CHECK(pairs(test) == turned);
    const EValue real = test.tensor(ScalarType::int32, {2 * n}, Numbers(static_cast<std::size_t>(2 * n), 3));
    run("aten.mul.Tensor", real, a);
    for (double& part : x) part *= 3;
    CHECK(pairs(test) == x);
  }
  const float infinite = std::numeric_limits<float>::infinity();
  run("aten.mul.Tensor", complex(test, {infinite, 1, 1e30, 2}), complex(test, {2, 1, 1, -3}));
  CHECK(pairs(test)[0] == infinite);
  CHECK(pairs(test)[1] == infinite);
  run("aten.mul.Tensor", complex(test, {infinite, 1}), complex(test, {0, 1}));
  CHECK(std::isnan(pairs(test)[0]));
  run("aten.add.Tensor", complex(test, {1, 2}), complex(test, {infinite, 1}));
  CHECK(pairs(test) == Numbers{-infinite, 0});
  CHECK(test.run(complex_form_ops, "aten.mul.Tensor",
                 {complex(test, {1, 2, 3, 4}), test.tensor(ScalarType::float32, {3}, {1, 2, 3})}) ==
        ErrorCode::invalid_shape);
  const EValue none = test.view(complex(test, {1, 2}), {0, 1}, {1, 1});
  run("aten.mul.Tensor", none, complex(test, {1, 2, 3, 4}));
  CHECK(test.sizes() == Integers{0, 2});
}

TEST_CASE("portable: complex numbers of parts, and of distances and angles") {
  KernelTest test;
  for (const ScalarType type : {ScalarType::float32, ScalarType::float64}) {
    const std::int64_t n = 300;
    Numbers x, y;
    for (std::int64_t i = 0; i < n; ++i) {
      x.push_back(static_cast<double>(i) / 4);
      y.push_back(static_cast<double>(i % 13) - 6);
    }
    const EValue a = test.tensor(type, {n}, x), b = test.tensor(type, {n}, y);
    for (const bool polar : {false, true}) {
      CHECK(test.run(complex_ops, polar ? "aten.polar.default" : "aten.complex.default", {a, b}) == ErrorCode::ok);
      CHECK(test.dtype() == (type == ScalarType::float32 ? ScalarType::complex64 : ScalarType::complex128));
      bool same = true;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::complex<double> expected = polar ? std::polar(x[i], y[i]) : std::complex<double>(x[i], y[i]);
        const double error = std::abs(
            davit::portable_kernels::complex_at(test.outputs[0].tensor(), static_cast<std::int64_t>(i)) - expected);
        same = same && error <= x[i] * (type == ScalarType::float32 ? 2e-7 : 1e-15);
      }
      CHECK(same);
    }
    CHECK(test.run(complex_ops, "aten.complex.default", {test.view(a, {2, 2}, {0, 1}), test.view(b, {2, 1}, {3, 1})}) ==
          ErrorCode::ok);
    CHECK(davit::portable_kernels::complex_at(test.outputs[0].tensor(), 3) == std::complex<double>(0.25, -3));
  }
  CHECK(test.run(complex_ops, "aten.polar.default",
                 {test.tensor(ScalarType::float32, {1}, {1}), test.tensor(ScalarType::float64, {1}, {1})}) ==
        ErrorCode::invalid_dtype);
}

TEST_CASE("portable: quotients of complex numbers and distances from zero, by their loops") {
  namespace detail = davit::portable_kernels::detail;
  davit::kernels::Parameters none;
  const auto check = [&]<class T>(T large, const davit::kernels::BlockLoop quotients,
                                  const davit::kernels::BlockLoop distances) {
    const std::array<T, 10> x{1, 2, 3, -4, large, large, 5, 6, 1, 0}, y{3, 4, 0, 2, large, -large, 2, 0, 0, 0};
    const std::array<const void*, 2> in{x.data(), y.data()};
    std::array<T, 10> out{};
    quotients(in.data(), out.data(), 10, none);
    const std::array<double, 9> expected{
        11 / 25.0, 2 / 25.0, -2, -1.5, 0, 1, 2.5, 3, std::numeric_limits<double>::infinity()};
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(
          (static_cast<double>(out[i]) == expected[i] || std::fabs(static_cast<double>(out[i]) - expected[i]) < 1e-6));
    CHECK(std::isnan(out[9]));
    const std::array<const void*, 2> corners{y.data(), y.data()};
    distances(corners.data(), out.data(), 10, none);
    CHECK(out[0] == 5);
    CHECK(out[1] == 2);
    CHECK(static_cast<double>(out[2] / large) == doctest::Approx(std::sqrt(2.0)));
    CHECK(out[4] == 0);
  };
  check(1e37f, detail::complex_quotient_loops.float32, detail::complex_distance_loops.float32);
  check(1e307, detail::complex_quotient_loops.float64, detail::complex_distance_loops.float64);
  const std::array<float, 2> z{std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()};
  const std::array<const void*, 2> in{z.data(), z.data()};
  float distance = 0;
  detail::complex_distance_loops.float32(in.data(), &distance, 2, none);
  CHECK(std::isinf(distance));
}
