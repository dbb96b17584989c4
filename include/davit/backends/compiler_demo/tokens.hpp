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
#include "davit/core/copy_tensor.hpp"

/// The tokens of compiler_demo: how preprocess writes them and compile reads them.
namespace davit::demo {

/// What an instruction does.
enum class Op : std::uint8_t { constant, add, sub, return_, unknown };
/// An input of the call, or the result of an earlier token.
struct Operand {
  bool is_input = false;
  std::uint32_t index = 0;
};
/// A token, parsed.
struct Instruction {
  Name instruction;  ///< as written: "aten.add.Tensor", "constant"
  DebugHandle debug_handle = no_debug_handle;
  Op op = Op::unknown;
  std::vector<Operand> operands;
  Tensor constant;
  bool is_number = false;  ///< a constant that fits every size
};

[[nodiscard]] constexpr Op op_named(std::string_view text) noexcept {
  return text == "aten.add.Tensor" ? Op::add : text == "aten.sub.Tensor" ? Op::sub : Op::unknown;
}

/// The shortest text that reads back as `value`.
[[nodiscard]] inline std::string number_text(float value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}
/// "constant:2x3:1 2 3 4 5 6" for a float tensor, whatever its strides.
[[nodiscard]] inline std::string constant_text(const TensorView& tensor) {
  std::string text = "constant:";
  for (std::size_t d = 0; d < tensor.rank; ++d) (text += d == 0 ? "" : "x") += detail::Digits(tensor.size(d)).view();
  text += ":";
  const Tensor flat = Tensor::zeros(ScalarType::float32, tensor.sizes());
  copy_tensor(tensor, flat.view());
  for (std::int64_t i = 0; i < flat.numel(); ++i)
    (text += i == 0 ? "" : " ") += number_text(flat.view().as<float>()[i]);
  return text;
}

/// Writes tokens and remembers how later ones refer to each value.
struct TokenWriter {
  GraphModuleView graph;
  std::vector<std::string> operands;  ///< by value
  std::string tokens;
  std::size_t count = 0;

  /// Appends a token and returns how to refer to its result.
  std::string token(std::string_view text, DebugHandle handle) {
    tokens += tokens.empty() ? "" : ",";
    ((tokens += text) += "<debug_handle>") += detail::Digits(handle).view();
    return "t" + std::string(detail::Digits(count++).view());
  }
  /// Says how the graph's inputs are referred to: constants become tokens, the others are passed at each call.
  /// Constants that are no float tensors get no operand.
  void inputs(const ExportedProgram& program) {
    operands.resize(graph.values.size());
    const std::vector<InputRole> roles = input_roles(program.signature);
    const std::span<const Argument> in = graph.args(graph.root().inputs);
    std::size_t passed = 0;
    for (std::size_t i = 0; i < in.size() && i < roles.size(); ++i) {
      const bool is_passed = roles[i] == InputRole::state || roles[i] == InputRole::user;
      const std::string operand = "i" + std::string(detail::Digits(passed).view());
      passed += is_passed ? 1 : 0;
      if (!in[i].is_value()) continue;
      if (is_passed) {
        operands[in[i].value()] = operand;
      } else if (const Name* wanted = target(program.signature.input_specs[i])) {
        const Tensor* tensor = program.tensor_named(*wanted);
        if (tensor != nullptr && tensor->dtype == ScalarType::float32)
          operands[in[i].value()] = token(constant_text(tensor->view()), no_debug_handle);
      }
    }
  }
  /// Appends a node; numbers become constants. False if an operand is a constant that has no token.
  [[nodiscard]] bool node(const Node& node, DebugHandle handle) {
    std::string text(graph.target(node));
    for (const Argument& a : graph.inputs(node)) {
      if (a.is_value()) {
        if (operands[a.value()].empty()) return false;
        text += ":" + operands[a.value()];
      } else {
        const double number = a.kind == ArgumentKind::float_ ? a.float_value() : static_cast<double>(a.payload);
        text += ":" + token("constant:" + number_text(static_cast<float>(number)), handle);
      }
    }
    const std::string result = token(text, handle);
    for (const Argument& a : graph.outputs(node))
      if (a.is_value()) operands[a.value()] = result;
    return true;
  }
  /// Appends the token of the outputs. False if one is no tensor, or a constant that has no token.
  [[nodiscard]] bool outputs() {
    std::string text = "return";
    for (const Argument& a : graph.args(graph.root().outputs)) {
      if (!a.is_value() || operands[a.value()].empty()) return false;
      text += ":" + operands[a.value()];
    }
    token(text, no_debug_handle);
    return true;
  }
};

/// Cuts the part before `separator` off `rest`.
[[nodiscard]] inline std::string_view cut(std::string_view& rest, char separator) noexcept {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

/// The whole of `text` as a number. False if it is none.
template <class Number>
[[nodiscard]] bool parse_number(std::string_view text, Number& number) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Parses what follows "constant:". False if it is malformed.
[[nodiscard]] inline bool parse_constant(std::string_view rest, Instruction& instruction) {
  std::vector<std::int64_t> sizes;
  instruction.is_number = rest.find(':') == std::string_view::npos;
  if (!instruction.is_number) {
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
  instruction.constant = Tensor::zeros(ScalarType::float32, sizes);
  if (instruction.constant.storage.size() < values.size() * sizeof(float)) return false;
  if (!values.empty())
    std::memcpy(instruction.constant.storage.writable(), values.data(), values.size() * sizeof(float));
  return true;
}

/// Parses a token and appends it. False if it is malformed, refers to a later token, or follows a return.
[[nodiscard]] inline bool parse(std::string_view token, std::vector<Instruction>& instructions) {
  constexpr std::string_view mark = "<debug_handle>";
  const std::size_t at = token.rfind(mark);
  Instruction instruction;
  if (at == std::string_view::npos || !parse_number(token.substr(at + mark.size()), instruction.debug_handle))
    return false;
  std::string_view rest = token.substr(0, at);
  const std::string_view text = cut(rest, ':');
  instruction.instruction = Name::own(text);
  instruction.op = text == "constant" ? Op::constant : text == "return" ? Op::return_ : op_named(text);
  const std::size_t count = instructions.size();
  if (count != 0 && instructions.back().op == Op::return_) return false;
  if (instruction.op == Op::constant) {
    if (!parse_constant(rest, instruction)) return false;
  } else {
    while (instruction.op != Op::unknown && !rest.empty()) {
      const std::string_view part = cut(rest, ':');
      Operand operand{.is_input = part.starts_with('i')};
      if (part.empty() || (part[0] != 'i' && part[0] != 't') || !parse_number(part.substr(1), operand.index))
        return false;
      if (!operand.is_input && operand.index >= count) return false;
      instruction.operands.push_back(operand);
    }
    const std::size_t operands = instruction.operands.size();
    if ((instruction.op == Op::add || instruction.op == Op::sub) && operands != 2 && operands != 3) return false;
  }
  instructions.push_back(std::move(instruction));
  return true;
}

}  // namespace davit::demo
