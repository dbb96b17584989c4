// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <limits>

#include "davit/lowering/detail/layout_rewrites.hpp"
#include "davit/lowering/detail/product_rewrites.hpp"
#include "davit/lowering/detail/resize_rewrites.hpp"
#include "davit/lowering/detail/simplifier.hpp"
#include "davit/lowering/detail/takers.hpp"
#include "davit/ops/facts.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/ops/operators.hpp"
#include "davit/ops/patterns.hpp"
#include "davit/ops/rules.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/views.hpp"

namespace davit::detail {

Simplifier::Simplifier(const ExportedProgram& program, const DecomposeOptions* takers, bool before_decomposition)
    : whole(takers),
      from(program.view()),
      emit(program.graph_module),
      is_output(from.values.size(), 0),
      escapes(from.values.size(), 0),
      before_decomposition_(before_decomposition),
      rules_(emit, program.range_constraints),
      sources_(value_sources(program)),
      replacement_(from.values.size(), no_id),
      uses_(from.values.size(), 0) {}

GraphModule Simplifier::run() {
  look_at_users();
  for (GraphId g = 0; g < from.graphs.size(); ++g) {
    emit.begin(g);
    known_.clear();
    symbols_.clear();
    for (const Argument& input : from.args(from.graphs[g].inputs))
      if (input.is_value()) look_at_sizes(input.value());
    const Range nodes = from.graphs[g].nodes;
    for (NodeId n = nodes.first; n < nodes.first + nodes.count; ++n) node(n);
  }
  for (Argument& a : emit.module().arguments)
    if (a.is_value())
      if (const auto renamed = renamed_.find(a.value()); renamed != renamed_.end()) a.payload = renamed->second;
  return emit.finish();
}

// -- the rewrites of each operator
// --------------------------------------------------------------------------------------

namespace {

/// A pattern with the operator of its root.
struct IndexedPattern {
  std::string_view written;  ///< of the root: "mul.Tensor"
  const PatternRow* row = nullptr;
};
/// All patterns, grouped by root, in the order of the rows within a group.
inline constexpr auto pattern_index = [] {
  constexpr std::size_t count = [] {
    std::size_t n = 0;
    for (const std::span<const PatternRow> family : pattern_tables) n += family.size();
    return n;
  }();
  std::array<IndexedPattern, count> index;
  std::size_t next = 0;
  for (const std::span<const PatternRow> family : pattern_tables)
    for (const PatternRow& row : family) index[next++] = {pattern_root(row.pattern), &row};
  for (std::size_t i = 1; i < count; ++i)  // stable insertion sort: the rows are few
    for (std::size_t j = i; j > 0 && index[j].written < index[j - 1].written; --j) std::swap(index[j], index[j - 1]);
  return index;
}();
/// Returns the patterns with that root ("aten.mul.Tensor"). O(log patterns).
[[nodiscard]] std::span<const IndexedPattern> patterns_of(std::string_view target) noexcept {
  if (!target.starts_with("aten.")) return {};
  target.remove_prefix(5);
  if (target.ends_with(".default")) target.remove_suffix(8);
  const auto found = std::ranges::equal_range(pattern_index, target, {}, &IndexedPattern::written);
  return {found.begin(), found.end()};
}

/// The rewrite of an operator; nullptr if there is none. O(rewrites).
[[nodiscard]] const Rewrite* find_rewrite(std::string_view target) noexcept {
  for (const std::span<const Rewrite> rows : {layout_rewrites(), product_rewrites(), resize_rewrites()})
    if (const auto row = std::ranges::find(rows, target, &Rewrite::target); row != rows.end()) return &*row;
  return nullptr;
}

}  // namespace

bool Simplifier::is_worth_a_pass(const operators::NodeArguments& call) noexcept {
  const std::string_view target = call.call().target;
  const auto patterns = patterns_of(target);
  return std::ranges::any_of(patterns, [](const IndexedPattern& each) { return each.row->worth_a_pass; }) ||
         (find_rewrite(target) != nullptr && find_rewrite(target)->worth_a_pass) ||
         operators::find_row(operators::permutation_operators, call) != nullptr ||
         operators::find_same_elements(call) != nullptr;
}

bool Simplifier::rewrite(std::string_view target, const Node& node, ValueId out) {
  if (const auto* const op = operators::find_same_elements(of(node))) return make_reshape(*this, *op, node, out);
  if (operators::find_row(operators::permutation_operators, of(node)) != nullptr) return make_permute(*this, node, out);
  if (apply_patterns(target, view().inputs(node), node, out)) return true;
  if (const Rewrite* const row = find_rewrite(target); row != nullptr && row->make(*this, node, out)) return true;
  return target == "aten.sym_size.int" ? ask_first_size(node, out) : drop_expand(node, out);
}

// -- patterns ---------------------------------------------------------------------------------------------------------

const Pattern& Simplifier::parsed(const PatternRow& row) {
  const auto [at, fresh] = patterns_.try_emplace(&row);
  if (fresh) at->second = parse_pattern(row);
  return at->second;
}
PatternFacts Simplifier::facts() const {
  return {.self = this,
          .first = static_cast<NodeId>(from.nodes.size()),
          .used_once = [](const void* p, ValueId v) { return static_cast<const Simplifier*>(p)->used_once(v); },
          .is_constant = [](const void* p, ValueId v) { return static_cast<const Simplifier*>(p)->is_constant(v); },
          .is_hidden =
              [](const void* p, ValueId v) {
                const auto& s = *static_cast<const Simplifier*>(p);
                return v < s.escapes.size() && s.escapes[v] == 0;
              },
          .is_unused =
              [](const void* p, ValueId v) {
                const auto& s = *static_cast<const Simplifier*>(p);
                return v < s.uses_.size() && s.uses_[v] == 0 && s.is_output[v] == 0;
              }};
}
bool Simplifier::fits(const PatternRow& row, std::span<const Argument> inputs, std::span<const Argument> outputs) {
  const Pattern& pattern = parsed(row);
  PatternMatch match(view(), facts());
  if (!match.fits(pattern, inputs, outputs)) return false;
  fitted_ = &pattern;
  captured_ = match.captured();
  return true;
}
bool Simplifier::fits(const PatternRow& row, ValueId v) {
  const NodeId n = producer(v, parsed(row).target());
  return n != no_id && fits(row, view().inputs(emit.module().nodes[n]), view().outputs(emit.module().nodes[n]));
}
ValueId Simplifier::captured(std::string_view name) const {
  const auto at = static_cast<std::size_t>(std::ranges::find(fitted_->names, name) - fitted_->names.begin());
  return at < fitted_->names.size() && captured_[at].is_value() ? captured_[at].value() : no_id;
}
double Simplifier::captured_number(std::string_view name) const {
  const auto at = static_cast<std::size_t>(std::ranges::find(fitted_->names, name) - fitted_->names.begin());
  double found = 0;
  const bool is_number = at < fitted_->names.size() && operators::NodeArguments::read_number(captured_[at], found);
  return is_number ? found : std::numeric_limits<double>::quiet_NaN();
}
bool Simplifier::apply_patterns(std::string_view target, std::span<const Argument> inputs, const Node& node,
                                ValueId out) {
  for (const IndexedPattern& each : patterns_of(target))
    if (fits(*each.row, inputs, view().outputs(node))) return apply(node, out);  // `inputs` may dangle now
  return false;
}
/// Emits the call of the pattern that fitted last.
bool Simplifier::apply(const Node& node, ValueId out) {
  const Pattern& pattern = *fitted_;
  if (pattern.call.find('(') == std::string_view::npos) {
    const ValueId v = captured(pattern.call);
    return v != no_id && forward(out, v);
  }
  std::vector<std::pair<std::string_view, Item>> names;
  for (std::size_t i = 0; i < pattern.names.size(); ++i) names.emplace_back(pattern.names[i], emit.read(captured_[i]));
  rules_.outputs.assign(1, {.dtype = value(out).dtype, .sizes = {sizes(out).begin(), sizes(out).end()}});
  const GraphEmitter::Mark mark = emit.mark();
  const auto give_up = [&] {
    emit.roll_back(mark);
    emit.fault = nullptr;
    return false;
  };
  RuleEvaluator::Call call = rules_.read_call(pattern.call, names);
  if (emit.fault != nullptr) return give_up();
  const std::string_view schema = find_operator(call.target);
  if (schema.empty() || parse_schema(schema).returns < 2)
    return compose(node, call.target, call.arguments, pattern.row->use) || give_up();
  if (whole == nullptr) return give_up();  // of several results the first one stands for the node
  const Item made = rules_.call(call.target, std::move(call.arguments));
  if (emit.fault != nullptr || made.items.empty() ||
      taker_of(static_cast<NodeId>(emit.mark().nodes - 1)) >= taker_count(*whole))
    return give_up();
  return forward(out, made.items[0].value()) || give_up();
}

// -- rewrites of any operator -----------------------------------------------------------------------------------------

ValueId Simplifier::before_expand(ValueId v) {
  const NodeId n = producer(v, "aten.expand.default");
  return n == no_id ? v : argument(n, 0);
}
/// x + expand(y) -> x + y, where x has the sizes of the result.
bool Simplifier::drop_expand(const Node& node, ValueId out) {
  const std::span<const Argument> inputs = view().inputs(node);
  if (inputs.size() < 2 || !inputs[0].is_value() || !inputs[1].is_value()) return false;
  for (const std::size_t i : {0u, 1u}) {
    const ValueId wide = inputs[i].value(), x = before_expand(wide);
    if (x == wide || x == no_id || !same(sizes(inputs[1 - i].value()), sizes(out))) continue;
    const ShapeRule shape = facts_of(view().target(node)).shape;
    if (shape != ShapeRule::promoted && shape != ShapeRule::quotient) return false;
    std::vector<Argument> arguments(inputs.begin(), inputs.end());
    arguments[i].payload = x;
    Node made = node;
    made.inputs = emit.list(arguments);
    emit.append(made, false);
    return true;
  }
  return false;
}
/// sym_size(y, d) -> sym_size(x, e), where x is the first value with that size.
bool Simplifier::ask_first_size(const Node& node, ValueId out) {
  const ExprId id = value(out).expr;
  if (id == no_id || emit.module().exprs[id].op != ExprOp::symbol) return false;
  const auto place = symbols_.find(view().str(emit.module().exprs[id].name));
  if (place == symbols_.end()) return false;
  const NamedItem arguments[] = {{"self", tensor_item(resolve(place->second.first))},
                                 {"dim", Item::integer(place->second.second)}};
  return replace(node, "aten.sym_size.int", arguments);
}
ValueId Simplifier::stripped(ValueId v) {
  while (v != no_id) {
    const NodeId n = value(v).producer;
    if (n == no_id || n < from.nodes.size()) break;
    const operators::SameElementsOperator* const op = operators::find_same_elements(of(n));
    const ValueId before = op == nullptr ? no_id : argument(n, 0);
    if (before == no_id || value(before).dtype != value(v).dtype || value(v).graph != value(before).graph) break;
    if (op->copies && (v >= escapes.size() || escapes[v] != 0)) break;
    v = before;
  }
  return v;
}
std::optional<Item> Simplifier::shape_of(std::vector<Dim> dims) {
  const bool told = std::ranges::count_if(dims, [](const Dim& d) { return !d.is_static(); }) == 1 &&
                    std::ranges::none_of(dims, [](const Dim& d) { return d.is_static() && d.value == 0; });
  std::vector<Item> items;
  for (const Dim& d : dims)
    items.push_back(told && !d.is_static() ? Item::integer(-1) : Item::of(emit.argument(emit.item(d))));
  if (std::exchange(emit.fault, nullptr) != nullptr) return std::nullopt;
  return Item::list(std::move(items));
}
ValueId Simplifier::reshaped(ValueId v, const TensorMeta& meta) {
  v = stripped(v);
  if (same(sizes(v), meta.sizes)) return v;
  std::optional<Item> to = shape_of(meta.sizes);
  if (!to) return no_id;
  const NamedItem arguments[] = {{"self", tensor_item(v)}, {"size", *std::move(to)}};
  return called("aten.view.default", arguments, meta);
}

// -- the pass ------------------------------------------------------------------------------------------------------

/// True for operators whose `dim` counts the dimensions of their first argument.
[[nodiscard]] bool counts_dims(std::string_view target) noexcept {
  const ShapeRule rule = facts_of(target).shape;
  return rule == ShapeRule::same || rule == ShapeRule::reduced || rule == ShapeRule::summed ||
         rule == ShapeRule::selected || rule == ShapeRule::sliced;
}
/// Finds outputs, the values that outputs may view, and the number of uses of each value.
void Simplifier::look_at_users() {
  for (const Graph& g : from.graphs)
    for (const Argument& output : from.args(g.outputs))
      from.for_each_value(output, [&](ValueId v) { is_output[v] = escapes[v] = 1; });
  for (NodeId n = static_cast<NodeId>(from.nodes.size()); n-- > 0;) {
    const std::string_view target = from.target(from.nodes[n]);
    const ViewKind kind = view_kind(from, operator_call(from, from.nodes[n]));
    bool shows = kind != ViewKind::none;
    if (shows) {
      shows = false;
      for (const Argument& output : from.outputs(from.nodes[n]))
        from.for_each_value(output, [&](ValueId v) { shows = shows || escapes[v] != 0; });
    }
    for (const Argument& input : from.inputs(from.nodes[n]))
      from.for_each_value(input, [&](ValueId v) {
        ++uses_[v];
        if (shows || target.starts_with("higher_order.")) escapes[v] = 1;
      });
  }
}
void Simplifier::look_at_sizes(ValueId v) {
  const std::span<const Dim> dims = from.dims_of(from.values[v].sizes);
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (!dims[d].is_static() && from.exprs[dims[d].expr].op == ExprOp::symbol)
      symbols_.try_emplace(std::string(from.str(from.exprs[dims[d].expr].name)), v, static_cast<std::int64_t>(d));
}
Range Simplifier::resolve(Range range) {
  bool changed = false;
  std::vector<Argument> rows(view().args(range).begin(), view().args(range).end());
  for (Argument& row : rows) {
    const Argument old = row;
    if (row.is_value()) row.payload = resolve(row.value());
    if (row.is_list()) row.items = resolve(row.items);
    changed = changed || row.payload != old.payload || row.items != old.items;
  }
  return changed ? emit.list(rows) : range;
}
void Simplifier::node(NodeId n) {
  Node made = from.nodes[n];
  made.inputs = resolve(made.inputs);
  emit.metadata = made.metadata;
  emit.fault = nullptr;
  const std::string_view target = from.target(made);
  const std::span<const Argument> outputs = from.outputs(made);
  (void)note_source(view(), made, sources_);
  for (const Argument& output : outputs)
    if (output.is_value()) look_at_sizes(output.value());
  if (!is_pure(from, from.nodes[n])) {
    emit.append(made);
    return;
  }
  const ValueId out = outputs[0].is_value() ? outputs[0].value() : no_id;
  if (out != no_id && rewrite(target, made, out)) return;
  if (out != no_id && outputs.size() == 1 && is_output[out] == 0 && take_equal(made, out)) return;
  emit.append(made, false);
}
bool Simplifier::forward(ValueId out, ValueId v) {
  if (is_output[out] == 0) {
    replacement_[out] = v;
    if (v < uses_.size() && uses_[v] != 0) uses_[v] += uses_[out] - 1;
    return true;
  }
  // the value takes over the output's name
  const NodeId n = value(v).producer;
  if (v >= is_output.size() || is_output[v] != 0 || n == no_id || n < from.nodes.size() || renamed_.contains(v))
    return false;
  if (value(v).graph != value(out).graph || view_kind(view().target(emit.module().nodes[n])) != ViewKind::none)
    return false;
  renamed_[v] = out;
  emit.module().values[out].producer = n;
  return true;
}
bool Simplifier::replace(const Node& node, std::string_view target, std::span<const NamedItem> inputs) {
  std::vector<Argument> arguments;
  for (const NamedItem& input : inputs) {
    arguments.push_back(emit.argument(input.item));
    arguments.back().name = emit.intern(input.name);
  }
  if (emit.fault != nullptr) return false;
  Node made = node;
  made.target = emit.intern(target);
  made.inputs = emit.list(arguments);
  const std::span<const Argument> outputs = view().outputs(node);
  const Argument first = outputs[0];
  if (outputs.size() > 1) made.outputs = emit.list({&first, 1});
  if (const ValueId out = first.value(); is_output[out] != 0 || !take_equal(made, out)) emit.append(made, false);
  return true;
}
bool Simplifier::compose(const Node& node, std::string_view target, std::span<const NamedItem> inputs, PatternUse use) {
  if (use == PatternUse::always) return replace(node, target, inputs);
  if (whole == nullptr) return false;
  const bool apart = use == PatternUse::composite && before_decomposition_;
  const GraphEmitter::Mark mark = emit.mark();
  const std::size_t before = apart ? 0 : taker_of(emit.append(node, false));
  if (!apart) emit.roll_back(mark);
  if (!replace(node, target, inputs)) return false;
  if (emit.mark().nodes == mark.nodes) return true;
  const auto made = static_cast<NodeId>(emit.mark().nodes - 1);
  if (apart ? !find_decomposition(target).empty() || taker_of(made) < taker_count(*whole) : taker_of(made) <= before)
    return true;
  emit.roll_back(mark);
  return false;
}
std::size_t Simplifier::taker_of(NodeId n) { return first_taker(view(), n, *whole); }
bool Simplifier::take_equal(const Node& made, ValueId out) {
  std::string key;
  if (value(out).kind == ValueKind::sym_int && value(out).expr != no_id) {
    write_key(key, value(out).expr);  // the expression identifies a size, whichever node reads it
  } else {
    key = view().target(made);
    key += std::to_string(static_cast<int>(value(out).dtype));
    write_key(key, made.inputs, counts_dims(view().target(made)) ? rank_of_first(made) : 0);
  }
  const auto [at, fresh] = known_.emplace(std::move(key), out);
  if (fresh) return false;
  const ValueId first = at->second;
  const auto shown = [&](ValueId v) { return v < escapes.size() && escapes[v] != 0; };
  if (value(first).kind != value(out).kind || value(first).dtype != value(out).dtype ||
      !same(sizes(first), sizes(out)) || shown(out) || shown(first))
    return false;
  if (out < replacement_.size()) replacement_[out] = first;
  return true;
}
ValueId Simplifier::called(std::string_view target, std::span<const NamedItem> inputs, const TensorMeta& meta) {
  const GraphEmitter::Mark mark = emit.mark();
  const ValueId out = emit.call(target, inputs, {&meta, 1}, false).value();
  const Node made = emit.module().nodes.back();
  std::string key(target);
  key += std::to_string(static_cast<int>(meta.dtype));
  write_key(key, made.inputs, 0);
  const auto [at, fresh] = known_.emplace(std::move(key), out);
  if (fresh || !same(sizes(at->second), sizes(out)) || (at->second < escapes.size() && escapes[at->second] != 0))
    return out;
  emit.roll_back(mark);
  return at->second;
}
/// Writes an expression as text, or by its id if it is large.
void Simplifier::write_key(std::string& key, ExprId id) {
  const std::size_t begin = key.size();
  std::vector<ExprId> open{id};
  for (std::size_t looked_at = 0; !open.empty(); ++looked_at) {
    if (looked_at == 64) {
      key.resize(begin);
      (key += '#') += std::to_string(id);
      return;
    }
    const ExprId next = open.back();
    open.pop_back();
    const Expr& e = emit.module().exprs[next];
    (key += '(') += std::to_string(static_cast<int>(e.op));
    (key += ' ') += std::to_string(e.value);
    (key += ' ') += view().str(e.name);
    if (e.op == ExprOp::rational) continue;
    for (const ExprId each : {e.a, e.b, e.c})
      if (each == no_id)
        key += '-';
      else
        open.push_back(each);
  }
}
std::int64_t Simplifier::rank_of_first(const Node& made) {
  const std::span<const Argument> inputs = view().inputs(made);
  return inputs.empty() || !inputs[0].is_value() ? 0 : static_cast<std::int64_t>(sizes(inputs[0].value()).size());
}
/// Writes arguments into the key, without those that the output's dtype repeats. `rank`: the number of dimensions that
/// `dim` counts; 0: `dim` is written unchanged.
void Simplifier::write_key(std::string& key, Range range, std::int64_t rank, bool of_dim, bool of_list) {
  for (const Argument& a : view().args(range)) {
    const std::string_view name = view().str(a.name);
    if ((a.kind == ArgumentKind::none && !of_list) || name == "dtype" || name == "layout" || name == "device" ||
        name == "pin_memory")
      continue;
    if (name == "step" && a.kind == ArgumentKind::int_ && a.payload == 1) continue;
    const bool counted = of_dim || name == "dim";
    (key += ',') += name;
    (key += ':') += std::to_string(static_cast<int>(a.kind));
    (key += '=') +=
        std::to_string(counted && a.kind == ArgumentKind::int_ && a.payload < 0 ? a.payload + rank : a.payload);
    if (a.is_list()) {
      key += '[';
      write_key(key, a.items, rank, counted, true);
      key += ']';
    } else if (a.kind == ArgumentKind::complex_) {
      key += std::to_string(a.imaginary());
    } else if (a.kind != ArgumentKind::value) {
      key += view().str(a.items);
    }
  }
}

}  // namespace davit::detail
