// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "davit/backend/embed_graph.hpp"
#include "davit/backends/portable/int8/convert.hpp"
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

/// The parameters of a conversion from float to bytes; their count is the caller's.
[[nodiscard]] constexpr int8_kernels::Quantize quantize_to(const Quantized& out) noexcept {
  const auto flip = static_cast<float>(flip_of(out.dtype));
  return {.inverse_scale = static_cast<float>(1.0 / out.scale),
          .zero_point = static_cast<float>(out.zero_point) + flip,
          .low = static_cast<float>(out.low) + flip,
          .high = static_cast<float>(out.high) + flip};
}

/// The bytes from which a float value is dequantized, through views. Take sizes from the float value.
[[nodiscard]] constexpr Quantized source_of(const EmbedGraph& g, ValueId v) noexcept {
  operators::QuantizationView view;
  if (!operators::read_dequantized(g, v, true, view) || !is_byte(g.dtype(view.input)) ||
      g.dtype(v) != ScalarType::float32)
    return {};
  return quantized(g, view.input, view);
}

/// Weights with zero point 0 and one scale, or one per output channel (dimension 0): int8, or packed (PackedRows).
struct Weights {
  ValueId value = no_id;
  ValueId scales = no_id;   ///< per channel: a float32 constant
  double scale = 0;         ///< per tensor
  std::int64_t groups = 1;  ///< scales of a channel
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

/// Operands and sizes of davit.linear_packed.rows.
struct PackedRows {
  ValueId input = no_id, weight = no_id, scales = no_id;
  ValueId offsets = no_id, bias = no_id;  ///< or none
  std::int64_t outputs = 0, depth = 0, groups = 1;
};
/// Reads a call of it; returns the reason why its operands do not fit each other, or nullptr.
[[nodiscard]] constexpr const char* read_packed_rows(const EmbedNode& n, PackedRows& v) noexcept {
  const EmbedGraph& g = n.g;
  v.input = n.value({"input", 0});
  v.weight = n.value({"weight", 1});
  v.scales = n.value({"scales", 2});
  v.offsets = n.value({"offsets", 3});
  v.bias = n.value({"bias", 4});
  if (v.input == no_id || v.weight == no_id || v.scales == no_id || n.output() == no_id) return "an operand is missing";
  for (const ValueId each : {v.input, v.scales, v.offsets, v.bias, n.output()})
    if (each != no_id && g.dtype(each) != ScalarType::float32) return "not all of it but the weights is float32";
  const bool is_half = g.dtype(v.weight) == ScalarType::uint8;
  if (!is_half && g.dtype(v.weight) != ScalarType::int8) return "its weights are neither bytes nor halves of bytes";
  if (g.rank(v.weight) != 2 || g.rank(v.scales) < 1 || g.rank(v.scales) > 2 || g.rank(v.input) < 1)
    return "its weights are no matrix";
  v.outputs = g.size(v.weight, 0);
  v.depth = g.size(v.weight, 1) * (is_half ? 2 : 1);
  v.groups = g.rank(v.scales) == 2 ? g.size(v.scales, 0) : 1;
  constexpr std::int64_t most = 0x7fffffff;
  if (g.numel(v.weight) == 0 || g.numel(v.weight) > most || g.numel(v.input) == 0 || g.numel(v.input) > most ||
      g.numel(n.output()) > most)
    return "a tensor has no elements, or 2^31 or more";
  if (v.groups < 1 || v.depth % v.groups != 0 || (is_half && v.depth / v.groups % 2 != 0))
    return "its groups do not divide the inputs";
  if (g.size(v.input, -1) != v.depth || g.numel(n.output()) != g.numel(v.input) / v.depth * v.outputs ||
      g.numel(v.scales) != v.groups * v.outputs || (v.offsets != no_id && g.numel(v.offsets) != g.numel(v.scales)) ||
      (v.bias != no_id && g.numel(v.bias) != v.outputs))
    return "the sizes of its operands do not fit";
  for (const ValueId each : {v.weight, v.scales, v.offsets, v.bias})
    if (each != no_id && g.constant(each) != nullptr && g.constant(each)->layout != WeightLayout::contiguous)
      return "an operand is laid out for a linear";
  return nullptr;
}

}  // namespace davit::int8_fold
