// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"
#include "davit/core/overload_rows.hpp"
#include "davit/kernels/arithmetic.hpp"
#include "davit/kernels/elementwise.hpp"
#include "davit/kernels/functions.hpp"

namespace davit::portable_kernels {

namespace detail {

using kernels::Loops;
using kernels::Parameters;
using Operands = std::span<const TensorView* const>;

/// Computes output 0 with loops over the operands as tensors of dtype `type`, broadcast to it. The loops write the
/// dtype of their computation, which is converted, or, with `truth`, the output's bool. `exact_number`: a second
/// operand of one element is not rounded to 16 bits.
[[nodiscard, gnu::noinline]] inline ErrorCode run_loops(KernelCall& call, Operands operands, ScalarType type,
                                                        const Loops& loops, Parameters& parameters, bool truth = false,
                                                        bool exact_number = false) {
  const kernels::Compute compute = kernels::compute_of(type);
  const kernels::BlockLoop loop = loops.of(compute);
  if (loop == nullptr) return ErrorCode::invalid_dtype;
  const TensorView& out = call.output(0);
  std::array<kernels::Operand, 3> all;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool exact = exact_number && i == 1 && operands[i]->numel() == 1 && is_floating(type) && size_of(type) == 2;
    all[i] = {operands[i], kernels::Conversion::into_compute(operands[i]->dtype, exact ? ScalarType::float32 : type)};
    if (!all[i].conversion.ok) return ErrorCode::invalid_dtype;
  }
  const ScalarType written = truth ? out.dtype : kernels::scalar_type_of_compute(compute);
  kernels::map_blocks({all.data(), operands.size()}, out, kernels::Conversion::between(written, out.dtype), loop,
                      parameters);
  if (parameters.code == ErrorCode::out_of_range)
    return call.refuse(ErrorCode::failed, "division of an integer by zero");
  return parameters.code;
}

/// Makes output 0 in the broadcast sizes of a and b.
[[nodiscard, gnu::noinline]] inline ErrorCode make_broadcast(KernelCall& call, ScalarType dtype, const TensorView& a,
                                                             const TensorView& b) {
  Sizes sizes;
  if (!broadcast(a.sizes(), b.sizes(), sizes))
    return call.refuse(ErrorCode::invalid_shape, "the sizes of the operands do not broadcast");
  return call.make(0, dtype, sizes);
}

enum class Numbers : std::uint8_t { as_is, to_float, integral_only, no_bool };

/// A binary operator whose result has the operands' common dtype (or, if requested, float for integers).
[[nodiscard, gnu::noinline]] inline ErrorCode arithmetic(KernelCall& call, Numbers numbers, const Loops& loops,
                                                         Parameters parameters = {}, bool exact_number = false) {
  const Operand a(call.arg(0));
  const Operand b(call.arg(1));
  if (!a.present() || !b.present()) return call.refuse(ErrorCode::invalid_argument, "an operand is missing");
  ScalarType type = ResultType().add(call.arg(0)).add(call.arg(1)).get();
  if (numbers == Numbers::to_float) type = float_type(type);
  if (numbers == Numbers::integral_only && !is_integral(type))
    return call.refuse(ErrorCode::invalid_dtype, "this operator takes integers and bools only");
  if (numbers == Numbers::no_bool && type == ScalarType::bool_)
    return call.refuse(ErrorCode::invalid_dtype, "this operator does not take bools");
  if (const ErrorCode code = make_broadcast(call, type, a.view(), b.view()); code != ErrorCode::ok) return code;
  return run_loops(call, std::array{&a.view(), &b.view()}, type, loops, parameters, false, exact_number);
}

/// A comparison or logical operator: operands in their common dtype, a bool result.
[[nodiscard, gnu::noinline]] inline ErrorCode comparison(KernelCall& call, const Loops& loops) {
  const Operand a(call.arg(0));
  const Operand b(call.arg(1));
  if (!a.present() || !b.present()) return call.refuse(ErrorCode::invalid_argument, "an operand is missing");
  const ScalarType type = ResultType().add(call.arg(0)).add(call.arg(1)).get();
  if (const ErrorCode code = make_broadcast(call, ScalarType::bool_, a.view(), b.view()); code != ErrorCode::ok)
    return code;
  Parameters none;
  return run_loops(call, std::array{&a.view(), &b.view()}, type, loops, none, true);
}

template <template <class> class F>
[[nodiscard]] ErrorCode number_op(KernelCall& call) {
  return arithmetic(call, Numbers::as_is, kernels::number_loops<F, 2>);
}
/// A product or quotient: torch does not round a number by which halves are multiplied or divided. Source:
/// binary_kernel_reduced_floating_vec_opmath_support in ATen's BinaryOpsKernel.cpp.
[[nodiscard]] inline ErrorCode by_exact_number(KernelCall& call, Numbers numbers, const Loops& loops) {
  return arithmetic(call, numbers, loops, {}, true);
}
template <template <class> class F>
[[nodiscard]] ErrorCode bitwise(KernelCall& call) {
  return arithmetic(call, Numbers::integral_only, kernels::integer_loops<F, 2>);
}
template <template <class> class F>
[[nodiscard]] ErrorCode shift(KernelCall& call) {
  const ScalarType type = ResultType().add(call.arg(0)).add(call.arg(1)).get();
  if (type == ScalarType::bool_) return call.refuse(ErrorCode::invalid_dtype, "this operator does not take bools");
  return arithmetic(call, Numbers::integral_only, kernels::integer_loops<F, 2>,
                    {.integers = {static_cast<std::int64_t>(size_of(type)) * 8}});
}
[[nodiscard]] inline ErrorCode mul(KernelCall& call) {
  return by_exact_number(call, Numbers::as_is, kernels::number_loops<kernels::Multiply, 2>);
}
template <template <class> class F>
[[nodiscard]] ErrorCode compare(KernelCall& call) {
  return comparison(call, kernels::truth_loops<F, 2>);
}

/// Sets a Scalar argument for the loops; `type` is the dtype of the computation.
[[gnu::noinline]] inline void set_number(Parameters& parameters, std::size_t i, const EValue& value,
                                         ScalarType type) noexcept {
  parameters.reals[i] = value.number();
  parameters.integers[i] = type == ScalarType::bool_ ? value.number() != 0 : value.integer();
}

/// a + alpha * b in 16 bits, rounded as `kernels::rounded_once`, for dense tensors: torch rounds by strides, which here
/// depend on the neighbouring partitions.
[[nodiscard, gnu::noinline]] inline ErrorCode add_scaled_halves(KernelCall& call, ScalarType type, double alpha) {
  const Operand a(call.arg(0));
  const Operand b(call.arg(1));
  if (!a.present() || !b.present()) return call.refuse(ErrorCode::invalid_argument, "an operand is missing");
  if (const ErrorCode code = make_broadcast(call, type, a.view(), b.view()); code != ErrorCode::ok) return code;
  const std::array views{&a.view(), &b.view()};
  ComputeBuffers<float> buffers(call);
  const std::array ids{buffers.read(a.view()), buffers.read(b.view())};
  const auto out_id = buffers.write(0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  std::array<Sizes, 2> steps;
  for (std::size_t k = 0; k < 2; ++k) {
    const Sizes dense = buffers.strides(ids[k]);
    steps[k] = kernels::broadcast_strides({nullptr, views[k]->sizes_data, dense.values.data(), views[k]->rank},
                                          call.output(0).sizes());
  }
  const Walk rows = kernels::walk_over(call.output(0).sizes(), steps);
  const auto loaded = [&](std::size_t k, const float* from) {
    return views[k]->dtype == type ? *from : static_cast<float>(rounded_to(type, double{*from}));
  };
  const auto factor = static_cast<float>(alpha);
  const std::int64_t n = rows.sizes[0], a_step = rows.strides[0][0], b_step = rows.strides[1][0];
  const std::int64_t whole = a_step == 0 && b_step == 0 ? 0 : n / kernels::rounded_once * kernels::rounded_once;
  float* to = buffers.out(out_id);
  if (call.output(0).numel() == 0) return ErrorCode::ok;
  rows.for_each_row([&](const auto& at) {
    const float* const x = buffers.in(ids[0]) + at[0];
    const float* const y = buffers.in(ids[1]) + at[1];
    for (std::int64_t i = 0; i < n; ++i, ++to) {
      const float product = factor * loaded(1, y + i * b_step);
      *to = loaded(0, x + i * a_step) + (i < whole ? product : static_cast<float>(rounded_to(type, double{product})));
    }
  });
  return buffers.finish();
}
/// alpha of add and sub, the third argument, for sums in this dtype: rounded first in 16 bits, negated for sub. Source:
/// add_kernel of ATen.
[[nodiscard, gnu::noinline]] inline Parameters scale_of_sum(const EValue& alpha, ScalarType type, bool minus) {
  Parameters parameters;
  set_number(parameters, 0, alpha, type);
  parameters.reals[0] = rounded_to(type, parameters.reals[0]);
  if (minus) {
    parameters.reals[0] = -parameters.reals[0];
    parameters.integers[0] = kernels::wrap_sub<std::int64_t>(0, parameters.integers[0]);
  }
  return parameters;
}
/// a + alpha * b (or minus).
[[nodiscard, gnu::noinline]] inline ErrorCode add_scaled(KernelCall& call, bool minus) {
  const EValue alpha = call.arg_count() > 2 ? call.arg(2) : EValue(1);
  if (!alpha.is_number()) return call.refuse(ErrorCode::invalid_argument, "alpha must be a number");
  if (alpha.number() == 1)
    return arithmetic(call, Numbers::as_is,
                      minus ? kernels::number_loops<kernels::Subtract, 2> : kernels::number_loops<kernels::Add, 2>);
  const ScalarType type = ResultType().add(call.arg(0)).add(call.arg(1)).get();
  const Parameters parameters = scale_of_sum(alpha, type, minus);
  if (type == ScalarType::float16 || type == ScalarType::bfloat16)
    return add_scaled_halves(call, type, parameters.reals[0]);
  return arithmetic(call, Numbers::as_is, kernels::number_loops<kernels::AddScaled, 2>, parameters);
}
template <bool Minus>
[[nodiscard]] ErrorCode add_scaled(KernelCall& call) {
  return add_scaled(call, Minus);
}
[[nodiscard]] inline ErrorCode divide(KernelCall& call) {
  const std::string_view mode = call.arg_count() > 2 ? call.string(2) : std::string_view{};
  if (mode == "floor") return by_exact_number(call, Numbers::as_is, kernels::number_loops<kernels::FloorDivide, 2>);
  if (mode == "trunc") return by_exact_number(call, Numbers::as_is, kernels::number_loops<kernels::TruncDivide, 2>);
  if (!mode.empty()) return call.refuse(ErrorCode::invalid_argument, "rounding_mode must be None, 'floor' or 'trunc'");
  return by_exact_number(call, Numbers::to_float, kernels::float_loops<kernels::Divide, 2>);
}
[[nodiscard]] inline ErrorCode remainder(KernelCall& call) {
  return arithmetic(call, Numbers::no_bool, kernels::number_loops<kernels::Remainder, 2>);
}
[[nodiscard]] inline ErrorCode fmod(KernelCall& call) {
  return arithmetic(call, Numbers::no_bool, kernels::number_loops<kernels::Fmod, 2>);
}
[[nodiscard]] inline ErrorCode pow(KernelCall& call) {
  if (call.arg(1).is_number() && !call.arg(1).is_float() && call.arg(1).integer() < 0 && call.is_tensor(0) &&
      is_integral(call.tensor(0).dtype))
    return call.refuse(ErrorCode::invalid_argument, "integers to negative integer powers are not allowed");
  const bool floats = is_floating(ResultType().add(call.arg(0)).add(call.arg(1)).get());
  if (floats && call.arg(0).is_number() && call.arg(0).number() == 2)
    return arithmetic(call, Numbers::as_is, kernels::float_loops<kernels::PowerOfTwo, 2>);
  const double exponent = call.arg(1).is_number() ? call.arg(1).number() : 0;
  const bool half = call.is_tensor(0) && call.tensor(0).dtype == ScalarType::float16;
  if (std::fabs(exponent) == 0.5 && !half)  // torch takes the root, except for float16; it differs at -0 and -inf
    return arithmetic(
        call, Numbers::as_is,
        exponent > 0 ? kernels::float_loops<kernels::Root, 2> : kernels::float_loops<kernels::InverseRoot, 2>);
  if (floats && (exponent == 2 || exponent == 3 || exponent == -1 || exponent == -2))
    return arithmetic(call, Numbers::as_is, kernels::float_loops<kernels::SmallPower, 2>,
                      {.integers = {static_cast<std::int64_t>(exponent)}});
  return number_op<kernels::Power>(call);
}
[[nodiscard]] inline ErrorCode maximum(KernelCall& call) { return number_op<kernels::Maximum>(call); }
[[nodiscard]] inline ErrorCode minimum(KernelCall& call) { return number_op<kernels::Minimum>(call); }

template <template <class> class F>
[[nodiscard]] ErrorCode real_pair(KernelCall& call) {
  return arithmetic(call, Numbers::to_float, kernels::float_loops<F, 2>);
}

/// clamp with bounds that are numbers, tensors, or absent. A NaN number as the only bound leaves x unchanged; beside
/// another bound, or in a tensor, NaN wins. Source: clamp_out, clamp_min_scalar_kernel_impl of ATen.
[[nodiscard]] inline ErrorCode clamp(KernelCall& call) {
  const Operand x(call.arg(0));
  const auto bound_of = [&](std::size_t i) {
    const bool alone = call.arg(i).is_number() && std::isnan(call.arg(i).number()) && !call.has(3 - i);
    return alone ? Operand(EValue()) : Operand(call.arg(i));
  };
  const Operand low = bound_of(1);
  const Operand high = bound_of(2);
  if (!x.present()) return call.refuse(ErrorCode::invalid_argument, "clamp needs a tensor");
  const ScalarType type = ResultType().add(call.arg(0)).add(call.arg(1)).add(call.arg(2)).get();
  Sizes sizes(x.view().sizes());
  for (const Operand* bound : {&low, &high})
    if (bound->present() && !broadcast(sizes.span(), bound->view().sizes(), sizes))
      return call.refuse(ErrorCode::invalid_shape, "the bounds do not broadcast with the input");
  if (const ErrorCode code = call.make(0, type, sizes); code != ErrorCode::ok) return code;
  Parameters none;
  if (call.arg(1).is_number() && call.arg(2).is_number() &&
      (type == ScalarType::float32 || type == ScalarType::float64) && x.view().dtype == type) {
    Parameters bounds{.reals = {call.arg(1).number(), call.arg(2).number()}};
    return run_loops(call, std::array{&x.view()}, type, kernels::float_loops<kernels::Hardtanh, 1>, bounds);
  }
  if (low.present() && high.present())
    return run_loops(call, std::array{&x.view(), &low.view(), &high.view()}, type,
                     kernels::number_loops<kernels::Clamp, 3>, none);
  if (low.present())
    return run_loops(call, std::array{&x.view(), &low.view()}, type, kernels::number_loops<kernels::Maximum, 2>, none);
  const TensorView& bound = high.present() ? high.view() : x.view();  // without an upper bound x itself is one
  return run_loops(call, std::array{&x.view(), &bound}, type, kernels::number_loops<kernels::Minimum, 2>, none);
}

/// condition ? self : other, with broadcasting.
[[nodiscard]] inline ErrorCode where(KernelCall& call) {
  const Operand a(call.arg(1));
  const Operand b(call.arg(2));
  if (!call.is_tensor(0) || !a.present() || !b.present())
    return call.refuse(ErrorCode::invalid_argument, "where needs a condition and two operands");
  const TensorView& condition = call.tensor(0);
  if (condition.dtype != ScalarType::bool_ && condition.dtype != ScalarType::uint8)
    return call.refuse(ErrorCode::invalid_dtype, "the condition must be a bool tensor");
  const ScalarType type = ResultType().add(call.arg(1)).add(call.arg(2)).get();
  Sizes sizes;
  if (!broadcast(condition.sizes(), a.view().sizes(), sizes) || !broadcast(sizes.span(), b.view().sizes(), sizes))
    return call.refuse(ErrorCode::invalid_shape, "condition and operands do not broadcast");
  if (const ErrorCode code = call.make(0, type, sizes); code != ErrorCode::ok) return code;
  if (kernels::compute_of(type) == kernels::Compute::none) return ErrorCode::invalid_dtype;
  const std::array<kernels::Operand, 3> operands{
      {{&condition, kernels::Conversion::between(condition.dtype, condition.dtype)},
       {&a.view(), kernels::Conversion::between(a.view().dtype, type)},
       {&b.view(), kernels::Conversion::between(b.view().dtype, type)}}};
  if (!operands[1].conversion.ok || !operands[2].conversion.ok) return ErrorCode::invalid_dtype;
  constexpr std::array<kernels::BlockLoop, 4> by_width{
      kernels::select_loop<std::uint8_t>, kernels::select_loop<std::uint16_t>, kernels::select_loop<std::uint32_t>,
      kernels::select_loop<std::uint64_t>};
  Parameters none;
  kernels::map_blocks(operands, call.output(0), kernels::Conversion::between(type, type),
                      by_width[static_cast<std::size_t>(std::countr_zero(size_of(type)))], none);
  return ErrorCode::ok;
}

/// The overloads of a function of two operands that may be numbers.
template <davit::detail::FixedString name, davit::detail::FixedString... overloads>
[[nodiscard]] consteval auto pairs(Kernel kernel) {
  return overload_rows<name, overloads...>(OpRow{{}, kernel, Aliasing::none, true});
}

}  // namespace detail

inline constexpr auto elementwise_binary_ops =
    joined_rows(detail::pairs<"aten.add", "Scalar", "Tensor">(detail::add_scaled<false>),
                detail::pairs<"aten.sub", "Scalar", "Tensor">(detail::add_scaled<true>),
                detail::pairs<"aten.mul", "Scalar", "Tensor">(detail::mul),
                detail::pairs<"aten.div", "Scalar", "Scalar_mode", "Tensor", "Tensor_mode">(detail::divide),
                detail::pairs<"aten.remainder", "Scalar", "Tensor">(detail::remainder),
                detail::pairs<"aten.fmod", "Scalar", "Tensor">(detail::fmod),
                detail::pairs<"aten.pow", "Scalar", "Tensor_Scalar", "Tensor_Tensor">(detail::pow),
                detail::pairs<"aten.copysign", "Scalar", "Tensor">(detail::real_pair<kernels::CopySign>),
                detail::pairs<"aten.__lshift__", "Scalar", "Tensor">(detail::shift<kernels::ShiftLeft>),
                detail::pairs<"aten.bitwise_left_shift", "Scalar_Tensor", "Tensor", "Tensor_Scalar">(
                    detail::shift<kernels::ShiftLeft>),
                detail::pairs<"aten.__rshift__", "Scalar", "Tensor">(detail::shift<kernels::ShiftRight>),
                detail::pairs<"aten.bitwise_right_shift", "Scalar_Tensor", "Tensor", "Tensor_Scalar">(
                    detail::shift<kernels::ShiftRight>),
                detail::pairs<"aten.bitwise_and", "Scalar", "Tensor">(detail::bitwise<kernels::BitAnd>),
                detail::pairs<"aten.bitwise_or", "Scalar", "Tensor">(detail::bitwise<kernels::BitOr>),
                detail::pairs<"aten.bitwise_xor", "Scalar", "Tensor">(detail::bitwise<kernels::BitXor>),
                detail::pairs<"aten.eq", "Scalar", "Tensor">(detail::compare<kernels::Equal>),
                detail::pairs<"aten.ne", "Scalar", "Tensor">(detail::compare<kernels::NotEqual>),
                detail::pairs<"aten.lt", "Scalar", "Tensor">(detail::compare<kernels::Less>),
                detail::pairs<"aten.le", "Scalar", "Tensor">(detail::compare<kernels::LessEqual>),
                detail::pairs<"aten.gt", "Scalar", "Tensor">(detail::compare<kernels::Greater>),
                detail::pairs<"aten.ge", "Scalar", "Tensor">(detail::compare<kernels::GreaterEqual>),
                detail::pairs<"aten.clamp", "default", "Tensor">(detail::clamp),
                std::to_array<OpRow>({
                    {"aten.maximum.default", detail::maximum, Aliasing::none, true},
                    {"aten.minimum.default", detail::minimum, Aliasing::none, true},
                    {"aten._prelu_kernel.default", detail::real_pair<kernels::Prelu>, Aliasing::none, true},
                    {"aten.atan2.default", detail::real_pair<kernels::Atan2>, Aliasing::none, true},
                    {"aten.hypot.default", detail::real_pair<kernels::Hypot>, Aliasing::none, true},
                    {"aten.gcd.default", detail::bitwise<kernels::Gcd>, Aliasing::none, true},
                    {"aten.logical_and.default", detail::compare<kernels::LogicalAnd>, Aliasing::none, true},
                    {"aten.logical_or.default", detail::compare<kernels::LogicalOr>, Aliasing::none, true},
                    {"aten.logical_xor.default", detail::compare<kernels::LogicalXor>, Aliasing::none, true},
                    {"aten.where.self", detail::where, Aliasing::none, true},
                }));

}  // namespace davit::portable_kernels
