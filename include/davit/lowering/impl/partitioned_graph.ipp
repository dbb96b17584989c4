// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "davit/backend/delegate_io.hpp"
#include "davit/core/contiguous.hpp"
#include "davit/lowering/partitioned_graph.hpp"
#include "davit/lowering/partitioning.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/ops/operators.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/printer.hpp"

namespace davit {

namespace detail {

std::size_t value_bytes(GraphModuleView graph, const Value& v) noexcept {
  if (v.kind != ValueKind::tensor) return 0;
  std::size_t bytes = size_of(v.dtype);
  for (const Dim& dim : graph.dims_of(v.sizes))
    if (dim.value < 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(dim.value), &bytes)) return 0;
  return bytes;
}

std::vector<PartitionReport::Node> node_rows(GraphModuleView graph, std::span<const std::uint32_t> partition_of_node) {
  std::vector<PartitionReport::Node> rows;
  rows.reserve(graph.nodes.size());
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    PartitionReport::Node& row = rows.emplace_back();
    row.name = node_label(graph, n);
    row.target = Name::own(graph.target(node));
    row.partition = partition_of_node[n];
    row.place = node.metadata;
    for (const Argument& output : graph.outputs(node))
      graph.for_each_value(output, [&](ValueId v) {
        row.type = concat(row.type, row.type.empty() ? "" : ", ", type_text(graph, graph.values[v]));
      });
    for (const Argument& input : graph.inputs(node))
      graph.for_each_value(input, [&](ValueId v) {
        if (graph.values[v].producer != no_id) row.inputs.push_back(graph.values[v].producer);
      });
    std::ranges::sort(row.inputs);
    row.inputs.erase(std::ranges::unique(row.inputs).begin(), row.inputs.end());
  }
  return rows;
}

/// Widens the range of a weight by its finite elements.
template <class T>
void widen_range(PartitionReport::Weight& row, const Tensor& tensor) {
  const T* elements = tensor.view().as<T>();
  for (std::size_t i = 0; i < tensor.storage.size() / sizeof(T); ++i) {
    const double value = static_cast<double>(elements[i]);
    if (!std::isfinite(value)) continue;
    if (!(value >= row.least)) row.least = value;  // also if it is NAN
    if (!(value <= row.most)) row.most = value;
  }
}
void find_range(PartitionReport::Weight& row, const Tensor& tensor) {
  switch (tensor.dtype) {
    case ScalarType::float32: return widen_range<float>(row, tensor);
    case ScalarType::float64: return widen_range<double>(row, tensor);
    case ScalarType::float16: return widen_range<Half>(row, tensor);
    case ScalarType::bfloat16: return widen_range<BFloat16>(row, tensor);
    case ScalarType::int64: return widen_range<std::int64_t>(row, tensor);
    case ScalarType::int32: return widen_range<std::int32_t>(row, tensor);
    case ScalarType::int16: return widen_range<std::int16_t>(row, tensor);
    case ScalarType::int8: return widen_range<std::int8_t>(row, tensor);
    case ScalarType::uint64: return widen_range<std::uint64_t>(row, tensor);
    case ScalarType::uint32: return widen_range<std::uint32_t>(row, tensor);
    case ScalarType::uint16: return widen_range<std::uint16_t>(row, tensor);
    case ScalarType::uint8: return widen_range<std::uint8_t>(row, tensor);
    default: return;
  }
}

