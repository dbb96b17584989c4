// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "davit/lowering/decomposition_rules.hpp"
#include "davit/lowering/impl/functional_writer.ipp"
#include "davit/program/in_place_writes.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/operators.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/verify_signature.hpp"
#include "davit/program/views.hpp"

namespace davit {

namespace detail {

/// Writes a program anew, without in-place operators.
class Functionalizer : FunctionalWriter {
 public:
  explicit Functionalizer(const ExportedProgram& program)
      : FunctionalWriter(program.view()), program_(program), classes_(program.view()) {}

  [[nodiscard]] std::optional<ExportedProgram> run() {
    copier_.begin();
    for (GraphId g = 0; g < graph_.graphs.size(); ++g) {
      const Graph& graph = graph_.graphs[g];
      copier_.builder.begin_graph(graph_.str(graph.name));
      for (const Argument& input : graph_.args(graph.inputs)) copier_.builder.input(copier_.argument(input));
      for (NodeId n = graph.nodes.first; n < graph.nodes.first + graph.nodes.count; ++n)
        if (!step(n)) return std::nullopt;
      std::vector<Argument> outputs;
      for (const Argument& output : graph_.args(graph.outputs)) {
        if (!refresh(output)) return std::nullopt;
        outputs.push_back(copier_.argument(output));
      }
      if (g == root_graph ? !add_mutations(outputs) : writes_to_inputs(graph)) return std::nullopt;
      copier_.builder.end_graph(std::span<const Argument>(outputs), graph.is_single_tensor_return != 0);
    }
    ExportedProgram out;
    out.signature = std::move(signature_);
    out.state_dict = program_.state_dict;
    out.constants = program_.constants;
    out.custom_objects = program_.custom_objects;
    out.range_constraints = program_.range_constraints;
    out.module_call_graph = program_.module_call_graph;
    out.opset_version = program_.opset_version;
    out.schema_major = program_.schema_major;
    out.schema_minor = program_.schema_minor;
    out.dialect = program_.dialect;
    out.torch_version = program_.torch_version;
    out.graph_module = std::exchange(copier_.builder, {}).finish();
    return out;
  }

 private:
  [[nodiscard]] bool step(NodeId n) {
    const Node& node = graph_.nodes[n];
    const OperatorCall call = operator_call(graph_, node);
    for (const Argument& input : graph_.inputs(node))
      if (!refresh(input)) return false;
    const ViewKind kind = view_kind(graph_, call);
    if (writes_arguments(graph_, call)) return call.token == nullptr && write(n, call);
    copier_.node(n);
    note_control_flow(call);
    if (kind == ViewKind::unknown) share(call);
    const Argument* self = kind == ViewKind::none || kind == ViewKind::unknown ? nullptr : self_argument(graph_, call);
    if (self == nullptr || !is_tensor(self->value())) return true;
    std::uint32_t item = 0;
    for (const Argument& output : call.outputs)
      graph_.for_each_value(output, [&](ValueId v) { note_view(v, self->value(), n, kind, call, output.is_list() ? item++ : no_id); });
    return true;
  }

  /// A loop without iterations answers what it was given, and so may a branch, or a graph that is wrapped.
  void note_control_flow(const OperatorCall& call) {
    bool passes = call.target == "higher_order.while_loop";
    for (const Argument& input : call.inputs) {
      if (input.kind != ArgumentKind::graph || call.target == "higher_order.map_impl" || call.target == "higher_order.scan") continue;
      const Graph& inner = graph_.graphs[input.graph()];
      for (const Argument& answer : graph_.args(inner.outputs))
        for (const Argument& given : graph_.args(inner.inputs))
          passes = passes || (answer.is_value() && given.is_value() && classes_.root(answer.value()) == classes_.root(given.value()));
    }
    if (passes) share(call);
  }
  /// What a call was given and what it answers may lie in one storage.
  void share(const OperatorCall& call) {
    for (const std::span<const Argument> ends : {call.inputs, call.outputs})
      for (const Argument& end : ends) graph_.for_each_value(end, [&](ValueId v) { of_[of_[v].base].may_be_shared = true; });
  }

