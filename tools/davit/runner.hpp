// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "costs.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/limits.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/formats/package.hpp"
#include "davit/lowered/lowered_program.hpp"
#include "davit/lowered/method_interface.hpp"
#include "davit/lowered/partition_report.hpp"
#include "davit/lowering/lower_program.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/runtime/outputs.hpp"
#include "delegate_call.hpp"

namespace tool {

/// Options of lowering and running.
struct LoweringChoice {
  std::string backends{};     ///< names by preference, separated by commas; empty: portable
  std::string partitioner{};  ///< see choose_partitioner; empty: capability
  std::shared_ptr<Costs> costs =
      std::make_shared<Costs>();  ///< for the partitioner "choose"; copies share the measurements
  std::string redirect{};         ///< if not empty: partition as usual, but run everything on this backend
  std::uint32_t threads = 1;      ///< for backends with threads
  bool fast_math = false;         ///< NaN and infinities may get lost
  bool full_delegation = false;
  bool keep_originals = false;
  std::string shared_constants = "share";  ///< or "duplicate", "refuse"
  davit::Limits limits{};                  ///< for reading and running
  std::string method{};                    ///< method to run; empty: "forward", or the first if there is none
  std::string ir{};                        ///< "core": first decompose every composite operator
  bool saved = false;                      ///< for check: save the lowered program and load it back before it runs
};

/// Checks the names of backends and partitioner.
[[nodiscard]] davit::Result<void> check_choice(const LoweringChoice& choice);
/// Rejects options of lowering for a file that is already lowered.
[[nodiscard]] davit::Result<void> check_lowered(const LoweringChoice& choice, const std::string& file);

/// A lowered program and its session. Only this file compiles the backends.
class Runner {
 public:
  /// Lowers a program. Errors: not_found for unknown names and a missing method; those of lowering.
  [[nodiscard]] static davit::Result<Runner> lower(std::span<const davit::ProgramMethod> methods,
                                                   const LoweringChoice& choice, bool trace = false,
                                                   davit::Diagnostics* diagnostics = nullptr);
  [[nodiscard]] static davit::Result<Runner> lower(const davit::ExportedProgram& program, const LoweringChoice& choice,
                                                   bool trace = false, davit::Diagnostics* diagnostics = nullptr);
  /// Loads a package of save(). Errors: those of loading; not_found for a missing method.
  [[nodiscard]] static davit::Result<Runner> load(const std::string& file, const LoweringChoice& choice,
                                                  bool trace = false);
  /// Loads a package from its bytes.
  [[nodiscard]] static davit::Result<Runner> load(const davit::SharedBytes& package, const LoweringChoice& choice,
                                                  const davit::formats::LoadOptions& options = {});
  /// Loads a package with other weights than those of --weights-of.
  [[nodiscard]] static davit::Result<Runner> load(const std::string& file, const LoweringChoice& choice,
                                                  const davit::formats::LoadOptions& options, bool trace = false);
  /// Loads a package, or reads and lowers a .pt2 file. Errors: those of both, with a guess of the file's kind; options
  /// of lowering for a package.
  [[nodiscard]] static davit::Result<Runner> open(const std::string& file, const LoweringChoice& choice,
                                                  bool trace = false, davit::Diagnostics* diagnostics = nullptr);
  /// Makes a runner of a program that is lowered. Errors: not_found for a missing method; those of Session::make.
  [[nodiscard]] static davit::Result<Runner> of(const davit::LoweredProgram& program, const LoweringChoice& choice,
                                                bool trace = false);
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;
  ~Runner();

  [[nodiscard]] davit::Result<davit::Outputs> run(std::span<const davit::EValue> inputs);
  [[nodiscard]] const davit::LoweredProgram& program() const;
  /// Returns the method to run: see LoweringChoice::method.
  [[nodiscard]] const davit::LoweredMethod& method() const;
  [[nodiscard]] std::span<const davit::NamedTensor> state() const;
  /// Prints the memory plan of the last run.
  [[nodiscard]] davit::Name plan() const;
  /// Returns the bytes of the arena, known after a run.
  [[nodiscard]] std::size_t arena_bytes() const;
  /// Returns reports of a loaded program for profile().
  [[nodiscard]] std::vector<davit::PartitionReport> reports() const;
  /// Returns reports of a loaded program with the nodes that its packages' backends keep, and their places.
  [[nodiscard]] std::vector<davit::PartitionReport> contents() const;
  [[nodiscard]] davit::Result<void> save(const std::string& file, davit::formats::SaveOptions options = {}) const;
  /// Saves the program with the state of this session in place of the initial state.
  [[nodiscard]] davit::Result<void> save_state(const std::string& file) const;
  /// Runs several times and adds times of partitions and nodes, and the memory plan, to the report of the method. Times
  /// are medians of the runs after the first, up to a failed one. A report without nodes gets the nodes that ran.
  /// Requires `trace`. Errors: those of the first two runs.
  [[nodiscard]] davit::Result<void> profile(std::span<const davit::EValue> inputs,
                                            std::span<davit::PartitionReport> reports);
  /// Records copies of the partitions' outputs from now on. Requires `trace`.
  void record_calls();
  /// Returns the recorded calls, in order.
  [[nodiscard]] std::vector<DelegateCall> take_calls();
  /// Removes all events. Requires `trace`.
  void clear_trace();
  [[nodiscard]] davit::Result<void> write_trace(const std::string& file) const;

 private:
  struct Sessions;
  explicit Runner(std::unique_ptr<Sessions> sessions) noexcept;
  std::unique_ptr<Sessions> sessions_;
};

}  // namespace tool
