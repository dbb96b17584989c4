// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "davit/backend/memory_plan.hpp"
#include "davit/backend/program_body.hpp"
#include "davit/backends/portable/run_time/argument_table.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/products/row_epilogue.hpp"
#include "davit/core/tensor.hpp"
#include "davit/program/symbols.hpp"

namespace davit::portable_kernels {

/// One call of a kernel.
struct Step {
  Kernel kernel = nullptr;
  std::string_view op;
  Range arguments{};
  Range slots_in{};  ///< rows of ArgumentTable::slots
  Range slots_out{};
  DebugHandle handle = no_debug_handle;
  std::uint32_t epilogue = no_id;  ///< a row of Code::tails
  bool is_own = false;             ///< the kernel is a user's: what it makes is checked
};

/// A method as steps over slots, which its sessions share.
struct Code {
  std::shared_ptr<const ProgramBody> body;
  std::uint32_t threads = 1;  ///< of one run
  std::vector<Step> steps;
  ArgumentTable arguments;
  std::vector<Tensor> packed;          ///< constants of steps on bytes, whose arguments are views of them, and of tails
  std::vector<RowEpilogue> tails;      ///< of convolutions
  std::vector<ValueId> value_of_slot;  ///< no_id for an output that the graph does not name
  std::vector<std::uint32_t> slot_of_value;
  std::vector<std::uint32_t> input_slots;  ///< per delegate input; no_id for one that no value carries
  std::vector<std::uint32_t> constant_slots;
  std::vector<std::uint32_t> object_slots;
  std::vector<Lifetime> lifetimes;  ///< of slots that steps define, in slot order; bytes are per run
  std::vector<std::uint32_t> planned_slots;
  std::vector<std::uint8_t> takes_none;   ///< per planned slot: 1 if it only ever views another's memory
  std::vector<std::uint32_t> made_slots;  ///< per graph output: the slot whose place is the output's: its own, or what
                                          ///< it is all elements of; no_id: none
  std::vector<std::uint32_t> updated_inputs;  ///< per graph output: the delegate input that it may be made in, or no_id
};

/// What a session keeps from run to run.
struct RunState {
  std::vector<EValue> slots;
  std::vector<EValue> arguments;
  std::vector<OutputPlace> places;
  std::vector<std::int64_t> dims;
  std::vector<std::size_t> offsets;
  std::byte* scratch = nullptr;
  std::vector<std::uint8_t> given;  ///< per slot: 1 if it lies at the destination of an output
  SymbolValues symbols;
  KernelMemory memory;
};

}  // namespace davit::portable_kernels
