// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "davit/core/copy_tensor.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/lowering/partitioning.hpp"
#include "davit/ops/operators.hpp"
#include "davit/ops/rules.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/runtime/node_call.hpp"
#include "davit/testing/detail/eager_value.hpp"
#include "davit/testing/detail/one_node.hpp"
#include "davit/testing/detail/output_storages.hpp"
#include "davit/testing/detail/random_rounding.hpp"
#include "davit/testing/detail/random_values.hpp"

namespace davit::testing {

/// Runs a program literally: node by node, in program order; each storage is shared by its views.
///
/// Operators that are always decomposed are so here too. There is no partition, no plan, no fusion, no rewriting and no
/// reuse of memory: it is the reference for every lowered program. Each node runs alone, on the first of `kernels` that
/// takes it. An in-place operator is the operator without the underscore, followed by a copy into `self`. Slow:
/// everything is copied. Source: torch.fx.Interpreter.
class EagerProgram {
 public:
  /// The program must be verified, and outlive this.
  EagerProgram(const ExportedProgram& program, BackendTables kernels)
      : parts_(without_composites(program)),
        program_(parts_ ? *parts_ : program),
        graph_(program_.view()),
        kernels_(kernels) {
    for (const InputSpec& spec : program.signature.input_specs)
      if (const Name* name = target(spec); name != nullptr)
        if (const Tensor* tensor = program.tensor_named(*name); tensor != nullptr)
          state_.push_back({*name, copy_of(*tensor)});
  }

  /// A value as it was right after its node.
  struct Made {
    ValueId id = 0;
    EagerValue value;
  };
  /// From now on copies all results of nodes to `made`, in the order of the run; null ends that.
  void record(std::vector<Made>* made) noexcept { record_ = made; }
  /// From now on perturbs all float32 and float64 inputs and results by a few units in the last place of a float32: a
  /// run then shows the influence of rounding alone. Small integers stay.
  void round_at_random(std::uint64_t seed) { rounding_.emplace(seed); }
  /// True if a perturbed run met finite numbers so large that a sum of a few products is infinite, NaN or finite
  /// depending on the order of its terms: above 2^60 in float32, 2^508 in float64.
  [[nodiscard]] bool met_large_numbers() const noexcept { return rounding_ && rounding_->met_large_numbers(); }

