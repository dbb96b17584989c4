// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "davit/core/config.hpp"

namespace davit {

/// Element type of a tensor. The values are c10::ScalarType's (a `.pt2` file uses other numbers; its reader converts
/// them).
enum class ScalarType : std::uint8_t {
  uint8 = 0,
  int8 = 1,
  int16 = 2,
  int32 = 3,
  int64 = 4,
  float16 = 5,
  float32 = 6,
  float64 = 7,
  complex32 = 8,
  complex64 = 9,
  complex128 = 10,
  bool_ = 11,
  bfloat16 = 15,
  float8_e5m2 = 23,
  float8_e4m3fn = 24,
  float8_e5m2fnuz = 25,
  float8_e4m3fnuz = 26,
  uint16 = 27,
  uint32 = 28,
  uint64 = 29,
  float8_e8m0fnu = 44,
  undefined = 255,
};

/// IEEE binary16, stored as bits; arithmetic goes through float.
struct Half {
  std::uint16_t bits = 0;

  constexpr Half() = default;
  constexpr explicit Half(float value) noexcept : bits(encode(value)) {}
  constexpr operator float() const noexcept {
    const std::uint32_t sign = std::uint32_t(bits & 0x8000u) << 16;
    const std::uint32_t exponent = (bits >> 10) & 31u;
    const std::uint32_t mantissa = bits & 1023u;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  static constexpr Half from_bits(std::uint16_t bits) noexcept {
    Half h;
    h.bits = bits;
    return h;
  }

 private:
  static constexpr std::uint16_t encode(float value) noexcept {
    const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (word >> 16) & 0x8000u;
    std::uint32_t magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
    if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (magnitude < 0x38800000u) {  // subnormal or zero: float addition rounds
      const float scaled = std::bit_cast<float>(magnitude) + 0.5f;
      return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(scaled) - 0x3f000000u));
    }
    const std::uint32_t odd = (magnitude >> 13) & 1u;
    magnitude += 0xc8000fffu + odd;
    return static_cast<std::uint16_t>(sign | (magnitude >> 13));
  }
};

/// bfloat16, stored as bits; arithmetic goes through float.
struct BFloat16 {
  std::uint16_t bits = 0;

