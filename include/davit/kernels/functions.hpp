// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "davit/kernels/arithmetic.hpp"
#include "davit/kernels/constant_math.hpp"
#include "davit/kernels/vector_math.hpp"

/// Functors of elementwise operators with one operand.
///
/// Values are PyTorch's on a CPU without its accelerator libraries: where PyTorch's vectors and single elements differ,
/// or a tensor's layout decides, the plain ATen kernel is the reference. This holds for all kernels, in constant
/// folding and static programs too; a backend whose library differs falls back (finite_guard.hpp). One exception: gelu
/// of infinity, which every build of PyTorch computes by oneDNN as NaN (see Gelu).
namespace davit::kernels {

template <class T>
struct Negate {
  [[gnu::always_inline]] constexpr T operator()(T v) const noexcept {
    if constexpr (std::is_floating_point_v<T>)
      return -v;
    else
      return wrap_sub(T(0), v);
  }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    to = -v;
  }
};
template <class T>
struct Absolute {
  [[gnu::always_inline]] constexpr T operator()(T v) const noexcept {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(v);
    else
      return v < 0 ? wrap_sub(T(0), v) : v;
  }
};
template <class T>
struct Sign {
  constexpr T operator()(T v) const noexcept { return v != v ? T(0) : static_cast<T>((v > 0) - (v < 0)); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    to = __builtin_convertvector(v < 0.0f, V) - __builtin_convertvector(v > 0.0f, V);
  }
};
template <class T>
struct Relu {
  [[gnu::always_inline]] constexpr T operator()(T v) const noexcept { return v < 0 ? T(0) : v; }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    to = v < 0 ? V{} : v;
  }
};
template <class T>
struct Ceil {
  constexpr T operator()(T v) const noexcept { return std::ceil(v); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    V r;
    vector_round(v, r);
    detail::take_sign<V>(r < v ? r + 1.0f : r, v, to);  // above -1 the result is -0
  }
};
template <class T>
struct Floor {
  constexpr T operator()(T v) const noexcept { return std::floor(v); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    V r;
    vector_round(v, r);
    to = r > v ? r - 1.0f : r;
  }
};
/// Rounds to the nearest integer, halves to even.
template <class T>
struct Round {
  constexpr T operator()(T v) const noexcept { return std::nearbyint(v); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    vector_round(v, to);
  }
};
template <class T>
struct Trunc {
  constexpr T operator()(T v) const noexcept { return std::trunc(v); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    V a, r;
    detail::take_magnitude(v, a);
    vector_round(a, r);
    detail::take_sign<V>(r > a ? r - 1.0f : r, v, to);
  }
};
/// Flips the bits of integer 0: bit 0 for bools, all bits for others.
template <class T>
struct BitNot {
  T mask;
  constexpr explicit BitNot(Parameters& p) noexcept : mask(p.integers[0]) {}
  constexpr T operator()(T v) const noexcept { return v ^ mask; }
};
template <class T>
struct LogicalNot {
  constexpr bool operator()(T v) const noexcept { return v == 0; }
};
template <class T>
struct IsNan {
  constexpr bool operator()(T v) const noexcept { return v != v; }
};
template <class T>
struct IsInf {
  constexpr bool operator()(T v) const noexcept {
    if constexpr (std::is_floating_point_v<T>)
      return std::isinf(v);
    else
      return false;
  }
};
/// The nearest number in [number 0, number 1].
template <class T>
struct Hardtanh {
  T low;
  T high;
  constexpr Hardtanh(T lowest, T highest) noexcept : low(lowest), high(highest) {}
  constexpr explicit Hardtanh(Parameters& p) noexcept : Hardtanh(p.number<T>(0), p.number<T>(1)) {}
  [[gnu::always_inline]] constexpr T operator()(T v) const noexcept { return nan_min(nan_max(v, low), high); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    nan_clamp(v, low, high, to);
  }
};

