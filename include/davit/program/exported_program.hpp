// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/definitions.hpp"
#include "davit/core/name.hpp"
#include "davit/core/tensor.hpp"
#include "davit/program/graph.hpp"
#include "davit/program/guard.hpp"
#include "davit/program/name_map.hpp"
#include "davit/program/signature.hpp"

namespace davit {

/// A named tensor of a state dict or of the constants.
struct NamedTensor {
  Name name;
  Tensor tensor;
};

/// A custom object among the constants: its class, and its pickled state in the file's bytes.
struct NamedObject {
  Name name;
  Name class_fqn;
  SharedBytes state;
};

/// Bounds of a symbol ("s0") or of a printed expression ("s0 + 1"); a missing bound is unlimited.
struct RangeConstraint {
  Name symbol;
  std::optional<std::int64_t> min;
  std::optional<std::int64_t> max;
};

/// One entry of the module call graph: a submodule, with its calling convention if the export preserved it.
struct ModuleCallEntry {
  Name fqn;
  bool has_signature = false;
  Name in_spec{};   ///< pytree spec as JSON text
  Name out_spec{};  ///< pytree spec as JSON text
  std::vector<Name> forward_arg_names{};
  std::vector<Name> output_names{};  ///< for the root: path of each value in the result of forward(), such as "past.0";
                                     ///< empty if the result contains no dict
};

/// The version of an operator namespace, such as {"aten", 10}.
struct OpsetVersion {
  Name ns;
  std::int64_t version = 0;
};

/// An example input recorded by the export: None, an int, a float, a bool, a string or a tensor.
using ExampleInput = std::variant<std::monostate, std::int64_t, double, bool, Name, Tensor>;

/// Rules of the export, from the file's `verifiers`.
enum class Dialect : std::uint8_t { aten, training, edge, other };

/// The parts of a program: graphs, signature, weights, and recorded metadata. A literal type, usable in constant
/// evaluation.
struct ProgramTables {
  GraphModule graph_module;
  ExportGraphSignature signature;
  std::vector<NamedTensor> state_dict;  ///< parameters and persistent buffers, by target name
  std::vector<NamedTensor> constants;   ///< lifted tensors and non-persistent buffers
  std::vector<NamedObject> custom_objects;
  std::vector<RangeConstraint> range_constraints;
  Guards guards;  ///< conditions on the user inputs of a call; their leaves refer to user inputs by position
  std::vector<ModuleCallEntry> module_call_graph;
  std::vector<OpsetVersion> opset_version;
  std::int64_t schema_major = 8;
  std::int64_t schema_minor = 0;
  Dialect dialect = Dialect::aten;
  Name torch_version;
  std::optional<std::vector<ExampleInput>> example_inputs{};  ///< one per user input, in order; nullopt if the file has
                                                              ///< none or they cannot be read; not saved in packages

  template <class Self = ProgramTables>
  [[nodiscard]] constexpr GraphModuleView view() const noexcept {
    return static_cast<const Self&>(*this).graph_module.view();
  }

  /// Returns the tensor of an input's target: from the state dict, else from the constants; nullptr if both lack it.
  /// O(entries).
  template <class Self = ProgramTables>
  [[nodiscard]] constexpr const Tensor* tensor_named(std::string_view target) const noexcept {
    const auto& self = static_cast<const Self&>(*this);
    for (const std::vector<NamedTensor>* list : {&self.state_dict, &self.constants})
      for (const NamedTensor& entry : *list)
        if (entry.name == target) return &entry.tensor;
    return nullptr;
  }
};

/// Index for tensor_named() with O(log entries) lookups; views the program. Construction: O(n log n).
class TensorIndex {
 public:
  template <class Tables>
  constexpr explicit TensorIndex(const Tables& program)
      : lists_{&program.state_dict, &program.constants},
        names_{NameIndex(program.state_dict, name_of_entry), NameIndex(program.constants, name_of_entry)} {}
  template <class = void>
  [[nodiscard]] constexpr const Tensor* find(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < 2; ++i)
      if (const std::size_t at = names_[i].first(name); at != NameIndex::not_found) return &(*lists_[i])[at].tensor;
    return nullptr;
  }

 private:
  static constexpr auto name_of_entry = [](const NamedTensor& entry) { return entry.name.view(); };
  const std::vector<NamedTensor>* lists_[2];
  NameIndex names_[2];  // NOLINT(modernize-use-default-member-init): initialized from the constructor's argument
};

/// A program exported by torch.export: its tables. Constructors and destructor are compiled with the definitions:
/// inline they would take a third of the compile time of a user's first program.
///
/// The tensors of the state dict view the mapped file: copies of a program share them. Source:
/// torch.export.ExportedProgram.
struct ExportedProgram : ProgramTables {
  ExportedProgram();
  ExportedProgram(ProgramTables tables) noexcept;
  ExportedProgram(const ExportedProgram& other);
  ExportedProgram(ExportedProgram&& other) noexcept;
  ExportedProgram& operator=(const ExportedProgram& other);
  ExportedProgram& operator=(ExportedProgram&& other) noexcept;
  ~ExportedProgram();
};

}  // namespace davit
