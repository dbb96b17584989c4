// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace davit {

/// What calls of a run have written over in a session's state, so that a run that fails changes nothing. Keeps its
/// memory from run to run.
class UndoLog {
 public:
  /// Keeps bytes that are about to be overwritten; throws std::bad_alloc, before anything is written, if there is no
  /// memory. O(bytes).
  void keep(void* at, std::size_t bytes) {
    if (bytes == 0) return;
    const auto* const from = static_cast<const std::byte*>(at);
    bytes_.insert(bytes_.end(), from, from + bytes);
    pieces_.push_back({static_cast<std::byte*>(at), bytes, bytes_.size() - bytes});
  }
  /// Forgets what was kept: the run has succeeded.
  void clear() noexcept {
    pieces_.clear();
    bytes_.clear();
  }
  /// Writes back what was kept, the last first. O(bytes).
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
    std::size_t first;  ///< of bytes_
  };
  std::vector<Piece> pieces_;
  std::vector<std::byte> bytes_;
};

}  // namespace davit
