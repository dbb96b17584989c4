// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "davit/core/contiguous.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/tensor.hpp"

namespace davit::testing {

/// The allowed difference of an output from the recorded one: |a - b| <= atol + rtol * |b|; both 0: exact. NaN equals
/// NaN. Source: torch.allclose with equal_nan.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};
/// The kind of comparison: values, only dtype and shape, or values in any order.
enum class Check : std::uint8_t { close, shape_dtype, permutation };

namespace detail {

[[nodiscard]] inline bool is_close(double a, double b, Tolerance t) noexcept {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  if (std::isinf(a) || std::isinf(b)) return false;
  return std::fabs(a - b) <= t.atol + t.rtol * std::fabs(b);
}

/// Converts an element for a comparison: integers stay exact, all other types become double.
template <class T>
[[nodiscard]] constexpr auto comparable(T value) noexcept {
  if constexpr (std::is_integral_v<T>) {
    return value;
  } else {
    return static_cast<double>(value);
  }
}

[[nodiscard]] inline std::string text_of(double value) {
  char buffer[40];
  return {buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr};
}
[[nodiscard]] inline std::string text_of(bool value) { return value ? "true" : "false"; }
template <std::integral T>
[[nodiscard]] std::string text_of(T value) {
  return std::to_string(value);
}

[[nodiscard]] inline std::string text_of(std::span<const std::int64_t> sizes) {
  std::string text = "[";
  for (const std::int64_t size : sizes) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

/// The index of the `flat`-th element in row-major order, as text.
[[nodiscard]] inline std::string index_text(std::span<const std::int64_t> sizes, std::size_t flat) {
  std::vector<std::int64_t> index(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0; flat /= static_cast<std::size_t>(sizes[d]))
    index[d] = static_cast<std::int64_t>(flat % static_cast<std::size_t>(sizes[d]));
  return text_of(index);
}

template <class T>
[[nodiscard]] std::string differ(std::span<const T> actual, std::span<const T> recorded, Tolerance tolerance,
                                 std::span<const std::int64_t> sizes) {
  const bool exact = tolerance.rtol == 0 && tolerance.atol == 0;
  std::size_t differing = 0;
  std::size_t first = 0;
  double largest = 0;
  double relative = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const auto a = comparable(actual[i]);
    const auto b = comparable(recorded[i]);
    if (a == b ||
        ((!std::is_integral_v<T> || !exact) && is_close(static_cast<double>(a), static_cast<double>(b), tolerance)))
      continue;
    if (differing++ == 0) first = i;
    const double gap = std::fabs(static_cast<double>(a) - static_cast<double>(b));
    if (std::isnan(gap) || gap > largest) largest = gap;
    const double ratio = gap / std::fabs(static_cast<double>(b));
    if (std::isnan(ratio) || ratio > relative) relative = ratio;
  }
  if (differing == 0) return {};
  return std::to_string(differing) + " of " + std::to_string(actual.size()) + " elements differ; the first, at " +
         index_text(sizes, first) + ", is " + text_of(comparable(actual[first])) + ", recorded " +
         text_of(comparable(recorded[first])) + "; largest difference " + text_of(largest) + ", relative " +
         text_of(relative);
}

template <class T>
[[nodiscard]] std::string differ_as_sets(std::span<const T> actual, std::span<const T> recorded) {
  std::vector<double> a(actual.begin(), actual.end());
  std::vector<double> b(recorded.begin(), recorded.end());
  const auto before = [](double x, double y) { return std::isnan(y) ? !std::isnan(x) : x < y; };
  std::ranges::sort(a, before);
  std::ranges::sort(b, before);
  const auto same = [](double x, double y) { return is_close(x, y, {}); };
  return std::ranges::equal(a, b, same) ? std::string() : "it is not a permutation of the recorded values";
}

template <class T>
[[nodiscard]] std::string compare_as(const Tensor& actual, const Tensor& recorded, Tolerance tolerance, Check check) {
  const std::size_t count = actual.storage.size() / sizeof(T);
  const std::span<const T> a(actual.view().as<T>(), count);
  const std::span<const T> b(recorded.view().as<T>(), count);
  std::vector<std::int64_t> sizes = actual.sizes;
  if (is_complex(actual.dtype)) sizes.push_back(2);
  return check == Check::permutation ? differ_as_sets(a, b) : differ(a, b, tolerance, sizes);
}

}  // namespace detail

/// Compares a tensor with the recorded one; returns a sentence about the difference, or an empty string.
///
/// Complex numbers are compared part by part, as if the parts were a last dimension. O(elements).
[[nodiscard]] inline std::string compare(const TensorView& actual, const TensorView& recorded, Tolerance tolerance,
                                         Check check = Check::close) {
  if (actual.dtype != recorded.dtype)
    return "dtype is " + std::string(name_of(actual.dtype)) + ", recorded " + std::string(name_of(recorded.dtype));
  if (!std::ranges::equal(actual.sizes(), recorded.sizes()))
    return "shape is " + detail::text_of(actual.sizes()) + ", recorded " + detail::text_of(recorded.sizes());
  if (check == Check::shape_dtype) return {};
  const Tensor a = contiguous(actual);
  const Tensor b = contiguous(recorded);
  if (a.storage.size() != actual.nbytes() || b.storage.size() != a.storage.size()) return "no memory to compare";
  switch (actual.dtype) {
    case ScalarType::float32:
    case ScalarType::complex64: return detail::compare_as<float>(a, b, tolerance, check);
    case ScalarType::float64:
    case ScalarType::complex128: return detail::compare_as<double>(a, b, tolerance, check);
    case ScalarType::float16:
    case ScalarType::complex32: return detail::compare_as<Half>(a, b, tolerance, check);
    case ScalarType::bfloat16: return detail::compare_as<BFloat16>(a, b, tolerance, check);
    case ScalarType::int64: return detail::compare_as<std::int64_t>(a, b, tolerance, check);
    case ScalarType::int32: return detail::compare_as<std::int32_t>(a, b, tolerance, check);
    case ScalarType::int16: return detail::compare_as<std::int16_t>(a, b, tolerance, check);
    case ScalarType::int8: return detail::compare_as<std::int8_t>(a, b, tolerance, check);
    case ScalarType::uint16: return detail::compare_as<std::uint16_t>(a, b, tolerance, check);
    case ScalarType::uint32: return detail::compare_as<std::uint32_t>(a, b, tolerance, check);
    case ScalarType::uint64: return detail::compare_as<std::uint64_t>(a, b, tolerance, check);
    case ScalarType::bool_:  // as bytes: a backend may have written another byte than 0 or 1
      return detail::compare_as<std::uint8_t>(a, b, {}, check);
    default: return detail::compare_as<std::uint8_t>(a, b, tolerance, check);
  }
}

/// Compares any value with the recorded one; the kinds must agree.
[[nodiscard]] inline std::string compare(const EValue& actual, const EValue& recorded, Tolerance tolerance,
                                         Check check = Check::close) {
  if (actual.tag() != recorded.tag())
    return "it is of type " + std::string(name_of(actual.tag())) + ", recorded " + std::string(name_of(recorded.tag()));
  if (actual.is_tensor()) return compare(actual.tensor(), recorded.tensor(), tolerance, check);
  if (check == Check::shape_dtype) return {};
  if (actual.is_string()) return actual.as_string() == recorded.as_string() ? std::string() : "the text differs";
  if (!actual.is_number()) return {};
  const bool same = actual.is_float() ? detail::is_close(actual.as_float(), recorded.as_float(), tolerance)
                                      : actual.integer() == recorded.integer();
  if (same) return {};
  const auto text = [](const EValue& v) {
    return v.is_float()  ? detail::text_of(v.as_float())
           : v.is_bool() ? detail::text_of(v.as_bool())
                         : detail::text_of(v.as_int());
  };
  return "it is " + text(actual) + ", recorded " + text(recorded);
}

}  // namespace davit::testing
