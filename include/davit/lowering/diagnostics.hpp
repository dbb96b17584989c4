// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/core/name.hpp"

namespace davit {

/// What a partitioner that goes by costs considered: a way to cut the program, or a backend for a partition.
struct CostCandidate {
  Name what;       ///< a partition's tag, or "the program"
  Name candidate;  ///< the backend, or the way
  std::size_t partitions = 1;
  std::uint64_t ns = UINT64_MAX;  ///< of one call; UINT64_MAX: not known
  bool chosen = false;
};

/// What lowering did with one method of a program.
struct MethodReport {
  struct Partition {
    Name tag;
    Name backend;
    std::size_t nodes = 0;
    std::size_t inputs = 0;      ///< values passed at each call
    std::size_t outputs = 0;
    std::size_t held_bytes = 0;  ///< of the constants it holds
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
};

/// What lowering has to say that is no error.
struct Diagnostics {
  std::vector<Name> warnings;
  std::vector<MethodReport> reports;  ///< one per method that was partitioned
};

}  // namespace davit
