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
  /// Base of owners; `release` destroys the owner with its last share. No virtual functions.
  struct Owner {
    explicit Owner(void (*release_)(Owner*) noexcept) noexcept : release(release_) {}
    void (*release)(Owner*) noexcept;
    std::atomic<std::size_t> shares{1};
    bool is_mapped = false;  ///< the bytes are those of a file
  };

  constexpr SharedBytes() noexcept = default;
  /// Bytes with static storage duration.
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
  /// The owner; nullptr for static bytes.
  [[nodiscard]] constexpr const Owner* owner() const noexcept { return owner_; }
  /// True if writing could change bytes that someone else holds: the owner has several shares, or there is none.
  [[nodiscard]] bool is_shared() const noexcept {
    return !bytes_.empty() && (owner_ == nullptr || owner_->shares.load(std::memory_order_acquire) != 1);
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return bytes_.empty(); }
  /// True if `address` is within the bytes.
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
  /// Allocates as `allocate`, without zeroing.
  [[nodiscard]] static SharedBytes uninitialized(std::size_t size) noexcept;
  /// Returns bytes that are valid bools: `bytes` if each is 0 or 1, else a normalized copy; empty if there is no
  /// memory.
  [[nodiscard]] static SharedBytes bools(SharedBytes bytes) noexcept;
  /// A heap copy of `bytes`.
  [[nodiscard]] static SharedBytes copy_of(std::span<const std::byte> bytes) noexcept;
  /// Tells the system that the bytes are not read soon: on Linux, pages of a mapped file that were not written leave
  /// memory until they are read again.
  void leave() const noexcept;
  /// The bytes for writing; requires a block of `allocate` that only the caller writes.
  [[nodiscard]] std::byte* writable() const noexcept { return const_cast<std::byte*>(bytes_.data()); }

 private:
  static constexpr std::size_t alignment = 64;
  std::span<const std::byte> bytes_;
  Owner* owner_ = nullptr;
};

}  // namespace davit
