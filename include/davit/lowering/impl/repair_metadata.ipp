// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/detail/call_shapes.hpp"
#include "davit/lowering/detail/infer_outputs.hpp"
#include "davit/lowering/graph_emitter.hpp"
#include "davit/lowering/repair_metadata.hpp"
#include "davit/lowering/rule_evaluator.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/same_sizes.hpp"
#include "davit/program/views.hpp"

namespace davit {

namespace detail {

/// True for an lstm whose final states are recorded with a rank other than 3, the rank of its initial states.
[[nodiscard]] bool says_wrong_ranks(GraphModuleView graph, const Node& node) noexcept {
  if (graph.target(node) != "aten.lstm.input") return false;
  const std::span<const Argument> outputs = graph.outputs(node);
  return outputs.size() == 3 && std::ranges::any_of(outputs.subspan(1), [&](const Argument& a) {
           return a.is_value() && graph.values[a.value()].sizes.count != 3;
         });
}

/// True for a call of `unique` whose indices or counts are recorded with another dtype than int64: torch records the
/// element dtype.
[[nodiscard]] bool says_wrong_dtype(GraphModuleView graph, const Node& node) noexcept {
  const std::string_view target = graph.target(node);
  if (target != "aten._unique2.default" && target != "aten.unique_consecutive.default" &&
      target != "aten.unique_dim.default")
    return false;
  const std::span<const Argument> outputs = graph.outputs(node);
  return outputs.size() == 3 && std::ranges::any_of(outputs.subspan(1), [&](const Argument& a) {
           return a.is_value() && graph.values[a.value()].dtype != ScalarType::int64;
         });
}

/// The dimension of a recurrent layer's input that holds the time steps: 1 if batch_first, else 0.
[[nodiscard]] std::size_t steps_of(const operators::NodeArguments& layer) noexcept {
  bool batch_first = false;
  return operators::read_flag(layer, {"batch_first", 8}, false, batch_first) && batch_first ? 1 : 0;
}

/// True if a layer's output is recorded with a fixed number of steps though the input has a symbolic one: torch unrolls
/// the steps of its example.
[[nodiscard]] bool says_wrong_length(std::span<const Dim> of, std::span<const Dim> made, std::size_t steps) noexcept {
  return of.size() == 3 && made.size() == 3 && !of[steps].is_static() && made[steps].is_static();
}
[[nodiscard]] bool says_wrong_length(GraphModuleView graph, NodeId n) {
  if (!is_recurrent_layer(graph.target(graph.nodes[n]))) return false;
  const operators::NodeArguments layer(graph, n);
  const ValueId x = layer.value({"input", 0}), rows = layer.output(0);
  return x != no_id && rows != no_id &&
         says_wrong_length(graph.dims_of(graph.values[x].sizes), graph.dims_of(graph.values[rows].sizes),
                           steps_of(layer));
}

/// A pass over a program's graphs that repairs recorded sizes and dtypes, and those of every value computed from them.
class MetadataRepair {
 public:
  explicit MetadataRepair(const ExportedProgram& program)
      : from_(program.view()),
        emit_(program.graph_module),
        rules_(emit_, program.range_constraints),
        corrected_(from_.values.size(), 0),
        retyped_(corrected_) {}

  [[nodiscard]] GraphModule run() {
    emit_.each_node(from_, [&](NodeId n) {
      emit_.append(from_.nodes[n]);
      emit_.fault = nullptr;
      if (says_wrong_ranks(from_, from_.nodes[n])) correct_states(n);
      if (says_wrong_dtype(from_, from_.nodes[n]))
        for (const Argument& output : from_.outputs(from_.nodes[n]).subspan(1))
          from_.for_each_value(output, [&](ValueId v) { retype(v, ScalarType::int64); });
      if (is_recurrent_layer(from_.target(from_.nodes[n])))
        correct_length(operators::NodeArguments(from_, n));
      else
        follow(n);
    });
    return emit_.finish();
  }