template <class T>
struct Acos {
  constexpr T operator()(T v) const noexcept { return std::acos(v); }
};
template <class T>
struct Acosh {
  constexpr T operator()(T v) const noexcept { return std::acosh(v); }
};
template <class T>
struct Asin {
  constexpr T operator()(T v) const noexcept { return std::asin(v); }
};
template <class T>
struct Asinh {
  constexpr T operator()(T v) const noexcept { return std::asinh(v); }
};
template <class T>
struct Atan {
  constexpr T operator()(T v) const noexcept { return std::atan(v); }
};
template <class T>
struct Atanh {
  constexpr T operator()(T v) const noexcept { return std::atanh(v); }
};
template <class T>
struct Cos {
  constexpr T operator()(T v) const noexcept { return std::cos(v); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    vector_cos(v, to);
  }
};
template <class T>
struct Cosh {
  constexpr T operator()(T v) const noexcept { return std::cosh(v); }
};
template <class T>
struct Erf {
  constexpr T operator()(T v) const noexcept { return erf(v); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    vector_erf(v, to);
  }
};
template <class T>
struct Exp {
  [[gnu::always_inline]] constexpr T operator()(T v) const noexcept { return exp(v); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    vector_exp(v, to);
  }
};
template <class T>
struct Expm1 {
  constexpr T operator()(T v) const noexcept { return std::expm1(v); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    vector_expm1(v, to);
  }
};
template <class T>
struct Log {
  constexpr T operator()(T v) const noexcept { return log(v); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    vector_log(v, to);
  }
};
template <class T>
struct Log10 {
  constexpr T operator()(T v) const noexcept { return std::log10(v); }
};
/// As torch's vector code: infinite near the end of the range. Source: Sleef_log1p.
template <class T>
struct Log1p {
  constexpr T operator()(T v) const noexcept {
    constexpr T limit = sizeof(T) == sizeof(float) ? T(1e38) : static_cast<T>(1e307);
    return v > limit ? std::numeric_limits<T>::infinity() : std::log1p(v);
  }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    vector_log1p(v, to);
  }
};
template <class T>
struct Log2 {
  constexpr T operator()(T v) const noexcept { return std::log2(v); }
};
template <class T>
struct Reciprocal {
  constexpr T operator()(T v) const noexcept { return T(1) / v; }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    to = 1.0f / v;
  }
};
template <class T>
struct Rsqrt {
  [[gnu::always_inline]] constexpr T operator()(T v) const noexcept { return T(1) / sqrt(v); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    vector_sqrt(v, to);
    to = 1.0f / to;
  }
};
template <class T>
struct Sigmoid {
  [[gnu::always_inline]] constexpr T operator()(T v) const noexcept { return T(1) / (T(1) + exp(-v)); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    vector_sigmoid(v, to);
  }
};
template <class T>
struct Silu {
  [[gnu::always_inline]] constexpr T operator()(T v) const noexcept { return v * Sigmoid<T>{}(v); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    vector_sigmoid(v, to);
    to *= v;
  }
};
/// v * tanh(log(1 + exp(v))).
template <class T>
struct Mish {
  constexpr T operator()(T v) const noexcept { return v * std::tanh(v > T(20) ? v : std::log1p(std::exp(v))); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    V w;
    vector_exp<V>(v > 20.0f ? V{} + 20.0f : v, w);
    const V n = w * (w + 2.0f);  // tanh(log(1 + w)) = n / (n + 2)
    to = v > 20.0f ? v : v * (n / (n + 2.0f));
  }
};
template <class T>
struct Square {
  constexpr T operator()(T v) const noexcept {
    if constexpr (std::is_floating_point_v<T>)
      return v * v;
    else
      return wrap_mul(v, v);
  }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    to = v * v;
  }
};
template <class T>
struct Sin {
  constexpr T operator()(T v) const noexcept { return std::sin(v); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    vector_sin(v, to);
  }
};
template <class T>
struct Sinh {
  constexpr T operator()(T v) const noexcept { return std::sinh(v); }
};
template <class T>
struct Sqrt {
  [[gnu::always_inline]] constexpr T operator()(T v) const noexcept { return sqrt(v); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    vector_sqrt(v, to);
  }
};
template <class T>
struct Tan {
  constexpr T operator()(T v) const noexcept { return std::tan(v); }
};
template <class T>
struct Tanh {
  [[gnu::always_inline]] constexpr T operator()(T v) const noexcept { return tanh(v); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    vector_tanh(v, to);
  }
};
template <class T>
struct Hardsigmoid {
  [[gnu::always_inline]] constexpr T operator()(T v) const noexcept {
    return nan_min(nan_max(v + T(3), T(0)), T(6)) / T(6);
  }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    nan_clamp<V>(v + 3.0f, 0, 6, to);
    to /= 6.0f;
  }
};
template <class T>
struct Hardswish {
  [[gnu::always_inline]] constexpr T operator()(T v) const noexcept {
    return v * nan_min(nan_max(v + T(3), T(0)), T(6)) / T(6);
  }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    nan_clamp<V>(v + 3.0f, 0, 6, to);
    to = v * to / 6.0f;
  }
};
/// v < 0 ? v * number 0 : v.
template <class T>
struct LeakyRelu {
  T slope;
  constexpr explicit LeakyRelu(Parameters& p) noexcept : slope(p.number<T>(0)) {}
  constexpr T operator()(T v) const noexcept { return v > 0 ? v : v * slope; }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    to = v > 0 ? v : v * slope;
  }
};
/// elu with numbers 0, 1 and 2: alpha, scale and input_scale.
template <class T>
struct Elu {
  T alpha;
  T scale;
  T input_scale;
  constexpr explicit Elu(Parameters& p) noexcept
      : alpha(p.number<T>(0)), scale(p.number<T>(1)), input_scale(p.number<T>(2)) {}
  constexpr T operator()(T v) const noexcept {
    return v <= 0 ? std::expm1(v * input_scale) * alpha * scale : v * scale;
  }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    V e;
    vector_expm1<V>(v * input_scale, e);
    to = v <= 0.0f ? e * alpha * scale : v * scale;
  }
};
template <class T>
struct GeluTanh {
  [[gnu::always_inline]] constexpr T operator()(T v) const noexcept {
    const T inner = T(0.7978845608028654) * (v + T(0.044715) * v * v * v);
    return T(0.5) * v * (T(1) + tanh(inner));
  }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    const V inner = 0.7978845608028654f * (v + 0.044715f * v * v * v);
    vector_tanh(inner, to);
    to = 0.5f * v * (1.0f + to);
  }
};
/// Integer 0: nonzero if the top of the range overflows, as in oneDNN's formula, which torch uses for dense float32 and
/// bfloat16.
template <class T>
struct Gelu {
  std::int32_t overflows;
  constexpr explicit Gelu(bool may) noexcept : overflows(may ? 1 : 0) {}
  constexpr explicit Gelu(Parameters& p) noexcept : Gelu(p.integers[0] != 0) {}
  [[gnu::always_inline]] constexpr T operator()(T v) const noexcept {
    const T factor = T(1) + erf(v * T(0.7071067811865476));
    if (overflows == 0) return T(0.5) * v * factor;
    const bool infinite = v - v != 0 && v == v;
    return infinite ? std::numeric_limits<T>::quiet_NaN() : T(0.5) * (v * factor);
  }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& v, V& to) const noexcept {
    V factor;
    vector_erf<V>(v * 0.7071067811865476f, factor);
    factor += 1.0f;
    to = overflows != 0 ? 0.5f * (v * factor) + (v - v) : 0.5f * v * factor;
  }
};

}  // namespace davit::kernels
