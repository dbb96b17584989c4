// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/decompose.hpp"
#include "davit/lowering/detail/pattern.hpp"
#include "davit/lowering/graph_emitter.hpp"
#include "davit/lowering/rule_evaluator.hpp"
#include "davit/lowering/value_sources.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/same_sizes.hpp"

namespace davit::detail {

/// A value as an operand.
[[nodiscard]] inline Item tensor_item(ValueId v) { return Item::of(GraphBuilder::value(v)); }

class Simplifier;

/// A rewrite in code for operators without a fitting pattern; it returns true if the node needs no other rewrite.
struct Rewrite {
  std::string_view target;
  bool worth_a_pass = false;  ///< a program with this operator is simplified even if it has nothing else to simplify
  bool (*make)(Simplifier& s, const Node& node, ValueId out) = nullptr;
};

/// A pass over a program's graphs: it visits each node once, after its operands. Patterns come first, then the rewrites
/// in code (layout_rewrites.hpp, product_rewrites.hpp, resize_rewrites.hpp).
class Simplifier {
 public:
  Simplifier(const ExportedProgram& program, const DecomposeOptions* whole, bool before_decomposition);

  [[nodiscard]] GraphModule run();

  /// True for an operator that makes a pass over its program worthwhile.
  [[nodiscard]] static bool is_worth_a_pass(const operators::NodeArguments& call) noexcept;

  // -- queries -------------------------------------------------------------------------------------------------------
  [[nodiscard]] GraphModuleView view() noexcept { return emit.view(); }
  [[nodiscard]] const Value& value(ValueId v) { return emit.module().values[v]; }
  [[nodiscard]] std::span<const Dim> sizes(ValueId v) { return emit.sizes(v); }
  [[nodiscard]] bool same(const Dim& a, const Dim& b) { return same_size(view(), a, b); }
  [[nodiscard]] bool same(std::span<const Dim> a, std::span<const Dim> b) { return same_sizes(view(), a, b); }
  [[nodiscard]] static bool is(const Dim& d, std::int64_t n) noexcept { return d.is_static() && d.value == n; }
  [[nodiscard]] operators::NodeArguments of(NodeId n) { return {view(), n}; }
  [[nodiscard]] operators::NodeArguments of(const Node& node) { return {view(), node}; }
  /// The node of this graph that makes a value; no_id for graph inputs.
  [[nodiscard]] NodeId producer(ValueId v) {
    const NodeId n = v == no_id ? no_id : value(v).producer;
    return n == no_id || n < from.nodes.size() ? no_id : n;
  }
  /// As producer, if the node calls that operator; else no_id.
  [[nodiscard]] NodeId producer(ValueId v, std::string_view target) {
    const NodeId n = producer(v);
    return n != no_id && view().target(emit.module().nodes[n]) == target ? n : no_id;
  }
  /// The value passed at that position; no_id if it is not a value.
  [[nodiscard]] ValueId argument(NodeId n, std::size_t position) {
    const std::span<const Argument> inputs = view().inputs(emit.module().nodes[n]);
    return position < inputs.size() && inputs[position].is_value() ? inputs[position].value() : no_id;
  }
  /// Reads the permutation of the node that makes a value; false if it is not a permute of this graph.
  [[nodiscard]] bool permuted(ValueId v, operators::PermutationView& permutation) {
    const NodeId n = producer(v);
    return n != no_id && !operators::read_permutation(of(n), permutation) && permutation.rank != 0 &&
           permutation.rank == sizes(v).size();
  }
  /// expand(x) -> x; other values are returned unchanged.
  [[nodiscard]] ValueId before_expand(ValueId v);
  [[nodiscard]] bool is_constant(ValueId v) const noexcept {
    return v < sources_.size() && sources_[v] == ValueSource::constant;
  }
  [[nodiscard]] bool used_once(ValueId v) const noexcept {
    return v < uses_.size() && uses_[v] == 1 && is_output[v] == 0;
  }
  /// True if a pattern fits the node that makes a value, or a node with these arguments and outputs.
  [[nodiscard]] bool fits(const PatternRow& row, ValueId v);
  [[nodiscard]] bool fits(const PatternRow& row, std::span<const Argument> inputs, std::span<const Argument> outputs);
  /// The binding of a name in the pattern that fitted last.
  [[nodiscard]] ValueId captured(std::string_view name) const;
  [[nodiscard]] double captured_number(std::string_view name) const;

