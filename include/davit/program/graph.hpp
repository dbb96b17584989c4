// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/core/name.hpp"
#include "davit/core/scalar_type.hpp"

namespace davit {

// Ids are indices into the tables of one GraphModule.
using ValueId = std::uint32_t;
using NodeId = std::uint32_t;
using GraphId = std::uint32_t;
using ExprId = std::uint32_t;
inline constexpr std::uint32_t no_id = 0xffffffffu;
/// The graph where a program starts.
inline constexpr GraphId root_graph = 0;
/// Operator that calls a partition; its first argument is the partition's number. For its arguments in static programs
/// see davit/backend/embed_delegate.hpp.
inline constexpr std::string_view call_delegate_target = "higher_order.executorch_call_delegate";

/// A range of rows of a table.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend constexpr bool operator==(Range, Range) = default;
};

/// A range of the text table.
struct Text {
  std::uint32_t first = 0;
  std::uint32_t size = 0;
  friend constexpr bool operator==(Text, Text) = default;
};

/// One size or stride: a number, or an expression over symbols with the example value `value`.
struct Dim {
  std::int64_t value = 0;
  ExprId expr = no_id;
  std::uint32_t reserved = 0;
  [[nodiscard]] constexpr bool is_static() const noexcept { return expr == no_id; }
};

/// Operators of symbolic expressions (sympy's names in torch's printed form).
enum class ExprOp : std::uint32_t {
  integer,  ///< `value`
  symbol,   ///< `name`
  add,
  mul,  ///< operands a, b; likewise from add to min
  floor_div,
  mod,
  python_mod,
  pow,
  max,
  min,
  ceil_to_int,  ///< operand a
  int_true_div,
  true_div,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  logical_and,
  logical_or,
  logical_not,
  where,             ///< a ? b : c
  modular_indexing,  ///< (a // b) % c
  rational,          ///< value / c as numbers (c holds the denominator)
  to_float,
  trunc_to_int,
  floor_to_int,
  round_to_int,
  boolean,  ///< `value` is 0 or 1
  real,     ///< a float whose bits are `value`
};

/// A node of a symbolic expression. Operands are earlier entries of the table (smaller ids).
struct Expr {
  ExprOp op = ExprOp::integer;
  std::uint32_t a = no_id;
  std::uint32_t b = no_id;
  std::uint32_t c = no_id;
  std::int64_t value = 0;
  Text name{};
};

enum class ValueKind : std::uint8_t { tensor, sym_int, sym_float, sym_bool, custom_obj, token };

/// torch.layout, with the numbers of torch.export's schema.
enum class Layout : std::uint8_t {
  unknown = 0,
  sparse_coo,
  sparse_csr,
  sparse_csc,
  sparse_bsr,
  sparse_bsc,
  mkldnn,
  strided
};
/// torch.memory_format, with the numbers of torch.export's schema.
enum class MemoryFormat : std::uint8_t { unknown = 0, contiguous, channels_last, channels_last_3d, preserve };

/// An SSA value: defined once, by a graph input or a node output.
struct Value {
  Text name{};
  GraphId graph = no_id;      ///< the graph that defines it
  NodeId producer = no_id;    ///< the node that defines it; no_id for a graph input
  Range sizes{};              ///< tensor: dims
  Range strides{};            ///< tensor: dims, empty if not recorded
  std::int64_t constant = 0;  ///< sym_*: example or constant value (float bits for sym_float); tensor: storage offset
  ExprId expr = no_id;        ///< sym_*: expression, unless it is constant
  Text class_fqn{};           ///< custom_obj
  Text device{};              ///< tensor: "cpu", "cuda:0"
  ValueKind kind = ValueKind::tensor;
  ScalarType dtype = ScalarType::undefined;
  Layout layout = Layout::strided;
  std::uint8_t requires_grad = 0;
};

enum class ArgumentKind : std::uint8_t {
  none,
  value,  ///< an SSA value (tensor, symbolic number, custom object, token)
  int_,
  float_,
  bool_,
  string,
  scalar_type,
  memory_format,
  layout,
  device,
  complex_,       ///< real part in payload, imaginary part in items
  graph,          ///< a sub-graph of control flow
  operator_name,  ///< the operator of with_effects
  list,           ///< items; `element` is the kind of the elements, also of an empty list
};

