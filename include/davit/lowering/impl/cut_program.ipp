// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/copy_tensor.hpp"
#include "davit/lowering/cut_program.hpp"

namespace davit {

ProgramCutter::ProgramCutter(const ExportedProgram& program, const PartitionTags& tags, const QuotientGraph& quotient,
                             std::span<const std::uint32_t> order, SharedConstants shared)
    : program_(program),
      graph_(program.view()),
      tags_(tags),
      quotient_(quotient),
      order_(order),
      shared_(shared),
      vertex_of_tag_(tags.names.size(), no_id),
      spec_of_value_(graph_.values.size(), no_id),
      escapes_(graph_.values.size(), 0),
      output_of_(graph_.values.size(), no_id),
      calls_(tags.names.size()),
      seen_(graph_.values.size(), no_id),
      ranges_(graph_.exprs.size(), no_id),
      copier_(graph_) {
  for (NodeId n = 0; n < graph_.nodes.size(); ++n)
    if (tags.nodes[n] != no_id) vertex_of_tag_[tags.nodes[n]] = quotient.vertex_of_node[n];
  index_tensors();
  index_ranges();
  follow_inputs();
}

ExportedProgram ProgramCutter::submodule(TagId tag) {
  copier_.begin();
  std::vector<std::uint32_t> attributes;  // indices of input specs
  Call& call = calls_[tag];
  for (const NodeId n : quotient_.nodes_of(vertex_of_tag_[tag]))
    for (const Argument& input : graph_.inputs(graph_.nodes[n]))
      graph_.for_each_value(input, [&](ValueId v) {
        if (is_inside(v, tag) || seen_[v] == tag) return;
        seen_[v] = tag;
        if (const std::uint32_t spec = spec_of_value_[v]; spec != no_id && moves(spec)) {
          attributes.push_back(spec);
        } else {
          call.inputs.push_back(v);
        }
      });
  std::ranges::sort(call.inputs);  // a partition that is a whole method keeps the order of its inputs
  std::ranges::sort(attributes,
                    [&](std::uint32_t a, std::uint32_t b) { return rank(a) != rank(b) ? rank(a) < rank(b) : a < b; });
  const std::size_t tokens = tokens_first(call.inputs);
  ExportedProgram out = empty_program();
  copier_.builder.begin_graph(graph_.str(graph_.graphs[graph_of(tag)].name));
  for (std::size_t i = 0; i < tokens; ++i) pass_in(out, call.inputs[i]);
  for (const std::uint32_t spec : attributes) add_attribute(out, spec);
  for (std::size_t i = tokens; i < call.inputs.size(); ++i) pass_in(out, call.inputs[i]);
  for (const NodeId n : quotient_.nodes_of(vertex_of_tag_[tag])) copier_.node(n);
  for (const NodeId n : quotient_.nodes_of(vertex_of_tag_[tag]))
    for (const Argument& output : graph_.outputs(graph_.nodes[n]))
      graph_.for_each_value(output, [&](ValueId v) {
        if (escapes_[v] != 0) call.outputs.push_back(v);
      });
  // and of its outputs; outputs that no caller sees stay in the order of the nodes
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
    outputs.push_back(GraphBuilder::value(copier_.new_value(v)));
    if (i < made_tokens) {
      out.signature.output_specs.push_back(OutputTokenSpec{TokenArgument{name(v)}});
    } else {
      out.signature.output_specs.push_back(UserOutputSpec{user_argument(graph_, v)});
    }
  }
  if (made_tokens == call.outputs.size()) mutations(out, tag, outputs);
  copier_.builder.end_graph(std::span<const Argument>(outputs));
  out.graph_module = std::exchange(copier_.builder, {}).finish();
  add_ranges(out);
  return out;
}

ExportedProgram ProgramCutter::parent() {
  copier_.begin();
  ExportedProgram out = empty_program();
  out.signature.unlisted_state = program_.signature.unlisted_state;
  out.custom_objects = program_.custom_objects;
  out.module_call_graph = program_.module_call_graph;
  out.example_inputs = program_.example_inputs;
  std::size_t at = 0;  // index in order_, whose vertices are sorted by graph below
  const std::vector<std::uint32_t> by_graph = order_by_graph();
  for (GraphId g = 0; g < graph_.graphs.size(); ++g) {
    const Graph& graph = graph_.graphs[g];
    copier_.builder.begin_graph(graph_.str(graph.name));
    parent_inputs(out, g);
    for (; at < by_graph.size() && graph_.nodes[quotient_.nodes_of(by_graph[at])[0]].graph == g; ++at) {
      const NodeId first = quotient_.nodes_of(by_graph[at])[0];
      if (tags_.nodes[first] == no_id) {
        copier_.node(first);
      } else {
        call_delegate(tags_.nodes[first], first);
      }
    }
    std::vector<Argument> outputs;
    const std::span<const Argument> old = graph_.args(graph.outputs);
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (g == root_graph && mutation_moves(i)) continue;
      outputs.push_back(copier_.argument(old[i]));
      if (g == root_graph) out.signature.output_specs.push_back(program_.signature.output_specs[i]);
    }
    copier_.builder.end_graph(std::span<const Argument>(outputs), graph.is_single_tensor_return != 0);
  }
  out.graph_module = std::exchange(copier_.builder, {}).finish();
  out.range_constraints = program_.range_constraints;
  out.guards = program_.guards;
  return out;
}

