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

namespace davit::formats {

/// Maps a file; writes stay private to this process (a program may change a tensor in place). The bytes stay valid
/// while a share of them lives; nobody may shorten the file meanwhile.
///
/// Errors: io_error, with the path, for what is missing, unreadable, empty or not a regular file.
[[nodiscard]] Result<SharedBytes> map_file(const std::string& path);

/// Gives the memory of what was read of a mapped file back to the system; it is read again when somebody looks. Nothing
/// for bytes that are no mapping's. What was written to them is lost: only for bytes that nobody has written.
void forget(const SharedBytes& bytes) noexcept;

/// Writes a file whole or leaves what was there: the bytes go to a new file beside it, which takes its name when all of
/// them lie on the disk. What a link names is written, whether it is there or not. What is there and is no regular file
/// (a device, a pipe) is written as it is. Errors: io_error, with the path.
[[nodiscard]] Result<void> write_file(const std::string& path, std::span<const std::byte> bytes);
/// The same of several parts, one behind the other.
[[nodiscard]] Result<void> write_file(const std::string& path, std::span<const std::span<const std::byte>> parts);
[[nodiscard]] inline Result<void> write_file(const std::string& path, std::string_view text) {
  return write_file(path, std::as_bytes(std::span(text)));
}

/// A file that is removed if the process ends before it is finished: see remove_unfinished_files. At most 64 at a time
/// are known.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(std::string path);
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile();
  [[nodiscard]] const std::string& path() const noexcept { return *path_; }

 private:
  std::unique_ptr<std::string> path_;
  std::atomic<const char*>* place_ = nullptr;  ///< null: there was none
};

/// Removes the files that write_file is writing in other names, for a handler of SIGINT or SIGTERM that ends the
/// process then: it calls only what a handler may. Without it such a signal leaves `FILE.<process>-<n>.new`.
void remove_unfinished_files() noexcept;

}  // namespace davit::formats
