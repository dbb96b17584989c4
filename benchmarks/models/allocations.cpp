// SPDX-License-Identifier: MIT
#include "allocations.hpp"

#include <cerrno>
#include <cstdint>
#include <new>

extern "C" {
// names of glibc, and of the linker for the beginning and end of this program's code
void* __libc_malloc(std::size_t) noexcept;
void* __libc_calloc(std::size_t, std::size_t) noexcept;
void* __libc_realloc(void*, std::size_t) noexcept;
void* __libc_memalign(std::size_t, std::size_t) noexcept;
void __libc_free(void*) noexcept;
extern const char __executable_start;
extern const char etext;
}

namespace allocations {

namespace {
constinit Counts all;
constinit thread_local bool inside = true;

void count(const void* caller) noexcept {
  if (!all.on.load(std::memory_order_relaxed)) return;
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  const bool own =
      at >= reinterpret_cast<std::uintptr_t>(&__executable_start) && at < reinterpret_cast<std::uintptr_t>(&etext);
  (own || !inside ? all.davit : all.library).fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

Counts& counts() noexcept { return all; }
bool& in_primitive() noexcept { return inside; }

}  // namespace allocations

extern "C" {

void* malloc(std::size_t size) noexcept {
  allocations::count(__builtin_return_address(0));
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  allocations::count(__builtin_return_address(0));
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) noexcept {
  allocations::count(__builtin_return_address(0));
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  allocations::count(__builtin_return_address(0));
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  allocations::count(__builtin_return_address(0));
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  allocations::count(__builtin_return_address(0));
  void* const made = __libc_memalign(alignment, size);
  if (made == nullptr) return ENOMEM;
  *out = made;
  return 0;
}
void free(void* memory) noexcept { __libc_free(memory); }
}

void* operator new(std::size_t size) {
  allocations::count(__builtin_return_address(0));
  if (void* const made = __libc_malloc(size)) return made;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  allocations::count(__builtin_return_address(0));
  if (void* const made = __libc_memalign(static_cast<std::size_t>(alignment), size)) return made;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  allocations::count(__builtin_return_address(0));
  return __libc_malloc(size);
}
void operator delete(void* memory) noexcept { __libc_free(memory); }
void operator delete(void* memory, std::size_t) noexcept { __libc_free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { __libc_free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { __libc_free(memory); }