/// Collects attributes of nodes, and each weight once.
class AttributeCollector {
 public:
  AttributeCollector(const ExportedProgram& program, PartitionReport& report)
      : graph_(program.view()), report_(report), tensors_(program), target_of_(graph_.values.size(), nullptr) {
    const std::span<const Argument> inputs = graph_.args(graph_.root().inputs);
    const std::vector<InputRole> roles = input_roles(program.signature);
    for (std::size_t i = 0; i < inputs.size() && i < roles.size(); ++i)
      if (roles[i] != InputRole::user && inputs[i].is_value())
        target_of_[inputs[i].value()] = target(program.signature.input_specs[i]);
  }
  void add(NodeId n) {
    std::vector<PartitionReport::Attribute>& rows = report_.nodes[n].attributes;
    const OperatorCall call = operator_call(graph_, graph_.nodes[n]);
    const OperatorSchema schema = schema_of(call.target);
    std::vector<bool> given(schema.parameters.size(), false);
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      const Argument& a = call.inputs[i];
      std::string_view name = graph_.str(a.name);
      if (name.empty() && i < schema.parameters.size()) name = schema.parameters[i].name;
      if (const std::size_t at = schema.index_of(name); at < given.size()) given[at] = true;
      add(rows, name.empty() ? concat("argument ", i) : Name::own(name), a);
    }
    for (std::size_t p = 0; p < given.size(); ++p)
      if (const SchemaParameter& left = schema.parameters[p]; !given[p] && left.has_default)
        rows.push_back({Name::own(left.name), Name::own(left.default_value), no_id, true});
  }

 private:
  static constexpr std::size_t longest_value = 300;  ///< in bytes

  [[nodiscard]] static OperatorSchema schema_of(std::string_view target) {
    const std::string_view text = find_operator(target);
    return text.empty() ? OperatorSchema{} : parse_schema(text);
  }
  void add(std::vector<PartitionReport::Attribute>& rows, Name name, const Argument& a) {
    if (a.is_value()) {
      if (const std::uint32_t row = row_of(a.value()); row != no_id) rows.push_back({name, {}, row});
      if (graph_.values[a.value()].kind == ValueKind::tensor) return;
    }
    const std::span<const Argument> items = a.kind == ArgumentKind::list ? graph_.args(a.items) : std::span(&a, 1);
    bool all_tensors = a.kind == ArgumentKind::list && !items.empty();
    for (std::size_t i = 0; i < items.size() && a.kind == ArgumentKind::list; ++i) {
      const bool is_tensor = items[i].is_value() && graph_.values[items[i].value()].kind == ValueKind::tensor;
      all_tensors = all_tensors && is_tensor;
      if (const std::uint32_t row = is_tensor ? row_of(items[i].value()) : no_id; row != no_id)
        rows.push_back({concat(name, "[", i, "]"), {}, row});
    }
    if (all_tensors) return;
    std::string text = print_argument(graph_, a);
    if (text.size() > longest_value) text.replace(longest_value, std::string::npos, "...");
    rows.push_back({std::move(name), Name::own(text)});
  }
  /// The row of a weight; no_id for another value.
  [[nodiscard]] std::uint32_t row_of(ValueId v) {
    const Name* target = target_of_[v];
    const Tensor* tensor = target == nullptr ? nullptr : tensors_.find(*target);
    if (tensor == nullptr) return no_id;
    const auto [at, fresh] = rows_.try_emplace(v, static_cast<std::uint32_t>(report_.weights.size()));
    if (fresh) {
      PartitionReport::Weight& row = report_.weights.emplace_back(
          PartitionReport::Weight{*target, type_text(graph_, graph_.values[v]), tensor->view().nbytes(), NAN, NAN});
      if (row.bytes > tensor->storage.size()) return at->second;  // expanded: a copy could be of any size
      if (const Tensor copy = contiguous(tensor->view()); copy.storage.size() != 0) find_range(row, copy);
    }
    return at->second;
  }

  GraphModuleView graph_;
  PartitionReport& report_;
  TensorIndex tensors_;
  std::vector<const Name*> target_of_;  ///< of each value; null: no weight
  std::unordered_map<ValueId, std::uint32_t> rows_;
};

void add_attributes(const ExportedProgram& program, PartitionReport& report) {
  AttributeCollector collector(program, report);
  for (NodeId n = 0; n < report.nodes.size(); ++n) collector.add(n);
}

class PartitionedGraphBuilder {
 public:
  PartitionedGraphBuilder(GraphModuleView graph, PartitionedGraph& out)
      : graph_(graph), out_(out), box_of_value_(graph.values.size(), no_id) {}

