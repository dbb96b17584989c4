// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "davit/backend/embed_graph.hpp"
#include "davit/backends/portable/int8/multiplier.hpp"
#include "davit/backends/portable/int8/requantize.hpp"
#include "davit/program/operators/folds.hpp"
#include "davit/program/operators/quantization.hpp"

/// The pattern that PT2E writes around an operator: dequantize before it, quantize after it.
namespace davit::int8_fold {

/// A tensor of bytes with its scale and zero point: a value is (q - zero_point) * scale. Zero point and bounds are
/// those of the int8 form.
struct Quantized {
  ValueId value = no_id;
  ScalarType dtype = ScalarType::undefined;
  double scale = 0;
  std::int32_t zero_point = 0;
  std::int32_t low = -128;
  std::int32_t high = 127;

  [[nodiscard]] constexpr bool found() const noexcept { return value != no_id; }
  [[nodiscard]] constexpr bool same_numbers(const Quantized& other) const noexcept {
    return dtype == other.dtype && scale == other.scale && zero_point == other.zero_point;
  }
  /// The byte, in its int8 form, for a number.
  [[nodiscard]] constexpr std::int32_t byte_of(double number) const noexcept {
    const std::int64_t v = operators::integer_of(scale, zero_point, number);
    return v < low ? low : v > high ? high : static_cast<std::int32_t>(v);
  }
  /// The float value of a byte in its int8 form.
  [[nodiscard]] constexpr float number_of(std::int32_t byte) const noexcept {
    return static_cast<float>(byte - zero_point) * static_cast<float>(scale);
  }
};

[[nodiscard]] constexpr bool is_byte(ScalarType type) noexcept {
  return type == ScalarType::int8 || type == ScalarType::uint8;
}
/// The difference of this dtype's zero point from that of the int8 form.
[[nodiscard]] constexpr std::int32_t flip_of(ScalarType type) noexcept { return type == ScalarType::uint8 ? 128 : 0; }

/// Reads the scale, zero point and bounds of a quantize or dequantize.
[[nodiscard]] constexpr Quantized quantized(const EmbedGraph& g, ValueId bytes,
                                            const operators::QuantizationView& view) noexcept {
  const std::int64_t flip = flip_of(g.dtype(bytes));
  const std::int64_t low = view.low - flip, high = view.high - flip;
  return {.value = bytes,
          .dtype = g.dtype(bytes),
          .scale = view.scale,
          .zero_point = static_cast<std::int32_t>(view.zero_point - flip),
          .low = low < -128  ? -128
                 : low > 128 ? 128
                             : static_cast<std::int32_t>(low),
          .high = high > 127    ? 127
                  : high < -129 ? -129
                                : static_cast<std::int32_t>(high)};
}

/// The bytes from which a float value is dequantized, through views. Take sizes from the float value.
[[nodiscard]] constexpr Quantized source_of(const EmbedGraph& g, ValueId v) noexcept {
  operators::QuantizationView view;
  if (!operators::read_dequantized(g, v, true, view) || !is_byte(g.dtype(view.input)) ||
      g.dtype(v) != ScalarType::float32)
    return {};
  return quantized(g, view.input, view);
}

/// int8 weights with zero point 0 and one scale, or one per output channel (dimension 0).
struct Weights {
  ValueId value = no_id;
  ValueId scales = no_id;  ///< per channel: a float32 constant
  double scale = 0;        ///< per tensor
  [[nodiscard]] constexpr bool found() const noexcept { return value != no_id; }
};

/// True if every element is a known 0.
[[nodiscard]] constexpr bool is_zero(const EmbedGraph& g, ValueId v) noexcept {
  if (v == no_id) return true;
  const auto all = [&](const auto* numbers) {
    for (std::int64_t i = 0; i < g.numel(v); ++i)
      if (numbers[i] != 0) return false;
    return true;
  };
  if (const auto* i64 = g.elements<std::int64_t>(v)) return all(i64);
  if (const auto* i32 = g.elements<std::int32_t>(v)) return all(i32);
  if (const auto* i8 = g.elements<std::int8_t>(v)) return all(i8);
  return false;
}

/// The weights from which a float value is dequantized. `transposed`: through a permutation or a transposition first.
[[nodiscard]] constexpr Weights weights_of(const EmbedGraph& g, ValueId v, bool transposed) noexcept {
  operators::QuantizationView view;
  if (!operators::read_weights(g, v, transposed, view)) return {};
  const StaticInput* const constant = g.constant(view.input);
  if (constant == nullptr || g.dtype(view.input) != ScalarType::int8 || constant->layout != WeightLayout::contiguous)
    return {};
  if (view.scales == no_id) return view.zero_point == 0 ? Weights{view.input, no_id, view.scale} : Weights{};
  return is_zero(g, view.zero_points) && g.elements<float>(view.scales) != nullptr ? Weights{view.input, view.scales}
                                                                                   : Weights{};
}

}  // namespace davit::int8_fold
