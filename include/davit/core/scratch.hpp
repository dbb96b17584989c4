// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "davit/core/heap_bytes.hpp"

namespace davit {

/// Working memory: aligned to 64, kept between runs, grown on demand, never zeroed.
class Scratch {
 public:
  Scratch() = default;
  Scratch(Scratch&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Scratch& operator=(Scratch&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Scratch() { free_bytes(data_, size_); }

  [[nodiscard]] std::span<std::byte> span() const noexcept { return {static_cast<std::byte*>(data_), size_}; }
  /// Makes room for `size` bytes and discards the old contents. Returns false and changes nothing if there is no
  /// memory.
  [[nodiscard]] bool reserve(std::size_t size) noexcept {
    if (size <= size_) return true;
    void* data = allocate_bytes(size);
    if (data == nullptr) return false;
    free_bytes(data_, size_);
    data_ = data;
    size_ = size;
    return true;
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace davit
