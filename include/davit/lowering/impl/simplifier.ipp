// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/graph_emitter.hpp"
#include "davit/lowering/impl/decompose.ipp"
#include "davit/lowering/simplify.hpp"
#include "davit/lowering/value_sources.hpp"
#include "davit/ops/facts.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/ops/rules.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/same_sizes.hpp"
#include "davit/program/views.hpp"

namespace davit::detail {

/// A pass over a program's graphs: each node is looked at once, with what its operands have become.
class Simplifier {
 public:
  Simplifier(const ExportedProgram& program, const DecomposeOptions* whole, bool before)
      : whole_(whole),
        before_(before),
        from_(program.view()),
        emit_(program.graph_module),
        sources_(value_sources(program)),
        replacement_(from_.values.size(), no_id),
        is_output_(from_.values.size(), 0),
        escapes_(from_.values.size(), 0),
        uses_(from_.values.size(), 0) {}

  [[nodiscard]] GraphModule run() {
    look_at_users();
    for (GraphId g = 0; g < from_.graphs.size(); ++g) {
      emit_.begin(g);
      known_.clear();
      symbols_.clear();
      for (const Argument& input : from_.args(from_.graphs[g].inputs))
        if (input.is_value()) look_at_sizes(input.value());
      const Range nodes = from_.graphs[g].nodes;
      for (NodeId n = nodes.first; n < nodes.first + nodes.count; ++n) node(n);
    }
    for (Argument& a : emit_.module().arguments)
      if (a.is_value())
        if (const auto renamed = renamed_.find(a.value()); renamed != renamed_.end()) a.payload = renamed->second;
    return emit_.finish();
  }

  /// True for an operator that is worth a pass over its program.
  [[nodiscard]] static bool is_worth_a_pass(const operators::NodeArguments& call) noexcept;

 private:
  // -- what a rule asks ---------------------------------------------------------------------------------------------
  [[nodiscard]] GraphModuleView view() noexcept { return emit_.view(); }
  [[nodiscard]] const Value& value(ValueId v) { return emit_.module().values[v]; }
  [[nodiscard]] std::span<const Dim> sizes(ValueId v) { return emit_.sizes(v); }
  [[nodiscard]] bool same(const Dim& a, const Dim& b) { return same_size(view(), a, b); }
  [[nodiscard]] bool same(std::span<const Dim> a, std::span<const Dim> b) { return same_sizes(view(), a, b); }
  [[nodiscard]] bool is(const Dim& d, std::int64_t n) const noexcept { return d.is_static() && d.value == n; }
  /// The node that makes a value, if it is of that operator; no_id else.
  [[nodiscard]] NodeId maker(ValueId v, std::string_view target) {
    if (v == no_id) return no_id;
    const NodeId n = value(v).producer;
    if (n == no_id || n < from_.nodes.size()) return no_id;  // an input, or of an enclosing graph
    return view().target(emit_.module().nodes[n]) == target ? n : no_id;
  }
  /// The operator's first argument; the value itself if another operator makes it.
  [[nodiscard]] ValueId before(ValueId v, std::string_view target) {
    const NodeId n = maker(v, target);
    return n == no_id ? v : argument(n, 0);
  }
  [[nodiscard]] operators::NodeArguments of(NodeId n) { return {view(), n}; }
  [[nodiscard]] operators::NodeArguments of(const Node& node) { return {view(), node}; }
  /// Reads the permutation that makes a value, if one of this graph does.
  [[nodiscard]] bool permuted(ValueId v, operators::PermutationView& permutation) {
    const NodeId n = v == no_id ? no_id : value(v).producer;
    return n != no_id && n >= from_.nodes.size() && !operators::read_permutation(of(n), permutation) &&
           permutation.rank != 0 && permutation.rank == sizes(v).size();
  }
  /// The value passed at that position; no_id if there is none.
  [[nodiscard]] ValueId argument(NodeId n, std::size_t position) {
    const std::span<const Argument> inputs = view().inputs(emit_.module().nodes[n]);
    return position < inputs.size() && inputs[position].is_value() ? inputs[position].value() : no_id;
  }
  [[nodiscard]] bool is_constant(ValueId v) const noexcept {
    return v < sources_.size() && sources_[v] == ValueSource::constant;
  }
  [[nodiscard]] bool used_once(ValueId v) const noexcept {
    return v < uses_.size() && uses_[v] == 1 && is_output_[v] == 0;
  }
  [[nodiscard]] bool is_number(const Argument* a, double number) {
    double found = 0;
    return a != nullptr && operators::NodeArguments::read_number(*a, found) && found == number;
  }

