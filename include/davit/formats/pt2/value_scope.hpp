// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/formats/json/json.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/pt2/value_json.hpp"
#include "davit/program/graph_builder.hpp"

namespace davit::formats {

/// The names of one graph in a program's JSON: their descriptions, and which of them are defined so far.
///
/// A sub-graph has its own scope and does not see the names of the enclosing graph.
class ValueScope {
 public:
  /// Lists the names of a `Graph` object. O(names log names). Errors: a duplicate name.
  [[nodiscard]] static Result<ValueScope> of(Json graph);

  /// Declares a value in the builder's open graph. `place` is its definition in the file. O(log names). Errors: a name
  /// that is not listed, already defined, or malformed.
  [[nodiscard]] Result<ValueId> define(std::string_view name, Json place, ValueReader& values, GraphBuilder& builder);
  /// Returns the value of a name. O(log names). Errors: the name is not defined yet.
  [[nodiscard]] Result<ValueId> use(std::string_view name, Json place);

 private:
  struct Entry {
    std::string_view name;
    Json json;
    ValueKind kind;
    ValueId value = no_id;
  };

  [[nodiscard]] Result<void> list(Json graph, std::string_view key, ValueKind kind);
  [[nodiscard]] Entry* find(std::string_view name) noexcept {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), name,
                                     [](const Entry& e, std::string_view n) { return e.name < n; });
    return at != entries_.end() && at->name == name ? &*at : nullptr;
  }

  std::vector<Entry> entries_;  ///< sorted by name
};

inline Result<ValueScope> ValueScope::of(Json graph) {
  constexpr std::pair<std::string_view, ValueKind> tables[] = {{"tensor_values", ValueKind::tensor},
                                                               {"sym_int_values", ValueKind::sym_int},
                                                               {"sym_float_values", ValueKind::sym_float},
                                                               {"sym_bool_values", ValueKind::sym_bool},
                                                               {"custom_obj_values", ValueKind::custom_obj}};
  ValueScope scope;
  for (const auto& [key, kind] : tables)
    if (Result<void> listed = scope.list(graph, key, kind); !listed) return error_of(std::move(listed));
  std::vector<Entry>& entries = scope.entries_;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(entries.begin(), entries.end(),
                                        [](const Entry& a, const Entry& b) { return a.name == b.name; });
  if (twice != entries.end()) return twice->json.error(concat("value ", in_quotes(twice->name), " is listed twice"));
  return scope;
}

inline Result<void> ValueScope::list(Json graph, std::string_view key, ValueKind kind) {
  const auto table = graph.find(key);
  if (!table) return error_of(table);
  if (!*table) return {};
  const Result<JsonObject> object = (*table)->object();
  if (!object) return error_of(object);
  for (const JsonMember member : *object) entries_.push_back({member.key, member.value, kind});
  return {};
}

inline Result<ValueId> ValueScope::define(std::string_view name, Json place, ValueReader& values,
                                          GraphBuilder& builder) {
  Entry* entry = find(name);
  if (entry == nullptr) return place.error(concat("the file does not say what value ", in_quotes(name), " is"));
  if (entry->value != no_id) return place.error(concat("value ", in_quotes(name), " is defined a second time"));
  Result<Value> value = values.read(entry->kind, entry->json);
  if (!value) return error_of(std::move(value));
  value->name = builder.text(name);
  entry->value = builder.declare(*value);
  return entry->value;
}

inline Result<ValueId> ValueScope::use(std::string_view name, Json place) {
  const Entry* entry = find(name);
  if (entry == nullptr) return place.error(concat("value ", in_quotes(name), " does not exist in this graph"));
  if (entry->value == no_id) return place.error(concat("value ", in_quotes(name), " is used before it is defined"));
  return entry->value;
}

}  // namespace davit::formats
