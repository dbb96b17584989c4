// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/tensor_view.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// One argument for GraphBuilder::call: its name in the operator's schema and its value.
struct Arg {
  std::string_view name;
  Argument argument;
};

/// Builds the tables of a program's graphs: on the host, in constant evaluation, and in file readers.
///
/// Open a graph with begin_graph, fill it, and close it with end_graph; open and close sub-graphs while the outer graph
/// is open. The first graph is the root. Declare values before nodes use or define them. The builder checks nothing:
/// see verify().
template <class = void>
class BasicGraphBuilder {
 public:
  constexpr BasicGraphBuilder() = default;

  // -- texts, dims and expressions ------------------------------------------------------------------------------
  /// Appends a text. O(size).
  constexpr Text text(std::string_view s) {
    const Text t{static_cast<std::uint32_t>(module_.text.size()), static_cast<std::uint32_t>(s.size())};
    module_.text.insert(module_.text.end(), s.begin(), s.end());
    return t;
  }
  constexpr ExprId expr(Expr e) {
    module_.exprs.push_back(e);
    return static_cast<ExprId>(module_.exprs.size() - 1);
  }
  /// Returns the symbol of that name; equal names give equal expressions. O(symbols).
  constexpr ExprId symbol(std::string_view name) {
    for (const ExprId id : symbols_)
      if (module_.view().str(module_.exprs[id].name) == name) return id;
    symbols_.push_back(expr({.op = ExprOp::symbol, .name = text(name)}));
    return symbols_.back();
  }
  constexpr Range dims(std::span<const Dim> list) {
    const Range r{static_cast<std::uint32_t>(module_.dims.size()), static_cast<std::uint32_t>(list.size())};
    module_.dims.insert(module_.dims.end(), list.begin(), list.end());
    return r;
  }

  // -- graphs ---------------------------------------------------------------------------------------------------
  constexpr GraphId begin_graph(std::string_view name = {}) {
    const auto id = static_cast<GraphId>(module_.graphs.size());
    module_.graphs.push_back({.name = text(name)});
    open_.push_back({.id = id, .inputs = {}, .nodes = {}, .values = {}});
    return id;
  }
  /// Closes the innermost open graph with these outputs.
  constexpr void end_graph(std::span<const Argument> outputs, bool is_single_tensor_return = false) {
    Open open = std::move(open_.back());
    open_.pop_back();
    Graph& graph = module_.graphs[open.id];
    const auto first = static_cast<std::uint32_t>(module_.nodes.size());
    graph.inputs = append(open.inputs);
    graph.outputs = append(outputs);
    graph.nodes = {first, static_cast<std::uint32_t>(open.nodes.size())};
    graph.is_single_tensor_return = is_single_tensor_return ? 1 : 0;
    module_.nodes.insert(module_.nodes.end(), open.nodes.begin(), open.nodes.end());
    for (const auto& [value, local_node] : open.values) module_.values[value].producer = first + local_node;
  }
  constexpr void end_graph(std::initializer_list<ValueId> outputs, bool is_single_tensor_return = false) {
    std::vector<Argument> list;
    for (const ValueId v : outputs) list.push_back(value(v));
    end_graph(std::span<const Argument>(list), is_single_tensor_return);
  }

