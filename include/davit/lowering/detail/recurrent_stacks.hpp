// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/graph_emitter.hpp"
#include "davit/lowering/detail/takers.hpp"
#include "davit/lowering/detail/recurrent_steps.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/views.hpp"

namespace davit::detail {

/// A recurrent layer in one direction: its unrolled steps.
struct RecurrentDirection {
  std::vector<RecurrentStep> steps{};  ///< in time order
  bool backwards = false;
  ValueId input = no_id;   ///< the operand of the linear that makes the gates
  ValueId weight = no_id;  ///< of the input's linear
  ValueId bias = no_id;
  ValueId joined = no_id;        ///< the joined states of all steps; no_id: not needed
  std::vector<NodeId> nodes{};   ///< the nodes of the steps, in order
  std::vector<NodeId> before{};  ///< the nodes between the input and its gates

  [[nodiscard]] const RecurrentStep& first() const noexcept { return steps.front(); }
  [[nodiscard]] const RecurrentStep& last() const noexcept { return steps.back(); }
};

/// Recurrent layers that become one operator: each layer reads the rows of the previous one.
struct RecurrentStack {
  std::vector<const RecurrentDirection*>
      directions{};  ///< layer by layer; forward and backward alternate if there are both
  bool both = false;
  ValueId joined = no_id;  ///< the last layer's states of all rows
};

/// The operator that replaces a stack.
struct RecurrentOperator {
  const RecurrentStack* stack = nullptr;
  NodeId at = no_id;      ///< the operator is emitted before this node
  ValueId input = no_id;  ///< (batch, steps, features); no_id: the input is not batch first
  ValueId rows = no_id;   ///< the value that the first result replaces; no_id: a new one without users
  struct End {
    ValueId whole = no_id;                                 ///< the value that a result replaces; no_id: a new one
    std::vector<std::pair<ValueId, std::size_t>> parts{};  ///< values of one layer each
  };
  End state{};
  End cell{};
  std::vector<std::pair<NodeId, operators::PermutationView>>
      turned{};  ///< permutations of rows that the operator returns batch first
};

/// Finds unrolled recurrent layers in a program's graphs and replaces their steps by lstm, gru or rnn.
class RecurrentLayers {
 public:
  RecurrentLayers(const ExportedProgram& program, const DecomposeOptions& options)
      : options_(options), from_(program.view()), reads_(from_), emit_(program.graph_module) {}

  /// Returns nothing if there are no such layers.
  [[nodiscard]] std::optional<GraphModule> run() {
    for (const Graph& g : from_.graphs) find(g);
    if (found_.empty()) return std::nullopt;
    look_at_users();
    keep_whole();
    stack();
    if (stacks_.empty()) return std::nullopt;
    bool any = false;
    for (GraphId g = 0; g < from_.graphs.size(); ++g) {
      emit_.begin(g);
      any = write(g) || any;
    }
    return any ? std::optional(emit_.finish()) : std::nullopt;
  }

 private:
  [[nodiscard]] std::span<const Dim> sizes(ValueId v) const { return reads_.sizes(v); }
  [[nodiscard]] operators::NodeArguments of(NodeId n) const { return {from_, n}; }
  [[nodiscard]] NodeId producer(ValueId v) const { return v == no_id ? no_id : from_.values[v].producer; }
  /// cat([a, b], dim) -> a, b, if it has `count` parts; empty for other nodes.
  [[nodiscard]] std::vector<ValueId> joined_by(NodeId n, std::size_t dim, std::size_t count) const {
    std::vector<ValueId> parts;
    std::size_t along = 0;
    const std::span<const Argument> outputs = from_.outputs(from_.nodes[n]);
    if (outputs.size() != 1 || !outputs[0].is_value() ||
        operators::read_cat(of(n), sizes(outputs[0].value()).size(), along) || along != dim)
      return parts;
    const std::span<const Argument> items = of(n).items(*of(n).find({"tensors", 0}));
    for (std::size_t i = 0; items.size() == count && i < count; ++i)
      if (items[i].is_value()) parts.push_back(items[i].value());
    return parts;
  }
  /// view(unsqueeze(x)) -> view(unsqueeze(x)), unsqueeze(x), x.
  [[nodiscard]] std::vector<ValueId> stages(ValueId v) const {
    std::vector<NodeId> passed;
    std::vector<ValueId> all{v};
    (void)reads_.stripped(v, &passed);
    for (const NodeId n : passed) all.push_back(operators::read_same_elements(of(n)));
    return all;
  }

