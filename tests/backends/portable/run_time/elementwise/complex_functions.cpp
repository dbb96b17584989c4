// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/complex_forms.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::complex_form_ops;
using Numbers = KernelTest::Numbers;

/// A vector of complex numbers with parts of this type, and a kernel's results.
template <class T>
struct ComplexTest : KernelTest {
  static constexpr ScalarType type = sizeof(T) == 4 ? ScalarType::complex64 : ScalarType::complex128;

  EValue numbers(const std::vector<std::complex<double>>& all) {
    Numbers parts;
    for (const std::complex<double>& z : all) {
      parts.push_back(z.real());
      parts.push_back(z.imag());
    }
    return complex_line(type, parts);
  }
  [[nodiscard]] std::complex<double> result(std::int64_t i) const {
    const std::complex<T> z = outputs[0].tensor().template as<std::complex<T>>()[i];
    return {static_cast<double>(z.real()), static_cast<double>(z.imag())};
  }
  std::complex<double> of(const char* function, std::complex<double> z) {
    CHECK(run(complex_form_ops, "aten." + std::string(function) + ".default", {numbers({z})}) == ErrorCode::ok);
    CHECK(dtype() == type);
    return result(0);
  }
};

bool is_near(std::complex<double> a, std::complex<double> b, double tolerance) {
  return std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

/// Checks each function against its inverse or its definition, in the branch of the principal values.
template <class T>
void check_functions(double tolerance) {
  ComplexTest<T> test;
  for (const std::complex<double> z :
       {std::complex<double>{0.5, 0.25}, {-0.3, 0.8}, {0.1, -0.9}, {-0.7, -0.2}, {0.4, 0.0}}) {
    CAPTURE(z.real());
    CAPTURE(z.imag());
    for (const auto& [back, there] : {std::pair{"sin", "asin"},
                                      {"cos", "acos"},
                                      {"tan", "atan"},
                                      {"sinh", "asinh"},
                                      {"cosh", "acosh"},
                                      {"tanh", "atanh"}}) {
      CAPTURE(back);
      CHECK(is_near(test.of(back, test.of(there, z)), z, tolerance));
    }
    CHECK(is_near(test.of("sqrt", z) * test.of("sqrt", z), z, tolerance));
    CHECK(is_near(test.of("rsqrt", z) * test.of("sqrt", z), 1.0, tolerance));
    CHECK(is_near(test.of("reciprocal", z) * z, 1.0, tolerance));
    CHECK(is_near(std::exp(test.of("log", z)), z, tolerance));
    CHECK(is_near(test.of("log2", z) * std::log(2.0), test.of("log", z), tolerance));
    CHECK(is_near(test.of("log10", z) * std::log(10.0), test.of("log", z), tolerance));
    CHECK(is_near(test.of("log1p", z), test.of("log", z + 1.0), tolerance));
    CHECK(is_near(test.of("sigmoid", z) * (1.0 + std::exp(-z)), 1.0, tolerance));
  }
}

}  // namespace

TEST_CASE("portable: functions of complex numbers") {
  check_functions<float>(1e-6);
  check_functions<double>(1e-14);
}

TEST_CASE("portable: functions of complex numbers at the ends") {
  ComplexTest<float> test;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(test.of("tanh", {100, 0.5}) == std::complex<double>(1, 0));
  CHECK(test.of("tan", {0.5, -100}) == std::complex<double>(0, -1));
  CHECK(test.of("log2", {0, 0}).real() == -infinity);
  CHECK(test.of("log2", {0, 0}).imag() == 0);
  CHECK(test.of("log10", {-1, 0}).real() == 0);
  CHECK(is_near(test.of("log1p", {1e20, 0}), 46.05170185988091, 1e-6));
  CHECK(is_near(test.of("log1p", {1e-20, 0}) * 1e20, 1.0, 1e-6));
  CHECK(is_near(test.of("reciprocal", {0, 1e-30}) * 1e-30, {0, -1}, 1e-6));
  CHECK(std::isnan(test.of("reciprocal", {0, 0}).real()));
  CHECK(test.of("asin", {2, 0}).imag() > 0);  // both sides of the cut
  CHECK(test.of("asin", {2, -0.0}).imag() < 0);
}

TEST_CASE("portable: powers of complex numbers") {
  ComplexTest<double> test;
  const auto power = [&](const char* overload, EValue base, EValue exponent) {
    CHECK(test.run(complex_form_ops, std::string("aten.pow.") + overload, {base, exponent}) == ErrorCode::ok);
    CHECK(test.dtype() == ScalarType::complex128);
    return test.result(0);
  };
  const std::complex<double> z{-2, 1};
  for (const double exponent : {0.0, 2.0, 3.0, -1.0, -2.0, 0.5, -0.5, 2.5}) {
    CAPTURE(exponent);
    CHECK(is_near(power("Tensor_Scalar", test.numbers({z}), exponent), std::pow(z, exponent), 1e-14));
  }
  CHECK(power("Tensor_Scalar", test.numbers({0}), 0) == 1.0);
  CHECK(is_near(power("Tensor_Tensor", test.numbers({z}), test.numbers({{0.5, 2}})),
                std::pow(z, std::complex<double>(0.5, 2)), 1e-14));
  CHECK(is_near(power("Scalar", 2, test.numbers({z})), std::pow(2.0, z), 1e-14));
  CHECK(power("Tensor_Tensor", test.numbers({0}), test.numbers({2})) == 0.0);
}
