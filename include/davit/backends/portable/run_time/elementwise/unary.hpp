// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "davit/backends/portable/run_time/elementwise/binary.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/kernels/functions.hpp"
#include "davit/kernels/special_functions.hpp"
#include "davit/program/operators/activation.hpp"

namespace davit::portable_kernels {

namespace detail {

/// A function of reals: integers and bools are computed and returned in float32.
[[nodiscard, gnu::noinline]] inline ErrorCode real_function(KernelCall& call, const Loops& loops,
                                                            Parameters parameters = {}) {
  const TensorView& x = call.tensor(0);
  const ScalarType type = float_type(x.dtype);
  if (const ErrorCode code = call.make(0, type, x.sizes()); code != ErrorCode::ok) return code;
  return run_loops(call, std::array{&x}, type, loops, parameters);
}

/// A function that keeps the dtype.
[[nodiscard, gnu::noinline]] inline ErrorCode same_type_function(KernelCall& call, const Loops& loops,
                                                                 Parameters parameters = {}) {
  const TensorView& x = call.tensor(0);
  if (const ErrorCode code = call.make_like(0, x); code != ErrorCode::ok) return code;
  return run_loops(call, std::array{&x}, x.dtype, loops, parameters);
}

/// A predicate of each element: the result is bool.
[[nodiscard, gnu::noinline]] inline ErrorCode predicate(KernelCall& call, const Loops& loops) {
  const TensorView& x = call.tensor(0);
  if (const ErrorCode code = call.make(0, ScalarType::bool_, x.sizes()); code != ErrorCode::ok) return code;
  Parameters none;
  return run_loops(call, std::array{&x}, x.dtype, loops, none, true);
}
template <template <class> class F>
[[nodiscard]] ErrorCode predicate(KernelCall& call) {
  return predicate(call, kernels::truth_loops<F, 1>);
}

template <template <class> class F>
[[nodiscard]] ErrorCode real_op(KernelCall& call) {
  return real_function(call, kernels::float_loops<F, 1>);
}
template <template <class> class F>
[[nodiscard]] ErrorCode same_type_op(KernelCall& call) {
  return same_type_function(call, kernels::number_loops<F, 1>);
}
/// Rounding functions; integers and bools stay unchanged.
[[nodiscard, gnu::noinline]] inline ErrorCode rounding(KernelCall& call, const Loops& loops) {
  const TensorView& x = call.tensor(0);
  if (kernels::compute_of(x.dtype) != kernels::Compute::int64) return same_type_function(call, loops);
  if (const ErrorCode code = call.make_like(0, x); code != ErrorCode::ok) return code;
  kernels::move_in_parallel(x, call.output(0));
  return ErrorCode::ok;
}
template <template <class> class F>
[[nodiscard]] ErrorCode rounding(KernelCall& call) {
  return rounding(call, kernels::float_loops<F, 1>);
}
[[nodiscard]] inline ErrorCode negate(KernelCall& call) {
  if (call.tensor(0).dtype == ScalarType::bool_)
    return call.refuse(ErrorCode::invalid_dtype, "neg does not take bools");
  return same_type_op<kernels::Negate>(call);
}
/// The square in the tensor's dtype, for bools in int64. Source: at::square.
[[nodiscard]] inline ErrorCode square(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const ScalarType type = x.dtype == ScalarType::bool_ ? ScalarType::int64 : x.dtype;
  if (const ErrorCode code = call.make(0, type, x.sizes()); code != ErrorCode::ok) return code;
  Parameters none;
  return run_loops(call, std::array{&x}, type, kernels::number_loops<kernels::Square, 1>, none);
}
[[nodiscard]] inline ErrorCode bitwise_not(KernelCall& call) {
  const ScalarType type = call.tensor(0).dtype;
  if (!is_integral(type)) return call.refuse(ErrorCode::invalid_dtype, "bitwise_not takes integers and bools only");
  return same_type_function(call, kernels::integer_loops<kernels::BitNot, 1>,
                            {.integers = {type == ScalarType::bool_ ? 1 : -1}});
}
/// gelu, leaky_relu and elu.
[[nodiscard]] inline ErrorCode activation(KernelCall& call, const operators::ActivationOperator& op) {
  operators::ActivationView view;
  if (const ErrorCode code = answer(call, operators::read_activation(KernelArguments(call), op, view));
      code != ErrorCode::ok)
    return code;
  const auto& [first, second, third] = view.numbers;
  if (op.function == operators::ActivationFunction::leaky_relu)
    return real_function(call, kernels::float_loops<kernels::LeakyRelu, 1>, {.reals = {first}});
  if (op.function == operators::ActivationFunction::elu)
    return real_function(call, kernels::float_loops<kernels::Elu, 1>, {.reals = {first, second, third}});
  const TensorView& x = call.tensor(0);
  if (!is_floating(x.dtype)) return call.refuse(ErrorCode::invalid_dtype, "gelu takes floats only");
  if (view.function == operators::ActivationFunction::gelu_tanh) return real_op<kernels::GeluTanh>(call);
  // torch also requires that x is dense; strides here depend on the neighbouring partitions
  const bool overflows = (x.dtype == ScalarType::float32 || x.dtype == ScalarType::bfloat16) && x.numel() > 1;
  return real_function(call, kernels::float_loops<kernels::Gelu, 1>, {.integers = {overflows}});
}
[[nodiscard]] constexpr bool is_no_power(const operators::ActivationOperator& op) noexcept {
  return op.function != operators::ActivationFunction::power;
}
[[nodiscard]] inline ErrorCode leaky_relu(KernelCall& call) {
  return activation(call, operators::row_of(operators::activation_operators, "aten.leaky_relu.default"));
}
/// The nearest number in [low, high]; the bounds are rounded to the tensor's dtype, unless that is a 16-bit float.
[[nodiscard, gnu::noinline]] inline ErrorCode clamp_between(KernelCall& call, const EValue& low, const EValue& high) {
  const ScalarType type = call.tensor(0).dtype;
  Parameters parameters;
  set_number(parameters, 0, low, type);
  set_number(parameters, 1, high, type);
  if (is_integral(type)) {
    for (std::int64_t& bound : parameters.integers) {
      std::int64_t stored = 0;
      (void)kernels::store_element(bound, type, &stored);
      (void)kernels::load_element(&stored, type, bound);
    }
  }
  return same_type_function(call, kernels::number_loops<kernels::Hardtanh, 1>, parameters);
}
[[nodiscard]] inline ErrorCode hardtanh(KernelCall& call) {
  if (!call.arg(1).is_number() || !call.arg(2).is_number())
    return call.refuse(ErrorCode::invalid_argument, "the bounds must be numbers");
  return clamp_between(call, call.arg(1), call.arg(2));
}
[[nodiscard]] inline ErrorCode relu6(KernelCall& call) { return clamp_between(call, 0, 6); }

}  // namespace detail

inline constexpr auto elementwise_unary_ops =
    joined_rows(rows_of<operators::activation_operators, detail::activation, detail::is_no_power>(),
                std::to_array<OpRow>({
                    {"aten.abs.default", detail::same_type_op<kernels::Absolute>},
                    {"aten.acos.default", detail::real_op<kernels::Acos>},
                    {"aten.acosh.default", detail::real_op<kernels::Acosh>},
                    {"aten.asin.default", detail::real_op<kernels::Asin>},
                    {"aten.asinh.default", detail::real_op<kernels::Asinh>},
                    {"aten.atan.default", detail::real_op<kernels::Atan>},
                    {"aten.atanh.default", detail::real_op<kernels::Atanh>},
                    {"aten.bitwise_not.default", detail::bitwise_not},
                    {"aten.ceil.default", detail::rounding<kernels::Ceil>},
                    {"aten.cos.default", detail::real_op<kernels::Cos>},
                    {"aten.cosh.default", detail::real_op<kernels::Cosh>},
                    {"aten.digamma.default", detail::real_op<kernels::Digamma>},
                    {"aten.erf.default", detail::real_op<kernels::Erf>},
                    {"aten.erfc.default", detail::real_op<kernels::Erfc>},
                    {"aten.erfinv.default", detail::real_op<kernels::InverseErf>},
                    {"aten.exp.default", detail::real_op<kernels::Exp>},
                    {"aten.expm1.default", detail::real_op<kernels::Expm1>},
                    {"aten.floor.default", detail::rounding<kernels::Floor>},
                    {"aten.hardsigmoid.default", detail::real_op<kernels::Hardsigmoid>},
                    {"aten.hardswish.default", detail::real_op<kernels::Hardswish>},
                    {"aten.hardtanh.default", detail::hardtanh},
                    {"aten.i0.default", detail::real_op<kernels::BesselI0>},
                    {"aten.isinf.default", detail::predicate<kernels::IsInf>},
                    {"aten.isnan.default", detail::predicate<kernels::IsNan>},
                    {"aten.lgamma.default", detail::real_op<kernels::LogGamma>},
                    {"aten.log.default", detail::real_op<kernels::Log>},
                    {"aten.log10.default", detail::real_op<kernels::Log10>},
                    {"aten.log1p.default", detail::real_op<kernels::Log1p>},
                    {"aten.log2.default", detail::real_op<kernels::Log2>},
                    {"aten.logical_not.default", detail::predicate<kernels::LogicalNot>},
                    {"aten.mish.default", detail::real_op<kernels::Mish>},
                    {"aten.neg.default", detail::negate},
                    {"aten.reciprocal.default", detail::real_op<kernels::Reciprocal>},
                    {"aten.relu.default", detail::same_type_op<kernels::Relu>},
                    {"aten.relu6.default", detail::relu6},
                    {"aten.round.default", detail::rounding<kernels::Round>},
                    {"aten.rsqrt.default", detail::real_op<kernels::Rsqrt>},
                    {"aten.sigmoid.default", detail::real_op<kernels::Sigmoid>},
                    {"aten.sign.default", detail::same_type_op<kernels::Sign>},
                    {"aten.silu.default", detail::real_op<kernels::Silu>},
                    {"aten.sin.default", detail::real_op<kernels::Sin>},
                    {"aten.sinh.default", detail::real_op<kernels::Sinh>},
                    {"aten.special_erfcx.default", detail::real_op<kernels::ScaledErfc>},
                    {"aten.special_ndtri.default", detail::real_op<kernels::NormalQuantile>},
                    {"aten.sqrt.default", detail::real_op<kernels::Sqrt>},
                    {"aten.square.default", detail::square},
                    {"aten.tan.default", detail::real_op<kernels::Tan>},
                    {"aten.tanh.default", detail::real_op<kernels::Tanh>},
                    {"aten.trunc.default", detail::rounding<kernels::Trunc>},
                }));

}  // namespace davit::portable_kernels
