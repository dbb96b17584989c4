// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "davit/lowering/graph_copier.hpp"

namespace davit {

void GraphCopier::begin() {
  ++stamp_;
  builder = {};
  used_symbols.clear();
}
ValueId GraphCopier::copy_value(ValueId v, std::string_view name) {
  const Value& old = graph_.values[v];
  Value made = old;
  made.name = builder.text(name);
  made.producer = no_id;
  made.sizes = dims(old.sizes);
  made.strides = dims(old.strides);
  made.expr = expr(old.expr);
  made.class_fqn = builder.intern(graph_.str(old.class_fqn));
  made.device = builder.intern(graph_.str(old.device));
  new_value_[v] = builder.declare(made);
  value_stamp_[v] = stamp_;
  return new_value_[v];
}
Range GraphCopier::dims(Range range) {
  scratch_dims_.assign(graph_.dims_of(range).begin(), graph_.dims_of(range).end());
  for (Dim& dim : scratch_dims_)
    if (!dim.is_static()) dim.expr = expr(dim.expr);
  return builder.dims(scratch_dims_);
}
/// Copies operands before their users, each once. Operands are older rows; an explicit stack, because expressions may
/// be deeply nested.
ExprId GraphCopier::expr(ExprId id) {
  if (id == no_id) return no_id;
  open_exprs_.assign(1, id);
  while (!open_exprs_.empty()) {
    const ExprId at = open_exprs_.back();
    Expr e = graph_.exprs[at];
    bool ready = true;
    for (ExprId* operand : {&e.a, &e.b, &e.c}) {
      if (*operand == no_id || (e.op == ExprOp::rational && operand == &e.c)) continue;
      if (expr_stamp_[*operand] == stamp_) {
        *operand = new_expr_[*operand];
      } else if (ready) {
        open_exprs_.push_back(*operand);
        ready = false;
      }
    }
    if (!ready) continue;
    open_exprs_.pop_back();
    if (expr_stamp_[at] == stamp_) continue;
    if (e.op == ExprOp::symbol) used_symbols.push_back(at);
    e.name = builder.text(graph_.str(e.name));
    new_expr_[at] = builder.expr(e);
    expr_stamp_[at] = stamp_;
  }
  return new_expr_[id];
}
std::uint32_t GraphCopier::metadata(std::uint32_t row) {
  if (row == no_id) return no_id;
  if (metadata_stamp_[row] == stamp_) return new_metadata_[row];
  const NodeMetadata& m = graph_.metadata[row];
  const std::uint32_t merged = metadata(m.merged);
  new_metadata_[row] =
      builder.metadata(graph_.str(m.stack_trace), graph_.str(m.nn_module_stack), graph_.str(m.source_fn_stack),
                       graph_.str(m.torch_fn), graph_.str(m.custom), merged);
  metadata_stamp_[row] = stamp_;
  return new_metadata_[row];
}
Argument GraphCopier::argument(const Argument& old) {
  Argument a = old;
  a.name = builder.intern(graph_.str(old.name));
  switch (old.kind) {
    case ArgumentKind::value: a.payload = value(old.value()); break;
    case ArgumentKind::string:
    case ArgumentKind::device:
    case ArgumentKind::operator_name: {
      const Text text = builder.intern(graph_.string(old));
      a.items = {text.first, text.size};
      break;
    }
    case ArgumentKind::list: {
      std::vector<Argument> items;
      items.reserve(old.items.count);
      for (const Argument& item : graph_.args(old.items)) items.push_back(argument(item));
      a.items = builder.list(items, old.element).items;
      break;
    }
    default: break;
  }
  return a;
}
void GraphCopier::node(NodeId n) {
  const Node& old = graph_.nodes[n];
  node_inputs_.clear();
  node_outputs_.clear();
  for (const Argument& input : graph_.inputs(old)) node_inputs_.push_back(argument(input));
  for (const Argument& output : graph_.outputs(old)) node_outputs_.push_back(argument(output));
  builder.node(graph_.target(old), node_inputs_, node_outputs_, metadata(old.metadata));
}

}  // namespace davit
