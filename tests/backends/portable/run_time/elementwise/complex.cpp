// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/complex.hpp"

#include <doctest/doctest.h>

#include <complex>

#include "davit/backends/portable/run_time/elementwise/copies.hpp"
#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::complex_ops;
using davit::portable_kernels::copy_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

/// A line of complex64 numbers, given by pairs.
EValue complex(KernelTest& test, const Numbers& pairs) {
  const auto n = static_cast<std::int64_t>(pairs.size() / 2);
  davit::TensorView view = test.view(test.tensor(ScalarType::float32, {n, 2}, pairs), {n}, {1}).tensor();
  view.dtype = ScalarType::complex64;
  return view;
}
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
bool near(const Numbers& a, const Numbers& b) {
  return KernelTest::near(a, b, 1e-5);
}

}  // namespace

TEST_CASE("portable: pairs are views of complex numbers and back") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {2, 2}, {1, 2, 3, 4});
  CHECK(test.run(complex_ops, "aten.view_as_complex.default", {x}) == ErrorCode::ok);
  CHECK(test.dtype() == ScalarType::complex64);
  CHECK(test.outputs[0].tensor().data == x.tensor().data);
  CHECK(pairs(test) == Numbers{1, 2, 3, 4});
  CHECK(test.run(complex_ops, "aten.view_as_complex.default", {test.view(x, {2, 2}, {1, 2})}) == ErrorCode::ok);  // a copy
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
    return test.run(copy_ops, "aten._to_copy.default", {x, EValue(static_cast<std::int64_t>(to)), EValue(), EValue(), EValue(), EValue(false), EValue()});
  };
  CHECK(cast(test.tensor(ScalarType::int64, {2}, {3, -4}), ScalarType::complex64) == ErrorCode::ok);
  CHECK(pairs(test) == Numbers{3, 0, -4, 0});
  CHECK(cast(complex(test, {1.5, 2, -3, 4}), ScalarType::float64) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1.5, -3});
}

TEST_CASE("portable: Fourier transforms of sizes with several prime factors, forth and back") {
  KernelTest test;
  for (const std::int64_t n : {1, 2, 6, 7, 12}) {
    Numbers x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i % 5) - 1;
    const EValue real = test.tensor(ScalarType::float32, {n}, x);
    CHECK(test.run(complex_ops, "aten._fft_r2c.default", {real, test.list({EValue(0)}), EValue(0), EValue(true)}) == ErrorCode::ok);
    CHECK(test.sizes() == Integers{n / 2 + 1});
    Numbers expected;
    for (std::int64_t k = 0; k <= n / 2; ++k) {
      std::complex<double> sum = 0;
      for (std::int64_t i = 0; i < n; ++i)
        sum += x[static_cast<std::size_t>(i)] * std::polar(1.0, -2 * 3.141592653589793 * static_cast<double>(i * k) / static_cast<double>(n));
      expected.push_back(sum.real());
      expected.push_back(sum.imag());
    }
    CHECK(near(pairs(test), expected));
    const EValue half = complex(test, pairs(test));
    CHECK(test.run(complex_ops, "aten._fft_c2r.default", {half, test.list({EValue(0)}), EValue(2), EValue(n)}) == ErrorCode::ok);
    CHECK(near(test.values(), x));
  }
  const EValue z = complex(test, {1, 2, 3, -4, 0, 1});
  CHECK(test.run(complex_ops, "aten._fft_c2c.default", {z, test.list({EValue(0)}), EValue(1), EValue(true)}) == ErrorCode::ok);
  const EValue moved = complex(test, pairs(test));
  CHECK(test.run(complex_ops, "aten._fft_c2c.default", {moved, test.list({EValue(-1)}), EValue(1), EValue(false)}) == ErrorCode::ok);
  CHECK(near(pairs(test), {1, 2, 3, -4, 0, 1}));
  CHECK(test.run(complex_ops, "aten._fft_c2c.default", {z, test.list({EValue(1)}), EValue(0), EValue(true)}) == ErrorCode::out_of_range);
  CHECK(test.run(complex_ops, "aten._fft_r2c.default", {z, test.list({EValue(0)}), EValue(0), EValue(true)}) == ErrorCode::invalid_dtype);
}
