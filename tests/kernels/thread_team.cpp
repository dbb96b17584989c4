// SPDX-License-Identifier: MIT
#include "davit/kernels/thread_team.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <vector>

using namespace davit::kernels;

TEST_CASE("every part runs once, round after round") {
  ThreadTeam team(4);
  REQUIRE(team.size() == 4);
  std::array<std::atomic<int>, 4> calls{};
  for (int round = 0; round < 1000; ++round)
    team.run(static_cast<std::size_t>(round % 4 + 1), [&](std::size_t part) { calls[part].fetch_add(1); });
  for (std::size_t part = 0; part < 4; ++part) CHECK(calls[part].load() == 1000 - 250 * static_cast<int>(part));
}

TEST_CASE("parts run at the same time, on threads of their own") {
  ThreadTeam team(4);
  std::array<std::thread::id, 4> ids;
  std::atomic<int> come = 0;
  team.run(4, [&](std::size_t part) {
    ids[part] = std::this_thread::get_id();
    for (++come; come < 4;) std::this_thread::yield();
  });
  CHECK(std::set<std::thread::id>(ids.begin(), ids.end()).size() == 4);
}

TEST_CASE("another thread takes a part that a thread has not begun") {
  ThreadTeam team(2);
  int alone = 0;
  for (int round = 0; round < 100; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // the other thread sleeps, and wakes late
    std::array<std::thread::id, 2> ids;
    team.run(2, [&](std::size_t part) { ids[part] = std::this_thread::get_id(); });
    alone += ids[0] == ids[1] ? 1 : 0;
  }
  CHECK(alone > 0);
}

TEST_CASE("a team that slept works on; one without work ends; one of one thread is its owner") {
  ThreadTeam team(2);
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::array<int, 2> done{};
    team.run(2, [&](std::size_t part) { done[part] = 1; });
    CHECK(done == std::array<int, 2>{1, 1});
  }
  const ThreadTeam idle(3);
  ThreadTeam alone(1);
  CHECK(alone.size() == 1);
  std::thread::id id;
  alone.run(1, [&](std::size_t) { id = std::this_thread::get_id(); });
  CHECK(id == std::this_thread::get_id());
  CHECK(ThreadTeam(1000).size() == ThreadTeam::max_threads);
}

TEST_CASE("a child of fork has a team of its own") {
  ThreadTeam* const team = team_of_this_thread(2);
  if (team == nullptr) return;
  team->run(2, [](std::size_t) {});
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(10);  // ends a hang
    std::array<int, 2> done{};
    team_of_this_thread(2)->run(2, [&](std::size_t part) { done[part] = 1; });
    _exit(done == std::array<int, 2>{1, 1} ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a thread has one team of a size, and another thread another") {
  CHECK(team_of_this_thread(1) == nullptr);
  ThreadTeam* const team = team_of_this_thread(2);
  CHECK((team != nullptr) == (std::thread::hardware_concurrency() > 1));
  if (team == nullptr) return;
  CHECK(team->size() == 2);
  CHECK(team_of_this_thread(2) == team);
  CHECK(team_of_this_thread(1000)->size() ==
        std::min<std::size_t>(std::thread::hardware_concurrency(), ThreadTeam::max_threads));
  bool is_another = false;
  std::thread([&] { is_another = team_of_this_thread(2) != team; }).join();
  CHECK(is_another);
}

TEST_CASE(
    "a thread computes on threads that were lent to it, and keeps them; another thread, or one that wants more, does "
    "not") {
  if (std::thread::hardware_concurrency() < 2) return;
  const ThreadTeam::Runner run = [](void* threads, std::size_t count,
                                    davit::kernels::FunctionRef<void(std::size_t)> work) {
    for (std::size_t part = 0; part < count; ++part) work(part);
    *static_cast<std::size_t*>(threads) += count;
  };
  bool is_kept = false;
  std::thread([&] {
    auto given = std::make_shared<std::size_t>(0);
    ThreadTeam* const own = team_of_this_thread(2);
    lend_team(2, run, given);
    lend_team(2, run, given);
    ThreadTeam* const team = team_of_this_thread(2);
    CHECK(team != own);
    CHECK(team->runs_on(run, given.get()));
    std::array<int, 2> done{};
    team->run(2, [&](std::size_t part) { ++done[part]; });
    CHECK(done == std::array<int, 2>{1, 1});
    CHECK(*given == 2);
    CHECK(team_of_this_thread(1) == nullptr);
    std::thread([&] { CHECK_FALSE(team_of_this_thread(2)->runs_on(run, given.get())); }).join();
    const std::weak_ptr<std::size_t> seen = given;
    given.reset();
    is_kept = !seen.expired();
    auto others = std::make_shared<std::size_t>(0);
    lend_team(2, run, others);
    CHECK(seen.expired());
    CHECK(team_of_this_thread(2)->runs_on(run, others.get()));
    const pid_t child = fork();
    if (child == 0) _exit(team_of_this_thread(2)->runs_on(run, others.get()) ? 1 : 0);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }).join();
  CHECK(is_kept);
}

TEST_CASE("stretches cover all, begin at multiples of the step, and are not more than the work is worth") {
  const auto stretches = [](std::int64_t count, std::int64_t step, double work) {
    std::array<std::array<std::int64_t, 2>, 3> of_part{};
    std::array<bool, 3> is_alone{};
    std::atomic<int> parts = 0;
    in_parallel(count, step, work, [&](std::size_t part, std::int64_t first, std::int64_t end) {
      of_part[part] = {first, end};
      is_alone[part] = current_team == nullptr;  // calls within a part are not shared again
      ++parts;
    });
    for (int p = 0; parts > 1 && p < parts; ++p) CHECK(is_alone[static_cast<std::size_t>(p)]);
    std::vector<std::int64_t> all{0};
    for (int p = 0; p < parts; ++p) {
      CHECK(of_part[static_cast<std::size_t>(p)][0] == all.back());
      CHECK(all.back() % step == 0);
      all.push_back(of_part[static_cast<std::size_t>(p)][1]);
    }
    return all;
  };
  using Ends = std::vector<std::int64_t>;
  CHECK(stretches(100, 8, 1e9) == Ends{0, 100});
  ThreadTeam team(3, 10);
  const TeamScope scope(&team);
  CHECK(team_size() == 3);
  CHECK(stretches(100, 8, 30) == Ends{0, 32, 64, 100});
  CHECK(stretches(100, 8, 29) == Ends{0, 48, 100});
  CHECK(stretches(88, 8, 1e9) == Ends{0, 24, 56, 88});  // even shares
  CHECK(stretches(100, 8, 19) == Ends{0, 100});
  CHECK(stretches(20, 8, operations(1e12, 1e12)) == Ends{0, 8, 20});
  CHECK(stretches(7, 8, 1e9) == Ends{0, 7});
  CHECK(stretches(0, 8, 1e9) == Ends{0, 0});
  {
    const TeamScope none(nullptr);
    CHECK(team_size() == 1);
  }
  CHECK(current_team == &team);
}
