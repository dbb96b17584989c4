// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../programs.hpp"
#include "davit/core/contiguous.hpp"

/// Common helpers of several tests.
namespace support {

using Sizes = std::initializer_list<std::int64_t>;

/// An operand of a drafted node: a value or a number.
struct Operand {
  davit::Argument argument;
  constexpr Operand(davit::ValueId v) noexcept : argument(davit::GraphBuilder::value(v)) {}
  constexpr Operand(double number) noexcept : argument(davit::GraphBuilder::real(number)) {}
};

/// Writes programs of float tensors: inputs in torch's order, nodes, then outputs. Outputs are sorted as torch sorts
/// them.
class Draft {
 public:
  davit::GraphBuilder b;
  davit::ProgramTables program;

  constexpr Draft() { b.begin_graph(); }

  constexpr davit::ValueId user(std::string_view name, Sizes sizes = {}) {
    program.signature.input_specs.push_back(davit::UserInputSpec{davit::TensorArgument{davit::Name::own(name)}});
    return b.input(name, davit::ScalarType::float32, sizes);
  }
  /// A user input whose only size is an expression.
  constexpr davit::ValueId user(std::string_view name, davit::ExprId size, std::int64_t example = 4) {
    program.signature.input_specs.push_back(davit::UserInputSpec{davit::TensorArgument{davit::Name::own(name)}});
    const davit::ValueId v = sized(name, size, example);
    b.input(davit::GraphBuilder::value(v));
    return v;
  }
  /// A value of the innermost graph whose only size is an expression.
  constexpr davit::ValueId sized(std::string_view name, davit::ExprId size, std::int64_t example = 4,
                                 davit::ScalarType dtype = davit::ScalarType::float32) {
    const davit::Dim dims[] = {{.value = example, .expr = size}};
    const davit::Dim strides[] = {{.value = 1}};
    return b.declare({.name = b.text(name), .sizes = b.dims(dims), .strides = b.dims(strides), .dtype = dtype});
  }
  constexpr davit::ValueId token(std::string_view name) {
    program.signature.input_specs.push_back(davit::InputTokenSpec{davit::TokenArgument{davit::Name::own(name)}});
    const davit::ValueId v = new_token(name);
    b.input(davit::GraphBuilder::value(v));
    return v;
  }
  /// @name Parameters, buffers and constants, one element each unless a tensor is given. The input has its target's
  /// name.
  davit::ValueId parameter(std::string_view name, davit::Tensor tensor) {
    program.signature.input_specs.push_back(
        davit::InputToParameterSpec({davit::Name::own(name)}, davit::Name::own(name)));
    return attribute(name, program.state_dict, std::move(tensor));
  }
  davit::ValueId parameter(std::string_view name, float value) { return parameter(name, programs::scalar(value)); }
  davit::ValueId buffer(std::string_view name, davit::Tensor tensor) {
    program.signature.input_specs.push_back(
        davit::InputToBufferSpec({davit::Name::own(name)}, davit::Name::own(name), true));
    return attribute(name, program.state_dict, std::move(tensor));
  }
  davit::ValueId buffer(std::string_view name, float value, bool persistent = true) {
    program.signature.input_specs.push_back(
        davit::InputToBufferSpec({davit::Name::own(name)}, davit::Name::own(name), persistent));
    return attribute(name, persistent ? program.state_dict : program.constants, programs::scalar(value));
  }
  davit::ValueId constant(std::string_view name, float value) {
    program.signature.input_specs.push_back(
        davit::InputToTensorConstantSpec({davit::Name::own(name)}, davit::Name::own(name)));
    return attribute(name, program.constants, programs::scalar(value));
  }

