// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "davit/core/target.hpp"
#include "davit/kernels/thread_team.hpp"

// C++ libraries without threads: of boards without an operating system (no atomic_wait), and of browsers (no latch)
#if defined(__cpp_lib_atomic_wait) && defined(__cpp_lib_latch)
#include <thread>
#define DAVIT_HAS_THREADS 1
#else
#define DAVIT_HAS_THREADS 0
#endif
#if DAVIT_HAS_THREADS && __has_include(<unistd.h>)
#include <unistd.h>
#define DAVIT_HAS_FORK 1
#else
#define DAVIT_HAS_FORK 0
#endif

namespace davit::kernels {

#if !DAVIT_HAS_THREADS

struct ThreadTeam::Shared {};
ThreadTeam::ThreadTeam(std::size_t, double work_for_a_thread) : work_for_a_thread_(work_for_a_thread) {}
ThreadTeam::~ThreadTeam() = default;
ThreadTeam* team_of_this_thread(std::size_t) { return nullptr; }
ThreadTeam* lend_team(std::size_t, ThreadTeam::Runner, std::shared_ptr<void>) { return nullptr; }
ThreadTeam::ThreadTeam(std::size_t, Runner, void*) noexcept : work_for_a_thread_(worth_a_thread) {}
void ThreadTeam::run(std::size_t parts, FunctionRef<void(std::size_t part)> work) noexcept {
  for (std::size_t part = 0; part < parts; ++part) work(part);
}

#else

/// The state that the threads of a team share.
struct ThreadTeam::Shared {
  alignas(64) std::atomic<std::uint32_t> round{0};  ///< number of the work; odd when the team ends
  alignas(64) std::atomic<std::uint32_t> left{0};   ///< unfinished parts
  std::atomic<std::size_t> parts{0};
  std::array<std::atomic<std::uint32_t>, max_threads>
      part_of{};  ///< per part: the round, plus one when a thread has taken it
  const FunctionRef<void(std::size_t)>* work = nullptr;
  std::array<std::thread, max_threads> threads;

  /// Waits until the number changes; spins before it sleeps.
  static std::uint32_t wait(const std::atomic<std::uint32_t>& number, std::uint32_t old) noexcept {
    for (int i = 0; i < 20000; ++i) {
      if (const std::uint32_t now = number.load(std::memory_order_acquire); now != old) return now;
#if DAVIT_TARGET_X86_64
      __builtin_ia32_pause();
#elif DAVIT_TARGET_ARM64
      asm volatile("yield");
#endif
    }
    number.wait(old, std::memory_order_acquire);
    return number.load(std::memory_order_acquire);
  }

  void serve(std::size_t thread) noexcept {
    for (std::uint32_t seen = 0;;) {
      seen = wait(round, seen);
      if (seen % 2 != 0) return;
      take_parts(thread, seen);
    }
  }
  /// Runs the thread's own part of a round, whose memory may be in its cache, and then all parts that no thread has
  /// taken. A taken part keeps the round from ending, and its work alive.
  void take_parts(std::size_t thread, std::uint32_t of_round) noexcept {
    const std::size_t count = parts.load(std::memory_order_relaxed);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t part = (thread + k) % count;
      std::uint32_t now = of_round;
      if (!part_of[part].compare_exchange_strong(now, of_round + 1, std::memory_order_acquire,
                                                 std::memory_order_relaxed))
        continue;
      (*work)(part);
      if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) left.notify_one();
    }
  }
};

ThreadTeam::ThreadTeam(std::size_t count, double work_for_a_thread) : work_for_a_thread_(work_for_a_thread) {
  count = std::min(count, max_threads);
  if (count < 2) return;
  shared_ = std::make_unique<Shared>();
#if defined(__cpp_exceptions)
  try {
#endif
    for (; size_ < count; ++size_) shared_->threads[size_] = std::thread(&Shared::serve, shared_.get(), size_);
#if defined(__cpp_exceptions)
  } catch (...) {  // fewer threads
  }
#endif
}

ThreadTeam::ThreadTeam(std::size_t count, Runner runner, void* threads) noexcept
    : runner_(runner),
      threads_(threads),
      size_(std::clamp<std::size_t>(count, 1, max_threads)),
      work_for_a_thread_(worth_a_thread) {}

