// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/backend/delegate_io.hpp"
#include "davit/core/config.hpp"
#include "davit/lowering/constant_placement.hpp"
#include "davit/lowering/graph_copier.hpp"
#include "davit/lowering/partitioning.hpp"
#include "davit/lowering/quotient_graph.hpp"

namespace davit {

/// Makes the argument for a value that crosses a call: a tensor, a symbolic number or a custom object.
[[nodiscard]] UserArgument user_argument(GraphModuleView graph, ValueId v);

/// Cuts a program along its partitions: a program per tag, and the parent that calls them.
///
/// Built once in O(program); a submodule costs O(its size). The program and the tags must be checked, every node but
/// control flow tagged, and both must outlive the cutter. Source: executorch.exir.lowered_backend_module
/// (create_exported_program_from_submodule, create_submodule_from_nodes).
class ProgramCutter {
 public:
  ProgramCutter(const ExportedProgram& program, const PartitionTags& tags, const QuotientGraph& quotient,
                std::span<const std::uint32_t> order, SharedConstants shared);

  /// Returns the placement of each used constant, in the signature's order.
  [[nodiscard]] const std::vector<ConstantPlacement>& placements() const noexcept { return placements_; }

  /// Makes the program of one partition: its own constants and mutated buffers, then its call operands as user inputs.
  [[nodiscard]] ExportedProgram submodule(TagId tag);

  /// Makes the program that calls the submodules. Every submodule must have been cut before. Graph ids stay the same.
  [[nodiscard]] ExportedProgram parent();

 private:
  static constexpr TagId many = no_id - 1;     ///< several partitions
  static constexpr TagId outside = no_id - 2;  ///< the parent, perhaps beside partitions

  struct Call {
    std::vector<ValueId> inputs;  ///< tokens, then the other operands
    std::vector<ValueId> outputs;
  };

  void index_tensors();
  void index_ranges();

  /// Finds the users of each input of the root graph, and the values that leave their partition.
  void follow_inputs();

  void find_gradients();

  void use(ValueId v, TagId tag);

  /// A value leaves its partition if another one, control flow or the caller uses it.
  void mark_escapes();

  void place_constants();
  [[nodiscard]] static std::size_t tensor_bytes(const Tensor& tensor) noexcept;

  /// True if the partitions that use an input hold it as their own constant or buffer.
  [[nodiscard]] bool moves(std::uint32_t spec) const noexcept;
  [[nodiscard]] bool mutation_moves(std::size_t output) const noexcept { return state_of_output_[output] != no_id; }
  /// True if the parent still needs an input: a node outside the partitions uses it, it is passed to a partition, or an
  /// output is its gradient.
  [[nodiscard]] bool stays(std::uint32_t spec) const noexcept;
  [[nodiscard]] TagId tag_of(ValueId v) const noexcept;
  [[nodiscard]] bool is_inside(ValueId v, TagId tag) const noexcept { return tag_of(v) == tag; }
  [[nodiscard]] GraphId graph_of(TagId tag) const noexcept;
  /// The order of torch's inputs: parameters, buffers, constants, custom objects.
  [[nodiscard]] int rank(std::uint32_t spec) const noexcept;
  [[nodiscard]] Name name(ValueId v) const { return Name::own(graph_.name(v)); }

  struct TensorEntry {
    std::string_view name;
    const NamedTensor* entry = nullptr;
    bool constant = false;
  };
  /// The tensor of an input: from the state dict, else from the constants.
  [[nodiscard]] const NamedTensor* find(std::uint32_t spec) const noexcept;

  [[nodiscard]] ExportedProgram empty_program() const;

  /// Moves tokens to the front and keeps the order otherwise. Returns the number of tokens.
  [[nodiscard]] std::size_t tokens_first(std::vector<ValueId>& values) const;

  /// Adds a parameter, buffer, constant or custom object to the submodule.
  void add_attribute(ExportedProgram& out, std::uint32_t spec);
  void add_tensor(ExportedProgram& out, std::uint32_t spec, bool copy);
  /// Adds an input that is passed at each call.
  void pass_in(ExportedProgram& out, ValueId v);
  void mutations(ExportedProgram& out, TagId tag, std::vector<Argument>& outputs) const;
  void add_ranges(ExportedProgram& out) const;

  void parent_inputs(ExportedProgram& out, GraphId g);
  void call_delegate(TagId tag, NodeId first);
  /// Returns the vertices graph by graph, graph 0 first, in the given order within a graph.
  [[nodiscard]] std::vector<std::uint32_t> order_by_graph() const;

  const ExportedProgram& program_;
  GraphModuleView graph_;
  const PartitionTags& tags_;
  const QuotientGraph& quotient_;
  std::span<const std::uint32_t> order_;
  SharedConstants shared_;
  std::vector<std::uint32_t> vertex_of_tag_;
  std::vector<std::uint32_t> spec_of_value_;
  std::vector<std::uint8_t> escapes_;
  std::vector<std::uint32_t> output_of_;  ///< per value: the first index among its graph's outputs
  std::vector<Call> calls_;
  std::vector<TensorEntry> tensors_;
  std::vector<InputRole> roles_;
  std::vector<TagId> owner_;          ///< per input spec: its only partition, or many, outside, no_id
  std::vector<std::uint32_t> users_;  ///< per input spec: partitions that use it
  std::vector<TagId> last_user_;
  std::vector<std::uint32_t> mutation_of_;      ///< per input spec: the output with its new value
  std::vector<std::uint8_t> has_gradient_;      ///< per input spec
  std::vector<std::uint32_t> state_of_output_;  ///< per output: the input spec that takes it into a partition
  std::vector<std::uint32_t> outputs_of_tag_;   ///< first row of moved_outputs_ per tag
  std::vector<std::uint32_t> moved_outputs_;
  std::vector<ConstantPlacement> placements_;
  std::vector<TagId> seen_;            ///< per value: the last partition that was found to take it
  std::vector<std::uint32_t> ranges_;  ///< per expression: its range constraint
  GraphCopier copier_;
};

}  // namespace davit
