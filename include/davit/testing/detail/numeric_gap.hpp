// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "davit/core/contiguous.hpp"
#include "davit/testing/compare.hpp"

namespace davit::testing {

/// The gap between values and reference values: the largest |a - b|, and the largest |a - b| / |b| for b != 0.
///
/// NaN against NaN, and an infinity against itself, have no gap; against anything else the gap is infinite, as it is
/// for values of different kinds, dtypes or sizes.
struct NumericGap {
  double absolute = 0;
  double relative = 0;

  void widen(NumericGap other) noexcept {
    absolute = std::max(absolute, other.absolute);
    relative = std::max(relative, other.relative);
  }
};

namespace detail {

inline constexpr NumericGap unbounded{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};

[[nodiscard]] inline NumericGap gap_of(long double a, long double b) noexcept {
  if (a == b || (std::isnan(a) && std::isnan(b))) return {};
  if (!std::isfinite(a) || !std::isfinite(b)) return unbounded;
  const long double absolute = std::fabs(a - b);
  return {static_cast<double>(absolute), b == 0 ? 0 : static_cast<double>(absolute / std::fabs(b))};
}

/// Integers are subtracted exactly, also where long double equals double, as on 32-bit ARM.
template <class T>
  requires std::is_integral_v<T>
[[nodiscard]] NumericGap gap_of(T a, T b) noexcept {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  const auto absolute = static_cast<long double>(a > b ? x - y : y - x);
  return {static_cast<double>(absolute),
          b == 0 ? 0 : static_cast<double>(absolute / std::fabs(static_cast<long double>(b)))};
}

template <class T>
[[nodiscard]] NumericGap gap_as(const Tensor& a, const Tensor& b) noexcept {
  NumericGap gap;
  const std::size_t count = a.storage.size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i)
    gap.widen(gap_of(comparable(a.view().as<T>()[i]), comparable(b.view().as<T>()[i])));
  return gap;
}

}  // namespace detail

/// The gap between two tensors; parts of complex numbers count one by one. O(elements).
[[nodiscard]] inline NumericGap numeric_gap(const TensorView& actual, const TensorView& reference) {
  if (actual.dtype != reference.dtype || !std::ranges::equal(actual.sizes(), reference.sizes()))
    return detail::unbounded;
  const Tensor a = contiguous(actual);
  const Tensor b = contiguous(reference);
  if (a.storage.size() != actual.nbytes() || b.storage.size() != a.storage.size()) return detail::unbounded;
  switch (actual.dtype) {
    case ScalarType::float32:
    case ScalarType::complex64: return detail::gap_as<float>(a, b);
    case ScalarType::float64:
    case ScalarType::complex128: return detail::gap_as<double>(a, b);
    case ScalarType::float16:
    case ScalarType::complex32: return detail::gap_as<Half>(a, b);
    case ScalarType::bfloat16: return detail::gap_as<BFloat16>(a, b);
    case ScalarType::int64: return detail::gap_as<std::int64_t>(a, b);
    case ScalarType::int32: return detail::gap_as<std::int32_t>(a, b);
    case ScalarType::int16: return detail::gap_as<std::int16_t>(a, b);
    case ScalarType::int8: return detail::gap_as<std::int8_t>(a, b);
    case ScalarType::uint16: return detail::gap_as<std::uint16_t>(a, b);
    case ScalarType::uint32: return detail::gap_as<std::uint32_t>(a, b);
    case ScalarType::uint64: return detail::gap_as<std::uint64_t>(a, b);
    default: return detail::gap_as<std::uint8_t>(a, b);
  }
}

/// The gap between any two values; equal texts and None have no gap.
[[nodiscard]] inline NumericGap numeric_gap(const EValue& actual, const EValue& reference) {
  if (actual.tag() != reference.tag()) return detail::unbounded;
  if (actual.is_tensor()) return numeric_gap(actual.tensor(), reference.tensor());
  if (actual.is_float()) return detail::gap_of(actual.as_float(), reference.as_float());
  if (actual.is_number())
    return detail::gap_of(static_cast<long double>(actual.integer()), static_cast<long double>(reference.integer()));
  if (actual.is_string() && actual.as_string() != reference.as_string()) return detail::unbounded;
  return {};
}

}  // namespace davit::testing
