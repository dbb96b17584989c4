// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include "davit/core/config.hpp"
#include "davit/core/shared_bytes.hpp"

namespace davit {

/// Allocates the tensors of one program or partition: tensors of 64 KiB to 4 MiB share blocks of 16 MiB, so that huge
/// pages hold them, which reads them up to 1.8 times as fast. A block is freed with its last tensor.
class BlockPool {
 public:
  /// Returns zeroed bytes, aligned to 64; empty if there is no memory (and size > 0). O(size).
  [[nodiscard]] SharedBytes allocate(std::size_t size) noexcept;
  /// Returns a copy of `bytes`; empty if there is no memory.
  [[nodiscard]] SharedBytes copy_of(std::span<const std::byte> bytes) noexcept;

 private:
  [[nodiscard]] SharedBytes uninitialized(std::size_t size) noexcept;

  SharedBytes rest_;           ///< unused end of the current block
  std::size_t allocated_ = 0;  ///< bytes of requests of 64 KiB to 4 MiB so far
};

}  // namespace davit
