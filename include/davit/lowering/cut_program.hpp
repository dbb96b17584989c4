// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/delegate_io.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/lowering/constant_placement.hpp"
#include "davit/lowering/partitioning.hpp"
#include "davit/lowering/quotient_graph.hpp"
#include "davit/program/graph_builder.hpp"

namespace davit {

/// Cuts a program along its partitions: a program per tag, and the parent that calls them.
///
/// Built once in O(program); a piece costs O(its size). The program and the tags must be checked, every node but control
/// flow tagged, and both must outlive the cutter. Source: executorch.exir.lowered_backend_module
/// (create_exported_program_from_submodule, create_submodule_from_nodes).
class ProgramCutter {
 public:
  ProgramCutter(const ExportedProgram& program, const PartitionTags& tags, const QuotientGraph& quotient,
                          std::span<const std::uint32_t> order, SharedConstants shared)
      : program_(program), graph_(program.view()), tags_(tags), quotient_(quotient), order_(order), shared_(shared),
        vertex_of_tag_(tags.names.size(), no_id), spec_of_value_(graph_.values.size(), no_id),
        escapes_(graph_.values.size(), 0), output_of_(graph_.values.size(), no_id), calls_(tags.names.size()), new_value_(graph_.values.size()),
        value_stamp_(graph_.values.size(), 0), new_expr_(graph_.exprs.size()), expr_stamp_(graph_.exprs.size(), 0),
        new_metadata_(graph_.metadata.size()), metadata_stamp_(graph_.metadata.size(), 0),
        ranges_(graph_.exprs.size(), no_id) {
    for (NodeId n = 0; n < graph_.nodes.size(); ++n)
      if (tags.nodes[n] != no_id) vertex_of_tag_[tags.nodes[n]] = quotient.vertex_of_node[n];
    index_tensors();
    index_ranges();
    follow_inputs();
  }

  /// The constants of the program and where they go; those that nothing uses are left out. In the signature's order.
  [[nodiscard]] const std::vector<ConstantPlacement>& placements() const noexcept { return placements_; }

  /// The program of one partition: constants and mutated buffers that are its own, then what it is passed as user inputs.
  [[nodiscard]] ExportedProgram piece(TagId tag) {
    begin();
    std::vector<std::uint32_t> held;  // input specs
    Call& call = calls_[tag];
    for (const NodeId n : quotient_.nodes_of(vertex_of_tag_[tag]))
      for (const Argument& input : graph_.inputs(graph_.nodes[n]))
        graph_.for_each_value(input, [&](ValueId v) {
          if (is_inside(v, tag) || value_stamp_[v] == stamp_) return;
          value_stamp_[v] = stamp_;
          if (const std::uint32_t spec = spec_of_value_[v]; spec != no_id && moves(spec)) {
            held.push_back(spec);
          } else {
            call.inputs.push_back(v);
          }
        });
    std::ranges::sort(call.inputs);  // a method that is one partition keeps the order of its inputs
    std::ranges::sort(held, [&](std::uint32_t a, std::uint32_t b) { return rank(a) != rank(b) ? rank(a) < rank(b) : a < b; });
    const std::size_t tokens = tokens_first(call.inputs);
    ++stamp_;  // from here the stamp says: copied
    ExportedProgram out = empty_program();
    builder_.begin_graph(graph_.str(graph_.graphs[graph_of(tag)].name));
    for (std::size_t i = 0; i < tokens; ++i) pass_in(out, call.inputs[i]);
    for (const std::uint32_t spec : held) hold(out, spec);
    for (std::size_t i = tokens; i < call.inputs.size(); ++i) pass_in(out, call.inputs[i]);
    for (const NodeId n : quotient_.nodes_of(vertex_of_tag_[tag])) copy_node(n);
    for (const NodeId n : quotient_.nodes_of(vertex_of_tag_[tag]))
      for (const Argument& output : graph_.outputs(graph_.nodes[n]))
        graph_.for_each_value(output, [&](ValueId v) {
          if (escapes_[v] != 0) call.outputs.push_back(v);
        });
    // and of its outputs; what no caller of the method sees stays in the order of the nodes
    std::vector<std::pair<std::uint32_t, std::size_t>> places;
    for (const ValueId v : call.outputs) places.emplace_back(output_of_[v], places.size());
    std::ranges::sort(places);
    std::vector<ValueId> sorted;
    for (const auto& [output, at] : places) sorted.push_back(call.outputs[at]);
    call.outputs = std::move(sorted);
    const std::size_t made_tokens = tokens_first(call.outputs);
    std::vector<Argument> outputs;
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      const ValueId v = call.outputs[i];
      if (i == made_tokens) mutations(out, tag, outputs);
      outputs.push_back(GraphBuilder::value(new_value_[v]));
      if (i < made_tokens) {
        out.signature.output_specs.push_back(OutputTokenSpec{TokenArgument{name(v)}});
      } else {
        out.signature.output_specs.push_back(UserOutputSpec{user_argument(v)});
      }
    }
    if (made_tokens == call.outputs.size()) mutations(out, tag, outputs);
    builder_.end_graph(std::span<const Argument>(outputs));
    out.graph_module = std::exchange(builder_, {}).finish();
    add_ranges(out);
    return out;
  }