  constexpr BFloat16() = default;
  constexpr explicit BFloat16(float value) noexcept {
    const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
    if ((word & 0x7fffffffu) > 0x7f800000u) {
      bits = 0x7fc0;
      return;
    }
    bits = static_cast<std::uint16_t>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
  constexpr operator float() const noexcept { return std::bit_cast<float>(std::uint32_t(bits) << 16); }
};

/// Bytes per element; 0 for `undefined`.
[[nodiscard]] constexpr std::size_t size_of(ScalarType type) noexcept {
  switch (type) {
    case ScalarType::uint8:
    case ScalarType::int8:
    case ScalarType::bool_:
    case ScalarType::float8_e5m2:
    case ScalarType::float8_e4m3fn:
    case ScalarType::float8_e5m2fnuz:
    case ScalarType::float8_e4m3fnuz:
    case ScalarType::float8_e8m0fnu: return 1;
    case ScalarType::int16:
    case ScalarType::float16:
    case ScalarType::bfloat16:
    case ScalarType::uint16: return 2;
    case ScalarType::int32:
    case ScalarType::float32:
    case ScalarType::complex32:
    case ScalarType::uint32: return 4;
    case ScalarType::int64:
    case ScalarType::float64:
    case ScalarType::complex64:
    case ScalarType::uint64: return 8;
    case ScalarType::complex128: return 16;
    case ScalarType::undefined: break;
  }
  return 0;
}

namespace detail {
struct ScalarTypeName {
  ScalarType type;
  std::string_view name;        // as torch prints it, without "torch."
  std::string_view short_name;  // as exported programs print it
};
inline constexpr std::array<ScalarTypeName, 21> scalar_type_names{{
    {ScalarType::uint8, "uint8", "u8"},
    {ScalarType::int8, "int8", "i8"},
    {ScalarType::int16, "int16", "i16"},
    {ScalarType::int32, "int32", "i32"},
    {ScalarType::int64, "int64", "i64"},
    {ScalarType::float16, "float16", "f16"},
    {ScalarType::float32, "float32", "f32"},
    {ScalarType::float64, "float64", "f64"},
    {ScalarType::complex32, "complex32", "c32"},
    {ScalarType::complex64, "complex64", "c64"},
    {ScalarType::complex128, "complex128", "c128"},
    {ScalarType::bool_, "bool", "b8"},
    {ScalarType::bfloat16, "bfloat16", "bf16"},
    {ScalarType::float8_e5m2, "float8_e5m2", "f8e5m2"},
    {ScalarType::float8_e4m3fn, "float8_e4m3fn", "f8e4m3fn"},
    {ScalarType::float8_e5m2fnuz, "float8_e5m2fnuz", "f8e5m2fnuz"},
    {ScalarType::float8_e4m3fnuz, "float8_e4m3fnuz", "f8e4m3fnuz"},
    {ScalarType::uint16, "uint16", "u16"},
    {ScalarType::uint32, "uint32", "u32"},
    {ScalarType::uint64, "uint64", "u64"},
    {ScalarType::float8_e8m0fnu, "float8_e8m0fnu", "f8e8m0fnu"},
}};
}  // namespace detail

/// Returns torch's name of the type, without "torch."; "undefined" for any other value. O(1).
[[nodiscard]] constexpr std::string_view name_of(ScalarType type) noexcept {
  for (const auto& row : detail::scalar_type_names)
    if (row.type == type) return row.name;
  return "undefined";
}

/// Returns the abbreviation in printed exported programs ("f32"); "?" for any other value.
[[nodiscard]] constexpr std::string_view short_name_of(ScalarType type) noexcept {
  for (const auto& row : detail::scalar_type_names)
    if (row.type == type) return row.short_name;
  return "?";
}

/// Returns the scalar type whose name in torch is `name`; `undefined` if there is none.
[[nodiscard]] constexpr ScalarType scalar_type_named(std::string_view name) noexcept {
  for (const auto& row : detail::scalar_type_names)
    if (row.name == name) return row.type;
  return ScalarType::undefined;
}

[[nodiscard]] constexpr bool is_complex(ScalarType type) noexcept {
  return type == ScalarType::complex32 || type == ScalarType::complex64 || type == ScalarType::complex128;
}
/// Returns the dtype of the real and imaginary parts of a complex dtype; any other dtype unchanged. Source:
/// c10::toRealValueType.
[[nodiscard]] constexpr ScalarType real_of(ScalarType type) noexcept {
  return type == ScalarType::complex32    ? ScalarType::float16
         : type == ScalarType::complex64  ? ScalarType::float32
         : type == ScalarType::complex128 ? ScalarType::float64
                                          : type;
}
/// Returns the complex dtype with parts of this dtype; complex64 if there is none. Source: c10::toComplexType.
[[nodiscard]] constexpr ScalarType complex_of(ScalarType type) noexcept {
  const ScalarType real = real_of(type);
  return real == ScalarType::float64   ? ScalarType::complex128
         : real == ScalarType::float16 ? ScalarType::complex32
                                       : ScalarType::complex64;
}
[[nodiscard]] constexpr bool is_floating(ScalarType type) noexcept {
  return type == ScalarType::float16 || type == ScalarType::bfloat16 || type == ScalarType::float32 ||
         type == ScalarType::float64 || (type >= ScalarType::float8_e5m2 && type <= ScalarType::float8_e4m3fnuz) ||
         type == ScalarType::float8_e8m0fnu;
}
/// Rounds a number to float16 or bfloat16; returns it unchanged for any other dtype. Source: c10::Scalar::to.
[[nodiscard]] constexpr double rounded_to(ScalarType type, double v) noexcept {
  if (type == ScalarType::float16) return double{Half(static_cast<float>(v))};
  return type == ScalarType::bfloat16 ? double{BFloat16(static_cast<float>(v))} : v;
}
/// Returns the machine epsilon of a float dtype; 0 for any other dtype. Source: std::numeric_limits of c10's types.
[[nodiscard]] constexpr double epsilon_of(ScalarType type) noexcept {
  switch (type) {
    case ScalarType::float16: return 0x1p-10;
    case ScalarType::bfloat16: return 0x1p-7;
    case ScalarType::float32: return 0x1p-23;
    case ScalarType::float64: return 0x1p-52;
    default: return 0;
  }
}
/// True for the integer types and bool, as torch's `isIntegralType(type, includeBool=true)`.
[[nodiscard]] constexpr bool is_integral(ScalarType type) noexcept {
  return type != ScalarType::undefined && !is_complex(type) && !is_floating(type);
}

namespace detail {
/// Scalar types of C++ types; `undefined` for types that are no elements.
template <class T>
inline constexpr ScalarType element_type = ScalarType::undefined;
template <>
inline constexpr ScalarType element_type<std::uint8_t> = ScalarType::uint8;
template <>
inline constexpr ScalarType element_type<std::int8_t> = ScalarType::int8;
template <>
inline constexpr ScalarType element_type<std::int16_t> = ScalarType::int16;
template <>
inline constexpr ScalarType element_type<std::int32_t> = ScalarType::int32;
template <>
inline constexpr ScalarType element_type<std::int64_t> = ScalarType::int64;
template <>
inline constexpr ScalarType element_type<std::uint16_t> = ScalarType::uint16;
template <>
inline constexpr ScalarType element_type<std::uint32_t> = ScalarType::uint32;
template <>
inline constexpr ScalarType element_type<std::uint64_t> = ScalarType::uint64;
template <>
inline constexpr ScalarType element_type<Half> = ScalarType::float16;
template <>
inline constexpr ScalarType element_type<BFloat16> = ScalarType::bfloat16;
template <>
inline constexpr ScalarType element_type<float> = ScalarType::float32;
template <>
inline constexpr ScalarType element_type<double> = ScalarType::float64;
template <>
inline constexpr ScalarType element_type<bool> = ScalarType::bool_;
/// A std::complex, recognized without including its header.
template <class T>
concept Complex = requires(const T& z) {
  { z.real() } -> std::same_as<typename T::value_type>;
  { z.imag() } -> std::same_as<typename T::value_type>;
  requires sizeof(T) == 2 * sizeof(typename T::value_type);
};
template <Complex T>
inline constexpr ScalarType element_type<T> = std::same_as<typename T::value_type, float>    ? ScalarType::complex64
                                              : std::same_as<typename T::value_type, double> ? ScalarType::complex128
                                                                                             : ScalarType::undefined;
}  // namespace detail

/// A C++ type that can be a tensor's element type.
template <class T>
concept TensorElement = detail::element_type<T> != ScalarType::undefined;

/// The scalar type with elements of C++ type `T`.
template <TensorElement T>
inline constexpr ScalarType scalar_type_of = detail::element_type<T>;

}  // namespace davit
