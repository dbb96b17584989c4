// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "davit/lowering/detail/takers.hpp"
#include "davit/lowering/graph_emitter.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/operators/matmul.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/same_sizes.hpp"
#include "davit/program/views.hpp"

namespace davit::detail {

/// One step of a recurrent layer of one direction.
struct RecurrentStep {
  std::string_view target{};  ///< of the layer: "aten.lstm.input" and so on
  ValueId state = no_id;      ///< the new state: (1, batch, hidden or projection)
  ValueId cell = no_id;       ///< of an LSTM, the new cell: (1, batch, hidden)
  ValueId state_before = no_id;
  ValueId state_again = no_id;  ///< of a GRU: the second use of state_before
  ValueId cell_before = no_id;
  ValueId weight = no_id;          ///< of the state's linear
  ValueId bias = no_id;            ///< of the state's linear; no_id: none
  ValueId projection = no_id;      ///< of an LSTM: the weight of the projection; no_id: none
  ValueId gates = no_id;           ///< the input's gates of all steps: (steps, batch, gates * hidden)
  std::int64_t row = 0;            ///< the step's row of `gates`
  std::vector<NodeId> nodes{};     ///< the other nodes of the step
  std::vector<NodeId> of_state{};  ///< nodes that depend on state_before alone
};

/// Finds the steps of recurrent layers: out * tanh(forget * cell + in * tanh(new)) and the like. It is code, not
/// patterns: the nodes of a step go together, the gates are slices or a split of one product, and five operators with
/// operands in either order would mean 32 attempts.
class RecurrentSteps {
 public:
  explicit RecurrentSteps(GraphModuleView graph) : graph_(graph) {}

  /// Returns the step that ends in a node.
  [[nodiscard]] std::optional<RecurrentStep> find(NodeId n) {
    const std::string_view target = graph_.target(graph_.nodes[n]);
    const bool tanh = target == "aten.tanh.default", relu = target == "aten.relu.default",
               projects = operators::is_linear(operators::NodeArguments(graph_, n)),
               lstm = target == "aten.mul.Tensor" || projects, gru = target == "aten.add.Tensor";
    const std::span<const Argument> outputs = graph_.outputs(graph_.nodes[n]);
    if ((!tanh && !relu && !lstm && !gru) || outputs.size() != 1 || !outputs[0].is_value()) return std::nullopt;
    step_ = {.target = lstm   ? "aten.lstm.input"
                       : gru  ? "aten.gru.input"
                       : tanh ? "aten.rnn_tanh.input"
                              : "aten.rnn_relu.input",
             .state = outputs[0].value()};
    const std::span<const Dim> dims = sizes(step_.state);
    if (!is_floating(graph_.values[step_.state].dtype) || dims.size() != 3 || !dims[2].is_static() ||
        dims[2].value < 1 || !is(dims[0], 1))
      return std::nullopt;
    hidden_ = dims[2].value;
    if (!(projects ? read_projected()
          : lstm   ? read_lstm(step_.state)
          : gru    ? read_gru()
                   : sum_of_gates(operand(step_.state, target), 1)) ||
        !fits(lstm  ? 4
              : gru ? 3
                    : 1))
      return std::nullopt;
    return std::move(step_);
  }

  /// view(unsqueeze(x)) -> x, through at most eight such operators; appends their nodes to `passed`.
  [[nodiscard]] ValueId stripped(ValueId v, std::vector<NodeId>* passed = nullptr) const {
    for (int most = 8; v != no_id && most > 0; --most) {
      const NodeId n = graph_.values[v].producer;
      const ValueId before = n == no_id ? no_id : operators::read_same_elements(operators::NodeArguments(graph_, n));
      if (before == no_id || graph_.values[before].dtype != graph_.values[v].dtype ||
          graph_.values[before].graph != graph_.values[v].graph)
        break;
      if (passed != nullptr) passed->push_back(n);
      v = before;
    }
    return v;
  }
  /// x[3:4] -> (x, 3); a value that is no row -> (the value, -1).
  [[nodiscard]] std::pair<ValueId, std::int64_t> row_of(ValueId v) const {
    const ValueId row = stripped(v);
    const NodeId n = row == no_id ? no_id : graph_.values[row].producer;
    operators::SliceView slice;
    const bool is_row = n != no_id && !operators::read_slice(operators::NodeArguments(graph_, n), slice) &&
                        slice.source == no_id && slice.dim == 0 && slice.length == 1;
    return is_row ? std::pair{slice.input, slice.start} : std::pair{row, std::int64_t{-1}};
  }
  [[nodiscard]] std::span<const Dim> sizes(ValueId v) const { return graph_.dims_of(graph_.values[v].sizes); }
  [[nodiscard]] static bool is(const Dim& d, std::int64_t n) noexcept { return d.is_static() && d.value == n; }

