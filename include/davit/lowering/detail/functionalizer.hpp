// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "davit/lowering/detail/functional_writer.hpp"
#include "davit/program/in_place_writes.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/verify_signature.hpp"
#include "davit/program/views.hpp"

namespace davit::detail {

/// Writes a view's elements back into the tensor that it is a view of.
class FunctionalViews {
 public:
  explicit FunctionalViews(FunctionalWriter& writer) : w_(writer) {}

  /// Appends the arguments of the select or slice that makes one view of a list (unbind, split); false for other lists.
  [[nodiscard]] bool append_item(std::vector<Argument>& inputs, ValueId v) {
    const FunctionalWriter::Shown& shown = w_.shown[v];
    const operators::NodeArguments call(w_.graph, shown.via);
    operators::SliceView part;
    if (shown.kind == ViewKind::unbind ? operators::read_dim(call, {"dim", 1}, call.rank(shown.parent), part.dim)
                                       : operators::read_part(call, v, part))
      return false;
    inputs.push_back(w_.named("dim", GraphBuilder::integer(static_cast<std::int64_t>(part.dim))));
    if (shown.kind == ViewKind::unbind) {
      inputs.push_back(w_.named("index", GraphBuilder::integer(shown.item)));
      return true;
    }
    inputs.push_back(w_.named("start", GraphBuilder::integer(part.start)));
    inputs.push_back(w_.named("end", GraphBuilder::integer(part.start + part.length)));
    return true;
  }