  // -- values ---------------------------------------------------------------------------------------------------
  /// Declares a value of the innermost open graph. `v.name`, sizes and so on refer to this builder's tables.
  constexpr ValueId declare(Value v) {
    v.graph = open_.back().id;
    module_.values.push_back(v);
    return static_cast<ValueId>(module_.values.size() - 1);
  }
  /// Declares a contiguous tensor value.
  constexpr ValueId tensor(std::string_view name, ScalarType dtype, std::span<const std::int64_t> sizes) {
    std::vector<std::int64_t> strides(sizes.size(), 0);
    contiguous_strides(sizes, strides);
    std::vector<Dim> sized(sizes.size());
    std::vector<Dim> strided(sizes.size());
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      sized[d].value = sizes[d];
      strided[d].value = strides[d];
    }
    return declare(
        {.name = text(name), .sizes = dims(sized), .strides = dims(strided), .device = cpu(), .dtype = dtype});
  }
  constexpr ValueId tensor(std::string_view name, ScalarType dtype, std::initializer_list<std::int64_t> sizes) {
    return tensor(name, dtype, std::span<const std::int64_t>(sizes.begin(), sizes.size()));
  }
  /// Adds an input to the innermost open graph.
  constexpr void input(Argument argument) { open_.back().inputs.push_back(argument); }
  /// Declares a contiguous tensor value and makes it an input of the innermost open graph.
  constexpr ValueId input(std::string_view name, ScalarType dtype, std::initializer_list<std::int64_t> sizes) {
    const ValueId v = tensor(name, dtype, sizes);
    input(value(v));
    return v;
  }

  // -- arguments ------------------------------------------------------------------------------------------------
  [[nodiscard]] static constexpr Argument value(ValueId v) noexcept {
    return {.payload = v, .kind = ArgumentKind::value};
  }
  [[nodiscard]] static constexpr Argument integer(std::int64_t i) noexcept {
    return {.payload = i, .kind = ArgumentKind::int_};
  }
  [[nodiscard]] static constexpr Argument real(double d) noexcept {
    return {.payload = std::bit_cast<std::int64_t>(d), .kind = ArgumentKind::float_};
  }
  [[nodiscard]] static constexpr Argument boolean(bool b) noexcept {
    return {.payload = b ? 1 : 0, .kind = ArgumentKind::bool_};
  }
  [[nodiscard]] static constexpr Argument none() noexcept { return {}; }
  [[nodiscard]] static constexpr Argument scalar_type(ScalarType t) noexcept {
    return {.payload = static_cast<std::int64_t>(t), .kind = ArgumentKind::scalar_type};
  }
  [[nodiscard]] static constexpr Argument subgraph(GraphId g) noexcept {
    return {.payload = g, .kind = ArgumentKind::graph};
  }
  /// A string, device or operator argument.
  constexpr Argument string(std::string_view s, ArgumentKind kind = ArgumentKind::string) {
    const Text t = text(s);
    return {.items = {t.first, t.size}, .kind = kind};
  }
  constexpr Argument list(std::span<const Argument> items, ArgumentKind element) {
    return {.items = append(items), .kind = ArgumentKind::list, .element = element};
  }
  constexpr Argument ints(std::initializer_list<std::int64_t> numbers) {
    std::vector<Argument> items;
    for (const std::int64_t n : numbers) items.push_back(integer(n));
    return list(items, ArgumentKind::int_);
  }
  constexpr Argument tensors(std::initializer_list<ValueId> values) {
    std::vector<Argument> items;
    for (const ValueId v : values) items.push_back(value(v));
    return list(items, ArgumentKind::value);
  }

  // -- nodes ----------------------------------------------------------------------------------------------------
  /// Adds a node whose outputs define declared values; `inputs` have their parameter names. Amortised O(arguments).
  constexpr void node(std::string_view target, std::span<const Argument> inputs, std::span<const Argument> outputs,
                      std::uint32_t metadata = no_id) {
    Open& open = open_.back();
    Node n{.target = intern(target),
           .inputs = append(inputs),
           .outputs = append(outputs),
           .metadata = metadata,
           .graph = open.id};
    const auto local = static_cast<std::uint32_t>(open.nodes.size());
    for (const Argument& output : outputs)
      module_.view().for_each_value(output, [&](ValueId v) { open.values.push_back({v, local}); });
    open.nodes.push_back(n);
  }
  /// Adds a node with one output, a contiguous tensor of that name, dtype and sizes.
  constexpr ValueId call(std::string_view target, std::initializer_list<Arg> inputs, std::string_view output,
                         ScalarType dtype, std::initializer_list<std::int64_t> sizes, std::uint32_t metadata = no_id) {
    const ValueId out = tensor(output, dtype, sizes);
    std::vector<Argument> arguments;
    for (const Arg& a : inputs) {
      arguments.push_back(a.argument);
      arguments.back().name = intern(a.name);
    }
    const Argument outputs[] = {value(out)};
    node(target, arguments, outputs, metadata);
    return out;
  }
  /// Adds a row of node metadata. `merged`: an earlier row, of a node merged into this one.
  constexpr std::uint32_t metadata(std::string_view stack_trace, std::string_view nn_module_stack = {},
                                   std::string_view source_fn_stack = {}, std::string_view torch_fn = {},
                                   std::string_view custom = {}, std::uint32_t merged = no_id) {
    module_.metadata.push_back(
        {text(stack_trace), text(nn_module_stack), text(source_fn_stack), text(torch_fn), text(custom), merged});
    return static_cast<std::uint32_t>(module_.metadata.size() - 1);
  }

  /// Returns a text that is stored only once (targets, argument names). Expected O(size).
  constexpr Text intern(std::string_view s) {
    if (s.empty()) return {};
    if (interned_.size() < 2 * (interned_count_ + 1)) grow_interned();
    std::size_t at = slot(s);
    if (interned_[at].size != 0) return interned_[at];
    ++interned_count_;
    return interned_[at] = text(s);
  }

  [[nodiscard]] constexpr const GraphModule& module() const noexcept { return module_; }
  [[nodiscard]] constexpr GraphModule& module() noexcept { return module_; }
  /// Moves the tables out; every graph must be closed.
  [[nodiscard]] constexpr GraphModule finish() && { return std::move(module_); }

 private:
  struct Definition {
    ValueId value;
    std::uint32_t node;
  };
  struct Open {
    GraphId id;
    std::vector<Argument> inputs;
    std::vector<Node> nodes;
    std::vector<Definition> values;
  };

  constexpr Range append(std::span<const Argument> list) {
    const Range r{static_cast<std::uint32_t>(module_.arguments.size()), static_cast<std::uint32_t>(list.size())};
    module_.arguments.insert(module_.arguments.end(), list.begin(), list.end());
    return r;
  }
  constexpr Text cpu() { return intern("cpu"); }
  [[nodiscard]] constexpr std::size_t slot(std::string_view s) const noexcept {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : s) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    std::size_t at = static_cast<std::size_t>(hash) & (interned_.size() - 1);
    while (interned_[at].size != 0 && module_.view().str(interned_[at]) != s) at = (at + 1) & (interned_.size() - 1);
    return at;
  }
  constexpr void grow_interned() {
    const std::vector<Text> old = std::exchange(interned_, {});
    interned_.resize(old.empty() ? 16 : 2 * old.size());
    for (const Text t : old)
      if (t.size != 0) interned_[slot(module_.view().str(t))] = t;
  }

  GraphModule module_;
  std::vector<Open> open_;
  std::vector<ExprId> symbols_;
  std::vector<Text> interned_;
  std::size_t interned_count_ = 0;
};

using GraphBuilder = BasicGraphBuilder<>;

}  // namespace davit
