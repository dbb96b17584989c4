// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "davit/backend/static_constant.hpp"
#include "davit/backend/static_rows.hpp"
#include "davit/core/tensor_view.hpp"

namespace davit {

/// A program as a type: its tables are static members. `davit embed` writes such types; small ones can be written by
/// hand on `static_program_of`. One row of `inputs` per graph input, one of `outputs` per graph output; sizes are
/// numbers. If an input's data lies in the blob there is also `static const std::byte* weights() noexcept`, aligned to
/// 16 bytes.
template <class P>
concept StaticProgram = requires {
  { P::name } -> std::convertible_to<std::string_view>;
  { P::tables.view() } -> std::same_as<StaticGraph>;
  { P::inputs.size() } -> std::convertible_to<std::size_t>;
  { P::inputs[0] } -> std::convertible_to<StaticInput>;
  { P::outputs.size() } -> std::convertible_to<std::size_t>;
  { P::outputs[0] } -> std::convertible_to<StaticOutput>;
};

/// The methods of a program with several: each is a StaticProgram, and all share one state and one blob of weights.
///
///     struct counter {
///       static constexpr std::string_view name = "counter";
///       using methods = davit::static_methods<add, read>;  // shared_state(0, ...) stands for the same state in both
///     };
///
/// Calls are `module.call<add>(...)`; davit embed also writes `template <class Module> struct calls`, a base of the
/// module with a function for each.
template <class... Methods>
struct static_methods {
  static constexpr std::size_t count = sizeof...(Methods);
};

/// A program with several methods.
template <class P>
concept HasStaticMethods = requires { typename P::methods; };

/// A method whose sizes come with the call: a StaticProgram for each allowed size, over one state and one blob. Each
/// has `static constexpr std::array<std::int64_t, N> symbols`, the values of the symbols that determine its sizes.
///
///     struct tagger {
///       static constexpr std::string_view name = "tagger";
///       using sizes = davit::static_sizes<tagger_of<1>, tagger_of<2>, tagger_of<3>>;
///     };
///
/// A call selects one: `module.forward(davit::with_dims(2), x, y)`. `davit embed --dim s0=1..3` writes such a type.
template <class... Programs>
struct static_sizes {
  static constexpr std::size_t count = sizeof...(Programs);
};

/// The values of a method's symbols, in the order of the --dim options with several values.
template <std::size_t N>
struct StaticDims {
  std::array<std::int64_t, N> numbers;
};
template <std::convertible_to<std::int64_t>... Numbers>
[[nodiscard]] constexpr StaticDims<sizeof...(Numbers)> with_dims(Numbers... numbers) noexcept {
  return {{static_cast<std::int64_t>(numbers)...}};
}

/// A method with several sizes.
template <class P>
concept HasStaticSizes = requires { typename P::sizes; };

namespace detail {

/// True if the data of a constant or a state has exactly the elements of the graph's value, padded by its layout.
[[nodiscard]] constexpr bool data_fits(const StaticGraph& graph, const StaticInput& input, ValueId v) noexcept {
  if (input.role != StaticRole::constant && input.role != StaticRole::state) return true;
  if (v == no_id || v >= graph.value_count) return false;
  const StaticValue& value = graph.values[v];
  const std::int64_t outputs = value.rank == 0 ? 1 : graph.sizes[value.first_size];
  if (input.sum_count != 0 && input.sum_count != outputs) return false;
  if (input.data.place == ConstantData::Place::none) return input.role == StaticRole::state || value.numel == 0;
  if (input.data.dtype != value.dtype) return false;
  if (input.layout == WeightLayout::contiguous || value.numel == 0) return input.data.count == value.numel;
  return value.rank >= 2 && input.data.count == value.numel / outputs * ((outputs + 7) / 8 * 8);
}

/// True if a value's number of elements is the product of its sizes, and not too large for a plan.
[[nodiscard]] constexpr bool sizes_fit(const StaticGraph& graph, const StaticValue& value) noexcept {
  return value.numel == checked_numel({graph.sizes + value.first_size, value.rank}, INT32_MAX / 16);
}

/// The first graph input of a static program with data of the wrong size, or the first value with inconsistent sizes;
/// no_id if there is none.
template <class P>
[[nodiscard]] consteval std::uint32_t input_with_wrong_data() {
  constexpr StaticGraph graph = P::tables.view();
  for (std::uint32_t i = 0; i < P::inputs.size(); ++i)
    if (!data_fits(graph, P::inputs[i], graph.inputs[i])) return i;
  return no_id;
}
template <class P>
[[nodiscard]] consteval ValueId value_with_wrong_sizes() {
  constexpr StaticGraph graph = P::tables.view();
  for (ValueId v = 0; v < graph.value_count; ++v)
    if (!sizes_fit(graph, graph.values[v])) return v;
  return no_id;
}

/// The rows of the graph that `make` builds, as arrays. `make` runs three times.
template <auto make>
struct FrozenRows {
  struct Counts {
    std::size_t text, sizes, values, inputs, outputs, arguments, nodes, strings, graphs;
  };
  static constexpr Counts n = [] {
    const GraphModule module = make();
    const StaticGraphRows rows(module.view());
    return Counts{rows.text.size(),   rows.sizes.size(),   rows.values.size(),
                  rows.inputs.size(), rows.outputs.size(), rows.arguments.size(),
                  rows.nodes.size(),  rows.strings.size(), rows.graphs.size()};
  }();
  static constexpr auto text = [] {
    std::array<char, n.text + 1> all{};
    const GraphModule module = make();
    const StaticGraphRows rows(module.view());
    for (std::size_t i = 0; i < n.text; ++i) all[i] = rows.text[i];
    return all;
  }();
  static constexpr auto tables = [] {
    const GraphModule module = make();
    const StaticGraphRows rows(module.view());
    StaticGraphTables<n.sizes, n.values, n.inputs, n.outputs, n.arguments, n.nodes, n.strings, n.graphs> all{};
    const auto kept = [&](const char* name) { return text.data() + (name - rows.text.data()); };
    std::copy_n(rows.sizes.data(), n.sizes, all.sizes.data());
    std::copy_n(rows.values.data(), n.values, all.values.data());
    std::copy_n(rows.inputs.data(), n.inputs, all.inputs.data());
    std::copy_n(rows.outputs.data(), n.outputs, all.outputs.data());
    std::copy_n(rows.arguments.data(), n.arguments, all.arguments.data());
    std::copy_n(rows.nodes.data(), n.nodes, all.nodes.data());
    std::copy_n(rows.graphs.data(), n.graphs, all.graphs.data());
    for (StaticValue& value : all.values) value.name = kept(value.name);
    for (StaticArgument& argument : all.arguments) argument.name = kept(argument.name);
    for (StaticNode& node : all.nodes) node.target = kept(node.target);
    for (std::size_t i = 0; i < n.strings; ++i) all.strings[i] = kept(rows.strings[i]);
    all.has_literals = false;
    return all;
  }();
};

}  // namespace detail

/// The graph that `make`, a constexpr function, builds with a GraphBuilder, as a static program whose inputs and
/// outputs all belong to the caller. To change that, derive from it and hide `inputs` or `outputs`:
///
///     struct scaled : davit::static_program_of<make_scaled> {
///       static constexpr std::string_view name = "scaled";
///       static constexpr std::array inputs{davit::constant_input(weight), davit::user_input()};
///     };
template <auto make>
struct static_program_of {
  static constexpr std::string_view name = "program";
  static constexpr auto tables = detail::FrozenRows<make>::tables;
  static constexpr std::array<StaticInput, tables.inputs.size()> inputs{};
  static constexpr std::array<StaticOutput, tables.outputs.size()> outputs{};
};

}  // namespace davit
