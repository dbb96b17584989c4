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

/// Type of a value that enters or leaves a method.
struct PortType {
  EValue::Tag tag = EValue::Tag::none;
  ScalarType dtype = ScalarType::undefined;  ///< dtype of a tensor
  std::vector<Dim> dims{};                   ///< sizes of a tensor; expressions refer to MethodInterface::exprs
  ExprId expr = no_id;                       ///< expression of a symbolic int

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
  Name target{};  ///< name of the buffer, if the role is state
  PortType type{};
  std::optional<ConstantValue> constant{};  ///< the only accepted value, and the default, if fixed at export
  bool written = false;                     ///< operators write to this user input in place
};

/// An output of a delegate call, in the order of the outputs of the graph or of the original method.
struct OutputPort {
  Name name;
  OutputKind kind = OutputKind::user_output;
  Name target{};  ///< buffer, parameter or user input that a mutation writes to
  PortType type{};
  Name keys{};  ///< keys of a value in a dict returned by forward(), for example "past.0"; else empty

  /// True if forward() returns the value (the loss included).
  [[nodiscard]] constexpr bool is_returned() const noexcept {
    return kind == OutputKind::user_output || kind == OutputKind::loss_output;
  }
  /// Returns the name for users: the keys if there are any, else the name in the graph.
  [[nodiscard]] constexpr const Name& user_name() const noexcept { return keys.empty() ? name : keys; }
};

/// The calling convention of a lowered method: inputs, outputs, and the sizes that must agree.
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
  std::vector<Name> symbols{};  ///< name of each expression that is a symbol, else empty; for messages
  Guards guards{};              ///< conditions on the user inputs; leaves count the ports of role user only
  std::uint32_t added_mutations =
      0;  ///< number of trailing outputs that functionalization added; the program does not list them

  /// True if all sizes of inputs and outputs are static and no input is a symbolic int.
  [[nodiscard]] constexpr bool is_static() const noexcept {
    for (const InputPort& port : inputs)
      if (!port.type.has_static_sizes() || port.type.expr != no_id) return false;
    for (const OutputPort& port : outputs)
      if (!port.type.has_static_sizes()) return false;
    return true;
  }
};

namespace detail {
/// Returns the type of an argument that enters or leaves a method.
[[nodiscard]] PortType port_type(GraphModuleView graph, const Argument& a);
/// Returns the user inputs among `ports` in the form that guards are checked against.
[[nodiscard]] std::vector<GuardInput> guard_inputs(std::span<const InputPort> ports);
}  // namespace detail

/// Returns the names of the user inputs, in the order in which guards count them.
[[nodiscard]] std::vector<Name> guard_names(const MethodInterface& interface);

/// Prints a size in Python syntax: "3", "s0", "2*s0 + 1".
[[nodiscard]] Name size_text(const MethodInterface& interface, const Dim& dim);
/// Prints a type: "float32[s0, 3]", "int", "None".
[[nodiscard]] Name type_text(const MethodInterface& interface, const PortType& type);
/// Prints the bounds of the symbols: "s0=2..64". Omits symbols without bounds.
[[nodiscard]] std::vector<Name> range_texts(const MethodInterface& interface);
/// Prints the symbols that are sizes of user inputs: "s0=8, s1=3", of these `inputs`, or without any of the export's
/// example. Empty if all sizes are static.
[[nodiscard]] Name symbol_sizes_text(const MethodInterface& interface, std::span<const EValue> inputs = {});
/// Prints the signature of a method: "forward(x: float32[s0, 3], h: int) with s0=2..64, x.shape[0] % 2 == 0".
[[nodiscard]] Name signature_text(std::string_view method, const MethodInterface& interface);

/// Derives the interface of a verified program, whose signature and graph agree. O(inputs + outputs + expressions).
[[nodiscard]] MethodInterface method_interface(const ExportedProgram& program);

/// Copies the names of symbols from the program into a loaded interface, which is saved without them. O(inputs +
/// sizes).
void name_symbols(MethodInterface& interface, const ExportedProgram& program);

/// Appends an interface to a saved program, without the names of its symbols: name_symbols() restores them.
void write_interface(ByteWriter& out, const MethodInterface& interface);
/// Reads the bytes of write_interface. On malformed bytes the reader becomes bad.
[[nodiscard]] MethodInterface read_interface(ByteReader& in);

}  // namespace davit
