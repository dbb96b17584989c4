// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "davit/lowering/detail/recurrent_stacks.hpp"
#include "davit/lowering/recurrent_layers.hpp"

namespace davit {

namespace detail {

/// Finds the values that the final states replace, and their users: one value if every user reads the joined states.
RecurrentOperator::End RecurrentLayers::end_of(const RecurrentStack& stack, ValueId RecurrentStep::* after,
                                               std::vector<NodeId>& users) const {
  std::vector<ValueId> all;
  RecurrentOperator::End end;
  std::vector<NodeId> outside;
  bool shown = false;
  for (const RecurrentDirection* d : stack.directions) {
    const ValueId v = d->last().*after;
    const std::size_t known = outside.size();
    for (const NodeId n : users_[v])
      if (n != producer(d->joined) && !std::ranges::binary_search(d->nodes, n)) outside.push_back(n);
    if (outside.size() != known || is_output_[v] != 0) end.parts.emplace_back(v, all.size());
    shown = shown || is_output_[v] != 0;
    all.push_back(v);
  }
  users.insert(users.end(), outside.begin(), outside.end());
  if (all.size() == 1) {
    end.whole = all[0];
    end.parts.clear();
  } else if (!shown && outside.size() == all.size() &&
             std::ranges::all_of(outside, [&](NodeId n) { return n == outside[0]; }) &&
             joined_by(outside[0], 0, all.size()) == all) {
    end.whole = of(outside[0]).output();
    end.parts.clear();
  }
  return end;
}

/// Chooses batch_first if the input is transposed from it, and every user of the rows transposes them or is a layer.
void RecurrentLayers::turn_rows(const RecurrentStack& stack, RecurrentOperator& op) {
  const RecurrentDirection& first = *stack.directions[0];
  const Dim steps = sizes(first.first().gates)[0], batch = sizes(first.first().gates)[1];
  const auto is_turned = [&](ValueId v) {
    return sizes(v).size() == 3 && same_size(from_, sizes(v)[0], batch) && same_size(from_, sizes(v)[1], steps);
  };
  const bool alone = reads_.is(batch, 1);
  ValueId input = no_id;
  for (const ValueId v : stages(first.input)) {
    operators::PermutationView permutation;
    const NodeId n = producer(v);
    if (alone && is_turned(v)) input = v;
    if (n != no_id && !operators::read_permutation(of(n), permutation) && permutation.rank == 3 &&
        permutation.from[0] == 1 && permutation.from[1] == 0 && is_turned(permutation.input))
      input = permutation.input;
    if (const auto rows = turned_.find(v); rows != turned_.end()) input = rows->second;
  }
  if (input == no_id) return;
  if (stack.joined != no_id) {
    if (is_output_[stack.joined] != 0) return;
    ValueId rows = no_id;
    std::vector<std::pair<NodeId, operators::PermutationView>> others;
    for (const NodeId n : users_[stack.joined]) {
      if (std::ranges::binary_search(feeds_, n)) continue;
      operators::PermutationView permutation;
      const ValueId out = of(n).output();
      const bool views = alone && out != no_id && operators::read_same_elements(of(n)) == stack.joined &&
                         is_turned(out) && same_size(from_, sizes(out)[2], sizes(stack.joined)[2]);
      if (!views && (operators::read_permutation(of(n), permutation) || permutation.rank != 3)) return;
      for (std::uint8_t& d : permutation.from)
        if (d < 2) d = static_cast<std::uint8_t>(1 - d);
      if (!views && !permutation.is_identity()) {
        others.emplace_back(n, permutation);
      } else if (std::exchange(rows, out) != no_id) {
        return;
      }
    }
    op.turned = std::move(others);
    op.rows = rows != no_id ? rows
                            : emit_.declare(TensorMeta{.dtype = from_.values[stack.joined].dtype,
                                                       .sizes = {batch, steps, sizes(stack.joined)[2]}},
                                            "rows");
  }
  op.input = input;
}

RecurrentOperator RecurrentLayers::plan(const RecurrentStack& stack) {
  RecurrentOperator op{.stack = &stack};
  std::vector<NodeId> users;
  op.state = end_of(stack, &RecurrentStep::state, users);
  if (stack.directions[0]->first().cell != no_id) op.cell = end_of(stack, &RecurrentStep::cell, users);
  turn_rows(stack, op);
  if (op.input == no_id) op.rows = stack.joined;
  if (stack.joined != no_id) users.insert(users.end(), users_[stack.joined].begin(), users_[stack.joined].end());
  const Node& last = from_.nodes[producer(stack.directions.back()->last().state)];
  const Range nodes = from_.graphs[last.graph].nodes;
  op.at = users.empty() ? nodes.first + nodes.count : std::ranges::min(users);
  return op;
}

/// Makes an operand of a value; sets is_late_ if it is defined later, or by the operator itself.
Item RecurrentLayers::used(ValueId v) {
  const auto ready = ready_.find(v);
  const NodeId from = ready != ready_.end() ? ready->second : v < from_.values.size() ? producer(v) : no_id;
  const bool own = std::ranges::any_of(stack_->directions, [&](const RecurrentDirection* d) {
    return v == d->last().state || v == d->last().cell || v == d->joined;
  });
  is_late_ = is_late_ || own || (from != no_id && (from > at_ || (from == at_ && ready == ready_.end())));
  return Item::of(GraphBuilder::value(v));
}

/// Returns the value with other sizes: an earlier stage of it, or a new view.
ValueId RecurrentLayers::shaped(ValueId v, std::span<const Dim> to) {
  for (const ValueId each : stages(v))
    if (same_sizes(from_, sizes(each), to)) return each;
  std::vector<Item> items;
  for (const Dim& d : to) items.push_back(emit_.item(d));
  const TensorMeta meta{.dtype = from_.values[v].dtype, .sizes = {to.begin(), to.end()}};
  const NamedItem arguments[] = {{"self", used(v)}, {"size", Item::list(std::move(items))}};
  return emit_.call("aten.view.default", arguments, {&meta, 1}, false).value();
}

/// The initial states of all layers as one value: the tensor that they are slices of, or a cat of them.
ValueId RecurrentLayers::begin_of(const RecurrentStack& stack, ValueId RecurrentStep::* before, ValueId like) {
  const std::span<const Dim> made = sizes(like);
  std::vector<Dim> all(made.begin(), made.end());
  all[0] = {static_cast<std::int64_t>(stack.directions.size())};
  ValueId whole = no_id;
  for (std::size_t i = 0; i < stack.directions.size(); ++i) {
    const auto [base, row] = reads_.row_of(stack.directions[i]->first().*before);
    const bool is_part = row == static_cast<std::int64_t>(i) && same_sizes(from_, sizes(base), all);
    whole = is_part && (i == 0 || base == whole) ? base : no_id;
    if (whole == no_id) break;
  }
  if (whole != no_id) return whole;
  std::vector<Item> parts;
  for (const RecurrentDirection* d : stack.directions) parts.push_back(used(shaped(d->first().*before, made)));
  if (parts.size() == 1) return parts[0].value();
  const TensorMeta meta{.dtype = from_.values[like].dtype, .sizes = std::move(all)};
  const NamedItem arguments[] = {{"tensors", Item::list(std::move(parts))}, {"dim", Item::integer(0)}};
  return emit_.call("aten.cat.default", arguments, {&meta, 1}, false).value();
}

/// Gives a result the name of a value of the program.
void RecurrentLayers::give(const Item& result, ValueId old) {
  if (old == no_id) return;
  const NodeId n = emit_.module().values[result.value()].producer;
  const Range outputs = emit_.module().nodes[n].outputs;
  for (std::uint32_t i = outputs.first; i < outputs.first + outputs.count; ++i)
    if (Argument& a = emit_.module().arguments[i]; a.is_value() && a.value() == result.value()) a.payload = old;
  emit_.module().values[old].producer = n;
  given_.push_back(old);
}

NodeId RecurrentLayers::emit(const RecurrentOperator& op) {
  const RecurrentStack& stack = *op.stack;
  const RecurrentDirection& first = *stack.directions[0];
  const ValueId last = stack.directions.back()->last().state;
  stack_ = op.stack;
  at_ = op.at;
  is_late_ = false;
  given_.clear();
  emit_.metadata = from_.nodes[producer(last)].metadata;
  const bool lstm = first.first().cell != no_id, batch_first = op.input != no_id;
  const Dim steps = sizes(first.first().gates)[0], batch = sizes(first.first().gates)[1], hidden = sizes(last)[2];
  const Dim directions{stack.both ? 2 : 1},
      layers{static_cast<std::int64_t>(stack.directions.size()) / directions.value};
  const std::array taken{steps, batch, sizes(first.input).empty() ? Dim{} : sizes(first.input).back()};
  const Item input = used(batch_first ? op.input : shaped(first.input, taken));
  Item begin = used(begin_of(stack, &RecurrentStep::state_before, last));
  if (lstm)
    begin = Item::list({std::move(begin), used(begin_of(stack, &RecurrentStep::cell_before, first.last().cell))});
  std::vector<Item> parameters;
  for (const RecurrentDirection* d : stack.directions)
    for (const ValueId v : {d->weight, d->first().weight, d->bias, d->first().bias, d->first().projection})
      if (v != no_id) parameters.push_back(used(v));
  const NamedItem arguments[] = {{"input", input},
                                 {"hx", std::move(begin)},
                                 {"params", Item::list(std::move(parameters))},
                                 {"has_biases", Item::boolean(first.bias != no_id)},
                                 {"num_layers", Item::integer(layers.value)},
                                 {"dropout", Item::of(GraphBuilder::real(0))},
                                 {"train", Item::boolean(false)},
                                 {"bidirectional", Item::boolean(stack.both)},
                                 {"batch_first", Item::boolean(batch_first)}};
  const ScalarType dtype = from_.values[last].dtype;
  std::vector<TensorMeta> metas{
      {.dtype = dtype,
       .sizes = {batch_first ? batch : steps, batch_first ? steps : batch, {hidden.value * directions.value}}},
      {.dtype = dtype, .sizes = {{static_cast<std::int64_t>(stack.directions.size())}, batch, hidden}}};
  if (lstm) metas.push_back({.dtype = dtype, .sizes = {metas[1].sizes[0], batch, sizes(first.last().cell)[2]}});
  const Item results = emit_.call(first.first().target, arguments, metas, true);
  const NodeId made = emit_.module().values[results.items[0].value()].producer;
  for (std::size_t i = 1; i < results.items.size(); ++i) {
    const RecurrentOperator::End& end = i == 1 ? op.state : op.cell;
    for (const auto& [part, at] : end.parts) {
      const auto from = static_cast<std::int64_t>(at);
      const TensorMeta meta{.dtype = dtype, .sizes = {{1}, batch, metas[i].sizes[2]}};
      const NamedItem slice[] = {{"self", results.items[i]},
                                 {"dim", Item::integer(0)},
                                 {"start", Item::integer(from)},
                                 {"end", Item::integer(from + 1)}};
      give(emit_.call("aten.slice.Tensor", slice, {&meta, 1}, false), part);
    }
    give(results.items[i], end.whole);
  }
  give(results.items[0], op.rows);
  const auto turn = [&](std::span<const std::uint8_t> from, ValueId to) {
    std::vector<Item> dims;
    for (const std::uint8_t d : from) dims.push_back(Item::integer(d));
    const TensorMeta meta{.dtype = dtype, .sizes = {sizes(to).begin(), sizes(to).end()}};
    const NamedItem turned[] = {{"self", Item::of(GraphBuilder::value(op.rows))},
                                {"dims", Item::list(std::move(dims))}};
    give(emit_.call("aten.permute.default", turned, {&meta, 1}, false), to);
  };
  for (const auto& [n, permutation] : op.turned) turn({permutation.from.data(), permutation.rank}, of(n).output());
  if (batch_first && stack.joined != no_id) turn(std::array<std::uint8_t, 3>{1, 0, 2}, stack.joined);
  return made;
}

/// Emits the operator, and rolls back: true if a backend takes it, and its operands are defined before it.
bool RecurrentLayers::is_taken(const RecurrentOperator& op) {
  const GraphEmitter::Mark mark = emit_.mark();
  const NodeId made = emit(op);
  const bool taken = std::exchange(emit_.fault, nullptr) == nullptr && !is_late_ &&
                     first_taker(emit_.view(), made, options_) < taker_count(options_);
  emit_.roll_back(mark);
  for (const ValueId v : given_)
    if (v < from_.values.size()) emit_.module().values[v].producer = producer(v);
  return taken;
}

/// Emits a graph's nodes, with the recurrent operators in place of their steps.
bool RecurrentLayers::write(GraphId g) {
  const Range nodes = from_.graphs[g].nodes;
  std::vector<RecurrentOperator> made;
  for (const RecurrentStack& stack : stacks_) {
    if (from_.values[stack.directions[0]->last().state].graph != g) continue;
    RecurrentOperator op = plan(stack);
    if (!is_taken(op)) continue;
    if (op.input != no_id && stack.joined != no_id) turned_.emplace(stack.joined, op.rows);
    for (const ValueId v : given_) ready_.emplace(v, op.at);
    made.push_back(std::move(op));
  }
  std::ranges::sort(made, {}, [](const RecurrentOperator& op) { return std::pair(op.at, op.stack); });
  std::vector<std::uint8_t> gone(nodes.count, 0);  // nodes whose values the operators compute now
  const auto leave_out = [&](ValueId v) {
    if (v != no_id && v < from_.values.size()) gone[producer(v) - nodes.first] = 1;
  };
  for (const RecurrentOperator& op : made) {
    leave_out(op.stack->joined);
    leave_out(op.rows);
    for (const RecurrentOperator::End* end : {&op.state, &op.cell}) {
      leave_out(end->whole);
      for (const auto& [part, at] : end->parts) leave_out(part);
    }
    for (const auto& [n, permutation] : op.turned) gone[n - nodes.first] = 1;
  }
  std::size_t next = 0;
  for (NodeId n = nodes.first; n <= nodes.first + nodes.count; ++n) {
    for (; next < made.size() && made[next].at == n; ++next) (void)emit(made[next]);
    if (n == nodes.first + nodes.count || gone[n - nodes.first] != 0) continue;
    emit_.metadata = from_.nodes[n].metadata;
    emit_.append(from_.nodes[n], !is_pure(from_, from_.nodes[n]));
  }
  return !made.empty();
}

/// True if two linears share a weight, as the steps of a layer do: a quick test for the pass.
[[nodiscard]] bool repeats_linear(GraphModuleView graph) {
  std::vector<ValueId> weights;
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    if (const operators::NodeArguments call(graph, n); operators::is_linear(call))
      weights.push_back(call.value({"weight", 1}));
  std::ranges::sort(weights);
  return std::ranges::adjacent_find(weights) != weights.end();
}

}  // namespace detail

std::optional<ExportedProgram> with_recurrent_layers(const ExportedProgram& program, const DecomposeOptions& options) {
  if (options.only != nullptr || !detail::repeats_linear(program.view()) || storage_matters(program.view()))
    return std::nullopt;
  std::optional<GraphModule> made = detail::RecurrentLayers(program, options).run();
  if (!made) return std::nullopt;
  ExportedProgram out = program;
  out.graph_module = *std::move(made);
  return out;
}

}  // namespace davit
