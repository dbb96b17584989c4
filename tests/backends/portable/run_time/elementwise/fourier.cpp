// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/fourier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <initializer_list>
#include <vector>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::fourier_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;
using Complex = std::complex<double>;

/// A tensor of complex128 numbers of any layout.
EValue complex(KernelTest& test, const std::vector<Complex>& values, const Integers& sizes, const Integers& strides) {
  Numbers parts;
  for (const Complex& z : values) parts.insert(parts.end(), {z.real(), z.imag()});
  davit::TensorView view =
      test.view(test.tensor(ScalarType::float64, {static_cast<std::int64_t>(parts.size())}, parts), sizes, strides)
          .tensor();
  view.dtype = ScalarType::complex128;
  return view;
}
EValue line(KernelTest& test, const std::vector<Complex>& values) {
  return complex(test, values, {static_cast<std::int64_t>(values.size())}, {1});
}
std::vector<Complex> results(const KernelTest& test) {
  std::vector<Complex> all;
  for (std::int64_t i = 0; i < test.outputs[0].tensor().numel(); ++i)
    all.push_back(davit::portable_kernels::complex_at(test.outputs[0].tensor(), i));
  return all;
}
/// The transform by definition.
std::vector<Complex> transformed(const std::vector<Complex>& x, int sign) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<Complex> roots, all(x.size());
  for (std::int64_t k = 0; k < n; ++k)
    roots.push_back(std::polar(1.0, sign * 2 * 3.141592653589793 * static_cast<double>(k) / static_cast<double>(n)));
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t i = 0; i < n; ++i)
      all[static_cast<std::size_t>(k)] += x[static_cast<std::size_t>(i)] * roots[static_cast<std::size_t>(i * k % n)];
  return all;
}
bool near(const std::vector<Complex>& a, const std::vector<Complex>& b, double tolerance) {
  return std::ranges::equal(a, b, [&](const Complex& x, const Complex& y) { return std::abs(x - y) < tolerance; });
}
std::vector<Complex> some(std::int64_t n) {
  std::vector<Complex> all;
  for (std::int64_t i = 0; i < n; ++i)
    all.emplace_back(static_cast<double>(i * i % 17) / 4 - 2, static_cast<double>(i * 5 % 13) / 3 - 2);
  return all;
}

}  // namespace

TEST_CASE("portable: Fourier transforms by factors, by odd primes, and by a chirp") {
  KernelTest test;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 8, 30, 47, 53, 94, 106, 128, 149, 240, 509}) {
    std::vector<Complex> x = some(n);
    const double tolerance = 1e-11;
    for (const bool forward : {false, true}) {
      CHECK(test.run(fourier_ops, "aten._fft_c2c.default",
                     {line(test, x), test.list({EValue(0)}), EValue(0), EValue(forward)}) == ErrorCode::ok);
      CHECK(near(results(test), transformed(x, forward ? -1 : 1), tolerance));
    }
    Numbers parts;
    for (Complex& z : x) {
      z = z.real();
      parts.push_back(z.real());
    }
    const EValue real = test.tensor(ScalarType::float64, {n}, parts);
    std::vector<Complex> expected = transformed(x, -1);
    CHECK(test.run(fourier_ops, "aten._fft_r2c.default", {real, test.list({EValue(0)}), EValue(0), EValue(false)}) ==
          ErrorCode::ok);
    CHECK(near(results(test), expected, tolerance));
    expected.resize(static_cast<std::size_t>(n / 2 + 1));
    CHECK(test.run(fourier_ops, "aten._fft_r2c.default", {real, test.list({EValue(0)}), EValue(0), EValue(true)}) ==
          ErrorCode::ok);
    CHECK(near(results(test), expected, tolerance));
    CHECK(results(test)[0].imag() == 0);
    expected[0] += Complex(0, 3);  // a transform to real numbers ignores it
    CHECK(test.run(fourier_ops, "aten._fft_c2r.default",
                   {line(test, expected), test.list({EValue(0)}), EValue(2), EValue(n)}) == ErrorCode::ok);
    CHECK(near(results(test), x, tolerance));
  }
}

TEST_CASE("portable: Fourier transforms of more lines than a vector holds, along any dimension") {
  KernelTest test;
  const std::int64_t n = 12, lines = 11;
  const std::vector<Complex> x = some(n * lines);
  std::vector<Complex> by_line, by_column(x.size());
  for (std::int64_t l = 0; l < lines; ++l) {
    const auto first = x.begin() + l * n;
    for (std::size_t k = 0; const Complex& z : transformed({first, first + n}, -1)) {
      by_line.push_back(z);
      by_column[k++ * static_cast<std::size_t>(lines) + static_cast<std::size_t>(l)] = z;
    }
  }
  CHECK(test.run(fourier_ops, "aten._fft_c2c.default",
                 {complex(test, x, {lines, n}, {n, 1}), test.list({EValue(1)}), EValue(0), EValue(true)}) ==
        ErrorCode::ok);
  CHECK(near(results(test), by_line, 1e-12));
  CHECK(test.run(fourier_ops, "aten._fft_c2c.default",
                 {complex(test, x, {n, lines}, {1, n}), test.list({EValue(0)}), EValue(0), EValue(true)}) ==
        ErrorCode::ok);
  CHECK(near(results(test), by_column, 1e-12));
  CHECK(test.run(fourier_ops, "aten._fft_c2c.default",
                 {complex(test, x, {3, n}, {0, 1}), test.list({EValue(1)}), EValue(0), EValue(true)}) == ErrorCode::ok);
  const std::vector<Complex> repeated = results(test);
  CHECK(near({repeated.begin() + 2 * n, repeated.end()}, {by_line.begin(), by_line.begin() + n}, 1e-12));
}

