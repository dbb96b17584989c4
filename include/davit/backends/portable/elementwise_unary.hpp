// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "davit/backends/portable/elementwise_binary.hpp"

namespace davit::portable_kernels {

namespace detail {

/// The elements of x as contiguous T: x itself, or a conversion into output 0 (which is of type T and x's sizes).
template <class T>
[[nodiscard]] ErrorCode contiguous_source(KernelCall& call, const TensorView& x, const T*& out) {
  if (x.dtype == scalar_type_of<T> && x.is_contiguous()) {
    out = x.as<T>();
    return ErrorCode::ok;
  }
  out = call.output(0).as<T>();
  return convert_elements(x, call.output(0).as<T>());
}

/// Output 0, of type T: f of each element, in the compute type.
template <class T, class F>
[[nodiscard]] ErrorCode map_unary(KernelCall& call, const TensorView& x, F f) {
  const T* from = nullptr;
  if (const ErrorCode code = contiguous_source<T>(call, x, from); code != ErrorCode::ok) return code;
  T* to = call.output(0).as<T>();
  const std::int64_t count = call.output(0).numel();
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(f(static_cast<compute_type<T>>(from[i])));
  return ErrorCode::ok;
}

/// A function on reals: integers and bools are computed and returned in float32.
template <class F>
[[nodiscard]] ErrorCode real_function(KernelCall& call, F f) {
  const TensorView& x = call.tensor(0);
  const ScalarType type = float_type(x.dtype);
  if (const ErrorCode code = call.make(0, type, x.sizes()); code != ErrorCode::ok) return code;
  return dispatch_float(type, [&]<class T>() { return map_unary<T>(call, x, f); });
}

/// A function that keeps the dtype; `f` gets the compute type.
template <class F>
[[nodiscard]] ErrorCode same_type_function(KernelCall& call, F f) {
  const TensorView& x = call.tensor(0);
  if (const ErrorCode code = call.make_like(0, x); code != ErrorCode::ok) return code;
  return dispatch_all(x.dtype, [&]<class T>() { return map_unary<T>(call, x, f); });
}

/// A question about each element: bool out.
template <class F>
[[nodiscard]] ErrorCode predicate(KernelCall& call, F f) {
  const TensorView& x = call.tensor(0);
  if (const ErrorCode code = call.make(0, ScalarType::bool_, x.sizes()); code != ErrorCode::ok) return code;
  return dispatch_all(x.dtype, [&]<class T>() {
    const T* from = x.as<T>();
    bool* to = call.output(0).template as<bool>();
    for_each_index<1>(x.sizes(), {strides_of(x)}, [&](std::int64_t i) { *to++ = f(static_cast<compute_type<T>>(from[i])); });
    return ErrorCode::ok;
  });
}

template <auto f>
[[nodiscard]] ErrorCode real_op(KernelCall& call) {
  return real_function(call, [](auto v) { return f(v); });
}

inline constexpr auto sigmoid_of = [](auto v) { return decltype(v)(1) / (decltype(v)(1) + std::exp(-v)); };

[[nodiscard]] inline ErrorCode negate(KernelCall& call) {
  if (call.tensor(0).dtype == ScalarType::bool_) return call.refuse(ErrorCode::invalid_dtype, "neg does not take bools");
  return same_type_function(call, [](auto v) {
    if constexpr (std::is_floating_point_v<decltype(v)>) return -v;
    else return wrap_sub(decltype(v)(0), v);
  });
}
[[nodiscard]] inline ErrorCode absolute(KernelCall& call) {
  return same_type_function(call, [](auto v) {
    using T = decltype(v);
    if constexpr (std::is_floating_point_v<T>) return std::fabs(v);
    else if constexpr (std::is_signed_v<T>) return v < 0 ? wrap_sub(T(0), v) : v;
    else return v;
  });
}
[[nodiscard]] inline ErrorCode sign(KernelCall& call) {
  return same_type_function(call, [](auto v) {
    using T = decltype(v);
    if constexpr (std::is_signed_v<T> || std::is_floating_point_v<T>) return v != v ? T(0) : static_cast<T>((v > 0) - (v < 0));
    else return static_cast<T>(v != 0);
  });
}
[[nodiscard]] inline ErrorCode relu(KernelCall& call) {
  return same_type_function(call, [](auto v) {
    using T = decltype(v);
    if constexpr (std::is_signed_v<T> || std::is_floating_point_v<T>) return v < 0 ? T(0) : v;
    else return v;
  });
}
enum class Rounding : std::uint8_t { ceil, floor, round, trunc };
template <Rounding R>
[[nodiscard]] ErrorCode rounding(KernelCall& call) {
  return same_type_function(call, [](auto v) {
    if constexpr (!std::is_floating_point_v<decltype(v)>) return v;
    else if constexpr (R == Rounding::ceil) return std::ceil(v);
    else if constexpr (R == Rounding::floor) return std::floor(v);
    else if constexpr (R == Rounding::round) return std::nearbyint(v);  // halves to even
    else return std::trunc(v);
  });
}
[[nodiscard]] inline ErrorCode bitwise_not(KernelCall& call) {
  if (!is_integral(call.tensor(0).dtype)) return call.refuse(ErrorCode::invalid_dtype, "bitwise_not takes integers and bools only");
  return same_type_function(call, [](auto v) {
    using T = decltype(v);
    if constexpr (std::is_same_v<T, bool>) return !v;
    else if constexpr (std::is_integral_v<T>) return static_cast<T>(~v);
    else return v;
  });
}
[[nodiscard]] inline ErrorCode logical_not(KernelCall& call) {
  return predicate(call, [](auto v) { return v == 0; });
}
[[nodiscard]] inline ErrorCode is_nan(KernelCall& call) {
  return predicate(call, [](auto v) { return v != v; });
}
[[nodiscard]] inline ErrorCode is_inf(KernelCall& call) {
  return predicate(call, [](auto v) {
    if constexpr (std::is_floating_point_v<decltype(v)>) return std::isinf(v);
    else return false;
  });
}
[[nodiscard]] inline ErrorCode gelu(KernelCall& call) {
  if (!is_floating(call.tensor(0).dtype)) return call.refuse(ErrorCode::invalid_dtype, "gelu takes floats only");
  if (call.string(1) == "tanh")
    return real_function(call, [](auto v) {
      using T = decltype(v);
      const T inner = T(0.7978845608028654) * (v + T(0.044715) * v * v * v);
      return T(0.5) * v * (T(1) + std::tanh(inner));
    });
  // torch runs dense float32 and bfloat16 through oneDNN, whose formula overflows at the top of the range.
  const TensorView& x = call.tensor(0);
  const bool overflows = (x.dtype == ScalarType::float32 || x.dtype == ScalarType::bfloat16) && x.is_contiguous() && x.numel() > 1;
  return real_function(call, [=](auto v) {
    using T = decltype(v);
    const T factor = T(1) + std::erf(v * T(0.7071067811865476));
    if (!overflows) return T(0.5) * v * factor;
    return std::isinf(v) ? std::numeric_limits<T>::quiet_NaN() : T(0.5) * (v * factor);
  });
}
/// log(1 + v) as torch's vector code has it: infinite near the end of the range. Source: Sleef_log1p.
inline constexpr auto log1p_of = [](auto v) {
  using T = decltype(v);
  constexpr T limit = sizeof(T) == sizeof(float) ? T(1e38) : static_cast<T>(1e307);
  return v > limit ? std::numeric_limits<T>::infinity() : std::log1p(v);
};
[[nodiscard]] inline ErrorCode leaky_relu(KernelCall& call) {
  const double slope = call.number(1, 0.01);
  return real_function(call, [=](auto v) { return v > 0 ? v : v * static_cast<decltype(v)>(slope); });
}
[[nodiscard]] inline ErrorCode elu(KernelCall& call) {
  const double alpha = call.number(1, 1);
  const double scale = call.number(2, 1);
  const double input_scale = call.number(3, 1);
  return real_function(call, [=](auto v) {
    using T = decltype(v);
    return v <= 0 ? std::expm1(v * T(input_scale)) * T(alpha) * T(scale) : v * T(scale);
  });
}
[[nodiscard]] inline ErrorCode hardtanh(KernelCall& call) {
  const EValue low = call.arg(1);
  const EValue high = call.arg(2);
  return same_type_function(call, [=](auto v) {
    using T = decltype(v);
    return nan_min(nan_max(v, scalar_as<T>(low)), scalar_as<T>(high));
  });
}
[[nodiscard]] inline ErrorCode relu6(KernelCall& call) {
  return same_type_function(call, [](auto v) {
    using T = decltype(v);
    return nan_min(nan_max(v, T(0)), T(6));
  });
}
// Named: clang gives lambdas in template arguments a name that is not the same in every translation unit.
inline constexpr auto acos_of = [](auto v) { return std::acos(v); };
inline constexpr auto acosh_of = [](auto v) { return std::acosh(v); };
inline constexpr auto asin_of = [](auto v) { return std::asin(v); };
inline constexpr auto asinh_of = [](auto v) { return std::asinh(v); };
inline constexpr auto atan_of = [](auto v) { return std::atan(v); };
inline constexpr auto atanh_of = [](auto v) { return std::atanh(v); };
inline constexpr auto cos_of = [](auto v) { return std::cos(v); };
inline constexpr auto cosh_of = [](auto v) { return std::cosh(v); };
inline constexpr auto erf_of = [](auto v) { return std::erf(v); };
inline constexpr auto exp_of = [](auto v) { return std::exp(v); };
inline constexpr auto expm1_of = [](auto v) { return std::expm1(v); };
inline constexpr auto log_of = [](auto v) { return std::log(v); };
inline constexpr auto log10_of = [](auto v) { return std::log10(v); };
inline constexpr auto log2_of = [](auto v) { return std::log2(v); };
inline constexpr auto reciprocal_of = [](auto v) { return decltype(v)(1) / v; };
inline constexpr auto rsqrt_of = [](auto v) { return decltype(v)(1) / std::sqrt(v); };
inline constexpr auto sin_of = [](auto v) { return std::sin(v); };
inline constexpr auto sinh_of = [](auto v) { return std::sinh(v); };
inline constexpr auto sqrt_of = [](auto v) { return std::sqrt(v); };
inline constexpr auto tan_of = [](auto v) { return std::tan(v); };
inline constexpr auto silu_of = [](auto v) { return v * sigmoid_of(v); };
inline constexpr auto tanh_of = [](auto v) { return std::tanh(v); };
inline constexpr auto hardsigmoid_of = [](auto v) {
  using T = decltype(v);
  return nan_min(nan_max(v + T(3), T(0)), T(6)) / T(6);
};
inline constexpr auto hardswish_of = [](auto v) {
  using T = decltype(v);
  return v * nan_min(nan_max(v + T(3), T(0)), T(6)) / T(6);
};

}  // namespace detail

inline constexpr auto elementwise_unary_ops = std::to_array<OpRow>({
    {"aten.abs.default", detail::absolute},
    {"aten.acos.default", detail::real_op<detail::acos_of>},
    {"aten.acosh.default", detail::real_op<detail::acosh_of>},
    {"aten.asin.default", detail::real_op<detail::asin_of>},
    {"aten.asinh.default", detail::real_op<detail::asinh_of>},
    {"aten.atan.default", detail::real_op<detail::atan_of>},
    {"aten.atanh.default", detail::real_op<detail::atanh_of>},
    {"aten.bitwise_not.default", detail::bitwise_not},
    {"aten.ceil.default", detail::rounding<detail::Rounding::ceil>},
    {"aten.cos.default", detail::real_op<detail::cos_of>},
    {"aten.cosh.default", detail::real_op<detail::cosh_of>},
    {"aten.elu.default", detail::elu},
    {"aten.erf.default", detail::real_op<detail::erf_of>},
    {"aten.exp.default", detail::real_op<detail::exp_of>},
    {"aten.expm1.default", detail::real_op<detail::expm1_of>},
    {"aten.floor.default", detail::rounding<detail::Rounding::floor>},
    {"aten.gelu.default", detail::gelu},
    {"aten.hardsigmoid.default", detail::real_op<detail::hardsigmoid_of>},
    {"aten.hardswish.default", detail::real_op<detail::hardswish_of>},
    {"aten.hardtanh.default", detail::hardtanh},
    {"aten.isinf.default", detail::is_inf},
    {"aten.isnan.default", detail::is_nan},
    {"aten.leaky_relu.default", detail::leaky_relu},
    {"aten.log.default", detail::real_op<detail::log_of>},
    {"aten.log10.default", detail::real_op<detail::log10_of>},
    {"aten.log1p.default", detail::real_op<detail::log1p_of>},
    {"aten.log2.default", detail::real_op<detail::log2_of>},
    {"aten.logical_not.default", detail::logical_not},
    {"aten.neg.default", detail::negate},
    {"aten.reciprocal.default", detail::real_op<detail::reciprocal_of>},
    {"aten.relu.default", detail::relu},
    {"aten.relu6.default", detail::relu6},
    {"aten.round.default", detail::rounding<detail::Rounding::round>},
    {"aten.rsqrt.default", detail::real_op<detail::rsqrt_of>},
    {"aten.sigmoid.default", detail::real_op<detail::sigmoid_of>},
    {"aten.sign.default", detail::sign},
    {"aten.silu.default", detail::real_op<detail::silu_of>},
    {"aten.sin.default", detail::real_op<detail::sin_of>},
    {"aten.sinh.default", detail::real_op<detail::sinh_of>},
    {"aten.sqrt.default", detail::real_op<detail::sqrt_of>},
    {"aten.tan.default", detail::real_op<detail::tan_of>},
    {"aten.tanh.default", detail::real_op<detail::tanh_of>},
    {"aten.trunc.default", detail::rounding<detail::Rounding::trunc>},
});

}  // namespace davit::portable_kernels
