// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "davit/lowering/impl/functional_views.ipp"
#include "davit/program/in_place_writes.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/verify_signature.hpp"
#include "davit/program/views.hpp"

namespace davit {

namespace detail {

/// Writes a program anew, without in-place operators. What cannot become values (the run alone tells whether it lies in
/// the storage of another; it is shown by as_strided; a sub-graph writes to its operand) stays where it lies, and takes
/// copies of new values.
class Functionalizer : FunctionalViews {
 public:
  explicit Functionalizer(const ExportedProgram& program)
      : FunctionalViews(program.view()),
        program_(program),
        classes_(program.view()),
        kept_(program.view().values.size(), 0),
        shared_(kept_),
        escapes_(kept_) {
    for (const Graph& graph : graph_.graphs)
      for_each_tensor(graph_.args(graph.outputs), [&](ValueId v) { escapes_[classes_.root(v)] = 1; });
  }

  [[nodiscard]] std::optional<ExportedProgram> run() {
    const std::vector<Shown> unseen = of_;
    for (std::size_t attempt = 0;; ++attempt) {
      culprit_ = no_id;
      if (write_graphs()) break;
      if (culprit_ == no_id || keeps(culprit_)) return std::nullopt;
      kept_[classes_.root(culprit_)] = 1;
      if (attempt == 30) std::ranges::fill(kept_, 1);
      std::ranges::copy(unseen, of_.begin());
      restart();
    }
    ExportedProgram out;
    out.signature = std::move(signature_);
    out.state_dict = program_.state_dict;
    out.constants = program_.constants;
    out.custom_objects = program_.custom_objects;
    out.range_constraints = program_.range_constraints;
    out.guards = program_.guards;
    out.module_call_graph = program_.module_call_graph;
    out.opset_version = program_.opset_version;
    out.schema_major = program_.schema_major;
    out.schema_minor = program_.schema_minor;
    out.dialect = program_.dialect;
    out.torch_version = program_.torch_version;
    out.example_inputs = program_.example_inputs;
    out.graph_module = std::exchange(copier_.builder, {}).finish();
    return out;
  }

 private:
  [[nodiscard]] bool write_graphs() {
    copier_.begin();
    for (GraphId g = 0; g < graph_.graphs.size(); ++g) {
      const Graph& graph = graph_.graphs[g];
      copier_.builder.begin_graph(graph_.str(graph.name));
      for (const Argument& input : graph_.args(graph.inputs)) copier_.builder.input(copier_.argument(input));
      for (NodeId n = graph.nodes.first; n < graph.nodes.first + graph.nodes.count; ++n)
        if (!step(n)) return false;
      std::vector<Argument> outputs;
      for (const Argument& output : graph_.args(graph.outputs)) {
        if (!refresh(output)) return false;
        outputs.push_back(copier_.argument(output));
      }
      if (g == root_graph ? !add_mutations(outputs) : !writes_no_input(graph)) return false;
      copier_.builder.end_graph(std::span<const Argument>(outputs), graph.is_single_tensor_return != 0);
    }
    return true;
  }
  [[nodiscard]] bool keeps(ValueId v) noexcept { return kept_[classes_.root(v)] != 0; }

  [[nodiscard]] bool step(NodeId n) {
    const Node& node = graph_.nodes[n];
    const OperatorCall call = operator_call(graph_, node);
    for (const Argument& input : graph_.inputs(node))
      if (!refresh(input)) return false;
    const ViewKind kind = view_kind(graph_, call);
    if (writes_arguments(graph_, call)) return write(n, call);
    if (call.target.starts_with("aten.as_strided.") &&
        kind != ViewKind::none)  // it shows memory, and not what lies there
      if (const Argument* self = self_argument(graph_, call);
          self != nullptr && classes_.is_written(self->value()) && !keeps(self->value()))
        return keep(self->value());
    copier_.node(n);
    note_control_flow(call);
    if (kind == ViewKind::unknown)
      for (const std::span<const Argument> ends : {call.inputs, call.outputs})
        for_each_tensor(ends, [&](ValueId v) { shared_[classes_.root(v)] = 1; });
    const Argument* self = kind == ViewKind::none || kind == ViewKind::unknown ? nullptr : self_argument(graph_, call);
    if (self == nullptr || !is_tensor(self->value())) return true;
    std::uint32_t item = 0;
    for (const Argument& output : call.outputs)
      graph_.for_each_value(
          output, [&](ValueId v) { note_view(v, self->value(), n, kind, call, output.is_list() ? item++ : no_id); });
    return true;
  }

