// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "davit/backend/delegate_io.hpp"
#include "davit/lowering/detail/constant_computation.hpp"
#include "davit/lowering/graph_copier.hpp"
#include "davit/ops/facts.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/operators/quantization.hpp"

namespace davit::detail {

namespace {

[[nodiscard]] Range append(GraphModule& module, std::span<const Argument> list) {
  const Range range{static_cast<std::uint32_t>(module.arguments.size()), static_cast<std::uint32_t>(list.size())};
  module.arguments.insert(module.arguments.end(), list.begin(), list.end());
  return range;
}

/// True for an operator that makes an element of the elements at its place, which broadcast.
[[nodiscard]] bool works_on_elements(std::string_view target) {
  const OperatorFacts& facts = facts_of(target);
  if (facts.promotes || facts.shape == ShapeRule::promoted || facts.shape == ShapeRule::quotient ||
      facts.view == ViewKind::same || facts.view == ViewKind::maybe_same)
    return true;
  constexpr std::string_view names[] = {"aten.__and__", "aten.__or__", "aten._to_copy",
                                        "aten.clone",   "aten.neg",    "aten.rsub"};
  return std::ranges::find(names, target.substr(0, target.rfind('.'))) != std::end(names);
}
/// Keeps the cut's rows of a value of `module`, a copy of value `v`.
void cut_sizes(GraphModule& module, ValueId made, ValueId v, const RowCut& cut) {
  if (cut.per_row[v] != 0) module.dims[module.values[made].sizes.first].value = cut.per_row[v] * cut.count;
}
[[nodiscard]] Tensor cut_rows(Tensor tensor, ValueId v, const RowCut& cut) {
  if (cut.per_row[v] == 0) return tensor;
  tensor.sizes[0] = cut.per_row[v] * cut.count;
  tensor.storage_offset += cut.first * cut.per_row[v] * tensor.strides[0];
  return tensor;
}

/// The nodes that make `needed` as a program that takes nothing.
[[nodiscard]] ProgramTables computation(const ExportedProgram& program, std::span<const std::uint8_t> nodes,
                                        std::span<const ValueId> needed, const RowCut* cut) {
  const GraphModuleView graph = program.view();
  std::vector<std::uint8_t> used(graph.values.size(), 0);
  for (const ValueId v : needed) used[v] = 1;
  std::vector<NodeId> makers;
  for (NodeId n = static_cast<NodeId>(graph.nodes.size()); n-- > 0;) {
    bool any = false;
    if (nodes[n] != 0)
      for (const Argument& output : graph.outputs(graph.nodes[n]))
        graph.for_each_value(output, [&](ValueId v) { any = any || used[v] != 0; });
    if (!any) continue;
    makers.push_back(n);
    for (const Argument& input : graph.inputs(graph.nodes[n]))
      graph.for_each_value(input, [&](ValueId v) { used[v] = 1; });
  }
  ProgramTables out;
  GraphCopier copier(graph);
  copier.begin();
  copier.builder.begin_graph("constants");
  const TensorIndex tensors(program);
  const std::span<const Argument> old = graph.args(graph.root().inputs);
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (!old[i].is_value() || used[old[i].value()] == 0) continue;
    const ValueId v = old[i].value();
    copier.builder.input(GraphBuilder::value(copier.copy_value(v)));
    out.signature.input_specs.push_back(program.signature.input_specs[i]);
    const Name* const name = target(program.signature.input_specs[i]);
    if (const Tensor* const tensor = name == nullptr ? nullptr : tensors.find(*name); tensor != nullptr)
      out.constants.push_back({*name, cut == nullptr ? *tensor : cut_rows(*tensor, v, *cut)});
  }
  std::ranges::reverse(makers);
  for (const NodeId n : makers) copier.node(n);
  std::vector<Argument> outputs;
  for (const ValueId v : needed) {
    outputs.push_back(GraphBuilder::value(copier.value(v)));
    out.signature.output_specs.push_back(UserOutputSpec{TensorArgument{Name::own(graph.name(v))}});
  }
  copier.builder.end_graph(std::span<const Argument>(outputs));
  GraphModule& module = out.graph_module = std::exchange(copier.builder, {}).finish();
  if (cut == nullptr) return out;
  for (ValueId v = 0; v < graph.values.size(); ++v)
    if (copier.is_copied(v)) cut_sizes(module, copier.new_value(v), v, *cut);
  for (std::size_t i = 0; i < makers.size(); ++i)  // views say their sizes
    for (Argument& input :
         std::span(module.arguments).subspan(module.nodes[i].inputs.first, module.nodes[i].inputs.count))
      if (const Node& node = graph.nodes[makers[i]];
          facts_of(graph.target(node)).shape == ShapeRule::viewed && input.is_list() && input.items.count != 0)
        if (Argument& rows = module.arguments[input.items.first]; rows.kind == ArgumentKind::int_ && rows.payload != -1)
          rows.payload = cut->per_row[graph.outputs(node)[0].value()] * cut->count;
  return out;
}

[[nodiscard]] bool is_as_declared(GraphModuleView graph, const TensorView& made, const Value& value) {
  return made.dtype == value.dtype && std::ranges::equal(made.sizes(), graph.dims_of(value.sizes), {}, {}, &Dim::value);
}

}  // namespace

