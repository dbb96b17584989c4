// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "davit/core/heap_bytes.hpp"
#include "davit/core/target.hpp"

#if DAVIT_TARGET_LINUX
#include <sys/mman.h>
#endif

namespace davit {

namespace detail {

/// Huge page size of x86-64 and AArch64 with pages of 4 KiB; on other machines a larger alignment than needed.
inline constexpr std::size_t huge_page = 2u << 20;

[[nodiscard]] constexpr std::align_val_t alignment_of_bytes(std::size_t size) noexcept {
  return std::align_val_t{size >= huge_page ? huge_page : 64};
}

}  // namespace detail

void* allocate_bytes(std::size_t size) noexcept {
  void* const bytes = ::operator new(size, detail::alignment_of_bytes(size), std::nothrow);
#if DAVIT_TARGET_LINUX
  // Only whole pages, so that no more memory is used. A system without huge pages refuses, which does no harm.
  if (bytes != nullptr && size >= detail::huge_page)
    (void)::madvise(bytes, size / detail::huge_page * detail::huge_page, MADV_HUGEPAGE);
#endif
  return bytes;
}

void free_bytes(void* bytes, std::size_t size) noexcept { ::operator delete(bytes, detail::alignment_of_bytes(size)); }

void leave_bytes([[maybe_unused]] std::span<const std::byte> bytes) noexcept {
#if DAVIT_TARGET_LINUX && defined(MADV_PAGEOUT)
  constexpr std::uintptr_t page = 65536;  // the largest page of Linux on x86-64 and AArch64
  const auto first = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto last = (reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size()) / page * page;
  if (first < last) (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_PAGEOUT);
#endif
}

}  // namespace davit
