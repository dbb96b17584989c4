// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "davit/autotune/cost_table.hpp"
#include "davit/autotune/synthetic_inputs.hpp"
#include "davit/core/name.hpp"
#include "davit/runtime/session.hpp"

namespace davit {

/// Limits for timing programs.
struct TimingOptions {
  std::uint32_t min_rounds = 5;
  std::uint32_t max_rounds = 50;
  std::uint32_t batch_ms =
      1000;  ///< for programs that are timed together: no further round starts after this time, except the least rounds
  std::uint32_t total_ms = 20000;        ///< for all measurements of a program: nothing further starts after this time
  std::uint32_t hopeless_percent = 400;  ///< a program this much slower than another for the same work is not run again
  std::uint32_t hopeless_ms = 10;        ///< unless its runs take less than this
  std::uint64_t seed = 0;                ///< seed of synthetic inputs
};

namespace detail {

/// Reads memory between two runs, so that a part of a program finds the caches in the state that the rest of the
/// program would leave.
class CacheDisturber {
 public:
  static constexpr std::size_t max_bytes = std::size_t{64} << 20;

  void read(std::size_t bytes) {
    bytes = std::min(bytes, max_bytes);
    if (bytes / sizeof(std::uint64_t) > words_.size()) words_.assign(bytes / sizeof(std::uint64_t), 1);
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < bytes / sizeof(std::uint64_t); at += 64 / sizeof(std::uint64_t)) sum += words_[at];
    sum_ = sum_ + sum;
  }

 private:
  std::vector<std::uint64_t> words_;
  volatile std::uint64_t sum_ = 0;
};

}  // namespace detail

/// A lowered program to time, with inputs and its shortest run so far.
struct TimedProgram {
  Session session;
  SyntheticInputs inputs;
  std::uint64_t work = 0;       ///< programs with equal numbers do the same work
  std::size_t other_bytes = 0;  ///< memory that the rest of its program reads between two runs
  std::uint64_t ns = no_cost;   ///< no_cost: it was not run, or failed
  bool stopped = false;

  TimedProgram(Session session_, SyntheticInputs synthetic, std::uint64_t work_, std::size_t other_bytes_)
      : session(std::move(session_)), inputs(std::move(synthetic)), work(work_), other_bytes(other_bytes_) {}
};

/// Times programs against each other. Each program runs once per round, so that disturbances of the machine affect all
/// equally. The time of a program is its shortest run. The first round is a warm-up, except for hopeless programs.
template <class Clock = std::chrono::steady_clock>
void time_runs(std::span<TimedProgram> programs, const TimingOptions& options) {
  detail::CacheDisturber other;
  const auto begin = Clock::now();
  const auto run = [&](TimedProgram& p) {
    other.read(p.other_bytes);
    const auto start = Clock::now();
    const bool ran = p.session.run(std::size_t{0}, p.inputs.values).has_value();
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
    if (!ran) {
      p.ns = no_cost;
      p.stopped = true;
    } else {
      p.ns = std::min(p.ns, static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 1)));
    }
  };
  const auto stop_hopeless = [&] {
    for (TimedProgram& p : programs)
      for (const TimedProgram& rival : programs)
        if (rival.work == p.work && rival.ns != no_cost && p.ns != no_cost && p.ns / 1'000'000 >= options.hopeless_ms &&
            p.ns / 100 > rival.ns / 100 * options.hopeless_percent / 100)
          p.stopped = true;
  };
  for (std::uint32_t round = 0; round <= options.max_rounds; ++round) {
    if (round > options.min_rounds && Clock::now() - begin > std::chrono::milliseconds(options.batch_ms)) return;
    for (TimedProgram& p : programs)
      if (!p.stopped) run(p);
    if (round <= 1) stop_hopeless();
    if (round > 0) continue;
    for (TimedProgram& p : programs)
      if (!p.stopped) p.ns = no_cost;
  }
}

}  // namespace davit