  // -- changes ------------------------------------------------------------------------------------------------------
  /// Lets `v` stand for `out`, if it may.
  [[nodiscard]] bool forward(ValueId out, ValueId v);
  /// Emits a call in place of a node; its output stays.
  bool replace(const Node& node, std::string_view target, std::span<const NamedItem> inputs);
  /// As replace, for an operator that merges several nodes: only if a backend takes it that is as good as the backend
  /// of the last of them, or, for PatternUse::composite, if it will be decomposed later.
  bool compose(const Node& node, std::string_view target, std::span<const NamedItem> inputs,
               PatternUse use = PatternUse::as_good);
  /// Emits the call of the first pattern of that operator that fits these inputs, in place of a node.
  [[nodiscard]] bool apply_patterns(std::string_view target, std::span<const Argument> inputs, const Node& node,
                                    ValueId out);
  /// Emits a call, or returns the value of an equal earlier one.
  [[nodiscard]] ValueId called(std::string_view target, std::span<const NamedItem> inputs, const TensorMeta& meta);
  /// Skips views and reshapes back to the first producer: view(unsqueeze(x)) -> x.
  [[nodiscard]] ValueId stripped(ValueId v);
  /// The sizes as an argument of view; a single symbolic size becomes -1. Nothing if no value stands for a size.
  [[nodiscard]] std::optional<Item> shape_of(std::vector<Dim> dims);
  /// Emits view(v, sizes of meta); no_id if no value stands for one of its sizes.
  [[nodiscard]] ValueId reshaped(ValueId v, const TensorMeta& meta);

  const DecomposeOptions* const whole;
  const GraphModuleView from;
  GraphEmitter emit;
  std::vector<std::uint8_t> is_output;  ///< per value of the current graph
  std::vector<std::uint8_t> escapes;    ///< per value: an output may be a view of it
  std::map<ValueId, Node> gathered{};   ///< index(x) by values that nearest resizing replaced, for linear resizing
  std::int64_t max_numbers = 1 << 22;   ///< elements of indices that may still be computed

 private:
  void look_at_users();
  /// Records the first value that has each symbolic size, for sym_size.
  void look_at_sizes(ValueId v);
  [[nodiscard]] ValueId resolve(ValueId v) const noexcept {
    return v < replacement_.size() && replacement_[v] != no_id ? replacement_[v] : v;
  }
  [[nodiscard]] Range resolve(Range range);
  void node(NodeId n);
  [[nodiscard]] bool rewrite(std::string_view target, const Node& node, ValueId out);
  [[nodiscard]] bool apply(const Node& node, ValueId out);
  [[nodiscard]] const Pattern& parsed(const PatternRow& row);
  [[nodiscard]] PatternFacts facts() const;
  [[nodiscard]] bool drop_expand(const Node& node, ValueId out);
  [[nodiscard]] bool ask_first_size(const Node& node, ValueId out);
  [[nodiscard]] std::size_t taker_of(NodeId n);
  /// Replaces the node by an earlier one that computes the same.
  [[nodiscard]] bool take_equal(const Node& made, ValueId out);
  void write_key(std::string& key, ExprId id);
  [[nodiscard]] std::int64_t rank_of_first(const Node& made);
  void write_key(std::string& key, Range range, std::int64_t rank, bool of_dim = false, bool of_list = false);

  bool before_decomposition_;
  RuleEvaluator rules_;
  std::vector<ValueSource> sources_;
  std::vector<ValueId> replacement_;                   ///< per value: the value that replaces it
  std::vector<std::uint32_t> uses_;                    ///< per value: the number of nodes that use it
  std::map<ValueId, ValueId> renamed_;                 ///< values that took over the name of an output
  std::map<std::string, ValueId, std::less<>> known_;  ///< computed values of a graph, by key
  std::map<std::string, std::pair<ValueId, std::int64_t>, std::less<>>
      symbols_;                                    ///< the symbolic dimensions of a graph's values
  std::map<const PatternRow*, Pattern> patterns_;  ///< parsed patterns
  const Pattern* fitted_ = nullptr;                ///< the pattern that fits() matched last
  std::array<Argument, PatternMatch::max_names> captured_{};
};

}  // namespace davit::detail
