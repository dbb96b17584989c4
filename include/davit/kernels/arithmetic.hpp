// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/core/floor_divide.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/multiply_add.hpp"
#include "davit/kernels/parameters.hpp"
#include "davit/kernels/vector_math.hpp"
#include "davit/kernels/vectors.hpp"

/// Functors of elementwise operators with two operands or more, over float, double and int64. Integers are modulo 2^64;
/// a narrower dtype stores their low bits.
namespace davit::kernels {

template <class T>
[[nodiscard, gnu::always_inline]] constexpr T wrap_add(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
template <class T>
[[nodiscard, gnu::always_inline]] constexpr T wrap_sub(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  else
    return a - b;
}
template <class T>
[[nodiscard, gnu::always_inline]] constexpr T wrap_mul(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}
/// The larger of two; NaN wins, and of equal numbers the first.
template <class T>
[[nodiscard, gnu::always_inline]] constexpr T nan_max(T a, T b) noexcept {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a) return a;
  return b != b || b > a ? b : a;
}
template <class T>
[[nodiscard, gnu::always_inline]] constexpr T nan_min(T a, T b) noexcept {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a) return a;
  return b != b || b < a ? b : a;
}
/// The nearest number in [low, high]; NaN stays NaN.
template <FloatVector V>
[[gnu::always_inline]] inline void nan_clamp(const V& v, float low, float high, V& to) noexcept {
  // g++ takes conditions of more than one comparison apart, element by element
  const V below = low - V{};  // not V{} + low: a zero keeps its sign
  const V above = high - V{};
  V raised = below > v ? below : v;
  if (low != low) raised = below;
  to = above < raised ? above : raised;
  if (high != high) to = above;
}
template <class T>
struct Add {
  [[gnu::always_inline]] constexpr T operator()(T a, T b) const noexcept { return wrap_add(a, b); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& a, const V& b, V& to) const noexcept {
    to = a + b;
  }
};
template <class T>
struct Subtract {
  [[gnu::always_inline]] constexpr T operator()(T a, T b) const noexcept { return wrap_sub(a, b); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& a, const V& b, V& to) const noexcept {
    to = a - b;
  }
};
/// a + number 0 * b.
template <class T>
struct AddScaled {
  T factor;
  constexpr explicit AddScaled(T alpha) noexcept : factor(alpha) {}
  constexpr explicit AddScaled(Parameters& p) noexcept : factor(p.number<T>(0)) {}
  [[gnu::always_inline]] constexpr T operator()(T a, T b) const noexcept {
    if constexpr (std::is_floating_point_v<T>)
      return multiply_add(factor, b, a);
    else
      return wrap_add(a, wrap_mul(factor, b));
  }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& a, const V& b, V& to) const noexcept {
    to = a + factor * b;
  }
};
/// a + b * number 0, with the product rounded to the 16-bit dtype in number 1.
template <class T>
struct AddRoundedProduct {
  T factor;
  ScalarType type;
  constexpr explicit AddRoundedProduct(Parameters& p) noexcept
      : factor(p.number<T>(0)), type(static_cast<ScalarType>(p.reals[1])) {}
  [[gnu::always_inline]] constexpr T operator()(T a, T b) const noexcept {
    return wrap_add(a, static_cast<T>(rounded_to(type, static_cast<double>(wrap_mul(factor, b)))));
  }
};
/// Sums of 16 bits with a factor round this many elements of a row at a time only once; the remainder of the row is
/// also rounded after the product. Source: vectorized_loop of ATen's Loops.h, with AVX2 and AVX-512.
inline constexpr std::int64_t rounded_once = 32;
template <class T>
struct Multiply {
  [[gnu::always_inline]] constexpr T operator()(T a, T b) const noexcept { return wrap_mul(a, b); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& a, const V& b, V& to) const noexcept {
    to = a * b;
  }
};
template <class T>
struct Divide {
  [[gnu::always_inline]] constexpr T operator()(T a, T b) const noexcept { return a / b; }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& a, const V& b, V& to) const noexcept {
    to = a / b;
  }
};

/// Division of integers by zero, which fails the call.
class Divisor {
 public:
  constexpr explicit Divisor(Parameters& p) noexcept : code_(&p.code) {}

 protected:
  [[nodiscard]] constexpr bool is_zero(std::int64_t b) const noexcept {
    if (b == 0) [[unlikely]]
      *code_ = ErrorCode::out_of_range;
    return b == 0;
  }