  void note_view(ValueId v, ValueId of, NodeId n, ViewKind kind, const OperatorCall& call, std::uint32_t item) {
    if (!shows_storage(graph_, call, v)) return;
    if (kind == ViewKind::maybe_shape) kind = ViewKind::shape;
    if (kind == ViewKind::maybe_same) kind = ViewKind::same;
    if (kind == ViewKind::slice && always_same_sizes(v, of)) kind = ViewKind::same;  // all of it
    of_[v] = {.base = of_[of].base, .parent = of, .via = n, .kind = kind, .item = item, .version = of_[of_[of].base].version};
  }

  [[nodiscard]] bool refresh(const Argument& argument) {
    bool good = true;
    graph_.for_each_value(argument, [&](ValueId v) { good = good && refresh(v); });
    return good;
  }
  /// Makes the copy of a view anew if its base was written since.
  [[nodiscard]] bool refresh(ValueId v) {
    const std::uint32_t version = of_[of_[v].base].version;
    chain_.clear();
    for (ValueId at = v; of_[at].base != at && of_[at].version != version; at = of_[at].parent) chain_.push_back(at);
    while (!chain_.empty()) {
      const ValueId at = chain_.back();
      chain_.pop_back();
      of_[at].version = version;
      if (!replay(at)) return false;
    }
    return true;
  }

  [[nodiscard]] bool replay(ValueId v) {
    const Shown& shown = of_[v];
    if (shown.kind == ViewKind::same) {
      copier_.replace(v, copier_.new_value(shown.parent));
      return true;
    }
    const Node& node = graph_.nodes[shown.via];
    const OperatorCall call = operator_call(graph_, node);
    if (call.target.starts_with("aten.as_strided") || call.token != nullptr) return false;  // it shows memory, and not what lies there
    if (shown.item == no_id) {
      const std::vector<Argument> inputs = copied(call.inputs);
      emit(call.target, inputs, v, node.metadata);
      return within_budget();
    }
    std::vector<Argument> inputs{named("self", GraphBuilder::value(copier_.new_value(shown.parent)))};
    if (!append_item(inputs, v)) return false;
    emit(shown.kind == ViewKind::unbind ? "aten.select.int" : "aten.slice.Tensor", inputs, v, node.metadata);
    return within_budget();
  }

  /// Appends the arguments of select or slice that stand for one of a list of views; false if the list is not made so.
  [[nodiscard]] bool append_item(std::vector<Argument>& inputs, ValueId v) {
    const Shown& shown = of_[v];
    const operators::NodeArguments call(graph_, shown.via);
    operators::SliceView part;
    if (shown.kind == ViewKind::unbind ? operators::read_dim(call, {"dim", 1}, call.rank(shown.parent), part.dim) : operators::read_part(call, v, part)) return false;
    inputs.push_back(named("dim", GraphBuilder::integer(static_cast<std::int64_t>(part.dim))));
    if (shown.kind == ViewKind::unbind) {
      inputs.push_back(named("index", GraphBuilder::integer(shown.item)));
      return true;
    }
    inputs.push_back(named("start", GraphBuilder::integer(part.start)));
    inputs.push_back(named("end", GraphBuilder::integer(part.start + part.length)));
    return true;
  }

