// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace davit {

/// Old contents of the session state that calls of a run have overwritten, so that a failing run changes nothing.
/// Reuses its memory between runs.
class UndoLog {
 public:
  /// Saves bytes that are about to be overwritten; throws std::bad_alloc, before any write, if there is no memory.
  /// O(bytes).
  void keep(void* at, std::size_t bytes) {
    if (bytes == 0) return;
    const auto* const from = static_cast<const std::byte*>(at);
    bytes_.insert(bytes_.end(), from, from + bytes);
    pieces_.push_back({static_cast<std::byte*>(at), bytes, bytes_.size() - bytes});
  }
  /// Discards the saved bytes after a successful run.
  void clear() noexcept {
    pieces_.clear();
    bytes_.clear();
  }
  /// Writes the saved bytes back, the last first. O(bytes).
  void restore() noexcept {
    for (std::size_t i = pieces_.size(); i-- > 0;)
      std::memcpy(pieces_[i].at, bytes_.data() + pieces_[i].first, pieces_[i].bytes);
    clear();
  }
  [[nodiscard]] bool is_empty() const noexcept { return pieces_.empty(); }

 private:
  struct Piece {
    std::byte* at;
    std::size_t bytes;
    std::size_t first;  ///< index into bytes_
  };
  std::vector<Piece> pieces_;
  std::vector<std::byte> bytes_;
};

}  // namespace davit
