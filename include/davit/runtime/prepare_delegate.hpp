// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "davit/backend/contract.hpp"
#include "davit/runtime/scratch.hpp"

namespace davit {

/// Lets a backend size its workspace for these inputs, and makes room for the scratch it asks for. Nothing for a backend
/// that does not prepare. Errors: out_of_memory, what the backend's prepare reports.
template <RuntimeBackend B>
[[nodiscard]] Result<void> prepare_delegate(const typename B::Handle& handle, std::span<const EValue> inputs,
                                            workspace_of<B>& workspace, Scratch& scratch) {
  if constexpr (Prepares<B>) {
    Result<std::size_t> bytes = B::prepare(handle, inputs, workspace);
    if (!bytes) {
      if (bytes.error().backend.empty()) bytes.error().backend = B::name;
      return std::unexpected(std::move(bytes.error()));
    }
    if (!scratch.reserve(*bytes))
      return std::unexpected(Error{.code = ErrorCode::out_of_memory, .stage = Stage::execute, .backend = B::name,
                                   .what = concat("no memory for ", *bytes, " bytes of scratch"),
                                   .fix = "run with smaller inputs"});
  }
  return {};
}

}  // namespace davit
