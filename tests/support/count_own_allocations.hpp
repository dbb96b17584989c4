// SPDX-License-Identifier: MIT
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string_view>

// Replaces the global operator new by one that counts, and tells who asked by where its caller's code lies: a call from
// a shared library of another vendor (libdnnl, libXNNPACK, ...) is that library's own, every other one is davit's or
// the test's. What libraries take with malloc is theirs anyway: davit never calls it. Include it in one translation
// unit.

namespace support {

inline std::atomic<bool> counts_allocations = false;
inline std::atomic<std::size_t> own_allocations = 0;
inline std::atomic<std::size_t> library_allocations = 0;

/// Counts from here to the end of its life.
class OwnAllocationCount {
 public:
  OwnAllocationCount() noexcept {
    own_allocations = 0;
    library_allocations = 0;
    counts_allocations = true;
  }
  OwnAllocationCount(const OwnAllocationCount&) = delete;
  OwnAllocationCount& operator=(const OwnAllocationCount&) = delete;
  ~OwnAllocationCount() { counts_allocations = false; }
};

[[nodiscard]] inline bool is_library_code(const void* address) noexcept {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return false;
  const std::string_view file(info.dli_fname);
  return file.find("libdnnl") != std::string_view::npos || file.find("libXNNPACK") != std::string_view::npos;
}

[[nodiscard]] inline void* counted(std::size_t size, std::size_t alignment, const void* caller) {
  if (counts_allocations.load()) ++(is_library_code(caller) ? library_allocations : own_allocations);
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* const memory = alignment <= alignof(std::max_align_t) ? std::malloc(size == 0 ? 1 : size)
                                                              : std::aligned_alloc(alignment, rounded);
  if (memory == nullptr || rounded < size) throw std::bad_alloc();
  return memory;
}

}  // namespace support

[[gnu::noinline]] void* operator new(std::size_t size) {
  return support::counted(size, 1, __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new[](std::size_t size) {
  return support::counted(size, 1, __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t to) {
  return support::counted(size, static_cast<std::size_t>(to), __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new[](std::size_t size, std::align_val_t to) {
  return support::counted(size, static_cast<std::size_t>(to), __builtin_return_address(0));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
