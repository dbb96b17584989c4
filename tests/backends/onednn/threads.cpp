// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/threads.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "davit/backends/onednn/library.hpp"

using namespace davit;
using onednn_ops::OpenMp;
using onednn_ops::ThreadScope;

TEST_CASE("a scope says how many threads primitives use, and restores what was before") {
  REQUIRE(onednn_ops::library_works());  // which loads its OpenMP runtime, if it has one
  const OpenMp& omp = OpenMp::loaded();
  if (omp.max_threads == nullptr || omp.set_threads == nullptr) {
    ThreadScope scope(3);  // then it does nothing
    scope.use(2);
    return;
  }
  const int machine = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int before = omp.max_threads();
  omp.set_threads(7);  // more than the machine may have: only the scope has a limit
  {
    ThreadScope scope(1);
    CHECK(omp.max_threads() == 1);
    scope.use(2);
    CHECK(omp.max_threads() == std::min(2, machine));
    scope.use(machine + 5);
    CHECK(omp.max_threads() == std::min(machine, 1024));
    scope.use(0);
    CHECK(omp.max_threads() == 7);
    scope.use(1);
    {
      const ThreadScope inner(2);
      CHECK(omp.max_threads() == std::min(2, machine));
    }
    CHECK(omp.max_threads() == 1);
  }
  CHECK(omp.max_threads() == 7);
  {
    const ThreadScope as_it_is(0);
    CHECK(omp.max_threads() == 7);
  }
  omp.set_threads(before);
}

TEST_CASE("a scope is the calling thread's own affair") {
  const OpenMp& omp = OpenMp::loaded();
  if (omp.max_threads == nullptr || omp.set_threads == nullptr) return;
  const int before = omp.max_threads();
  omp.set_threads(2);
  int inside = 0;
  {
    const std::jthread other([&] {
      const ThreadScope scope(1);
      inside = omp.max_threads();
    });
  }
  CHECK(inside == 1);
  CHECK(omp.max_threads() == 2);
  omp.set_threads(before);
}
