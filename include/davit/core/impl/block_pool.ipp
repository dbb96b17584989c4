// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "davit/core/block_pool.hpp"
#include "davit/core/shared_bytes.hpp"

namespace davit {

SharedBytes BlockPool::uninitialized(std::size_t size) noexcept {
  constexpr std::size_t kib = 1024, least = 64 * kib, most = 4096 * kib, whole = 16384 * kib, alignment = 64;
  constexpr std::size_t few = 4096 * kib;  // a smaller total would not fill a huge page
  if (size < least || size > most) return SharedBytes::uninitialized(size);
  allocated_ += size;
  if (allocated_ <= few) return SharedBytes::uninitialized(size);
  const std::size_t taken = (size + alignment - 1) / alignment * alignment;
  if (rest_.size() < taken) rest_ = SharedBytes::uninitialized(whole);
  if (rest_.empty()) return SharedBytes::uninitialized(size);
  const SharedBytes made = rest_.part(0, size);
  rest_ = rest_.part(taken, rest_.size() - taken);
  return made;
}

SharedBytes BlockPool::allocate(std::size_t size) noexcept {
  SharedBytes bytes = uninitialized(size);
  if (!bytes.empty()) std::memset(bytes.writable(), 0, size);
  return bytes;
}

SharedBytes BlockPool::copy_of(std::span<const std::byte> bytes) noexcept {
  SharedBytes copy = uninitialized(bytes.size());
  if (copy.size() == bytes.size() && !bytes.empty()) std::memcpy(copy.writable(), bytes.data(), bytes.size());
  return copy;
}

}  // namespace davit