TEST_CASE("portable: Fourier transforms along several dimensions, forth and back") {
  KernelTest test;
  const Integers sizes{3, 4, 5};
  Numbers x(60);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i % 7) - 3;
  for (const std::initializer_list<EValue> dims : {std::initializer_list<EValue>{EValue(0), EValue(2)},
                                                   {EValue(2), EValue(1)},
                                                   {EValue(-1), EValue(0), EValue(1)}}) {
    const std::int64_t last = sizes[static_cast<std::size_t>((dims.end() - 1)->as_int())];
    for (const bool onesided : {true, false}) {
      const EValue real = test.tensor(ScalarType::float32, sizes, x);
      CHECK(test.run(fourier_ops, "aten._fft_r2c.default", {real, test.list(dims), EValue(1), EValue(onesided)}) ==
            ErrorCode::ok);
      CHECK(test.dtype() == ScalarType::complex64);
      const std::vector<Complex> forth = results(test);
      const Integers made = test.sizes();
      const EValue back = complex(test, forth, made, {made[1] * made[2], made[2], 1});
      if (onesided)
        CHECK(test.run(fourier_ops, "aten._fft_c2r.default", {back, test.list(dims), EValue(1), EValue(last)}) ==
              ErrorCode::ok);
      else
        CHECK(test.run(fourier_ops, "aten._fft_c2c.default", {back, test.list(dims), EValue(1), EValue(false)}) ==
              ErrorCode::ok);
      CHECK(test.sizes() == sizes);
      CHECK(near(results(test), {x.begin(), x.end()}, 1e-5));
    }
  }
}

TEST_CASE("portable: Fourier transforms of half lines that are too short, of none, and along none") {
  KernelTest test;
  CHECK(test.run(fourier_ops, "aten._fft_c2r.default",
                 {line(test, {6.0, 1.0}), test.list({EValue(0)}), EValue(0), EValue(6)}) == ErrorCode::ok);
  CHECK(near(results(test), {8, 7, 5, 4, 5, 7}, 1e-12));
  CHECK(test.run(fourier_ops, "aten._fft_c2r.default",
                 {line(test, {6.0, 1.0, 2.0}), test.list({EValue(0)}), EValue(0), EValue(1)}) == ErrorCode::ok);
  CHECK(near(results(test), {6}, 1e-12));
  const EValue none = complex(test, {1.0}, {2, 0}, {1, 1});
  CHECK(test.run(fourier_ops, "aten._fft_c2r.default",
                 {none, test.list({EValue(0), EValue(1)}), EValue(0), EValue(3)}) == ErrorCode::ok);
  CHECK(near(results(test), std::vector<Complex>(6), 1e-12));
  CHECK(test.run(fourier_ops, "aten._fft_c2c.default", {none, test.list({EValue(0)}), EValue(0), EValue(true)}) ==
        ErrorCode::ok);
  CHECK(test.sizes() == Integers{2, 0});
  CHECK(test.run(fourier_ops, "aten._fft_c2c.default", {none, test.list({EValue(1)}), EValue(0), EValue(true)}) ==
        ErrorCode::invalid_shape);
  CHECK(test.run(fourier_ops, "aten._fft_c2c.default",
                 {line(test, {1.0, 2.0}), test.list({}), EValue(0), EValue(true)}) == ErrorCode::ok);
  CHECK(results(test) == std::vector<Complex>{1.0, 2.0});
  CHECK(test.run(fourier_ops, "aten._fft_c2c.default",
                 {line(test, {1.0}), test.list({EValue(0), EValue(0)}), EValue(0), EValue(true)}) ==
        ErrorCode::invalid_argument);
  CHECK(test.run(fourier_ops, "aten._fft_c2r.default",
                 {line(test, {1.0}), test.list({EValue(0)}), EValue(0), EValue(std::int64_t{1} << 39)}) ==
        ErrorCode::out_of_memory);
  CHECK(test.run(fourier_ops, "aten._fft_c2c.default",
                 {line(test, {1.0}), test.list({EValue(1)}), EValue(0), EValue(true)}) == ErrorCode::out_of_range);
  CHECK(test.run(fourier_ops, "aten._fft_r2c.default",
                 {line(test, {1.0}), test.list({EValue(0)}), EValue(0), EValue(true)}) == ErrorCode::invalid_dtype);
}