  /// A value of the innermost graph that has x's sizes.
  constexpr davit::ValueId like(davit::ValueId x, std::string_view name,
                                davit::ScalarType dtype = davit::ScalarType::float32) {
    davit::Value value = b.module().values[x];
    value.name = b.text(name);
    value.producer = davit::no_id;
    value.dtype = dtype;
    return b.declare(value);
  }
  constexpr davit::ValueId new_token(std::string_view name) {
    return b.declare({.name = b.text(name), .kind = davit::ValueKind::token});
  }
  constexpr davit::ValueId op(std::string_view target, std::string_view name, davit::ValueId x,
                              std::initializer_list<Operand> others = {},
                              davit::ScalarType dtype = davit::ScalarType::float32) {
    std::vector<davit::Argument> inputs{davit::GraphBuilder::value(x)};
    for (const Operand& other : others) inputs.push_back(other.argument);
    const davit::ValueId out = like(x, name, dtype);
    const davit::Argument outputs[] = {davit::GraphBuilder::value(out)};
    b.node(target, inputs, outputs, metadata);
    return out;
  }
  constexpr davit::ValueId add(std::string_view name, davit::ValueId x, Operand y) {
    return op("aten.add.Tensor", name, x, {y});
  }
  constexpr davit::ValueId sub(std::string_view name, davit::ValueId x, Operand y) {
    return op("aten.sub.Tensor", name, x, {y});
  }
  constexpr davit::ValueId mul(std::string_view name, davit::ValueId x, Operand y) {
    return op("aten.mul.Tensor", name, x, {y});
  }
  constexpr davit::ValueId neg(std::string_view name, davit::ValueId x) { return op("aten.neg.default", name, x); }
  constexpr davit::ValueId relu(std::string_view name, davit::ValueId x) { return op("aten.relu.default", name, x); }
  constexpr davit::ValueId gt(std::string_view name, davit::ValueId x, double y) {
    return op("aten.gt.Scalar", name, x, {y}, davit::ScalarType::bool_);
  }
  constexpr davit::ValueId lt(std::string_view name, davit::ValueId x, double y) {
    return op("aten.lt.Scalar", name, x, {y}, davit::ScalarType::bool_);
  }
  /// x + y and x - y, of one node.
  constexpr std::pair<davit::ValueId, davit::ValueId> both(std::string_view sum, std::string_view difference,
                                                           davit::ValueId x, Operand y) {
    const davit::Argument inputs[] = {davit::GraphBuilder::value(x), y.argument};
    const davit::ValueId first = like(x, sum);
    const davit::ValueId second = like(x, difference);
    const davit::Argument outputs[] = {davit::GraphBuilder::value(first), davit::GraphBuilder::value(second)};
    b.node("toy.both.default", inputs, outputs, metadata);
    return {first, second};
  }
  /// x + y as an operator with effects: takes a token and makes the next.
  constexpr std::pair<davit::ValueId, davit::ValueId> effect(std::string_view next, std::string_view name,
                                                             davit::ValueId token, davit::ValueId x, Operand y) {
    const davit::ValueId made = new_token(next);
    const davit::ValueId sum = like(x, name);
    with_effects("toy.note.default", token, {davit::GraphBuilder::value(x), y.argument}, made, sum);
    return {made, sum};
  }
  /// A call of any operator with effects, whose outputs are declared already.
  constexpr void with_effects(std::string_view target, davit::ValueId token,
                              std::initializer_list<davit::Argument> arguments, davit::ValueId next,
                              davit::ValueId made) {
    std::vector<davit::Argument> inputs{davit::GraphBuilder::value(token),
                                        b.string(target, davit::ArgumentKind::operator_name)};
    inputs.insert(inputs.end(), arguments.begin(), arguments.end());
    const davit::Argument outputs[] = {davit::GraphBuilder::value(next), davit::GraphBuilder::value(made)};
    b.node("higher_order.with_effects", inputs, outputs, metadata);
  }
  /// A control-flow node whose outputs are declared already.
  constexpr void node(std::string_view target, std::initializer_list<davit::Argument> inputs,
                      std::initializer_list<davit::ValueId> outputs) {
    std::vector<davit::Argument> made;
    for (const davit::ValueId v : outputs) made.push_back(davit::GraphBuilder::value(v));
    b.node(target, std::vector<davit::Argument>(inputs), made, metadata);
  }

