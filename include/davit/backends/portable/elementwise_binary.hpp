// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "davit/backends/portable/result_type.hpp"
#include "davit/backends/portable/vector_lanes.hpp"

namespace davit::portable_kernels {

namespace detail {

/// Where the elements of the operands of type T lie, whatever dtype they came in.
template <class T, std::size_t N>
struct Elements {
  std::array<const T*, N> data{};
  std::array<Sizes, N> strides{};
};

/// Brings N operands to type T and to common sizes; operands of another dtype are converted into temporary memory.
template <class T, std::size_t N>
[[nodiscard]] ErrorCode gather_elements(KernelCall& call, const std::array<const TensorView*, N>& operands,
                                        std::span<const std::int64_t> sizes, Elements<T, N>& out) {
  std::size_t needed = 0;
  for (const TensorView* t : operands)
    if (t->dtype != scalar_type_of<T>) needed += static_cast<std::size_t>(t->numel());
  T* memory = needed == 0 ? nullptr : call.temporary<T>(needed);
  if (needed != 0 && memory == nullptr) return call.refuse(ErrorCode::out_of_memory, "no temporary memory");
  for (std::size_t n = 0; n < N; ++n) {
    TensorView view = *operands[n];
    Sizes strides;
    if (view.dtype == scalar_type_of<T>) {
      out.data[n] = view.as<T>();
    } else {
      if (const ErrorCode code = convert_elements(view, memory); code != ErrorCode::ok) return code;
      strides = Sizes(view.sizes());
      contiguous_strides(view.sizes(), {strides.values.data(), view.rank});
      view.strides_data = strides.values.data();
      out.data[n] = memory;
      memory += view.numel();
    }
    out.strides[n] = broadcast_strides(view, sizes);
  }
  return ErrorCode::ok;
}

/// True if walking `sizes` with these strides is walking memory in order.
[[nodiscard]] inline bool is_dense(const Sizes& strides, std::span<const std::int64_t> sizes) noexcept {
  std::int64_t expected = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] != 1 && strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}
[[nodiscard]] inline bool is_constant(const Sizes& strides) noexcept {
  for (std::size_t d = 0; d < strides.rank; ++d)
    if (strides[d] != 0) return false;
  return true;
}

/// out[i] = f(a[i], b[i]) over broadcast operands computed in type T; R is the element type of the output.
template <class T, class R, class F>
[[nodiscard]] ErrorCode map_binary(KernelCall& call, const TensorView& a, const TensorView& b, F f) {
  const TensorView& out = call.output(0);
  Elements<T, 2> in;
  if (const ErrorCode code = gather_elements<T, 2>(call, {&a, &b}, out.sizes(), in); code != ErrorCode::ok) return code;
  R* to = out.as<R>();
  const std::int64_t count = out.numel();
  const auto [x, y] = in.data;
  const bool dense_x = is_dense(in.strides[0], out.sizes());
  const bool dense_y = is_dense(in.strides[1], out.sizes());
  if (dense_x && dense_y) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = f(x[i], y[i]);
  } else if (dense_x && is_constant(in.strides[1])) {
    const T value = *y;
    for (std::int64_t i = 0; i < count; ++i) to[i] = f(x[i], value);
  } else {
    for_each_index<2>(out.sizes(), in.strides, [&](std::int64_t i, std::int64_t k) { *to++ = f(x[i], y[k]); });
  }
  return ErrorCode::ok;
}

/// Makes output 0 with the broadcast sizes of a and b.
[[nodiscard]] inline ErrorCode make_broadcast(KernelCall& call, ScalarType dtype, const TensorView& a, const TensorView& b) {
  Sizes sizes;
  if (!broadcast(a.sizes(), b.sizes(), sizes)) return call.refuse(ErrorCode::invalid_shape, "the sizes of the operands do not broadcast");
  return call.make(0, dtype, sizes);
}

enum class Numbers : std::uint8_t { as_is, to_float, integral_only };