  /// The program that calls the pieces; every piece must have been cut before. Each graph keeps its number.
  [[nodiscard]] ExportedProgram parent() {
    begin();
    ++stamp_;
    ExportedProgram out = empty_program();
    out.signature.unlisted_state = program_.signature.unlisted_state;
    out.custom_objects = program_.custom_objects;
    out.module_call_graph = program_.module_call_graph;
    std::size_t at = 0;  // in order_, whose vertices are sorted by graph below
    const std::vector<std::uint32_t> by_graph = order_by_graph();
    for (GraphId g = 0; g < graph_.graphs.size(); ++g) {
      const Graph& graph = graph_.graphs[g];
      builder_.begin_graph(graph_.str(graph.name));
      parent_inputs(out, g);
      for (; at < by_graph.size() && graph_.nodes[quotient_.nodes_of(by_graph[at])[0]].graph == g; ++at) {
        const NodeId first = quotient_.nodes_of(by_graph[at])[0];
        if (tags_.nodes[first] == no_id) {
          copy_node(first);
        } else {
          call_delegate(tags_.nodes[first], first);
        }
      }
      std::vector<Argument> outputs;
      const std::span<const Argument> old = graph_.args(graph.outputs);
      for (std::size_t i = 0; i < old.size(); ++i) {
        if (g == root_graph && mutation_moves(i)) continue;
        outputs.push_back(copy_argument(old[i]));
        if (g == root_graph) out.signature.output_specs.push_back(program_.signature.output_specs[i]);
      }
      builder_.end_graph(std::span<const Argument>(outputs), graph.is_single_tensor_return != 0);
    }
    out.graph_module = std::exchange(builder_, {}).finish();
    out.range_constraints = program_.range_constraints;
    return out;
  }

 private:
  static constexpr TagId many = no_id - 1;    ///< several partitions
  static constexpr TagId outside = no_id - 2;  ///< the parent, perhaps among others

  struct Call {
    std::vector<ValueId> inputs;   ///< tokens, then what is passed
    std::vector<ValueId> outputs;
  };

  void index_tensors() {
    for (const auto* tensors : {&program_.state_dict, &program_.constants})
      for (const NamedTensor& entry : *tensors) tensors_.push_back({entry.name.view(), &entry, tensors == &program_.constants});
    std::ranges::sort(tensors_, [](const Held& a, const Held& b) { return a.name != b.name ? a.name < b.name : a.constant < b.constant; });
  }
  void index_ranges() {
    std::vector<std::pair<std::string_view, std::uint32_t>> names;
    for (std::uint32_t i = 0; i < program_.range_constraints.size(); ++i)
      names.emplace_back(program_.range_constraints[i].symbol.view(), i);
    std::ranges::sort(names);
    for (ExprId e = 0; e < graph_.exprs.size(); ++e) {
      if (graph_.exprs[e].op != ExprOp::symbol) continue;
      const std::string_view symbol = graph_.str(graph_.exprs[e].name);
      const auto at = std::ranges::lower_bound(names, symbol, {}, [](const auto& n) { return n.first; });
      if (at != names.end() && at->first == symbol) ranges_[e] = at->second;
    }
  }