/// An argument of a node, an element of a list argument, a graph input or a graph output, a node output.
struct Argument {
  Text name{};               ///< name of the parameter in the operator's schema, or empty (positional)
  std::int64_t payload = 0;  ///< number, float bits, bool, enum value, ValueId or GraphId
  Range items{};             ///< list: arguments; string, device and operator: text
  ArgumentKind kind = ArgumentKind::none;
  ArgumentKind element = ArgumentKind::none;
  std::uint8_t keyword = 0;  ///< 1 if the file marks it as passed by keyword
  std::uint8_t reserved = 0;
  std::uint32_t reserved2 = 0;

  [[nodiscard]] constexpr ValueId value() const noexcept { return static_cast<ValueId>(payload); }
  [[nodiscard]] constexpr GraphId graph() const noexcept { return static_cast<GraphId>(payload); }
  [[nodiscard]] constexpr double float_value() const noexcept { return std::bit_cast<double>(payload); }
  [[nodiscard]] constexpr double imaginary() const noexcept {
    return std::bit_cast<double>(static_cast<std::uint64_t>(items.first) << 32 | items.count);
  }
  [[nodiscard]] constexpr bool is_value() const noexcept { return kind == ArgumentKind::value; }
  [[nodiscard]] constexpr bool is_list() const noexcept { return kind == ArgumentKind::list; }
};

/// An operator call: `target` is "aten.add.Tensor", "higher_order.cond", "_operator.add", "sym_size"...
struct Node {
  Text target{};
  Range inputs{};                  ///< arguments, in the order of the file
  Range outputs{};                 ///< arguments: value, none, or a list of values
  std::uint32_t metadata = no_id;  ///< row of the metadata table
  GraphId graph = no_id;
};

/// Origin of a node in the model's source; a separate table, so that a device image can drop it.
struct NodeMetadata {
  Text stack_trace{};      ///< Python traceback, outermost frame first
  Text nn_module_stack{};  ///< "key,path,type" joined by ';', outermost first
  Text source_fn_stack{};
  Text torch_fn{};
  Text custom{};
  std::uint32_t merged = no_id;  ///< earlier row of a node that was merged into this one; no_id ends the list
};

/// Maximum number of metadata rows of a node: its own and those of nodes merged into it.
inline constexpr std::size_t max_merged = 16;

/// One graph: the root, or the body of a control-flow operator. Its nodes are in execution order.
struct Graph {
  Text name{};
  Range inputs{};   ///< arguments: values, or constants
  Range outputs{};  ///< arguments
  Range nodes{};
  std::uint32_t is_single_tensor_return = 0;
};

/// Non-owning read access to the tables of a program's graphs. Trivially copyable; pass it by value.
struct GraphModuleView {
  std::string_view text;
  std::span<const Dim> dims;
  std::span<const Expr> exprs;
  std::span<const Value> values;
  std::span<const Argument> arguments;
  std::span<const Node> nodes;
  std::span<const Graph> graphs;
  std::span<const NodeMetadata> metadata;
  const std::uint8_t* used = nullptr;  ///< per value: uses by nodes and graph outputs, at most 255 (see used_values);
                                       ///< or null
  const std::uint8_t* constant = nullptr;  ///< per value, optional: 1 if the program holds it and never changes it, or
                                           ///< it is computed from such values alone

