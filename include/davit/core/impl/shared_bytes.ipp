// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

#include "davit/core/heap_bytes.hpp"
#include "davit/core/shared_bytes.hpp"

namespace davit {

SharedBytes SharedBytes::uninitialized(std::size_t size) noexcept {
  struct Block : Owner {
    explicit Block(std::size_t size_) noexcept : Owner(&Block::destroy), size(size_) {}
    static void destroy(Owner* self) noexcept {
      auto* const block = static_cast<Block*>(self);
      const std::size_t size = block->size;
      block->~Block();
      free_bytes(block, size);
    }
    std::size_t size;  ///< of the block and the bytes behind it
  };
  static_assert(sizeof(Block) <= alignment);
  if (size > SIZE_MAX - alignment) return {};
  void* raw = allocate_bytes(size + alignment);
  if (raw == nullptr) return {};
  auto* block = new (raw) Block(size + alignment);
  return {{static_cast<std::byte*>(raw) + alignment, size}, block};
}

SharedBytes SharedBytes::allocate(std::size_t size) noexcept {
  SharedBytes bytes = uninitialized(size);
  if (!bytes.empty()) std::memset(bytes.writable(), 0, size);
  return bytes;
}

SharedBytes SharedBytes::bools(SharedBytes bytes) noexcept {
  const auto is_odd = [](std::byte b) { return b > std::byte{1}; };
  if (std::ranges::none_of(bytes.bytes(), is_odd)) return bytes;
  SharedBytes copy = copy_of(bytes.bytes());
  if (!copy.empty()) std::replace_if(copy.writable(), copy.writable() + copy.size(), is_odd, std::byte{1});
  return copy;
}

SharedBytes SharedBytes::copy_of(std::span<const std::byte> bytes) noexcept {
  SharedBytes copy = uninitialized(bytes.size());
  if (copy.size() == bytes.size() && !bytes.empty()) std::memcpy(copy.writable(), bytes.data(), bytes.size());
  return copy;
}

void SharedBytes::leave() const noexcept {
  if (owner_ != nullptr && owner_->is_mapped) leave_bytes(bytes_);
}

}  // namespace davit
