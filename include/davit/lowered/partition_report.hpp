// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/core/name.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// What a partitioner that goes by costs considered: a way to cut the program, or a backend for a partition.
struct CostCandidate {
  Name what;       ///< a partition's tag, or "the program"
  Name candidate;  ///< the backend, or the way
  std::size_t partitions = 1;
  std::uint64_t ns = UINT64_MAX;  ///< of one call; UINT64_MAX: not known
  bool chosen = false;
};

/// A lowered method as a picture shows it: boxes and edges per graph.
struct PartitionedGraph {
  enum class BoxKind : std::uint8_t { inputs, outputs, partition, control_flow };
  struct Box {
    BoxKind kind = BoxKind::partition;
    GraphId graph = no_id;
    Name label;                       ///< a partition's tag, a control-flow node's name, "inputs" or "outputs"
    Name detail{};                    ///< the backend's name, or the operator
    std::uint32_t partition = no_id;  ///< row of the report's partitions
    std::uint32_t backend = no_id;    ///< of a partition
    std::size_t nodes = 0;            ///< of a partition; 0: not known
    std::vector<GraphId> graphs{};    ///< of control flow: what it runs
  };
  struct Edge {
    std::uint32_t from = 0;  ///< box
    std::uint32_t to = 0;    ///< box
    Name value;
    Name type;              ///< such as "float32[1, 8]"; symbolic sizes by name, or as ~example
    std::size_t bytes = 0;  ///< of a tensor of static sizes (with symbolic ones: of the example)
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

/// What lowering did with one method of a program: print_report, write_dot and formats::report_json show it.
/// Source: executorch.devtools.backend_debug.DelegationInfo.
struct PartitionReport {
  struct Partition {
    Name tag;
    Name backend;
    std::size_t nodes = 0;   ///< 0: not known
    std::size_t inputs = 0;  ///< values passed at each call
    std::size_t outputs = 0;
    std::size_t constant_bytes = 0;  ///< of the constants it holds
    std::uint64_t ns = UINT64_MAX;   ///< in one run; UINT64_MAX: not measured
  };
  /// A node of the program as it was partitioned.
  struct Node {
    Name name;                        ///< its first output
    Name target;                      ///< the operator
    Name type;                        ///< of its outputs, such as "float32[1, 8]"
    std::uint32_t partition = no_id;  ///< no_id: control flow
    std::uint32_t place = no_id;      ///< row of places
    std::vector<NodeId> inputs;       ///< the nodes whose outputs it reads, each once
    std::uint64_t ns = UINT64_MAX;    ///< in one run; UINT64_MAX: not measured
  };
  /// Where nodes came from, as torch.export says it.
  struct Place {
    Name stack_trace;
    Name nn_module_stack;
  };
  /// Memory of the arena that a partition's output or scratch takes, by the ticks of the schedule that need it.
  struct Block {
    Name what;
    std::uint32_t partition = no_id;
    bool scratch = false;
    std::size_t offset = 0;
    std::size_t bytes = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  /// The plan of the arena; without blocks before a run, as sizes may depend on inputs.
  struct Memory {
    std::size_t arena_bytes = 0;
    std::size_t total_bytes = 0;  ///< if nothing shared its place
    std::uint32_t ticks = 0;
    std::vector<Block> blocks;
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
};

/// What lowering has to say that is no error.
struct Diagnostics {
  std::vector<Name> warnings;
  std::vector<PartitionReport> reports;  ///< one per method that was partitioned
};

}  // namespace davit