  /// Carries out an in-place operator on values. Source: torchgen's functionalization kernels.
  [[nodiscard]] bool write(NodeId n, const OperatorCall& call) {
    const Node& node = graph_.nodes[n];
    if (in_place(call.target) == InPlace::no) return false;  // statistics
    const bool to_out = in_place(call.target) == InPlace::out;
    const Argument* written = to_out ? argument(call, "out", static_cast<std::uint32_t>(call.inputs.size() - 1)) : self_argument(graph_, call);
    if (!call.target.starts_with("aten.") || written == nullptr || !written->is_value() || !is_tensor(written->value())) return false;
    if (call.outputs.size() != 1 || !call.outputs[0].is_value()) return false;
    const ValueId to = written->value();
    const ValueId made = call.outputs[0].value();
    if (!same_sizes(to, made)) return false;  // resize_ and others that change what self is
    const std::size_t dot = call.target.rfind('.');
    const bool is_python = call.target.substr(0, dot).ends_with("__");  // "__iand__"
    // without "aten." and "_"
    const std::string_view name = is_python ? bitwise(call.target) : call.target.substr(5, dot - (to_out ? 5 : 6));
    if (name.empty() || (to_out && !fits_out(name, call, *written))) return false;
    if (!to_out && (name == "resize" || name == "resize_as" || name == "set" || name == "requires_grad" || name == "rename")) return false;
    const Argument* source = argument(call, name == "copy" ? "src" : "value", 1);
    const bool is_fill = !to_out && (name == "zero" || name == "fill");
    if (!to_out && (name == "copy" || (name == "fill" && source != nullptr && source->is_value() && is_tensor(source->value())))) {
      if (source == nullptr || !source->is_value() || !is_tensor(source->value())) return false;
      store_copy(source->value(), to, made, node.metadata);
    } else if (is_fill) {
      Argument value = name == "zero" || source == nullptr ? GraphBuilder::integer(0) : copier_.argument(*source);
      const Argument inputs[] = {named("self", GraphBuilder::value(copier_.new_value(to))), named("fill_value", value)};
      emit("aten.full_like.default", inputs, made, node.metadata);
    } else {
      std::vector<Argument> inputs;
      for (const Argument& input : call.inputs)
        if (!to_out || &input != written) inputs.push_back(copier_.argument(input));
      if (name.ends_with("dropout") && written->name.size != 0) inputs[static_cast<std::size_t>(written - call.inputs.data())] = named("input", copier_.argument(*written));
      const std::string_view overload = call.target.substr(dot, call.target.size() - dot - (call.target.ends_with("_out") ? 4 : 0));
      Name target = to_out ? concat(call.target.substr(0, dot), overload == ".out" ? ".default" : overload)
                           : concat("aten.", name, call.target.substr(dot));
      const auto is_known = [](std::string_view op) { return !find_operator(op).empty() || !find_decomposition(op).empty(); };
      if (to_out && overload == ".out" && !is_known(target.view())) target = concat(call.target.substr(0, dot), ".Tensor");
      if (to_out && !is_known(target.view())) return false;
      const ScalarType dtype = to_out ? graph_.values[to].dtype : result_type(name, to, call);
      if (dtype == graph_.values[made].dtype) {
        emit(target.view(), inputs, made, node.metadata);
      } else {
        emit(target.view(), inputs, made, node.metadata, fresh(made).view(), dtype);
        cast(made, node.metadata);
      }
    }
    of_[made] = {.base = of_[to].base, .parent = to, .via = n, .kind = ViewKind::same};
    return assign(to, made);
  }

  /// `made` becomes the elements of `source`, with its own sizes and dtype: as they are, where they are so.
  void store_copy(ValueId source, ValueId to, ValueId made, std::uint32_t metadata) {
    copier_.replace(made, copier_.new_value(source));
    if (!same_sizes(source, made)) {
      const Argument inputs[] = {named("self", GraphBuilder::value(copier_.new_value(source))), named("size", sizes_of(to, metadata))};
      const bool casts = graph_.values[source].dtype != graph_.values[made].dtype;
      emit("aten.expand.default", inputs, made, metadata, casts ? fresh(made).view() : graph_.name(made), graph_.values[source].dtype);
    }
    if (graph_.values[source].dtype != graph_.values[made].dtype) cast(made, metadata);
  }
  /// Turns the copy of `made` into one of its own dtype.
  void cast(ValueId made, std::uint32_t metadata) {
    Argument dtype = named("dtype", GraphBuilder::scalar_type(graph_.values[made].dtype));
    dtype.keyword = 1;
    const Argument inputs[] = {named("self", GraphBuilder::value(copier_.new_value(made))), dtype};
    emit("aten._to_copy.default", inputs, made, metadata);
  }

