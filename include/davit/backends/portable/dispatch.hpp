// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "davit/backends/portable/kernel_call.hpp"
#include "davit/core/scalar_type.hpp"

namespace davit::portable_kernels {

template <class T>
inline constexpr bool is_reduced_float = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// The type arithmetic on `T` is done in: float for the 16-bit floats, else `T` itself.
template <class T>
using compute_type = std::conditional_t<is_reduced_float<T>, float, T>;

/// Calls `f.template operator()<T>()` with the C++ type of `type` if it is one of `Ts`, else answers invalid_dtype.
template <class... Ts, class F>
[[nodiscard]] ErrorCode dispatch(ScalarType type, F&& f) {
  ErrorCode code = ErrorCode::invalid_dtype;
  (void)((scalar_type_of<Ts> == type ? (code = f.template operator()<Ts>(), true) : false) || ...);
  return code;
}
template <class F>
[[nodiscard]] ErrorCode dispatch_float(ScalarType type, F&& f) {
  return dispatch<float, double, Half, BFloat16>(type, f);
}
template <class F>
[[nodiscard]] ErrorCode dispatch_integral(ScalarType type, F&& f) {
  return dispatch<std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t>(type, f);
}
/// The real types but bool that arithmetic takes (torch's operators do not take uint16, uint32 and uint64 either).
template <class F>
[[nodiscard]] ErrorCode dispatch_number(ScalarType type, F&& f) {
  return dispatch<float, double, Half, BFloat16, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t>(type, f);
}
/// The same and bool.
template <class F>
[[nodiscard]] ErrorCode dispatch_all(ScalarType type, F&& f) {
  return dispatch<float, double, Half, BFloat16, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t, bool>(type, f);
}
/// Every real type: for what only moves and converts.
template <class F>
[[nodiscard]] ErrorCode dispatch_any(ScalarType type, F&& f) {
  return dispatch<float, double, Half, BFloat16, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t,
                  std::uint16_t, std::uint32_t, std::uint64_t, bool>(type, f);
}

/// The type torch computes a result of two operands in, by category and width.
/// Source: c10::promoteTypes.
[[nodiscard]] constexpr ScalarType promote(ScalarType a, ScalarType b) noexcept {
  if (a == b) return a;
  if (a == ScalarType::undefined) return b;
  if (b == ScalarType::undefined) return a;
  const auto category = [](ScalarType t) { return t == ScalarType::bool_ ? 0 : is_integral(t) ? 1 : is_floating(t) ? 2 : 3; };
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (is_integral(a)) {
    const auto is_unsigned = [](ScalarType t) {
      return t == ScalarType::uint8 || t == ScalarType::uint16 || t == ScalarType::uint32 || t == ScalarType::uint64;
    };
    if (is_unsigned(a) == is_unsigned(b)) return size_of(a) > size_of(b) ? a : b;
    const ScalarType u = is_unsigned(a) ? a : b;
    const ScalarType s = is_unsigned(a) ? b : a;
    if (size_of(s) > size_of(u)) return s;
    return size_of(u) == 1 ? ScalarType::int16 : size_of(u) == 2 ? ScalarType::int32 : ScalarType::int64;
  }
  if (size_of(a) == 2 && size_of(b) == 2) return ScalarType::float32;  // float16 with bfloat16
  return size_of(a) > size_of(b) ? a : b;
}

/// Sizes and strides on the stack, for outputs being worked out.
struct Sizes {
  std::array<std::int64_t, max_rank> values{};
  std::size_t rank = 0;

