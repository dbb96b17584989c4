// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <utility>

namespace davit {

/// Working memory of a session: aligned to 64, grown between runs, never zeroed.
class Scratch {
 public:
  Scratch() = default;
  Scratch(Scratch&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Scratch& operator=(Scratch&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Scratch() { ::operator delete(data_, std::align_val_t{64}); }

  [[nodiscard]] std::span<std::byte> span() const noexcept { return {static_cast<std::byte*>(data_), size_}; }
  /// Makes room for `size` bytes; what was there is lost. False, and unchanged, if there is no memory.
  [[nodiscard]] bool reserve(std::size_t size) noexcept {
    if (size <= size_) return true;
    void* data = ::operator new(size, std::align_val_t{64}, std::nothrow);
    if (data == nullptr) return false;
    ::operator delete(data_, std::align_val_t{64});
    data_ = data;
    size_ = size;
    return true;
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace davit
