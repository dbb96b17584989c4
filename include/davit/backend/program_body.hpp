// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "davit/backend/contract.hpp"
#include "davit/backend/delegate_io.hpp"
#include "davit/core/segments.hpp"
#include "davit/program/graph_bytes.hpp"

namespace davit {

/// The parts of a method that a backend may keep: its graph without source metadata, its constants and objects, a debug
/// handle per node. Shared and immutable; constants view the file of the model.
struct ProgramBody {
  GraphModule graph;
  std::vector<InputRole> roles;      ///< per graph input
  std::vector<Tensor> constants;     ///< per graph input of role `constant`, in order
  std::vector<SharedBytes> objects;  ///< per graph input of role `object`, in order: its pickled state
  std::vector<DebugHandle> handles;  ///< per node
};

/// Returns the tensor of each value that is a constant; nullptr for others. O(values).
[[nodiscard]] std::vector<const Tensor*> constants_of_values(const ProgramBody& body);

/// Makes the body of a method, for `backend`. Errors: not_found if the program lacks a constant.
[[nodiscard]] Result<std::shared_ptr<const ProgramBody>> make_program_body(const Method& method,
                                                                           std::string_view backend,
                                                                           DebugHandleRecorder& debug_handles);

/// Serializes the body; constants become segments, which view them.
[[nodiscard]] std::vector<std::byte> save_program_body(const ProgramBody& body, SegmentWriter& segments);

/// Reads the bytes of save_program_body, for `backend`. Errors: corrupt_data, out_of_memory.
[[nodiscard]] Result<std::shared_ptr<const ProgramBody>> load_program_body(std::span<const std::byte> bytes,
                                                                           const SegmentReader& segments,
                                                                           std::string_view backend);

}  // namespace davit
