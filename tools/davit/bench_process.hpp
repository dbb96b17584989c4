// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "davit/core/error.hpp"

namespace tool {

/// What is measured of one model on one list of backends with so many threads.
struct BenchRow {
  std::string model;
  std::string backends;  ///< the list; of a package, the backends that are in it
  std::uint32_t threads = 1;
  bool package = false;
  std::size_t partitions = 0;
  double prepare_ms = 0;  ///< from the file to a session: reading and lowering, or loading
  std::size_t arena_bytes = 0;
  std::size_t state_bytes = 0;
  std::size_t constant_bytes = 0;  ///< weights; of a package also what backends made of them
  std::size_t peak_bytes = 0;      ///< of the process' memory; 0: not known
  std::vector<double> ms{};        ///< of runs
  std::string failed{};            ///< not empty: what went wrong
};

/// A row in a process of its own: its memory is its own peak, and what goes wrong there ends nothing else. It is
/// stopped (SIGSTOP) while others run: threads that spin for their next work would take the CPUs from those.
class BenchProcess {
 public:
  /// Starts the process and waits until it has run the model twice, unmeasured; what goes wrong is in row().failed.
  BenchProcess(BenchRow row, const BenchOptions& options);
  BenchProcess(const BenchProcess&) = delete;
  BenchProcess& operator=(const BenchProcess&) = delete;
  ~BenchProcess();

  /// Runs the model for that time, at least once, and adds the times to the row; nothing after a failure.
  void run(double seconds);
  /// Ends the process, with what memory it took.
  void end();
  [[nodiscard]] const BenchRow& row() const noexcept { return row_; }

 private:
  [[nodiscard]] std::string ask(std::string_view command);
  BenchRow row_;
  pid_t pid_ = -1;
  std::FILE* commands_ = nullptr;
  std::FILE* answers_ = nullptr;
};

}  // namespace tool