  constexpr Sizes() = default;
  constexpr Sizes(std::span<const std::int64_t> from) noexcept {
    for (const std::int64_t v : from) push(v);
  }
  constexpr bool push(std::int64_t v) noexcept {
    if (rank == max_rank) return false;
    values[rank++] = v;
    return true;
  }
  constexpr std::int64_t& operator[](std::size_t i) noexcept { return values[i]; }
  constexpr std::int64_t operator[](std::size_t i) const noexcept { return values[i]; }
  [[nodiscard]] constexpr std::span<const std::int64_t> span() const noexcept { return {values.data(), rank}; }
  constexpr operator std::span<const std::int64_t>() const noexcept { return span(); }
};

/// Wraps a dimension that may be negative; false if it is outside [-rank, rank) (rank 0 counts as 1).
[[nodiscard]] constexpr bool wrap_dim(std::int64_t& dim, std::size_t rank) noexcept {
  const auto limit = static_cast<std::int64_t>(rank == 0 ? 1 : rank);
  if (dim < -limit || dim >= limit) return false;
  if (dim < 0) dim += limit;
  return true;
}

/// The sizes that a and b broadcast to; false if they do not.
[[nodiscard]] constexpr bool broadcast(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                                       Sizes& out) noexcept {
  const std::size_t rank = a.size() > b.size() ? a.size() : b.size();
  if (rank > max_rank) return false;
  Sizes result;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t x = d + a.size() < rank ? 1 : a[d + a.size() - rank];
    const std::int64_t y = d + b.size() < rank ? 1 : b[d + b.size() - rank];
    if (x != y && x != 1 && y != 1) return false;
    result.push(x == 1 ? y : x);
  }
  out = result;
  return true;
}

/// The strides with which a tensor walks `sizes` when broadcast to them (0 in broadcast dimensions). `sizes` must be
/// what the tensor broadcasts to.
[[nodiscard]] constexpr Sizes broadcast_strides(const TensorView& t, std::span<const std::int64_t> sizes) noexcept {
  Sizes strides;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const bool absent = d + t.rank < sizes.size();
    const std::size_t own = absent ? 0 : d + t.rank - sizes.size();
    strides.push(absent || t.sizes_data[own] == 1 ? 0 : t.strides_data[own]);
  }
  return strides;
}

/// Calls f(offset_0, ..., offset_{N-1}) (element offsets) for each index of `sizes` in row-major order.
template <std::size_t N, class F>
void for_each_index(std::span<const std::int64_t> sizes, const std::array<Sizes, N>& strides, F&& f) {
  const std::size_t rank = sizes.size();
  for (const std::int64_t size : sizes)
    if (size == 0) return;
  std::array<std::int64_t, N> offset{};
  const std::int64_t inner = rank == 0 ? 1 : sizes[rank - 1];
  std::array<std::int64_t, N> step{};
  if (rank != 0)
    for (std::size_t n = 0; n < N; ++n) step[n] = strides[n][rank - 1];
  std::array<std::int64_t, max_rank> index{};
  while (true) {
    std::array<std::int64_t, N> at = offset;
    for (std::int64_t i = 0; i < inner; ++i) {
      [&]<std::size_t... I>(std::index_sequence<I...>) { f(at[I]...); }(std::make_index_sequence<N>{});
      for (std::size_t n = 0; n < N; ++n) at[n] += step[n];
    }
    std::size_t d = rank < 2 ? 0 : rank - 1;
    while (d > 0) {
      --d;
      for (std::size_t n = 0; n < N; ++n) offset[n] += strides[n][d];
      if (++index[d] < sizes[d]) break;
      for (std::size_t n = 0; n < N; ++n) offset[n] -= strides[n][d] * sizes[d];
      index[d] = 0;
      if (d == 0) return;
    }
    if (rank < 2) return;
  }
}

/// The strides of a tensor as Sizes.
[[nodiscard]] constexpr Sizes strides_of(const TensorView& t) noexcept { return Sizes(t.strides()); }

/// A Scalar argument as a value of type T (floats truncated towards zero for integers, non-zero for bool).
template <class T>
[[nodiscard]] constexpr T scalar_as(const EValue& value) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return value.number() != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value.integer());
  } else if constexpr (is_reduced_float<T>) {
    return T(static_cast<float>(value.number()));
  } else {
    return static_cast<T>(value.number());
  }
}

/// Converts an element as `Tensor.to(dtype)` does.
template <class To, class From>
[[nodiscard]] constexpr To convert(From value) noexcept {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0.0f * 0);
  } else if constexpr (is_reduced_float<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (is_reduced_float<From>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    // Outside the range of int64 the conversion is undefined in C++; give what x86 gives.
    const auto wide = value > From(-0x1p63) && value < From(0x1p63) ? static_cast<std::int64_t>(value) : INT64_MIN;
    return static_cast<To>(wide);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace davit::portable_kernels
