// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

#include "davit/core/shared_bytes.hpp"

namespace davit {

DAVIT_INLINE SharedBytes SharedBytes::allocate(std::size_t size) noexcept {
  struct Block : Owner {
    explicit Block() noexcept : Owner(&Block::destroy) {}
    static void destroy(Owner* self) noexcept {
      static_cast<Block*>(self)->~Block();
      ::operator delete(static_cast<void*>(self), std::align_val_t{alignment});
    }
  };
  static_assert(sizeof(Block) <= alignment);
  if (size > SIZE_MAX - alignment) return {};
  void* raw = ::operator new(size + alignment, std::align_val_t{alignment}, std::nothrow);
  if (raw == nullptr) return {};
  auto* block = new (raw) Block();
  auto* data = static_cast<std::byte*>(raw) + alignment;
  std::memset(data, 0, size);
  return {{data, size}, block};
}

DAVIT_INLINE SharedBytes SharedBytes::bools(SharedBytes bytes) noexcept {
  const auto is_odd = [](std::byte b) { return b > std::byte{1}; };
  if (std::ranges::none_of(bytes.bytes(), is_odd)) return bytes;
  SharedBytes copy = copy_of(bytes.bytes());
  if (!copy.empty()) std::replace_if(copy.writable(), copy.writable() + copy.size(), is_odd, std::byte{1});
  return copy;
}

DAVIT_INLINE SharedBytes SharedBytes::copy_of(std::span<const std::byte> bytes) noexcept {
  SharedBytes copy = allocate(bytes.size());
  if (copy.size() == bytes.size() && !bytes.empty()) std::memcpy(copy.writable(), bytes.data(), bytes.size());
  return copy;
}

}  // namespace davit
