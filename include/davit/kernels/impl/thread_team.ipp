// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "davit/kernels/thread_team.hpp"

#if defined(__cpp_lib_atomic_wait)  // a C++ library for boards without an operating system lacks this, and threads
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
DAVIT_INLINE ThreadTeam::ThreadTeam(std::size_t, double work_for_a_thread) : work_for_a_thread_(work_for_a_thread) {}
DAVIT_INLINE ThreadTeam::~ThreadTeam() = default;
DAVIT_INLINE ThreadTeam* team_of_this_thread(std::size_t) {
  return nullptr;
}
DAVIT_INLINE ThreadTeam::ThreadTeam(std::size_t, Runner) noexcept : work_for_a_thread_(worth_a_thread) {}
DAVIT_INLINE void ThreadTeam::run(FunctionRef<void(std::size_t part)> work) noexcept {
  work(0);
}

#else

/// What the threads of a team share.
struct ThreadTeam::Shared {
  alignas(64) std::atomic<std::uint32_t> round{0};  ///< of work that was given; odd when the team ends
  alignas(64) std::atomic<std::uint32_t> left{0};   ///< threads that have not done it
  const FunctionRef<void(std::size_t)>* work = nullptr;
  std::array<std::thread, most> threads;

  /// Waits until the number is another one; a while without sleeping.
  static std::uint32_t wait(const std::atomic<std::uint32_t>& number, std::uint32_t old) noexcept {
    for (int i = 0; i < 20000; ++i) {
      if (const std::uint32_t now = number.load(std::memory_order_acquire); now != old) return now;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    number.wait(old, std::memory_order_acquire);
    return number.load(std::memory_order_acquire);
  }

  void serve(std::size_t part) noexcept {
    for (std::uint32_t seen = 0;;) {
      seen = wait(round, seen);
      if (seen % 2 != 0) return;
      (*work)(part);
      if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) left.notify_one();
    }
  }
};

DAVIT_INLINE ThreadTeam::ThreadTeam(std::size_t count, double work_for_a_thread) : work_for_a_thread_(work_for_a_thread) {
  count = std::min(count, most);
  if (count < 2) return;
  shared_ = std::make_unique<Shared>();
#if defined(__cpp_exceptions)
  try {
#endif
    for (; size_ < count; ++size_) shared_->threads[size_] = std::thread(&Shared::serve, shared_.get(), size_);
#if defined(__cpp_exceptions)
  } catch (...) {  // those that there are
  }
#endif
}

DAVIT_INLINE ThreadTeam::ThreadTeam(std::size_t count, Runner runner) noexcept
    : runner_(runner), size_(std::clamp<std::size_t>(count, 1, most)), work_for_a_thread_(worth_a_thread) {}

DAVIT_INLINE ThreadTeam::~ThreadTeam() {
  if (shared_ == nullptr || size_ == 1) return;
  shared_->round.fetch_add(1, std::memory_order_release);
  shared_->round.notify_all();
  for (std::size_t i = 1; i < size_; ++i) shared_->threads[i].join();
}

DAVIT_INLINE ThreadTeam* team_of_this_thread(std::size_t count) {
  static const std::size_t cpus = std::thread::hardware_concurrency();  // a call of the system, which takes microseconds
  thread_local std::unique_ptr<ThreadTeam> teams[ThreadTeam::most + 1];  // by what was asked for: few are
  count = std::min({count, ThreadTeam::most, cpus});
  if (count < 2) return nullptr;
#if DAVIT_HAS_FORK
  thread_local pid_t owner = getpid();
  if (const pid_t now = getpid(); now != owner) {  // a child of fork has this thread alone: what the teams wait for does not come
    for (std::unique_ptr<ThreadTeam>& team : teams) (void)team.release();
    owner = now;
  }
#endif
  if (teams[count] == nullptr) teams[count] = std::make_unique<ThreadTeam>(count);
  return teams[count].get();
}

DAVIT_INLINE void ThreadTeam::run(FunctionRef<void(std::size_t part)> work) noexcept {
  if (size_ == 1) return work(0);
  if (runner_ != nullptr) return runner_(size_, work);
  shared_->work = &work;
  shared_->left.store(static_cast<std::uint32_t>(size_ - 1), std::memory_order_relaxed);
  shared_->round.fetch_add(2, std::memory_order_release);
  shared_->round.notify_all();
  work(0);
  for (std::uint32_t left = shared_->left.load(std::memory_order_acquire); left != 0;) left = Shared::wait(shared_->left, left);
}

#endif

}  // namespace davit::kernels
