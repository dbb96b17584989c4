// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/promote.hpp"
#include "davit/lowering/graph_emitter.hpp"
#include "davit/lowering/unwrap_out_dtype.hpp"
#include "davit/lowering/rule_evaluator.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/ops/operators.hpp"

namespace davit {

namespace detail {

/// True for a call out_dtype(operator, dtype, arguments...) -> tensor.
[[nodiscard]] bool says_dtype(GraphModuleView graph, const Node& node) noexcept {
  if (graph.target(node) != "higher_order.out_dtype") return false;
  const std::span<const Argument> inputs = graph.inputs(node), outputs = graph.outputs(node);
  return inputs.size() > 2 &&
         (inputs[0].kind == ArgumentKind::operator_name || inputs[0].kind == ArgumentKind::string) &&
         inputs[1].kind == ArgumentKind::scalar_type && outputs.size() == 1 && outputs[0].is_value() &&
         graph.values[outputs[0].value()].kind == ValueKind::tensor &&
         graph.values[outputs[0].value()].dtype == static_cast<ScalarType>(inputs[1].payload) &&
         graph.string(inputs[0]).starts_with("aten.");
}

/// The arguments of associative_scan(graph, [x...], dim or [additional...]) -> y...; other calls are not read.
struct AssociativeScan {
  GraphId graph = no_id;
  std::int64_t dim = 0;
  std::vector<ValueId> scanned{}, results{};
  std::vector<Argument> additional{};
};
[[nodiscard]] std::optional<AssociativeScan> associative_scan(GraphModuleView graph, const Node& node) {
  if (graph.target(node) != "higher_order.associative_scan") return std::nullopt;
  const std::span<const Argument> inputs = graph.inputs(node);
  if (inputs.size() < 2 || inputs[0].kind != ArgumentKind::graph || !inputs[1].is_list()) return std::nullopt;
  AssociativeScan scan{.graph = inputs[0].graph()};
  bool are_tensors = true;
  const auto append = [&](std::span<const Argument> arguments, std::vector<ValueId>& out) {
    for (const Argument& a : arguments) {
      are_tensors = are_tensors && a.is_value() && graph.values[a.value()].kind == ValueKind::tensor;
      if (are_tensors) out.push_back(a.value());
    }
  };
  append(graph.args(inputs[1].items), scan.scanned);
  for (const Argument& output : graph.outputs(node))
    append(output.is_list() ? graph.args(output.items) : std::span(&output, 1), scan.results);
  for (const Argument& more : inputs.subspan(2)) {
    if (more.kind == ArgumentKind::int_) scan.dim = more.payload;
    if (more.is_list())
      for (const Argument& each : graph.args(more.items)) scan.additional.push_back(each);
  }
  for (const ValueId x : scan.scanned)
    are_tensors = are_tensors && scan.dim >= 0 && graph.values[x].sizes.count > scan.dim;
  const Graph& body = graph.graphs[scan.graph];
  const bool fits = are_tensors && !scan.scanned.empty() && scan.results.size() == scan.scanned.size() &&
                    body.outputs.count == scan.scanned.size() &&
                    body.inputs.count == 2 * scan.scanned.size() + scan.additional.size();
  return fits ? std::optional(std::move(scan)) : std::nullopt;
}

/// True for auto_functionalized_v2(operator, arguments..., _all_bases=[...]) -> (results..., bases...) whose written
/// arguments are the bases or views of them, without lists, and without a base that two arguments name whole.
[[nodiscard]] bool writes_bases(GraphModuleView graph, const Node& node) {
  const std::span<const Argument> inputs = graph.inputs(node);
  if (graph.target(node) != "higher_order.auto_functionalized_v2" || inputs.empty() ||
      (inputs[0].kind != ArgumentKind::operator_name && inputs[0].kind != ArgumentKind::string))
    return false;
  const auto bases = std::ranges::find_if(inputs, [&](const Argument& a) { return graph.str(a.name) == "_all_bases"; });
  if (bases == inputs.end() || !bases->is_list() || bases->items.count > graph.outputs(node).size()) return false;
  std::vector<std::uint8_t> is_written(bases->items.count, 0);
  for (const Argument& base : graph.args(bases->items))
    if (!base.is_value()) return false;
  for (const Argument& a : inputs) {
    const std::string_view name = graph.str(a.name);
    if (name.starts_with('_') && name.ends_with("_length")) return false;
    if (!name.starts_with('_') || !name.ends_with("_base_index") || a.kind == ArgumentKind::none) continue;
    if (a.kind != ArgumentKind::int_ || a.payload < 0 || static_cast<std::uint64_t>(a.payload) >= is_written.size() ||
        is_written[static_cast<std::size_t>(a.payload)]++ != 0)
      return false;
  }
  return true;
}

/// The arguments of flex_attention(query, key, value, score_mod, block mask..., mask_mod, scale, options, buffers of
/// both...) -> (out, logsumexp, ...); other calls are not read. The block mask only repeats mask_mod, and is ignored.
struct FlexAttention {
  ValueId query = no_id, key = no_id, value = no_id;
  GraphId
      score = no_id,
      mask = no_id;  ///< of (score, batch, head, row, column, buffers...) and of (batch, head, row, column, buffers...)
  double scale = 1;
  std::vector<ValueId> score_buffers{}, mask_buffers{}, results{};
};
[[nodiscard]] std::optional<FlexAttention> flex_attention(GraphModuleView graph, const Node& node) {
  if (graph.target(node) != "higher_order.flex_attention") return std::nullopt;
  std::vector<Argument> inputs;
  const auto flatten = [&](const auto& self, std::span<const Argument> arguments) -> void {
    for (const Argument& a : arguments) {
      if (a.is_list())
        self(self, graph.args(a.items));
      else
        inputs.push_back(a);
    }
  };
  flatten(flatten, graph.inputs(node));
  const auto is_graph = [](const Argument& a) { return a.kind == ArgumentKind::graph; };
  const auto is_tensor = [&](const Argument& a) {
    return a.is_value() && graph.values[a.value()].kind == ValueKind::tensor;
  };
  const auto first = std::ranges::find_if(inputs, is_graph);
  if (first - inputs.begin() != 3 || first == inputs.end() || !std::ranges::all_of(inputs.begin(), first, is_tensor))
    return std::nullopt;
  FlexAttention call{
      .query = inputs[0].value(), .key = inputs[1].value(), .value = inputs[2].value(), .score = first->graph()};
  auto last = first;
  for (auto at = first + 1; at != inputs.end(); ++at)
    if (is_graph(*at)) last = at;
  if (last != first) call.mask = last->graph();
  std::vector<ValueId> buffers;
  bool has_scale = false;
  for (auto at = last + 1; at != inputs.end(); ++at) {
    if (is_tensor(*at)) buffers.push_back(at->value());
    if (at->kind == ArgumentKind::float_ && !std::exchange(has_scale, true))
      call.scale = std::bit_cast<double>(at->payload);
  }
  const std::size_t of_score = graph.graphs[call.score].inputs.count,
                    of_mask = call.mask == no_id ? 4 : graph.graphs[call.mask].inputs.count;
  if (!has_scale || of_score < 5 || of_mask < 4 || buffers.size() != of_score - 5 + of_mask - 4) return std::nullopt;
  call.score_buffers.assign(buffers.begin(), buffers.begin() + static_cast<std::ptrdiff_t>(of_score - 5));
  call.mask_buffers.assign(buffers.begin() + static_cast<std::ptrdiff_t>(of_score - 5), buffers.end());
  for (const ValueId v : {call.query, call.key, call.value})
    if (graph.values[v].sizes.count != 4) return std::nullopt;
  for (const Argument& output : graph.outputs(node))
    graph.for_each_value(output, [&](ValueId v) { call.results.push_back(v); });
  return call.results.empty() || call.results.size() > 3 ? std::nullopt : std::optional(std::move(call));
}

class OutDtypeUnwrapper {
 public:
  explicit OutDtypeUnwrapper(const ExportedProgram& program)
      : from_(program.view()), emit_(program.graph_module), rules_(emit_, program.range_constraints) {}

