// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "davit/core/error.hpp"

namespace tool {

/// Measurements of one model on one list of backends with a number of threads.
struct BenchRow {
  std::string model;
  std::string backends;  ///< list of backends; for a package, its backends
  std::uint32_t threads = 1;
  bool package = false;
  std::size_t partitions = 0;
  double prepare_ms = 0;  ///< from the file to a session: reading and lowering, or loading
  std::size_t arena_bytes = 0;
  std::size_t state_bytes = 0;
  std::size_t constant_bytes = 0;  ///< weights; for a package, also processed data of backends
  std::size_t peak_bytes = 0;      ///< peak memory of the process; 0: not known
  std::vector<double> ms{};        ///< one per run
  std::string failed{};            ///< error message; empty on success
};

/// A row in its own process, which has its own memory peak and may fail without harm to other rows. It is stopped
/// (SIGSTOP) while other rows run, because its spinning threads would take their CPUs. Where the system has no fork,
/// rows are measured in this process, and their memory is not known.
class BenchProcess {
 public:
  /// Starts the process and waits until it has run the model twice, unmeasured. A failure is in row().failed.
  BenchProcess(BenchRow row, const BenchOptions& options);
  BenchProcess(const BenchProcess&) = delete;
  BenchProcess& operator=(const BenchProcess&) = delete;
  ~BenchProcess();

  /// Runs the model for some time, at least once, and adds the times to the row. Does nothing after a failure.
  void run(double seconds);
  /// Ends the process and records its memory.
  void end();
  [[nodiscard]] const BenchRow& row() const noexcept { return row_; }

 private:
  [[nodiscard]] std::string ask(std::string_view command);
  struct Here;
  BenchRow row_;
  std::unique_ptr<Here> here_;  ///< what this process measures
  pid_t pid_ = -1;
  std::FILE* commands_ = nullptr;
  std::FILE* answers_ = nullptr;
};

}  // namespace tool
