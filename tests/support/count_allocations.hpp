// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "fail_allocations.hpp"

// Replaces the global operator new by one that counts. Include it in one translation unit of a program.

namespace support {

inline std::atomic<std::size_t> allocations = 0;
inline std::atomic<std::size_t> largest_allocation = 0;
/// Called for each allocation with the code address of its caller; see count_own_allocations.hpp.
inline std::atomic<void (*)(const void* caller)> on_allocation = nullptr;

/// Heap allocations of the whole program since its construction.
class AllocationCount {
 public:
  AllocationCount() noexcept : before_(allocations.load()) { largest_allocation = 0; }
  [[nodiscard]] std::size_t count() const noexcept { return allocations.load() - before_; }
  /// Bytes of the largest allocation.
  [[nodiscard]] std::size_t largest() const noexcept { return largest_allocation.load(); }

 private:
  std::size_t before_;
};

[[nodiscard]] inline void* count_and_allocate(std::size_t size, std::size_t alignment, const void* caller) noexcept {
  ++allocations;
  if (const auto tell = on_allocation.load()) tell(caller);
  if (size > largest_allocation.load()) largest_allocation = size;
  if (allocations_until_failure.load() != 0 && --allocations_until_failure == 0) return nullptr;
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  if (rounded < size) return nullptr;
  void* const memory = alignment <= alignof(std::max_align_t) ? std::malloc(size == 0 ? 1 : size)
                                                              : std::aligned_alloc(alignment, rounded);
  live_blocks += memory != nullptr ? 1 : 0;
  return memory;
}
inline void release(void* memory) noexcept {
  live_blocks -= memory != nullptr ? 1 : 0;
  std::free(memory);
}
[[nodiscard]] inline void* allocate_or_end(std::size_t size, std::size_t alignment, const void* caller) {
  void* const memory = count_and_allocate(size, alignment, caller);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace support

// not inlined, or g++ reports malloc and free in them as a mismatch

[[gnu::noinline]] void* operator new(std::size_t size) {
  return support::allocate_or_end(size, 1, __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new[](std::size_t size) {
  return support::allocate_or_end(size, 1, __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return support::count_and_allocate(size, 1, __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return support::count_and_allocate(size, 1, __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t to) {
  return support::allocate_or_end(size, static_cast<std::size_t>(to), __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t to) {
  return support::allocate_or_end(size, static_cast<std::size_t>(to), __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t to, const std::nothrow_t&) noexcept {
  return support::count_and_allocate(size, static_cast<std::size_t>(to), __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t to, const std::nothrow_t&) noexcept {
  return support::count_and_allocate(size, static_cast<std::size_t>(to), __builtin_return_address(0));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { support::release(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { support::release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { support::release(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { support::release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { support::release(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept { support::release(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  support::release(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  support::release(memory);
}