std::optional<RowCut> row_cut(GraphModuleView graph, std::span<const std::uint8_t> nodes, ValueId value) {
  const auto sizes = [&](ValueId v) { return graph.dims_of(graph.values[v].sizes); };
  if (sizes(value).empty() || sizes(value)[0].value < 2) return std::nullopt;
  const std::int64_t rows = sizes(value)[0].value;
  RowCut cut{.per_row = std::vector<std::int64_t>(graph.values.size(), -1)};  // -1: not known yet
  bool good = true;
  const auto is = [&](ValueId v, std::int64_t per_row) {
    if (cut.per_row[v] == -1) cut.per_row[v] = per_row;
    good = good && cut.per_row[v] == per_row;
  };
  const auto is_whole = [&](ValueId v) { is(v, 0); };
  const auto has_rows = [&](ValueId v) {
    good = good && graph.values[v].kind == ValueKind::tensor && !sizes(v).empty() && sizes(v)[0].value % rows == 0;
    if (good) is(v, sizes(v)[0].value / rows);
  };
  has_rows(value);
  for (NodeId n = static_cast<NodeId>(graph.nodes.size()); n-- > 0 && good;) {
    const Node& node = graph.nodes[n];
    if (nodes[n] == 0) continue;
    const std::span<const Argument> outputs = graph.outputs(node);
    if (outputs.size() != 1 || !outputs[0].is_value()) return std::nullopt;
    const ValueId out = outputs[0].value();
    if (cut.per_row[out] == -1) continue;  // for another value
    const auto each_input = [&](auto&& f) {
      for (const Argument& input : graph.inputs(node)) graph.for_each_value(input, f);
    };
    const operators::NodeArguments call(graph, n);
    const ShapeRule shape = facts_of(graph.target(node)).shape;
    operators::QuantizationView quantization;
    if (cut.per_row[out] == 0) {
      each_input(is_whole);
    } else if (shape == ShapeRule::viewed || shape == ShapeRule::unsqueezed) {
      each_input(has_rows);
    } else if (shape == ShapeRule::stacked || shape == ShapeRule::concatenated || shape == ShapeRule::sliced) {
      std::int64_t dim = 0;
      good = good && operators::read_integer(call, {"dim", 1}, 0, dim) &&
             dim % static_cast<std::int64_t>(sizes(out).size()) != 0;
      each_input(has_rows);
    } else if (works_on_elements(graph.target(node))) {
      each_input([&](ValueId v) {
        if (sizes(v).size() == sizes(out).size() && !sizes(v).empty() && sizes(v)[0].value == sizes(out)[0].value)
          has_rows(v);
        else
          is_whole(v);
      });
    } else if (!operators::read_quantization(call, quantization) && !quantization.quantizes) {
      good = good && (quantization.scales == no_id || quantization.axis == 0);
      each_input(has_rows);
    } else {
      return std::nullopt;
    }
  }
  for (std::int64_t& per_row : cut.per_row) per_row = std::max<std::int64_t>(per_row, 0);
  return good ? std::optional(std::move(cut)) : std::nullopt;
}

