// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "davit/backends/xnnpack/planner.hpp"

namespace davit::xnnpack_parts {

/// A row of the op table: what says whether a node is taken is next to what makes its steps.
struct Rule {
  std::string_view target;
  const char* (*refuses)(const Call& call);
  void (*emit)(Planner& planner, const Call& call);
};

/// The bounds that a node clamps its first operand to.
struct Bounds {
  float low = -infinity;
  float high = infinity;
};

/// The bounds of relu, hardtanh or clamp; nothing for other nodes and for bounds that XNNPACK cannot have.
[[nodiscard]] constexpr std::optional<Bounds> bounds_of(const Call& call) noexcept {
  const std::string_view target = call.target();
  Bounds b;
  if (target == "aten.relu.default") {
    b.low = 0;
  } else if (target == "aten.relu6.default") {
    b = {0, 6};
  } else if (target == "aten.hardtanh.default") {
    if (!call.is_literal("min_val") || !call.is_literal("max_val")) return std::nullopt;
    b = {static_cast<float>(call.number("min_val", -1)), static_cast<float>(call.number("max_val", 1))};
  } else if (target == "aten.clamp.default") {
    if (!call.is_literal("min") || !call.is_literal("max")) return std::nullopt;
    b = {static_cast<float>(call.number("min", -infinity)), static_cast<float>(call.number("max", infinity))};
  } else {
    return std::nullopt;
  }
  return b.low < b.high ? std::optional(b) : std::nullopt;
}

/// What a node writes once the clamps that alone use it are taken in.
struct Clamped {
  ValueId value = no_id;
  Bounds bounds;
};

/// Takes in the clamp that alone uses `value`, if there is one.
[[nodiscard]] inline Clamped take_clamp(Planner& planner, ValueId value) {
  Clamped out{.value = value, .bounds = {}};
  const NodeId user = planner.only_user(value);
  if (user == no_id || planner.is_done(user)) return out;
  const Call call(planner.graph(), user);
  const std::optional<Bounds> bounds = bounds_of(call);
  if (!bounds || call.value("self") != value || refuses_tensor(call, call.output()) != nullptr) return out;
  planner.absorb(user);
  return {call.output(), *bounds};
}

/// How a quantize node turns floats to int8.
struct Quantizer {
  Quantization quantization;
  std::int32_t low = -128;
  std::int32_t high = 127;
};

/// The quantizer of a quantize_per_tensor node to int8; nothing for other nodes and what XNNPACK cannot have.
[[nodiscard]] constexpr std::optional<Quantizer> quantizer_of(const Call& call) noexcept {
  if (call.target() != "quantized_decomposed.quantize_per_tensor.default") return std::nullopt;
  const std::optional<double> scale = call.number("scale");
  const std::int64_t zero = call.integer("zero_point", INT64_MIN);
  const std::int64_t low = call.integer("quant_min", INT64_MIN);
  const std::int64_t high = call.integer("quant_max", INT64_MIN);
  if (!scale || !(*scale >= 1e-30 && *scale <= 1e30) || zero < -128 || zero > 127 || low < -128 || high > 127 ||
      low >= high)
    return std::nullopt;
  return Quantizer{{static_cast<float>(*scale), static_cast<std::int32_t>(zero)},
                   static_cast<std::int32_t>(low),
                   static_cast<std::int32_t>(high)};
}

/// The quantize node that alone uses `value`, perhaps behind a clamp; it and the clamp are taken in with
/// absorb_quantizer.
struct QuantizedResult {
  NodeId clamp = no_id;
  NodeId node = no_id;
  ValueId value = no_id;
  Quantizer quantizer;
};
[[nodiscard]] inline std::optional<QuantizedResult> find_quantizer(const Planner& planner, ValueId value) {
  QuantizedResult out;
  NodeId user = planner.only_user(value);
  if (user == no_id) return std::nullopt;
  Bounds bounds;
  if (const std::optional<Bounds> found = bounds_of(Call(planner.graph(), user))) {
    bounds = *found;
    out.clamp = user;
    user = planner.only_user(Call(planner.graph(), user).output());
    if (user == no_id) return std::nullopt;
  }
  const Call call(planner.graph(), user);
  const std::optional<Quantizer> quantizer = quantizer_of(call);
  if (!quantizer || refuses_tensor(call, call.output(), ScalarType::int8) != nullptr) return std::nullopt;
  out.node = user;
  out.value = call.output();
  out.quantizer = *quantizer;
  const auto limit = [&](float bound, std::int32_t otherwise) {
    const float q =
        std::nearbyint(bound / quantizer->quantization.scale) + static_cast<float>(quantizer->quantization.zero_point);
    return !(q >= -128 && q <= 127) ? otherwise : static_cast<std::int32_t>(q);
  };
  out.quantizer.low = std::max(out.quantizer.low, limit(bounds.low, bounds.low > 0 ? 127 : -128));
  out.quantizer.high = std::min(out.quantizer.high, limit(bounds.high, bounds.high < 0 ? -128 : 127));
  if (out.quantizer.low >= out.quantizer.high) return std::nullopt;
  return out;
}
inline void absorb_quantizer(Planner& planner, const QuantizedResult& result) {
  if (result.clamp != no_id) planner.absorb(result.clamp);
  planner.absorb(result.node);
}

}  // namespace davit::xnnpack_parts