  /// Finds who uses each input of the root graph and which values leave their partition.
  void follow_inputs() {
    const std::vector<InputSpec>& specs = program_.signature.input_specs;
    const std::span<const Argument> inputs = graph_.args(graph_.root().inputs);
    owner_.assign(specs.size(), no_id);
    users_.assign(specs.size(), 0);
    last_user_.assign(specs.size(), no_id);
    for (std::uint32_t i = 0; i < specs.size(); ++i)
      if (inputs[i].is_value()) spec_of_value_[inputs[i].value()] = i;
    for (const std::uint32_t v : order_)
      for (const NodeId n : quotient_.nodes_of(v)) {
        const TagId tag = tags_.nodes[n];
        for (const Argument& input : graph_.inputs(graph_.nodes[n]))
          graph_.for_each_value(input, [&](ValueId value) { use(value, tag); });
      }
    for (const Graph& graph : graph_.graphs)
      for (const Argument& output : graph_.args(graph.outputs))
        graph_.for_each_value(output, [&](ValueId value) { use(value, no_id); });
    // a mutated buffer may follow its one user if that one also makes its new value
    roles_ = input_roles(program_.signature);
    mutation_of_.assign(specs.size(), no_id);
    const std::vector<OutputSpec>& outs = program_.signature.output_specs;
    std::vector<std::pair<std::string_view, std::uint32_t>> state;
    for (std::uint32_t i = 0; i < specs.size(); ++i)
      if (roles_[i] == InputRole::state) state.emplace_back(target(specs[i])->view(), i);
    std::ranges::sort(state);
    state_of_output_.assign(outs.size(), no_id);
    for (std::uint32_t o = 0; o < outs.size(); ++o) {
      const OutputKind k = kind(outs[o]);
      if (k != OutputKind::buffer_mutation && k != OutputKind::parameter_mutation) continue;
      const auto at = std::ranges::lower_bound(state, target(outs[o])->view(), {}, [](const auto& s) { return s.first; });
      if (at == state.end() || at->first != target(outs[o])->view()) continue;
      const std::uint32_t spec = at->second;
      const Argument& value = graph_.args(graph_.root().outputs)[o];
      const TagId maker = value.is_value() ? tag_of(value.value()) : no_id;
      const bool tied = std::next(at) != state.end() && std::next(at)->first == at->first;
      if (mutation_of_[spec] != no_id || maker == no_id || tied || owner_[spec] != maker) {
        owner_[spec] = outside;
      } else {
        state_of_output_[o] = spec;
      }
      mutation_of_[spec] = o;
    }
    for (std::uint32_t o = 0; o < outs.size(); ++o)  // only now is it known who keeps what
      if (state_of_output_[o] != no_id && !moves(state_of_output_[o])) state_of_output_[o] = no_id;
    outputs_of_tag_.assign(tags_.names.size() + 1, 0);
    for (std::uint32_t o = 0; o < outs.size(); ++o)
      if (state_of_output_[o] != no_id) ++outputs_of_tag_[owner_[state_of_output_[o]] + 1];
    for (std::size_t t = 0; t < tags_.names.size(); ++t) outputs_of_tag_[t + 1] += outputs_of_tag_[t];
    moved_outputs_.resize(outputs_of_tag_.back());
    std::vector<std::uint32_t> next(outputs_of_tag_);
    for (std::uint32_t o = 0; o < outs.size(); ++o)
      if (state_of_output_[o] != no_id) moved_outputs_[next[owner_[state_of_output_[o]]]++] = o;
    find_gradients();
    place_constants();
    mark_escapes();
  }

  void find_gradients() {
    std::vector<std::string_view> targets;
    for (const OutputSpec& spec : program_.signature.output_specs)
      if (kind(spec) == OutputKind::gradient_to_parameter) targets.push_back(target(spec)->view());
    std::ranges::sort(targets);
    has_gradient_.assign(roles_.size(), 0);
    for (std::uint32_t i = 0; i < roles_.size(); ++i)
      if (const Name* name = target(program_.signature.input_specs[i]))
        has_gradient_[i] = std::ranges::binary_search(targets, name->view()) ? 1 : 0;
  }