bool compute_constants(const ExportedProgram& program, const BackendTable& backend, std::span<const std::uint8_t> nodes,
                       std::span<const ValueId> needed, const RowCut* cut,
                       const std::function<bool(std::span<const TensorView>)>& take) {
  const ExportedProgram own(computation(program, nodes, needed, cut));
  DebugMap map;
  DebugHandleRecorder recorder(map);
  recorder.begin_method("constants", own.view());
  const BackendObject spec = backend.default_spec();
  const Result<BackendObject> processed = backend.preprocess(Method{"constants", &own}, spec.get(), recorder);
  if (!processed) return false;
  const Result<BackendObject> handle = backend.compile(processed->get(), spec.get());
  if (!handle) return false;
  const std::shared_ptr<void> workspace = backend.make_workspace();
  std::vector<EValue> outputs(needed.size());
  SharedBytes scratch;
  if (backend.prepare != nullptr) {
    const Result<std::size_t> bytes = backend.prepare(handle->get(), {}, outputs, workspace.get());
    if (!bytes) return false;
    scratch = SharedBytes::allocate(*bytes);
    if (scratch.size() != *bytes) return false;
  }
  std::uint64_t most = 0;  // bytes of all constants
  for (const auto* tensors : {&program.state_dict, &program.constants})
    for (const NamedTensor& entry : *tensors) most += entry.tensor.view().nbytes();
  TextReport report;
  // bytes that a kernel may take beside the sizes of the graph, which a file may say as it likes
  const Status done = backend.execute({.handle = handle->get(),
                                       .workspace = workspace.get(),
                                       .outputs = outputs,
                                       .scratch = {scratch.writable(), scratch.size()},
                                       .max_memory = (std::uint64_t{64} << 20) + 16 * most,
                                       .report = &report});
  if (!done) return false;
  const GraphModuleView graph = own.view();
  std::vector<TensorView> made;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Value& declared = graph.values[graph.args(graph.root().outputs)[i].value()];
    if (!outputs[i].is_tensor() || !is_as_declared(graph, outputs[i].tensor(), declared)) return false;
    made.push_back(outputs[i].tensor());
  }
  return take(made);
}

std::optional<std::vector<Tensor>> compute_constants(const ExportedProgram& program, const BackendTable& backend,
                                                     std::span<const std::uint8_t> nodes,
                                                     std::span<const ValueId> needed) {
  std::vector<SharedBytes> storages;  // of all constants, by address
  for (const auto* tensors : {&program.state_dict, &program.constants})
    for (const NamedTensor& entry : *tensors) storages.push_back(entry.tensor.storage);
  std::ranges::sort(storages, {}, &SharedBytes::data);
  std::vector<Tensor> tensors;
  const auto keep = [&](std::span<const TensorView> views) {
    for (const TensorView& made : views) {
      auto at = std::ranges::upper_bound(storages, static_cast<const std::byte*>(made.data), {}, &SharedBytes::data);
      const bool lies_there = at != storages.begin() && (--at)->holds(made.data);
      tensors.push_back(keep_tensor(made, lies_there ? *at : SharedBytes()));
      if (tensors.back().storage.empty() && made.numel() != 0) return false;
    }
    return true;
  };
  if (!compute_constants(program, backend, nodes, needed, nullptr, keep)) return std::nullopt;
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
