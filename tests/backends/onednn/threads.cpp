// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/threads.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "davit/backends/onednn/library.hpp"

using namespace davit;
using onednn_ops::OpenMp;
using onednn_ops::ThreadScope;

TEST_CASE("a scope sets the number of the primitives' threads, and restores the earlier one") {
  REQUIRE(onednn_ops::library_works());  // loads its OpenMP runtime, if it has one
  const OpenMp& omp = OpenMp::loaded();
  if (omp.max_threads == nullptr || omp.set_threads == nullptr) {
    ThreadScope scope(3);  // without one it does nothing
    scope.use(2);
    return;
  }
  const int machine = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int before = omp.max_threads();
  omp.set_threads(7);  // more than the machine's: only the scope has a limit
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

TEST_CASE("parts of a team's work run once each on the threads of primitives") {
  if (OpenMp::loaded().parallel == nullptr) return;
  kernels::ThreadTeam team(3, onednn_ops::run_on_openmp);
  REQUIRE(team.size() == 3);
  std::array<std::atomic<int>, 3> calls{};
  for (int round = 0; round < 100; ++round) team.run(3, [&](std::size_t part) { calls[part].fetch_add(1); });
  for (const std::atomic<int>& each : calls) CHECK(each.load() == 100);
  std::array<int, 1000> seen{};
  const kernels::TeamScope scope(&team);
  kernels::in_parallel(1000, 7, 1e9, [&](std::size_t, std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
  });
  CHECK(std::ranges::all_of(seen, [](int times) { return times == 1; }));
}
