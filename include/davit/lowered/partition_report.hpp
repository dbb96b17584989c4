// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/core/name.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// A candidate of a cost-based partitioner: a backend for a partition, or a way to partition the program.
struct CostCandidate {
  Name what;       ///< a partition's tag, or "the program"
  Name candidate;  ///< the backend, or the way to partition
  std::size_t partitions = 1;
  std::uint64_t ns = UINT64_MAX;  ///< duration of one call; UINT64_MAX: not known
  bool chosen = false;
};

/// A lowered method as a diagram: boxes and edges per graph.
struct PartitionedGraph {
  enum class BoxKind : std::uint8_t { inputs, outputs, partition, control_flow };
  struct Box {
    BoxKind kind = BoxKind::partition;
    GraphId graph = no_id;
    Name label;                       ///< a partition's tag, a control-flow node's name, "inputs" or "outputs"
    Name detail{};                    ///< the backend's name, or the operator
    std::uint32_t partition = no_id;  ///< row of the report's partitions
    std::uint32_t backend = no_id;    ///< backend of a partition
    std::size_t nodes = 0;            ///< number of nodes of a partition; 0: not known
    std::vector<GraphId> graphs{};    ///< sub-graphs of control flow
  };
  struct Edge {
    std::uint32_t from = 0;  ///< box
    std::uint32_t to = 0;    ///< box
    Name value;
    Name type;              ///< for example "float32[1, 8]"; symbolic sizes by name, or as ~example
    std::size_t bytes = 0;  ///< size of a tensor; for symbolic sizes, size of the example
  };
  struct Block {
    Name name;
    std::vector<std::uint32_t> boxes;  ///< in execution order
    std::vector<std::uint32_t> edges;
  };
  std::vector<Box> boxes;
  std::vector<Edge> edges;
  std::vector<Block> graphs;  ///< by GraphId; 0 is the method itself
};

/// Result of lowering one method of a program. Shown by print_report, write_dot and formats::report_json.
/// Source: executorch.devtools.backend_debug.DelegationInfo.
struct PartitionReport {
  struct Partition {
    Name tag;
    Name backend;
    std::size_t nodes = 0;   ///< 0: not known
    std::size_t inputs = 0;  ///< number of values passed at each call
    std::size_t outputs = 0;
    std::size_t constant_bytes = 0;  ///< size of the constants in the partition
    std::uint64_t ns = UINT64_MAX;   ///< duration in one run; UINT64_MAX: not measured
  };
  /// An argument of a node by its name in the operator's schema, but for values of other nodes.
  struct Attribute {
    Name name;
    Name value{};                  ///< in Python syntax: "[1, 1]", "1e-05"; empty for a weight
    std::uint32_t weight = no_id;  ///< row of weights
    bool is_default = false;       ///< the node leaves it to the schema
  };
  /// A node of the program before partitioning.
  struct Node {
    Name name;                        ///< name of the first output
    Name target;                      ///< the operator
    Name type;                        ///< types of the outputs, for example "float32[1, 8]"
    std::uint32_t partition = no_id;  ///< no_id: control flow
    std::uint32_t place = no_id;      ///< row of places
    std::vector<NodeId> inputs;       ///< nodes whose outputs it reads, without duplicates
    std::uint64_t ns = UINT64_MAX;    ///< duration in one run; UINT64_MAX: not measured
    std::vector<Attribute> attributes{};
  };
  /// A parameter, buffer or constant that a node reads.
  struct Weight {
    Name target;
    Name type;  ///< for example "float32[8, 3, 3, 3]"
    std::size_t bytes = 0;
    double least = NAN;  ///< of its finite elements; NAN: there are none, or it has no order (complex, bool)
    double most = NAN;
  };
  /// Source place of nodes, as torch.export records it.
  struct Place {
    Name stack_trace;
    Name nn_module_stack;
  };
  /// Arena memory of a partition's output or scratch, with its lifetime in ticks of the schedule.
  struct Block {
    Name what;
    std::uint32_t partition = no_id;
    bool scratch = false;
    std::size_t offset = 0;
    std::size_t bytes = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  /// The memory plan of the arena. Without blocks before the first run, because sizes may depend on inputs.
  struct Memory {
    std::size_t arena_bytes = 0;
    std::size_t total_bytes = 0;  ///< sum of all blocks, as if none shared memory
    std::uint32_t ticks = 0;
    std::vector<Block> blocks;
    Name sizes{};  ///< the dynamic sizes of the run that it was planned for: "s0=8"
  };
  struct Constant {
    Name target;
    Name fate;  ///< "kept", "moved", "shared", "duplicated"
    std::uint32_t partitions = 0;
    std::size_t bytes = 0;
  };
  struct Refusal {
    Name node;
    Name target;  ///< the operator
    Name backend;
    Name reason;
  };
  Name method;
  std::vector<Partition> partitions;
  std::vector<Constant> constants;
  std::vector<Refusal> refusals;
  std::vector<CostCandidate> candidates;
  PartitionedGraph graph;
  std::vector<Node> nodes;  ///< by NodeId
  std::vector<Place> places;
  Memory memory;
  std::vector<Weight> weights{};
  Name sizes{};  ///< the dynamic sizes of the export's example, which bytes of edges are computed with: "s0=2"
};

/// Warnings and reports of lowering.
struct Diagnostics {
  bool with_attributes =
      false;  ///< set before lowering: reports have attributes and weights, which are read for ranges
  std::vector<Name> warnings;
  std::vector<PartitionReport> reports;  ///< one per partitioned method
};

}  // namespace davit