/// A binary operator whose result has the operands' common dtype (or float for integers, if so asked).
template <class F>
[[nodiscard]] ErrorCode arithmetic(KernelCall& call, Numbers numbers, F f, bool with_bool = true) {
  const Operand a(call.arg(0));
  const Operand b(call.arg(1));
  if (!a.present() || !b.present()) return call.refuse(ErrorCode::invalid_argument, "an operand is missing");
  ScalarType type = ResultType().add(call.arg(0)).add(call.arg(1)).get();
  if (numbers == Numbers::to_float) type = float_type(type);
  if (numbers == Numbers::integral_only && !is_integral(type))
    return call.refuse(ErrorCode::invalid_dtype, "this operator takes integers and bools only");
  if (!with_bool && type == ScalarType::bool_) return call.refuse(ErrorCode::invalid_dtype, "this operator does not take bools");
  if (const ErrorCode code = make_broadcast(call, type, a.view(), b.view()); code != ErrorCode::ok) return code;
  return dispatch_all(type, [&]<class T>() -> ErrorCode {
    ErrorCode code = ErrorCode::ok;
    const ErrorCode mapped = map_binary<T, T>(call, a.view(), b.view(), [&](T x, T y) {
      using C = compute_type<T>;
      return static_cast<T>(f(static_cast<C>(x), static_cast<C>(y), code));
    });
    return mapped == ErrorCode::ok ? code : mapped;
  });
}

/// A comparison or logical operator: common dtype in, bool out.
template <class F>
[[nodiscard]] ErrorCode comparison(KernelCall& call, F f) {
  const Operand a(call.arg(0));
  const Operand b(call.arg(1));
  if (!a.present() || !b.present()) return call.refuse(ErrorCode::invalid_argument, "an operand is missing");
  const ScalarType type = ResultType().add(call.arg(0)).add(call.arg(1)).get();
  if (const ErrorCode code = make_broadcast(call, ScalarType::bool_, a.view(), b.view()); code != ErrorCode::ok) return code;
  return dispatch_all(type, [&]<class T>() {
    return map_binary<T, bool>(call, a.view(), b.view(), [&](T x, T y) {
      using C = compute_type<T>;
      return f(static_cast<C>(x), static_cast<C>(y));
    });
  });
}

template <class T>
[[nodiscard]] constexpr T wrap_add(T a, T b) noexcept {
  if constexpr (std::is_same_v<T, bool>) return a || b;
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else return a + b;
}
template <class T>
[[nodiscard]] constexpr T wrap_sub(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  else return a - b;
}
template <class T>
[[nodiscard]] constexpr T wrap_mul(T a, T b) noexcept {
  if constexpr (std::is_same_v<T, bool>) return a && b;
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else return a * b;
}

/// Division rounding towards minus infinity, as Python's //. Source: c10::div_floor_floating and div_floor_integer.
template <class T>
[[nodiscard]] T floor_divide(T a, T b, ErrorCode& code) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    if (b == 0) return a / b;
    const T mod = std::fmod(a, b);
    T div = (a - mod) / b;
    if (mod != 0 && (b < 0) != (mod < 0)) div -= 1;
    if (div == 0) return std::copysign(T(0), a / b);
    T floored = std::floor(div);
    if (div - floored > T(0.5)) floored += 1;
    return floored;
  } else {
    if (b == 0) return code = ErrorCode::out_of_range, T(0);
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return wrap_sub(T(0), a);
      const T q = static_cast<T>(a / b);
      return static_cast<T>(a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q);
    } else {
      return static_cast<T>(a / b);
    }
  }
}
template <class T>
[[nodiscard]] T trunc_divide(T a, T b, ErrorCode& code) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return std::trunc(a / b);
  } else {
    if (b == 0) return code = ErrorCode::out_of_range, T(0);
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return wrap_sub(T(0), a);
    return static_cast<T>(a / b);
  }
}
/// C's remainder: the sign of the dividend.
template <class T>
[[nodiscard]] T c_remainder(T a, T b, ErrorCode& code) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    if (b == 0) return code = ErrorCode::out_of_range, T(0);
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return 0;
    return static_cast<T>(a % b);
  }
}
/// Python's remainder: the sign of the divisor.
template <class T>
[[nodiscard]] T python_remainder(T a, T b, ErrorCode& code) noexcept {
  const T mod = c_remainder(a, b, code);
  if constexpr (std::is_signed_v<T> || std::is_floating_point_v<T>)
    if (mod != 0 && (b < 0) != (mod < 0)) return static_cast<T>(mod + b);
  return mod;
}
template <class T>
[[nodiscard]] T power(T a, T b, ErrorCode& code) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(a, b);
  } else if constexpr (std::is_same_v<T, bool>) {
    return a || !b;
  } else {
    if constexpr (std::is_signed_v<T>) {
      if (b < 0) {
        if (a == 1) return 1;
        if (a == T(-1)) return b % 2 != 0 ? T(-1) : T(1);
        return 0;
      }
    }
    (void)code;
    T result = 1;
    for (auto exponent = static_cast<std::uint64_t>(b); exponent != 0; exponent >>= 1) {
      if (exponent & 1) result = wrap_mul(result, a);
      a = wrap_mul(a, a);
    }
    return result;
  }
}
template <class T>
[[nodiscard]] T nan_max(T a, T b) noexcept {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a) return a;
  return b != b || b > a ? b : a;
}
template <class T>
[[nodiscard]] T nan_min(T a, T b) noexcept {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a) return a;
  return b != b || b < a ? b : a;
}

