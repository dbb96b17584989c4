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
#include "davit/program/call_schema.hpp"
#include "davit/program/graph.hpp"

namespace davit::portable_kernels {

/// Puts a node's arguments into the order of its operator's schema, and fills in defaults.
class ArgumentBinder {
 public:
  ArgumentBinder(GraphModuleView graph, std::span<const std::uint32_t> slot_of_value, ArgumentTable& table)
      : graph_(graph), slot_of_value_(slot_of_value), table_(&table) {}

  /// Appends the arguments of a call. Returns an empty name, or a sentence if they violate the schema (call_mismatch).
  [[nodiscard]] Name bind(std::span<const Argument> inputs, const OperatorSchema& schema, bool takes_numbers) {
    if (Name wrong = call_mismatch(graph_, inputs, schema, takes_numbers); !wrong.empty()) return wrong;
    const std::size_t first = table_->arguments.size();
    table_->arguments.resize(first + schema.parameters.size());
    std::vector<bool> given(schema.parameters.size(), false);
    for (std::size_t position = 0; position < inputs.size(); ++position) {
      const std::string_view name = graph_.str(inputs[position].name);
      const std::size_t i = name.empty() ? position : schema.index_of(name);
      given[i] = true;
      if (!set(static_cast<std::uint32_t>(first + i), inputs[position], schema.parameters[i]))
        return concat("'", schema.parameters[i].name, "' is a complex number, which no kernel takes");
    }
    for (std::size_t i = 0; i < given.size(); ++i)
      if (!given[i]) set_default(static_cast<std::uint32_t>(first + i), schema.parameters[i]);
    return {};
  }

 private:
  /// False for a complex number, which EValue cannot hold.
  [[nodiscard]] bool set(std::uint32_t at, const Argument& a, const SchemaParameter& parameter) {
    if (!parameter.is_list() || !a.is_list()) return set_one(at, a, parameter.is_optional());  // also a list of one
    const auto first = static_cast<std::uint32_t>(table_->arguments.size());
    table_->arguments.resize(first + a.items.count);
    table_->lists.push_back({at, first, a.items.count});
    std::uint32_t item = first;
    for (const Argument& each : graph_.args(a.items))
      if (!set_one(item++, each, parameter.element().ends_with('?'))) return false;
    return true;
  }
  [[nodiscard]] bool set_one(std::uint32_t at, const Argument& a, bool optional) {
    EValue& to = table_->arguments[at];
    switch (a.kind) {
      case ArgumentKind::none: return true;
      case ArgumentKind::value:
        table_->slots.push_back({at, slot_of_value_[a.value()] & 0x3fffffffu,
                                 graph_.values[a.value()].kind == ValueKind::tensor ? 1u : 0u, optional ? 1u : 0u});
        return true;
      case ArgumentKind::float_: to = EValue(a.float_value()); return true;
      case ArgumentKind::bool_: to = EValue(a.payload != 0); return true;
      case ArgumentKind::string:
      case ArgumentKind::device: table_->strings.push_back({at, {a.items.first, a.items.count}}); return true;
      case ArgumentKind::complex_: return false;
      default: to = EValue(a.payload); return true;
    }
  }

  void set_default(std::uint32_t at, const SchemaParameter& parameter) {
    EValue& to = table_->arguments[at];
    const std::string_view text = parameter.default_value;
    if (text == "None") return;
    if (text == "True" || text == "False") {
      to = EValue(text == "True");
    } else if (text.starts_with('"') || text.starts_with('\'')) {
      to = EValue(text.substr(1, text.size() - 2));  // a view of the schema, a literal
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

  /// A number as a schema writes it; "Mean" and other enumerators stand for their value.
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