  /// `to` has the value of `made` now, and so has what it shows of its base, and that of what it was made from.
  [[nodiscard]] bool assign(ValueId to, ValueId made) {
    if (of_[of_[to].base].may_be_shared) return false;
    const std::uint32_t version = ++of_[of_[to].base].version;
    of_[made].version = version;
    copier_.replace(to, copier_.new_value(made));
    for (ValueId at = to; of_[at].base != at; at = of_[at].parent) {
      of_[at].version = version;
      if (!scatter(at)) return false;
    }
    return within_budget();
  }

  /// Makes what a view was made from anew, with the view's elements in it. Source: ATen's FunctionalInverses.cpp.
  [[nodiscard]] bool scatter(ValueId view) {
    const Shown& shown = of_[view];
    const ValueId whole = shown.parent;
    if (shown.kind == ViewKind::same) {
      copier_.replace(whole, copier_.new_value(view));
      return true;
    }
    const Node& node = graph_.nodes[shown.via];
    const OperatorCall call = operator_call(graph_, node);
    if (call.token != nullptr) return false;
    const Argument part = GraphBuilder::value(copier_.new_value(view));
    const Argument old = named("self", GraphBuilder::value(copier_.new_value(whole)));
    std::vector<Argument> inputs;
    std::string_view target = call.target;
    switch (shown.kind) {
      case ViewKind::shape:
        inputs = {named("self", part), named("size", sizes_of(whole, node.metadata))};
        target = "aten.view.default";
        break;
      case ViewKind::transpose:
      case ViewKind::movedim:
        inputs = copied(call.inputs);
        for (std::size_t i = 0; i < inputs.size(); ++i)
          if (&call.inputs[i] == self_argument(graph_, call)) inputs[i] = named("self", part);
        if (shown.kind == ViewKind::movedim) {
          if (inputs.size() != 3) return false;
          std::swap(inputs[1].name, inputs[2].name);
          std::swap(inputs[1], inputs[2]);
        }
        break;
      case ViewKind::permute: {
        const Argument* dims = argument(call, "dims", 1);
        if (dims == nullptr || !dims->is_list()) return false;
        const std::span<const Argument> order = graph_.args(dims->items);
        std::vector<Argument> inverse(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
          const std::int64_t dim = order[i].payload < 0 ? order[i].payload + static_cast<std::int64_t>(order.size()) : order[i].payload;
          if (order[i].kind != ArgumentKind::int_ || dim < 0 || static_cast<std::size_t>(dim) >= order.size()) return false;
          inverse[static_cast<std::size_t>(dim)] = GraphBuilder::integer(static_cast<std::int64_t>(i));
        }
        inputs = {named("self", part), named("dims", copier_.builder.list(inverse, ArgumentKind::int_))};
        break;
      }
      case ViewKind::select:
      case ViewKind::slice:
      case ViewKind::diagonal:
        inputs = {old, named("src", part)};
        for (const Argument& input : call.inputs)
          if (&input != self_argument(graph_, call)) inputs.push_back(name_like(shown.kind, copier_.argument(input), &input - call.inputs.data()));
        target = shown.kind == ViewKind::select     ? "aten.select_scatter.default"
                 : shown.kind == ViewKind::diagonal ? "aten.diagonal_scatter.default"
                                                    : "aten.slice_scatter.default";
        break;
      case ViewKind::unbind:
      case ViewKind::split:
        inputs = {old, named("src", part)};
        if (!append_item(inputs, view)) return false;
        target = shown.kind == ViewKind::unbind ? "aten.select_scatter.default" : "aten.slice_scatter.default";
        break;
      default: return false;
    }
    emit(target, inputs, whole, node.metadata, fresh(whole).view(), graph_.values[whole].dtype);
    return true;
  }
  /// The name of argument `place` of select, slice or diagonal, which may have been given without one.
  [[nodiscard]] Argument name_like(ViewKind kind, Argument a, std::ptrdiff_t place) {
    constexpr std::string_view names[] = {"self", "dim", "start", "end", "step"}, of_diagonal[] = {"self", "offset", "dim1", "dim2", ""};
    if (a.name.size != 0 || place >= 5) return a;
    return named(kind == ViewKind::select && place == 2 ? "index" : kind == ViewKind::diagonal ? of_diagonal[place] : names[place], a);
  }