[[nodiscard]] inline ErrorCode division_error(KernelCall& call, ErrorCode code) {
  return code == ErrorCode::out_of_range ? call.refuse(code, "division of an integer by zero") : code;
}

/// a + alpha * b (or minus); alpha as the third argument.
template <bool Subtract>
[[nodiscard]] ErrorCode add_scaled(KernelCall& call) {
  const EValue alpha = call.arg_count() > 2 ? call.arg(2) : EValue(1);
  if (!alpha.is_number()) return call.refuse(ErrorCode::invalid_argument, "alpha must be a number");
  const bool one = alpha.number() == 1;
  if (one)
    return arithmetic(call, Numbers::as_is, [](auto x, auto y, ErrorCode&) { return Subtract ? wrap_sub(x, y) : wrap_add(x, y); });
  return arithmetic(call, Numbers::as_is, [&](auto x, auto y, ErrorCode&) {
    const auto factor = scalar_as<decltype(y)>(alpha);
    if constexpr (std::is_floating_point_v<decltype(y)>) {
      return multiply_add(Subtract ? -factor : factor, y, x);
    } else {
      const auto scaled = wrap_mul(factor, y);
      return Subtract ? wrap_sub(x, scaled) : wrap_add(x, scaled);
    }
  });
}
[[nodiscard]] inline ErrorCode mul(KernelCall& call) {
  return arithmetic(call, Numbers::as_is, [](auto x, auto y, ErrorCode&) { return wrap_mul(x, y); });
}
[[nodiscard]] inline ErrorCode divide(KernelCall& call) {
  const std::string_view mode = call.arg_count() > 2 ? call.string(2) : std::string_view{};
  if (mode == "floor")
    return division_error(call, arithmetic(call, Numbers::as_is, [](auto x, auto y, ErrorCode& code) { return floor_divide(x, y, code); }));
  if (mode == "trunc")
    return division_error(call, arithmetic(call, Numbers::as_is, [](auto x, auto y, ErrorCode& code) { return trunc_divide(x, y, code); }));
  if (!mode.empty()) return call.refuse(ErrorCode::invalid_argument, "rounding_mode must be None, 'floor' or 'trunc'");
  return arithmetic(call, Numbers::to_float, [](auto x, auto y, ErrorCode&) {
    if constexpr (std::is_floating_point_v<decltype(x)>) return x / y;
    else return x;
  });
}
[[nodiscard]] inline ErrorCode remainder(KernelCall& call) {
  return division_error(call, arithmetic(call, Numbers::as_is, [](auto x, auto y, ErrorCode& code) { return python_remainder(x, y, code); }, false));
}
[[nodiscard]] inline ErrorCode fmod(KernelCall& call) {
  return division_error(call, arithmetic(call, Numbers::as_is, [](auto x, auto y, ErrorCode& code) { return c_remainder(x, y, code); }, false));
}
[[nodiscard]] inline ErrorCode pow(KernelCall& call) {
  if (call.arg(1).is_number() && !call.arg(1).is_float() && call.arg(1).integer() < 0 && call.is_tensor(0) && is_integral(call.tensor(0).dtype))
    return call.refuse(ErrorCode::invalid_argument, "integers to negative integer powers are not allowed");
  const double exponent = call.arg(1).is_number() ? call.arg(1).number() : 0;
  const bool half = call.is_tensor(0) && call.tensor(0).dtype == ScalarType::float16;
  if (std::fabs(exponent) == 0.5 && !half)  // torch takes the root, which differs at -0 and -inf, but not of float16
    return arithmetic(call, Numbers::as_is, [=](auto x, auto y, ErrorCode& code) {
      using T = decltype(x);
      if constexpr (std::is_floating_point_v<T>) return exponent > 0 ? std::sqrt(x) : T(1) / std::sqrt(x);
      else return power(x, y, code);
    });
  return arithmetic(call, Numbers::as_is, [](auto x, auto y, ErrorCode& code) { return power(x, y, code); });
}
[[nodiscard]] inline ErrorCode maximum(KernelCall& call) {
  return arithmetic(call, Numbers::as_is, [](auto x, auto y, ErrorCode&) { return nan_max(x, y); });
}
[[nodiscard]] inline ErrorCode minimum(KernelCall& call) {
  return arithmetic(call, Numbers::as_is, [](auto x, auto y, ErrorCode&) { return nan_min(x, y); });
}
[[nodiscard]] inline ErrorCode atan2(KernelCall& call) {
  return arithmetic(call, Numbers::to_float, [](auto x, auto y, ErrorCode&) {
    if constexpr (std::is_floating_point_v<decltype(x)>) return std::atan2(x, y);
    else return x;
  });
}

