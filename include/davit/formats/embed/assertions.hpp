// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "davit/core/name.hpp"
#include "davit/program/graph.hpp"

namespace davit::formats {

/// The message of a model's assertion, behind ": "; empty without one.
[[nodiscard]] inline Name assertion_text(GraphModuleView graph, const Node& node) {
  for (const Argument& a : graph.inputs(node))
    if (a.kind == ArgumentKind::string) return concat(": ", graph.string(a));
  return {};
}

/// Evaluates an assertion about numbers, an `aten._assert_*` or `aten.sym_constrain_range*` node, for these values of
/// the symbolic numbers; nothing if it is about data.
[[nodiscard]] inline std::optional<bool> assertion_holds(GraphModuleView graph, const Node& node,
                                                         const std::vector<std::int64_t>& symbols) {
  const std::span<const Argument> in = graph.inputs(node);
  if (in.empty()) return std::nullopt;
  if (graph.target(node) == "aten._assert_tensor_metadata.default") {
    const Argument* dtype = graph.find_input(node, "dtype");
    const std::ptrdiff_t given =
        std::ranges::count_if(in, [](const Argument& a) { return a.kind != ArgumentKind::none; });
    if (!in[0].is_value() || dtype == nullptr || dtype->kind != ArgumentKind::scalar_type || given != 2)
      return std::nullopt;
    return static_cast<ScalarType>(dtype->payload) == graph.values[in[0].value()].dtype;
  }
  std::int64_t number = in[0].payload;
  if (in[0].is_value()) {
    const ValueKind kind = graph.values[in[0].value()].kind;
    if (kind != ValueKind::sym_int && kind != ValueKind::sym_bool) return std::nullopt;
    number = symbols[in[0].value()];
  } else if (in[0].kind != ArgumentKind::int_ && in[0].kind != ArgumentKind::bool_) {
    return std::nullopt;
  }
  if (graph.target(node) == "aten._assert_scalar.default") return number != 0;
  const auto bound = [&](std::string_view name, std::int64_t otherwise) {
    const Argument* a = graph.find_input(node, name);
    return a != nullptr && a->kind == ArgumentKind::int_ ? a->payload : otherwise;
  };
  return number >= bound("min", INT64_MIN) && number <= bound("max", INT64_MAX);
}

}  // namespace davit::formats
