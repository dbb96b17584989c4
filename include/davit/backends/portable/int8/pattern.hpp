// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "davit/backend/embed_graph.hpp"
#include "davit/backends/portable/int8/multiplier.hpp"
#include "davit/backends/portable/int8/requantize.hpp"
#include "davit/program/operators/bounds.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/quantization.hpp"

/// What PT2E writes around an operator: dequantize before, quantize after it.
namespace davit::int8_fold {

/// A tensor of bytes and what they stand for: (q - zero_point) * scale. Zero point and bounds are those of the int8
/// form.
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
  /// The byte, in its int8 form, that stands for a number. Source: quantized_decomposed.quantize_per_tensor.
  [[nodiscard]] constexpr std::int32_t byte_of(double number) const noexcept {
    const double scaled = number / scale;
    const double v = int8_kernels::nearest_even(scaled > 65536    ? 65536
                                                : scaled < -65536 ? -65536
                                                                  : scaled) +
                     zero_point;
    return static_cast<std::int32_t>(v < low ? low : v > high ? high : v);
  }
};

[[nodiscard]] constexpr bool is_byte(ScalarType type) noexcept {
  return type == ScalarType::int8 || type == ScalarType::uint8;
}
/// What a zero point of this dtype is more than that of the int8 form.
[[nodiscard]] constexpr std::int32_t flip_of(ScalarType type) noexcept {
  return type == ScalarType::uint8 ? 128 : 0;
}

/// Scale, zero point and bounds of a per-tensor quantize or dequantize, for the int8 form of those bytes.
[[nodiscard]] constexpr Quantized quantized(const EmbedGraph& g, const operators::QuantizationView& view, ValueId bytes) noexcept {
  const std::int32_t flip = flip_of(g.dtype(bytes));
  const auto number = [&](std::int64_t n) { return static_cast<std::int32_t>(n) - flip; };
  Quantized q{bytes, g.dtype(bytes), view.scale, number(view.zero_point), number(view.low), number(view.high)};
  q.low = q.low < -128 ? -128 : q.low;
  q.high = q.high > 127 ? 127 : q.high;
  return q;
}

/// True if the operator's result is its `self` in the same order of elements.
[[nodiscard]] constexpr bool keeps_order(const EmbedNode& n) noexcept {
  constexpr const char* names[]{"aten.view.default",       "aten.reshape.default",    "aten._unsafe_view.default",
                            "aten.clone.default",      "aten.flatten.using_ints", "aten.squeeze.dims",
                            "aten.squeeze.dim",        "aten.squeeze.default",    "aten.unsqueeze.default",
                            "aten.alias.default",      "aten.detach.default",     "aten.contiguous.default",
                            "aten.alias_copy.default", "aten.view_copy.default",  "aten.dropout.default"};
  for (const char* name : names)
    if (n.is(name)) return true;
  return false;
}

/// The bytes that a float value is dequantized from, through views. Sizes are to be read from the float value.
[[nodiscard]] constexpr Quantized source_of(const EmbedGraph& g, ValueId v) noexcept {
  while (v != no_id && g.mine(g.producer(v))) {
    const EmbedNode n{g, g.producer(v)};
    if (n.is("quantized_decomposed.dequantize_per_tensor.default")) {
      operators::QuantizationView q;
      if (operators::read_quantization(n, q) || !is_byte(g.dtype(q.input)) || g.dtype(n.output()) != ScalarType::float32) return {};
      return quantized(g, q, q.input);
    }
    if (!keeps_order(n)) return {};
    v = n.is("aten.dropout.default") ? n.value("input") : n.value("self");
  }
  return {};
}

/// True if the value is computed for one reader alone, by a node of this backend.
[[nodiscard]] constexpr bool is_inner(const EmbedGraph& g, ValueId v) noexcept {
  return v != no_id && g.users(v) == 1 && g.mine(g.producer(v));
}

/// Follows relu, relu6, hardtanh and clamp backwards from `v` and narrows the bounds of `out` to theirs.
[[nodiscard]] constexpr ValueId through_bounds(const EmbedGraph& g, ValueId v, Quantized& out) noexcept {
  while (is_inner(g, v)) {
    const EmbedNode n{g, g.producer(v)};
    const Quantized wide = out;
    const auto narrow = [&](double low, double high) {
      if (const std::int32_t b = wide.byte_of(low); b > out.low) out.low = b;
      if (const std::int32_t b = wide.byte_of(high); b < out.high) out.high = b;
    };
    operators::BoundsView bounds;
    if (operators::read_bounds(n, bounds)) return v;
    constexpr double unbounded = 1e30;
    narrow(bounds.low < -unbounded ? -unbounded : bounds.low, bounds.high > unbounded ? unbounded : bounds.high);
    v = bounds.input;
  }
  return v;
}

/// int8 weights: bytes of zero point 0 with one scale, or one per output channel (dimension 0).
struct Weights {
  ValueId value = no_id;
  ValueId scales = no_id;  ///< per channel: a float32 constant
  double scale = 0;        ///< per tensor
  [[nodiscard]] constexpr bool found() const noexcept { return value != no_id; }
};

/// True if every element is known to be 0.
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

/// The weights that a float value is dequantized from. With `transposed`, through a permutation or a transposition
/// first.
[[nodiscard]] constexpr Weights weights_of(const EmbedGraph& g, ValueId v, bool transposed) noexcept {
  if (v == no_id || !g.mine(g.producer(v))) return {};
  EmbedNode n{g, g.producer(v)};
  if (transposed) {
    operators::PermutationView order;
    if (operators::read_permutation(n, order) || order.rank != 2 || order.from[0] != 1) return {};
    v = order.input;
    if (!g.mine(g.producer(v))) return {};
    n.id = g.producer(v);
  }
  operators::QuantizationView q;
  if (operators::read_quantization(n, q) || q.quantizes) return {};
  const StaticInput* const constant = g.constant(q.input);
  if (constant == nullptr || g.dtype(q.input) != ScalarType::int8 || constant->layout != WeightLayout::contiguous) return {};
  if (q.scales == no_id) return q.zero_point == 0 ? Weights{q.input, no_id, q.scale} : Weights{};
  if (!q.per_channel || q.axis != 0 || !is_zero(g, q.zero_points) || g.elements<float>(q.scales) == nullptr) return {};
  return {q.input, q.scales, 0};
}

}  // namespace davit::int8_fold