  // -- search --------------------------------------------------------------------------------------------------------
  void find(const Graph& g) {
    std::vector<RecurrentDirection> begun;
    std::map<ValueId, std::size_t> open;  // indices of directions, by the state after their last step
    for (NodeId n = g.nodes.first; n < g.nodes.first + g.nodes.count; ++n) {
      std::optional<RecurrentStep> step = reads_.find(n);
      if (!step) continue;
      const auto at = open.find(reads_.stripped(step->state_before, &step->of_state));
      const ValueId state = step->state;
      if (at == open.end() || !follows(begun[at->second], *step)) {
        open.insert_or_assign(state, begun.size());
        begun.emplace_back();
      } else {
        (void)reads_.stripped(step->cell_before, &step->nodes);
        (void)reads_.stripped(step->state_again, &step->nodes);
        open.insert_or_assign(state, at->second);
      }
      begun[open.find(state)->second].steps.push_back(*std::move(step));
    }
    for (RecurrentDirection& d : begun)
      if (has_all_rows(d)) found_.push_back(std::move(d));
  }
  [[nodiscard]] bool follows(const RecurrentDirection& d, const RecurrentStep& next) const {
    const RecurrentStep& last = d.last();
    const std::int64_t by = d.steps.size() == 1 ? (last.row == 0 ? 1 : -1) : last.row - d.steps[d.steps.size() - 2].row;
    return next.target == last.target && next.weight == last.weight && next.bias == last.bias &&
           next.projection == last.projection && next.gates == last.gates && next.row == last.row + by &&
           (last.cell == no_id || reads_.stripped(next.cell_before) == last.cell);
  }
  /// True if the steps read every row of one linear of the input; records the input and the weights.
  [[nodiscard]] bool has_all_rows(RecurrentDirection& d) {
    const auto count = static_cast<std::int64_t>(d.steps.size());
    if (count < 2 || !reads_.is(sizes(d.first().gates)[0], count)) return false;
    d.backwards = d.steps[1].row < d.first().row;
    if (d.first().row != (d.backwards ? count - 1 : 0)) return false;
    const NodeId n = producer(reads_.stripped(d.first().gates, &d.before));
    if (n == no_id || !operators::is_linear(of(n))) return false;
    d.before.push_back(n);
    d.weight = of(n).value({"weight", 1});
    d.bias = of(n).value({"bias", 2});
    d.input = of(n).value({"input", 0});
    if (d.input == no_id || d.weight == no_id || (d.bias == no_id) != (d.first().bias == no_id)) return false;
    // a flipped input
    std::vector<NodeId> passed;
    const NodeId flip = producer(reads_.stripped(d.input, &passed));
    if (flip == no_id || !of(flip).is("aten.flip.default") || sizes(d.input).size() != 3) return true;
    std::vector<std::int64_t> dims;
    if (!of(flip).ints({"dims", 1}, dims) || dims.size() != 1 || (dims[0] != 0 && dims[0] != -3) ||
        of(flip).value({"self", 0}) == no_id)
      return true;
    if (!same_sizes(from_, sizes(of(flip).value({"self", 0})), sizes(d.input))) return true;
    d.input = of(flip).value({"self", 0});
    d.backwards = !d.backwards;
    d.before.insert(d.before.end(), passed.begin(), passed.end());
    d.before.push_back(flip);
    return true;
  }

