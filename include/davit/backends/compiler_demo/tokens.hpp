// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backend/delegate_io.hpp"

/// The tokens of compiler_demo: how preprocess writes them and compile reads
/// them.
namespace davit::demo {

/// What an instruction does.
enum class Op : std::uint8_t { constant, add, sub, return_, unknown };
/// An input of the call, or the result of an earlier token.
struct Operand {
  bool is_input = false;
  std::uint32_t index = 0;
};
/// A token, parsed. Its operands, or its constant, lie in the tables of the
/// Code it is part of.
struct Instruction {
  Name instruction{};  ///< as written: "aten.add.Tensor", "constant"
  DebugHandle debug_handle = no_debug_handle;
  Op op = Op::unknown;
  std::uint32_t first = 0;  ///< of its operands; for a constant, its index
  std::uint32_t count = 0;  ///< of operands
};
struct Constant {
  Tensor tensor;
  bool is_number = false;  ///< fits every size
};
/// The tokens of a method, parsed.
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
  std::vector<Operand> operands;  ///< by value
  std::string tokens;
  std::uint32_t count = 0;

  /// Begins a token.
  void begin(std::string_view text);
  void append(Operand operand);
  /// Ends a token and returns how to refer to its result.
  Operand end(DebugHandle handle);
  /// Says how the graph's inputs are referred to: constants become tokens, the
  /// others are passed at each call. Constants that are no float tensors get no
  /// operand.
  void inputs(const ExportedProgram& program);
  /// Appends a node; numbers become constants before it. False if an operand is
  /// a constant that has no token.
  [[nodiscard]] bool node(const Node& node, DebugHandle handle);
  /// Appends the token of the outputs. False if one is no tensor, or a constant
  /// that has no token.
  [[nodiscard]] bool outputs();
};

/// Cuts the part before `separator` off `rest`.
[[nodiscard]] std::string_view cut(std::string_view& rest, char separator) noexcept;

/// How many tokens a text holds at most: as many as it has debug handles.
/// O(size).
[[nodiscard]] std::size_t count_tokens(std::string_view tokens) noexcept;

/// Parses a token and appends it. False if it is malformed, refers to a later
/// token, or follows a return.
[[nodiscard]] bool parse(std::string_view token, Code& code);

}  // namespace davit::demo
