// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>

/// Counts of heap allocations, by a malloc, calloc, realloc, memalign and operator new of this program's own, which the
/// libraries it is linked with use too (allocations.cpp).
///
/// The backend's library is told apart by two questions: does the call come from a shared library, and is a primitive
/// running on the calling thread? Only where both are true is it the library's own; all else is davit's, which includes
/// what libraries allocate for davit between primitives.
namespace allocations {

struct Counts {
  std::atomic<bool> on = false;
  std::atomic<std::size_t> davit = 0;
  std::atomic<std::size_t> library = 0;
};
[[nodiscard]] Counts& counts() noexcept;
/// True while the calling thread is in a primitive; threads that libraries start are always.
[[nodiscard]] bool& in_primitive() noexcept;

}  // namespace allocations
