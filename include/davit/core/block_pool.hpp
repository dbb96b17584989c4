// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include "davit/core/config.hpp"
#include "davit/core/shared_bytes.hpp"

namespace davit {

/// Blocks for the tensors of one program or partition: those of middling size lie side by side in larger ones, so that
/// huge pages hold them, which are read up to 1.8 times as fast. A larger one is freed when all that lie in it are.
class BlockPool {
 public:
  /// Zeroed bytes, aligned to 64; none if there is no memory (and size > 0). O(size).
  [[nodiscard]] SharedBytes allocate(std::size_t size) noexcept;
  /// A copy of `bytes`, or none.
  [[nodiscard]] SharedBytes copy_of(std::span<const std::byte> bytes) noexcept;

 private:
  [[nodiscard]] SharedBytes uninitialized(std::size_t size) noexcept;

  SharedBytes rest_;           ///< of the larger block
  std::size_t allocated_ = 0;  ///< of middling size
};

}  // namespace davit