  void look_at_users() {
    users_.resize(from_.values.size());
    is_output_.resize(from_.values.size(), 0);
    for (NodeId n = 0; n < from_.nodes.size(); ++n)
      for (const Argument& a : from_.inputs(from_.nodes[n]))
        from_.for_each_value(a, [&](ValueId v) {
          if (users_[v].empty() || users_[v].back() != n) users_[v].push_back(n);
        });
    for (const Graph& g : from_.graphs)
      for (const Argument& a : from_.args(g.outputs)) from_.for_each_value(a, [&](ValueId v) { is_output_[v] = 1; });
  }
  /// True if only nodes of a sorted list, or one other node, use a value.
  [[nodiscard]] bool is_inside(ValueId v, const std::vector<NodeId>& nodes, NodeId more = no_id) const {
    return is_output_[v] == 0 &&
           std::ranges::all_of(users_[v], [&](NodeId n) { return n == more || std::ranges::binary_search(nodes, n); });
  }
  /// Drops layers whose inner values have other users.
  void keep_whole() {
    std::vector<RecurrentDirection> kept;
    for (RecurrentDirection& d : found_)
      if (is_whole(d)) kept.push_back(std::move(d));
    found_ = std::move(kept);
    for (const RecurrentDirection& d : found_) feeds_.insert(feeds_.end(), d.before.begin(), d.before.end());
    std::ranges::sort(feeds_);
  }
  /// True if no inner value has other users; records the node that joins the states.
  [[nodiscard]] bool is_whole(RecurrentDirection& d) {
    for (const RecurrentStep& step : d.steps) {
      d.nodes.insert(d.nodes.end(), step.nodes.begin(), step.nodes.end());
      // another layer may use the nodes of the first state
      if (&step != &d.first()) d.nodes.insert(d.nodes.end(), step.of_state.begin(), step.of_state.end());
    }
    std::ranges::sort(d.nodes);
    d.nodes.erase(std::unique(d.nodes.begin(), d.nodes.end()), d.nodes.end());
    std::ranges::sort(d.before);
    std::vector<ValueId> by_row;
    for (const RecurrentStep& step : d.steps) by_row.push_back(step.state);
    if (d.backwards) std::ranges::reverse(by_row);
    NodeId join = no_id;
    for (const NodeId n : users_[d.first().state])
      if (joined_by(n, 0, by_row.size()) == by_row) join = n;
    if (join != no_id) d.joined = of(join).output();
    const auto ends = [&](ValueId v) { return v == d.last().state || v == d.last().cell; };
    std::ranges::sort(by_row);
    bool inside = true;
    for (const NodeId n : d.nodes)
      for (const Argument& a : from_.outputs(from_.nodes[n]))
        from_.for_each_value(a, [&](ValueId v) {
          inside = inside && (ends(v) || is_inside(v, d.nodes, std::ranges::binary_search(by_row, v) ? join : no_id));
        });
    return inside;
  }

