// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/graph_builder.hpp"
#include "davit/runtime/session.hpp"

/// Runs the graph of `make` as a static program and on portable at run time, with the same numbers.
namespace static_both {

using davit::GraphBuilder;
using davit::GraphModule;
using davit::ScalarType;
using davit::ValueId;

template <auto make>
class BothWays {
  using Program = davit::static_program_of<make>;
  using Module = davit::static_module<Program, davit::portable>;
  static constexpr std::size_t input_count = Program::tables.inputs.size();
  static constexpr std::size_t output_count = Program::tables.outputs.size();
  template <ValueId v>
  static constexpr auto value = Program::tables.values[v];
  template <ValueId v>
  using Elements = std::array<davit::element_of<value<v>.dtype>, static_cast<std::size_t>(value<v>.numel)>;
  template <std::size_t... I>
  static auto input_types(std::index_sequence<I...>) -> std::tuple<Elements<Program::tables.inputs[I]>...>;
  template <std::size_t... I>
  static auto output_types(std::index_sequence<I...>) -> std::tuple<Elements<Program::tables.outputs[I]>...>;

 public:
  using Inputs = decltype(input_types(std::make_index_sequence<input_count>{}));
  using Outputs = decltype(output_types(std::make_index_sequence<output_count>{}));

  /// The outputs of the static program; it must not fail.
  [[nodiscard]] static constexpr Outputs run_static(const Inputs& inputs, bool& ok) {
    Outputs outputs{};
    Module module;
    ok = std::apply(
        [&](const auto&... in) {
          return std::apply([&](auto&... out) { return module.forward(in..., out...).has_value(); }, outputs);
        },
        inputs);
    return outputs;
  }
  /// The names of outputs that differ by more than `tolerance`; "" if there are none.
  [[nodiscard]] static std::string differences(const Inputs& inputs, double tolerance = 0) {
    bool ok = false;
    const Outputs own = run_static(inputs, ok);
    if (!ok) return "the static program fails";
    davit::ExportedProgram program;
    program.graph_module = make();
    const davit::GraphModuleView graph = program.view();
    const auto names = [&](davit::Range range) {
      std::vector<davit::Name> all;
      for (const davit::Argument& a : graph.args(range)) all.push_back(davit::Name::own(graph.name(a.value())));
      return all;
    };
    for (davit::Name& name : names(graph.root().inputs))
      program.signature.input_specs.push_back(davit::UserInputSpec{davit::TensorArgument{name}});
    for (davit::Name& name : names(graph.root().outputs))
      program.signature.output_specs.push_back(davit::UserOutputSpec{davit::TensorArgument{name}});
    auto lowered = davit::to_backend<davit::portable>(program);
    if (!lowered) return davit::to_string(lowered.error());
    auto session = davit::Session::make(*lowered);
    if (!session) return davit::to_string(session.error());
    std::vector<davit::Tensor> tensors;
    const auto add = [&]<std::size_t I>() {
      constexpr auto v = value<Program::tables.inputs[I]>;
      const std::vector<std::int64_t> sizes(Program::tables.sizes.begin() + v.first_size,
                                            Program::tables.sizes.begin() + v.first_size + v.rank);
      davit::Tensor& t = tensors.emplace_back(davit::Tensor::zeros(v.dtype, sizes));
      for (std::size_t i = 0; i < std::get<I>(inputs).size(); ++i)
        t.view().template as<davit::element_of<v.dtype>>()[i] = std::get<I>(inputs)[i];
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (add.template operator()<I>(), ...);
    }(std::make_index_sequence<input_count>{});
    std::vector<davit::EValue> arguments;
    for (const davit::Tensor& t : tensors) arguments.push_back(t.view());
    auto outputs = session->run("forward", std::span<const davit::EValue>(arguments));
    if (!outputs) return davit::to_string(outputs.error());
    std::string differing;
    const auto compare = [&]<std::size_t I>() {
      constexpr auto v = value<Program::tables.outputs[I]>;
      const davit::TensorView& t = (*outputs)[I]->tensor();
      bool same = t.dtype == v.dtype && t.numel() == v.numel;
      for (std::size_t i = 0; same && i < std::get<I>(own).size(); ++i) {
        const auto a = static_cast<double>(std::get<I>(own)[i]);
        const auto b = static_cast<double>(t.as<davit::element_of<v.dtype>>()[i]);
        same = a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance * (1 + std::abs(b));
      }
      if (!same) differing += "output " + std::to_string(I) + " ";
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (compare.template operator()<I>(), ...);
    }(std::make_index_sequence<output_count>{});
    return differing;
  }
};

/// Makes the outputs of a graph, one node each: out00, out01, ...
class Outputs {
 public:
  constexpr explicit Outputs(GraphBuilder& b) : b_(&b) {}
  constexpr ValueId add(std::string_view target, ScalarType type, std::initializer_list<std::int64_t> sizes,
                        std::initializer_list<davit::Arg> arguments) {
    const auto n = static_cast<char>(made_.size());
    const std::array<char, 5> name{'o', 'u', 't', static_cast<char>('0' + n / 10), static_cast<char>('0' + n % 10)};
    made_.push_back(b_->call(target, arguments, {name.data(), name.size()}, type, sizes));
    return made_.back();
  }
  constexpr void end() {
    std::vector<davit::Argument> all;
    for (const ValueId v : made_) all.push_back(GraphBuilder::value(v));
    b_->end_graph(all);
  }

 private:
  GraphBuilder* b_;
  std::vector<ValueId> made_;
};

}  // namespace static_both
