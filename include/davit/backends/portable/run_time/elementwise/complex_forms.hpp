// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>

#include "davit/backends/portable/run_time/elementwise/binary.hpp"
#include "davit/backends/portable/run_time/elementwise/complex.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/kernels/elementwise.hpp"
#include "davit/kernels/functions.hpp"
#include "davit/program/operators/binary.hpp"

namespace davit::portable_kernels::detail {

/// Functions of complex numbers with their own kernel; others are composed of these and of real ones.
enum class ComplexFunction : std::uint8_t {
  acos,
  acosh,
  asin,
  asinh,
  atan,
  atanh,
  cos,
  cosh,
  log,
  log10,
  log1p,
  log2,
  reciprocal,
  rsqrt,
  sigmoid,
  sin,
  sinh,
  sqrt,
  tan,
  tanh
};

/// 1 / z; NaN for zero and infinities, as in torch.
[[nodiscard]] inline std::complex<double> complex_reciprocal(std::complex<double> z) noexcept {
  const double square = z.real() * z.real() + z.imag() * z.imag();
  return {z.real() / square, -z.imag() / square};
}
/// Source: for log1p, c10_complex_math::log1p; for the others, the functions of std::complex.
[[nodiscard]] inline std::complex<double> complex_value(ComplexFunction function, std::complex<double> z) noexcept {
  constexpr double per_log2 = 1.4426950408889634, per_log10 = 0.4342944819032518;
  switch (function) {
    case ComplexFunction::acos: return std::acos(z);
    case ComplexFunction::acosh: return std::acosh(z);
    case ComplexFunction::asin: return std::asin(z);
    case ComplexFunction::asinh: return std::asinh(z);
    case ComplexFunction::atan: return std::atan(z);
    case ComplexFunction::atanh: return std::atanh(z);
    case ComplexFunction::cos: return std::cos(z);
    case ComplexFunction::cosh: return std::cosh(z);
    case ComplexFunction::log: return std::log(z);
    case ComplexFunction::log10: return std::log(z) * per_log10;
    case ComplexFunction::log1p: {
      const double angle = std::arg(z + 1.0);
      if (std::abs(z) < 0.5)
        return {std::log1p(z.real() * (2 + z.real()) + z.imag() * z.imag()) / 2,
                angle};  // avoids rounding a sum with 1
      return {std::log(std::abs(z + 1.0)), angle};
    }
    case ComplexFunction::log2: return std::log(z) * per_log2;
    case ComplexFunction::reciprocal: return complex_reciprocal(z);
    case ComplexFunction::rsqrt: return complex_reciprocal(std::sqrt(z));
    case ComplexFunction::sigmoid: return 1.0 / (1.0 + std::exp(-z));
    case ComplexFunction::sin: return std::sin(z);
    case ComplexFunction::sinh: return std::sinh(z);
    case ComplexFunction::sqrt: return std::sqrt(z);
    case ComplexFunction::tan: return std::tan(z);
    case ComplexFunction::tanh: break;
  }
  return std::tanh(z);
}
/// Source: at::pow, which computes some exponents that are numbers by products, quotients and roots.
[[nodiscard]] inline std::complex<double> complex_power(std::complex<double> z, std::complex<double> exponent,
                                                        bool is_number) noexcept {
  if (!is_number) return std::pow(z, exponent);
  if (exponent == 0.0) return 1.0;
  if (exponent == 2.0) return z * z;
  if (exponent == 3.0) return z * z * z;
  if (exponent == -1.0) return complex_reciprocal(z);
  if (exponent == -2.0) return complex_reciprocal(z * z);
  if (exponent == 0.5) return std::sqrt(z);
  if (exponent == -0.5) return complex_reciprocal(std::sqrt(z));
  return std::pow(z, exponent);
}

/// Computes n floats or doubles, two per complex number, in double.
template <class T>
void complex_values(const void* const* in, void* out, std::int64_t n, kernels::Parameters& parameters) {
  const auto* const x = static_cast<const T*>(in[0]);
  const auto function = static_cast<ComplexFunction>(parameters.integers[0]);
  for (std::int64_t i = 0; i < n; i += 2) {
    const std::complex<double> value = complex_value(function, {x[i], x[i + 1]});
    static_cast<T*>(out)[i] = static_cast<T>(value.real());
    static_cast<T*>(out)[i + 1] = static_cast<T>(value.imag());
  }
}
inline constexpr kernels::Loops complex_value_loops{complex_values<float>, complex_values<double>, nullptr};
/// Powers; the first integer parameter says whether the exponent is a number.
template <class T>
void complex_powers(const void* const* in, void* out, std::int64_t n, kernels::Parameters& parameters) {
  const auto* const x = static_cast<const T*>(in[0]);
  const auto* const y = static_cast<const T*>(in[1]);
  for (std::int64_t i = 0; i < n; i += 2) {
    const std::complex<double> value = complex_power({x[i], x[i + 1]}, {y[i], y[i + 1]}, parameters.integers[0] != 0);
    static_cast<T*>(out)[i] = static_cast<T>(value.real());
    static_cast<T*>(out)[i + 1] = static_cast<T>(value.imag());
  }
}
inline constexpr kernels::Loops complex_power_loops{complex_powers<float>, complex_powers<double>, nullptr};

/// Computes output 0, the function of each complex number of argument 0.
[[nodiscard, gnu::noinline]] inline ErrorCode complex_function(KernelCall& call, ComplexFunction function) {
  const TensorView& x = call.tensor(0);
  return map_complex(call, x.dtype, x, x, x.dtype, complex_value_loops,
                     {.integers = {static_cast<std::int64_t>(function)}});
}

}  // namespace davit::portable_kernels::detail

