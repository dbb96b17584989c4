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
  scratch,   ///< the session's arena, or an output's destination
  input,     ///< a delegate input
  constant,  ///< of the program, or computed from one at compile time
};

/// A block of memory.
struct Storage {
  StorageKind kind = StorageKind::scratch;
  std::uint32_t index = 0;       ///< input: its index; constant: index in Code::constants
  std::uint32_t output = no_id;  ///< scratch: the graph output in this storage
  std::uint32_t parent = no_id;  ///< the larger block around it
  std::size_t parent_offset = 0;
  std::size_t bytes = 0;
  std::uint32_t first = no_id;  ///< the step that first writes it
  std::uint32_t last = 0;       ///< the last step that needs it
};

/// A tensor's layout and place.
struct Place {
  MemoryDesc md;
  std::uint32_t storage = no_id;
  std::size_t offset = 0;  ///< in bytes
  [[nodiscard]] bool is_set() const noexcept { return storage != no_id; }
};

struct StepArgument {
  int role = 0;             ///< DNNL_ARG_*
  std::uint32_t place = 0;  ///< index in Code::places
};

enum class StepKind : std::uint8_t {
  primitive,
  zeros,        ///< written to the place of the only argument
  broadcast,    ///< the first argument repeated in the second
  kernel,       ///< one of portable's kernels: operands, then results
  check_values  ///< of the only argument: if a check fails, the partition is repeated on exact kernels
};

struct Step {
  dnnl::primitive primitive;  ///< empty for other kinds
  Range arguments;
  DebugHandle handle = no_debug_handle;
  std::string_view name;
  int threads = 0;  ///< the number that the primitive was made for
  StepKind kind = StepKind::primitive;
  std::int64_t first = 0;  ///< broadcast: index in Code::dims (sizes, strides of both); kernel: its index
  std::int64_t rank = 0;   ///< broadcast
};

/// The source of a delegate's output.
struct Output {
  enum class Kind : std::uint8_t { made, input, constant, literal };
  Kind kind = Kind::literal;
  std::uint32_t index = 0;  ///< made: a storage; input: a delegate input; constant: index in the body
  Argument literal{};
  Range dims{};                            ///< made: sizes, then strides
  ScalarType dtype = ScalarType::float32;  ///< made
};

/// The expected form of a delegate input.
struct InputPort {
  std::uint32_t storage = no_id;  ///< no_id: unused, or returned unchanged
  std::uint32_t copy = no_id;     ///< the copy's storage, for an input that is not contiguous
  ValueId value = no_id;
};

/// Options of a partition's code.
struct CodeOptions {
  int threads = 1;
  bool exact = true;         ///< check values where NaN or infinities may get lost
  bool int8_kernels = true;  ///< compute int8 programs in int8 where the library has fast primitives
};

/// A compiled partition: immutable, shared by sessions.
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
  std::vector<std::uint32_t> roots;                   ///< per place: the root storage
  std::vector<std::vector<std::uint32_t>> places_of;  ///< per storage
  int threads = 0;
  bool always_falls_back = false;  ///< a constant fails its check: every run uses exact kernels

  /// Returns the root block of a place, and the offset from its start.
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
