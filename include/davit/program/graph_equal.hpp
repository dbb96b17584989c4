// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/name.hpp"
#include "davit/program/graph.hpp"

namespace davit {

struct GraphEqualOptions {
  bool metadata = false;  ///< also compare stack traces, module stacks and other metadata
};

namespace detail {

/// Numbers the symbolic expressions of two tables so that equal ones have equal numbers. Expected O(expressions).
template <class = void>
class ExprClasses {
 public:
  constexpr ExprClasses(GraphModuleView a, GraphModuleView b) {
    std::size_t size = 16;
    while (size < 2 * (a.exprs.size() + b.exprs.size())) size *= 2;
    slots_.assign(size, no_id);
    classify(a, a_);
    classify(b, b_);
  }
  [[nodiscard]] constexpr bool equal(ExprId a, ExprId b) const noexcept {
    if (a == no_id || b == no_id) return a == b;
    return a_[a] == b_[b];
  }

 private:
  struct Entry {
    Expr expr;  // operands are class numbers
    std::string_view name;
  };
  constexpr void classify(GraphModuleView graph, std::vector<std::uint32_t>& classes) {
    for (const Expr& e : graph.exprs) {
      Entry entry{e, graph.str(e.name)};
      if (e.op != ExprOp::rational)
        for (std::uint32_t* operand : {&entry.expr.a, &entry.expr.b, &entry.expr.c})
          if (*operand != no_id) *operand = classes[*operand];
      std::uint64_t hash = static_cast<std::uint64_t>(e.op);
      for (const std::uint64_t part : {std::uint64_t{entry.expr.a}, std::uint64_t{entry.expr.b},
                                       std::uint64_t{entry.expr.c}, static_cast<std::uint64_t>(e.value)})
        hash = (hash ^ part ^ (hash >> 29)) * 0x9e3779b97f4a7c15u;
      for (const char c : entry.name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
      std::size_t at = static_cast<std::size_t>(hash ^ (hash >> 32)) & (slots_.size() - 1);
      while (slots_[at] != no_id && !same(entries_[slots_[at]], entry)) at = (at + 1) & (slots_.size() - 1);
      if (slots_[at] == no_id) {
        slots_[at] = static_cast<std::uint32_t>(entries_.size());
        entries_.push_back(entry);
      }
      classes.push_back(slots_[at]);
    }
  }
  [[nodiscard]] static constexpr bool same(const Entry& x, const Entry& y) noexcept {
    return x.expr.op == y.expr.op && x.expr.a == y.expr.a && x.expr.b == y.expr.b && x.expr.c == y.expr.c &&
           x.expr.value == y.expr.value && x.name == y.name;
  }
  std::vector<std::uint32_t> slots_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> a_;
  std::vector<std::uint32_t> b_;
};

/// Compares two graph modules from their roots.
template <class = void>
class GraphComparer {
 public:
  constexpr GraphComparer(GraphModuleView a, GraphModuleView b, GraphEqualOptions options)
      : a_(a), b_(b), options_(options), exprs_(a, b) {}

  /// Returns the first difference; empty if there is none.
  [[nodiscard]] constexpr Name run() {
    pending_.push_back({root_graph, root_graph});
    for (std::size_t next = 0; next < pending_.size() && difference_.empty(); ++next) compare(pending_[next]);
    return std::move(difference_);
  }

 private:
  struct Pair {
    GraphId a, b;
  };
  template <class... Parts>
  constexpr bool differ(const Parts&... what) {
    if (difference_.empty()) difference_ = concat(where_, where_.empty() ? "" : ": ", what...);
    return false;
  }

  constexpr void compare(Pair pair) {
    const Graph& a = a_.graphs[pair.a];
    const Graph& b = b_.graphs[pair.b];
    const Name graph = concat("graph '", a_.str(a.name), "'");
    where_ = graph;
    if (a_.str(a.name) != b_.str(b.name)) return void(differ("the other is called '", b_.str(b.name), "'"));
    if (a.is_single_tensor_return != b.is_single_tensor_return)
      return void(differ("one of them returns a single tensor"));
    where_ = concat(graph, ", inputs");
    if (!definitions(a_.args(a.inputs), b_.args(b.inputs))) return;
    const std::span<const Node> nodes = a_.nodes_of(a);
    const std::span<const Node> others = b_.nodes_of(b);
    for (std::size_t i = 0; i < nodes.size() && i < others.size(); ++i) {
      where_ = concat(graph, ", node ", i, " (", a_.target(nodes[i]), ")");
      if (a_.target(nodes[i]) != b_.target(others[i])) return void(differ("the other is ", b_.target(others[i])));
      if (!arguments(a_.inputs(nodes[i]), b_.inputs(others[i]))) return;
      if (!definitions(a_.outputs(nodes[i]), b_.outputs(others[i]))) return;
      if (options_.metadata && !metadata(nodes[i].metadata, others[i].metadata)) return;
    }
    where_ = graph;
    if (nodes.size() != others.size()) return void(differ(nodes.size(), " nodes and ", others.size()));
    where_ = concat(graph, ", outputs");
    arguments(a_.args(a.outputs), b_.args(b.outputs));
  }

