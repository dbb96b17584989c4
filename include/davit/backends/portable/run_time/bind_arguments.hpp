// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/backends/portable/run_time/argument_table.hpp"
#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/real_from_chars.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/program/graph.hpp"

namespace davit::portable_kernels {

/// Lays out a node's arguments in the order of its operator's schema, checked against the types there and completed by
/// its defaults.
class ArgumentBinder {
 public:
  ArgumentBinder(GraphModuleView graph, std::span<const std::uint32_t> slot_of_value, ArgumentTable& table)
      : graph_(graph), slot_of_value_(slot_of_value), table_(&table) {}

  /// Appends the arguments of a call; answers a sentence if they do not fit the schema (nothing is appended that a
  /// caller would use then), else an empty name.
  [[nodiscard]] Name bind(std::span<const Argument> inputs, const OperatorSchema& schema, bool takes_numbers) {
    const std::size_t first = table_->arguments.size();
    table_->arguments.resize(first + schema.parameters.size());
    std::vector<bool> given(schema.parameters.size(), false);
    std::size_t position = 0;
    for (const Argument& a : inputs) {
      const std::string_view name = graph_.str(a.name);
      const std::size_t i = name.empty() ? position : schema.index_of(name);
      ++position;
      if (i >= schema.parameters.size())
        return name.empty() ? Name("more arguments than the operator takes")
                            : concat("no parameter is called '", name, "'");
      if (given[i]) return concat("'", schema.parameters[i].name, "' is given twice");
      given[i] = true;
      if (Name wrong = set(static_cast<std::uint32_t>(first + i), a, schema.parameters[i], takes_numbers);
          !wrong.empty())
        return wrong;
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i]) continue;
      if (!schema.parameters[i].has_default) return concat("'", schema.parameters[i].name, "' is missing");
      set_default(static_cast<std::uint32_t>(first + i), schema.parameters[i]);
    }
    return {};
  }

 private:
  [[nodiscard]] Name set(std::uint32_t at, const Argument& a, const SchemaParameter& parameter, bool numbers) {
    const auto wrong = [&](std::string_view found) {
      return concat("'", parameter.name, "' must be of type ", parameter.type, ", not ", found);
    };
    if (a.kind == ArgumentKind::none) {
      if (!parameter.is_optional() && parameter.base() != "Scalar") return wrong("None");
      return {};
    }
    if (!parameter.is_list()) {
      if (a.is_list()) return wrong("a list");
      return set_one(at, a, parameter.element(), wrong, numbers, parameter.is_optional());
    }
    if (!a.is_list())
      return set_one(at, a, parameter.element(), wrong, false,
                     parameter.is_optional());  // a lone number stands for a list of one
    const auto first = static_cast<std::uint32_t>(table_->arguments.size());
    table_->arguments.resize(first + a.items.count);
    table_->lists.push_back({at, first, a.items.count});
    std::uint32_t item = first;
    std::string_view element = parameter.element();
    const bool optional = element.ends_with('?');
    if (optional) element.remove_suffix(1);
    for (const Argument& each : graph_.args(a.items)) {
      if (each.kind == ArgumentKind::none) {
        if (!optional) return wrong("a list with None in it");
      } else if (Name bad = set_one(item, each, element, wrong, false, optional); !bad.empty()) {
        return bad;
      }
      ++item;
    }
    return {};
  }

  template <class Wrong>
  [[nodiscard]] Name set_one(std::uint32_t at, const Argument& a, std::string_view type, const Wrong& wrong,
                             bool numbers, bool optional) {
    const bool needs_tensor = type == "Tensor" && !numbers;
    EValue& to = table_->arguments[at];
    switch (a.kind) {
      case ArgumentKind::value: {
        const ValueKind kind = graph_.values[a.value()].kind;
        if ((kind == ValueKind::custom_obj) != type.starts_with("__torch__."))
          return wrong(kind == ValueKind::custom_obj ? "a custom object" : "a value");
        if (kind == ValueKind::token) return wrong("a token");
        if (type == "Tensor" ? needs_tensor && kind != ValueKind::tensor
                             : kind == ValueKind::tensor && type != "Scalar")
          return wrong(kind == ValueKind::tensor ? "a tensor" : "a symbolic number");
        table_->slots.push_back(
            {at, slot_of_value_[a.value()] & 0x3fffffffu, kind == ValueKind::tensor ? 1u : 0u, optional ? 1u : 0u});
        return {};
      }
      case ArgumentKind::int_:
      case ArgumentKind::scalar_type:
      case ArgumentKind::memory_format:
      case ArgumentKind::layout:
        if (needs_tensor || type == "str" || type == "Device") return wrong("a number");
        to = EValue(a.payload);
        return {};
      case ArgumentKind::float_:
        if (needs_tensor || type == "str" || type == "Device" || type == "ScalarType") return wrong("a float");
        to = EValue(a.float_value());
        return {};
      case ArgumentKind::bool_:
        if (needs_tensor || type == "str" || type == "Device") return wrong("a bool");
        to = EValue(a.payload != 0);
        return {};
      case ArgumentKind::string:
      case ArgumentKind::device:
        if (type != "str" && type != "Device") return wrong("a string");
        table_->strings.push_back({at, {a.items.first, a.items.count}});
        return {};
      case ArgumentKind::list: return wrong("a list");
      case ArgumentKind::graph: return wrong("a sub-graph");
      default: return wrong("this kind of argument");
    }
  }

  void set_default(std::uint32_t at, const SchemaParameter& parameter) {
    EValue& to = table_->arguments[at];
    const std::string_view text = parameter.default_value;
    if (text == "None") return;
    if (text == "True" || text == "False") {
      to = EValue(text == "True");
    } else if (text.starts_with('"') || text.starts_with('\'')) {
      to = EValue(text.substr(1, text.size() - 2));  // views the schema, a literal
    } else if (text.starts_with('[')) {
      set_default_list(at, text.substr(1, text.size() - 2));
    } else {
      to = number(text);
    }
  }

  void set_default_list(std::uint32_t at, std::string_view items) {
    const auto first = static_cast<std::uint32_t>(table_->arguments.size());
    while (!items.empty()) {
      const std::size_t comma = items.find(',');
      std::string_view item = items.substr(0, comma);
      while (item.starts_with(' ')) item.remove_prefix(1);
      table_->arguments.push_back(item == "True" || item == "False" ? EValue(item == "True") : number(item));
      items = comma == std::string_view::npos ? std::string_view{} : items.substr(comma + 1);
    }
    table_->lists.push_back({at, first, static_cast<std::uint32_t>(table_->arguments.size() - first)});
  }

  /// A number as a schema writes it; "Mean" and other enumerators of defaults stand for their value.
  [[nodiscard]] static EValue number(std::string_view text) {
    std::int64_t integer = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
    if (error == std::errc{} && end == text.data() + text.size()) return integer;
    double real = 0;
    const auto result = real_from_chars(text.data(), text.data() + text.size(), real);
    if (result.ec == std::errc{} && result.ptr == text.data() + text.size()) return real;
    if (text == "contiguous_format") return static_cast<std::int64_t>(MemoryFormat::contiguous);
    return {};
  }

  GraphModuleView graph_;
  std::span<const std::uint32_t> slot_of_value_;
  ArgumentTable* table_;
};

}  // namespace davit::portable_kernels
