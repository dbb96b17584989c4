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

/// What a value is where it is passed: a tensor, a symbolic number, a custom object.
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

  /// The constants of the program and where they go; those that nothing uses are left out. In the signature's order.
  [[nodiscard]] const std::vector<ConstantPlacement>& placements() const noexcept { return placements_; }

  /// The program of one partition: constants and mutated buffers that are its own, then what it is passed as user
  /// inputs.
  [[nodiscard]] ExportedProgram submodule(TagId tag);

  /// The program that calls the submodules; every submodule must have been cut before. Each graph keeps its number.
  [[nodiscard]] ExportedProgram parent();

 private:
  static constexpr TagId many = no_id - 1;     ///< several partitions
  static constexpr TagId outside = no_id - 2;  ///< the parent, perhaps among others

  struct Call {
    std::vector<ValueId> inputs;  ///< tokens, then what is passed
    std::vector<ValueId> outputs;
  };

  void index_tensors();
  void index_ranges();

  /// Finds who uses each input of the root graph and which values leave their partition.
  void follow_inputs();

  void find_gradients();

  void use(ValueId v, TagId tag);

  /// A value leaves its partition if another one, control flow or the caller uses it.
  void mark_escapes();

  void place_constants();
  [[nodiscard]] static std::size_t tensor_bytes(const Tensor& tensor) noexcept;

  /// True if the partitions that use an input hold it themselves.
  [[nodiscard]] bool moves(std::uint32_t spec) const noexcept;
  [[nodiscard]] bool mutation_moves(std::size_t output) const noexcept { return state_of_output_[output] != no_id; }
  /// The parent still needs an input if something outside the partitions does, if it is passed to them, or if an output
  /// is its gradient.
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

  /// Moves tokens to the front, otherwise keeping the order; answers how many there are.
  [[nodiscard]] std::size_t tokens_first(std::vector<ValueId>& values) const;

  /// Adds an attribute of the program: its tensor or object goes into the submodule.
  void add_attribute(ExportedProgram& out, std::uint32_t spec);
  void add_tensor(ExportedProgram& out, std::uint32_t spec, bool copy);
  /// Adds an input that is passed at each call.
  void pass_in(ExportedProgram& out, ValueId v);
  void mutations(ExportedProgram& out, TagId tag, std::vector<Argument>& outputs) const;
  void add_ranges(ExportedProgram& out) const;

  void parent_inputs(ExportedProgram& out, GraphId g);
  void call_delegate(TagId tag, NodeId first);
  /// The vertices, those of graph 0 first, in the given order within a graph.
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
  std::vector<std::uint32_t> output_of_;  ///< per value: its first place among the outputs of its graph
  std::vector<Call> calls_;
  std::vector<TensorEntry> tensors_;
  std::vector<InputRole> roles_;
  std::vector<TagId> owner_;          ///< per input spec: the one partition that uses it, many, outside, or no_id
  std::vector<std::uint32_t> users_;  ///< per input spec: partitions that use it
  std::vector<TagId> last_user_;
  std::vector<std::uint32_t> mutation_of_;      ///< per input spec: the output that is its new value
  std::vector<std::uint8_t> has_gradient_;      ///< per input spec
  std::vector<std::uint32_t> state_of_output_;  ///< per output: the input spec it moves into a partition with
  std::vector<std::uint32_t> outputs_of_tag_;   ///< first row of moved_outputs_ per tag
  std::vector<std::uint32_t> moved_outputs_;
  std::vector<ConstantPlacement> placements_;
  std::vector<TagId> seen_;            ///< per value: the partition whose inputs were last found to hold it
  std::vector<std::uint32_t> ranges_;  ///< per expression: the constraint of that symbol
  GraphCopier copier_;
};

}  // namespace davit
