// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/formats/json/json.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/pt2/argument_json.hpp"
#include "davit/formats/pt2/value_json.hpp"
#include "davit/formats/pt2/value_scope.hpp"
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

/// Maximum nesting depth of sub-graphs in a program.
inline constexpr int max_graph_depth = 64;

/// Reads the `Graph` object of a program's JSON, including sub-graphs, into the tables of a GraphBuilder.
///
/// Values are numbered in order of definition. Operator names lose "torch.ops.". Results of a higher-order operator are
/// always a flat list; torch 2.6 wraps a single tensor in a list and newer torch does not. A scan has the arguments of
/// torch 2.6. Source: torch._export.serde.serialize.GraphModuleDeserializer.deserialize_graph.
class GraphReader {
 public:
  /// The JSON document must outlive the reader.
  explicit GraphReader(GraphBuilder& builder) noexcept : builder_(builder), values_(builder), metadata_(builder) {}

  /// Reads a graph; the first one is the root. O(size log values). Errors name the place in the JSON: undefined or
  /// duplicate names, values without metadata, unknown argument kinds.
  [[nodiscard]] Result<GraphId> read(Json graph, std::string_view name = {}) { return read(graph, name, 0); }

 private:
  [[nodiscard]] Result<GraphId> read(Json graph, std::string_view name, int depth) {
    if (depth > max_graph_depth) return graph.error("sub-graphs are nested too deeply");
    Result<ValueScope> scope = ValueScope::of(graph);
    if (!scope) return error_of(std::move(scope));
    ArgumentReader arguments(builder_, values_, *scope);
    const GraphId id = builder_.begin_graph(name);
    if (Result<void> read = inputs(graph, arguments); !read) return error_of(std::move(read));
    const Result<JsonArray> nodes = graph.array("nodes");
    if (!nodes) return error_of(nodes);
    for (const Json json : *nodes)
      if (Result<void> read = node(json, arguments, depth); !read) return error_of(std::move(read));
    if (Result<void> read = outputs(graph, arguments); !read) return error_of(std::move(read));
    return id;
  }

  [[nodiscard]] Result<void> inputs(Json graph, ArgumentReader& arguments) {
    const Result<JsonArray> array = graph.array("inputs");
    if (!array) return error_of(array);
    for (const Json json : *array) {
      const Result<Argument> input = arguments.define(json);
      if (!input) return error_of(input);
      if (input->is_list()) return json.error("a graph input cannot be a list");
      builder_.input(*input);
    }
    return {};
  }

  [[nodiscard]] Result<void> outputs(Json graph, ArgumentReader& arguments) {
    const Result<JsonArray> array = graph.array("outputs");
    if (!array) return error_of(array);
    std::vector<Argument> list;
    list.reserve(array->size());
    for (const Json json : *array) {
      const Result<Argument> output = arguments.use(json);
      if (!output) return error_of(output);
      list.push_back(*output);
    }
    bool is_single = false;
    const auto flag = graph.find("is_single_tensor_return");
    if (!flag) return error_of(flag);
    if (*flag) {
      const Result<bool> truth = (*flag)->boolean();
      if (!truth) return error_of(truth);
      is_single = *truth;
    }
    builder_.end_graph(list, is_single);
    return {};
  }

  [[nodiscard]] Result<void> node(Json json, ArgumentReader& arguments, int depth) {
    const Result<std::string_view> printed = json.string("target");
    if (!printed) return error_of(printed);
    const std::string target = normalized_target(*printed);
    Result<std::vector<Argument>> operands = node_inputs(json, arguments, depth);
    if (!operands) return error_of(std::move(operands));
    Result<std::vector<Argument>> results = node_outputs(json, arguments, target.starts_with("higher_order."));
    if (!results) return error_of(std::move(results));
    const Result<std::uint32_t> metadata = metadata_.read(json);
    if (!metadata) return error_of(metadata);
    if (target == "higher_order.scan") add_direction(*operands);
    if (target == "higher_order.with_effects") {
      if (!operands->empty()) make_token(operands->front());
      if (!results->empty()) make_token(results->front());
    }
    builder_.node(target, *operands, *results, *metadata);
    return {};
  }

  [[nodiscard]] Result<std::vector<Argument>> node_inputs(Json node, ArgumentReader& arguments, int depth) {
    const Result<JsonArray> array = node.array("inputs");
    if (!array) return error_of(array);
    std::vector<Argument> operands;
    operands.reserve(array->size());
    for (const Json json : *array) {
      const Result<std::string_view> name = json.string("name");
      if (!name) return error_of(name);
      const Result<Json> value = json.at("arg");
      if (!value) return error_of(value);
      Result<Argument> operand = node_input(*value, arguments, depth);
      if (!operand) return error_of(std::move(operand));
      const auto kind = json.find("kind");
      if (!kind) return error_of(kind);
      constexpr std::int64_t by_keyword = 2;
      operand->keyword = *kind && (*kind)->integer() == by_keyword ? 1 : 0;
      operand->name = builder_.intern(*name);
      operands.push_back(*operand);
    }
    return operands;
  }

  [[nodiscard]] Result<Argument> node_input(Json json, ArgumentReader& arguments, int depth) {
    const Result<JsonMember> tagged = json.tagged();
    if (!tagged) return error_of(tagged);
    if (tagged->key != "as_graph") return arguments.use(json);
    const Result<std::string_view> name = tagged->value.string("name");
    if (!name) return error_of(name);
    const Result<Json> graph = tagged->value.at("graph");
    if (!graph) return error_of(graph);
    const Result<GraphId> id = read(*graph, *name, depth + 1);
    if (!id) return error_of(id);
    return GraphBuilder::subgraph(*id);
  }

  [[nodiscard]] Result<std::vector<Argument>> node_outputs(Json node, ArgumentReader& arguments, bool is_higher_order) {
    const Result<JsonArray> array = node.array("outputs");
    if (!array) return error_of(array);
    if (is_higher_order && array->size() == 1) {
      const Result<JsonMember> tagged = (*array->begin()).tagged();
      if (!tagged) return error_of(tagged);
      if (tagged->key == "as_tensors") return arguments.define_tensors(tagged->value);
    }
    std::vector<Argument> results;
    results.reserve(array->size());
    for (const Json json : *array) {
      const Result<Argument> result = arguments.define(json);
      if (!result) return error_of(result);
      const ArgumentKind kind = result->kind;
      if (kind != ArgumentKind::value && kind != ArgumentKind::none && kind != ArgumentKind::list)
        return json.error("a node must return values");
      results.push_back(*result);
    }
    return results;
  }

  /// Inserts dimension 0 and reverse = false into a scan of torch 2.7 or later, which omits them: (graph, init, xs,
  /// additional).
  static void add_direction(std::vector<Argument>& operands) {
    if (operands.size() < 3 || (operands.size() > 3 && !operands[3].is_list())) return;
    operands.insert(operands.begin() + 3, {GraphBuilder::integer(0), GraphBuilder::boolean(false)});
  }

  /// Turns a tensor into a token: the file describes tokens as tensors.
  void make_token(const Argument& argument) {
    if (!argument.is_value()) return;
    Value& value = builder_.module().values[argument.value()];
    if (value.kind == ValueKind::tensor) value.kind = ValueKind::token;
  }

  GraphBuilder& builder_;
  ValueReader values_;
  MetadataReader metadata_;
};

}  // namespace davit::formats
