// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/floor_divide.hpp"
#include "davit/lowering/graph_emitter.hpp"
#include "davit/program/operator_call.hpp"

namespace davit {

GraphEmitter::GraphEmitter(const GraphModule& from) : old_nodes_(from.nodes.size()) {
  module() = from;
  // names of an earlier pass begin with "d<number>_": this pass takes a larger number
  for (ValueId v = 0; v < from.values.size(); ++v) {
    const Value& value = from.values[v];
    if (value.kind == ValueKind::sym_int) ints_.push_back(v);
    const std::string_view name = view().str(value.name);
    std::uint64_t number = 0;
    std::size_t at = 1;
    while (at < name.size() && at < 10 && name[at] >= '0' && name[at] <= '9')
      number = 10 * number + static_cast<std::uint64_t>(name[at++] - '0');
    if (name.starts_with('d') && at < name.size() && name[at] == '_') prefix_ = std::max(prefix_, number + 1);
  }
}

void GraphEmitter::begin(GraphId id) {
  graph = id;
  symbols_.clear();
  newest_symbols_.clear();
  module().graphs[id].nodes = {static_cast<std::uint32_t>(module().nodes.size()), 0};
}
NodeId GraphEmitter::append(const Node& node, bool kept) {
  const auto id = static_cast<NodeId>(module().nodes.size());
  if (!kept && ++made_ > max_nodes + 256 * old_nodes_) fault = "the program's operators would become too many nodes";
  module().nodes.push_back(node);
  module().nodes.back().graph = graph;
  for (const Argument& output : view().outputs(node))
    view().for_each_value(output, [&](ValueId v) { module().values[v].producer = id; });
  ++module().graphs[graph].nodes.count;
  kept_.push_back(kept ? 1 : 0);
  if (std::string key = symbolic_key(node); !key.empty() && node.outputs.count == 1)
    if (const auto [at, fresh] = symbols_.emplace(std::move(key), view().outputs(node)[0].value()); fresh)
      newest_symbols_.push_back(at);
  return id;
}

GraphEmitter::Mark GraphEmitter::mark() noexcept {
  const GraphModule& m = module();
  return {m.dims.size(), m.exprs.size(), m.values.size(), m.arguments.size(), m.nodes.size()};
}
void GraphEmitter::roll_back(const Mark& to) {
  GraphModule& m = module();
  m.graphs[graph].nodes.count -= static_cast<std::uint32_t>(m.nodes.size() - to.nodes);
  m.dims.resize(to.dims);
  m.exprs.resize(to.exprs);
  m.values.resize(to.values);
  m.arguments.resize(to.arguments);
  m.nodes.resize(to.nodes);
  kept_.resize(to.nodes - old_nodes_);
  while (!ints_.empty() && ints_.back() >= to.values) ints_.pop_back();
  for (; !newest_symbols_.empty() && newest_symbols_.back()->second >= to.values; newest_symbols_.pop_back())
    symbols_.erase(newest_symbols_.back());
}

Dim GraphEmitter::arithmetic(ExprOp op, Dim a, Dim b) {
  std::int64_t value = 0;
  bool wrong = false;
  switch (op) {
    case ExprOp::add: wrong = __builtin_add_overflow(a.value, b.value, &value); break;
    case ExprOp::mul: wrong = __builtin_mul_overflow(a.value, b.value, &value); break;
    case ExprOp::max: value = std::max(a.value, b.value); break;
    case ExprOp::min: value = std::min(a.value, b.value); break;
    default: {  // floor_div, python_mod
      wrong = !has_quotient(a.value, b.value);
      if (wrong) break;
      value = floor_divide(a.value, b.value);
      if (op != ExprOp::floor_div) value = a.value - value * b.value;
    }
  }
  if (wrong) {
    fault = "sizes overflow";
    return {};
  }
  if (a.is_static() && b.is_static()) return {value};
  if (op == ExprOp::add || op == ExprOp::mul) {
    const std::int64_t neutral = op == ExprOp::mul ? 1 : 0;
    if (a.is_static() && a.value == neutral) return b;
    if (op == ExprOp::mul && ((a.is_static() && a.value == 0) || (b.is_static() && b.value == 0))) return {0};
    if (b.is_static() && b.value == neutral) return a;
  }
  if (op == ExprOp::floor_div && b.is_static() && b.value == 1) return a;
  const auto operand = [&](Dim d) {
    return d.is_static() ? tables_.expr({.op = ExprOp::integer, .value = d.value}) : d.expr;
  };
  const ExprId left = operand(a);
  return {value, tables_.expr({.op = op, .a = left, .b = operand(b)})};
}
Dim GraphEmitter::dim(const Item& item) {
  if (item.is_value() && module().values[item.value()].kind == ValueKind::sym_int)
    return {module().values[item.value()].constant, module().values[item.value()].expr};
  if (item.is(ArgumentKind::int_) || item.is(ArgumentKind::bool_)) return {item.argument.payload, item.expr};
  fault = "a size is not an integer";
  return {};
}
Item GraphEmitter::item(Dim dim) {
  Item out = Item::integer(dim.value);
  out.expr = dim.expr;
  return out;
}
Dim GraphEmitter::product(std::span<const Dim> dims) {
  Dim all{1};
  for (const Dim& d : dims) all = arithmetic(ExprOp::mul, all, d);
  return all;
}

Argument GraphEmitter::argument(const Item& item) {
  Argument out = item.argument;
  if (item.is_list()) {
    std::vector<Argument> items;
    items.reserve(item.items.size());
    for (const Item& each : item.items) items.push_back(argument(each));
    const ArgumentKind element = items.empty() ? ArgumentKind::int_ : items.front().kind;
    return tables_.list(items, element);
  }
  if (!item.text.empty()) return tables_.string(item.text, item.argument.kind);
  if (item.is(ArgumentKind::int_) && item.expr != no_id) {
    for (const ValueId v : ints_) {
      const Value& value = module().values[v];
      if (value.expr == item.expr && value.graph == graph && (value.producer == no_id || value.producer >= old_nodes_))
        return GraphBuilder::value(v);
    }
    fault = "no value stands for a size";
  }
  return out;
}
Item GraphEmitter::read(const Argument& argument) {
  Item out = Item::of(argument);
  out.argument.name = {};
  out.argument.keyword = 0;
  for (std::uint32_t i = 0; argument.is_list() && i < argument.items.count; ++i)
    out.items.push_back(read(module().arguments[argument.items.first + i]));
  return out;
}

ValueId GraphEmitter::declare(Value value, std::string_view base) {
  value.name = new_name(base);
  value.graph = graph;
  const auto id = static_cast<ValueId>(module().values.size());
  module().values.push_back(value);
  if (value.kind == ValueKind::sym_int) ints_.push_back(id);
  return id;
}

ValueId GraphEmitter::declare(const TensorMeta& meta, std::string_view base) {
  std::vector<Dim> strides = meta.strides;
  if (strides.size() != meta.sizes.size()) {
    strides.assign(meta.sizes.size(), Dim{1});
    for (std::size_t d = meta.sizes.size(); d-- > 1;) {
      const Dim size = meta.sizes[d].is_static() && meta.sizes[d].value == 0 ? Dim{1} : meta.sizes[d];
      strides[d - 1] = arithmetic(ExprOp::mul, strides[d], size);
    }
  }
  return declare({.sizes = tables_.dims(meta.sizes),
                  .strides = tables_.dims(strides),
                  .device = intern("cpu"),
                  .dtype = meta.dtype},
                 base);
}

Item GraphEmitter::call(std::string_view target, std::span<const NamedItem> inputs, std::span<const TensorMeta> outputs,
                        bool many) {
  const std::size_t first = target.find('.') + 1;
  const std::string_view base = target.substr(first, target.find('.', first) - first);
  std::vector<Argument> arguments;
  for (const NamedItem& input : inputs) {
    arguments.push_back(argument(input.item));
    arguments.back().name = intern(input.name);
  }
  std::vector<Item> results;
  std::vector<Argument> outs;
  for (const TensorMeta& meta : outputs) {
    outs.push_back(GraphBuilder::value(declare(meta, base)));
    results.push_back(Item::of(outs.back()));
  }
  append({.target = intern(target), .inputs = list(arguments), .outputs = list(outs), .metadata = metadata},
         in_place(target) != InPlace::no);
  return many ? Item::list(std::move(results)) : results.empty() ? Item{} : std::move(results.front());
}
Item GraphEmitter::symbolic(std::string_view target, std::span<const NamedItem> inputs, ValueKind kind, Dim result) {
  std::vector<Argument> arguments;
  for (const NamedItem& input : inputs) {
    arguments.push_back(argument(input.item));
    arguments.back().name = intern(input.name);
  }
  Node node{.target = intern(target), .inputs = list(arguments), .outputs = {}, .metadata = metadata};
  if (const auto known = symbols_.find(symbolic_key(node)); known != symbols_.end()) {
    Value& value = module().values[known->second];  // it may have taken another value's place
    if (value.kind == kind && value.producer < module().nodes.size() &&
        view().outputs(module().nodes[value.producer])[0].value() == known->second) {
      if (value.expr == result.expr && value.constant == 0)
        value.constant = result.value;  // an earlier use may lack the example
      return Item::of(GraphBuilder::value(known->second));
    }
  }
  const Argument out =
      GraphBuilder::value(declare({.constant = result.value, .expr = result.expr, .kind = kind}, "sym"));
  node.outputs = list({&out, 1});
  append(node, false);
  return Item::of(out);
}

std::string GraphEmitter::symbolic_key(const Node& node) {
  const std::string_view target = view().target(node);
  if (target != "aten.sym_size.int" && !target.starts_with("_operator.") && !target.starts_with("torch.sym_"))
    return {};
  std::string key(target);
  for (const Argument& a : view().inputs(node)) {
    if (a.is_list()) return {};
    key += ' ';
    key += std::to_string(static_cast<int>(a.kind)) + ':' + std::to_string(a.payload);
  }
  return key;
}

void GraphEmitter::merge_metadata(std::span<const std::uint8_t> used, std::span<const std::uint8_t> needed,
                                  GraphModule& out) {
  const GraphModuleView from = view();
  std::vector<NodeId> old_producer(from.values.size(), no_id);
  for (NodeId n = 0; n < old_nodes_; ++n)
    for (const Argument& output : from.outputs(from.nodes[n]))
      from.for_each_value(output, [&](ValueId v) { old_producer[v] = n; });
  std::vector<std::uint8_t> taken(old_nodes_, 0);
  std::vector<NodeId> pending;
  std::vector<std::uint32_t> rows;  // metadata rows of the node, its own first
  const auto trace = [&](std::uint32_t row) { return from.str(from.metadata[row].stack_trace); };
  for (NodeId n = static_cast<NodeId>(old_nodes_); n < from.nodes.size(); ++n) {
    const std::uint32_t own = from.nodes[n].metadata;
    if (needed[n] == 0 || own == no_id) continue;
    rows.clear();
    for (std::uint32_t row = own; row != no_id; row = from.metadata[row].merged) rows.push_back(row);
    const std::size_t known = rows.size();
    for (const Argument& output : from.outputs(from.nodes[n]))
      from.for_each_value(output, [&](ValueId v) {
        if (old_producer[v] != no_id) pending.push_back(old_producer[v]);
      });
    while (!pending.empty()) {
      const Node& node = from.nodes[pending.back()];
      pending.pop_back();
      for (const Argument& input : from.inputs(node))
        from.for_each_value(input, [&](ValueId v) {
          const NodeId gone = used[v] == 0 ? old_producer[v] : no_id;
          if (gone == no_id || taken[gone]++ != 0) return;
          pending.push_back(gone);
          for (std::uint32_t row = from.nodes[gone].metadata; row != no_id && rows.size() < max_merged;
               row = from.metadata[row].merged)
            if (std::ranges::none_of(rows, [&](std::uint32_t each) { return trace(each) == trace(row); }))
              rows.push_back(row);
        });
    }
    if (rows.size() == known) continue;
    std::uint32_t next = no_id;
    for (std::size_t i = rows.size(); i-- > 0;) {
      NodeMetadata row = from.metadata[rows[i]];
      row.merged = std::exchange(next, static_cast<std::uint32_t>(out.metadata.size()));
      out.metadata.push_back(row);
    }
    module().nodes[n].metadata = next;
  }
}

GraphModule GraphEmitter::finish() {
  const GraphModule& old = module();
  const GraphModuleView from = view();
  // marks used values and nodes, from the ends of the graphs backwards
  std::vector<std::uint8_t> used(old.values.size(), 0);
  std::vector<std::uint8_t> called(old.graphs.size(), 0);
  std::vector<std::uint8_t> needed(old.nodes.size(), 0);
  called[root_graph] = 1;
  for (GraphId g = 0; g < old.graphs.size(); ++g) {
    if (called[g] == 0) continue;
    const Graph& each = old.graphs[g];
    const auto use = [&](ValueId v) { used[v] = 1; };
    for (const Argument& output : from.args(each.outputs)) from.for_each_value(output, use);
    for (NodeId n = each.nodes.first + each.nodes.count; n-- > each.nodes.first;) {
      bool wanted = is_original(n);
      for (const Argument& output : from.outputs(old.nodes[n]))
        from.for_each_value(output, [&](ValueId v) { wanted = wanted || used[v] != 0; });
      if (!wanted) continue;
      needed[n] = 1;
      for (const Argument& input : from.inputs(old.nodes[n])) {
        from.for_each_value(input, use);
        if (input.kind == ArgumentKind::graph) called[input.graph()] = 1;
      }
    }
  }
  GraphModule out;
  out.text = old.text;
  out.dims = old.dims;
  out.exprs = old.exprs;
  out.metadata = old.metadata;
  merge_metadata(used, needed, out);
  std::vector<ValueId> new_value(old.values.size(), no_id);
  std::vector<GraphId> new_graph(old.graphs.size(), no_id);
  for (GraphId g = 0, count = 0; g < old.graphs.size(); ++g)
    if (called[g] != 0) new_graph[g] = count++;
  const auto define = [&](ValueId v) { new_value[v] = 0; };
  for (GraphId g = 0; g < old.graphs.size(); ++g) {
    if (called[g] == 0) continue;
    for (const Argument& input : from.args(old.graphs[g].inputs)) from.for_each_value(input, define);
    for (NodeId n = old.graphs[g].nodes.first; n < old.graphs[g].nodes.first + old.graphs[g].nodes.count; ++n)
      if (needed[n] != 0)
        for (const Argument& output : from.outputs(old.nodes[n])) from.for_each_value(output, define);
  }
  for (ValueId v = 0; v < old.values.size(); ++v) {
    if (new_value[v] == no_id) continue;
    new_value[v] = static_cast<ValueId>(out.values.size());
    out.values.push_back(old.values[v]);
    out.values.back().graph = new_graph[old.values[v].graph];
  }
  const auto copy = [&](auto& self, Range range) -> Range {
    std::vector<Argument> rows(from.args(range).begin(), from.args(range).end());
    for (Argument& row : rows) {
      if (row.is_value()) row.payload = new_value[row.value()];
      if (row.kind == ArgumentKind::graph) row.payload = new_graph[row.graph()];
      if (row.is_list()) row.items = self(self, row.items);
    }
    const Range to{static_cast<std::uint32_t>(out.arguments.size()), static_cast<std::uint32_t>(rows.size())};
    out.arguments.insert(out.arguments.end(), rows.begin(), rows.end());
    return to;
  };
  for (GraphId g = 0; g < old.graphs.size(); ++g) {
    if (called[g] == 0) continue;
    Graph made = old.graphs[g];
    made.inputs = copy(copy, made.inputs);
    made.outputs = copy(copy, made.outputs);
    made.nodes = {static_cast<std::uint32_t>(out.nodes.size()), 0};
    for (NodeId n = old.graphs[g].nodes.first; n < old.graphs[g].nodes.first + old.graphs[g].nodes.count; ++n) {
      if (needed[n] == 0) continue;
      Node node = old.nodes[n];
      node.inputs = copy(copy, node.inputs);
      node.outputs = copy(copy, node.outputs);
      node.graph = new_graph[g];
      const auto id = static_cast<NodeId>(out.nodes.size());
      out.nodes.push_back(node);
      ++made.nodes.count;
      for (const Argument& output : out.view().outputs(node))
        out.view().for_each_value(output, [&](ValueId v) { out.values[v].producer = id; });
    }
    out.graphs.push_back(made);
  }
  return out;
}

}  // namespace davit