  // -- stacking ------------------------------------------------------------------------------------------------------
  [[nodiscard]] bool alike(const RecurrentDirection& a, const RecurrentDirection& b) const {
    return a.first().target == b.first().target && (a.bias == no_id) == (b.bias == no_id) &&
           same_sizes(from_, sizes(a.last().state), sizes(b.last().state)) &&
           (a.last().projection == no_id) == (b.last().projection == no_id) &&
           (a.last().cell == no_id || same_sizes(from_, sizes(a.last().cell), sizes(b.last().cell))) &&
           a.steps.size() == b.steps.size();
  }
  /// Pairs the two directions of a layer, and stacks layers that alone read the rows of another layer.
  void stack() {
    std::map<ValueId, const RecurrentDirection*> backwards;  // by the value that joins their states, or by their input
    for (const RecurrentDirection& d : found_)
      if (d.backwards) backwards.emplace(d.joined != no_id ? d.joined : reads_.stripped(d.input), &d);
    std::map<ValueId, std::size_t> by_rows;
    for (const RecurrentDirection& d : found_) {
      if (d.backwards) continue;
      RecurrentStack layer{.directions = {&d}, .joined = d.joined};
      ValueId other = d.joined == no_id ? reads_.stripped(d.input) : no_id;
      if (d.joined != no_id && is_output_[d.joined] == 0 && users_[d.joined].size() == 1) {
        const std::vector<ValueId> halves = joined_by(users_[d.joined][0], 2, 2);
        if (halves.size() == 2 && halves[0] == d.joined && is_inside(halves[1], {}, users_[d.joined][0]))
          other = halves[1];
      }
      const auto back = backwards.find(other);
      if (back != backwards.end() && alike(d, *back->second) &&
          (back->second->joined == no_id) == (d.joined == no_id) &&
          reads_.stripped(back->second->input) == reads_.stripped(d.input)) {
        layer.directions.push_back(back->second);
        layer.both = true;
        if (d.joined != no_id) layer.joined = of(users_[d.joined][0]).output();
        backwards.erase(back);
      }
      const ValueId rows = reads_.stripped(d.input);
      const auto below = by_rows.find(rows);
      std::size_t at = stacks_.size();
      if (below != by_rows.end() && continues(stacks_[below->second], layer)) {
        at = below->second;
        stacks_[at].directions.insert(stacks_[at].directions.end(), layer.directions.begin(), layer.directions.end());
        stacks_[at].joined = layer.joined;
        by_rows.erase(below);
      } else {
        stacks_.push_back(layer);
      }
      if (layer.joined != no_id) by_rows.emplace(layer.joined, at);
    }
  }
  [[nodiscard]] bool continues(const RecurrentStack& stack, const RecurrentStack& layer) const {
    if (stack.both != layer.both || !alike(*stack.directions[0], *layer.directions[0])) return false;
    std::vector<NodeId> path;
    for (const RecurrentDirection* d : layer.directions) {
      path.insert(path.end(), d->before.begin(), d->before.end());
      (void)reads_.stripped(d->input, &path);
    }
    std::ranges::sort(path);
    if (!is_inside(stack.joined, path)) return false;
    for (const RecurrentDirection* d : layer.directions)
      for (const ValueId v : stages(d->input))
        if (!is_inside(v, path)) return false;
    return true;
  }

  // -- rewriting (recurrent_layers.ipp) ------------------------------------------------------------------------------
  [[nodiscard]] bool write(GraphId g);
  [[nodiscard]] RecurrentOperator plan(const RecurrentStack& stack);
  [[nodiscard]] RecurrentOperator::End end_of(const RecurrentStack& stack, ValueId RecurrentStep::* after,
                                              std::vector<NodeId>& users) const;
  void turn_rows(const RecurrentStack& stack, RecurrentOperator& op);
  [[nodiscard]] bool is_taken(const RecurrentOperator& op);
  NodeId emit(const RecurrentOperator& op);
  [[nodiscard]] Item used(ValueId v);
  void give(const Item& result, ValueId old);
  [[nodiscard]] ValueId shaped(ValueId v, std::span<const Dim> to);
  [[nodiscard]] ValueId begin_of(const RecurrentStack& stack, ValueId RecurrentStep::* before, ValueId like);

  const DecomposeOptions& options_;
  GraphModuleView from_;
  RecurrentSteps reads_;
  GraphEmitter emit_;
  std::vector<RecurrentDirection> found_;
  std::vector<RecurrentStack> stacks_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<std::uint8_t> is_output_;    ///< per value of the current graph
  std::map<ValueId, ValueId> turned_;      ///< the rows of batch_first layers, by their values in the program
  std::map<ValueId, NodeId> ready_;        ///< per value that an operator's result replaces: it exists before this node
  std::vector<NodeId> feeds_;              ///< nodes that make the gates of inputs
  const RecurrentStack* stack_ = nullptr;  ///< the stack whose operator is emitted
  NodeId at_ = no_id;                      ///< emission goes before this node
  std::vector<ValueId> given_;             ///< values of the program that results replace
  bool is_late_ = false;                   ///< an operand is defined after `at_`
};

}  // namespace davit::detail
