// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "davit/backend/contract.hpp"
#include "davit/runtime/scratch.hpp"

namespace davit {

/// Lets a backend size its workspace for these inputs; answers the bytes of scratch it asks for, 0 for a backend that
/// does not prepare. `outputs` says which outputs will have a destination. Errors: what the backend's prepare reports.
template <RuntimeBackend B>
[[nodiscard]] Result<std::size_t> scratch_for(const typename B::Handle& handle, std::span<const EValue> inputs,
                                              std::span<const EValue> outputs, workspace_of<B>& workspace) {
  Result<std::size_t> bytes(0);
  if constexpr (FillsDestinations<B>) {
    bytes = B::prepare(handle, inputs, outputs, workspace);
  } else if constexpr (Prepares<B>) {
    bytes = B::prepare(handle, inputs, workspace);
  }
  if (!bytes && bytes.error().backend.empty()) bytes.error().backend = B::name;
  return bytes;
}

/// scratch_for, and room for it. Errors: out_of_memory too.
template <RuntimeBackend B>
[[nodiscard]] Result<void> prepare_delegate(const typename B::Handle& handle, std::span<const EValue> inputs,
                                            std::span<const EValue> outputs, workspace_of<B>& workspace, Scratch& scratch) {
  Result<std::size_t> bytes = scratch_for<B>(handle, inputs, outputs, workspace);
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  if (!scratch.reserve(*bytes))
    return std::unexpected(Error{.code = ErrorCode::out_of_memory, .stage = Stage::execute, .backend = B::name,
                                 .what = concat("no memory for ", *bytes, " bytes of scratch"),
                                 .fix = "run with smaller inputs"});
  return {};
}

}  // namespace davit