  void use(ValueId v, TagId tag) {
    const std::uint32_t spec = spec_of_value_[v];
    if (spec == no_id) return;
    TagId& owner = owner_[spec];
    if (tag == no_id) {
      owner = outside;
    } else {
      if (owner == no_id) owner = tag;
      if (owner != tag && owner != outside) owner = many;
      if (last_user_[spec] != tag) ++users_[spec];
      last_user_[spec] = tag;
    }
  }

  /// A value leaves its partition if another one, control flow or the caller uses it.
  void mark_escapes() {
    for (NodeId n = 0; n < graph_.nodes.size(); ++n)
      for (const Argument& input : graph_.inputs(graph_.nodes[n]))
        graph_.for_each_value(input, [&](ValueId v) {
          if (tag_of(v) != no_id && tag_of(v) != tags_.nodes[n]) escapes_[v] = 1;
        });
    for (GraphId g = 0; g < graph_.graphs.size(); ++g) {
      const std::span<const Argument> outputs = graph_.args(graph_.graphs[g].outputs);
      for (std::size_t i = 0; i < outputs.size(); ++i)
        if (g != root_graph || !mutation_moves(i))
          graph_.for_each_value(outputs[i], [&](ValueId v) {
            escapes_[v] = 1;
            output_of_[v] = std::min(output_of_[v], static_cast<std::uint32_t>(i));
          });
    }
  }