/// Complex forms of operators of other groups.
namespace davit::portable_kernels {

namespace detail {

/// Computes output 0 with the loop over two operands, at least one of them complex.
[[nodiscard, gnu::noinline]] inline ErrorCode complex_arithmetic(KernelCall& call, const Loops& loops,
                                                                 const Parameters& parameters = {}) {
  const Operand a(call.arg(0));
  const Operand b(call.arg(1));
  if (!a.present() || !b.present()) return call.refuse(ErrorCode::invalid_argument, "an operand is missing");
  const ScalarType type = ResultType().add(call.arg(0)).add(call.arg(1)).get();
  if (!is_complex(type)) return call.refuse(ErrorCode::invalid_dtype, "no operand is complex, as the program says");
  return map_complex(call, type, a.view(), b.view(), type, loops, parameters);
}
[[nodiscard]] inline ErrorCode complex_pow(KernelCall& call) {
  return complex_arithmetic(call, complex_power_loops, {.integers = {call.arg(1).is_number()}});
}
/// a + alpha * b (or minus); alpha is the third argument, and real.
[[nodiscard]] inline ErrorCode complex_add(KernelCall& call, bool minus) {
  const EValue alpha = call.arg_count() > 2 ? call.arg(2) : EValue(1);
  if (!alpha.is_number()) return call.refuse(ErrorCode::invalid_argument, "alpha must be a number");
  if (alpha.number() == 1)
    return complex_arithmetic(
        call, minus ? kernels::number_loops<kernels::Subtract, 2> : kernels::number_loops<kernels::Add, 2>);
  const ScalarType type = ResultType().add(call.arg(0)).add(call.arg(1)).get();
  return complex_arithmetic(call, kernels::number_loops<kernels::AddScaled, 2>, scale_of_sum(alpha, type, minus));
}
/// A sum, product or quotient.
[[nodiscard]] inline ErrorCode complex_binary(KernelCall& call, const operators::BinaryOperator& op) {
  if (op.function == operators::BinaryFunction::multiply) return complex_arithmetic(call, complex_product_loops);
  if (op.function == operators::BinaryFunction::divide) return complex_arithmetic(call, complex_quotient_loops);
  return complex_add(call, op.function == operators::BinaryFunction::subtract);
}
/// False for maxima and minima: complex numbers have no order.
[[nodiscard]] constexpr bool is_no_extreme(const operators::BinaryOperator& op) noexcept {
  return op.function != operators::BinaryFunction::maximum && op.function != operators::BinaryFunction::minimum;
}

template <ComplexFunction function>
[[nodiscard]] ErrorCode complex_op(KernelCall& call) {
  if (!is_complex(call.tensor(0).dtype))
    return call.refuse(ErrorCode::invalid_dtype, "the operand is not complex, as the program says");
  return complex_function(call, function);
}
/// Absolute values.
[[nodiscard]] inline ErrorCode complex_absolute(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  if (!is_whole_complex(x.dtype))
    return call.refuse(ErrorCode::invalid_dtype, "the operand is not complex64 or complex128");
  return map_complex(call, real_of(x.dtype), x, x, x.dtype, complex_distance_loops);
}

}  // namespace detail

inline constexpr auto complex_form_ops = joined_rows(
    rows_of<operators::binary_operators, detail::complex_binary, detail::is_no_extreme>({.takes_numbers = true}),
    std::to_array<OpRow>({
        {"aten.abs.default", detail::complex_absolute},
        {"aten.pow.Scalar", detail::complex_pow, Aliasing::none, true},
        {"aten.pow.Tensor_Scalar", detail::complex_pow, Aliasing::none, true},
        {"aten.pow.Tensor_Tensor", detail::complex_pow, Aliasing::none, true},
        {"aten.acos.default", detail::complex_op<detail::ComplexFunction::acos>},
        {"aten.acosh.default", detail::complex_op<detail::ComplexFunction::acosh>},
        {"aten.asin.default", detail::complex_op<detail::ComplexFunction::asin>},
        {"aten.asinh.default", detail::complex_op<detail::ComplexFunction::asinh>},
        {"aten.atan.default", detail::complex_op<detail::ComplexFunction::atan>},
        {"aten.atanh.default", detail::complex_op<detail::ComplexFunction::atanh>},
        {"aten.cos.default", detail::complex_op<detail::ComplexFunction::cos>},
        {"aten.cosh.default", detail::complex_op<detail::ComplexFunction::cosh>},
        {"aten.log.default", detail::complex_op<detail::ComplexFunction::log>},
        {"aten.log10.default", detail::complex_op<detail::ComplexFunction::log10>},
        {"aten.log1p.default", detail::complex_op<detail::ComplexFunction::log1p>},
        {"aten.log2.default", detail::complex_op<detail::ComplexFunction::log2>},
        {"aten.reciprocal.default", detail::complex_op<detail::ComplexFunction::reciprocal>},
        {"aten.rsqrt.default", detail::complex_op<detail::ComplexFunction::rsqrt>},
        {"aten.sigmoid.default", detail::complex_op<detail::ComplexFunction::sigmoid>},
        {"aten.sin.default", detail::complex_op<detail::ComplexFunction::sin>},
        {"aten.sinh.default", detail::complex_op<detail::ComplexFunction::sinh>},
        {"aten.sqrt.default", detail::complex_op<detail::ComplexFunction::sqrt>},
        {"aten.tan.default", detail::complex_op<detail::ComplexFunction::tan>},
        {"aten.tanh.default", detail::complex_op<detail::ComplexFunction::tanh>},
    }));

}  // namespace davit::portable_kernels