  /// What is passed at that position; nullptr if nothing is.
  [[nodiscard]] const Argument* given(NodeId n, std::size_t position) {
    const std::span<const Argument> inputs = view().inputs(emit_.module().nodes[n]);
    return position < inputs.size() && inputs[position].kind != ArgumentKind::none ? &inputs[position] : nullptr;
  }
  /// Reads the number that a tensor is filled with.
  [[nodiscard]] bool read_fill(ValueId v, double& number) {
    for (const auto& [target, at] : {std::pair("aten.scalar_tensor.default", std::size_t{0}),
                                     {"aten.full.default", 1},
                                     {"aten.full_like.default", 1}})
      if (const NodeId n = maker(v, target); n != no_id)
        return given(n, at) != nullptr && operators::NodeArguments::read_number(*given(n, at), number);
    return false;
  }

  /// True if a node's output is of floats, as `x` is: functions are not made of what integers become.
  [[nodiscard]] bool keeps_dtype(ValueId x, const Node& node) {
    const ValueId out = view().outputs(node)[0].value();
    return is_floating(value(x).dtype) && value(x).dtype == value(out).dtype;
  }

  // -- the rules (simplify.ipp): true if a node is done with -------------------------------------------------------
  /// What the simplifier does with a node of an operator; `alone`: it may turn out to change nothing, larger ones are
  /// made of it, or it has another name, so that a program with one is worth a pass.
  struct Rewrite {
    std::string_view target;
    bool alone = false;
    bool (*apply)(Simplifier& self, std::string_view target, const Node& node, ValueId out) = nullptr;
  };
  static const Rewrite rewrites[];
  [[nodiscard]] bool rewrite(std::string_view target, const Node& node, ValueId out);
  [[nodiscard]] bool drop_same(const Node& node, ValueId out, bool copies);
  [[nodiscard]] bool reshape(const operators::SameElementsOperator& op, const Node& node, ValueId out);
  [[nodiscard]] bool lay(const Node& node, ValueId base, ValueId out);
  [[nodiscard]] ValueId reshaped(ValueId v, const TensorMeta& meta);
  [[nodiscard]] std::optional<Item> shape_of(std::vector<Dim> dims);
  [[nodiscard]] bool divide(const Node& node);
  [[nodiscard]] bool fold_back(const Node& node, ValueId x, ValueId out);
  [[nodiscard]] bool join(const Node& node, ValueId x, ValueId out);
  [[nodiscard]] bool select(const Node& node, ValueId x, ValueId out);
  [[nodiscard]] bool permute(const Node& node, ValueId out);
  [[nodiscard]] bool reordered(const Node& node, ValueId x, ValueId out);
  [[nodiscard]] std::vector<ValueId> owned(ValueId v);
  [[nodiscard]] bool copied(const Node& node, ValueId x, ValueId out);
  [[nodiscard]] bool joined(const Node& node, ValueId out);
  [[nodiscard]] bool fill(const Node& node, ValueId out);
  [[nodiscard]] bool overwrite(std::string_view target, const Node& node, ValueId out);
  [[nodiscard]] bool neutral(std::string_view target, const Node& node, ValueId out);
  [[nodiscard]] bool broadcast(const Node& node, ValueId out);
  [[nodiscard]] bool size(const Node& node, ValueId out);
  [[nodiscard]] bool numbers(ValueId v, std::vector<double>& out, int depth);
  [[nodiscard]] bool gather(const Node& node, ValueId out);
  [[nodiscard]] bool interpolate(const Node& node, ValueId out);
  [[nodiscard]] bool product(std::string_view target, const Node& node, ValueId out);
  [[nodiscard]] bool batched(const Node& node, ValueId a, ValueId b, ValueId out);
  [[nodiscard]] bool attention(const Node& node, ValueId p, ValueId v);
  [[nodiscard]] bool add_bias(const Node& node, ValueId out);
  [[nodiscard]] bool choose(const Node& node);
  [[nodiscard]] bool choose_numbers(const Node& node);
  [[nodiscard]] bool multiply(const Node& node);
  [[nodiscard]] bool sum(const Node& node);
  [[nodiscard]] bool normalize(const Node& node, ValueId out);
  [[nodiscard]] bool slice(const Node& node, ValueId out);
  [[nodiscard]] bool flip(const Node& node, ValueId out);
  [[nodiscard]] std::optional<std::size_t> only_dim(const operators::NodeArguments& call, const char* name);
  [[nodiscard]] std::vector<ValueId> rows_of_cat(ValueId v);
  [[nodiscard]] std::vector<NamedItem> permute_call(const operators::PermutationView& permutation);
  [[nodiscard]] ValueId stripped(ValueId v);
  [[nodiscard]] ValueId rows_of(ValueId v, std::span<const Dim> lead);
  [[nodiscard]] ValueId untransposed(ValueId v);