enum class Bits : std::uint8_t { and_, or_, xor_ };
template <Bits B>
[[nodiscard]] ErrorCode bitwise(KernelCall& call) {
  return arithmetic(call, Numbers::integral_only, [](auto x, auto y, ErrorCode&) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>) return x;
    else return static_cast<T>(B == Bits::and_ ? x & y : B == Bits::or_ ? x | y : x ^ y);
  });
}

enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge };
template <Compare C>
[[nodiscard]] ErrorCode compare(KernelCall& call) {
  return comparison(call, [](auto x, auto y) {
    if constexpr (C == Compare::eq) return x == y;
    else if constexpr (C == Compare::ne) return x != y;
    else if constexpr (C == Compare::lt) return x < y;
    else if constexpr (C == Compare::le) return x <= y;
    else if constexpr (C == Compare::gt) return x > y;
    else return x >= y;
  });
}
template <Bits B>
[[nodiscard]] ErrorCode logical(KernelCall& call) {
  return comparison(call, [](auto x, auto y) {
    const bool p = x != 0;
    const bool q = y != 0;
    return B == Bits::and_ ? (p && q) : B == Bits::or_ ? (p || q) : p != q;
  });
}

/// clamp with bounds that are numbers, tensors, or absent.
[[nodiscard]] inline ErrorCode clamp(KernelCall& call) {
  const Operand x(call.arg(0));
  const Operand low(call.arg(1));
  const Operand high(call.arg(2));
  if (!x.present()) return call.refuse(ErrorCode::invalid_argument, "clamp needs a tensor");
  const ScalarType type = ResultType().add(call.arg(0)).add(call.arg(1)).add(call.arg(2)).get();
  Sizes sizes(x.view().sizes());
  for (const Operand* bound : {&low, &high})
    if (bound->present() && !broadcast(sizes.span(), bound->view().sizes(), sizes))
      return call.refuse(ErrorCode::invalid_shape, "the bounds do not broadcast with the input");
  if (const ErrorCode code = call.make(0, type, sizes); code != ErrorCode::ok) return code;
  return dispatch_all(type, [&]<class T>() -> ErrorCode {
    Elements<T, 3> in;
    const std::array<const TensorView*, 3> operands{&x.view(), low.present() ? &low.view() : &x.view(), high.present() ? &high.view() : &x.view()};
    if (const ErrorCode code = gather_elements<T, 3>(call, operands, sizes, in); code != ErrorCode::ok) return code;
    T* to = call.output(0).template as<T>();
    for_each_index<3>(sizes, in.strides, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      using C = compute_type<T>;
      C v = static_cast<C>(in.data[0][i]);
      if (low.present()) v = nan_max(v, static_cast<C>(in.data[1][j]));
      if (high.present()) v = nan_min(v, static_cast<C>(in.data[2][k]));
      *to++ = static_cast<T>(v);
    });
    return ErrorCode::ok;
  });
}

/// condition ? self : other, broadcast.
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
  return dispatch_all(type, [&]<class T>() -> ErrorCode {
    Elements<T, 2> in;
    if (const ErrorCode code = gather_elements<T, 2>(call, {&a.view(), &b.view()}, sizes, in); code != ErrorCode::ok) return code;
    T* to = call.output(0).template as<T>();
    const auto* test = condition.as<std::uint8_t>();
    for_each_index<3>(sizes, {broadcast_strides(condition, sizes), in.strides[0], in.strides[1]},
                      [&](std::int64_t c, std::int64_t i, std::int64_t k) { *to++ = test[c] != 0 ? in.data[0][i] : in.data[1][k]; });
    return ErrorCode::ok;
  });
}

}  // namespace detail

