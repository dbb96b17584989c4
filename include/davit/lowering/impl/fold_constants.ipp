// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/delegate_io.hpp"
#include "davit/lowering/fold_constants.hpp"
#include "davit/ops/facts.hpp"
#include "davit/program/operator_call.hpp"

namespace davit {

namespace detail {

class ConstantFolder {
 public:
  ConstantFolder(const ExportedProgram& program, const BackendTable& backend)
      : program_(program),
        graph_(program.view()),
        backend_(backend),
        known_(graph_.values.size(), 0),
        folded_(graph_.nodes.size(), 0) {}

  /// Finds the nodes to fold; false if there are none.
  [[nodiscard]] bool find() {
    if (backend_.preprocess == nullptr || backend_.default_spec == nullptr || storage_matters(graph_)) return false;
    const std::span<const Argument> inputs = graph_.args(graph_.root().inputs);
    const std::vector<InputRole> roles = input_roles(program_.signature);
    for (const auto* tensors : {&program_.state_dict, &program_.constants})
      for (const NamedTensor& entry : *tensors) most_ += entry.tensor.view().nbytes();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (roles[i] == InputRole::constant && inputs[i].is_value()) known_[inputs[i].value()] = 1;
    std::vector<std::uint8_t> returned(graph_.values.size(), 0);
    for (const Argument& output : graph_.args(graph_.root().outputs))
      graph_.for_each_value(output, [&](ValueId v) { returned[v] = 1; });
    bool any = false;
    const Range nodes = graph_.root().nodes;
    for (NodeId n = nodes.first; n < nodes.first + nodes.count; ++n) {
      if (!can_fold(n, returned)) continue;
      folded_[n] = 1;
      any = true;
      for (const Argument& output : graph_.outputs(graph_.nodes[n]))
        graph_.for_each_value(output, [&](ValueId v) { known_[v] = 1; });
    }
    if (!any || !backend_.is_available()) return false;
    std::vector<std::uint8_t> needed(graph_.values.size(), 0);
    for (NodeId n = 0; n < graph_.nodes.size(); ++n)
      for (const Argument& input : graph_.inputs(graph_.nodes[n]))
        graph_.for_each_value(input, [&](ValueId v) {
          const NodeId producer = graph_.values[v].producer;
          if (folded_[n] != 0 || producer == no_id || folded_[producer] == 0 ||
              std::exchange(needed[v], std::uint8_t{1}) != 0)
            return;
          needed_.push_back(v);
        });
    return true;
  }

  /// Computes the tensors of needed_; false if the backend fails.
  [[nodiscard]] bool compute() {
    const ExportedProgram program(computation());
    DebugMap map;
    DebugHandleRecorder recorder(map);
    recorder.begin_method("constants", program.view());
    const BackendObject spec = backend_.default_spec();
    const Result<BackendObject> processed = backend_.preprocess(Method{"constants", &program}, spec.get(), recorder);
    if (!processed) return false;
    const Result<BackendObject> handle = backend_.compile(processed->get(), spec.get());
    if (!handle) return false;
    const std::shared_ptr<void> workspace = backend_.make_workspace();
    std::vector<EValue> outputs(needed_.size());
    SharedBytes scratch;
    if (backend_.prepare != nullptr) {
      const Result<std::size_t> bytes = backend_.prepare(handle->get(), {}, outputs, workspace.get());
      if (!bytes) return false;
      scratch = SharedBytes::allocate(*bytes);
      if (scratch.size() != *bytes) return false;
    }
    TextReport report;
    const Status done = backend_.execute({.handle = handle->get(),
                                          .workspace = workspace.get(),
                                          .outputs = outputs,
                                          .scratch = {scratch.writable(), scratch.size()},
                                          .max_memory = max_memory(),
                                          .report = &report});
    if (!done) return false;
    for (const auto* tensors : {&program_.state_dict, &program_.constants})
      for (const NamedTensor& entry : *tensors) storages_.push_back(entry.tensor.storage);
    std::ranges::sort(storages_, {}, &SharedBytes::data);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (!outputs[i].is_tensor() || !is_as_declared(outputs[i].tensor(), graph_.values[needed_[i]]) ||
          !keep(outputs[i].tensor()))
        return false;
    return true;
  }

