// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "davit/backend/delegate_io.hpp"
#include "davit/lowering/detail/constant_computation.hpp"

namespace davit::detail {

namespace {

[[nodiscard]] Range append(GraphModule& module, std::span<const Argument> list) {
  const Range range{static_cast<std::uint32_t>(module.arguments.size()), static_cast<std::uint32_t>(list.size())};
  module.arguments.insert(module.arguments.end(), list.begin(), list.end());
  return range;
}

/// The nodes as a program that takes nothing.
[[nodiscard]] ProgramTables computation(const ExportedProgram& program, std::span<const std::uint8_t> nodes,
                                        std::span<const ValueId> needed) {
  const GraphModuleView graph = program.view();
  ProgramTables out;
  out.state_dict = program.state_dict;
  out.constants = program.constants;
  GraphModule& module = out.graph_module = program.graph_module;
  module.nodes.clear();
  module.graphs.resize(1);
  for (Value& value : module.values) value.producer = no_id;
  std::vector<std::uint8_t> used(graph.values.size(), 0);
  for (const ValueId v : needed) used[v] = 1;
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    if (nodes[n] == 0) continue;
    for (const Argument& input : graph.inputs(graph.nodes[n]))
      graph.for_each_value(input, [&](ValueId v) { used[v] = 1; });
    for (const Argument& output : graph.outputs(graph.nodes[n]))
      graph.for_each_value(output,
                           [&](ValueId v) { module.values[v].producer = static_cast<NodeId>(module.nodes.size()); });
    module.nodes.push_back(graph.nodes[n]);
  }
  std::vector<Argument> inputs;
  const std::span<const Argument> old = graph.args(graph.root().inputs);
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (!old[i].is_value() || used[old[i].value()] == 0) continue;
    inputs.push_back(old[i]);
    out.signature.input_specs.push_back(program.signature.input_specs[i]);
  }
  std::vector<Argument> outputs;
  for (const ValueId v : needed) {
    outputs.push_back({.payload = v, .kind = ArgumentKind::value});
    out.signature.output_specs.push_back(UserOutputSpec{TensorArgument{Name::own(graph.name(v))}});
  }
  Graph& root = module.graphs[root_graph];
  root.nodes = {0, static_cast<std::uint32_t>(module.nodes.size())};
  root.inputs = append(module, inputs);
  root.outputs = append(module, outputs);
  return out;
}

[[nodiscard]] bool is_as_declared(GraphModuleView graph, const TensorView& made, const Value& value) {
  return made.dtype == value.dtype && std::ranges::equal(made.sizes(), graph.dims_of(value.sizes), {}, {}, &Dim::value);
}

}  // namespace

std::optional<std::vector<Tensor>> compute_constants(const ExportedProgram& program, const BackendTable& backend,
                                                     std::span<const std::uint8_t> nodes,
                                                     std::span<const ValueId> needed) {
  const GraphModuleView graph = program.view();
  const ExportedProgram own(computation(program, nodes, needed));
  DebugMap map;
  DebugHandleRecorder recorder(map);
  recorder.begin_method("constants", own.view());
  const BackendObject spec = backend.default_spec();
  const Result<BackendObject> processed = backend.preprocess(Method{"constants", &own}, spec.get(), recorder);
  if (!processed) return std::nullopt;
  const Result<BackendObject> handle = backend.compile(processed->get(), spec.get());
  if (!handle) return std::nullopt;
  const std::shared_ptr<void> workspace = backend.make_workspace();
  std::vector<EValue> outputs(needed.size());
  SharedBytes scratch;
  if (backend.prepare != nullptr) {
    const Result<std::size_t> bytes = backend.prepare(handle->get(), {}, outputs, workspace.get());
    if (!bytes) return std::nullopt;
    scratch = SharedBytes::allocate(*bytes);
    if (scratch.size() != *bytes) return std::nullopt;
  }
  std::vector<SharedBytes> storages;  // of all constants, by address
  std::uint64_t most = 0;             // bytes of all constants
  for (const auto* tensors : {&program.state_dict, &program.constants})
    for (const NamedTensor& entry : *tensors) {
      storages.push_back(entry.tensor.storage);
      most += entry.tensor.view().nbytes();
    }
  TextReport report;
  // bytes that a kernel may take beside the sizes of the graph, which a file may say as it likes
  const Status done = backend.execute({.handle = handle->get(),
                                       .workspace = workspace.get(),
                                       .outputs = outputs,
                                       .scratch = {scratch.writable(), scratch.size()},
                                       .max_memory = (std::uint64_t{64} << 20) + 16 * most,
                                       .report = &report});
  if (!done) return std::nullopt;
  std::ranges::sort(storages, {}, &SharedBytes::data);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].is_tensor() || !is_as_declared(graph, outputs[i].tensor(), graph.values[needed[i]]))
      return std::nullopt;
    const TensorView& made = outputs[i].tensor();
    auto at = std::ranges::upper_bound(storages, static_cast<const std::byte*>(made.data), {}, &SharedBytes::data);
    const bool lies_there = at != storages.begin() && (--at)->holds(made.data);
    tensors.push_back(keep_tensor(made, lies_there ? *at : SharedBytes()));
    if (tensors.back().storage.empty() && made.numel() != 0) return std::nullopt;
  }
  return tensors;
}

void drop_nodes(GraphModule& module, std::span<const std::uint8_t> dropped) {
  const std::vector<Node> nodes = std::exchange(module.nodes, {});
  std::vector<NodeId> moved(nodes.size() + 1, 0);
  for (NodeId n = 0; n < nodes.size(); ++n) {
    moved[n] = static_cast<NodeId>(module.nodes.size());
    if (dropped[n] == 0) module.nodes.push_back(nodes[n]);
  }
  moved[nodes.size()] = static_cast<NodeId>(module.nodes.size());
  for (Value& value : module.values)
    if (value.producer != no_id) value.producer = dropped[value.producer] != 0 ? no_id : moved[value.producer];
  for (Graph& graph : module.graphs) {
    const NodeId end = moved[graph.nodes.first + graph.nodes.count];
    graph.nodes.first = moved[graph.nodes.first];
    graph.nodes.count = end - graph.nodes.first;
  }
}

void add_constants(ExportedProgram& program, std::vector<AddedConstant> constants) {
  GraphModule& module = program.graph_module;
  std::vector<InputSpec>& specs = program.signature.input_specs;
  std::size_t at = 0;  // after the last parameter, buffer or constant; before custom objects and what is passed
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const InputKind k = kind(specs[i]);
    if (k == InputKind::token || k == InputKind::parameter || k == InputKind::buffer || k == InputKind::constant_tensor)
      at = i + 1;
  }
  const std::span<const Argument> old = module.view().args(module.graphs[root_graph].inputs);
  std::vector<Argument> inputs(old.begin(), old.end());
  std::vector<InputSpec> added;
  std::vector<Argument> arguments;
  for (AddedConstant& each : constants) {
    arguments.push_back({.payload = each.value, .kind = ArgumentKind::value});
    added.emplace_back(InputToTensorConstantSpec({Name::own(module.view().name(each.value))}, each.target));
    program.constants.push_back({std::move(each.target), std::move(each.tensor)});
  }
  const auto place = static_cast<std::ptrdiff_t>(at);
  inputs.insert(inputs.begin() + place, arguments.begin(), arguments.end());
  specs.insert(specs.begin() + place, added.begin(), added.end());
  module.graphs[root_graph].inputs = append(module, inputs);
}

}  // namespace davit::detail