inline constexpr auto elementwise_binary_ops = std::to_array<OpRow>({
    {"aten.add.Scalar", detail::add_scaled<false>, Aliasing::none, true},
    {"aten.add.Tensor", detail::add_scaled<false>, Aliasing::none, true},
    {"aten.sub.Scalar", detail::add_scaled<true>, Aliasing::none, true},
    {"aten.sub.Tensor", detail::add_scaled<true>, Aliasing::none, true},
    {"aten.mul.Scalar", detail::mul, Aliasing::none, true},
    {"aten.mul.Tensor", detail::mul, Aliasing::none, true},
    {"aten.div.Scalar", detail::divide, Aliasing::none, true},
    {"aten.div.Scalar_mode", detail::divide, Aliasing::none, true},
    {"aten.div.Tensor", detail::divide, Aliasing::none, true},
    {"aten.div.Tensor_mode", detail::divide, Aliasing::none, true},
    {"aten.remainder.Scalar", detail::remainder, Aliasing::none, true},
    {"aten.remainder.Tensor", detail::remainder, Aliasing::none, true},
    {"aten.fmod.Scalar", detail::fmod, Aliasing::none, true},
    {"aten.fmod.Tensor", detail::fmod, Aliasing::none, true},
    {"aten.pow.Scalar", detail::pow, Aliasing::none, true},
    {"aten.pow.Tensor_Scalar", detail::pow, Aliasing::none, true},
    {"aten.pow.Tensor_Tensor", detail::pow, Aliasing::none, true},
    {"aten.maximum.default", detail::maximum, Aliasing::none, true},
    {"aten.minimum.default", detail::minimum, Aliasing::none, true},
    {"aten.atan2.default", detail::atan2, Aliasing::none, true},
    {"aten.bitwise_and.Scalar", detail::bitwise<detail::Bits::and_>, Aliasing::none, true},
    {"aten.bitwise_and.Tensor", detail::bitwise<detail::Bits::and_>, Aliasing::none, true},
    {"aten.bitwise_or.Scalar", detail::bitwise<detail::Bits::or_>, Aliasing::none, true},
    {"aten.bitwise_or.Tensor", detail::bitwise<detail::Bits::or_>, Aliasing::none, true},
    {"aten.bitwise_xor.Scalar", detail::bitwise<detail::Bits::xor_>, Aliasing::none, true},
    {"aten.bitwise_xor.Tensor", detail::bitwise<detail::Bits::xor_>, Aliasing::none, true},
    {"aten.eq.Scalar", detail::compare<detail::Compare::eq>, Aliasing::none, true},
    {"aten.eq.Tensor", detail::compare<detail::Compare::eq>, Aliasing::none, true},
    {"aten.ne.Scalar", detail::compare<detail::Compare::ne>, Aliasing::none, true},
    {"aten.ne.Tensor", detail::compare<detail::Compare::ne>, Aliasing::none, true},
    {"aten.lt.Scalar", detail::compare<detail::Compare::lt>, Aliasing::none, true},
    {"aten.lt.Tensor", detail::compare<detail::Compare::lt>, Aliasing::none, true},
    {"aten.le.Scalar", detail::compare<detail::Compare::le>, Aliasing::none, true},
    {"aten.le.Tensor", detail::compare<detail::Compare::le>, Aliasing::none, true},
    {"aten.gt.Scalar", detail::compare<detail::Compare::gt>, Aliasing::none, true},
    {"aten.gt.Tensor", detail::compare<detail::Compare::gt>, Aliasing::none, true},
    {"aten.ge.Scalar", detail::compare<detail::Compare::ge>, Aliasing::none, true},
    {"aten.ge.Tensor", detail::compare<detail::Compare::ge>, Aliasing::none, true},
    {"aten.logical_and.default", detail::logical<detail::Bits::and_>, Aliasing::none, true},
    {"aten.logical_or.default", detail::logical<detail::Bits::or_>, Aliasing::none, true},
    {"aten.logical_xor.default", detail::logical<detail::Bits::xor_>, Aliasing::none, true},
    {"aten.clamp.default", detail::clamp, Aliasing::none, true},
    {"aten.clamp.Tensor", detail::clamp, Aliasing::none, true},
    {"aten.where.self", detail::where, Aliasing::none, true},
});

}  // namespace davit::portable_kernels
