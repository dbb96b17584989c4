// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/formats/embed/c_text.hpp"
#include "davit/formats/embed/constants.hpp"
#include "davit/formats/embed/graph_text.hpp"
#include "davit/formats/embed/numbers.hpp"
#include "davit/formats/embed/options.hpp"
#include "davit/formats/embed/refusals.hpp"
#include "davit/formats/embed/sizes.hpp"
#include "davit/formats/embed/state.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/operators/matmul.hpp"
#include "davit/program/operators/node_arguments.hpp"

namespace davit::formats {

/// The ways in which nodes read values that may be weights.
class EmbedWeights {
 public:
  /// Finds values that all their readers take as weights, possibly through a transpose; and among these the ones that
  /// mm and addmm read untransposed, [in, out], for which only the transpose is a weight. Quantized weights are left
  /// out: their layout is up to the backend. Nodes are visited from last to first, so that an output's readers are
  /// known.
  explicit EmbedWeights(GraphModuleView graph) {
    is_read_.assign(graph.values.size(), 0);
    weighs_.assign(graph.values.size(), 1);
    is_product_.assign(graph.values.size(), 0);
    for (const Argument& a : graph.args(graph.root().outputs))
      if (a.is_value()) weighs_[a.value()] = 0;
    for (NodeId n = static_cast<NodeId>(graph.nodes.size()); n-- > 0;) {
      const Node& node = graph.nodes[n];
      const std::string_view target = graph.target(node);
      const operators::MatmulOperator* const product =
          operators::find_row(operators::matmul_operators, operators::NodeArguments(graph, n));
      const bool is_product = product != nullptr && product->rank == 2;
      const std::span<const Argument> out = graph.outputs(node);
      const bool passes = (target == "aten.t.default" || target == "aten.permute.default") && out.size() == 1 &&
                          out[0].is_value() && is_weight_only(out[0].value());
      for (const Argument& a : graph.inputs(node)) {
        const std::string_view as = graph.str(a.name);
        const bool is_right = product != nullptr && as == product->right.name;
        const bool weighs =
            (as == "weight" && target.starts_with("aten.conv")) || (is_right && (product->transposed || is_product));
        graph.for_each_value(a, [&](ValueId read) {
          is_read_[read] = 1;
          if (!weighs && !passes) weighs_[read] = 0;
          if (is_right && is_product) is_product_[read] = 1;
        });
      }
    }
  }
  /// True if all readers of the value are kernels that prefer the output channel innermost.
  [[nodiscard]] bool allows_output_inner(ValueId v) const noexcept { return is_weight_only(v) && is_product_[v] == 0; }

 private:
  [[nodiscard]] bool is_weight_only(ValueId v) const noexcept { return weighs_[v] != 0 && is_read_[v] != 0; }

  std::vector<std::uint8_t> weighs_, is_product_, is_read_;  ///< per value
};

/// Writes one method of a program as the members of a StaticProgram. It adds constants to `constants`; `state` is
/// shared by all methods.
class EmbedMethod {
 public:
  EmbedMethod(const ExportedProgram& program, const EmbedOptions& options, const EmbedNumbers& numbers,
              const EmbedState& state, bool shares_state, EmbedConstants& constants)
      : program_(program),
        graph_(program.view()),
        options_(options),
        numbers_(numbers),
        state_(state),
        shares_state_(shares_state),
        constants_(constants),
        weights_(graph_),
        text_(graph_, numbers.dims(), numbers.symbols()) {}