  /// What a call of control flow answers may be what it was given: a loop without iterations does so, and a branch may.
  void note_control_flow(const OperatorCall& call) {
    if (std::ranges::find(call.inputs, ArgumentKind::graph, &Argument::kind) == call.inputs.end()) return;
    std::vector<ValueId> given;
    for_each_tensor(call.inputs, [&](ValueId v) { given.push_back(classes_.root(v)); });
    std::ranges::sort(given);
    for_each_tensor(call.outputs, [&](ValueId v) {
      if (std::ranges::binary_search(given, classes_.root(v))) shared_[classes_.root(v)] = 1;
    });
  }

  void note_view(ValueId v, ValueId of, NodeId n, ViewKind kind, const OperatorCall& call, std::uint32_t item) {
    if (!shows_storage(graph_, call, v) || keeps(v)) return;
    if (kind == ViewKind::maybe_shape) kind = ViewKind::shape;
    if (kind == ViewKind::maybe_same) kind = ViewKind::same;
    if (kind == ViewKind::slice && always_same_sizes(v, of)) kind = ViewKind::same;  // all of it
    if (call.target.starts_with("aten.expand") || call.target.starts_with("aten.broadcast_to."))
      kind = always_same_sizes(v, of) ? ViewKind::same : only_adds_ones(v, of) ? ViewKind::shape : kind;
    if (call.target == "aten.real.default" && !is_complex(graph_.values[of].dtype)) kind = ViewKind::same;
    of_[v] = {
        .base = of_[of].base, .parent = of, .via = n, .kind = kind, .item = item, .version = of_[of_[of].base].version};
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
    if (call.token != nullptr) return keep(v);
    if (shown.item == no_id) {
      const std::vector<Argument> inputs = copied(call.inputs);
      emit(call.target, inputs, v, node.metadata);
      return within_budget() || keep(v);
    }
    std::vector<Argument> inputs{named("self", GraphBuilder::value(copier_.new_value(shown.parent)))};
    if (!append_item(inputs, v)) return keep(v);
    emit(shown.kind == ViewKind::unbind ? "aten.select.int" : "aten.slice.Tensor", inputs, v, node.metadata);
    return within_budget() || keep(v);
  }