  [[nodiscard]] GraphModule run() {
    emit_.each_node(from_, [&](NodeId n) {
      const Node& node = from_.nodes[n];
      emit_.metadata = node.metadata;
      if (says_dtype(from_, node)) {
        call(node);
      } else if (const std::optional<AssociativeScan> found = associative_scan(from_, node)) {
        scan(node, *found);
      } else if (const std::optional<FlexAttention> attention = flex_attention(from_, node)) {
        attend(node, *attention);
      } else if (writes_bases(from_, node)) {
        write_bases(node);
      } else {
        emit_.append(node);
      }
    });
    return emit_.finish();
  }

 private:
  /// Makes an item the value of the program's `v`.
  void define(ValueId v, const Item& item) {
    Argument self = emit_.argument(item), out = GraphBuilder::value(v);
    self.name = emit_.intern("self");
    emit_.append({.target = emit_.intern("aten.alias.default"),
                  .inputs = emit_.list({&self, 1}),
                  .outputs = emit_.list({&out, 1}),
                  .metadata = emit_.metadata});
  }
  /// Moves dimension `from` to `to`; the others stay in order.
  [[nodiscard]] Item moved(const Item& x, std::int64_t from, std::int64_t to) {
    if (from == to) return x;
    std::vector<Item> order;
    for (std::int64_t d = 0; d < rules_.rank(x); ++d)
      if (d != from) order.push_back(Item::integer(d));
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), Item::integer(from));
    return rules_.call("aten.permute.default", {{"", x}, {"", Item::list(std::move(order))}});
  }