  /// Collects inputs and outputs. Errors: features that static programs lack, and nodes that no backend takes.
  [[nodiscard]] Result<void> run() {
    if (Result<void> checked = check_functional(); !checked) return checked;
    if (options_.kernels.size() != 0)
      if (Result<void> checked = EmbedSizes(program_, numbers_, options_.kernels).check(); !checked) return checked;
    if (Result<void> listed = list_inputs(); !listed) return listed;
    if (Result<void> listed = list_outputs(); !listed) return listed;
    if (options_.select == nullptr) return {};
    return check_taken(text_.rows(), options_.select(text_.rows(), inputs_.data(), outputs_.data()));
  }
  /// Writes the members inputs, outputs and tables, and `output_N` for an output that is a number computed from sizes.
  [[nodiscard]] std::string members() const {
    return "  static constexpr std::array<davit::StaticInput, " +
           std::to_string(program_.signature.input_specs.size()) + "> inputs{\n" + rows_ +
           "  };\n  static constexpr std::array<davit::StaticOutput, " +
           std::to_string(program_.signature.output_specs.size()) + "> outputs{\n" + output_rows_ + "  };\n" +
           numbers_text_ + text_.write(options_.source_lines);
  }
  /// Describes the call: "x float32 [1, 64] -> y float32 [1, 10]".
  [[nodiscard]] std::string arguments() const {
    std::string in, out;
    const std::span<const Argument> inputs = graph_.args(graph_.root().inputs);
    const std::span<const Argument> outputs = graph_.args(graph_.root().outputs);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].is_value() && kind(program_.signature.input_specs[i]) == InputKind::user_input)
        in += (in.empty() ? "" : ", ") + text_.describe(inputs[i].value());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].is_value() && kind(program_.signature.output_specs[i]) == OutputKind::user_output)
        out += (out.empty() ? "" : ", ") + text_.describe(outputs[i].value());
    return in + " -> " + out;
  }
  /// Returns the tensors of a call, and the bytes of the arena that the compiler will plan for portable.
  [[nodiscard]] Result<std::pair<std::vector<CTensor>, std::size_t>> c_tensors() const {
    const StaticGraph graph = text_.rows();
    const PlannedProgram plan = options_.plan(graph, inputs_.data(), outputs_.data(), false);
    if (Result<void> taken = check_taken(graph, plan.selected); !taken) return error_of(taken);
    std::vector<CTensor> tensors;
    for (const StaticPort& port : plan.ports) {
      const StaticValue& value = graph.values[port.value];
      if (EmbedCText::element_type(value.dtype) == nullptr)
        return refuse_embedding(concat("value ", graph.name(port.value)), "C has no such element type", "");
      tensors.push_back({std::string(graph.name(port.value)),
                         value.dtype,
                         {graph.sizes + value.first_size, graph.sizes + value.first_size + value.rank},
                         port.is_output != 0 || port.is_mutated != 0});
    }
    return std::pair(std::move(tensors), std::size_t{plan.arena_bytes});
  }

 private:
  /// Refuses in-place writes: static programs have values, not storages.
  [[nodiscard]] Result<void> check_functional() const {
    for (NodeId n = 0; n < graph_.nodes.size(); ++n)
      if (const Node& node = graph_.nodes[n]; writes_arguments(graph_, operator_call(graph_, node)))
        return refuse_embedding(
            concat("node ", n, " (", graph_.target(node), ")"), "it writes in place, which static programs do not",
            "davit embed and prepare_program make values of such writes; a write that is left goes through a view that "
            "cannot be followed (as_strided, say): take it out of the model");
    return {};
  }
  [[nodiscard]] Result<void> list_inputs() {
    const std::span<const Argument> arguments = graph_.args(graph_.root().inputs);
    const auto& specs = program_.signature.input_specs;
    if (specs.size() != arguments.size())
      return refuse_embedding("the program", "its signature does not fit its graph", "");
    for (std::size_t i = 0; i < specs.size(); ++i) {
      inputs_.push_back({.role = StaticRole::unused});
      if (!arguments[i].is_value()) {
        rows_ += "      davit::StaticInput{.role = davit::StaticRole::unused},\n";
        continue;
      }
      const ValueId v = arguments[i].value();
      const std::string name = embed_text::identifier(graph_.name(v));
      Result<std::string> row = input_row(specs[i], v, name, text_.users(v));
      if (!row) return error_of(row);
      rows_ += "      davit::StaticInput{" + *row + "},  // " + std::to_string(i) + ": " +
               embed_text::comment(graph_.name(v)) + "\n";
    }
    return {};
  }
  /// True if this method changes that state.
  [[nodiscard]] bool is_changed(const InputSpec& spec) const {
    return std::ranges::any_of(program_.signature.output_specs, [&](const OutputSpec& output) {
      const OutputKind k = kind(output);
      return (k == OutputKind::buffer_mutation || k == OutputKind::parameter_mutation) &&
             *target(output) == *target(spec);
    });
  }
  /// Returns the text of an input's row, and appends the row to inputs_.
  [[nodiscard]] Result<std::string> input_row(const InputSpec& spec, ValueId v, const std::string& name,
                                              std::uint32_t users) {
    const Value& value = graph_.values[v];
    StaticInput& made = inputs_.back();
    const bool is_state = state_.has(spec);
    if (kind(spec) == InputKind::user_input) {
      if (value.kind != ValueKind::tensor && users == 0) return ".role = davit::StaticRole::unused";
      if (value.kind != ValueKind::tensor)
        return refuse_embedding(concat("input ", graph_.name(v)), "it is no tensor",
                                "export the model with a number there");
      made.role = StaticRole::user;
      return ".role = davit::StaticRole::user";
    }
    if (users == 0 && !(is_state && is_changed(spec))) return ".role = davit::StaticRole::unused";
    const Name* attribute = target(spec);
    const Tensor* tensor = attribute == nullptr ? nullptr : program_.tensor_named(*attribute);
    if (tensor == nullptr)
      return refuse_embedding(concat("input ", graph_.name(v)), "the program has no tensor for it", "");
    if (value.dtype != tensor->dtype || !std::ranges::equal(numbers_.sizes_of(value), tensor->sizes))
      return refuse_embedding(concat("input ", graph_.name(v)),
                              "its tensor has another element type or other sizes than the graph says", "");
    if (is_state) {
      if (embed_text::element_type(tensor->dtype).empty())
        return refuse_embedding(concat("input ", graph_.name(v)), "state of this element type cannot be embedded", "");
      const EmbeddedConstant initial = constants_.add_state(name, *tensor);
      made = {.role = StaticRole::state, .data = initial.data};
      std::string row =
          ".role = davit::StaticRole::state" + (initial.text.empty() ? std::string() : ", .data = " + initial.text);
      if (!shares_state_) return row;
      made.state_at = state_.first(spec);
      return row + ", .state_at = " + std::to_string(made.state_at);
    }
    const bool inner = options_.layout == WeightLayout::output_inner && tensor->dtype == ScalarType::float32 &&
                       tensor->sizes.size() >= 2 && weights_.allows_output_inner(v);
    made.layout = inner ? WeightLayout::output_inner : WeightLayout::contiguous;
    const EmbeddedConstant data = constants_.add(name, *tensor, made.layout), sums = constants_.add_sums(name, *tensor);
    made = {StaticRole::constant, made.layout, sums.data.count, data.data, sums.data.as<std::int32_t>()};
    std::string row = ".role = davit::StaticRole::constant";
    if (inner) row += ", .layout = davit::WeightLayout::output_inner";
    if (made.sum_count != 0) row += ", .sum_count = " + std::to_string(made.sum_count);
    row += ", .data = " + data.text;
    if (made.sum_count != 0) row += ", .sums = " + sums.text;
    return row;
  }

  /// The graph input whose new value an output is.
  [[nodiscard]] std::optional<std::size_t> mutated_input(const OutputSpec& spec) const {
    const Name* wanted = target(spec);
    for (std::size_t i = 0; i < program_.signature.input_specs.size(); ++i) {
      const InputSpec& input = program_.signature.input_specs[i];
      const bool by_name = kind(spec) == OutputKind::user_input_mutation;
      const Name* name = by_name ? &arg_name(input) : target(input);
      if (name != nullptr && wanted != nullptr && *name == *wanted && by_name == (kind(input) == InputKind::user_input))
        return i;
    }
    return std::nullopt;
  }
  [[nodiscard]] Result<void> list_outputs() {
    const std::span<const Argument> arguments = graph_.args(graph_.root().outputs);
    const auto& specs = program_.signature.output_specs;
    if (specs.size() != arguments.size())
      return refuse_embedding("the program", "its signature does not fit its graph", "");
    for (std::size_t i = 0; i < specs.size(); ++i) {
      outputs_.push_back({.role = StaticOutputRole::unused});
      if (!arguments[i].is_value() || kind(specs[i]) == OutputKind::token) {
        output_rows_ += "      davit::StaticOutput{.role = davit::StaticOutputRole::unused},\n";
        continue;
      }
      const ValueId v = arguments[i].value();
      if (graph_.values[v].kind != ValueKind::tensor) {
        const std::string number = number_of(v);
        if (number.empty())
          return refuse_embedding(concat("output ", graph_.name(v)),
                                  "it is no tensor, and no number that follows from sizes",
                                  "export the model without it");
        numbers_text_ += "  static constexpr " + number + " output_" + std::to_string(i) + " = " + value_of(v) +
                         ";  // " + embed_text::comment(graph_.name(v)) + "\n";
        output_rows_ += "      davit::StaticOutput{.role = davit::StaticOutputRole::unused},\n";
        continue;
      }
      const OutputKind k = kind(specs[i]);
      const bool mutation = k == OutputKind::buffer_mutation || k == OutputKind::parameter_mutation ||
                            k == OutputKind::user_input_mutation;
      std::string row;
      outputs_.back().role = StaticOutputRole::user;
      if (mutation) {
        const std::optional<std::size_t> input = mutated_input(specs[i]);
        if (!input)
          return refuse_embedding(concat("output ", graph_.name(v)),
                                  "the program has no input that it is the new value of", "");
        outputs_.back() = mutation_of(static_cast<std::uint32_t>(*input));
        row = ".role = davit::StaticOutputRole::mutation, .target = " + std::to_string(*input);
      }
      output_rows_ += "      davit::StaticOutput{" + row + "},  // " + std::to_string(i) + ": " +
                      embed_text::comment(graph_.name(v)) + "\n";
    }
    return {};
  }

  /// The C++ type of a number that follows from sizes; empty for other values, and if the number is unknown.
  [[nodiscard]] std::string number_of(ValueId v) const {
    const ValueKind kind = graph_.values[v].kind;
    if (kind == ValueKind::sym_float) return std::isnan(std::bit_cast<double>(numbers_.symbols()[v])) ? "" : "double";
    return kind == ValueKind::sym_int ? "std::int64_t" : kind == ValueKind::sym_bool ? "bool" : "";
  }
  [[nodiscard]] std::string value_of(ValueId v) const {
    const std::int64_t number = numbers_.symbols()[v];
    const ValueKind kind = graph_.values[v].kind;
    if (kind == ValueKind::sym_bool) return number != 0 ? "true" : "false";
    if (kind == ValueKind::sym_int) return number == INT64_MIN ? "INT64_MIN" : std::to_string(number);
    std::string out;
    embed_text::append_float(out, std::bit_cast<double>(number), "");
    return out;
  }

  const ExportedProgram& program_;
  GraphModuleView graph_;
  const EmbedOptions& options_;
  const EmbedNumbers& numbers_;
  const EmbedState& state_;
  bool shares_state_;
  EmbedConstants& constants_;
  EmbedWeights weights_;
  EmbedGraphText text_;
  std::string rows_, output_rows_, numbers_text_;
  std::vector<StaticInput> inputs_;  ///< the rows behind rows_
  std::vector<StaticOutput> outputs_;
};

}  // namespace davit::formats