void ProgramCutter::index_tensors() {
  for (const auto* tensors : {&program_.state_dict, &program_.constants})
    for (const NamedTensor& entry : *tensors)
      tensors_.push_back({entry.name.view(), &entry, tensors == &program_.constants});
  std::ranges::sort(tensors_, [](const TensorEntry& a, const TensorEntry& b) {
    return a.name != b.name ? a.name < b.name : a.constant < b.constant;
  });
}

void ProgramCutter::index_ranges() {
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

void ProgramCutter::follow_inputs() {
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
    const TagId producer = value.is_value() ? tag_of(value.value()) : no_id;
    const bool tied = std::next(at) != state.end() && std::next(at)->first == at->first;
    if (mutation_of_[spec] != no_id || producer == no_id || tied || owner_[spec] != producer) {
      owner_[spec] = outside;
    } else {
      state_of_output_[o] = spec;
    }
    mutation_of_[spec] = o;
  }
  for (std::uint32_t o = 0; o < outs.size(); ++o)  // owners are final only now
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

void ProgramCutter::find_gradients() {
  std::vector<std::string_view> targets;
  for (const OutputSpec& spec : program_.signature.output_specs)
    if (kind(spec) == OutputKind::gradient_to_parameter) targets.push_back(target(spec)->view());
  std::ranges::sort(targets);
  has_gradient_.assign(roles_.size(), 0);
  for (std::uint32_t i = 0; i < roles_.size(); ++i)
    if (const Name* name = target(program_.signature.input_specs[i]))
      has_gradient_[i] = std::ranges::binary_search(targets, name->view()) ? 1 : 0;
}

void ProgramCutter::use(ValueId v, TagId tag) {
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

void ProgramCutter::mark_escapes() {
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

void ProgramCutter::place_constants() {
  for (std::uint32_t i = 0; i < roles_.size(); ++i) {
    if (roles_[i] != InputRole::constant && roles_[i] != InputRole::state) continue;
    if (owner_[i] == no_id) continue;
    const NamedTensor* entry = find(i);
    ConstantPlacement placement{.target = *target(program_.signature.input_specs[i]),
                                .partitions = users_[i],
                                .bytes = entry == nullptr ? 0 : tensor_bytes(entry->tensor)};
    if (roles_[i] == InputRole::constant && users_[i] > 1) {
      placement.fate =
          shared_ == SharedConstants::duplicate ? ConstantPlacement::Fate::duplicated : ConstantPlacement::Fate::shared;
    } else if (!stays(i) && users_[i] == 1) {
      placement.fate = ConstantPlacement::Fate::moved;
    }
    placements_.push_back(std::move(placement));
  }
}

std::size_t ProgramCutter::tensor_bytes(const Tensor& tensor) noexcept {
  return static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype);
}

bool ProgramCutter::moves(std::uint32_t spec) const noexcept {
  if (roles_[spec] == InputRole::constant || roles_[spec] == InputRole::object) return true;
  return roles_[spec] == InputRole::state && owner_[spec] < tags_.names.size() && mutation_of_[spec] != no_id;
}

bool ProgramCutter::stays(std::uint32_t spec) const noexcept {
  if (roles_[spec] == InputRole::user || roles_[spec] == InputRole::token) return true;
  return !moves(spec) || owner_[spec] == outside || has_gradient_[spec] != 0;
}

TagId ProgramCutter::tag_of(ValueId v) const noexcept {
  const NodeId n = graph_.values[v].producer;
  return n == no_id ? no_id : tags_.nodes[n];
}

GraphId ProgramCutter::graph_of(TagId tag) const noexcept {
  return graph_.nodes[quotient_.nodes_of(vertex_of_tag_[tag])[0]].graph;
}

int ProgramCutter::rank(std::uint32_t spec) const noexcept {
  return static_cast<int>(kind(program_.signature.input_specs[spec]));
}

const NamedTensor* ProgramCutter::find(std::uint32_t spec) const noexcept {
  const Name* wanted = target(program_.signature.input_specs[spec]);
  const auto at = std::ranges::lower_bound(tensors_, wanted->view(), {}, &TensorEntry::name);
  return at == tensors_.end() || at->name != wanted->view() ? nullptr : at->entry;
}

ExportedProgram ProgramCutter::empty_program() const {
  ExportedProgram out;
  out.opset_version = program_.opset_version;
  out.schema_major = program_.schema_major;
  out.schema_minor = program_.schema_minor;
  out.dialect = program_.dialect;
  out.torch_version = program_.torch_version;
  return out;
}

std::size_t ProgramCutter::tokens_first(std::vector<ValueId>& values) const {
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

void ProgramCutter::add_attribute(ExportedProgram& out, std::uint32_t spec) {
  const InputSpec& s = program_.signature.input_specs[spec];
  const ValueId v = graph_.args(graph_.root().inputs)[spec].value();
  copier_.builder.input(GraphBuilder::value(copier_.copy_value(v)));
  out.signature.input_specs.push_back(s);
  add_tensor(out, spec, shared_ == SharedConstants::duplicate && users_[spec] > 1);
  if (kind(s) == InputKind::custom_obj)
    for (const NamedObject& object : program_.custom_objects)
      if (object.name == *target(s)) out.custom_objects.push_back(object);
}

void ProgramCutter::add_tensor(ExportedProgram& out, std::uint32_t spec, bool copy) {
  const InputSpec& s = program_.signature.input_specs[spec];
  if (target(s) == nullptr || kind(s) == InputKind::custom_obj) return;
  const NamedTensor* entry = find(spec);
  if (entry == nullptr) return;
  const bool constant = kind(s) == InputKind::constant_tensor || persistent(s) == false;
  NamedTensor copied_tensor = *entry;
  if (copy) {
    copied_tensor.tensor = Tensor::zeros(entry->tensor.dtype, entry->tensor.sizes);
    copy_tensor(entry->tensor.view(), copied_tensor.tensor.view());
  }
  (constant ? out.constants : out.state_dict).push_back(std::move(copied_tensor));
}

void ProgramCutter::pass_in(ExportedProgram& out, ValueId v) {
  copier_.builder.input(GraphBuilder::value(copier_.copy_value(v)));
  if (graph_.values[v].kind == ValueKind::token) {
    out.signature.input_specs.push_back(InputTokenSpec{TokenArgument{name(v)}});
  } else {
    out.signature.input_specs.push_back(UserInputSpec{user_argument(graph_, v)});
  }
}

UserArgument user_argument(GraphModuleView graph, ValueId v) {
  const Name name = Name::own(graph.name(v));
  switch (graph.values[v].kind) {
    case ValueKind::sym_int: return SymIntArgument{name};
    case ValueKind::sym_float: return SymFloatArgument{name};
    case ValueKind::sym_bool: return SymBoolArgument{name};
    case ValueKind::custom_obj: return CustomObjArgument{name, Name::own(graph.str(graph.values[v].class_fqn))};
    default: return TensorArgument{name};
  }
}

void ProgramCutter::mutations(ExportedProgram& out, TagId tag, std::vector<Argument>& outputs) const {
  for (std::uint32_t i = outputs_of_tag_[tag]; i < outputs_of_tag_[tag + 1]; ++i) {
    const std::uint32_t o = moved_outputs_[i];
    outputs.push_back(GraphBuilder::value(copier_.new_value(graph_.args(graph_.root().outputs)[o].value())));
    out.signature.output_specs.push_back(program_.signature.output_specs[o]);
  }
}

void ProgramCutter::add_ranges(ExportedProgram& out) const {
  for (const ExprId e : copier_.used_symbols)
    if (ranges_[e] != no_id) out.range_constraints.push_back(program_.range_constraints[ranges_[e]]);
}

void ProgramCutter::parent_inputs(ExportedProgram& out, GraphId g) {
  const std::span<const Argument> inputs = graph_.args(graph_.graphs[g].inputs);
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    if (g == root_graph) {
      if (!stays(i)) continue;
      out.signature.input_specs.push_back(program_.signature.input_specs[i]);
      add_tensor(out, i, false);
    }
    copier_.builder.input(inputs[i].is_value() ? GraphBuilder::value(copier_.copy_value(inputs[i].value()))
                                               : copier_.argument(inputs[i]));
  }
}

void ProgramCutter::call_delegate(TagId tag, NodeId first) {
  std::vector<Argument> inputs{GraphBuilder::integer(tag)};
  std::vector<Argument> outputs;
  for (const ValueId v : calls_[tag].inputs) inputs.push_back(GraphBuilder::value(copier_.value(v)));
  for (const ValueId v : calls_[tag].outputs) outputs.push_back(GraphBuilder::value(copier_.value(v)));
  copier_.builder.node(call_delegate_target, inputs, outputs, copier_.metadata(graph_.nodes[first].metadata));
}

std::vector<std::uint32_t> ProgramCutter::order_by_graph() const {
  std::vector<std::uint32_t> first(graph_.graphs.size() + 1, 0);
  const auto graph_of_vertex = [&](std::uint32_t v) { return graph_.nodes[quotient_.nodes_of(v)[0]].graph; };
  for (const std::uint32_t v : order_) ++first[graph_of_vertex(v) + 1];
  for (std::size_t g = 0; g + 1 < first.size(); ++g) first[g + 1] += first[g];
  std::vector<std::uint32_t> sorted(order_.size());
  for (const std::uint32_t v : order_) sorted[first[graph_of_vertex(v)]++] = v;
  return sorted;
}

}  // namespace davit