  /// `describe(box, node)` fills in the box of a delegate call.
  template <class Describe>
  void run(Describe&& describe) {
    for (GraphId g = 0; g < graph_.graphs.size(); ++g) {
      const Graph& graph = graph_.graphs[g];
      out_.graphs.push_back({.name = Name::own(graph_.str(graph.name)), .boxes = {}, .edges = {}});
      const std::uint32_t inputs = add(g, {.kind = PartitionedGraph::BoxKind::inputs, .label = "inputs"});
      for (const Argument& input : graph_.args(graph.inputs)) define(input, inputs);
      for (std::uint32_t i = 0; i < graph.nodes.count; ++i) {
        const Node& node = graph_.nodes[graph.nodes.first + i];
        PartitionedGraph::Box box;
        if (graph_.target(node) == call_delegate_target) {
          describe(box, node);
        } else {
          box.kind = PartitionedGraph::BoxKind::control_flow;
          box.label = node_label(graph_, graph.nodes.first + i);
          box.detail = Name::own(graph_.target(node));
          for (const Argument& input : graph_.inputs(node))
            if (input.kind == ArgumentKind::graph) box.graphs.push_back(input.graph());
        }
        const std::uint32_t id = add(g, std::move(box));
        connect(g, graph_.inputs(node), id);
        for (const Argument& output : graph_.outputs(node)) define(output, id);
      }
      connect(g, graph_.args(graph.outputs), add(g, {.kind = PartitionedGraph::BoxKind::outputs, .label = "outputs"}));
    }
  }

 private:
  std::uint32_t add(GraphId g, PartitionedGraph::Box box) {
    box.graph = g;
    out_.boxes.push_back(std::move(box));
    out_.graphs[g].boxes.push_back(static_cast<std::uint32_t>(out_.boxes.size() - 1));
    return out_.graphs[g].boxes.back();
  }
  void define(const Argument& argument, std::uint32_t box) {
    graph_.for_each_value(argument, [&](ValueId v) { box_of_value_[v] = box; });
  }
  /// Adds an edge for each value that the box reads.
  void connect(GraphId g, std::span<const Argument> arguments, std::uint32_t box) {
    seen_.clear();
    for (const Argument& argument : arguments) graph_.for_each_value(argument, [&](ValueId v) { seen_.push_back(v); });
    std::ranges::sort(seen_);
    seen_.erase(std::ranges::unique(seen_).begin(), seen_.end());
    for (const ValueId v : seen_) {
      if (box_of_value_[v] == no_id) continue;
      const Value& value = graph_.values[v];
      out_.graphs[g].edges.push_back(static_cast<std::uint32_t>(out_.edges.size()));
      out_.edges.push_back(
          {box_of_value_[v], box, Name::own(graph_.name(v)), type_text(graph_, value), value_bytes(graph_, value)});
    }
  }

  GraphModuleView graph_;
  PartitionedGraph& out_;
  std::vector<std::uint32_t> box_of_value_;
  std::vector<ValueId> seen_;
};

}  // namespace detail

PartitionedGraph partitioned_graph(const LoweredMethod& method,
                                   std::span<const PartitionReport::Partition> partitions) {
  PartitionedGraph out;
  const GraphModuleView graph = method.parent.view();
  detail::PartitionedGraphBuilder(graph, out).run([&](PartitionedGraph::Box& box, const Node& node) {
    const std::span<const Argument> in = graph.inputs(node);
    const auto d = in.empty() ? partitions.size() : static_cast<std::size_t>(in[0].payload);
    if (d >= partitions.size()) return;
    box.label = partitions[d].tag;
    box.partition = static_cast<std::uint32_t>(d);
    box.backend = method.delegates[d].backend;
    box.detail = partitions[d].backend;
    box.nodes = partitions[d].nodes;
  });
  return out;
}

PartitionReport partition_report(const LoweredProgram& program, std::size_t index) {
  const LoweredMethod& method = program.methods()[index];
  PartitionReport out;
  out.method = method.name;
  for (const LoweredDelegate& delegate : method.delegates) {
    PartitionReport::Partition row{.tag = delegate.tag, .backend = Name(program.backends().name(delegate.backend))};
    for (const InputPort& input : delegate.interface.inputs) row.inputs += input.role == InputRole::user ? 1 : 0;
    row.outputs = delegate.interface.outputs.size();
    out.partitions.push_back(std::move(row));
  }
  out.graph = partitioned_graph(method, out.partitions);
  out.sizes = symbol_sizes_text(method.interface);
  return out;
}

}  // namespace davit