 private:
  ErrorCode* code_;
};

/// Division rounding towards minus infinity, as Python's `//`. Source: c10::div_floor_floating and div_floor_integer.
template <class T>
struct FloorDivide : Divisor {
  using Divisor::Divisor;
  constexpr T operator()(T a, T b) const noexcept {
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
      return is_zero(b) ? T(0) : floor_divide(a, b);
    }
  }
};
template <class T>
struct TruncDivide : Divisor {
  using Divisor::Divisor;
  constexpr T operator()(T a, T b) const noexcept {
    if constexpr (std::is_floating_point_v<T>) {
      return std::trunc(a / b);
    } else {
      if (is_zero(b)) return 0;
      return b == -1 ? wrap_sub(T(0), a) : a / b;
    }
  }
};
/// C's remainder, with the sign of the dividend.
template <class T>
struct Fmod : Divisor {
  using Divisor::Divisor;
  constexpr T operator()(T a, T b) const noexcept {
    if constexpr (std::is_floating_point_v<T>)
      return std::fmod(a, b);
    else
      return is_zero(b) || b == -1 ? 0 : a % b;
  }
};
/// Python's remainder, with the sign of the divisor.
template <class T>
struct Remainder : Fmod<T> {
  using Fmod<T>::Fmod;
  constexpr T operator()(T a, T b) const noexcept {
    const T mod = Fmod<T>::operator()(a, b);
    return mod != 0 && (b < 0) != (mod < 0) ? mod + b : mod;
  }
};

template <class T>
struct Power {
  constexpr T operator()(T a, T b) const noexcept {
    if constexpr (std::is_floating_point_v<T>) {
      return std::pow(a, b);
    } else {
      if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 != 0 ? -1 : 1) : 0;
      T result = 1;
      for (auto exponent = static_cast<std::uint64_t>(b); exponent != 0; exponent >>= 1) {
        if (exponent & 1) result = wrap_mul(result, a);
        a = wrap_mul(a, a);
      }
      return result;
    }
  }
};
/// The first operand to a small power, integer 0, by products. Source: pow_tensor_scalar_optimized_kernel in ATen.
template <class T>
struct SmallPower {
  std::int64_t factors;
  bool inverse;
  constexpr explicit SmallPower(Parameters& p) noexcept
      : factors(p.integers[0] < 0 ? -p.integers[0] : p.integers[0]), inverse(p.integers[0] < 0) {}
  constexpr T operator()(T a, T) const noexcept {
    T power = a;
    for (std::int64_t i = 1; i < factors; ++i) power *= a;
    return inverse ? T(1) / power : power;
  }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& a, const V&, V& to) const noexcept {
    V power = a;
    for (std::int64_t i = 1; i < factors; ++i) power *= a;
    to = inverse ? 1.0f / power : power;
  }
};
/// 2 to the power of the second operand.
template <class T>
struct PowerOfTwo {
  constexpr T operator()(T, T b) const noexcept { return std::exp2(b); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V&, const V& b, V& to) const noexcept {
    vector_exp2(b, to);
  }
};
/// The first operand to the powers 0.5 and -0.5.
template <class T>
struct Root {
  constexpr T operator()(T a, T) const noexcept { return std::sqrt(a); }
};
template <class T>
struct InverseRoot {
  constexpr T operator()(T a, T) const noexcept { return T(1) / std::sqrt(a); }
};
template <class T>
struct Atan2 {
  constexpr T operator()(T a, T b) const noexcept { return std::atan2(a, b); }
};

template <class T>
struct Hypot {
  constexpr T operator()(T a, T b) const noexcept { return std::hypot(a, b); }
};
template <class T>
struct CopySign {
  constexpr T operator()(T a, T b) const noexcept { return std::copysign(a, b); }
};

