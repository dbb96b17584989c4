// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "davit/core/catch_bad_alloc.hpp"
#include "davit/runtime/prepare_delegate.hpp"

namespace davit {

Result<std::size_t> scratch_for(const BackendTable& backend, const void* handle, std::span<const EValue> inputs,
                                std::span<const EValue> outputs, void* workspace) {
  Result<std::size_t> bytes(0);
  if (backend.prepare == nullptr) return bytes;
  bytes = detail::catch_bad_alloc(Stage::execute, [&] { return backend.prepare(handle, inputs, outputs, workspace); });
  if (bytes) return bytes;
  if (bytes.error().backend.empty()) bytes.error().backend = Name(backend.name);
  bytes.error().stage = Stage::execute;
  return bytes;
}

Result<void> prepare_delegate(const BackendTable& backend, const void* handle, std::span<const EValue> inputs,
                              std::span<const EValue> outputs, void* workspace, Scratch& scratch,
                              std::uint64_t max_memory) {
  Result<std::size_t> bytes = scratch_for(backend, handle, inputs, outputs, workspace);
  if (!bytes) return error_of(std::move(bytes));
  if (*bytes > max_memory || !scratch.reserve(*bytes)) {
    Error error = detail::no_memory_for("scratch", *bytes, max_memory);
    error.backend = Name(backend.name);
    return std::unexpected(std::move(error));
  }
  return {};
}

Error detail::no_memory_for(std::string_view what, std::uint64_t bytes, std::uint64_t max_memory) {
  Error error{.code = ErrorCode::out_of_memory,
              .stage = Stage::execute,
              .what = concat("no memory for ", bytes, " bytes of ", what),
              .fix = "run with smaller inputs"};
  if (bytes <= max_memory) return error;
  error.what = concat(error.what, ": the session's limit is ", max_memory);
  error.fix = "raise max_memory of its Limits (davit: --max-memory), or run with smaller inputs";
  return error;
}

}  // namespace davit
