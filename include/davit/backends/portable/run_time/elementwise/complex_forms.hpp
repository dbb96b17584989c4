// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "davit/backends/portable/run_time/elementwise/binary.hpp"
#include "davit/backends/portable/run_time/elementwise/complex.hpp"
#include "davit/backends/portable/run_time/elementwise/complex_functions.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/kernels/elementwise.hpp"
#include "davit/kernels/functions.hpp"
#include "davit/program/operators/binary.hpp"

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
