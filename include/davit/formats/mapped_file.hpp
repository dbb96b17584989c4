// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/shared_bytes.hpp"

namespace davit::formats {

/// Maps a file; writes stay private to this process (a program may change a tensor in place). The bytes stay valid while
/// a share of them lives; nobody may shorten the file meanwhile.
///
/// Errors: io_error, with the path, for what is missing, unreadable, empty or not a regular file.
[[nodiscard]] Result<SharedBytes> map_file(const std::string& path);

/// Gives the memory of what was read of a mapped file back to the system; it is read again when somebody looks. Nothing for bytes
/// that are no mapping's. What was written to them is lost: only for bytes that nobody has written.
void forget(const SharedBytes& bytes) noexcept;

/// Writes a file whole or leaves what was there: the bytes go to a new file beside it, which takes its name when all of them lie
/// on the disk. What is there and is no regular file (a device, a pipe) is written as it is. Errors: io_error, with the path.
[[nodiscard]] Result<void> write_file(const std::string& path, std::span<const std::byte> bytes);
/// The same of several parts, one behind the other.
[[nodiscard]] Result<void> write_file(const std::string& path, std::span<const std::span<const std::byte>> parts);
[[nodiscard]] inline Result<void> write_file(const std::string& path, std::string_view text) {
  return write_file(path, std::as_bytes(std::span(text)));
}

}  // namespace davit::formats

#if !defined(DAVIT_COMPILED)
#include "davit/formats/impl/mapped_file.ipp"
#endif