 private:
  /// The node of that operator that makes a value; no_id if another operator makes it.
  [[nodiscard]] NodeId producer(ValueId v, std::string_view target) {
    const NodeId n = v == no_id ? no_id : graph_.values[v].producer;
    if (n == no_id || graph_.target(graph_.nodes[n]) != target) return no_id;
    step_.nodes.push_back(n);
    return n;
  }
  /// tanh(x) -> x; no_id for the results of other operators.
  [[nodiscard]] ValueId operand(ValueId v, std::string_view target) {
    const NodeId n = producer(v, target);
    return n == no_id || graph_.inputs(graph_.nodes[n]).size() != 1
               ? no_id
               : operators::NodeArguments(graph_, n).value({"self", 0});
  }
  using Pair = std::pair<ValueId, ValueId>;
  /// The operands of an operator of two tensors; none for others.
  [[nodiscard]] Pair operands(ValueId v, std::string_view target) {
    const NodeId n = producer(v, target);
    if (n == no_id || graph_.inputs(graph_.nodes[n]).size() != 2) return {no_id, no_id};
    const operators::NodeArguments call(graph_, n);
    return {call.value({"self", 0}), call.value({"other", 1})};
  }
  /// True if `reads` returns true for the operands in either order. Records of the wrong order are dropped.
  template <class Reads>
  [[nodiscard]] bool either(Pair pair, Reads&& reads) {
    if (pair.first == no_id || pair.second == no_id) return false;
    const RecurrentStep before = step_;
    if (reads(pair.first, pair.second)) return true;
    step_ = before;
    return reads(pair.second, pair.first);
  }
  /// gates[at * hidden : (at + 1) * hidden] of a slice or a split -> gates; no_id for other values.
  [[nodiscard]] ValueId whole_of(ValueId v, std::int64_t at) {
    const NodeId n = v == no_id ? no_id : graph_.values[v].producer;
    if (n == no_id) return no_id;
    const operators::NodeArguments call(graph_, n);
    operators::SliceView part;
    if (operators::read_part(call, v, part) && operators::read_slice(call, part)) return no_id;
    if (part.step != 1 || part.length != hidden_ || part.start != at * hidden_ ||
        part.dim + 1 != sizes(part.input).size())
      return no_id;
    step_.nodes.push_back(n);
    return part.input;
  }
  /// Reads linear(state, weight, bias), which makes `count` gates.
  [[nodiscard]] bool read_state(ValueId v, std::int64_t count) {
    const ValueId made = stripped(v, &step_.of_state);
    const NodeId n = made == no_id ? no_id : graph_.values[made].producer;
    if (n == no_id || graph_.outputs(graph_.nodes[n]).size() != 1) return false;
    const operators::NodeArguments call(graph_, n);
    if (!operators::is_linear(call)) return false;
    step_.of_state.push_back(n);
    if (sizes(made).empty() || !is(sizes(made).back(), count * hidden_)) return false;
    step_.state_before = call.value({"input", 0});
    step_.weight = call.value({"weight", 1});
    step_.bias = call.value({"bias", 2});
    return step_.state_before != no_id && step_.weight != no_id && has_state_sizes(step_.state_before);
  }
  /// Reads gates[row], the input's gates of one step.
  [[nodiscard]] bool read_row(ValueId v) {
    std::tie(step_.gates, step_.row) = row_of(v);
    return step_.row >= 0;
  }
  /// Reads the sum of the input's gates and the state's.
  [[nodiscard]] bool sum_of_gates(ValueId v, std::int64_t count) {
    return either(operands(v, "aten.add.Tensor"),
                  [&](ValueId a, ValueId b) { return read_state(a, count) && read_row(b); });
  }
  /// Reads the projection of an LSTM's state: linear(state, projection).
  [[nodiscard]] bool read_projected() {
    const operators::NodeArguments call(graph_, graph_.values[step_.state].producer);
    step_.nodes.push_back(call.node());
    const ValueId all = call.value({"input", 0});
    step_.projection = call.value({"weight", 1});
    if (call.find({"bias", 2}) != nullptr || all == no_id || step_.projection == no_id || sizes(all).size() < 2 ||
        !sizes(all).back().is_static() || sizes(all).back().value < 1)
      return false;
    hidden_ = sizes(all).back().value;
    return read_lstm(stripped(all, &step_.nodes));
  }
  /// out * tanh(forget * cell + in * tanh(new)), where the gates are in, forget, new, out.
  [[nodiscard]] bool read_lstm(ValueId made) {
    ValueId all = no_id;
    const auto gate = [&](ValueId v, std::string_view function, std::int64_t at) {
      const ValueId whole = whole_of(operand(v, function), at);
      if (whole == no_id || (all != no_id && all != whole)) return false;
      all = whole;
      return true;
    };
    const auto forgets = [&](ValueId v) {
      return either(operands(v, "aten.mul.Tensor"), [&](ValueId a, ValueId b) {
        step_.cell_before = b;
        return gate(a, "aten.sigmoid.default", 1);
      });
    };
    const auto adds = [&](ValueId v) {
      return either(operands(v, "aten.mul.Tensor"), [&](ValueId a, ValueId b) {
        return gate(a, "aten.sigmoid.default", 0) && gate(b, "aten.tanh.default", 2);
      });
    };
    return either(operands(made, "aten.mul.Tensor"), [&](ValueId out, ValueId b) {
      all = no_id;
      step_.cell = operand(b, "aten.tanh.default");
      return gate(out, "aten.sigmoid.default", 3) &&
             either(operands(step_.cell, "aten.add.Tensor"),
                    [&](ValueId f, ValueId i) { return forgets(f) && adds(i); }) &&
             sum_of_gates(all, 4) && sizes(made).size() == 3 &&
             same_sizes(graph_, sizes(made).first(2), sizes(step_.state).first(2)) &&
             same_sizes(graph_, sizes(step_.cell), sizes(made)) && has_sizes(step_.cell_before, sizes(made));
    });
  }
  /// (state - new) * update + new, new = tanh(row's + reset * state's), where the gates are reset, update, new.
  [[nodiscard]] bool read_gru() {
    return either(operands(step_.state, "aten.add.Tensor"), [&](ValueId change, ValueId made) {
      ValueId of_state = no_id, of_row = no_id;
      const auto gates = [&](ValueId s, ValueId r, std::int64_t at) {
        const ValueId a = whole_of(s, at);
        if (a == no_id) return false;
        step_.of_state.push_back(step_.nodes.back());
        step_.nodes.pop_back();
        const ValueId b = whole_of(r, at);
        if (b == no_id || (of_state != no_id && (a != of_state || b != of_row))) return false;
        of_state = a;
        of_row = b;
        return true;
      };
      const auto sigmoid = [&](ValueId v, std::int64_t at) {
        return either(operands(operand(v, "aten.sigmoid.default"), "aten.add.Tensor"),
                      [&](ValueId s, ValueId r) { return gates(s, r, at); });
      };
      const auto candidate = [&](ValueId r, ValueId product) {
        return either(operands(product, "aten.mul.Tensor"), [&](ValueId s, ValueId reset) {
          of_state = of_row = no_id;
          return gates(s, r, 2) && sigmoid(reset, 0);
        });
      };
      const auto blends = [&](ValueId difference, ValueId update) {
        const auto [before, now] = operands(difference, "aten.sub.Tensor");
        if (before == no_id || now != made || !sigmoid(update, 1) || !read_state(of_state, 3) || !read_row(of_row))
          return false;
        step_.state_again = before;
        return has_state_sizes(before) && row_of(before) == row_of(step_.state_before);
      };
      return either(operands(operand(made, "aten.tanh.default"), "aten.add.Tensor"), candidate) &&
             either(operands(change, "aten.mul.Tensor"), blends);
    });
  }
  /// True for sizes (batch, hidden) or (1, batch, hidden).
  [[nodiscard]] bool has_state_sizes(ValueId v) const { return has_sizes(v, sizes(step_.state)); }
  [[nodiscard]] bool has_sizes(ValueId v, std::span<const Dim> made) const {
    return same_sizes(graph_, sizes(v), made) || same_sizes(graph_, sizes(v), made.subspan(1));
  }
  /// True if the input's gates have the same batch, and all tensors the same dtype.
  [[nodiscard]] bool fits(std::int64_t count) const {
    const std::span<const Dim> dims = sizes(step_.gates), made = sizes(step_.state);
    if (dims.size() != 3 || !dims[0].is_static() || !same_size(graph_, dims[1], made[1]) ||
        !is(dims[2], count * hidden_))
      return false;
    for (const ValueId v :
         {step_.cell, step_.state_before, step_.cell_before, step_.weight, step_.bias, step_.projection, step_.gates})
      if (v != no_id && graph_.values[v].dtype != graph_.values[step_.state].dtype) return false;
    return true;
  }

  GraphModuleView graph_;
  RecurrentStep step_;
  std::int64_t hidden_ = 0;
};

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