  /// Returns the program without the folded nodes.
  [[nodiscard]] ExportedProgram result() {
    ExportedProgram out = program_;
    GraphModule& module = out.graph_module;
    std::vector<NodeId> moved(graph_.nodes.size() + 1, 0);
    module.nodes.clear();
    for (NodeId n = 0; n < graph_.nodes.size(); ++n) {
      moved[n] = static_cast<NodeId>(module.nodes.size());
      if (folded_[n] == 0) module.nodes.push_back(graph_.nodes[n]);
    }
    moved[graph_.nodes.size()] = static_cast<NodeId>(module.nodes.size());
    for (Value& value : module.values)
      if (value.producer != no_id) value.producer = folded_[value.producer] != 0 ? no_id : moved[value.producer];
    for (Graph& graph : module.graphs) {
      const NodeId end = moved[graph.nodes.first + graph.nodes.count];
      graph.nodes.first = moved[graph.nodes.first];
      graph.nodes.count = end - graph.nodes.first;
    }
    std::size_t at = 0;  // behind the last parameter, buffer or constant
    for (std::size_t i = 0; i < out.signature.input_specs.size(); ++i) {
      const InputKind k = kind(out.signature.input_specs[i]);
      if (k == InputKind::token || k == InputKind::parameter || k == InputKind::buffer ||
          k == InputKind::constant_tensor)
        at = i + 1;
    }
    const std::span<const Argument> old = graph_.args(graph_.root().inputs);
    std::vector<Argument> inputs(old.begin(), old.end());
    std::vector<InputSpec> specs;
    std::vector<Argument> arguments;
    const TensorIndex taken(program_);
    for (std::size_t i = 0; i < needed_.size(); ++i) {
      const Name name = Name::own(graph_.name(needed_[i]));
      Name target = concat("_folded_", name);
      while (taken.find(target) != nullptr) target = concat("_", target);
      arguments.push_back({.payload = needed_[i], .kind = ArgumentKind::value});
      specs.push_back(InputToTensorConstantSpec({name}, target));
      out.constants.push_back({std::move(target), std::move(tensors_[i])});
    }
    const auto place = static_cast<std::ptrdiff_t>(at);
    inputs.insert(inputs.begin() + place, arguments.begin(), arguments.end());
    out.signature.input_specs.insert(out.signature.input_specs.begin() + place, specs.begin(), specs.end());
    module.graphs[root_graph].inputs = append(module, inputs);
    return out;
  }

 private:
  [[nodiscard]] static Range append(GraphModule& module, std::span<const Argument> list) {
    const Range range{static_cast<std::uint32_t>(module.arguments.size()), static_cast<std::uint32_t>(list.size())};
    module.arguments.insert(module.arguments.end(), list.begin(), list.end());
    return range;
  }

  /// Makes a program without inputs of the folded nodes.
  [[nodiscard]] ProgramTables computation() const {
    ProgramTables out;
    out.state_dict = program_.state_dict;
    out.constants = program_.constants;
    GraphModule& module = out.graph_module = program_.graph_module;
    module.nodes.clear();
    module.graphs.resize(1);
    for (Value& value : module.values) value.producer = no_id;
    std::vector<std::uint8_t> used(graph_.values.size(), 0);
    for (NodeId n = 0; n < graph_.nodes.size(); ++n) {
      if (folded_[n] == 0) continue;
      for (const Argument& input : graph_.inputs(graph_.nodes[n]))
        graph_.for_each_value(input, [&](ValueId v) { used[v] = 1; });
      for (const Argument& output : graph_.outputs(graph_.nodes[n]))
        graph_.for_each_value(output,
                              [&](ValueId v) { module.values[v].producer = static_cast<NodeId>(module.nodes.size()); });
      module.nodes.push_back(graph_.nodes[n]);
    }
    std::vector<Argument> inputs;
    const std::span<const Argument> old = graph_.args(graph_.root().inputs);
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (!old[i].is_value() || used[old[i].value()] == 0) continue;
      inputs.push_back(old[i]);
      out.signature.input_specs.push_back(program_.signature.input_specs[i]);
    }
    std::vector<Argument> outputs;
    for (const ValueId v : needed_) {
      outputs.push_back({.payload = v, .kind = ArgumentKind::value});
      out.signature.output_specs.push_back(UserOutputSpec{TensorArgument{Name::own(graph_.name(v))}});
    }
    Graph& root = module.graphs[root_graph];
    root.nodes = {0, static_cast<std::uint32_t>(module.nodes.size())};
    root.inputs = append(module, inputs);
    root.outputs = append(module, outputs);
    return out;
  }

