// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "davit/runtime/prepare_delegate.hpp"

namespace davit {

DAVIT_INLINE Result<std::size_t> scratch_for(const BackendTable& backend, const void* handle, std::span<const EValue> inputs,
                                             std::span<const EValue> outputs, void* workspace) {
  Result<std::size_t> bytes(0);
  if (backend.prepare == nullptr) return bytes;
  bytes = backend.prepare(handle, inputs, outputs, workspace);
  if (bytes) return bytes;
  if (bytes.error().backend.empty()) bytes.error().backend = Name(backend.name);
  bytes.error().stage = Stage::execute;
  return bytes;
}

DAVIT_INLINE Result<void> prepare_delegate(const BackendTable& backend, const void* handle, std::span<const EValue> inputs,
                                           std::span<const EValue> outputs, void* workspace, Scratch& scratch,
                                           std::uint64_t max_memory) {
  Result<std::size_t> bytes = scratch_for(backend, handle, inputs, outputs, workspace);
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  if (*bytes > max_memory || !scratch.reserve(*bytes))
    return std::unexpected(Error{.code = ErrorCode::out_of_memory, .stage = Stage::execute, .backend = Name(backend.name),
                                 .what = concat("no memory for ", *bytes, " bytes of scratch"), .fix = "run with smaller inputs"});
  return {};
}

}  // namespace davit
