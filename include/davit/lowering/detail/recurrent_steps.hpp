// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "davit/program/operators/matmul.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/same_sizes.hpp"

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

}  // namespace davit::detail
