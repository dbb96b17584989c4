// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "davit/backend/delegate_io.hpp"
#include "davit/core/contiguous.hpp"
#include "davit/core/real_from_chars.hpp"

/// Writes and reads the tokens of compiler_demo.
namespace demo {

using namespace davit;

/// The operation of an instruction.
enum class Op : std::uint8_t { constant, add, sub, return_, unknown };
/// An input of the call, or the result of an earlier token.
struct Operand {
  bool is_input = false;
  std::uint32_t index = 0;
};
/// A parsed token. Its operands or its constant are in the tables of its Code.
struct Instruction {
  Name instruction{};  ///< as written: "aten.add.Tensor", "constant"
  DebugHandle debug_handle = no_debug_handle;
  Op op = Op::unknown;
  std::uint32_t first = 0;  ///< index of its first operand, or of its constant
  std::uint32_t count = 0;  ///< number of operands
};
struct Constant {
  Tensor tensor;
  bool is_number = false;  ///< fits every size
};
/// The parsed tokens of a method.
struct Code {
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<Constant> constants;

  [[nodiscard]] std::span<const Operand> operands_of(const Instruction& i) const noexcept {
    return std::span(operands).subspan(i.first, i.count);
  }
};

[[nodiscard]] constexpr Op op_named(std::string_view text) noexcept {
  return text == "aten.add.Tensor" ? Op::add : text == "aten.sub.Tensor" ? Op::sub : Op::unknown;
}

/// Writes tokens and remembers how later ones refer to each value.
struct TokenWriter {
  static constexpr Operand no_operand{.index = no_id};

  GraphModuleView graph;
  std::vector<Operand> operands;  ///< indexed by value
  std::string tokens;
  std::uint32_t count = 0;

