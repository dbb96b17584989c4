// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "davit/formats/json/json.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/program/graph_builder.hpp"

namespace davit::formats {

/// Reads node metadata (the origin of nodes) into the metadata table. Equal rows and equal texts are stored once.
class MetadataReader {
 public:
  explicit MetadataReader(GraphBuilder& builder) noexcept : builder_(builder) {}

  /// Returns the metadata row of a node; a row of empty texts if it has none. Ignores unknown keys.
  [[nodiscard]] Result<std::uint32_t> read(Json node) {
    const auto metadata = node.find("metadata");
    if (!metadata) return error_of(metadata);
    NodeMetadata row;
    if (*metadata) {
      const Result<JsonObject> object = (*metadata)->object();
      if (!object) return error_of(object);
      for (const JsonMember member : *object) {
        Text* field = field_of(row, member.key);
        if (field == nullptr || member.value.is_null()) continue;
        const Result<std::string_view> text = member.value.string();
        if (!text) return error_of(text);
        *field = builder_.intern(*text);
      }
    }
    return store(row);
  }

 private:
  [[nodiscard]] static Text* field_of(NodeMetadata& row, std::string_view key) noexcept {
    if (key == "stack_trace") return &row.stack_trace;
    if (key == "nn_module_stack") return &row.nn_module_stack;
    if (key == "source_fn_stack") return &row.source_fn_stack;
    if (key == "torch_fn") return &row.torch_fn;
    if (key == "custom") return &row.custom;
    return nullptr;
  }

  /// Stores a row once. Compares texts by offset, because texts are interned.
  [[nodiscard]] std::uint32_t store(const NodeMetadata& row) {
    const std::array<std::uint32_t, 10> key{
        row.stack_trace.first,     row.stack_trace.size,     row.nn_module_stack.first, row.nn_module_stack.size,
        row.source_fn_stack.first, row.source_fn_stack.size, row.torch_fn.first,        row.torch_fn.size,
        row.custom.first,          row.custom.size};
    auto& table = builder_.module().metadata;
    const auto [at, is_new] = rows_.try_emplace(key, static_cast<std::uint32_t>(table.size()));
    if (is_new) table.push_back(row);
    return at->second;
  }

  GraphBuilder& builder_;
  std::map<std::array<std::uint32_t, 10>, std::uint32_t> rows_;
};

}  // namespace davit::formats