  /// Returns all outputs of the program in its own order. Inputs with exported values may be left out, all of them
  /// together. Inputs that the program changes are changed by a successful run only, as is the state. Errors:
  /// unsupported_operator; the kernels' errors; out_of_range.
  [[nodiscard]] Result<std::vector<EagerValue>> run(std::span<const EValue> user_inputs) {
    values_.assign(graph_.values.size(), {});
    std::vector<NamedTensor> state;
    for (const NamedTensor& entry : state_) state.push_back({entry.name, copy_of(entry.tensor)});
    std::vector<EagerValue> users;
    for (const EValue& input : user_inputs)
      users.push_back(input.is_tensor() ? EagerValue{.tensor = copy_of(input.tensor())} : EagerValue{input});
    const std::span<const Argument> inputs = graph_.args(graph_.root().inputs);
    const auto wanted = static_cast<std::size_t>(std::ranges::count_if(
        program_.signature.input_specs, [](const InputSpec& spec) { return kind(spec) == InputKind::user_input; }));
    for (const NamedTensor& entry : state) round(entry.tensor);
    for (const EagerValue& each : users)
      if (each.tensor) round(*each.tensor);
    std::size_t user = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const InputSpec& spec = program_.signature.input_specs[i];
      EagerValue value;
      if (users.size() < wanted && is_fixed(spec)) continue;
      if (kind(spec) == InputKind::user_input) {
        if (user == users.size())
          return std::unexpected(wrong("inputs", "there are fewer inputs than the program takes"));
        value = users[user++];
      } else if (const Name* name = target(spec); name != nullptr) {
        for (const NamedTensor& entry : state)
          if (entry.name == *name) value.tensor = entry.tensor;
      }
      if (inputs[i].is_value()) values_[inputs[i].value()] = value;
    }
    if (Result<void> done = run_graph(root_graph, 0); !done) return error_of(std::move(done));
    std::vector<EagerValue> made, outputs;
    for (const Argument& output : graph_.args(graph_.root().outputs)) made.push_back(value_of(output));
    storages_ = OutputStorages(program_, users, state, made);
    for (const EagerValue& each : made) outputs.push_back(copy_of(each));
    for (std::size_t i = 0; i < outputs.size() && i < program_.signature.output_specs.size(); ++i) {
      const OutputSpec& spec = program_.signature.output_specs[i];
      if (!outputs[i].tensor || target(spec) == nullptr) continue;
      if (kind(spec) == OutputKind::user_input_mutation) {
        user = 0;
        for (const InputSpec& input : program_.signature.input_specs) {
          if (kind(input) != InputKind::user_input || (users.size() < wanted && is_fixed(input))) continue;
          if (arg_name(input) == *target(spec) && users[user].tensor)
            copy_tensor(outputs[i].tensor->view(), users[user].tensor->view());
          ++user;
        }
      } else {
        for (NamedTensor& entry : state)
          if (entry.name == *target(spec)) entry.tensor = copy_of(*outputs[i].tensor);
      }
    }
    for (std::size_t i = 0; i < users.size(); ++i)
      if (users[i].tensor && differs(*users[i].tensor, user_inputs[i].tensor()))
        copy_tensor(users[i].tensor->view(), user_inputs[i].tensor());
    state_ = std::move(state);
    return outputs;
  }

  /// The storages that outputs of the last run may use, as in torch.
  [[nodiscard]] const OutputStorages& storages() const noexcept { return storages_; }

  /// Parameters, buffers and constants after the runs so far, by name.
  [[nodiscard]] std::span<const NamedTensor> state() const noexcept { return state_; }

 private:
  /// The program without operators that no backend has; nullptr if it has none.
  [[nodiscard]] static std::shared_ptr<const ExportedProgram> without_composites(const ExportedProgram& program) {
    std::optional<ExportedProgram> made =
        decomposed(program, {.only = [](GraphModuleView graph, NodeId n) {
                     const std::string_view target = graph.target(graph.nodes[n]);
                     return find_operator(target).empty() && !find_decomposition(target).empty();
                   }});
    return made ? std::make_shared<const ExportedProgram>(*std::move(made)) : nullptr;
  }

  /// A node that runs alone.
  struct Step {
    NodeCall call;
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;  ///< no_id for an output without a name
    bool writes_self = false;
  };

  [[nodiscard]] static bool is_fixed(const InputSpec& spec) {
    const auto* user = std::get_if<UserInputSpec>(&spec);
    return user != nullptr && std::holds_alternative<ConstantArgument>(user->arg);
  }
  [[nodiscard]] static Error wrong(std::string_view where, Name what) {
    return Error{.code = ErrorCode::invalid_program,
                 .stage = Stage::execute,
                 .where = Name::own(where),
                 .what = std::move(what),
                 .fix = "verify() the program first"};
  }
  [[nodiscard]] Error wrong(NodeId node, Name what) const {
    return wrong(concat("node '", node_label(graph_, node), "' (", graph_.target(graph_.nodes[node]), ")"),
                 std::move(what));
  }