  void place_constants() {
    for (std::uint32_t i = 0; i < roles_.size(); ++i) {
      if (roles_[i] != InputRole::constant && roles_[i] != InputRole::state) continue;
      if (owner_[i] == no_id) continue;
      const NamedTensor* entry = find(i);
      ConstantPlacement placement{.target = *target(program_.signature.input_specs[i]), .partitions = users_[i],
                                  .bytes = entry == nullptr ? 0 : tensor_bytes(entry->tensor)};
      if (roles_[i] == InputRole::constant && users_[i] > 1) {
        placement.fate = shared_ == SharedConstants::duplicate ? ConstantPlacement::Fate::duplicated : ConstantPlacement::Fate::shared;
      } else if (!stays(i) && users_[i] == 1) {
        placement.fate = ConstantPlacement::Fate::moved;
      }
      placements_.push_back(std::move(placement));
    }
  }
  [[nodiscard]] static std::size_t tensor_bytes(const Tensor& tensor) noexcept {
    return static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype);
  }

  /// True if the partitions that use an input hold it themselves.
  [[nodiscard]] bool moves(std::uint32_t spec) const noexcept {
    if (roles_[spec] == InputRole::constant || roles_[spec] == InputRole::object) return true;
    return roles_[spec] == InputRole::state && owner_[spec] < tags_.names.size() && mutation_of_[spec] != no_id;
  }
  [[nodiscard]] bool mutation_moves(std::size_t output) const noexcept { return state_of_output_[output] != no_id; }
  /// The parent still needs an input if something outside the partitions does, if it is passed to them, or if an output is
  /// its gradient.
  [[nodiscard]] bool stays(std::uint32_t spec) const noexcept {
    if (roles_[spec] == InputRole::user || roles_[spec] == InputRole::token) return true;
    return !moves(spec) || owner_[spec] == outside || has_gradient_[spec] != 0;
  }
  [[nodiscard]] TagId tag_of(ValueId v) const noexcept {
    const NodeId n = graph_.values[v].producer;
    return n == no_id ? no_id : tags_.nodes[n];
  }
  [[nodiscard]] bool is_inside(ValueId v, TagId tag) const noexcept { return tag_of(v) == tag; }
  [[nodiscard]] GraphId graph_of(TagId tag) const noexcept {
    return graph_.nodes[quotient_.nodes_of(vertex_of_tag_[tag])[0]].graph;
  }
  /// The order of torch's inputs: parameters, buffers, constants, custom objects.
  [[nodiscard]] int rank(std::uint32_t spec) const noexcept {
    return static_cast<int>(kind(program_.signature.input_specs[spec]));
  }
  [[nodiscard]] Name name(ValueId v) const { return Name::own(graph_.name(v)); }

  struct Held {
    std::string_view name;
    const NamedTensor* entry = nullptr;
    bool constant = false;
  };
  /// The tensor of an input: from the state dict, else from the constants.
  [[nodiscard]] const NamedTensor* find(std::uint32_t spec) const noexcept {
    const Name* wanted = target(program_.signature.input_specs[spec]);
    const auto at = std::ranges::lower_bound(tensors_, wanted->view(), {}, &Held::name);
    return at == tensors_.end() || at->name != wanted->view() ? nullptr : at->entry;
  }

  void begin() {
    ++stamp_;
    builder_ = {};
    used_symbols_.clear();
  }
  [[nodiscard]] ExportedProgram empty_program() const {
    ExportedProgram out;
    out.opset_version = program_.opset_version;
    out.schema_major = program_.schema_major;
    out.schema_minor = program_.schema_minor;
    out.dialect = program_.dialect;
    out.torch_version = program_.torch_version;
    return out;
  }

  /// Moves tokens to the front, otherwise keeping the order; answers how many there are.
  [[nodiscard]] std::size_t tokens_first(std::vector<ValueId>& values) const {
    std::vector<ValueId> others;
    std::size_t tokens = 0;
    for (const ValueId v : values) {
      if (graph_.values[v].kind == ValueKind::token) {
        values[tokens++] = v;
      } else {
        others.push_back(v);
      }
    }
    std::ranges::copy(others, values.begin() + static_cast<std::ptrdiff_t>(tokens));
    return tokens;
  }

  /// Adds a held input: its tensor or object goes into the piece.
  void hold(ExportedProgram& out, std::uint32_t spec) {
    const InputSpec& s = program_.signature.input_specs[spec];
    const ValueId v = graph_.args(graph_.root().inputs)[spec].value();
    builder_.input(GraphBuilder::value(copy_value(v)));
    out.signature.input_specs.push_back(s);
    add_tensor(out, spec, shared_ == SharedConstants::duplicate && users_[spec] > 1);
    if (kind(s) == InputKind::custom_obj)
      for (const NamedObject& object : program_.custom_objects)
        if (object.name == *target(s)) out.custom_objects.push_back(object);
  }
  void add_tensor(ExportedProgram& out, std::uint32_t spec, bool copy) {
    const InputSpec& s = program_.signature.input_specs[spec];
    if (target(s) == nullptr || kind(s) == InputKind::custom_obj) return;
    const NamedTensor* entry = find(spec);
    if (entry == nullptr) return;
    const bool constant = kind(s) == InputKind::constant_tensor || persistent(s) == false;
    NamedTensor held = *entry;
    if (copy) {
      held.tensor = Tensor::zeros(entry->tensor.dtype, entry->tensor.sizes);
      copy_tensor(entry->tensor.view(), held.tensor.view());
    }
    (constant ? out.constants : out.state_dict).push_back(std::move(held));
  }
  /// Adds an input that is passed at each call.
  void pass_in(ExportedProgram& out, ValueId v) {
    builder_.input(GraphBuilder::value(copy_value(v)));
    if (graph_.values[v].kind == ValueKind::token) {
      out.signature.input_specs.push_back(InputTokenSpec{TokenArgument{name(v)}});
    } else {
      out.signature.input_specs.push_back(UserInputSpec{user_argument(v)});
    }
  }
  [[nodiscard]] UserArgument user_argument(ValueId v) const {
    switch (graph_.values[v].kind) {
      case ValueKind::sym_int: return SymIntArgument{name(v)};
      case ValueKind::sym_float: return SymFloatArgument{name(v)};
      case ValueKind::sym_bool: return SymBoolArgument{name(v)};
      case ValueKind::custom_obj: return CustomObjArgument{name(v), Name::own(graph_.str(graph_.values[v].class_fqn))};
      default: return TensorArgument{name(v)};
    }
  }
  void mutations(ExportedProgram& out, TagId tag, std::vector<Argument>& outputs) const {
    for (std::uint32_t i = outputs_of_tag_[tag]; i < outputs_of_tag_[tag + 1]; ++i) {
      const std::uint32_t o = moved_outputs_[i];
      outputs.push_back(GraphBuilder::value(new_value_[graph_.args(graph_.root().outputs)[o].value()]));
      out.signature.output_specs.push_back(program_.signature.output_specs[o]);
    }
  }
  void add_ranges(ExportedProgram& out) const {
    for (const ExprId e : used_symbols_)
      if (ranges_[e] != no_id) out.range_constraints.push_back(program_.range_constraints[ranges_[e]]);
  }

  void parent_inputs(ExportedProgram& out, GraphId g) {
    const std::span<const Argument> inputs = graph_.args(graph_.graphs[g].inputs);
    for (std::uint32_t i = 0; i < inputs.size(); ++i) {
      if (g == root_graph) {
        if (!stays(i)) continue;
        out.signature.input_specs.push_back(program_.signature.input_specs[i]);
        add_tensor(out, i, false);
      }
      builder_.input(inputs[i].is_value() ? GraphBuilder::value(copy_value(inputs[i].value())) : copy_argument(inputs[i]));
    }
  }
  void call_delegate(TagId tag, NodeId first) {
    std::vector<Argument> inputs{GraphBuilder::integer(tag)};
    std::vector<Argument> outputs;
    for (const ValueId v : calls_[tag].inputs) inputs.push_back(GraphBuilder::value(copied(v)));
    for (const ValueId v : calls_[tag].outputs) outputs.push_back(GraphBuilder::value(copied(v)));
    builder_.node(call_delegate_target, inputs, outputs, copy_metadata(graph_.nodes[first].metadata));
  }
  /// The vertices, those of graph 0 first, in the given order within a graph.
  [[nodiscard]] std::vector<std::uint32_t> order_by_graph() const {
    std::vector<std::uint32_t> first(graph_.graphs.size() + 1, 0);
    const auto graph_of_vertex = [&](std::uint32_t v) { return graph_.nodes[quotient_.nodes_of(v)[0]].graph; };
    for (const std::uint32_t v : order_) ++first[graph_of_vertex(v) + 1];
    for (std::size_t g = 0; g + 1 < first.size(); ++g) first[g + 1] += first[g];
    std::vector<std::uint32_t> sorted(order_.size());
    for (const std::uint32_t v : order_) sorted[first[graph_of_vertex(v)]++] = v;
    return sorted;
  }

  // -- copies of rows, each at most once between two calls of begin() ------------------------------------------------
  [[nodiscard]] ValueId copied(ValueId v) { return value_stamp_[v] == stamp_ ? new_value_[v] : copy_value(v); }
  ValueId copy_value(ValueId v) {
    const Value& old = graph_.values[v];
    Value value = old;
    value.name = builder_.text(graph_.str(old.name));
    value.producer = no_id;
    value.sizes = copy_dims(old.sizes);
    value.strides = copy_dims(old.strides);
    value.expr = copy_expr(old.expr);
    value.class_fqn = builder_.intern(graph_.str(old.class_fqn));
    value.device = builder_.intern(graph_.str(old.device));
    new_value_[v] = builder_.declare(value);
    value_stamp_[v] = stamp_;
    return new_value_[v];
  }
  Range copy_dims(Range range) {
    scratch_dims_.assign(graph_.dims_of(range).begin(), graph_.dims_of(range).end());
    for (Dim& dim : scratch_dims_)
      if (!dim.is_static()) dim.expr = copy_expr(dim.expr);
    return builder_.dims(scratch_dims_);
  }
  /// Operands are older rows, so that the depth of the recursion is that of the expression; shared ones are copied once.
  ExprId copy_expr(ExprId id) {
    if (id == no_id) return no_id;
    if (expr_stamp_[id] == stamp_) return new_expr_[id];
    Expr e = graph_.exprs[id];
    if (e.op == ExprOp::symbol) used_symbols_.push_back(id);
    e.a = copy_expr(e.a);
    e.b = copy_expr(e.b);
    if (e.op != ExprOp::rational) e.c = copy_expr(e.c);
    e.name = builder_.text(graph_.str(e.name));
    new_expr_[id] = builder_.expr(e);
    expr_stamp_[id] = stamp_;
    return new_expr_[id];
  }
  std::uint32_t copy_metadata(std::uint32_t row) {
    if (row == no_id) return no_id;
    if (metadata_stamp_[row] == stamp_) return new_metadata_[row];
    const NodeMetadata& m = graph_.metadata[row];
    new_metadata_[row] = builder_.metadata(graph_.str(m.stack_trace), graph_.str(m.nn_module_stack),
                                           graph_.str(m.source_fn_stack), graph_.str(m.torch_fn));
    metadata_stamp_[row] = stamp_;
    return new_metadata_[row];
  }
  Argument copy_argument(const Argument& old) {
    Argument a = old;
    a.name = builder_.intern(graph_.str(old.name));
    switch (old.kind) {
      case ArgumentKind::value: a.payload = copied(old.value()); break;
      case ArgumentKind::string:
      case ArgumentKind::device:
      case ArgumentKind::operator_name: {
        const Text text = builder_.intern(graph_.string(old));
        a.items = {text.first, text.size};
        break;
      }
      case ArgumentKind::list: {
        std::vector<Argument> items;
        items.reserve(old.items.count);
        for (const Argument& item : graph_.args(old.items)) items.push_back(copy_argument(item));
        a.items = builder_.list(items, old.element).items;
        break;
      }
      default: break;
    }
    return a;
  }
  void copy_node(NodeId n) {
    const Node& node = graph_.nodes[n];
    node_inputs_.clear();
    node_outputs_.clear();
    for (const Argument& input : graph_.inputs(node)) node_inputs_.push_back(copy_argument(input));
    for (const Argument& output : graph_.outputs(node)) node_outputs_.push_back(copy_argument(output));
    builder_.node(graph_.target(node), node_inputs_, node_outputs_, copy_metadata(node.metadata));
  }

  const ExportedProgram& program_;
  GraphModuleView graph_;
  const PartitionTags& tags_;
  const QuotientGraph& quotient_;
  std::span<const std::uint32_t> order_;
  SharedConstants shared_;
  std::vector<std::uint32_t> vertex_of_tag_;
  std::vector<std::uint32_t> spec_of_value_;
  std::vector<std::uint8_t> escapes_;
  std::vector<std::uint32_t> output_of_;         ///< per value: its first place among the outputs of its graph
  std::vector<Call> calls_;
  std::vector<Held> tensors_;
  std::vector<InputRole> roles_;
  std::vector<TagId> owner_;                     ///< per input spec: the one partition that uses it, many, outside, or no_id
  std::vector<std::uint32_t> users_;             ///< per input spec: partitions that use it
  std::vector<TagId> last_user_;
  std::vector<std::uint32_t> mutation_of_;       ///< per input spec: the output that is its new value
  std::vector<std::uint8_t> has_gradient_;       ///< per input spec
  std::vector<std::uint32_t> state_of_output_;   ///< per output: the input spec it moves into a partition with
  std::vector<std::uint32_t> outputs_of_tag_;    ///< first row of moved_outputs_ per tag
  std::vector<std::uint32_t> moved_outputs_;
  std::vector<ConstantPlacement> placements_;
  GraphBuilder builder_;
  std::vector<ValueId> new_value_;
  std::vector<std::uint32_t> value_stamp_;
  std::vector<ExprId> new_expr_;
  std::vector<std::uint32_t> expr_stamp_;
  std::vector<std::uint32_t> new_metadata_;
  std::vector<std::uint32_t> metadata_stamp_;
  std::vector<std::uint32_t> ranges_;            ///< per expression: the constraint of that symbol
  std::vector<ExprId> used_symbols_;
  std::vector<Dim> scratch_dims_;
  std::vector<Argument> node_inputs_;
  std::vector<Argument> node_outputs_;
  std::uint32_t stamp_ = 0;
};

}  // namespace davit
