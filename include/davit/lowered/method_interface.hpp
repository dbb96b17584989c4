// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "davit/backend/delegate_io.hpp"
#include "davit/core/bytes.hpp"
#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/guard.hpp"

namespace davit {

/// What a value that crosses a method's border must be.
struct PortType {
  EValue::Tag tag = EValue::Tag::none;
  ScalarType dtype = ScalarType::undefined;  ///< of a tensor
  std::vector<Dim> dims{};                   ///< sizes of a tensor; expressions refer to MethodInterface::exprs
  ExprId expr = no_id;                       ///< of a symbolic int: its expression

  [[nodiscard]] constexpr bool has_static_sizes() const noexcept {
    for (const Dim& d : dims)
      if (!d.is_static()) return false;
    return true;
  }
};

/// An input of a delegate call: a user input, or a buffer that the method changes.
struct InputPort {
  Name name;
  InputRole role = InputRole::user;
  Name target{};  ///< of state: the buffer's name
  PortType type{};
  std::optional<ConstantValue> constant{};  ///< of an input that the export fixed: its only value, and its default
  bool written = false;                     ///< operators write to this user input in place
};

/// An output of a delegate call, in the order of the graph's outputs, or of the method that the graph was made from.
struct OutputPort {
  Name name;
  OutputKind kind = OutputKind::user_output;
  Name target{};  ///< of a mutation: the buffer, parameter or user input that takes the value
  PortType type{};
  Name keys{};  ///< of a value that forward() returns in a dict: the keys that lead to it, "past.0"; else empty

  /// Whether forward() returns it; the loss is such a value too.
  [[nodiscard]] constexpr bool is_returned() const noexcept {
    return kind == OutputKind::user_output || kind == OutputKind::loss_output;
  }
  /// What users call the value: by its keys, or as the graph does.
  [[nodiscard]] constexpr const Name& user_name() const noexcept { return keys.empty() ? name : keys; }
};

/// The calling convention of a lowered method: what goes in, what comes out, and which sizes must agree.
struct MethodInterface {
  struct SymbolRange {
    ExprId symbol = no_id;
    std::int64_t min = INT64_MIN;
    std::int64_t max = INT64_MAX;
  };
  std::vector<InputPort> inputs;
  std::vector<OutputPort> outputs;
  std::vector<Expr> exprs;
  std::vector<SymbolRange> ranges;
  std::vector<Name> symbols{};  ///< the name of each expression that is a symbol, of others nothing; for people
  Guards guards{};              ///< what must hold of the user inputs; leaves number the inputs of that role
  std::uint32_t added_mutations =
      0;  ///< the last outputs: functionalization added them, and the program does not list them

  /// True if no size of any input or output is symbolic, and no int among the inputs.
  [[nodiscard]] constexpr bool is_static() const noexcept {
    for (const InputPort& port : inputs)
      if (!port.type.has_static_sizes() || port.type.expr != no_id) return false;
    for (const OutputPort& port : outputs)
      if (!port.type.has_static_sizes()) return false;
    return true;
  }
};

namespace detail {
/// What an argument that crosses a border is.
[[nodiscard]] PortType port_type(GraphModuleView graph, const Argument& a);
/// What guards may ask of the user inputs among a method's inputs.
[[nodiscard]] std::vector<GuardInput> guard_inputs(std::span<const InputPort> ports);
}  // namespace detail

/// The names of the user inputs, as guards number them.
[[nodiscard]] std::vector<Name> guard_names(const MethodInterface& interface);

/// A size, as Python writes it: "3", "s0", "2*s0 + 1".
[[nodiscard]] Name size_text(const MethodInterface& interface, const Dim& dim);
/// What a value must be: "float32[s0, 3]", "int", "None".
[[nodiscard]] Name type_text(const MethodInterface& interface, const PortType& type);
/// The bounds of its symbols, as Python writes them: "2 <= s0 <= 64". Those without bounds are left out.
[[nodiscard]] std::vector<Name> range_texts(const MethodInterface& interface);
/// How a method is called: "forward(x: float32[s0, 3], h: int) with 2 <= s0 <= 64, x.shape[0] % 2 == 0".
[[nodiscard]] Name signature_text(std::string_view method, const MethodInterface& interface);

/// The interface of a verified program: signature and graph agree. O(inputs + outputs + expressions).
[[nodiscard]] MethodInterface method_interface(const ExportedProgram& program);

/// Gives an interface that was loaded the names of its symbols, which its program has. O(inputs + sizes).
void name_symbols(MethodInterface& interface, const ExportedProgram& program);

/// Appends an interface to a saved program; the names of its symbols are left to its program.
void write_interface(ByteWriter& out, const MethodInterface& interface);
/// Reads what write_interface wrote; a bad one turns the reader bad.
[[nodiscard]] MethodInterface read_interface(ByteReader& in);

}  // namespace davit