  /// associative_scan(x) -> cat(x[0], scan(x[1:])). A scan needs a slice: where x may have only one, the scan starts at
  /// x[0] instead, and its last result is dropped.
  void scan(const Node& node, const AssociativeScan& old) {
    const GraphEmitter::Mark mark = emit_.mark();
    emit_.fault = nullptr;
    const std::size_t count = old.scanned.size();
    const Dim length = emit_.sizes(old.scanned[0])[static_cast<std::size_t>(old.dim)];
    if (length.is_static() && length.value == 1) {
      for (std::size_t k = 0; k < count; ++k) define(old.results[k], Item::of(GraphBuilder::value(old.scanned[k])));
      return;
    }
    std::vector<Item> first, rest;
    std::vector<TensorMeta> made;
    for (const ValueId v : old.scanned) {
      const Item x = moved(Item::of(GraphBuilder::value(v)), old.dim, 0);
      first.push_back(rules_.call("aten.select.int", {{"", x}, {"", Item::integer(0)}, {"", Item::integer(0)}}));
      rest.push_back(
          rules_.call("aten.slice.Tensor",
                      {{"", x}, {"", Item::integer(0)}, {"", Item::integer(1)}, {"", Item::integer(INT64_MAX)}}));
      if (!length.is_static() && emit_.fault == nullptr)
        rest.back() = rules_.call("aten.cat.default",
                                  {{"", Item::list({rest.back(), one_of(first.back())})}, {"", Item::integer(0)}});
      if (emit_.fault != nullptr) break;
      made.push_back(meta(first.back()));
    }
    std::vector<Argument> outputs;
    for (std::size_t k = 0; k < 2 * count && emit_.fault == nullptr; ++k)
      outputs.push_back(GraphBuilder::value(emit_.declare(k < count ? made[k] : meta(rest[k - count]), "scanned")));
    std::vector<Item> results;
    if (emit_.fault == nullptr) {
      const Argument inputs[] = {GraphBuilder::subgraph(old.graph), emit_.argument(Item::list(first)),
                                 emit_.argument(Item::list(rest)),  GraphBuilder::integer(0),
                                 GraphBuilder::boolean(false),      emit_.argument(Item::list(additional(old)))};
      emit_.append({.target = emit_.intern("higher_order.scan"),
                    .inputs = emit_.list(inputs),
                    .outputs = emit_.list(outputs),
                    .metadata = node.metadata});
      for (std::size_t k = 0; k < count; ++k) {
        Item all = rules_.call("aten.cat.default", {{"", Item::list({one_of(first[k]), Item::of(outputs[count + k])})},
                                                    {"", Item::integer(0)}});
        if (!length.is_static())
          all = rules_.call("aten.slice.Tensor",
                            {{"", all}, {"", Item::integer(0)}, {"", Item::integer(0)}, {"", Item::integer(-1)}});
        results.push_back(moved(all, 0, old.dim));
      }
    }
    if (emit_.fault != nullptr) {
      emit_.roll_back(mark);
      emit_.append(node);
      return;
    }
    // the graph's results are both carried and returned
    std::vector<Argument> twice(from_.args(from_.graphs[old.graph].outputs).begin(),
                                from_.args(from_.graphs[old.graph].outputs).end());
    twice.insert(twice.end(), twice.begin(), twice.begin() + static_cast<std::ptrdiff_t>(count));
    emit_.module().graphs[old.graph].outputs = emit_.list(twice);
    for (std::size_t k = 0; k < count; ++k) define(old.results[k], results[k]);
  }
  /// unsqueeze(slice, 0).
  [[nodiscard]] Item one_of(const Item& slice) {
    return rules_.call("aten.unsqueeze.default", {{"", slice}, {"", Item::integer(0)}});
  }
  [[nodiscard]] std::vector<Item> additional(const AssociativeScan& old) {
    std::vector<Item> items;
    for (const Argument& each : old.additional) items.push_back(emit_.read(each));
    return items;
  }
  [[nodiscard]] TensorMeta meta(const Item& item) {
    const Value& value = emit_.module().values[item.value()];
    const std::span<const Dim> sizes = emit_.view().dims_of(value.sizes);
    return {.dtype = value.dtype, .sizes = {sizes.begin(), sizes.end()}};
  }

