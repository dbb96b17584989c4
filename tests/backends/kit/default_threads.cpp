// SPDX-License-Identifier: MIT
#include "davit/backends/kit/default_threads.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>

using namespace davit;

namespace {

struct Threaded {
  struct CompileSpec {
    std::uint32_t threads = 0;
  };
};

}  // namespace

TEST_CASE("the threads of a run are the compile spec's, else the backend's default, which is 1 until it is set") {
  CHECK(threads_of<Threaded>({}) == 1);
  for (const auto& [asked, set] : {std::pair{4u, 4u}, {0u, 1u}, {5000u, 1024u}}) {
    set_default_threads<Threaded>(asked);
    CHECK(threads_of<Threaded>({}) == set);
    CHECK(threads_of<Threaded>({.threads = 3}) == 3);
  }
}