  [[nodiscard]] constexpr std::string_view str(Text t) const noexcept { return text.substr(t.first, t.size); }
  [[nodiscard]] constexpr std::string_view str(Range r) const noexcept { return text.substr(r.first, r.count); }
  [[nodiscard]] constexpr std::span<const Argument> args(Range r) const noexcept {
    return arguments.subspan(r.first, r.count);
  }
  [[nodiscard]] constexpr std::span<const Dim> dims_of(Range r) const noexcept {
    return dims.subspan(r.first, r.count);
  }
  [[nodiscard]] constexpr std::span<const Argument> inputs(const Node& n) const noexcept { return args(n.inputs); }
  [[nodiscard]] constexpr std::span<const Argument> outputs(const Node& n) const noexcept { return args(n.outputs); }
  [[nodiscard]] constexpr std::string_view target(const Node& n) const noexcept { return str(n.target); }
  [[nodiscard]] constexpr std::string_view name(ValueId id) const noexcept { return str(values[id].name); }
  /// The text of a string, device or operator argument.
  [[nodiscard]] constexpr std::string_view string(const Argument& a) const noexcept { return str(a.items); }
  [[nodiscard]] constexpr std::span<const Node> nodes_of(const Graph& g) const noexcept {
    return nodes.subspan(g.nodes.first, g.nodes.count);
  }
  [[nodiscard]] constexpr const Graph& root() const noexcept { return graphs[root_graph]; }

  /// Returns the argument of that name, or nullptr. O(arguments of the node).
  template <class = void>
  [[nodiscard]] constexpr const Argument* find_input(const Node& n, std::string_view name) const noexcept {
    for (const Argument& a : inputs(n))
      if (str(a.name) == name) return &a;
    return nullptr;
  }

  /// Calls `visit(ValueId)` for every value in `argument`, also inside lists, in order.
  template <class Visit>
  constexpr void for_each_value(const Argument& argument, Visit&& visit) const {
    if (argument.is_value()) visit(argument.value());
    if (argument.is_list())
      for (const Argument& item : args(argument.items)) for_each_value(item, visit);
  }
};

/// Counts the uses of each value by nodes and graph outputs, at most 255; GraphModuleView::used holds the result for
/// O(1) lookup. O(arguments).
template <class = void>
[[nodiscard]] constexpr std::vector<std::uint8_t> used_values(GraphModuleView graph) {
  std::vector<std::uint8_t> used(graph.values.size(), 0);
  const auto mark = [&](Range list) {
    for (const Argument& a : graph.args(list))
      graph.for_each_value(a, [&](ValueId v) {
        if (used[v] != 255) ++used[v];
      });
  };
  for (const Node& n : graph.nodes) mark(n.inputs);
  for (const Graph& g : graph.graphs) mark(g.outputs);
  return used;
}

/// True for operators that run sub-graphs; the lowered program executes them itself.
[[nodiscard]] constexpr bool is_control_flow(GraphModuleView graph, const Node& node) noexcept {
  for (const Argument& input : graph.inputs(node))
    if (input.kind == ArgumentKind::graph) return true;
  return false;
}

/// Returns the name of the node's first output, or the node's number, for messages. O(outputs).
[[nodiscard]] constexpr Name node_label(GraphModuleView graph, NodeId id) {
  Name name;
  for (const Argument& output : graph.outputs(graph.nodes[id]))
    graph.for_each_value(output, [&](ValueId v) {
      if (name.empty()) name = Name(graph.name(v));
    });
  if (name.empty()) return concat("#", id);
  return name;
}

/// Owning form of the tables of a program's graphs. Build it with GraphBuilder or read it from a file.
struct GraphModule {
  std::vector<char> text;
  std::vector<Dim> dims;
  std::vector<Expr> exprs;
  std::vector<Value> values;
  std::vector<Argument> arguments;
  std::vector<Node> nodes;
  std::vector<Graph> graphs;
  std::vector<NodeMetadata> metadata;

  template <class Self = GraphModule>
  [[nodiscard]] constexpr GraphModuleView view() const noexcept {
    const Self& m = *this;  // dependent, so that only callers instantiate the constructors of the spans
    return {{m.text.data(), m.text.size()},
            {m.dims.data(), m.dims.size()},
            {m.exprs.data(), m.exprs.size()},
            {m.values.data(), m.values.size()},
            {m.arguments.data(), m.arguments.size()},
            {m.nodes.data(), m.nodes.size()},
            {m.graphs.data(), m.graphs.size()},
            {m.metadata.data(), m.metadata.size()},
            nullptr,
            nullptr};
  }
};

}  // namespace davit