  /// flex_attention(q, k, v) -> softmax(score_mod(q k^T), masked by mask_mod) v.
  void attend(const Node& node, const FlexAttention& old) {
    const GraphEmitter::Mark mark = emit_.mark();
    emit_.fault = nullptr;
    const auto item = [](ValueId v) { return Item::of(GraphBuilder::value(v)); };
    const Item query = item(old.query),
               scores = rules_.call("$flex_scores",
                                    {{"", query}, {"", item(old.key)}, {"", Item::of(GraphBuilder::real(old.scale))}});
    std::vector<Item> places;
    for (std::int64_t d = 0; d < 4; ++d)
      places.push_back(rules_.call("$flex_place", {{"", scores}, {"", Item::integer(d)}}));
    const auto with = [&](std::vector<Item> first, const std::vector<ValueId>& buffers) {
      first.insert(first.end(), places.begin(), places.end());
      for (const ValueId v : buffers) first.push_back(item(v));
      return first;
    };
    const Item changed = emit_.fault != nullptr ? Item{} : inlined(old.score, with({scores}, old.score_buffers));
    const Item seen =
        emit_.fault != nullptr || old.mask == no_id ? Item{} : inlined(old.mask, with({}, old.mask_buffers));
    const Item made =
        emit_.fault != nullptr
            ? Item{}
            : rules_.call("$flex_end", {{"", scores}, {"", changed}, {"", seen}, {"", query}, {"", item(old.value)}});
    if (emit_.fault != nullptr || made.items.size() < old.results.size()) return give_up(mark, node);
    for (std::size_t k = 0; k < old.results.size(); ++k) define(old.results[k], made.items[k]);
  }
  /// Inlines a graph of scalars with tensors in their place: its operators are pointwise, or index with them.
  [[nodiscard]] Item inlined(GraphId graph, const std::vector<Item>& operands) {
    std::map<ValueId, Item> known;
    const std::span<const Argument> parameters = from_.args(from_.graphs[graph].inputs),
                                    outputs = from_.args(from_.graphs[graph].outputs);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].is_value()) known[parameters[i].value()] = operands[i];
    for (const Node& node : from_.nodes_of(from_.graphs[graph])) {
      const std::span<const Argument> results = from_.outputs(node);
      if (results.size() != 1 || !results[0].is_value())
        return rules_.fail("a node of the graph does not return a single value");
      std::vector<NamedItem> arguments;
      for (const Argument& a : from_.inputs(node))
        arguments.push_back({from_.str(a.name), known_item(emit_.read(a), known)});
      known[results[0].value()] = rules_.call(from_.target(node), std::move(arguments));
      if (emit_.fault != nullptr) return {};
    }
    return outputs.size() == 1 ? known_item(emit_.read(outputs[0]), known)
                               : rules_.fail("the graph does not return a single value");
  }
  [[nodiscard]] static Item known_item(Item item, const std::map<ValueId, Item>& known) {
    for (Item& each : item.items) each = known_item(std::move(each), known);
    const auto at = item.is_value() ? known.find(item.value()) : known.end();
    return at == known.end() ? item : at->second;
  }
  /// auto_functionalized_v2(op, bases) -> auto_functionalized(op, views of the bases), and each base with its view
  /// written back.
  void write_bases(const Node& node) {
    const GraphEmitter::Mark mark = emit_.mark();
    emit_.fault = nullptr;
    const std::span<const Argument> inputs = from_.inputs(node), outputs = from_.outputs(node);
    const auto named = [&](std::string_view name) {
      const auto at = std::ranges::find_if(inputs, [&](const Argument& a) { return from_.str(a.name) == name; });
      return at == inputs.end() ? nullptr : &*at;
    };
    const std::span<const Argument> bases = from_.args(named("_all_bases")->items);
    const std::size_t first_base = outputs.size() - bases.size();
    std::vector<Argument> arguments{inputs[0]},
        results(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(first_base));
    if (results.empty()) results.emplace_back();  // None
    for (const Argument& a : inputs.subspan(1))
      if (!from_.str(a.name).starts_with('_')) arguments.push_back(a);
    struct Written {
      std::string prefix;
      std::size_t base;
      Item view, made;
    };
    std::vector<Written> written;
    for (const Argument& index : inputs.subspan(1)) {
      const std::string_view name = from_.str(index.name);
      constexpr std::string_view suffix = "_base_index";
      if (!name.starts_with('_') || !name.ends_with(suffix)) continue;
      const std::string prefix(name.substr(0, name.size() - suffix.size()));
      const std::string_view parameter = std::string_view(prefix).substr(1);
      if (index.kind == ArgumentKind::none) {
        results.emplace_back();
        arguments.emplace_back();
        arguments.back().name = emit_.intern(parameter);
        continue;
      }
      Written one{.prefix = prefix, .base = static_cast<std::size_t>(index.payload), .view = {}, .made = {}};
      const Item base = emit_.read(bases[one.base]);
      one.view = base;
      if (named(prefix + "_slice_dim") != nullptr)
        one.view = view("aten.slice.Tensor", {base}, prefix, {"_slice_dim", "_slice_start", "_slice_end"}, named);
      if (named(prefix + "_storage_offset") != nullptr)
        one.view = view("aten.as_strided.default", {base}, prefix, {"_size", "_stride", "_storage_offset"}, named);
      if (emit_.fault != nullptr) break;
      const Argument& answer = outputs[first_base + one.base];
      const bool is_whole = one.view.value() == base.value();
      if (is_whole && !answer.is_value()) return give_up(mark, node);
      one.made = is_whole ? Item::of(answer) : Item::of(GraphBuilder::value(emit_.declare(meta(one.view), "written")));
      arguments.push_back(emit_.argument(one.view));
      arguments.back().name = emit_.intern(parameter);
      results.push_back(one.made.argument);
      written.push_back(std::move(one));
    }
    if (emit_.fault != nullptr) return give_up(mark, node);
    for (Argument& result : results) result.name = {};
    emit_.append({.target = emit_.intern("higher_order.auto_functionalized"),
                  .inputs = emit_.list(arguments),
                  .outputs = emit_.list(results),
                  .metadata = node.metadata});
    std::vector<std::uint8_t> is_made(bases.size(), 0);
    for (const Written& one : written) {
      is_made[one.base] = 1;
      const Item base = emit_.read(bases[one.base]);
      if (one.view.value() == base.value()) continue;
      const bool sliced = named(one.prefix + "_slice_dim") != nullptr;
      const Item made = sliced ? view("aten.slice_scatter.default", {base, one.made}, one.prefix,
                                      {"_slice_dim", "_slice_start", "_slice_end"}, named)
                               : view("aten.as_strided_scatter.default", {base, one.made}, one.prefix,
                                      {"_size", "_stride", "_storage_offset"}, named);
      if (emit_.fault != nullptr) return give_up(mark, node);
      if (outputs[first_base + one.base].is_value()) define(outputs[first_base + one.base].value(), made);
    }
    for (std::size_t b = 0; b < bases.size(); ++b)
      if (is_made[b] == 0 && outputs[first_base + b].is_value())
        define(outputs[first_base + b].value(), emit_.read(bases[b]));
  }
  /// Calls an operator with tensors, then the node's arguments of these names.
  template <class Named>
  [[nodiscard]] Item view(std::string_view target, std::initializer_list<Item> tensors, const std::string& prefix,
                          std::initializer_list<std::string_view> names, const Named& named) {
    std::vector<NamedItem> arguments;
    for (const Item& tensor : tensors) arguments.push_back({"", tensor});
    for (const std::string_view name : names) {
      const Argument* const given = named(prefix + std::string(name));
      if (given == nullptr) return rules_.fail("a view is not described");
      arguments.push_back({"", emit_.read(*given)});
    }
    if (target == "aten.as_strided.default") {
      const Item sizes = arguments[1].item, type = Item::of(GraphBuilder::scalar_type(rules_.dtype(arguments[0].item)));
      arguments.push_back({"sizes", sizes});
      arguments.push_back({"as", type});
    }
    return rules_.call(target, std::move(arguments));
  }
  void give_up(const GraphEmitter::Mark& mark, const Node& node) {
    emit_.roll_back(mark);
    emit_.fault = nullptr;
    emit_.append(node);
  }

  /// Returns the dtype in which the operator computes.
  [[nodiscard]] ScalarType computes_in(std::span<const Argument> inputs, ScalarType result) const {
    PromotedType types{.dimensioned = result};
    for (const Argument& input : inputs) {
      if (input.kind == ArgumentKind::float_) types.number = promote(types.number, ScalarType::float32);
      if (input.kind == ArgumentKind::int_) types.number = promote(types.number, ScalarType::int64);
      from_.for_each_value(input, [&](ValueId v) {
        const Value& value = from_.values[v];
        if (value.kind != ValueKind::tensor) return;
        ScalarType& type = value.sizes.count == 0 ? types.zero : types.dimensioned;
        type = promote(type, value.dtype);
      });
    }
    return types.get();
  }
  [[nodiscard]] Item cast(const Item& item, ScalarType to) {
    if (item.is_list()) {
      std::vector<Item> items;
      for (const Item& each : item.items) items.push_back(cast(each, to));
      return Item::list(std::move(items));
    }
    if (!item.is_value() || from_.values[item.value()].kind != ValueKind::tensor ||
        from_.values[item.value()].dtype == to)
      return item;
    const std::span<const Dim> sizes = from_.dims_of(from_.values[item.value()].sizes);
    const TensorMeta meta{.dtype = to, .sizes = {sizes.begin(), sizes.end()}};
    const NamedItem arguments[] = {{"self", item}, {"dtype", Item::of(GraphBuilder::scalar_type(to))}};
    return emit_.call("aten._to_copy.default", arguments, std::span(&meta, 1), false);
  }
  void call(const Node& node) {
    const std::span<const Argument> inputs = from_.inputs(node);
    const ValueId result = from_.outputs(node)[0].value();
    const std::string_view target = from_.string(inputs[0]), schema_text = find_operator(target);
    const OperatorSchema schema = schema_text.empty() ? OperatorSchema{} : parse_schema(schema_text);
    const ScalarType type = computes_in(inputs.subspan(2), from_.values[result].dtype);
    emit_.metadata = node.metadata;
    std::vector<NamedItem> arguments;
    for (std::size_t i = 2; i < inputs.size(); ++i) {
      const std::string_view name = from_.str(inputs[i].name);
      arguments.push_back({name.empty() && i - 2 < schema.parameters.size() ? schema.parameters[i - 2].name : name,
                           cast(emit_.read(inputs[i]), type)});
    }
    const bool divides = is_integral(type) && target == "aten.div.Tensor";
    const TensorMeta made{.dtype = divides ? ScalarType::float32 : type,
                          .sizes = {emit_.sizes(result).begin(), emit_.sizes(result).end()}};
    const bool as_said = made.dtype == from_.values[result].dtype;
    std::vector<Argument> rows;
    for (const NamedItem& each : arguments) {
      rows.push_back(emit_.argument(each.item));
      rows.back().name = emit_.intern(each.name);
    }
    const Argument output = as_said ? GraphBuilder::value(result) : GraphBuilder::value(emit_.declare(made, "call"));
    emit_.append({.target = emit_.intern(target),
                  .inputs = emit_.list(rows),
                  .outputs = emit_.list({&output, 1}),
                  .metadata = node.metadata});
    if (as_said) return;
    Argument to[] = {output, GraphBuilder::scalar_type(from_.values[result].dtype)};
    to[0].name = emit_.intern("self");
    to[1].name = emit_.intern("dtype");
    to[1].keyword = 1;
    emit_.append({.target = emit_.intern("aten._to_copy.default"),
                  .inputs = emit_.list(to),
                  .outputs = node.outputs,
                  .metadata = node.metadata});
  }

  GraphModuleView from_;
  GraphEmitter emit_;
  RuleEvaluator rules_;
};

}  // namespace detail

std::optional<ExportedProgram> with_unwrapped_out_dtype(const ExportedProgram& program) {
  const GraphModuleView graph = program.view();
  bool any = false;
  for (NodeId n = 0; n < graph.nodes.size() && !any; ++n)
    any = detail::says_dtype(graph, graph.nodes[n]) || detail::associative_scan(graph, graph.nodes[n]) ||
          detail::flex_attention(graph, graph.nodes[n]) || detail::writes_bases(graph, graph.nodes[n]);
  if (!any) return std::nullopt;
  ExportedProgram out = program;
  out.graph_module = detail::OutDtypeUnwrapper(program).run();
  return out;
}

}  // namespace davit
