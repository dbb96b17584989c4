// SPDX-License-Identifier: MIT
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "count_allocations.hpp"
#include "davit/runtime/session.hpp"

// Attributes allocations by the address of the caller's code: a call from a shared library of another vendor (libdnnl,
// libXNNPACK, ...) is the library's own, every other one is davit's or the test's. Calls of malloc are always a
// library's: davit never calls it. Include it in one translation unit.

namespace support {

inline std::atomic<std::size_t> own_allocations = 0;

/// Counts in own_allocations during its life.
class OwnAllocationCount {
 public:
  OwnAllocationCount() noexcept {
    own_allocations = 0;
    on_allocation = [](const void* caller) {
      if (!is_library_code(caller)) ++own_allocations;
    };
  }
  OwnAllocationCount(const OwnAllocationCount&) = delete;
  OwnAllocationCount& operator=(const OwnAllocationCount&) = delete;
  ~OwnAllocationCount() { on_allocation = nullptr; }

 private:
  [[nodiscard]] static bool is_library_code(const void* address) noexcept {
    Dl_info info;
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return false;
    const std::string_view file(info.dli_fname);
    return file.find("libdnnl") != std::string_view::npos || file.find("libXNNPACK") != std::string_view::npos;
  }
};

/// Checks that runs with these inputs allocate nothing from the fourth on, and that the count can fail.
inline void check_no_allocations_once_warm(davit::Session session, const std::vector<davit::EValue>& sample) {
  bool good = true;
  for (int i = 0; i < 3; ++i) good = session.run(0, sample).has_value() && good;
  {
    const OwnAllocationCount counting;
    for (int i = 0; i < 20; ++i) good = session.run(0, sample).has_value() && good;
  }
  CHECK(good);
  CHECK(own_allocations == 0);
  const OwnAllocationCount counting;  // the count itself counts
  const std::vector<int> planted(3);
  CHECK(own_allocations == 1);
}

}  // namespace support