  /// select(x, 0, 1) = y -> x' = select_scatter(x, y, 0, 1), and so for each kind of view.
  /// Source: ATen's FunctionalInverses.cpp.
  [[nodiscard]] bool scatter(ValueId view) {
    const FunctionalWriter::Shown& shown = w_.shown[view];
    const ValueId whole = shown.parent;
    if (shown.kind == ViewKind::same) {
      w_.copier.replace(whole, w_.copier.new_value(view));
      return true;
    }
    const Node& node = w_.graph.nodes[shown.via];
    const OperatorCall call = operator_call(w_.graph, node);
    if (call.token != nullptr) return w_.keep(view);
    const Argument part = GraphBuilder::value(w_.copier.new_value(view));
    const Argument old = w_.named("self", GraphBuilder::value(w_.copier.new_value(whole)));
    std::vector<Argument> inputs;
    std::string_view target = call.target;
    switch (shown.kind) {
      case ViewKind::shape:
        inputs = {w_.named("self", part), w_.named("size", w_.sizes_of(whole, node.metadata))};
        target = "aten.view.default";
        break;
      case ViewKind::transpose:
      case ViewKind::movedim:
        inputs = w_.copied(call.inputs);
        for (std::size_t i = 0; i < inputs.size(); ++i)
          if (&call.inputs[i] == self_argument(w_.graph, call)) inputs[i] = w_.named("self", part);
        if (shown.kind == ViewKind::movedim) {
          if (inputs.size() != 3) return w_.keep(view);
          std::swap(inputs[1].name, inputs[2].name);
          std::swap(inputs[1], inputs[2]);
        }
        break;
      case ViewKind::permute: {
        const Argument* dims = w_.argument(call, "dims", 1);
        if (dims == nullptr || !dims->is_list()) return w_.keep(view);
        const std::span<const Argument> order = w_.graph.args(dims->items);
        std::vector<Argument> inverse(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
          const std::int64_t dim =
              order[i].payload < 0 ? order[i].payload + static_cast<std::int64_t>(order.size()) : order[i].payload;
          if (order[i].kind != ArgumentKind::int_ || dim < 0 || static_cast<std::size_t>(dim) >= order.size())
            return w_.keep(view);
          inverse[static_cast<std::size_t>(dim)] = GraphBuilder::integer(static_cast<std::int64_t>(i));
        }
        inputs = {w_.named("self", part), w_.named("dims", w_.copier.builder.list(inverse, ArgumentKind::int_))};
        break;
      }
      case ViewKind::select:
      case ViewKind::slice:
      case ViewKind::diagonal:
        inputs = {old, w_.named("src", part)};
        for (const Argument& input : call.inputs)
          if (&input != self_argument(w_.graph, call))
            inputs.push_back(name_like(shown.kind, w_.copier.argument(input), &input - call.inputs.data()));
        target = shown.kind == ViewKind::select     ? "aten.select_scatter.default"
                 : shown.kind == ViewKind::diagonal ? "aten.diagonal_scatter.default"
                                                    : "aten.slice_scatter.default";
        break;
      case ViewKind::unbind:
      case ViewKind::split:
        inputs = {old, w_.named("src", part)};
        if (!append_item(inputs, view)) return w_.keep(view);
        target = shown.kind == ViewKind::unbind ? "aten.select_scatter.default" : "aten.slice_scatter.default";
        break;
      default:
        if (!scatter_places(call, view, whole, node.metadata, inputs, target) &&
            !scatter_numbers(call.target, view, whole, node.metadata, inputs, target))
          return w_.keep(view);
    }
    w_.emit(target, inputs, whole, node.metadata, w_.fresh(whole).view(), w_.graph.values[whole].dtype);
    return true;
  }
  /// scatter for unfold(x) of fixed sizes: x' = put(x, unfold(arange), y).
  [[nodiscard]] bool scatter_places(const OperatorCall& call, ValueId view, ValueId whole, std::uint32_t metadata,
                                    std::vector<Argument>& inputs, std::string_view& target) {
    std::int64_t count = 1;
    for (const ValueId v : {whole, view})
      for (const Dim& d : w_.graph.dims_of(w_.graph.values[v].sizes))
        if (!d.is_static() || (v == whole && __builtin_mul_overflow(count, d.value, &count))) return false;
    if (call.target != "aten.unfold.default") return false;
    const ValueId old = w_.copier.new_value(whole), part = w_.copier.new_value(view);
    const Dim sizes[] = {{count}}, strides[] = {{1}};
    const Name name = w_.fresh(whole);
    const ValueId line = w_.copier.builder.declare({.name = w_.copier.builder.text(name.view()),
                                                    .sizes = w_.copier.builder.dims(sizes),
                                                    .strides = w_.copier.builder.dims(strides),
                                                    .dtype = ScalarType::int64});
    const Argument range[] = {w_.named("start", GraphBuilder::integer(0)),
                              w_.named("end", GraphBuilder::integer(count))},
                   made[] = {GraphBuilder::value(line)};
    w_.copier.builder.node("aten.arange.start_step", range, made, w_.copier.metadata(metadata));
    inputs = {w_.named("self", GraphBuilder::value(line)), w_.named("size", w_.sizes_of(whole, metadata))};
    w_.emit("aten.view.default", inputs, whole, metadata, w_.fresh(whole).view(), ScalarType::int64);
    inputs = w_.copied(call.inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (&call.inputs[i] == self_argument(w_.graph, call))
        inputs[i] = w_.named("self", GraphBuilder::value(w_.copier.new_value(whole)));
    w_.emit(call.target, inputs, view, metadata, w_.fresh(view).view(), ScalarType::int64);
    inputs = {w_.named("self", GraphBuilder::value(old)),
              w_.named("index", GraphBuilder::value(w_.copier.new_value(view))),
              w_.named("source", GraphBuilder::value(part))};
    w_.copier.replace(whole, old);
    w_.copier.replace(view, part);
    target = "aten.put.default";
    return true;
  }
  /// scatter for views of another dtype: view.dtype, view_as_real, real, imag.
  [[nodiscard]] bool scatter_numbers(std::string_view call, ValueId view, ValueId whole, std::uint32_t metadata,
                                     std::vector<Argument>& inputs, std::string_view& target) {
    const ValueId part = w_.copier.new_value(view);
    const auto named_part = [&](std::string_view name) { return w_.named(name, GraphBuilder::value(part)); };
    if (call == "aten.view.dtype") {
      inputs = {named_part("self"), w_.named("dtype", GraphBuilder::scalar_type(w_.graph.values[whole].dtype))};
      return true;
    }
    inputs = {named_part("self")};
    target = call == "aten.view_as_real.default" ? "aten.view_as_complex.default" : "aten.view_as_real.default";
    if (call == "aten.view_as_real.default" || call == "aten.view_as_complex.default") return true;
    const bool is_real = call == "aten.real.default";
    if (!is_real && call != "aten.imag.default") return false;
    const Argument old[] = {w_.named("self", GraphBuilder::value(w_.copier.new_value(whole)))};
    w_.emit(is_real ? "aten.imag.default" : "aten.real.default", old, view, metadata, true);
    const Argument other = GraphBuilder::value(w_.copier.new_value(view));
    w_.copier.replace(view, part);
    inputs = {is_real ? named_part("real") : w_.named("real", other),
              is_real ? w_.named("imag", other) : named_part("imag")};
    target = "aten.complex.default";
    return true;
  }
  /// Names argument `place` of select, slice or diagonal if the program gives it by position.
  [[nodiscard]] Argument name_like(ViewKind kind, Argument a, std::ptrdiff_t place) {
    constexpr std::string_view names[] = {"self", "dim", "start", "end", "step"},
                               of_diagonal[] = {"self", "offset", "dim1", "dim2", ""};
    if (a.name.size != 0 || place >= 5) return a;
    return w_.named(kind == ViewKind::select && place == 2 ? "index"
                    : kind == ViewKind::diagonal           ? of_diagonal[place]
                                                           : names[place],
                    a);
  }

  FunctionalWriter& w_;
};

/// Rewrites a program without in-place operators. A storage is still written in place, by a copy_ of the new value, if
/// aliases are known only at run time, as_strided views it, or a sub-graph writes to it as an operand.
class Functionalizer {
 public:
  explicit Functionalizer(const ExportedProgram& program)
      : w_(program.view()),
        views_(w_),
        program_(program),
        classes_(program.view()),
        kept_(program.view().values.size(), 0),
        shared_(kept_),
        escapes_(kept_) {
    for (const Graph& graph : w_.graph.graphs)
      w_.for_each_tensor(w_.graph.args(graph.outputs), [&](ValueId v) { escapes_[classes_.root(v)] = 1; });
  }

