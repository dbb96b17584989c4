// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "davit/core/error.hpp"

// Lets allocations fail, in a program one of whose translation units includes count_allocations.hpp.

namespace support {

/// If not 0: the allocation of that number from now on fails.
inline std::atomic<std::size_t> allocations_until_failure = 0;
/// Blocks that were allocated and not freed.
inline std::atomic<std::int64_t> live_blocks = 0;

/// Lets each allocation of `work` fail in turn, until it needs no more. `work` answers a Result: a value as soon as
/// nothing fails, or if it can do without (std::stable_sort can), else out_of_memory, and it must not leak. Answers how
/// many allocations it took.
template <class Work>
std::size_t fail_each(Work&& work) {
  REQUIRE(work());  // what is made once
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