  /// Adds what the root graph wrote to its inputs to outputs and signature; false if one cannot be written to so.
  [[nodiscard]] bool add_mutations(std::vector<Argument>& outputs) {
    signature_ = program_.signature;
    std::ptrdiff_t at = 0, own = static_cast<std::ptrdiff_t>(outputs.size());  // its tokens and mutations; all of its outputs
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      OutputSpec& spec = signature_.output_specs[i];
      if (output_rank(kind(spec)) <= 1) at = static_cast<std::ptrdiff_t>(i) + 1;
      if (outputs[i].is_value()) rename(spec, Name::own(copier_.builder.module().view().name(outputs[i].value())));
    }
    const auto target_of = [](const auto& spec) { return target(spec) != nullptr ? target(spec)->view() : std::string_view(); };
    const NameIndex listed(program_.signature.output_specs, target_of), attributes(program_.signature.input_specs, target_of);
    const std::span<const Argument> inputs = graph_.args(graph_.root().inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].is_value() || of_[inputs[i].value()].version == 0) continue;
      const InputSpec& spec = signature_.input_specs[i];
      const TensorArgument arg{Name::own(copier_.builder.module().view().name(copier_.new_value(inputs[i].value())))};
      const Name& name = target(spec) != nullptr ? *target(spec) : arg_name(spec);
      if (listed.contains(name)) continue;  // the program says itself what it becomes
      OutputSpec mutation = UserInputMutationSpec(arg, name);
      if (kind(spec) == InputKind::buffer) mutation = BufferMutationSpec(arg, name);
      if (kind(spec) == InputKind::parameter) mutation = ParameterMutationSpec(arg, name);
      const bool tied = target(spec) != nullptr && attributes.first(name) != attributes.last(name);
      if (tied || (kind(spec) != InputKind::buffer && kind(spec) != InputKind::parameter && kind(spec) != InputKind::user_input)) return false;
      signature_.output_specs.push_back(std::move(mutation));
      outputs.push_back(GraphBuilder::value(copier_.new_value(inputs[i].value())));
    }
    const auto rotate = [&](auto& list) { std::rotate(list.begin() + at, list.begin() + own, list.end()); };
    return rotate(signature_.output_specs), rotate(outputs), true;
  }
  static void rename(OutputSpec& spec, Name name) {
    std::visit([&](auto& s) {
      if constexpr (requires { s.arg.name; }) {
        s.arg.name = std::move(name);
      } else if (auto* tensor = std::get_if<TensorArgument>(&s.arg)) {
        tensor->name = std::move(name);
      }
    }, spec);
  }
  [[nodiscard]] bool writes_to_inputs(const Graph& graph) const {
    for (const Argument& input : graph_.args(graph.inputs))
      if (input.is_value() && of_[input.value()].version != 0) return true;
    return false;
  }

  const ExportedProgram& program_;
  InPlaceWrites<> classes_;
  std::vector<ValueId> chain_;
  ExportGraphSignature signature_;
};

}  // namespace detail

}  // namespace davit
