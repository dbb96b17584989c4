// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "davit/core/evalue.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/core/tensor.hpp"
#include "davit/testing/detail/eager_value.hpp"
#include "davit/testing/detail/program_recipe.hpp"

namespace davit::testing {

/// Perturbs floats by a seed: a few units in the last place of a float32 up or down, two of 16 bits. Small integers
/// stay. The effect on a run shows the influence of rounding alone.
class RandomRounding {
 public:
  explicit RandomRounding(std::uint64_t seed) : random_(seed) {}

  /// Perturbs all elements of the tensor's storage, which its views share.
  void round(const Tensor& tensor) {
    if (tensor.dtype == ScalarType::float32) round_as<float>(tensor.storage);
    if (tensor.dtype == ScalarType::float64) round_as<double>(tensor.storage);
    if (tensor.dtype == ScalarType::bfloat16) round_as<BFloat16>(tensor.storage);
    if (tensor.dtype == ScalarType::float16) round_as<Half>(tensor.storage);
  }
  /// Perturbs the result of an operator that depends on more than rounding, such as the sign of a zero.
  void after(std::string_view target, const Tensor& made, std::span<const EValue> inputs) {
    if (!made.view().is_contiguous()) return;
    if (made.dtype == ScalarType::float32) after_as<float>(target, made, inputs);
    if (made.dtype == ScalarType::bfloat16) after_as<BFloat16>(target, made, inputs);
    if (made.dtype == ScalarType::float16) after_as<Half>(target, made, inputs);
  }
  /// True after finite numbers so large that a sum of a few products is infinite, NaN or finite depending on the order
  /// of its terms: above 2^60 in float32 and bfloat16, 2^508 in float64, 2^8 in float16.
  [[nodiscard]] bool met_large_numbers() const noexcept { return large_; }

 private:
  /// The name without "aten.", the overload and the trailing underscore of in-place operators.
  [[nodiscard]] static std::string_view base_name(std::string_view target) noexcept {
    if (target.starts_with("aten.")) target.remove_prefix(5);
    target = target.substr(0, target.find('.'));
    if (target.ends_with('_')) target.remove_suffix(1);
    return target;
  }
  /// True for operators whose choice between 0 and -0 depends on the machine: in PyTorch even vectors and their
  /// remainders differ.
  [[nodiscard]] static bool chooses_a_zero(std::string_view name) noexcept {
    constexpr std::string_view names[] = {"amax",     "amin",    "clamp",   "clamp_max", "clamp_min",
                                          "hardtanh", "maximum", "minimum", "relu",      "relu6"};
    return std::ranges::find(names, name) != std::end(names);
  }
  /// At most four units in the last place of 1; of 16 bits one, which is two below 1.
  template <class T>
  [[nodiscard]] auto off() {
    if constexpr (std::is_same_v<T, BFloat16>)
      return (static_cast<float>(random_.below(3)) - 1) * 0x1p-7f;
    else if constexpr (std::is_same_v<T, Half>)
      return (static_cast<float>(random_.below(3)) - 1) * 0x1p-10f;
    else
      return (static_cast<T>(random_.below(9)) - 4) * std::numeric_limits<float>::epsilon();
  }
  template <class T>
  void after_as(std::string_view target, const Tensor& made, std::span<const EValue> inputs) {
    const std::span<T> elements(made.view().as<T>(), static_cast<std::size_t>(made.numel()));
    const std::string_view name = base_name(target);
    if (chooses_a_zero(name))
      for (T& element : elements)
        if (element == 0 && random_.one_in(2)) element = T(-element);
    if (name == "scaled_dot_product_attention")  // quotients of integers, which are integers only by chance
      for (T& element : elements)
        if (std::isfinite(float{element})) element = T(element * (1 + off<T>()));
    if (name != "gelu" || inputs.empty() || !inputs[0].is_tensor()) return;
    const Tensor x = copy_of(inputs[0].tensor());  // far below 0, gelu is its input times the remainder of 1 - 1
    if (x.dtype != made.dtype || x.numel() != made.numel() || !x.view().is_contiguous()) return;
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (const float input = x.view().as<T>()[i]; std::isfinite(input))
        elements[i] = T(elements[i] + input * off<float>());
  }
  /// 16-bit dtypes have so few digits that any number may be a rounded one.
  [[nodiscard]] static bool is_rounded(BFloat16) noexcept { return true; }
  [[nodiscard]] static bool is_rounded(Half) noexcept { return true; }
  template <class T>
  [[nodiscard]] static bool is_rounded(T x) noexcept {
    return std::trunc(x) != x || std::fabs(x) > T(1 << 20);
  }
  template <class T>
  void round_as(const SharedBytes& storage) {
    T* const at = reinterpret_cast<T*>(storage.writable());
    const std::size_t count = at == nullptr ? 0 : storage.size() / sizeof(T);
    constexpr double large = std::is_same_v<T, double> ? 0x1p508 : std::is_same_v<T, Half> ? 0x1p8 : 0x1p60;
    for (std::size_t i = 0; i < count; ++i) {
      if (!std::isfinite(double{at[i]})) continue;
      if (is_rounded(at[i])) at[i] = T(at[i] * (1 + off<T>()));
      large_ = large_ || std::fabs(double{at[i]}) > large;
    }
  }

  Random random_;
  bool large_ = false;
};

}  // namespace davit::testing