  /// Carries out an operator that writes on values, or on values and a copy to where they lie. Source: torchgen's
  /// functionalization kernels.
  [[nodiscard]] bool write(NodeId n, const OperatorCall& call) {
    std::vector<const Argument*> written;
    for_each_written(graph_, call, [&](const Argument& argument) { written.push_back(&argument); });
    if (written.empty()) return false;
    for (const Argument* to : written)
      if (!to->is_value() || !is_tensor(to->value())) return false;
    bool kept = false;
    for (const Argument* to : written) kept = kept || keeps(to->value());
    for (const Argument* to : written)
      if (kept && !keeps(to->value())) return keep(to->value());
    if (call.token == nullptr && write_values(n, call, written, kept)) return true;
    if (culprit_ != no_id) return false;
    if (!kept) return keep(written[0]->value());
    copier_.node(n);
    return true;
  }
  /// False if it has no form on values, and then has added nothing, or if `culprit_` is set.
  [[nodiscard]] bool write_values(NodeId n, const OperatorCall& call, std::span<const Argument* const> written,
                                  bool kept) {
    const Node& node = graph_.nodes[n];
    const InPlace form = in_place(call.target);
    if (form == InPlace::no || !call.target.starts_with("aten.") || call.outputs.size() != written.size())
      return false;                                   // no: statistics
    for (std::size_t i = 0; i < written.size(); ++i)  // some change them
      if (!call.outputs[i].is_value() || !is_tensor(call.outputs[i].value()) ||
          !same_sizes(written[i]->value(), call.outputs[i].value()))
        return false;
    const Name target = functional_form(call.target);
    if (target.view().empty() ||
        (form == InPlace::self &&
         is_one_of(operator_name(target.view()), {"rename", "requires_grad", "resize", "resize_as", "set"})))
      return false;
    const ValueId to = written[0]->value(), made = call.outputs[0].value();
    const Argument* source = argument(call, call.target.starts_with("aten.copy_.") ? "src" : "value", 1);
    const bool is_fill = call.target.starts_with("aten.fill_.") || call.target.starts_with("aten.zero_.");
    if (call.target.starts_with("aten.copy_.") ||
        (is_fill && source != nullptr && source->is_value() && is_tensor(source->value()))) {
      if (source == nullptr || !source->is_value() || !is_tensor(source->value())) return false;
      if (kept)
        copier_.replace(made, copier_.new_value(source->value()));
      else
        store_copy(source->value(), to, made, node.metadata);
    } else if (is_fill) {
      const Argument value = source == nullptr ? GraphBuilder::integer(0) : copier_.argument(*source);
      const Argument inputs[] = {named("self", GraphBuilder::value(copier_.new_value(to))), named("fill_value", value)};
      emit("aten.full_like.default", inputs, made, node.metadata, kept);
    } else {
      if (form == InPlace::out && !is_known(target.view())) return false;
      std::vector<Argument> inputs;
      std::vector<ScalarType> types;
      for (const Argument& input : call.inputs)
        if (form == InPlace::self || std::ranges::find(written, &input) == written.end())
          inputs.push_back(copier_.argument(input));
      for (std::size_t i = 0; i < written.size(); ++i) {
        const std::optional<ScalarType> type =
            form == InPlace::out ? out_type(target.view(), call, written, i) : result_type(target.view(), to, call);
        if (!type) return false;
        types.push_back(*type);
      }
      if (form == InPlace::out && facts_of(target.view()).result == ResultRule::as_asked && !has_dtype(call))
        inputs.push_back(of_dtype(types[0]));
      if (target.view().ends_with("dropout.default") && written[0]->name.size != 0)
        inputs[static_cast<std::size_t>(written[0] - call.inputs.data())] =
            named("input", copier_.argument(*written[0]));
      emit(target.view(), inputs, call.outputs, types, node.metadata, kept);
    }
    for (std::size_t i = 0; i < written.size(); ++i)
      if (!store(written[i]->value(), call.outputs[i].value(), n, kept)) return false;
    return true;
  }
  /// What `made` has a value for now is stored in `to`, and `made` shows that.
  [[nodiscard]] bool store(ValueId to, ValueId made, NodeId n, bool kept) {
    if (!kept) {
      of_[made] = {.base = of_[to].base, .parent = to, .via = n, .kind = ViewKind::same};
      return assign(to, made);
    }
    const Argument inputs[] = {named("self", GraphBuilder::value(copier_.new_value(to))),
                               named("src", GraphBuilder::value(copier_.new_value(made)))};
    emit("aten.copy_.default", inputs, made, graph_.nodes[n].metadata);
    return true;
  }
  /// `made` becomes the elements of `source`, with its own sizes and dtype: `source` itself, unless that may be written
  /// later, or a graph answers the storage of `to`, which is not that of `source`. (simplify drops the clones that
  /// nobody outside can see.)
  void store_copy(ValueId source, ValueId to, ValueId made, std::uint32_t metadata) {
    const bool casts = graph_.values[source].dtype != graph_.values[made].dtype;
    const bool clones = !casts && (keeps(source) || escapes_[classes_.root(to)] != 0);
    const auto self = [&] { return named("self", GraphBuilder::value(copier_.new_value(made))); };
    copier_.replace(made, copier_.new_value(source));
    if (!same_sizes(source, made)) {
      const Argument inputs[] = {self(), named("size", sizes_of(to, metadata))};
      emit("aten.expand.default", inputs, made, metadata, casts || clones ? fresh(made).view() : graph_.name(made),
           graph_.values[source].dtype);
    }
    if (casts) cast(made, metadata);
    if (!clones) return;
    const Argument inputs[] = {self()};
    emit("aten.clone.default", inputs, made, metadata);
  }

