// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "davit/core/config.hpp"
#include "davit/kernels/function_ref.hpp"

namespace davit::kernels {

/// Threads that compute kernels together with their owner's thread. They spin for some tenths of a millisecond for the
/// next work, then sleep.
class ThreadTeam {
 public:
  static constexpr std::size_t max_threads = 64;

  /// The operations that are worth waking a thread.
  static constexpr double worth_a_thread = 1 << 17;

  /// A team of `count` threads with the owner's, at most `max_threads`; fewer if the system gives fewer, one where C++
  /// has no threads.
  explicit ThreadTeam(std::size_t count, double work_for_a_thread = worth_a_thread);
  /// Calls work(part) for each part of [0, count) on `threads` of another owner; returns when all calls have.
  using Runner = void (*)(void* threads, std::size_t count, FunctionRef<void(std::size_t part)> work);
  ThreadTeam(std::size_t count, Runner runner, void* threads = nullptr) noexcept;
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam();

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool runs_on(Runner runner, const void* threads) const noexcept {
    return runner_ == runner && threads_ == threads;
  }
  [[nodiscard]] double work_for_a_thread() const noexcept { return work_for_a_thread_; }
  /// Calls work(part) for each part of [0, parts), parts from 1 to size(), and returns when all calls have. Threads
  /// also take parts that another thread has not begun, so that none waits for a late one. Call it from the owner's
  /// thread alone; `work` must not throw.
  void run(std::size_t parts, FunctionRef<void(std::size_t part)> work) noexcept;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
  Runner runner_ = nullptr;
  void* threads_ = nullptr;
  std::size_t size_ = 1;
  double work_for_a_thread_;
};

/// The team of this thread's kernels; nullptr: they run on this thread alone.
inline constinit thread_local ThreadTeam* current_team = nullptr;

/// Returns the team of `count` threads (at most one per CPU) that this thread owns until it ends, one for all callers;
/// nullptr for one thread, or where C++ has no threads. A child of fork gets a new one.
[[nodiscard]] ThreadTeam* team_of_this_thread(std::size_t count);

/// Makes team_of_this_thread(count) return a team on these threads from now on, and keeps them until others are lent: a
/// library's threads spin for their next work, and would alternate with davit's on the same CPUs, some milliseconds
/// each. Returns that team.
ThreadTeam* lend_team(std::size_t count, ThreadTeam::Runner runner, std::shared_ptr<void> threads = nullptr);

/// Makes a team (nullptr: none) this thread's team for the scope.
class TeamScope {
 public:
  explicit TeamScope(ThreadTeam* team) noexcept : before_(current_team) { current_team = team; }
  TeamScope(const TeamScope&) = delete;
  TeamScope& operator=(const TeamScope&) = delete;
  ~TeamScope() { current_team = before_; }

 private:
  ThreadTeam* before_;
};

/// The product of counts, for in_parallel.
[[nodiscard]] constexpr double operations(auto... counts) noexcept { return (1.0 * ... * static_cast<double>(counts)); }

/// The most threads of in_parallel now.
[[nodiscard]] inline std::int64_t team_size() noexcept {
  return current_team == nullptr ? 1 : static_cast<std::int64_t>(current_team->size());
}

/// Calls f(part, first, end) for stretches of [0, count) that begin at multiples of `step`, on the threads of the team;
/// for all at once without a team, or if `work`, the operations of the whole, is not worth it. `part` is below
/// team_size(). Results must not depend on the stretches.
void in_parallel(std::int64_t count, std::int64_t step, double work,
                 FunctionRef<void(std::size_t part, std::int64_t first, std::int64_t end)> f) noexcept;

/// How threads share entries whose own work can be shared, too: whole entries, each thread with its own work space, if
/// that keeps all busy or an entry is not worth several threads; else one entry after the other.
class EntrySharing {
 public:
  /// `each`: operations per entry.
  EntrySharing(std::int64_t entries, double each) noexcept
      : entries_(entries),
        each_(each),
        whole_(current_team != nullptr && entries > 1 &&
               (entries % team_size() == 0 || entries >= 4 * team_size() ||
                each < 2 * current_team->work_for_a_thread())) {}
  /// The number of work spaces.
  [[nodiscard]] std::int64_t spaces() const noexcept { return whole_ ? team_size() : 1; }
  /// The team that computes an entry.
  [[nodiscard]] TeamScope team_of_entry() const noexcept { return TeamScope(whole_ ? nullptr : current_team); }
  /// Calls f(work space, entry) for every entry.
  template <class F>
  void run(F&& f) const noexcept {
    in_parallel(entries_, 1, whole_ ? each_ * static_cast<double>(entries_) : 0,
                [&](std::size_t part, std::int64_t first, std::int64_t end) {
                  const TeamScope team = team_of_entry();
                  for (std::int64_t entry = first; entry < end; ++entry) f(static_cast<std::int64_t>(part), entry);
                });
  }

 private:
  std::int64_t entries_;
  double each_;
  bool whole_;
};

}  // namespace davit::kernels
