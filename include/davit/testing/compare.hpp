// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "davit/core/copy_tensor.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/tensor.hpp"

namespace davit::testing {

/// How close an output must be to the recorded one: |a - b| <= atol + rtol * |b|; both 0 means exact. NaN equals NaN.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};
/// What is compared: values, only dtype and shape, or the set of values (a permutation).
enum class Check : std::uint8_t { close, shape_dtype, permutation };

namespace detail {

[[nodiscard]] inline bool is_close(double a, double b, Tolerance t) noexcept {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  if (std::isinf(a) || std::isinf(b)) return false;
  return std::fabs(a - b) <= t.atol + t.rtol * std::fabs(b);
}

[[nodiscard]] inline Tensor dense(const TensorView& t) {
  Tensor out = Tensor::zeros(t.dtype, t.sizes());
  copy_tensor(t, out.view());
  return out;
}

template <class T>
[[nodiscard]] std::string differ(const T* a, const T* b, std::int64_t count, Tolerance tolerance) {
  std::int64_t bad = 0;
  std::int64_t first = -1;
  double worst = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    bool same = false;
    double gap = 0;
    if constexpr (std::is_integral_v<T>) {
      same = a[i] == b[i] || ((tolerance.rtol != 0 || tolerance.atol != 0) && is_close(static_cast<double>(a[i]), static_cast<double>(b[i]), tolerance));
      gap = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    } else {
      same = is_close(static_cast<double>(a[i]), static_cast<double>(b[i]), tolerance);
      gap = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    }
    if (same) continue;
    if (bad++ == 0) first = i;
    worst = std::max(worst, gap);
  }
  if (bad == 0) return {};
  std::ostringstream out;
  out.precision(9);
  out << bad << " of " << count << " elements differ; the first, " << first << ", is " << +static_cast<double>(a[first]) << ", recorded "
      << +static_cast<double>(b[first]) << "; largest difference " << worst;
  return out.str();
}

}  // namespace detail

/// Compares a tensor with the recorded one; answers what differs, or nothing. O(elements).
[[nodiscard]] inline std::string compare(const TensorView& actual, const TensorView& recorded, Tolerance tolerance,
                                         Check check = Check::close) {
  if (actual.dtype != recorded.dtype)
    return "dtype is " + std::string(name_of(actual.dtype)) + ", recorded " + std::string(name_of(recorded.dtype));
  if (!std::ranges::equal(actual.sizes(), recorded.sizes())) {
    std::ostringstream out;
    out << "shape is [";
    for (const std::int64_t s : actual.sizes()) out << s << ' ';
    out << "], recorded [";
    for (const std::int64_t s : recorded.sizes()) out << s << ' ';
    out << ']';
    return out.str();
  }
  if (check == Check::shape_dtype) return {};
  const Tensor a = detail::dense(actual);
  const Tensor b = detail::dense(recorded);
  const std::int64_t count = actual.numel();
  const auto run = [&]<class T>() -> std::string {
    if (check == Check::permutation) {
      const std::multiset<double> x(a.view().as<T>(), a.view().as<T>() + count);
      const std::multiset<double> y(b.view().as<T>(), b.view().as<T>() + count);
      return x == y ? std::string() : "it is no permutation of the recorded values";
    }
    return detail::differ(a.view().as<T>(), b.view().as<T>(), count, tolerance);
  };
  switch (actual.dtype) {
    case ScalarType::float32: return run.operator()<float>();
    case ScalarType::float64: return run.operator()<double>();
    case ScalarType::float16: return run.operator()<Half>();
    case ScalarType::bfloat16: return run.operator()<BFloat16>();
    case ScalarType::int64: return run.operator()<std::int64_t>();
    case ScalarType::int32: return run.operator()<std::int32_t>();
    case ScalarType::int16: return run.operator()<std::int16_t>();
    case ScalarType::int8: return run.operator()<std::int8_t>();
    case ScalarType::uint8: return run.operator()<std::uint8_t>();
    case ScalarType::uint16: return run.operator()<std::uint16_t>();
    case ScalarType::uint32: return run.operator()<std::uint32_t>();
    case ScalarType::uint64: return run.operator()<std::uint64_t>();
    case ScalarType::bool_: return run.operator()<bool>();
    default: break;
  }
  return std::ranges::equal(a.storage.bytes(), b.storage.bytes()) ? std::string() : "the bytes differ";
}

/// Compares a number, text or none with the recorded one; kinds must agree.
[[nodiscard]] inline std::string compare(const EValue& actual, const EValue& recorded, Tolerance tolerance,
                                         Check check = Check::close) {
  if (actual.tag() != recorded.tag())
    return "it is of type " + std::string(name_of(actual.tag())) + ", recorded " + std::string(name_of(recorded.tag()));
  if (actual.is_tensor()) return compare(actual.tensor(), recorded.tensor(), tolerance, check);
  if (check != Check::close) return {};
  if (actual.is_string()) return actual.as_string() == recorded.as_string() ? std::string() : "the text differs";
  if (actual.is_int() || actual.is_bool())
    return actual.integer() == recorded.integer() ? std::string() : "it is " + std::to_string(actual.integer()) + ", recorded " + std::to_string(recorded.integer());
  if (actual.is_float() && !detail::is_close(actual.as_float(), recorded.as_float(), tolerance))
    return "it is " + std::to_string(actual.as_float()) + ", recorded " + std::to_string(recorded.as_float());
  return {};
}

}  // namespace davit::testing
