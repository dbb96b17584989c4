// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/name.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/graph_builder.hpp"

namespace davit {

/// An argument before it is in a table: a literal, a value, or a list. A symbolic size without a value carries its
/// expression.
struct Item {
  Argument argument{};
  ExprId expr = no_id;      ///< of an int that is the example value of an expression
  std::string_view text{};  ///< of a string that is not in the tables; it must outlive the pass
  std::vector<Item> items{};

  [[nodiscard]] bool is(ArgumentKind kind) const noexcept { return argument.kind == kind; }
  [[nodiscard]] bool is_none() const noexcept { return is(ArgumentKind::none); }
  [[nodiscard]] bool is_list() const noexcept { return is(ArgumentKind::list); }
  [[nodiscard]] bool is_value() const noexcept { return argument.is_value(); }
  [[nodiscard]] ValueId value() const noexcept { return argument.value(); }

  [[nodiscard]] static Item of(Argument argument) { return {.argument = argument}; }
  [[nodiscard]] static Item integer(std::int64_t value) { return of(GraphBuilder::integer(value)); }
  [[nodiscard]] static Item boolean(bool value) { return of(GraphBuilder::boolean(value)); }
  [[nodiscard]] static Item list(std::vector<Item> items) {
    return {.argument = {.kind = ArgumentKind::list}, .items = std::move(items)};
  }
};

/// An item with the name of its parameter.
struct NamedItem {
  std::string_view name;
  Item item;
};

/// The metadata of a tensor value; without strides it is contiguous.
struct TensorMeta {
  ScalarType dtype = ScalarType::undefined;
  std::vector<Dim> sizes{};
  std::vector<Dim> strides{};
};

/// Appends nodes to a copy of a program's tables. Old rows and ids stay valid, and the last rows can be rolled back.
/// `finish` removes unused rows.
class GraphEmitter {
 public:
  explicit GraphEmitter(const GraphModule& from);

  GraphId graph = root_graph;      ///< the graph that receives nodes; ascending
  std::uint32_t metadata = no_id;  ///< of the nodes
  const char* fault = nullptr;     ///< why a request cannot be emitted; stays set until it is cleared

  [[nodiscard]] GraphModuleView view() noexcept { return tables_.module().view(); }
  [[nodiscard]] GraphModule& module() noexcept { return tables_.module(); }

  /// Begins a graph: nodes follow until the next begin. The graphs are begun in the order of their ids.
  void begin(GraphId id);
  /// Begins each graph of the program that the tables were copied from, and calls each(id) for its nodes.
  template <class F>
  void each_node(GraphModuleView from, F&& each) {
    for (GraphId g = 0; g < from.graphs.size(); ++g) {
      begin(g);
      const Range nodes = from.graphs[g].nodes;
      for (NodeId n = nodes.first; n < nodes.first + nodes.count; ++n) each(n);
    }
  }
  /// Appends a node to the current graph. `kept`: it stays even if its results are unused.
  NodeId append(const Node& node, bool kept = true);

  struct Mark {
    std::size_t dims, exprs, values, arguments, nodes;
  };
  [[nodiscard]] Mark mark() noexcept;
  /// Removes the rows appended since the mark; no older row refers to them.
  void roll_back(const Mark& mark);

  /// @name Sizes. Numbers are folded, symbolic sizes become expressions with example values. Overflow sets the fault.
  [[nodiscard]] Dim arithmetic(ExprOp op, Dim a, Dim b);
  [[nodiscard]] Dim dim(const Item& item);
  [[nodiscard]] Item item(Dim dim);
  [[nodiscard]] Dim product(std::span<const Dim> dims);
  [[nodiscard]] std::span<const Dim> sizes(ValueId v) { return view().dims_of(module().values[v].sizes); }

  /// Adds an argument to the tables, without a name.
  [[nodiscard]] Argument argument(const Item& item);
  /// Reads an argument of the tables.
  [[nodiscard]] Item read(const Argument& argument);
  [[nodiscard]] std::string_view text(const Item& item) noexcept {
    return item.text.empty() ? view().string(item.argument) : item.text;
  }
  [[nodiscard]] Range list(std::span<const Argument> items) { return tables_.list(items, ArgumentKind::none).items; }
  [[nodiscard]] Text intern(std::string_view text) { return tables_.intern(text); }
  /// Gives a value a new name.
  void rename(ValueId v, std::string_view base) { module().values[v].name = new_name(base); }
  /// Adds a value to the current graph, under a new name.
  [[nodiscard]] ValueId declare(Value value, std::string_view base);
  [[nodiscard]] ValueId declare(const TensorMeta& meta, std::string_view base);

  /// Limit of emitted nodes, raised by 256 for each node of the program: a few bytes of a file may ask for any number.
  /// More set the fault.
  std::size_t max_nodes = std::size_t{1} << 16;

  /// Appends a call of an operator. Returns its result, or the list of its results.
  [[nodiscard]] Item call(std::string_view target, std::span<const NamedItem> inputs,
                          std::span<const TensorMeta> outputs, bool many);
  /// Appends arithmetic on symbolic numbers, such as a size. Returns the value of an equal earlier call in this graph.
  [[nodiscard]] Item symbolic(std::string_view target, std::span<const NamedItem> inputs, ValueKind kind, Dim result);

  /// Returns the tables with the appended nodes in place of the old ones, without unused emitted nodes, undefined
  /// values and uncalled graphs. A node that replaces several old ones also has their metadata, up to max_merged.
  /// O(size of the tables).
  [[nodiscard]] GraphModule finish();

 private:
  [[nodiscard]] Text new_name(std::string_view base) {
    return tables_.text(concat("d", prefix_, "_", base, "_", names_++));
  }
  /// The key of arithmetic on symbolic numbers; empty for other nodes.
  [[nodiscard]] std::string symbolic_key(const Node& node);
  /// Records the old nodes behind each new node as rows of metadata in `out`. `used`: per value, whether a remaining
  /// node uses it.
  void merge_metadata(std::span<const std::uint8_t> used, std::span<const std::uint8_t> needed, GraphModule& out);
  [[nodiscard]] bool is_original(NodeId n) const noexcept { return kept_[n - old_nodes_] != 0; }

  GraphBuilder tables_;
  std::vector<ValueId> ints_;                                             ///< symbolic ints, by ascending id
  std::map<std::string, ValueId> symbols_;                                ///< of the current graph, by key
  std::vector<std::map<std::string, ValueId>::iterator> newest_symbols_;  ///< in the order of their emission
  std::size_t old_nodes_ = 0;
  std::size_t made_ = 0;      ///< emitted nodes, with those rolled back
  std::uint64_t prefix_ = 0;  ///< new names begin with "d<prefix>_"
  std::uint64_t names_ = 0;
  std::vector<std::uint8_t> kept_;  ///< per new node: it stays even if its results are unused
};

}  // namespace davit