ThreadTeam::~ThreadTeam() {
  if (shared_ == nullptr || size_ == 1) return;
  shared_->round.fetch_add(1, std::memory_order_release);
  shared_->round.notify_all();
  for (std::size_t i = 1; i < size_; ++i) shared_->threads[i].join();
}

/// The teams of a thread.
class TeamsOfThread {
 public:
  [[nodiscard]] static TeamsOfThread& here() {
    thread_local TeamsOfThread teams;
    return teams;
  }
  [[nodiscard]] static std::size_t possible(std::size_t count) {
    static const std::size_t cpus = std::thread::hardware_concurrency();  // a system call, which takes microseconds
    return std::min({count, ThreadTeam::max_threads, cpus});
  }

  [[nodiscard]] ThreadTeam* of(std::size_t count) {
    count = possible(count);
    if (count < 2) return nullptr;
#if DAVIT_HAS_FORK
    if (const pid_t now = getpid();
        now != process_) {  // after fork the child has only this thread: waiting teams never wake
      for (std::unique_ptr<ThreadTeam>& team : own_) (void)team.release();
      lent_.reset();
      new std::shared_ptr<void>(std::move(lent_threads_));  // leaked on purpose
      process_ = now;
    }
#endif
    if (lent_ && lent_->size() == count) return &*lent_;
    if (own_[count] == nullptr) own_[count] = std::make_unique<ThreadTeam>(count);
    return own_[count].get();
  }
  void lend(std::size_t count, ThreadTeam::Runner runner, std::shared_ptr<void> threads) {
    count = possible(count);
    if (lent_ && lent_->size() == count && lent_->runs_on(runner, threads.get())) return;
    lent_.emplace(count, runner, threads.get());
    lent_threads_ = std::move(threads);
  }

 private:
  std::array<std::unique_ptr<ThreadTeam>, ThreadTeam::max_threads + 1>
      own_{};  ///< indexed by the requested number of threads
  std::shared_ptr<void> lent_threads_;
  std::optional<ThreadTeam> lent_;
#if DAVIT_HAS_FORK
  pid_t process_ = getpid();
#endif
};

ThreadTeam* team_of_this_thread(std::size_t count) { return TeamsOfThread::here().of(count); }
ThreadTeam* lend_team(std::size_t count, ThreadTeam::Runner runner, std::shared_ptr<void> threads) {
  TeamsOfThread& teams = TeamsOfThread::here();
  teams.lend(count, runner, std::move(threads));
  return teams.of(count);
}

void ThreadTeam::run(std::size_t parts, FunctionRef<void(std::size_t part)> work) noexcept {
  if (parts == 1) return work(0);
  if (runner_ != nullptr) return runner_(threads_, parts, work);
  shared_->work = &work;
  shared_->left.store(static_cast<std::uint32_t>(parts), std::memory_order_relaxed);
  const std::uint32_t round = shared_->round.load(std::memory_order_relaxed) + 2;
  shared_->parts.store(parts, std::memory_order_relaxed);
  for (std::size_t part = 0; part < parts; ++part) shared_->part_of[part].store(round, std::memory_order_relaxed);
  shared_->round.store(round, std::memory_order_release);
  shared_->round.notify_all();
  shared_->take_parts(0, round);
  for (std::uint32_t left = shared_->left.load(std::memory_order_acquire); left != 0;)
    left = Shared::wait(shared_->left, left);
}

#endif

void in_parallel(std::int64_t count, std::int64_t step, double work,
                 FunctionRef<void(std::size_t part, std::int64_t first, std::int64_t end)> f) noexcept {
  if (current_team == nullptr) return f(0, 0, count);
  ThreadTeam& team = *current_team;
  const double worth = std::min(work / team.work_for_a_thread(), static_cast<double>(team.size()));
  step = std::max<std::int64_t>(step, 1);
  const std::int64_t steps = count / step;
  const std::int64_t parts = std::min(static_cast<std::int64_t>(worth), steps);
  if (parts <= 1) return f(0, 0, count);
  const TeamScope alone(nullptr);
  team.run(static_cast<std::size_t>(parts), [&](std::size_t part) {
    const auto at = static_cast<std::int64_t>(part);
    f(part, steps * at / parts * step, at + 1 == parts ? count : steps * (at + 1) / parts * step);
  });
}

}  // namespace davit::kernels