  /// Begins a token.
  void begin(std::string_view text);
  void append(Operand operand);
  /// Ends a token and returns how to refer to its result.
  Operand end(DebugHandle handle);
  /// Assigns operands to the graph's inputs: constants become tokens, other inputs are passed at each call. Constants
  /// that are not float tensors get no operand.
  void inputs(const ExportedProgram& program);
  /// Appends a node, after constants for its numbers. False if an operand is a constant without a token.
  [[nodiscard]] bool node(const Node& node, DebugHandle handle);
  /// Appends the token of the outputs. False if an output is not a tensor, or is a constant without a token.
  [[nodiscard]] bool outputs();
};

/// The name of an instruction, without a copy for names that the compiler knows.
inline Name instruction_name(Op op, std::string_view text) {
  switch (op) {
    case Op::constant: return "constant";
    case Op::add: return "aten.add.Tensor";
    case Op::sub: return "aten.sub.Tensor";
    case Op::return_: return "return";
    case Op::unknown: break;
  }
  return Name::own(text);
}

/// The shortest text that reads back as `value`.
inline std::string number_text(float value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}
/// "constant:2x3:1 2 3 4 5 6" for a float tensor, whatever its strides.
inline std::string constant_text(const TensorView& tensor) {
  std::string text = "constant:";
  for (std::size_t d = 0; d < tensor.rank; ++d)
    (text += d == 0 ? "" : "x") += davit::detail::NamePart(tensor.size(d)).view();
  text += ":";
  const Tensor flat = contiguous(tensor);
  for (std::int64_t i = 0; i < flat.numel(); ++i)
    (text += i == 0 ? "" : " ") += number_text(flat.view().as<float>()[i]);
  return text;
}

inline void TokenWriter::begin(std::string_view text) { (tokens += tokens.empty() ? "" : ",") += text; }

inline void TokenWriter::append(Operand operand) {
  (tokens += operand.is_input ? ":i" : ":t") += davit::detail::NamePart(operand.index).view();
}

inline Operand TokenWriter::end(DebugHandle handle) {
  (tokens += "<debug_handle>") += davit::detail::NamePart(handle).view();
  return {.index = count++};
}

inline void TokenWriter::inputs(const ExportedProgram& program) {
  operands.assign(graph.values.size(), no_operand);
  tokens.reserve(64 * graph.nodes.size());
  const std::vector<InputRole> roles = input_roles(program.signature);
  const std::span<const Argument> in = graph.args(graph.root().inputs);
  const TensorIndex tensors(program);
  std::uint32_t passed = 0;
  for (std::size_t i = 0; i < in.size() && i < roles.size(); ++i) {
    const bool is_passed = roles[i] == InputRole::state || roles[i] == InputRole::user;
    const Operand operand{.is_input = true, .index = passed};
    passed += is_passed ? 1 : 0;
    if (!in[i].is_value()) continue;
    if (is_passed) {
      operands[in[i].value()] = operand;
    } else if (const Name* wanted = target(program.signature.input_specs[i])) {
      const Tensor* tensor = tensors.find(*wanted);
      if (tensor == nullptr || tensor->dtype != ScalarType::float32) continue;
      begin(constant_text(tensor->view()));
      operands[in[i].value()] = end(no_debug_handle);
    }
  }
}

inline bool TokenWriter::node(const Node& node, DebugHandle handle) {
  std::vector<Operand> numbers;
  for (const Argument& a : graph.inputs(node)) {
    if (a.is_value()) continue;
    const double number = a.kind == ArgumentKind::float_ ? a.float_value() : static_cast<double>(a.payload);
    begin("constant:" + number_text(static_cast<float>(number)));
    numbers.push_back(end(handle));
  }
  std::size_t next = 0;
  begin(graph.target(node));
  for (const Argument& a : graph.inputs(node)) {
    const Operand operand = a.is_value() ? operands[a.value()] : numbers[next++];
    if (operand.index == no_id) return false;
    append(operand);
  }
  const Operand result = end(handle);
  for (const Argument& a : graph.outputs(node))
    if (a.is_value()) operands[a.value()] = result;
  return true;
}

inline bool TokenWriter::outputs() {
  begin("return");
  for (const Argument& a : graph.args(graph.root().outputs)) {
    if (!a.is_value() || operands[a.value()].index == no_id) return false;
    append(operands[a.value()]);
  }
  end(no_debug_handle);
  return true;
}

/// Cuts the part before `separator` off `rest`.
[[nodiscard]] inline std::string_view cut(std::string_view& rest, char separator) noexcept {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

/// Parses the whole of `text` as a number. False if it is not a number.
template <class Number>
[[nodiscard]] bool parse_number(std::string_view text, Number& number) noexcept {
  const auto [end, error] = number_from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Parses what follows "constant:". False if it is malformed.
inline bool parse_constant(std::string_view rest, Constant& constant) {
  std::vector<std::int64_t> sizes;
  constant.is_number = rest.find(':') == std::string_view::npos;
  if (!constant.is_number) {
    std::string_view dims = cut(rest, ':');
    while (!dims.empty()) {
      sizes.push_back(0);
      if (!parse_number(cut(dims, 'x'), sizes.back()) || sizes.back() < 0 || sizes.size() > max_rank) return false;
    }
  }
  std::vector<float> values;
  while (!rest.empty()) {
    values.push_back(0);
    if (!parse_number(cut(rest, ' '), values.back())) return false;
  }
  std::int64_t wanted = 1;
  for (const std::int64_t size : sizes)
    if (__builtin_mul_overflow(wanted, size, &wanted)) return false;
  if (static_cast<std::uint64_t>(wanted) != values.size()) return false;
  constant.tensor = Tensor::zeros(ScalarType::float32, sizes);
  if (constant.tensor.storage.size() < values.size() * sizeof(float)) return false;
  if (!values.empty()) std::memcpy(constant.tensor.storage.writable(), values.data(), values.size() * sizeof(float));
  return true;
}

/// The largest possible number of tokens in a text: its number of debug handles. O(size).
[[nodiscard]] inline std::size_t count_tokens(std::string_view tokens) noexcept {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = tokens.find("<debug_handle>", at)) != std::string_view::npos; ++at) ++count;
  return count;
}

/// Parses a token and appends it. False if it is malformed, refers to a later
/// token, or follows a return.
[[nodiscard]] inline bool parse(std::string_view token, Code& code) {
  constexpr std::string_view mark = "<debug_handle>";
  const std::size_t at = token.rfind(mark);
  Instruction instruction{.first = static_cast<std::uint32_t>(code.operands.size())};
  if (at == std::string_view::npos || !parse_number(token.substr(at + mark.size()), instruction.debug_handle))
    return false;
  std::string_view rest = token.substr(0, at);
  const std::string_view text = cut(rest, ':');
  instruction.op = text == "constant" ? Op::constant : text == "return" ? Op::return_ : op_named(text);
  instruction.instruction = instruction_name(instruction.op, text);
  const std::size_t count = code.instructions.size();
  if (count != 0 && code.instructions.back().op == Op::return_) return false;
  if (instruction.op == Op::constant) {
    instruction.first = static_cast<std::uint32_t>(code.constants.size());
    if (!parse_constant(rest, code.constants.emplace_back())) return false;
  } else {
    while (instruction.op != Op::unknown && !rest.empty()) {
      const std::string_view part = cut(rest, ':');
      Operand operand{.is_input = part.starts_with('i')};
      if (part.empty() || (part[0] != 'i' && part[0] != 't') || !parse_number(part.substr(1), operand.index))
        return false;
      if (!operand.is_input && operand.index >= count) return false;
      code.operands.push_back(operand);
      ++instruction.count;
    }
    const bool is_sum = instruction.op == Op::add || instruction.op == Op::sub;
    if (is_sum && instruction.count != 2 && instruction.count != 3) return false;
  }
  code.instructions.push_back(std::move(instruction));
  return true;
}

}  // namespace demo
