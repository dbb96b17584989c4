// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/memory_plan.hpp"
#include "davit/backend/program_body.hpp"
#include "davit/backends/onednn/library.hpp"
#include "davit/backends/portable/run_time/kernel_step.hpp"

namespace davit::onednn_ops {

using portable_kernels::add_tensor, portable_kernels::KernelState, portable_kernels::KernelStep,
    portable_kernels::KernelTensor, portable_kernels::literals_of, portable_kernels::own_kernel_step;

enum class StorageKind : std::uint8_t {
  scratch,   ///< the session's arena, or the destination of an output
  input,     ///< a delegate input
  constant,  ///< of the program, or made of one when compiling
};

/// A block of memory.
struct Storage {
  StorageKind kind = StorageKind::scratch;
  std::uint32_t index = 0;       ///< input: which one; constant: into Code::constants
  std::uint32_t output = no_id;  ///< scratch: the graph output that it is
  std::uint32_t parent = no_id;  ///< the larger block that it is part of
  std::size_t parent_offset = 0;
  std::size_t bytes = 0;
  std::uint32_t first = no_id;  ///< the step that writes it first
  std::uint32_t last = 0;       ///< the step that needs it last
};

/// A tensor in some layout, at some place.
struct Place {
  MemoryDesc md;
  std::uint32_t storage = no_id;
  std::size_t offset = 0;  ///< in bytes
  [[nodiscard]] bool is_set() const noexcept { return storage != no_id; }
};

struct StepArgument {
  int role = 0;             ///< DNNL_ARG_*
  std::uint32_t place = 0;  ///< into Code::places
};

enum class StepKind : std::uint8_t {
  primitive,
  zeros,        ///< written to the place of the only argument
  broadcast,    ///< the first argument repeated in the second
  kernel,       ///< one of portable's: operands, then the results
  check_values  ///< of the only argument: all are ordinary, or the partition runs on exact kernels
};

struct Step {
  dnnl::primitive primitive;  ///< empty for other kinds
  Range arguments;
  DebugHandle handle = no_debug_handle;
  std::string_view name;
  int threads = 0;  ///< that the primitive was made for
  StepKind kind = StepKind::primitive;
  std::int64_t first = 0;  ///< broadcast: into Code::dims, sizes, then strides of both; kernel: which
  std::int64_t rank = 0;   ///< broadcast
};

/// What an output of the delegate is.
struct Output {
  enum class Kind : std::uint8_t { made, input, constant, literal };
  Kind kind = Kind::literal;
  std::uint32_t index = 0;  ///< made: storage; input: delegate input; constant: of the body
  Argument literal{};
  Range dims{};                            ///< made: sizes, then strides
  ScalarType dtype = ScalarType::float32;  ///< made
};

/// What a delegate input has to be.
struct InputPort {
  std::uint32_t storage = no_id;  ///< no_id: only passed through, or not used
  std::uint32_t copy = no_id;     ///< where a copy goes if the input is not contiguous
  ValueId value = no_id;
};

/// How a partition's code is made.
struct CodeOptions {
  int threads = 1;
  bool exact = true;         ///< nothing that loses NaN or infinities goes unnoticed
  bool int8_kernels = true;  ///< int8 programs in int8 arithmetic, where the library has fast primitives for it
};

/// A partition, compiled: immutable, shared by sessions.
struct Code {
  std::shared_ptr<const ProgramBody> body;
  std::vector<Step> steps;
  std::vector<StepArgument> arguments;
  std::vector<Place> places;
  std::vector<Storage> storages;
  std::vector<SharedBytes> constants;
  std::vector<InputPort> inputs;
  std::vector<Output> outputs;
  std::vector<std::int64_t> dims;
  std::vector<KernelStep> kernels;
  std::vector<std::uint32_t> roots;                   ///< per place: the storage it lies in that has no parent
  std::vector<std::vector<std::uint32_t>> places_of;  ///< per storage
  int threads = 0;
  bool always_falls_back = false;  ///< a constant holds what would get lost: every run is one of the exact kernels

  /// The block without parent that a place lies in, and how far from its start.
  [[nodiscard]] std::pair<std::uint32_t, std::size_t> root_of(const Place& place) const noexcept {
    std::uint32_t s = place.storage;
    std::size_t offset = place.offset;
    while (storages[s].parent != no_id) {
      offset += storages[s].parent_offset;
      s = storages[s].parent;
    }
    return {s, offset};
  }
};

}  // namespace davit::onednn_ops