  // -- the pass -----------------------------------------------------------------------------------------------------
  /// Which values are outputs, which of them outputs may show the storage of, and how often each is used.
  void look_at_users() {
    for (const Graph& g : from_.graphs)
      for (const Argument& output : from_.args(g.outputs))
        from_.for_each_value(output, [&](ValueId v) { is_output_[v] = escapes_[v] = 1; });
    for (NodeId n = static_cast<NodeId>(from_.nodes.size()); n-- > 0;) {
      const std::string_view target = from_.target(from_.nodes[n]);
      const ViewKind kind = view_kind(from_, operator_call(from_, from_.nodes[n]));
      bool shows = kind != ViewKind::none;
      if (shows) {
        shows = false;
        for (const Argument& output : from_.outputs(from_.nodes[n]))
          from_.for_each_value(output, [&](ValueId v) { shows = shows || escapes_[v] != 0; });
      }
      for (const Argument& input : from_.inputs(from_.nodes[n]))
        from_.for_each_value(input, [&](ValueId v) {
          ++uses_[v];
          if (shows || target.starts_with("higher_order.")) escapes_[v] = 1;
        });
    }
  }
  /// Notes where the sizes of a value that are symbols can be asked for: of the first that has them.
  void look_at_sizes(ValueId v) {
    const std::span<const Dim> dims = from_.dims_of(from_.values[v].sizes);
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (!dims[d].is_static() && from_.exprs[dims[d].expr].op == ExprOp::symbol)
        symbols_.try_emplace(std::string(from_.str(from_.exprs[dims[d].expr].name)), v, static_cast<std::int64_t>(d));
  }
  [[nodiscard]] ValueId now(ValueId v) const noexcept {
    return v < replacement_.size() && replacement_[v] != no_id ? replacement_[v] : v;
  }
  [[nodiscard]] Range now(Range range) {
    bool changed = false;
    std::vector<Argument> rows(view().args(range).begin(), view().args(range).end());
    for (Argument& row : rows) {
      const Argument old = row;
      if (row.is_value()) row.payload = now(row.value());
      if (row.is_list()) row.items = now(row.items);
      changed = changed || row.payload != old.payload || row.items != old.items;
    }
    return changed ? emit_.list(rows) : range;
  }
  void node(NodeId n) {
    Node made = from_.nodes[n];
    made.inputs = now(made.inputs);
    emit_.metadata = made.metadata;
    emit_.fault = nullptr;
    const std::string_view target = from_.target(made);
    const std::span<const Argument> outputs = from_.outputs(made);
    (void)note_source(view(), made, sources_);
    for (const Argument& output : outputs)
      if (output.is_value()) look_at_sizes(output.value());
    if (!is_pure(from_, from_.nodes[n])) {
      emit_.append(made);
      return;
    }
    const ValueId out = outputs[0].is_value() ? outputs[0].value() : no_id;
    if (out != no_id && rewrite(target, made, out)) return;
    if (out != no_id && outputs.size() == 1 && is_output_[out] == 0 && take_equal(made, out)) return;
    emit_.append(made, false);
  }
  /// Lets `v` stand for `out`, if it may.
  [[nodiscard]] bool forward(ValueId out, ValueId v) {
    if (is_output_[out] == 0) {
      replacement_[out] = v;
      if (v < uses_.size() && uses_[v] != 0) uses_[v] += uses_[out] - 1;
      return true;
    }
    // the value itself takes the output's name
    const NodeId n = value(v).producer;
    if (v >= is_output_.size() || is_output_[v] != 0 || n == no_id || n < from_.nodes.size() || renamed_.contains(v))
      return false;
    if (value(v).graph != value(out).graph || view_kind(view().target(emit_.module().nodes[n])) != ViewKind::none)
      return false;
    renamed_[v] = out;
    emit_.module().values[out].producer = n;
    return true;
  }
  /// Appends a call in place of a node; its output stays.
  bool replace(const Node& node, std::string_view target, std::span<const NamedItem> inputs) {
    std::vector<Argument> arguments;
    for (const NamedItem& input : inputs) {
      arguments.push_back(emit_.argument(input.item));
      arguments.back().name = emit_.intern(input.name);
    }
    if (emit_.fault != nullptr) return false;
    Node made = node;
    made.target = emit_.intern(target);
    made.inputs = emit_.list(arguments);
    const std::span<const Argument> outputs = view().outputs(node);
    const Argument first = outputs[0];
    if (outputs.size() > 1) made.outputs = emit_.list({&first, 1});
    if (const ValueId out = first.value(); is_output_[out] != 0 || !take_equal(made, out)) emit_.append(made, false);
    return true;
  }
  /// The same with an operator that several nodes are parts of, if a backend takes it that is as good as the one that
  /// takes the last of them; `apart`: or if it is yet to be taken apart.
  bool compose(const Node& node, std::string_view target, std::span<const NamedItem> inputs, bool apart = false) {
    if (whole_ == nullptr) return false;
    apart = apart && before_;
    const GraphEmitter::Mark mark = emit_.mark();
    const std::size_t before = apart ? 0 : taker_of(emit_.append(node, false));
    if (!apart) emit_.roll_back(mark);
    if (!replace(node, target, inputs)) return false;
    if (emit_.mark().nodes == mark.nodes) return true;
    const auto made = static_cast<NodeId>(emit_.mark().nodes - 1);
    if (apart ? !find_decomposition(target).empty() || taker_of(made) < taker_count(*whole_) : taker_of(made) <= before)
      return true;
    emit_.roll_back(mark);
    return false;
  }
  [[nodiscard]] std::size_t taker_of(NodeId n) { return first_taker(view(), n, *whole_); }
  /// An earlier node that computes the same stands for this one.
  [[nodiscard]] bool take_equal(const Node& made, ValueId out) {
    std::string key;
    if (value(out).kind == ValueKind::sym_int && value(out).expr != no_id) {
      write_key(key, value(out).expr);  // however it was asked for
    } else {
      key = view().target(made);
      key += std::to_string(static_cast<int>(value(out).dtype));
      write_key(key, made.inputs, counts_dims(view().target(made)) ? rank_of_first(made) : 0);
    }
    const auto [at, fresh] = known_.emplace(std::move(key), out);
    if (fresh) return false;
    const ValueId first = at->second;
    const auto shown = [&](ValueId v) { return v < escapes_.size() && escapes_[v] != 0; };
    if (value(first).kind != value(out).kind || value(first).dtype != value(out).dtype ||
        !same(sizes(first), sizes(out)) || shown(out) || shown(first))
      return false;
    if (out < replacement_.size()) replacement_[out] = first;
    return true;
  }
  /// Emits a call, or answers what the same has answered before.
  [[nodiscard]] ValueId called(std::string_view target, std::span<const NamedItem> inputs, const TensorMeta& meta) {
    const GraphEmitter::Mark mark = emit_.mark();
    const ValueId out = emit_.call(target, inputs, {&meta, 1}, false).value();
    const Node made = emit_.module().nodes.back();
    std::string key(target);
    key += std::to_string(static_cast<int>(meta.dtype));
    write_key(key, made.inputs, 0);
    const auto [at, fresh] = known_.emplace(std::move(key), out);
    if (fresh || !same(sizes(at->second), sizes(out)) || (at->second < escapes_.size() && escapes_[at->second] != 0))
      return out;
    emit_.roll_back(mark);
    return at->second;
  }
  /// An expression as a text; one that is large by its number.
  void write_key(std::string& key, ExprId id) {
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
      const Expr& e = emit_.module().exprs[next];
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
  /// Operators whose `dim` counts the dimensions of their first argument.
  [[nodiscard]] static bool counts_dims(std::string_view target) noexcept {
    const ShapeRule rule = facts_of(target).shape;
    return rule == ShapeRule::same || rule == ShapeRule::reduced || rule == ShapeRule::summed ||
           rule == ShapeRule::selected || rule == ShapeRule::sliced;
  }
  [[nodiscard]] std::int64_t rank_of_first(const Node& made) {
    const std::span<const Argument> inputs = view().inputs(made);
    return inputs.empty() || !inputs[0].is_value() ? 0 : static_cast<std::int64_t>(sizes(inputs[0].value()).size());
  }
  /// What arguments say, but for what the output's dtype says too. `rank`: of what `dim` counts the dimensions; 0: as
  /// it is.
  void write_key(std::string& key, Range range, std::int64_t rank, bool of_dim = false, bool of_list = false) {
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

  const DecomposeOptions* whole_;
  bool before_;  ///< the program is yet to be decomposed
  GraphModuleView from_;
  GraphEmitter emit_;
  std::vector<ValueSource> sources_;
  std::vector<ValueId> replacement_;                   ///< what stands for a value that has no node any more
  std::vector<std::uint8_t> is_output_;                ///< of a graph
  std::vector<std::uint8_t> escapes_;                  ///< an output may be a view of it
  std::vector<std::uint32_t> uses_;                    ///< by nodes
  std::map<ValueId, ValueId> renamed_;                 ///< values that are known by the name of an output now
  std::map<std::string, ValueId, std::less<>> known_;  ///< what a graph has computed
  std::map<std::string, std::pair<ValueId, std::int64_t>, std::less<>>
      symbols_;                          ///< the dimensions of a graph's values that are symbols
  std::map<ValueId, Node> gathered_;     ///< what was taken by index before it had another name
  std::int64_t most_numbers_ = 1 << 22;  ///< that may yet be worked out
};

}  // namespace davit::detail