  [[nodiscard]] EagerValue value_of(const Argument& a) const {
    switch (a.kind) {
      case ArgumentKind::value: return values_[a.value()];
      case ArgumentKind::int_: return {EValue(a.payload)};
      case ArgumentKind::float_: return {EValue(a.float_value())};
      case ArgumentKind::bool_: return {EValue(a.payload != 0)};
      case ArgumentKind::string: return {EValue(graph_.string(a))};
      default: return {};
    }
  }
  void append(std::span<const Argument> arguments, std::vector<EagerValue>& out) const {
    for (const Argument& a : arguments) {
      if (a.is_list()) {
        append(graph_.args(a.items), out);
      } else {
        out.push_back(value_of(a));
      }
    }
  }
  [[nodiscard]] std::vector<EagerValue> values_in(std::span<const Argument> arguments) const {
    std::vector<EagerValue> out;
    append(arguments, out);
    return out;
  }
  [[nodiscard]] Result<void> run_graph(GraphId id, int depth) {
    const Graph& graph = graph_.graphs[id];
    for (NodeId n = graph.nodes.first; n < graph.nodes.first + graph.nodes.count; ++n) {
      const Result<void> done = is_control_flow(graph_, graph_.nodes[n]) ? run_control_flow(n, depth) : run_node(n);
      if (!done) return done;
    }
    return {};
  }
  [[nodiscard]] Result<std::vector<EagerValue>> run_body(NodeId node, GraphId id, const std::vector<EagerValue>& inputs,
                                                         int depth) {
    const std::span<const Argument> in = graph_.args(graph_.graphs[id].inputs);
    if (depth > 60) return std::unexpected(wrong(node, "control flow is nested too deeply"));
    if (in.size() != inputs.size()) return std::unexpected(wrong(node, "its sub-graph takes another number of values"));
    for (std::size_t i = 0; i < in.size(); ++i)
      if (in[i].is_value()) values_[in[i].value()] = inputs[i];
    if (Result<void> done = run_graph(id, depth + 1); !done) return error_of(std::move(done));
    return values_in(graph_.args(graph_.graphs[id].outputs));
  }
  [[nodiscard]] Result<void> answer(NodeId node, const std::vector<EagerValue>& made) {
    const std::vector<ValueId> to = values_of(graph_, graph_.outputs(graph_.nodes[node]));
    if (to.size() != made.size()) return std::unexpected(wrong(node, "it returns another number of values"));
    for (std::size_t i = 0; i < to.size(); ++i) define(to[i], made[i]);
    return {};
  }
  void define(ValueId v, const EagerValue& value) {
    if (value.tensor) round(*value.tensor);
    values_[v] = value;
    if (record_ != nullptr) record_->push_back({v, copy_of(value)});
  }
  [[nodiscard]] static bool truth(const EagerValue& value) {
    return value.tensor
               ? value.tensor->numel() == 1 && *static_cast<const unsigned char*>(value.tensor->view().data) != 0
               : value.plain.is_number() && value.plain.number() != 0;
  }

  [[nodiscard]] Result<void> run_control_flow(NodeId n, int depth) {
    const Node& node = graph_.nodes[n];
    const std::string_view target = graph_.target(node);
    const std::span<const Argument> in = graph_.inputs(node);
    if (target == "higher_order.cond" && in.size() >= 4) {
      const GraphId chosen = in[truth(value_of(in[0])) ? 1 : 2].graph();
      const auto made = run_body(n, chosen, values_in(in.subspan(3)), depth);
      if (!made) return error_of(made);
      return answer(n, *made);
    }
    if (target == "higher_order.while_loop" && in.size() >= 3) {
      std::vector<EagerValue> carried = values_in(in.subspan(2, 1));
      const std::vector<EagerValue> rest = values_in(in.subspan(3));
      for (std::int64_t i = 0; i < 1'000'000; ++i) {
        std::vector<EagerValue> all = carried;
        all.insert(all.end(), rest.begin(), rest.end());
        const auto again = run_body(n, in[0].graph(), all, depth);
        if (!again) return error_of(again);
        if (again->size() != 1 || !truth(again->front())) return answer(n, carried);
        auto made = run_body(n, in[1].graph(), all, depth);
        if (!made) return error_of(std::move(made));
        carried = std::move(*made);
      }
      return std::unexpected(wrong(n, "the loop does not end"));
    }
    if (target == "higher_order.map_impl" && in.size() >= 2)
      return scan(n, in[0].graph(), {}, values_in(in.subspan(1, 1)), values_in(in.subspan(2)), 0, false, depth);
    if (target == "higher_order.scan" && in.size() >= 5)
      return scan(n, in[0].graph(), values_in(in.subspan(1, 1)), values_in(in.subspan(2, 1)), values_in(in.subspan(5)),
                  in[3].payload, in[4].payload != 0, depth);
    return std::unexpected(wrong(n, "this kind of control flow is unknown"));
  }

