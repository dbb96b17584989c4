// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "davit/backend/static_control_sources.hpp"
#include "davit/program/graph.hpp"

/// The graph of a static program, in the form that a compiler reads fastest: short rows, names as literals (which
/// constant evaluation compares in one step), and precomputed counts.
namespace davit {

/// A value of a static program.
struct StaticValue {
  const char* name;
  std::uint32_t first_size;  ///< start of its sizes in the table of sizes
  std::uint32_t rank;
  std::int64_t numel;
  std::int32_t source;  ///< the node that computes it, or -1 - i for graph input i
  std::uint32_t users;  ///< number of reads by live nodes and graph outputs
  ScalarType dtype;     ///< undefined if it is not a tensor
};

/// An argument of a node, or an item of a list.
struct StaticArgument {
  const char* name;  ///< name in the operator's schema; "" for items and outputs
  ArgumentKind kind;
  /// A number, a float's bits, a bool, an enum's value or a ValueId; for a list the row of its first item among the
  /// arguments, for a string its row among the strings.
  std::int64_t payload;
  std::uint32_t count = 0;  ///< number of items of a list

  [[nodiscard]] constexpr ValueId value() const noexcept { return static_cast<ValueId>(payload); }
  [[nodiscard]] constexpr double float_value() const noexcept { return std::bit_cast<double>(payload); }
  [[nodiscard]] constexpr bool is_value() const noexcept { return kind == ArgumentKind::value; }
  [[nodiscard]] constexpr bool is_list() const noexcept { return kind == ArgumentKind::list; }
};

/// A node of a static program: a call of an operator.
struct StaticNode {
  const char* target;
  std::uint32_t first_input, inputs;    ///< rows of the arguments
  std::uint32_t first_output, outputs;  ///< rows of the arguments
};

/// A graph of a static program with control flow: its nodes, and rows of the arguments. The first is the root, which
/// uses only `nodes`. Inputs of sub-graphs have no values of their own: their readers read the operand of the calling
/// node or, for loop-carried inputs, the loop's output.
struct StaticSubgraph {
  std::uint32_t first_node, nodes;
  std::uint32_t first_input, inputs;
  std::uint32_t first_output, outputs;
};

/// True if the strings are equal. O(size).
[[nodiscard]] constexpr bool same_characters(const char* a, const char* b) noexcept {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

/// Read access to the rows of a static program's graph; non-owning. Trivially copyable.
struct StaticGraph {
  // pointers, because operators of spans cost several calls each in constant evaluation
  const std::int64_t* sizes = nullptr;
  const StaticValue* values = nullptr;
  const ValueId* inputs = nullptr;   ///< per graph input: its value, or no_id
  const ValueId* outputs = nullptr;  ///< per graph output: its value, or no_id
  const StaticArgument* arguments = nullptr;
  const StaticNode* nodes = nullptr;
  const char* const* strings = nullptr;
  std::uint32_t value_count = 0, input_count = 0, output_count = 0, node_count = 0;
  bool has_literals = false;      ///< names are literals, which constant evaluation compares in one step
  std::uint32_t graph_count = 0;  ///< 0: all nodes belong to the root
  const StaticSubgraph* graphs = nullptr;

  [[nodiscard]] constexpr std::string_view name(ValueId v) const noexcept { return values[v].name; }
  [[nodiscard]] constexpr std::string_view target(NodeId n) const noexcept { return nodes[n].target; }
  /// Calls `visit(ValueId)` for each value in the argument, also inside lists, in order.
  template <class Visit>
  constexpr void for_each_value(const StaticArgument& argument, Visit&& visit) const {
    if (argument.kind == ArgumentKind::value) visit(static_cast<ValueId>(argument.payload));
    if (argument.kind != ArgumentKind::list) return;
    const StaticArgument* const items = arguments + argument.payload;
    for (std::uint32_t i = 0; i < argument.count; ++i) for_each_value(items[i], visit);
  }
  template <class Visit>
  constexpr void for_each_output(NodeId n, Visit&& visit) const {
    const StaticArgument* output = arguments + nodes[n].first_output;
    for (std::uint32_t i = nodes[n].outputs; i > 0; --i) for_each_value(*output++, visit);
  }
  /// The first value that the node computes; no_id if there is none.
  [[nodiscard]] constexpr ValueId first_output(NodeId n) const noexcept {
    ValueId first = no_id;
    for_each_output(n, [&](ValueId v) { first = first == no_id ? v : first; });
    return first;
  }
};

/// The rows of a static program's graph as arrays: the output of `davit embed`.
template <std::size_t Sizes, std::size_t Values, std::size_t Inputs, std::size_t Outputs, std::size_t Arguments,
          std::size_t Nodes, std::size_t Strings, std::size_t Graphs = 0>
struct StaticGraphTables {
  std::array<std::int64_t, Sizes> sizes;
  std::array<StaticValue, Values> values;
  std::array<ValueId, Inputs> inputs;
  std::array<ValueId, Outputs> outputs;
  std::array<StaticArgument, Arguments> arguments;
  std::array<StaticNode, Nodes> nodes;
  std::array<const char*, Strings> strings;
  std::array<StaticSubgraph, Graphs> graphs{};
  bool has_literals = true;

  [[nodiscard]] constexpr StaticGraph view() const noexcept {
    return {sizes.data(), values.data(), inputs.data(), outputs.data(), arguments.data(), nodes.data(), strings.data(),
            Values,       Inputs,        Outputs,       Nodes,          has_literals,     Graphs,       graphs.data()};
  }
};

/// Makes and owns the rows of a program's graphs. Node and value numbers are the program's; strides, devices, symbols
/// and traces are dropped, and symbolic numbers become numbers.
template <class = void>
class BasicStaticGraphRows {
 public:
  std::vector<char> text;  ///< the names, each terminated by a 0
  std::vector<std::int64_t> sizes;
  std::vector<StaticValue> values;
  std::vector<ValueId> inputs, outputs;
  std::vector<StaticArgument> arguments;
  std::vector<StaticNode> nodes;
  std::vector<const char*> strings;
  std::vector<StaticSubgraph> graphs;  ///< empty if the program has no control flow

  /// Uses the program's example values for sizes and symbolic numbers.
  constexpr explicit BasicStaticGraphRows(GraphModuleView graph) : graph_(graph) {
    for (const Dim& d : graph.dims) dims_.push_back(d.value);
    for (const Value& v : graph.values) symbols_.push_back(v.constant);
    make();
  }
  /// `dims` are the values of the graph's dims, `symbols` those of its symbolic values: a float as its bits, NaN if
  /// unknown.
  constexpr BasicStaticGraphRows(GraphModuleView graph, std::span<const std::int64_t> dims,
                                 std::span<const std::int64_t> symbols)
      : graph_(graph), dims_(dims.begin(), dims.end()), symbols_(symbols.begin(), symbols.end()) {
    make();
  }
  constexpr BasicStaticGraphRows(BasicStaticGraphRows&&) noexcept = default;
  constexpr BasicStaticGraphRows& operator=(BasicStaticGraphRows&&) noexcept = default;

  [[nodiscard]] constexpr StaticGraph view() const noexcept {
    return {sizes.data(),
            values.data(),
            inputs.data(),
            outputs.data(),
            arguments.data(),
            nodes.data(),
            strings.data(),
            static_cast<std::uint32_t>(values.size()),
            static_cast<std::uint32_t>(inputs.size()),
            static_cast<std::uint32_t>(outputs.size()),
            static_cast<std::uint32_t>(nodes.size()),
            false,
            static_cast<std::uint32_t>(graphs.size()),
            graphs.data()};
  }

 private:
  constexpr void make() {
    text.reserve(text_bound());
    for (const Value& each : graph_.values) value(each);
    const auto value_of = [](const Argument& a) { return a.is_value() ? a.value() : no_id; };
    for (const Argument& a : graph_.args(graph_.root().inputs)) {
      if (a.is_value()) values[a.value()].source = -1 - static_cast<std::int32_t>(inputs.size());
      inputs.push_back(value_of(a));
    }
    for (const Argument& a : graph_.args(graph_.root().outputs)) outputs.push_back(value_of(a));
    if (graph_.graphs.size() > 1) {
      sources_ = static_control_sources(graph_);
      for (ValueId v = 0; v < values.size(); ++v)
        if (sources_.node_of[v] != no_id) values[v].source = static_cast<std::int32_t>(sources_.node_of[v]);
    }
    for (const Node& n : graph_.nodes) node(n);
    for (const Graph& g : graph_.graphs) {
      if (graph_.graphs.size() == 1) break;
      const std::uint32_t first_input = rows(g.inputs), first_output = rows(g.outputs);
      graphs.push_back({g.nodes.first, g.nodes.count, first_input, g.inputs.count, first_output, g.outputs.count});
    }
    for (const ValueId v : outputs)
      if (v != no_id) ++values[v].users;
    count_users(root_graph);
  }
  /// Upper bound of the text's size, reserved so that the names never move.
  [[nodiscard]] constexpr std::size_t text_bound() const {
    std::size_t bound = 0;
    for (const Value& v : graph_.values) bound += v.name.size + 1;
    for (const Node& n : graph_.nodes) bound += n.target.size + 1 + text_bound(n.inputs) + text_bound(n.outputs);
    for (const Graph& g : graph_.graphs)
      if (graph_.graphs.size() > 1) bound += text_bound(g.inputs) + text_bound(g.outputs);
    return bound;
  }
  [[nodiscard]] constexpr std::size_t text_bound(Range list) const {
    std::size_t bound = 0;
    for (const Argument& a : graph_.args(list)) {
      bound += a.name.size + 1;
      if (a.kind == ArgumentKind::string) bound += a.items.count + 1;
      if (a.kind == ArgumentKind::list) bound += text_bound(a.items);
    }
    return bound;
  }
  [[nodiscard]] constexpr const char* keep(std::string_view name) {
    const std::size_t at = text.size();
    text.insert(text.end(), name.begin(), name.end());
    text.push_back('\0');
    return text.data() + at;
  }
  constexpr void value(const Value& v) {
    const bool is_tensor = v.kind == ValueKind::tensor;
    const std::span<const std::int64_t> list(dims_.data() + v.sizes.first, is_tensor ? v.sizes.count : 0);
    std::int64_t numel = 1;
    for (const std::int64_t d : list)
      if (__builtin_mul_overflow(numel, d, &numel)) numel = std::numeric_limits<std::int64_t>::max();
    values.push_back({.name = keep(graph_.str(v.name)),
                      .first_size = sizes_like(list),
                      .rank = static_cast<std::uint32_t>(list.size()),
                      .numel = numel,
                      .source = static_cast<std::int32_t>(v.producer),
                      .users = 0,
                      .dtype = is_tensor ? v.dtype : ScalarType::undefined});
  }
  /// Returns the position of these sizes in the table; equal lists are stored once.
  [[nodiscard]] constexpr std::uint32_t sizes_like(std::span<const std::int64_t> list) {
    for (const Range known : known_sizes_)
      if (std::ranges::equal(list, std::span(sizes).subspan(known.first, known.count))) return known.first;
    const auto first = static_cast<std::uint32_t>(sizes.size());
    known_sizes_.push_back({first, static_cast<std::uint32_t>(list.size())});
    sizes.insert(sizes.end(), list.begin(), list.end());
    return first;
  }
  [[nodiscard]] static constexpr bool is_nan(std::int64_t bits) noexcept {
    const double number = std::bit_cast<double>(bits);
    return number != number;
  }
  [[nodiscard]] constexpr StaticArgument row(const Argument& a) {
    StaticArgument r{keep(graph_.str(a.name)), a.kind, a.payload};
    switch (a.kind) {
      case ArgumentKind::value: {
        const ValueId own = sources_.same.empty() ? a.value() : sources_.same[a.value()];
        const Value& v = graph_.values[own];
        r.payload = own;
        const bool is_real = v.kind == ValueKind::sym_float && v.producer != no_id && !is_nan(symbols_[own]);
        if (v.kind != ValueKind::sym_int && v.kind != ValueKind::sym_bool && !is_real) break;
        r.kind = is_real ? ArgumentKind::float_ : ArgumentKind::int_;
        r.payload = symbols_[own];
        break;
      }
      case ArgumentKind::graph:
        if (a.graph() < sources_.uses.size() && sources_.uses[a.graph()] == StaticControlSources::called) break;
        r = {r.name, ArgumentKind::none, 0};
        break;
      case ArgumentKind::list: {
        std::vector<StaticArgument> items;
        for (const Argument& item : graph_.args(a.items)) items.push_back(row(item));
        r.payload = items_like(items);
        r.count = static_cast<std::uint32_t>(items.size());
        break;
      }
      case ArgumentKind::string:
        r.payload = static_cast<std::int64_t>(strings.size());
        strings.push_back(keep(graph_.string(a)));
        break;
      case ArgumentKind::none:
      case ArgumentKind::int_:
      case ArgumentKind::float_:
      case ArgumentKind::bool_:
      case ArgumentKind::scalar_type:
      case ArgumentKind::memory_format:
      case ArgumentKind::layout: break;
      default: r = {r.name, ArgumentKind::none, 0};  // complex numbers, devices: no static backend takes them
    }
    return r;
  }
  /// Returns the position of these items among the arguments; equal lists are stored once.
  [[nodiscard]] constexpr std::uint32_t items_like(const std::vector<StaticArgument>& items) {
    const auto same = [](const StaticArgument& a, const StaticArgument& b) {
      return a.kind == b.kind && a.payload == b.payload && a.count == b.count;
    };
    for (const Range known : known_lists_)
      if (std::ranges::equal(items, std::span(arguments).subspan(known.first, known.count), same)) return known.first;
    const auto first = static_cast<std::uint32_t>(arguments.size());
    known_lists_.push_back({first, static_cast<std::uint32_t>(items.size())});
    arguments.insert(arguments.end(), items.begin(), items.end());
    return first;
  }
  constexpr void node(const Node& n) {
    StaticNode made{keep(graph_.target(n)), 0, n.inputs.count, 0, n.outputs.count};
    made.first_input = rows(n.inputs);
    made.first_output = rows(n.outputs);
    nodes.push_back(made);
  }
  /// Appends the arguments of a node, after the items of their lists.
  [[nodiscard]] constexpr std::uint32_t rows(Range list) {
    std::vector<StaticArgument> made;
    for (const Argument& a : graph_.args(list)) made.push_back(row(a));
    const auto first = static_cast<std::uint32_t>(arguments.size());
    arguments.insert(arguments.end(), made.begin(), made.end());
    return first;
  }
  /// Counts the reads by graph outputs and by live nodes: nodes with an output that is read, and assertions.
  constexpr void count_users(GraphId graph) {
    const Range own = graph_.graphs[graph].nodes;
    const auto read = [&](const StaticArgument& a) { view().for_each_value(a, [&](ValueId v) { ++values[v].users; }); };
    for (NodeId n = own.first + own.count; n-- > own.first;) {
      const StaticNode& node = nodes[n];
      bool live = node.outputs == 0 && is_static_assertion(node.target);
      view().for_each_output(n, [&](ValueId v) { live = live || values[v].users != 0; });
      for (std::uint32_t i = 0; live && i < node.inputs; ++i) {
        const StaticArgument& a = arguments[node.first_input + i];
        read(a);
        if (a.kind != ArgumentKind::graph) continue;
        const StaticSubgraph& body = graphs[static_cast<std::size_t>(a.payload)];
        for (std::uint32_t k = 0; k < body.outputs; ++k) read(arguments[body.first_output + k]);
        count_users(static_cast<GraphId>(a.payload));
      }
    }
  }

  GraphModuleView graph_;
  std::vector<std::int64_t> dims_, symbols_;
  std::vector<Range> known_sizes_, known_lists_;
  StaticControlSources sources_;
};

using StaticGraphRows = BasicStaticGraphRows<>;

}  // namespace davit
