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
  std::uint32_t epilogue = no_id;  ///< row of Code::tails
  bool is_own = false;             ///< a user's kernel: its results are checked
  bool reads_state = false;        ///< its second and third arguments are the program's state
};

/// A method as steps over slots, shared by its sessions.
struct Code {
  std::shared_ptr<const ProgramBody> body;
  std::uint32_t threads = 1;  ///< of one run
  std::vector<Step> steps;
  ArgumentTable arguments;
  std::vector<Tensor> packed;          ///< the constants of int8 steps, whose arguments view them, and of tails
  std::vector<RowEpilogue> tails;      ///< of convolutions
  std::vector<ValueId> value_of_slot;  ///< no_id for an output without a name in the graph
  std::vector<std::uint32_t> slot_of_value;
  std::vector<std::uint32_t> input_slots;  ///< per delegate input; no_id if no value carries it
  std::vector<std::uint32_t> constant_slots;
  std::vector<std::uint32_t> object_slots;
  std::vector<Lifetime> lifetimes;  ///< of slots that steps define, in slot order; bytes are per run
  std::vector<std::uint32_t> planned_slots;
  std::vector<std::uint8_t> takes_none;   ///< per planned slot: 1 if it is always a view
  std::vector<std::uint32_t> made_slots;  ///< per graph output: the slot at the output's destination: its own, or the
                                          ///< storage that it covers whole; no_id: none
  std::vector<std::uint32_t> updated_inputs;  ///< per graph output: the delegate input that it may overwrite, or no_id
};

/// The state of a session between runs.
struct RunState {
  std::vector<EValue> slots;
  std::vector<EValue> arguments;
  std::vector<OutputPlace> places;
  std::vector<std::int64_t> dims;
  std::vector<std::size_t> offsets;
  std::byte* scratch = nullptr;
  std::vector<std::uint8_t> given;  ///< per slot: 1 if it is at an output's destination
  SymbolValues symbols;
  KernelMemory memory;
};

}  // namespace davit::portable_kernels
