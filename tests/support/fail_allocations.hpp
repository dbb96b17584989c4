// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "davit/core/error.hpp"

// Makes allocations fail, in a program with a translation unit that includes count_allocations.hpp.

namespace support {

/// If nonzero: the number of the allocation, from now on, that fails.
inline std::atomic<std::size_t> allocations_until_failure = 0;
/// Blocks that are allocated and not freed.
inline std::atomic<std::int64_t> live_blocks = 0;

/// Makes each allocation of `work` fail in turn, until none fails. `work` returns a Result: a value if no allocation
/// fails, or if it needs none (as std::stable_sort can), else out_of_memory, without a leak. Returns the number of
/// allocations.
template <class Work>
std::size_t fail_each(Work&& work) {
  REQUIRE(work());  // allocates memory that is kept
  for (std::size_t n = 1;; ++n) {
    const std::int64_t before = live_blocks.load();
    davit::ErrorCode code = davit::ErrorCode::ok;
    bool failed = false;
    {
      allocations_until_failure = n;
      const auto made = work();
      failed = allocations_until_failure.exchange(0) == 0;
      if (!made) code = made.error().code;
    }
    if (live_blocks.load() != before) FAIL_CHECK("allocation " << n << " fails, and memory leaks");
    if (code != davit::ErrorCode::ok && !(failed && code == davit::ErrorCode::out_of_memory))
      FAIL_CHECK("allocation " << n << " fails: " << davit::name_of(code));
    if (!failed) return n - 1;
  }
}

}  // namespace support