  /// Runs the body over the rows of `sliced` along `dim`; its results beyond `carried` are stacked in a new first
  /// dimension.
  [[nodiscard]] Result<void> scan(NodeId n, GraphId body, std::vector<EagerValue> carried,
                                  const std::vector<EagerValue>& sliced, const std::vector<EagerValue>& rest,
                                  std::int64_t dim, bool reverse, int depth) {
    if (sliced.empty() || !sliced[0].tensor) return std::unexpected(wrong(n, "it has nothing to run over"));
    const auto along =
        static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(sliced[0].tensor->sizes.size()) : dim);
    const std::int64_t count = sliced[0].tensor->sizes[along];
    const std::size_t first_stacked = carried.size();
    std::vector<EagerValue> stacked;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = reverse ? count - 1 - i : i;
      std::vector<EagerValue> inputs = carried;
      for (const EagerValue& each : sliced) {
        Tensor row = *each.tensor;
        row.storage_offset += at * row.strides[along];
        row.sizes.erase(row.sizes.begin() + static_cast<std::ptrdiff_t>(along));
        row.strides.erase(row.strides.begin() + static_cast<std::ptrdiff_t>(along));
        inputs.push_back({.tensor = std::move(row)});
      }
      inputs.insert(inputs.end(), rest.begin(), rest.end());
      const auto made = run_body(n, body, inputs, depth);
      if (!made) return error_of(made);
      if (made->size() < first_stacked)
        return std::unexpected(wrong(n, "its body returns fewer values than it carries"));
      carried.clear();
      for (std::size_t k = 0; k < first_stacked; ++k) carried.push_back(copy_of((*made)[k]));
      for (std::size_t k = first_stacked; k < made->size(); ++k) {
        const Tensor& row = *(*made)[k].tensor;
        if (i == 0) {
          std::vector<std::int64_t> sizes = row.sizes;
          sizes.insert(sizes.begin(), count);
          stacked.push_back({.tensor = Tensor::zeros(row.dtype, sizes)});
        }
        Tensor place = *stacked[k - first_stacked].tensor;
        place.storage_offset = at * place.strides[0];
        place.sizes.erase(place.sizes.begin());
        place.strides.erase(place.strides.begin());
        copy_tensor(row.view(), place.view());
      }
    }
    carried.insert(carried.end(), stacked.begin(), stacked.end());
    return answer(n, carried);
  }

  void round(const Tensor& tensor) {
    if (rounding_) rounding_->round(tensor);
  }

  [[nodiscard]] bool is_token(ValueId v) const noexcept { return graph_.values[v].kind == ValueKind::token; }

  /// Compiles a program of one node on the first backend that takes it; null if none does.
  [[nodiscard]] Result<std::unique_ptr<Step>> compile(NodeId n, std::string_view target) const {
    OneNode one = one_node(program_.graph_module, n, target);
    Result<std::optional<NodeCall>> call = NodeCall::make(ExportedProgram(std::move(one.tables)), kernels_);
    if (!call) return error_of(std::move(call));
    if (!*call) return std::unique_ptr<Step>();
    return std::make_unique<Step>(**std::move(call), std::move(one.inputs), std::move(one.outputs));
  }
  [[nodiscard]] Result<Step*> step_of(NodeId n) {
    const auto at = steps_.find(n);
    if (at != steps_.end()) return at->second.get();
    const std::string_view target = graph_.target(graph_.nodes[n]);
    const std::size_t underscore = target.find("_.");
    const bool in_place =
        target.starts_with("aten.") && underscore != std::string_view::npos && target[underscore - 1] != '_';
    Result<std::unique_ptr<Step>> step(nullptr);
    if (in_place) {
      step = compile(n, concat(target.substr(0, underscore), target.substr(underscore + 1)));
      if (step && *step != nullptr) (*step)->writes_self = true;
    }
    if (!step || *step == nullptr) step = compile(n, target);
    if (!step) return error_of(std::move(step));
    if (*step == nullptr) {
      Error error = wrong(n, "there is no kernel for this operator");
      error.code = ErrorCode::unsupported_operator;
      return std::unexpected(std::move(error));
    }
    return (steps_[n] = std::move(*step)).get();
  }

  /// Keeps a kernel's result: as a view of the input that holds it, or as a copy.
  [[nodiscard]] EagerValue kept(const EValue& made, const Step& step) const {
    const TensorView* tensor = made.tensor_if();
    if (tensor == nullptr) return {made};
    for (const ValueId v : step.inputs)
      if (values_[v].tensor && values_[v].tensor->storage.holds(tensor->data))
        return {.tensor = keep_tensor(*tensor, values_[v].tensor->storage)};
    return {.tensor = copy_of(*tensor)};
  }

  /// True for nodes that return their first argument itself; dropout only in evaluation.
  [[nodiscard]] bool is_identity(NodeId n) const {
    const std::span<const Argument> given = graph_.inputs(graph_.nodes[n]);
    if (std::ranges::find(identities, graph_.target(graph_.nodes[n])) == identities.end() || given.empty())
      return false;
    return !(given.back().kind == ArgumentKind::bool_ && given.back().payload != 0);
  }

  [[nodiscard]] Result<void> run_node(NodeId n) {
    if (is_identity(n)) return answer(n, {value_of(graph_.inputs(graph_.nodes[n])[0])});
    Result<Step*> found = step_of(n);
    if (!found) return error_of(std::move(found));
    Step& step = **found;
    std::vector<EValue> inputs;
    for (const ValueId v : step.inputs)
      if (!is_token(v)) inputs.push_back(values_[v].value());
    std::vector<EValue> outputs(step.outputs.size());
    if (Result<void> done = step.call.run(inputs, outputs); !done) {
      Error error = wrong(n, std::move(done.error().what));
      error.code = done.error().code;
      return std::unexpected(std::move(error));
    }
    std::vector<EagerValue> made;
    for (const EValue& output : outputs) made.push_back(kept(output, step));
    if (rounding_ && !made.empty() && made[0].tensor)
      rounding_->after(graph_.target(graph_.nodes[n]), *made[0].tensor, inputs);
    if (step.writes_self) {
      const std::optional<Tensor>& self = values_[step.inputs[0]].tensor;
      if (made.empty() || !made[0].tensor || !self || self->dtype != made[0].tensor->dtype ||
          self->sizes != made[0].tensor->sizes)
        return std::unexpected(wrong(n, "its result does not fit the tensor that it writes"));
      copy_tensor(copy_of(*made[0].tensor).view(), self->view());
      made[0].tensor = *self;
    }
    for (std::size_t i = 0; i < made.size(); ++i) define(step.outputs[i], made[i]);
    return {};
  }

  std::shared_ptr<const ExportedProgram> parts_;  ///< the program that runs, if it is not the caller's
  const ExportedProgram& program_;
  GraphModuleView graph_;
  BackendTables kernels_;
  std::vector<NamedTensor> state_;
  std::vector<EagerValue> values_;
  OutputStorages storages_;
  std::map<NodeId, std::unique_ptr<Step>> steps_;
  std::vector<Made>* record_ = nullptr;
  std::optional<RandomRounding> rounding_;
};

}  // namespace davit::testing