  /// Compares arguments that define values, with the values' types.
  constexpr bool definitions(std::span<const Argument> x, std::span<const Argument> y) {
    if (!arguments(x, y)) return false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i].is_value() && !values(x[i].value(), y[i].value())) return false;
      if (x[i].is_list() && !definitions(a_.args(x[i].items), b_.args(y[i].items))) return false;
    }
    return true;
  }

  constexpr bool arguments(std::span<const Argument> x, std::span<const Argument> y) {
    if (x.size() != y.size()) return differ(x.size(), " arguments and ", y.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!argument(x[i], y[i], i)) return false;
    return true;
  }

  constexpr bool argument(const Argument& x, const Argument& y, std::size_t i) {
    if (a_.str(x.name) != b_.str(y.name))
      return differ("argument ", i, " is named '", a_.str(x.name), "' and '", b_.str(y.name), "'");
    if (x.kind != y.kind) return differ("argument ", i, " is of another kind");
    switch (x.kind) {
      case ArgumentKind::value:
        return a_.name(x.value()) == b_.name(y.value()) ||
               differ("argument ", i, " is '", a_.name(x.value()), "' and '", b_.name(y.value()), "'");
      case ArgumentKind::graph: pending_.push_back({x.graph(), y.graph()}); return true;
      case ArgumentKind::string:
      case ArgumentKind::device:
      case ArgumentKind::operator_name:
        return a_.string(x) == b_.string(y) ||
               differ("argument ", i, " is '", a_.string(x), "' and '", b_.string(y), "'");
      case ArgumentKind::list:
        if (x.items.count == 0 && y.items.count == 0 && x.element != y.element)
          return differ("argument ", i, " is an empty list of another kind");
        return arguments(a_.args(x.items), b_.args(y.items));
      case ArgumentKind::complex_:
        return (x.payload == y.payload && x.items == y.items) || differ("argument ", i, " is another number");
      default: return x.payload == y.payload || differ("argument ", i, " is another value");
    }
  }

  constexpr bool values(ValueId x, ValueId y) {
    const Value& a = a_.values[x];
    const Value& b = b_.values[y];
    const auto differs = [&](std::string_view what) { return differ("'", a_.name(x), "' has another ", what); };
    if (a.kind != b.kind) return differs("kind");
    if (a.dtype != b.dtype) return differs("dtype");
    if (!dims(a.sizes, b.sizes)) return differs("size");
    if (!dims(a.strides, b.strides)) return differs("stride");
    if (a.constant != b.constant || !exprs_.equal(a.expr, b.expr)) return differs("value");
    if (a_.str(a.class_fqn) != b_.str(b.class_fqn)) return differs("class");
    if (a_.str(a.device) != b_.str(b.device)) return differs("device");
    if (a.layout != b.layout) return differs("layout");
    return a.requires_grad == b.requires_grad || differs("requires_grad");
  }
  [[nodiscard]] constexpr bool dims(Range x, Range y) const noexcept {
    if (x.count != y.count) return false;
    for (std::uint32_t d = 0; d < x.count; ++d) {
      const Dim& a = a_.dims[x.first + d];
      const Dim& b = b_.dims[y.first + d];
      if (a.value != b.value || !exprs_.equal(a.expr, b.expr)) return false;
    }
    return true;
  }

  constexpr bool metadata(std::uint32_t x, std::uint32_t y) {
    if ((x == no_id) != (y == no_id)) return differ("only one has metadata");
    if (x == no_id) return true;
    const NodeMetadata& a = a_.metadata[x];
    const NodeMetadata& b = b_.metadata[y];
    if (a_.str(a.stack_trace) != b_.str(b.stack_trace)) return differ("another stack trace");
    if (a_.str(a.nn_module_stack) != b_.str(b.nn_module_stack)) return differ("another module stack");
    if (a_.str(a.source_fn_stack) != b_.str(b.source_fn_stack)) return differ("another source function");
    if (a_.str(a.torch_fn) != b_.str(b.torch_fn)) return differ("another torch function");
    if (a_.str(a.custom) != b_.str(b.custom)) return differ("other custom metadata");
    return metadata(a.merged, b.merged);
  }

  GraphModuleView a_;
  GraphModuleView b_;
  GraphEqualOptions options_;
  ExprClasses<> exprs_;
  std::vector<Pair> pending_;
  Name where_;
  Name difference_;
};

}  // namespace detail

/// Returns the first difference of two programs' graphs, "graph '', node 2 (aten.mul.Tensor): argument 0 is 'x' and
/// 'y'"; empty if they are equal. Compares names, targets, arguments and types from the root on; ignores the layout of
/// the tables and the numbers of ids. The tables must have passed check_tables. O(size of both).
template <class = void>
[[nodiscard]] constexpr Name first_difference(GraphModuleView a, GraphModuleView b, GraphEqualOptions options = {}) {
  return detail::GraphComparer<>(a, b, options).run();
}

/// True if two programs' graphs have equal structure and names.
template <class = void>
[[nodiscard]] constexpr bool graph_equal(GraphModuleView a, GraphModuleView b, GraphEqualOptions options = {}) {
  return first_difference(a, b, options).empty();
}

}  // namespace davit
