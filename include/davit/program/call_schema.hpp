// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/core/name.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/program/graph.hpp"

namespace davit {

namespace detail {

/// The kind of an argument in a sentence, if it is none of a parameter's type; an empty text if it is.
/// `takes_number`: a number may stand for a tensor.
template <class = void>
[[nodiscard]] constexpr std::string_view misfit_of(GraphModuleView graph, const Argument& a, std::string_view type,
                                                   bool takes_number) noexcept {
  const bool is_tensor = type == "Tensor" && !takes_number, is_text = type == "str" || type == "Device";
  switch (a.kind) {
    case ArgumentKind::value: {
      const ValueKind kind = graph.values[a.value()].kind;
      if ((kind == ValueKind::custom_obj) != type.starts_with("__torch__."))
        return kind == ValueKind::custom_obj ? "a custom object" : "a value";
      if (kind == ValueKind::token) return "a token";
      if (type == "Tensor" ? is_tensor && kind != ValueKind::tensor : kind == ValueKind::tensor && type != "Scalar")
        return kind == ValueKind::tensor ? "a tensor" : "a symbolic number";
      return {};
    }
    case ArgumentKind::int_:
    case ArgumentKind::scalar_type:
    case ArgumentKind::memory_format:
    case ArgumentKind::layout: return is_tensor || is_text ? "a number" : "";
    case ArgumentKind::float_: return is_tensor || is_text || type == "ScalarType" ? "a float" : "";
    case ArgumentKind::bool_: return is_tensor || is_text ? "a bool" : "";
    case ArgumentKind::complex_: return is_tensor || is_text ? "a complex number" : "";
    case ArgumentKind::string:
    case ArgumentKind::device: return is_text ? "" : "a string";
    case ArgumentKind::list: return "a list";
    case ArgumentKind::graph: return "a sub-graph";
    default: return "this kind of argument";
  }
}

}  // namespace detail

/// Why a call is not as its operator's schema says, in a sentence that names the argument; an empty name if it is.
///
/// Each argument has a parameter, by its name or its place, and that one argument at most; it is of the parameter's
/// type, where a lone number stands for a list of one; parameters without a default are there. `takes_number`: a number
/// may stand for a tensor, as in add(x, 2). O(arguments * parameters).
template <class = void>
[[nodiscard]] constexpr Name call_mismatch(GraphModuleView graph, std::span<const Argument> inputs,
                                           const OperatorSchema& schema, bool takes_number) {
  const std::size_t count = schema.parameters.size();
  std::uint64_t given = 0;  // a bit per parameter; no operator has 64
  if (count > 63) return "the operator has too many parameters";
  for (std::size_t position = 0; position < inputs.size(); ++position) {
    const Argument& a = inputs[position];
    const std::string_view name = graph.str(a.name);
    const std::size_t i = name.empty() ? position : schema.index_of(name);
    if (i >= count)
      return name.empty() ? Name("more arguments than the operator takes")
                          : concat("no parameter is called '", name, "'");
    const SchemaParameter& p = schema.parameters[i];
    if ((given >> i & 1) != 0) return concat("'", p.name, "' is given twice");
    given |= std::uint64_t{1} << i;
    std::string_view wrong, element = p.element();
    if (a.kind == ArgumentKind::none) {
      if (!p.is_optional() && p.base() != "Scalar") wrong = "None";
    } else if (!p.is_list() || !a.is_list()) {
      wrong = detail::misfit_of(graph, a, element, takes_number && !p.is_list());
    } else {
      const bool optional = element.ends_with('?');
      if (optional) element.remove_suffix(1);
      for (const Argument& item : graph.args(a.items))
        if (item.kind == ArgumentKind::none && !optional)
          wrong = "a list with None in it";
        else if (item.kind != ArgumentKind::none && wrong.empty())
          wrong = detail::misfit_of(graph, item, element, false);
    }
    if (!wrong.empty()) return concat("'", p.name, "' must be of type ", p.type, ", not ", wrong);
  }
  for (std::size_t i = 0; i < count; ++i)
    if ((given >> i & 1) == 0 && !schema.parameters[i].has_default)
      return concat("'", schema.parameters[i].name, "' is missing");
  return {};
}

}  // namespace davit
