// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>

/// Counts of heap allocations, by the program's own malloc, calloc, realloc, memalign and operator new, which its
/// libraries use too (allocations.cpp).
///
/// An allocation counts as the backend library's if the call comes from a shared library while a primitive runs on the
/// calling thread. All others count as davit's, also those that libraries make for davit between primitives.
namespace allocations {

struct Counts {
  std::atomic<bool> on = false;
  std::atomic<std::size_t> davit = 0;
  std::atomic<std::size_t> library = 0;
};
[[nodiscard]] Counts& counts() noexcept;
/// True while the calling thread is in a primitive; always true for threads of libraries.
[[nodiscard]] bool& in_primitive() noexcept;

}  // namespace allocations
