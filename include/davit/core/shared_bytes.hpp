// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <utility>

#include "davit/core/config.hpp"

namespace davit {

/// A range of bytes and, if it is not static, a share in its owner: a mapped file, a heap block.
///
/// Copies share the bytes. Static bytes have no owner and work in constant evaluation. Thread safety is that of
/// std::shared_ptr.
class SharedBytes {
 public:
  /// Base of owners; `release` destroys the owner when its last share goes. No virtual functions.
  struct Owner {
    explicit Owner(void (*release_)(Owner*) noexcept) noexcept : release(release_) {}
    void (*release)(Owner*) noexcept;
    std::atomic<std::size_t> shares{1};
  };

  constexpr SharedBytes() noexcept = default;
  /// Bytes that live as long as the program.
  constexpr explicit SharedBytes(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  /// Takes over one share of `owner`.
  SharedBytes(std::span<const std::byte> bytes, Owner* owner) noexcept : bytes_(bytes), owner_(owner) {}

  constexpr SharedBytes(const SharedBytes& other) noexcept : bytes_(other.bytes_), owner_(other.owner_) {
    if (owner_ != nullptr) owner_->shares.fetch_add(1, std::memory_order_relaxed);
  }
  constexpr SharedBytes(SharedBytes&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), owner_(std::exchange(other.owner_, nullptr)) {}
  constexpr SharedBytes& operator=(SharedBytes other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(owner_, other.owner_);
    return *this;
  }
  constexpr ~SharedBytes() {
    if (owner_ != nullptr && owner_->shares.fetch_sub(1, std::memory_order_acq_rel) == 1) owner_->release(owner_);
  }

  [[nodiscard]] constexpr std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] constexpr const std::byte* data() const noexcept { return bytes_.data(); }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return bytes_.size(); }
  /// nullptr for static bytes.
  [[nodiscard]] constexpr const Owner* owner() const noexcept { return owner_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return bytes_.empty(); }
  /// True if the address is that of one of the bytes.
  [[nodiscard]] bool holds(const void* address) const noexcept {
    const auto* const at = static_cast<const std::byte*>(address);
    return at >= data() && at < data() + size();
  }

  /// A part of these bytes that shares the owner; requires offset + count <= size().
  [[nodiscard]] constexpr SharedBytes part(std::size_t offset, std::size_t count) const noexcept {
    SharedBytes shared = *this;
    shared.bytes_ = bytes_.subspan(offset, count);
    return shared;
  }

  /// A zeroed, 64-byte aligned heap block of `size` bytes; empty if there is no memory (and size > 0).
  [[nodiscard]] static SharedBytes allocate(std::size_t size) noexcept;
  /// The same, not zeroed.
  [[nodiscard]] static SharedBytes uninitialized(std::size_t size) noexcept;
  /// The bytes as elements of bool: themselves if each is 0 or 1, else a copy that is so, or nothing if there is no
  /// memory.
  [[nodiscard]] static SharedBytes bools(SharedBytes bytes) noexcept;
  /// A heap copy of `bytes`.
  [[nodiscard]] static SharedBytes copy_of(std::span<const std::byte> bytes) noexcept;
  /// The bytes for writing; only for a block that `allocate` made and that the caller alone writes.
  [[nodiscard]] std::byte* writable() const noexcept { return const_cast<std::byte*>(bytes_.data()); }

 private:
  static constexpr std::size_t alignment = 64;
  std::span<const std::byte> bytes_;
  Owner* owner_ = nullptr;
};

}  // namespace davit