  /// `to` has the value of `made` now, and so has what it shows of its base, and that of what it was made from.
  [[nodiscard]] bool assign(ValueId to, ValueId made) {
    if (shared_[classes_.root(to)] != 0) return keep(to);
    const std::uint32_t version = ++of_[of_[to].base].version;
    of_[made].version = version;
    copier_.replace(to, copier_.new_value(made));
    for (ValueId at = to; of_[at].base != at; at = of_[at].parent) {
      of_[at].version = version;
      if (!scatter(at)) return false;
    }
    return within_budget() || keep(to);
  }

  /// Adds what the root graph wrote to its inputs to outputs and signature; false if one cannot be written to so.
  [[nodiscard]] bool add_mutations(std::vector<Argument>& outputs) {
    signature_ = program_.signature;
    std::ptrdiff_t at = 0,
                   own = static_cast<std::ptrdiff_t>(outputs.size());  // its tokens and mutations; all of its outputs
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      OutputSpec& spec = signature_.output_specs[i];
      if (output_rank(kind(spec)) <= 1) at = static_cast<std::ptrdiff_t>(i) + 1;
      if (outputs[i].is_value()) rename(spec, Name::own(copier_.builder.module().view().name(outputs[i].value())));
    }
    const auto target_of = [](const auto& spec) {
      return target(spec) != nullptr ? target(spec)->view() : std::string_view();
    };
    const NameIndex listed(program_.signature.output_specs, target_of),
        attributes(program_.signature.input_specs, target_of);
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
      if (tied || (kind(spec) != InputKind::buffer && kind(spec) != InputKind::parameter &&
                   kind(spec) != InputKind::user_input))
        return keep(inputs[i].value());
      signature_.output_specs.push_back(std::move(mutation));
      outputs.push_back(GraphBuilder::value(copier_.new_value(inputs[i].value())));
    }
    const auto rotate = [&](auto& list) { std::rotate(list.begin() + at, list.begin() + own, list.end()); };
    return rotate(signature_.output_specs), rotate(outputs), true;
  }
  static void rename(OutputSpec& spec, Name name) {
    std::visit(
        [&](auto& s) {
          if constexpr (requires { s.arg.name; }) {
            s.arg.name = std::move(name);
          } else if (auto* tensor = std::get_if<TensorArgument>(&s.arg)) {
            tensor->name = std::move(name);
          }
        },
        spec);
  }
  [[nodiscard]] bool writes_no_input(const Graph& graph) {
    for (const Argument& input : graph_.args(graph.inputs))
      if (input.is_value() && of_[input.value()].version != 0) return keep(input.value());
    return true;
  }

  const ExportedProgram& program_;
  InPlaceWrites<> classes_;
  std::vector<std::uint8_t> kept_;    ///< per class: it stays where it lies, and is written there
  std::vector<std::uint8_t> shared_;  ///< per class: its values may lie in one storage or not, which only the run knows
  std::vector<std::uint8_t> escapes_;  ///< per class: a graph answers one of its values
  std::vector<ValueId> chain_;
  ExportGraphSignature signature_;
};

}  // namespace detail

}  // namespace davit
