// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/impl/functional_writer.ipp"
#include "davit/program/operator_call.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/views.hpp"

namespace davit::detail {

/// Writes what a view shows back into what it was made from.
class FunctionalViews : protected FunctionalWriter {
 protected:
  using FunctionalWriter::FunctionalWriter;

  /// What lies in the storage of `v` stays there, and is written in place.
  [[nodiscard]] bool keep(ValueId v) noexcept {
    culprit_ = v;
    return false;
  }

  /// Appends the arguments of select or slice that stand for one of a list of views; false if the list is not made so.
  [[nodiscard]] bool append_item(std::vector<Argument>& inputs, ValueId v) {
    const Shown& shown = of_[v];
    const operators::NodeArguments call(graph_, shown.via);
    operators::SliceView part;
    if (shown.kind == ViewKind::unbind ? operators::read_dim(call, {"dim", 1}, call.rank(shown.parent), part.dim)
                                       : operators::read_part(call, v, part))
      return false;
    inputs.push_back(named("dim", GraphBuilder::integer(static_cast<std::int64_t>(part.dim))));
    if (shown.kind == ViewKind::unbind) {
      inputs.push_back(named("index", GraphBuilder::integer(shown.item)));
      return true;
    }
    inputs.push_back(named("start", GraphBuilder::integer(part.start)));
    inputs.push_back(named("end", GraphBuilder::integer(part.start + part.length)));
    return true;
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
    if (call.token != nullptr) return keep(view);
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
          if (inputs.size() != 3) return keep(view);
          std::swap(inputs[1].name, inputs[2].name);
          std::swap(inputs[1], inputs[2]);
        }
        break;
      case ViewKind::permute: {
        const Argument* dims = argument(call, "dims", 1);
        if (dims == nullptr || !dims->is_list()) return keep(view);
        const std::span<const Argument> order = graph_.args(dims->items);
        std::vector<Argument> inverse(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
          const std::int64_t dim =
              order[i].payload < 0 ? order[i].payload + static_cast<std::int64_t>(order.size()) : order[i].payload;
          if (order[i].kind != ArgumentKind::int_ || dim < 0 || static_cast<std::size_t>(dim) >= order.size())
            return keep(view);
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
          if (&input != self_argument(graph_, call))
            inputs.push_back(name_like(shown.kind, copier_.argument(input), &input - call.inputs.data()));
        target = shown.kind == ViewKind::select     ? "aten.select_scatter.default"
                 : shown.kind == ViewKind::diagonal ? "aten.diagonal_scatter.default"
                                                    : "aten.slice_scatter.default";
        break;
      case ViewKind::unbind:
      case ViewKind::split:
        inputs = {old, named("src", part)};
        if (!append_item(inputs, view)) return keep(view);
        target = shown.kind == ViewKind::unbind ? "aten.select_scatter.default" : "aten.slice_scatter.default";
        break;
      default:
        if (!scatter_places(call, view, whole, node.metadata, inputs, target) &&
            !scatter_numbers(call.target, view, whole, node.metadata, inputs, target))
          return keep(view);
    }
    emit(target, inputs, whole, node.metadata, fresh(whole).view(), graph_.values[whole].dtype);
    return true;
  }
  /// The same for windows of a tensor of fixed sizes: those of a tensor of places say where their elements go.
  [[nodiscard]] bool scatter_places(const OperatorCall& call, ValueId view, ValueId whole, std::uint32_t metadata,
                                    std::vector<Argument>& inputs, std::string_view& target) {
    std::int64_t count = 1;
    for (const ValueId v : {whole, view})
      for (const Dim& d : graph_.dims_of(graph_.values[v].sizes))
        if (!d.is_static() || (v == whole && __builtin_mul_overflow(count, d.value, &count))) return false;
    if (call.target != "aten.unfold.default") return false;
    const ValueId old = copier_.new_value(whole), part = copier_.new_value(view);
    const Dim sizes[] = {{count}}, strides[] = {{1}};
    const Name name = fresh(whole);
    const ValueId line = copier_.builder.declare({.name = copier_.builder.text(name.view()),
                                                  .sizes = copier_.builder.dims(sizes),
                                                  .strides = copier_.builder.dims(strides),
                                                  .dtype = ScalarType::int64});
    const Argument range[] = {named("start", GraphBuilder::integer(0)), named("end", GraphBuilder::integer(count))},
                   made[] = {GraphBuilder::value(line)};
    copier_.builder.node("aten.arange.start_step", range, made, copier_.metadata(metadata));
    inputs = {named("self", GraphBuilder::value(line)), named("size", sizes_of(whole, metadata))};
    emit("aten.view.default", inputs, whole, metadata, fresh(whole).view(), ScalarType::int64);
    inputs = copied(call.inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (&call.inputs[i] == self_argument(graph_, call))
        inputs[i] = named("self", GraphBuilder::value(copier_.new_value(whole)));
    emit(call.target, inputs, view, metadata, fresh(view).view(), ScalarType::int64);
    inputs = {named("self", GraphBuilder::value(old)), named("index", GraphBuilder::value(copier_.new_value(view))),
              named("source", GraphBuilder::value(part))};
    copier_.replace(whole, old);
    copier_.replace(view, part);
    target = "aten.put.default";
    return true;
  }
  /// The same for views of the numbers in another form.
  [[nodiscard]] bool scatter_numbers(std::string_view call, ValueId view, ValueId whole, std::uint32_t metadata,
                                     std::vector<Argument>& inputs, std::string_view& target) {
    const ValueId part = copier_.new_value(view);
    const auto named_part = [&](std::string_view name) { return named(name, GraphBuilder::value(part)); };
    if (call == "aten.view.dtype") {
      inputs = {named_part("self"), named("dtype", GraphBuilder::scalar_type(graph_.values[whole].dtype))};
      return true;
    }
    inputs = {named_part("self")};
    target = call == "aten.view_as_real.default" ? "aten.view_as_complex.default" : "aten.view_as_real.default";
    if (call == "aten.view_as_real.default" || call == "aten.view_as_complex.default") return true;
    const bool is_real = call == "aten.real.default";
    if (!is_real && call != "aten.imag.default") return false;
    const Argument old[] = {named("self", GraphBuilder::value(copier_.new_value(whole)))};
    emit(is_real ? "aten.imag.default" : "aten.real.default", old, view, metadata, true);
    const Argument other = GraphBuilder::value(copier_.new_value(view));
    copier_.replace(view, part);
    inputs = {is_real ? named_part("real") : named("real", other), is_real ? named("imag", other) : named_part("imag")};
    target = "aten.complex.default";
    return true;
  }
  /// The name of argument `place` of select, slice or diagonal, which may have been given without one.
  [[nodiscard]] Argument name_like(ViewKind kind, Argument a, std::ptrdiff_t place) {
    constexpr std::string_view names[] = {"self", "dim", "start", "end", "step"},
                               of_diagonal[] = {"self", "offset", "dim1", "dim2", ""};
    if (a.name.size != 0 || place >= 5) return a;
    return named(kind == ViewKind::select && place == 2 ? "index"
                 : kind == ViewKind::diagonal           ? of_diagonal[place]
                                                        : names[place],
                 a);
  }

  ValueId culprit_ = no_id;  ///< why a form on values was not found
};

}  // namespace davit::detail
