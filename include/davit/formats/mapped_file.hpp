// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/core/target.hpp"

#if DAVIT_TARGET_FILES
#include <filesystem>
#endif

namespace davit::formats {

#if DAVIT_TARGET_FILES
/// Returns the path that a text in UTF-8 names. Windows writes paths in UTF-16, and takes other texts to be of its code
/// page; a path's own string() is UTF-8 everywhere.
[[nodiscard]] inline std::filesystem::path path_of(std::string_view text) {
  return std::u8string(text.begin(), text.end());
}
#endif

/// Maps a file into memory, copy-on-write: a program may change a tensor in place without changing the file. The bytes
/// are valid while any share of them lives. The file must not be truncated meanwhile.
///
/// Errors: io_error, with the path, if the file is missing, unreadable, empty or not a regular file; where the C++
/// library has no files.
[[nodiscard]] Result<SharedBytes> map_file(const std::string& path);

/// Releases the memory of pages read from a mapped file; the next access reads them again. No effect on bytes that are
/// not mapped. Discards writes to them, so use it only for unwritten bytes.
void forget(const SharedBytes& bytes) noexcept;

/// Writes a file completely or leaves the old one: writes a new file beside it, and renames it after all bytes are on
/// disk. Follows links, also dangling ones. Writes directly to existing devices and pipes. Errors: io_error, with the
/// path.
[[nodiscard]] Result<void> write_file(const std::string& path, std::span<const std::byte> bytes);
/// Writes several parts, one after the other.
[[nodiscard]] Result<void> write_file(const std::string& path, std::span<const std::span<const std::byte>> parts);
[[nodiscard]] inline Result<void> write_file(const std::string& path, std::string_view text) {
  return write_file(path, std::as_bytes(std::span(text)));
}

/// A file that remove_unfinished_files deletes if the process is interrupted. At most 64 at a time are tracked.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(std::string path);
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile();
  [[nodiscard]] const std::string& path() const noexcept { return *path_; }

 private:
  std::unique_ptr<std::string> path_;
  std::atomic<const char*>* place_ = nullptr;  ///< null: not tracked, because 64 others were
};

/// Deletes the temporary files of running write_file calls. For a handler of SIGINT or SIGTERM that then ends the
/// process: async-signal-safe. Without it such a signal leaves `FILE.<process>-<n>.new`.
void remove_unfinished_files() noexcept;

}  // namespace davit::formats