 private:
  void set(ValueId v, TensorMeta meta) {
    meta.dtype = from_.values[v].dtype;
    const Value like = emit_.module().values[emit_.declare(meta, "sizes")];
    Value& value = emit_.module().values[v];
    value.sizes = like.sizes;
    value.strides = like.strides;
    corrected_[v] = 1;
  }
  void retype(ValueId v, ScalarType type) {
    retyped_[v] = type != from_.values[v].dtype;
    emit_.module().values[v].dtype = type;
  }
  [[nodiscard]] TensorMeta sizes(ValueId v) {
    return {.dtype = ScalarType::undefined, .sizes = {emit_.sizes(v).begin(), emit_.sizes(v).end()}};
  }
  void correct_states(NodeId n) {
    const operators::NodeArguments call(from_, n);
    const Argument* const first = call.find({"hx", 1});
    if (first == nullptr || call.items(*first).size() != 2) return;
    for (std::size_t i = 0; i < 2; ++i) {
      const Argument& before = call.items(*first)[i];
      if (before.is_value() && emit_.sizes(before.value()).size() == 3 && call.output(i + 1) != no_id)
        set(call.output(i + 1), sizes(before.value()));
    }
  }
  void correct_length(const operators::NodeArguments& layer) {
    const ValueId x = layer.value({"input", 0}), rows = layer.output(0);
    const std::size_t steps = steps_of(layer);
    if (x == no_id || rows == no_id || !says_wrong_length(emit_.sizes(x), emit_.sizes(rows), steps)) return;
    TensorMeta made = sizes(rows);
    made.sizes[steps] = emit_.sizes(x)[steps];
    set(rows, std::move(made));
  }
  /// The sizes of a split's parts: the operand's, with the recorded size along the split dimension.
  [[nodiscard]] bool parts(NodeId n, std::span<const ValueId> outputs, std::vector<TensorMeta>& metas) {
    const operators::NodeArguments call(from_, n);
    const ValueId x = call.value({"self", 0});
    std::int64_t dim = 0;
    if (view_kind(call.call().target) != ViewKind::split || x == no_id ||
        !operators::read_integer(call, {"dim", 2}, 0, dim))
      return false;
    const auto at = [&](std::size_t rank) {
      return static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim);
    };
    for (const ValueId v : outputs) {
      const std::span<const Dim> said = from_.dims_of(from_.values[v].sizes);
      metas.push_back(sizes(x));
      std::vector<Dim>& made = metas.back().sizes;
      if (at(said.size()) >= said.size() || at(made.size()) >= made.size()) return false;
      made[at(made.size())] = said[at(said.size())];
    }
    return true;
  }
  /// Repairs the outputs of a node with a repaired operand: by its shape rule, or else by the operand whose recorded
  /// sizes or dtype they shared.
  void follow(NodeId n) {
    const Node& node = from_.nodes[n];
    ValueId from = no_id, retyped = no_id;
    for (const Argument& input : from_.inputs(node))
      from_.for_each_value(input, [&](ValueId v) {
        if (corrected_[v] != 0) from = v;
        if (retyped_[v] != 0) retyped = v;
      });
    const std::string_view target = from_.target(node);
    if ((from == no_id && retyped == no_id) || !target.starts_with("aten.")) return;
    std::vector<NamedItem> arguments;
    for (const Argument& input : from_.inputs(node)) arguments.push_back({from_.str(input.name), emit_.read(input)});
    std::vector<ValueId> outputs;
    for (const Argument& output : from_.outputs(node))
      from_.for_each_value(output, [&](ValueId v) { outputs.push_back(v); });
    std::vector<TensorMeta> metas;
    const bool unbinds = target == "aten.unbind.int";  // a selection each
    if (unbinds && arguments.size() == 1) arguments.push_back({"dim", Item::integer(0)});
    bool told = infer_outputs(rules_, unbinds ? "aten.select.int" : target, arguments, metas);
    if (told && unbinds) metas.assign(outputs.size(), TensorMeta(metas[0]));
    told = (told || parts(n, outputs, metas)) && std::exchange(emit_.fault, nullptr) == nullptr &&
           metas.size() == outputs.size();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (from_.values[outputs[i]].kind != ValueKind::tensor) continue;
      const ScalarType said = from_.values[outputs[i]].dtype;
      if (retyped != no_id && told) retype(outputs[i], metas[i].dtype);
      if (retyped != no_id && !told && said == from_.values[retyped].dtype)
        retype(outputs[i], emit_.module().values[retyped].dtype);
      if (from == no_id) continue;
      if (told)
        set(outputs[i], std::move(metas[i]));
      else if (same_sizes(from_, from_.dims_of(from_.values[outputs[i]].sizes),
                          from_.dims_of(from_.values[from].sizes)))
        set(outputs[i], sizes(from));
    }
  }

  GraphModuleView from_;
  GraphEmitter emit_;
  RuleEvaluator rules_;
  std::vector<std::uint8_t> corrected_;
  std::vector<std::uint8_t> retyped_;
};

}  // namespace detail

std::optional<ExportedProgram> with_repaired_metadata(const ExportedProgram& program) {
  const GraphModuleView graph = program.view();
  bool wrong = false;
  for (NodeId n = 0; n < graph.nodes.size() && !wrong; ++n)
    wrong = detail::says_wrong_ranks(graph, graph.nodes[n]) || detail::says_wrong_length(graph, n) ||
            detail::says_wrong_dtype(graph, graph.nodes[n]);
  if (!wrong || !detail::calls_fit_shapes(graph)) return std::nullopt;
  ExportedProgram out = program;
  out.graph_module = detail::MetadataRepair(program).run();
  return out;
}

}  // namespace davit
