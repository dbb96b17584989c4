// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "davit/core/config.hpp"
#include "davit/kernels/function_ref.hpp"

namespace davit::kernels {

/// Threads that compute kernels together with the one that owns them. They wait for some tenths of a millisecond for the next work, and
/// sleep then.
class ThreadTeam {
 public:
  static constexpr std::size_t most = 64;

  /// Elements' operations that are worth waking a thread for.
  static constexpr double worth_a_thread = 1 << 17;

  /// Of `count` threads, the owner's included, `most` at most; of fewer if the system gives no more, of one where C++ has no threads.
  explicit ThreadTeam(std::size_t count, double work_for_a_thread = worth_a_thread);
  /// Calls work(part) for each part of [0, count), on threads that something else keeps; returns when all have returned.
  using Runner = void (*)(std::size_t count, FunctionRef<void(std::size_t part)> work);
  ThreadTeam(std::size_t count, Runner runner) noexcept;
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam();

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] double work_for_a_thread() const noexcept { return work_for_a_thread_; }
  /// Calls work(part) for each part of [0, size()), each on a thread of its own, and returns when all have. From the owner's
  /// thread alone; `work` must not throw.
  void run(FunctionRef<void(std::size_t part)> work) noexcept;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
  Runner runner_ = nullptr;
  std::size_t size_ = 1;
  double work_for_a_thread_;
};

/// The team of the kernels that this thread runs now; nullptr: they run on this thread alone.
inline constinit thread_local ThreadTeam* current_team = nullptr;

/// The team of so many threads, or as many as the machine has CPUs, that this thread owns until it ends, one for all who ask; nullptr
/// for one thread, or where C++ has no threads. A child of fork gets new ones.
[[nodiscard]] ThreadTeam* team_of_this_thread(std::size_t count);

/// Lets this thread's kernels use a team (nullptr: none) as long as it lives.
class TeamScope {
 public:
  explicit TeamScope(ThreadTeam* team) noexcept : before_(current_team) { current_team = team; }
  TeamScope(const TeamScope&) = delete;
  TeamScope& operator=(const TeamScope&) = delete;
  ~TeamScope() { current_team = before_; }

 private:
  ThreadTeam* before_;
};

/// The product of counts, as in_parallel takes it.
[[nodiscard]] constexpr double operations(auto... counts) noexcept { return (1.0 * ... * static_cast<double>(counts)); }

/// Threads that in_parallel uses now, at most.
[[nodiscard]] inline std::int64_t team_size() noexcept {
  return current_team == nullptr ? 1 : static_cast<std::int64_t>(current_team->size());
}

/// Calls f(part, first, end) for stretches of [0, count) that begin at multiples of `step`, on the threads of the team; at once for
/// all where there is none or `work`, the operations of the whole, is not worth it. `part` is below team_size(). What is computed
/// may not depend on where the stretches begin.
template <class F>
void in_parallel(std::int64_t count, std::int64_t step, double work, F&& f) noexcept {
  if (current_team == nullptr) return f(std::size_t{0}, std::int64_t{0}, count);
  ThreadTeam& team = *current_team;
  const double worth = std::min(work / team.work_for_a_thread(), static_cast<double>(team.size()));
  step = std::max<std::int64_t>(step, 1);
  const std::int64_t steps = count / step;
  const std::int64_t parts = std::min(static_cast<std::int64_t>(worth), steps);
  if (parts <= 1) return f(std::size_t{0}, std::int64_t{0}, count);
  const TeamScope alone(nullptr);
  team.run([&](std::size_t part) {
    const auto at = static_cast<std::int64_t>(part);
    if (at < parts) f(part, steps * at / parts * step, at + 1 == parts ? count : steps * (at + 1) / parts * step);
  });
}

}  // namespace davit::kernels

#if !defined(DAVIT_COMPILED)
#include "davit/kernels/impl/thread_team.ipp"
#endif