  /// A sub-graph of scalars in0, in1, ...; `body` returns its output, or a vector of outputs, from its inputs.
  template <class Body>
  constexpr davit::GraphId branch(std::string_view name, std::size_t inputs, Body&& body, Sizes sizes = {}) {
    const davit::GraphId id = b.begin_graph(name);
    std::vector<davit::ValueId> in;
    for (std::size_t i = 0; i < inputs; ++i)
      in.push_back(b.input(davit::concat("in", i), davit::ScalarType::float32, sizes));
    std::vector<davit::Argument> outputs;
    const auto add = [&](davit::ValueId v) { outputs.push_back(davit::GraphBuilder::value(v)); };
    const auto made = body(std::span<const davit::ValueId>(in));
    if constexpr (std::convertible_to<decltype(made), davit::ValueId>) {
      add(made);
    } else {
      for (const davit::ValueId v : made) add(v);
    }
    b.end_graph(std::span<const davit::Argument>(outputs));
    return id;
  }
  /// A cond over operands of these sizes that all branches take; returns its only output.
  template <class Yes, class No>
  constexpr davit::ValueId cond(std::string_view name, davit::ValueId predicate,
                                std::initializer_list<davit::ValueId> operands, Yes&& yes, No&& no, Sizes sizes = {}) {
    const davit::GraphId first = branch(davit::concat(name, "_true"), operands.size(), yes, sizes);
    const davit::GraphId second = branch(davit::concat(name, "_false"), operands.size(), no, sizes);
    const davit::ValueId out = b.tensor(name, davit::ScalarType::float32, sizes);
    node("higher_order.cond", {b.value(predicate), b.subgraph(first), b.subgraph(second), b.tensors(operands)}, {out});
    return out;
  }

  constexpr void output(davit::ValueId v) {
    results_.push_back(davit::GraphBuilder::value(v));
    result_specs_.push_back(davit::UserOutputSpec{davit::TensorArgument{name(v)}});
  }
  constexpr void output(davit::Argument literal, davit::ConstantValue value) {
    results_.push_back(literal);
    result_specs_.push_back(davit::UserOutputSpec{davit::ConstantArgument{{}, std::move(value)}});
  }
  constexpr void output_token(davit::ValueId v) {
    tokens_.push_back(davit::GraphBuilder::value(v));
    program.signature.output_specs.push_back(davit::OutputTokenSpec{davit::TokenArgument{name(v)}});
  }
  constexpr void mutate_buffer(std::string_view target, davit::ValueId v) {
    mutations_.push_back(davit::GraphBuilder::value(v));
    mutation_specs_.push_back(davit::BufferMutationSpec({name(v)}, davit::Name::own(target)));
  }
  constexpr void mutate_input(std::string_view target, davit::ValueId v) {
    mutations_.push_back(davit::GraphBuilder::value(v));
    mutation_specs_.push_back(davit::UserInputMutationSpec({name(v)}, davit::Name::own(target)));
  }

  constexpr davit::ProgramTables finish() {
    std::vector<davit::Argument> outputs = tokens_;
    for (const auto* part : {&mutations_, &results_}) outputs.insert(outputs.end(), part->begin(), part->end());
    for (auto* part : {&mutation_specs_, &result_specs_})
      for (davit::OutputSpec& spec : *part) program.signature.output_specs.push_back(std::move(spec));
    b.end_graph(std::span<const davit::Argument>(outputs));
    program.graph_module = std::move(b).finish();
    return std::move(program);
  }

  std::uint32_t metadata = davit::no_id;  ///< of the nodes that follow

 private:
  davit::ValueId attribute(std::string_view name, std::vector<davit::NamedTensor>& entries, davit::Tensor tensor) {
    const davit::ValueId v = b.tensor(name, tensor.dtype, std::span<const std::int64_t>(tensor.sizes));
    b.input(davit::GraphBuilder::value(v));
    entries.push_back({davit::Name::own(name), std::move(tensor)});
    return v;
  }
  [[nodiscard]] constexpr davit::Name name(davit::ValueId v) const {
    const davit::GraphModuleView graph = b.module().view();
    return davit::Name::own(graph.name(v));
  }

  std::vector<davit::Argument> tokens_;
  std::vector<davit::Argument> mutations_;
  std::vector<davit::Argument> results_;
  std::vector<davit::OutputSpec> mutation_specs_;
  std::vector<davit::OutputSpec> result_specs_;
};

/// The first element of each value.
inline std::vector<float> items(std::span<const davit::EValue> values) {
  std::vector<float> out;
  for (const davit::EValue& value : values) out.push_back(programs::item(value));
  return out;
}

/// All elements of a float tensor, in row-major order.
inline std::vector<float> elements(const davit::EValue& value) {
  if (!value.is_tensor()) return {};
  const davit::Tensor copy = davit::contiguous(value.tensor());
  const auto* first = copy.view().as<float>();
  return {first, first + copy.numel()};
}

}  // namespace support