  [[nodiscard]] std::optional<ExportedProgram> run() {
    const std::vector<FunctionalWriter::Shown> unseen = w_.shown;
    for (std::size_t attempt = 0;; ++attempt) {
      w_.culprit = no_id;
      if (write_graphs()) break;
      if (w_.culprit == no_id || keeps(w_.culprit)) return std::nullopt;
      kept_[classes_.root(w_.culprit)] = 1;
      if (attempt == 30) std::ranges::fill(kept_, 1);
      std::ranges::copy(unseen, w_.shown.begin());
      w_.restart();
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
    out.graph_module = std::exchange(w_.copier.builder, {}).finish();
    return out;
  }

 private:
  [[nodiscard]] bool write_graphs() {
    w_.copier.begin();
    for (GraphId g = 0; g < w_.graph.graphs.size(); ++g) {
      const Graph& graph = w_.graph.graphs[g];
      w_.copier.builder.begin_graph(w_.graph.str(graph.name));
      for (const Argument& input : w_.graph.args(graph.inputs)) w_.copier.builder.input(w_.copier.argument(input));
      for (NodeId n = graph.nodes.first; n < graph.nodes.first + graph.nodes.count; ++n)
        if (!step(n)) return false;
      std::vector<Argument> outputs;
      for (const Argument& output : w_.graph.args(graph.outputs)) {
        if (!refresh(output)) return false;
        outputs.push_back(w_.copier.argument(output));
      }
      if (g == root_graph ? !add_mutations(outputs) : !writes_no_input(graph)) return false;
      w_.copier.builder.end_graph(std::span<const Argument>(outputs), graph.is_single_tensor_return != 0);
    }
    return true;
  }
  [[nodiscard]] bool keeps(ValueId v) noexcept { return kept_[classes_.root(v)] != 0; }

  [[nodiscard]] bool step(NodeId n) {
    const Node& node = w_.graph.nodes[n];
    const OperatorCall call = operator_call(w_.graph, node);
    for (const Argument& input : w_.graph.inputs(node))
      if (!refresh(input)) return false;
    const ViewKind kind = view_kind(w_.graph, call);
    if (writes_arguments(w_.graph, call)) return write(n, call);
    if (call.target.starts_with("aten.as_strided.") &&
        kind != ViewKind::none)  // as_strided reads the memory, not the current value
      if (const Argument* self = self_argument(w_.graph, call);
          self != nullptr && classes_.is_written(self->value()) && !keeps(self->value()))
        return w_.keep(self->value());
    w_.copier.node(n);
    note_control_flow(call);
    if (kind == ViewKind::unknown)
      for (const std::span<const Argument> ends : {call.inputs, call.outputs})
        w_.for_each_tensor(ends, [&](ValueId v) { shared_[classes_.root(v)] = 1; });
    const Argument* self =
        kind == ViewKind::none || kind == ViewKind::unknown ? nullptr : self_argument(w_.graph, call);
    if (self == nullptr || !w_.is_tensor(self->value())) return true;
    std::uint32_t item = 0;
    for (const Argument& output : call.outputs)
      w_.graph.for_each_value(
          output, [&](ValueId v) { note_view(v, self->value(), n, kind, call, output.is_list() ? item++ : no_id); });
    return true;
  }

  /// A result of control flow may alias an operand: a loop without iterations returns its operands.
  void note_control_flow(const OperatorCall& call) {
    if (std::ranges::find(call.inputs, ArgumentKind::graph, &Argument::kind) == call.inputs.end()) return;
    std::vector<ValueId> given;
    w_.for_each_tensor(call.inputs, [&](ValueId v) { given.push_back(classes_.root(v)); });
    std::ranges::sort(given);
    w_.for_each_tensor(call.outputs, [&](ValueId v) {
      if (std::ranges::binary_search(given, classes_.root(v))) shared_[classes_.root(v)] = 1;
    });
  }

  void note_view(ValueId v, ValueId of, NodeId n, ViewKind kind, const OperatorCall& call, std::uint32_t item) {
    if (!shows_storage(w_.graph, call, v) || keeps(v)) return;
    if (kind == ViewKind::maybe_shape) kind = ViewKind::shape;
    if (kind == ViewKind::maybe_same) kind = ViewKind::same;
    if (kind == ViewKind::slice && w_.always_same_sizes(v, of)) kind = ViewKind::same;  // the whole tensor
    if (call.target.starts_with("aten.expand") || call.target.starts_with("aten.broadcast_to."))
      kind = w_.always_same_sizes(v, of) ? ViewKind::same : w_.only_adds_ones(v, of) ? ViewKind::shape : kind;
    if (call.target == "aten.real.default" && !is_complex(w_.graph.values[of].dtype)) kind = ViewKind::same;
    w_.shown[v] = {.base = w_.shown[of].base,
                   .parent = of,
                   .via = n,
                   .kind = kind,
                   .item = item,
                   .version = w_.shown[w_.shown[of].base].version};
  }

  [[nodiscard]] bool refresh(const Argument& argument) {
    bool good = true;
    w_.graph.for_each_value(argument, [&](ValueId v) { good = good && refresh(v); });
    return good;
  }
  /// Recomputes a view if its base was written since.
  [[nodiscard]] bool refresh(ValueId v) {
    const std::uint32_t version = w_.shown[w_.shown[v].base].version;
    chain_.clear();
    for (ValueId at = v; w_.shown[at].base != at && w_.shown[at].version != version; at = w_.shown[at].parent)
      chain_.push_back(at);
    while (!chain_.empty()) {
      const ValueId at = chain_.back();
      chain_.pop_back();
      w_.shown[at].version = version;
      if (!replay(at)) return false;
    }
    return true;
  }

  [[nodiscard]] bool replay(ValueId v) {
    const FunctionalWriter::Shown& shown = w_.shown[v];
    if (shown.kind == ViewKind::same) {
      w_.copier.replace(v, w_.copier.new_value(shown.parent));
      return true;
    }
    const Node& node = w_.graph.nodes[shown.via];
    const OperatorCall call = operator_call(w_.graph, node);
    if (call.token != nullptr) return w_.keep(v);
    if (shown.item == no_id) {
      const std::vector<Argument> inputs = w_.copied(call.inputs);
      w_.emit(call.target, inputs, v, node.metadata);
      return w_.within_budget() || w_.keep(v);
    }
    std::vector<Argument> inputs{w_.named("self", GraphBuilder::value(w_.copier.new_value(shown.parent)))};
    if (!views_.append_item(inputs, v)) return w_.keep(v);
    w_.emit(shown.kind == ViewKind::unbind ? "aten.select.int" : "aten.slice.Tensor", inputs, v, node.metadata);
    return w_.within_budget() || w_.keep(v);
  }

  /// add_(x, y) -> x' = add(x, y), with copy_(x, x') if x is written in place. Source: torchgen's functionalization
  /// kernels.
  [[nodiscard]] bool write(NodeId n, const OperatorCall& call) {
    std::vector<const Argument*> written;
    for_each_written(w_.graph, call, [&](const Argument& argument) { written.push_back(&argument); });
    if (written.empty()) return false;
    for (const Argument* to : written)
      if (!to->is_value() || !w_.is_tensor(to->value())) return false;
    bool kept = false;
    for (const Argument* to : written) kept = kept || keeps(to->value());
    for (const Argument* to : written)
      if (kept && !keeps(to->value())) return w_.keep(to->value());
    if (call.token == nullptr && write_values(n, call, written, kept)) return true;
    if (w_.culprit != no_id) return false;
    if (!kept) return w_.keep(written[0]->value());
    w_.copier.node(n);
    return true;
  }
  /// Returns false if the operator has no functional form (nothing is added then), or if `w_.culprit` is set.
  [[nodiscard]] bool write_values(NodeId n, const OperatorCall& call, std::span<const Argument* const> written,
                                  bool kept) {
    const Node& node = w_.graph.nodes[n];
    const InPlace form = in_place(call.target);
    if (form == InPlace::no || !call.target.starts_with("aten.") || call.outputs.size() != written.size())
      return false;                                   // InPlace::no: running statistics
    for (std::size_t i = 0; i < written.size(); ++i)  // some overloads return other tensors
      if (!call.outputs[i].is_value() || !w_.is_tensor(call.outputs[i].value()) ||
          !w_.same_sizes(written[i]->value(), call.outputs[i].value()))
        return false;
    const Name target = functional_form(call.target);
    if (target.view().empty() ||
        (form == InPlace::self &&
         w_.is_one_of(w_.operator_name(target.view()), {"rename", "requires_grad", "resize", "resize_as", "set"})))
      return false;
    const ValueId to = written[0]->value(), made = call.outputs[0].value();
    const Argument* source = w_.argument(call, call.target.starts_with("aten.copy_.") ? "src" : "value", 1);
    const bool is_fill = call.target.starts_with("aten.fill_.") || call.target.starts_with("aten.zero_.");
    if (call.target.starts_with("aten.copy_.") ||
        (is_fill && source != nullptr && source->is_value() && w_.is_tensor(source->value()))) {
      if (source == nullptr || !source->is_value() || !w_.is_tensor(source->value())) return false;
      if (kept)
        w_.copier.replace(made, w_.copier.new_value(source->value()));
      else
        store_copy(source->value(), to, made, node.metadata);
    } else if (is_fill) {
      const Argument value = source == nullptr ? GraphBuilder::integer(0) : w_.copier.argument(*source);
      const Argument inputs[] = {w_.named("self", GraphBuilder::value(w_.copier.new_value(to))),
                                 w_.named("fill_value", value)};
      w_.emit("aten.full_like.default", inputs, made, node.metadata, kept);
    } else {
      if (form == InPlace::out && !w_.is_known(target.view())) return false;
      std::vector<Argument> inputs;
      std::vector<ScalarType> types;
      for (const Argument& input : call.inputs)
        if (form == InPlace::self || std::ranges::find(written, &input) == written.end())
          inputs.push_back(w_.copier.argument(input));
      for (std::size_t i = 0; i < written.size(); ++i) {
        const std::optional<ScalarType> type = form == InPlace::out ? w_.out_type(target.view(), call, written, i)
                                                                    : w_.result_type(target.view(), to, call);
        if (!type) return false;
        types.push_back(*type);
      }
      if (form == InPlace::out && facts_of(target.view()).result == ResultRule::dtype_argument && !w_.has_dtype(call))
        inputs.push_back(w_.of_dtype(types[0]));
      if (target.view().ends_with("dropout.default") && written[0]->name.size != 0)
        inputs[static_cast<std::size_t>(written[0] - call.inputs.data())] =
            w_.named("input", w_.copier.argument(*written[0]));
      w_.emit(target.view(), inputs, call.outputs, types, node.metadata, kept);
    }
    for (std::size_t i = 0; i < written.size(); ++i)
      if (!store(written[i]->value(), call.outputs[i].value(), n, kept)) return false;
    return true;
  }
  /// Stores the value of `made` in `to`; `made` becomes a view of it.
  [[nodiscard]] bool store(ValueId to, ValueId made, NodeId n, bool kept) {
    if (!kept) {
      w_.shown[made] = {.base = w_.shown[to].base, .parent = to, .via = n, .kind = ViewKind::same};
      return assign(to, made);
    }
    const Argument inputs[] = {w_.named("self", GraphBuilder::value(w_.copier.new_value(to))),
                               w_.named("src", GraphBuilder::value(w_.copier.new_value(made)))};
    w_.emit("aten.copy_.default", inputs, made, w_.graph.nodes[n].metadata);
    return true;
  }
  /// copy_(to, source): `made` becomes `source` with the sizes and the dtype of `to`. `source` is cloned if it may be
  /// written later, or if a graph returns the storage of `to`. (simplify drops clones that no caller can see.)
  void store_copy(ValueId source, ValueId to, ValueId made, std::uint32_t metadata) {
    const bool casts = w_.graph.values[source].dtype != w_.graph.values[made].dtype;
    const bool clones = !casts && (keeps(source) || escapes_[classes_.root(to)] != 0);
    const auto self = [&] { return w_.named("self", GraphBuilder::value(w_.copier.new_value(made))); };
    w_.copier.replace(made, w_.copier.new_value(source));
    if (!w_.same_sizes(source, made)) {
      const Argument inputs[] = {self(), w_.named("size", w_.sizes_of(to, metadata))};
      w_.emit("aten.expand.default", inputs, made, metadata,
              casts || clones ? w_.fresh(made).view() : w_.graph.name(made), w_.graph.values[source].dtype);
    }
    if (casts) w_.cast(made, metadata);
    if (!clones) return;
    const Argument inputs[] = {self()};
    w_.emit("aten.clone.default", inputs, made, metadata);
  }

  /// Gives `to` the value of `made`, and scatters it into the tensors that `to` is a view of, up to the base.
  [[nodiscard]] bool assign(ValueId to, ValueId made) {
    if (shared_[classes_.root(to)] != 0) return w_.keep(to);
    const std::uint32_t version = ++w_.shown[w_.shown[to].base].version;
    w_.shown[made].version = version;
    w_.copier.replace(to, w_.copier.new_value(made));
    for (ValueId at = to; w_.shown[at].base != at; at = w_.shown[at].parent) {
      w_.shown[at].version = version;
      if (!views_.scatter(at)) return false;
    }
    return w_.within_budget() || w_.keep(to);
  }

  /// Adds the written inputs of the root graph as mutations to outputs and signature; returns false if an input cannot
  /// be mutated.
  [[nodiscard]] bool add_mutations(std::vector<Argument>& outputs) {
    signature_ = program_.signature;
    std::ptrdiff_t at = 0,
                   own =
                       static_cast<std::ptrdiff_t>(outputs.size());  // tokens and mutations; in sub-graphs all outputs
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      OutputSpec& spec = signature_.output_specs[i];
      if (output_rank(kind(spec)) <= 1) at = static_cast<std::ptrdiff_t>(i) + 1;
      if (outputs[i].is_value()) rename(spec, Name::own(w_.copier.builder.module().view().name(outputs[i].value())));
    }
    const auto target_of = [](const auto& spec) {
      return target(spec) != nullptr ? target(spec)->view() : std::string_view();
    };
    const NameIndex listed(program_.signature.output_specs, target_of),
        attributes(program_.signature.input_specs, target_of);
    const std::span<const Argument> inputs = w_.graph.args(w_.graph.root().inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].is_value() || w_.shown[inputs[i].value()].version == 0) continue;
      const InputSpec& spec = signature_.input_specs[i];
      const TensorArgument arg{
          Name::own(w_.copier.builder.module().view().name(w_.copier.new_value(inputs[i].value())))};
      const Name& name = target(spec) != nullptr ? *target(spec) : arg_name(spec);
      if (listed.contains(name)) continue;  // the program's signature lists this mutation already
      OutputSpec mutation = UserInputMutationSpec(arg, name);
      if (kind(spec) == InputKind::buffer) mutation = BufferMutationSpec(arg, name);
      if (kind(spec) == InputKind::parameter) mutation = ParameterMutationSpec(arg, name);
      const bool tied = target(spec) != nullptr && attributes.first(name) != attributes.last(name);
      if (tied || (kind(spec) != InputKind::buffer && kind(spec) != InputKind::parameter &&
                   kind(spec) != InputKind::user_input))
        return w_.keep(inputs[i].value());
      signature_.output_specs.push_back(std::move(mutation));
      outputs.push_back(GraphBuilder::value(w_.copier.new_value(inputs[i].value())));
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
    for (const Argument& input : w_.graph.args(graph.inputs))
      if (input.is_value() && w_.shown[input.value()].version != 0) return w_.keep(input.value());
    return true;
  }

  FunctionalWriter w_;
  FunctionalViews views_;
  const ExportedProgram& program_;
  InPlaceWrites<> classes_;
  std::vector<std::uint8_t> kept_;     ///< per class: it is written in place
  std::vector<std::uint8_t> shared_;   ///< per class: whether its values share a storage is known only at run time
  std::vector<std::uint8_t> escapes_;  ///< per class: a graph returns one of its values
  std::vector<ValueId> chain_;
  ExportGraphSignature signature_;
};

}  // namespace davit::detail