/// a > 0 ? a : a * b.
template <class T>
struct Prelu {
  constexpr T operator()(T a, T b) const noexcept { return a > 0 ? a : a * b; }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& a, const V& b, V& to) const noexcept {
    const V product = a * b;
    take_where(a > V{}, a, product, to);
  }
};
template <class T>
struct Maximum {
  [[gnu::always_inline]] constexpr T operator()(T a, T b) const noexcept { return nan_max(a, b); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& a, const V& b, V& to) const noexcept {
    const V larger = b <= a ? a : b;
    take_nan<V>(a, larger, to);
  }
};
template <class T>
struct Minimum {
  [[gnu::always_inline]] constexpr T operator()(T a, T b) const noexcept { return nan_min(a, b); }
  template <FloatVector V>
  [[gnu::always_inline]] void operator()(const V& a, const V& b, V& to) const noexcept {
    const V smaller = b >= a ? a : b;
    take_nan<V>(a, smaller, to);
  }
};
template <class T>
struct Clamp {
  constexpr T operator()(T v, T low, T high) const noexcept { return nan_min(nan_max(v, low), high); }
};

template <class T>
struct BitAnd {
  constexpr T operator()(T a, T b) const noexcept { return a & b; }
};
template <class T>
struct BitOr {
  constexpr T operator()(T a, T b) const noexcept { return a | b; }
};
template <class T>
struct BitXor {
  constexpr T operator()(T a, T b) const noexcept { return a ^ b; }
};

/// The greatest common divisor, which is not negative; gcd(INT64_MIN, INT64_MIN or 0) wraps.
template <class T>
struct Gcd {
  T operator()(T a, T b) const noexcept {
    if constexpr (!std::is_same_v<T, bool>) {
      while (b != 0) {
        const T rest = b == static_cast<T>(-1) ? T(0) : static_cast<T>(a % b);
        a = b;
        b = rest;
      }
      return a < 0 ? wrap_sub(T(0), a) : a;
    }
    return a || b;
  }
};

/// Shifts as torch's: by a negative number, or by all bits, nothing is left. Number 0: the bits of the dtype.
template <class T>
struct ShiftLeft {
  T bits;
  constexpr explicit ShiftLeft(Parameters& p) noexcept : bits(p.integers[0]) {}
  constexpr T operator()(T a, T b) const noexcept {
    return b < 0 || b >= bits ? 0 : static_cast<T>(static_cast<std::uint64_t>(a) << b);
  }
};
template <class T>
struct ShiftRight {
  T bits;
  constexpr explicit ShiftRight(Parameters& p) noexcept : bits(p.integers[0]) {}
  constexpr T operator()(T a, T b) const noexcept { return b < 0 || b >= bits ? (a < 0 ? -1 : 0) : a >> b; }
};

template <class T>
struct Equal {
  constexpr bool operator()(T a, T b) const noexcept { return a == b; }
};
template <class T>
struct NotEqual {
  constexpr bool operator()(T a, T b) const noexcept { return a != b; }
};
template <class T>
struct Less {
  constexpr bool operator()(T a, T b) const noexcept { return a < b; }
};
template <class T>
struct LessEqual {
  constexpr bool operator()(T a, T b) const noexcept { return a <= b; }
};
template <class T>
struct Greater {
  constexpr bool operator()(T a, T b) const noexcept { return a > b; }
};
template <class T>
struct GreaterEqual {
  constexpr bool operator()(T a, T b) const noexcept { return a >= b; }
};
template <class T>
struct LogicalAnd {
  constexpr bool operator()(T a, T b) const noexcept { return (a != 0) & (b != 0); }
};
template <class T>
struct LogicalOr {
  constexpr bool operator()(T a, T b) const noexcept { return (a != 0) | (b != 0); }
};
template <class T>
struct LogicalXor {
  constexpr bool operator()(T a, T b) const noexcept { return (a != 0) != (b != 0); }
};

namespace detail {
struct SelectBits {
  template <std::size_t, class Bits>
  [[gnu::always_inline]] static void run(const std::uint8_t* condition, const Bits* a, const Bits* b, Bits* to,
                                         std::int64_t n) noexcept {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto mask = static_cast<Bits>(
          Bits{} - static_cast<Bits>(condition[i] != 0));  // without branches: conditions are unpredictable
      to[i] = static_cast<Bits>(b[i] ^ ((a[i] ^ b[i]) & mask));
    }
  }
};
}  // namespace detail

/// condition ? a : b for elements of one width; the first operand holds the condition's bytes.
template <class Bits>
void select_loop(const void* const* in, void* out, std::int64_t n, Parameters&) {
  run_widest<detail::SelectBits>(static_cast<const std::uint8_t*>(in[0]), static_cast<const Bits*>(in[1]),
                                 static_cast<const Bits*>(in[2]), static_cast<Bits*>(out), n);
}

}  // namespace davit::kernels