  [[nodiscard]] bool can_fold(NodeId n, std::span<const std::uint8_t> returned) const {
    const Node& node = graph_.nodes[n];
    const std::string_view target = graph_.target(node);
    if (!target.starts_with("aten."))
      return false;  // excludes control flow, and quantized_decomposed: backends read quantized weights
    const auto is_one_of = [&](std::initializer_list<std::string_view> beginnings) {
      return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return target.starts_with(beginning); });
    };
    if (is_random(target)) return false;
    if (target.starts_with("aten._") && !is_one_of({"aten._to_copy", "aten._unsafe", "aten._reshape"})) return false;
    bool good = true;
    for (const Argument& input : graph_.inputs(node))
      graph_.for_each_value(input, [&](ValueId v) { good = good && known_[v] != 0; });
    std::size_t outputs = 0;
    for (const Argument& output : graph_.outputs(node))
      graph_.for_each_value(output, [&](ValueId v) {
        ++outputs;
        good = good && returned[v] == 0 && is_small(graph_.values[v]);
      });
    return good && outputs != 0 && (backend_.refuses == nullptr || backend_.refuses(graph_, n) == nullptr);
  }
  /// True for a tensor of static sizes that is not much larger than the program's constants.
  [[nodiscard]] bool is_small(const Value& value) const {
    if (value.kind != ValueKind::tensor) return false;
    std::size_t bytes = size_of(value.dtype);
    for (const Dim& dim : graph_.dims_of(value.sizes))
      if (!dim.is_static() || dim.value < 0 ||
          __builtin_mul_overflow(bytes, static_cast<std::size_t>(dim.value), &bytes))
        return false;
    return bytes <= std::max<std::size_t>(most_, 1u << 20);
  }

  /// The limit of a kernel's memory beside declared values: sizes in a file can be arbitrary.
  [[nodiscard]] std::uint64_t max_memory() const noexcept {
    return (std::uint64_t{64} << 20) + 16 * std::uint64_t{most_};
  }
  [[nodiscard]] bool is_as_declared(const TensorView& made, const Value& value) const {
    return made.dtype == value.dtype &&
           std::ranges::equal(made.sizes(), graph_.dims_of(value.sizes), {}, {}, &Dim::value);
  }

  /// Keeps a computed tensor: as a view of the constant that holds its storage, else as a copy. O(log constants).
  [[nodiscard]] bool keep(const TensorView& made) {
    auto at = std::ranges::upper_bound(storages_, static_cast<const std::byte*>(made.data), {}, &SharedBytes::data);
    const bool lies_there = at != storages_.begin() && (--at)->holds(made.data);
    tensors_.push_back(keep_tensor(made, lies_there ? *at : SharedBytes()));
    return !tensors_.back().storage.empty() || made.numel() == 0;
  }

  const ExportedProgram& program_;
  GraphModuleView graph_;
  const BackendTable& backend_;
  std::size_t most_ = 0;               ///< bytes of all constants
  std::vector<std::uint8_t> known_;    ///< per value: it is a constant, or folded
  std::vector<std::uint8_t> folded_;   ///< per node: it is folded
  std::vector<ValueId> needed_;        ///< folded values with other users
  std::vector<Tensor> tensors_;        ///< of needed_
  std::vector<SharedBytes> storages_;  ///< of all constants, by address
};

}  // namespace detail

std::optional<ExportedProgram> fold_constants(const ExportedProgram& program, const BackendTable& backend) {
  detail::ConstantFolder folder(program, backend);
  if (!folder.find() || !folder.compute()) return std::nullopt;
  return folder.result();
}

}  // namespace davit
