// SPDX-License-Identifier: MIT
#include "print_value.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "commands.hpp"
#include "delegate_call.hpp"

namespace tool {

namespace {

using namespace davit;

/// Prints six digits of a float, all digits of an integer.
template <class T>
[[nodiscard]] std::string text_of(T value) {
  if constexpr (std::integral<T>) return std::to_string(value);
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.6g", static_cast<double>(value));
  return buffer;
}

/// Prints statistics of numbers; counts non-finite ones separately.
template <class T>
[[nodiscard]] std::string summary(std::span<const T> numbers) {
  T least{}, most{};
  double sum = 0;
  std::size_t finite = 0, nans = 0;
  for (const T number : numbers) {
    if constexpr (std::floating_point<T>) {
      nans += std::isnan(number) ? 1 : 0;
      if (!std::isfinite(number)) continue;
    }
    least = finite == 0 ? number : std::min(least, number);
    most = finite == 0 ? number : std::max(most, number);
    sum += static_cast<double>(number);
    ++finite;
  }
  std::string text;
  if (finite > 0)
    text =
        ", min " + text_of(least) + ", max " + text_of(most) + ", mean " + text_of(sum / static_cast<double>(finite));
  if (nans > 0) text += ", " + std::to_string(nans) + " NaN";
  if (const std::size_t infinite = numbers.size() - finite - nans; infinite > 0)
    text += ", " + std::to_string(infinite) + " infinite";
  return text;
}

/// Converts elements to numbers: floats to double, integers unchanged.
template <class T>
[[nodiscard]] auto numbers_of(const Tensor& tensor) {
  using Number = std::conditional_t<std::integral<T>, T, double>;
  const std::span<const T> elements(tensor.view().as<T>(), tensor.storage.size() / sizeof(T));
  return std::vector<Number>(elements.begin(), elements.end());
}
[[nodiscard]] std::vector<double> floats_of(const Tensor& tensor) {
  switch (tensor.dtype) {
    case ScalarType::float32:
    case ScalarType::complex64: return numbers_of<float>(tensor);
    case ScalarType::float64:
    case ScalarType::complex128: return numbers_of<double>(tensor);
    case ScalarType::float16:
    case ScalarType::complex32: return numbers_of<Half>(tensor);
    case ScalarType::bfloat16: return numbers_of<BFloat16>(tensor);
    default: return {};
  }
}

[[nodiscard]] std::string summary(const Tensor& tensor) {
  const auto integers = [&]<class T>(T) { return summary(std::span<const T>(numbers_of<T>(tensor))); };
  switch (tensor.dtype) {
    case ScalarType::int64: return integers(std::int64_t{});
    case ScalarType::int32: return integers(std::int32_t{});
    case ScalarType::int16: return integers(std::int16_t{});
    case ScalarType::int8: return integers(std::int8_t{});
    case ScalarType::uint64: return integers(std::uint64_t{});
    case ScalarType::uint32: return integers(std::uint32_t{});
    case ScalarType::uint16: return integers(std::uint16_t{});
    case ScalarType::uint8: return integers(std::uint8_t{});
    case ScalarType::bool_:
      return ", " + std::to_string(std::ranges::count(tensor.storage.bytes(), std::byte{1})) + " true";
    default: break;
  }
  std::vector<double> numbers = floats_of(tensor);
  if (!is_complex(tensor.dtype)) return summary(std::span<const double>(numbers));
  for (std::size_t i = 0; 2 * i + 1 < numbers.size(); ++i) numbers[i] = std::hypot(numbers[2 * i], numbers[2 * i + 1]);
  numbers.resize(numbers.size() / 2);
  const std::string text = summary(std::span<const double>(numbers));
  return text.empty() ? text : ", magnitudes" + text.substr(1);
}

/// Prints indices and values of the largest numbers; ignores NaN.
[[nodiscard]] std::string largest(const std::vector<double>& numbers, std::size_t top) {
  std::vector<std::size_t> places(numbers.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::erase_if(places, [&](std::size_t i) { return std::isnan(numbers[i]); });
  top = std::min(top, places.size());
  std::ranges::partial_sort(
      places, places.begin() + static_cast<std::ptrdiff_t>(top),
      [&](std::size_t a, std::size_t b) { return numbers[a] != numbers[b] ? numbers[a] > numbers[b] : a < b; });
  std::string text;
  for (std::size_t i = 0; i < top; ++i)
    text += (i == 0 ? " [" : ", [") + std::to_string(places[i]) + "] " + text_of(numbers[places[i]]);
  return text;
}

void print_tensor(const TensorView& tensor, std::size_t top) {
  std::string shape;
  for (const std::int64_t size : tensor.sizes()) shape += (shape.empty() ? "" : ", ") + std::to_string(size);
  const KeptValue kept{EValue(tensor)};  // a contiguous copy
  const bool whole = kept.tensor.storage.size() == tensor.nbytes();
  print("%s[%s]%s\n", std::string(name_of(tensor.dtype)).c_str(), shape.c_str(),
        tensor.numel() == 0 || !whole ? "" : summary(kept.tensor).c_str());
  const bool row = tensor.rank == 1 || (tensor.rank == 2 && tensor.size(0) == 1);
  if (!row || !whole || top == 0 || tensor.size(tensor.rank - 1) < 2 || !is_floating(tensor.dtype)) return;
  if (const std::string text = largest(floats_of(kept.tensor), top); !text.empty())
    print("  largest:%s\n", text.c_str());
}

}  // namespace

void print_output(std::size_t i, const OutputPort& port, const EValue& value, std::size_t top) {
  print("output %zu '%s': ", i, std::string(port.user_name().view()).c_str());
  if (const TensorView* tensor = value.tensor_if()) {
    print_tensor(*tensor, top);
  } else if (value.is_string()) {
    print("'%s'\n", std::string(value.as_string()).c_str());
  } else if (value.is_bool()) {
    print("%s\n", value.as_bool() ? "true" : "false");
  } else if (value.is_int()) {
    print("%lld\n", static_cast<long long>(value.as_int()));
  } else if (value.is_float()) {
    print("%.17g\n", value.as_float());
  } else {
    print("none\n");
  }
}

}  // namespace tool
