// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/detail/functional_writer.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/node_arguments.hpp"
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

}  // namespace davit::detail
