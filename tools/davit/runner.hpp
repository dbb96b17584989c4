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
#include "davit/lowered/lowered_program.hpp"
#include "davit/lowered/method_interface.hpp"
#include "davit/lowered/partition_report.hpp"
#include "davit/lowering/lower_program.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/runtime/outputs.hpp"
#include "delegate_call.hpp"

namespace tool {

/// How a program is lowered.
struct LoweringChoice {
  std::string backends{};     ///< names by preference, separated by commas; empty: portable
  std::string partitioner{};  ///< see choose_partitioner; empty: capability
  std::shared_ptr<Costs> costs =
      std::make_shared<Costs>();  ///< of the partitioner "choose"; copies share what was measured
  std::string redirect{};         ///< not empty: cut as the partitioner says, but run it all on this backend
  std::uint32_t threads = 1;      ///< that backends with threads may use
  bool fast_math = false;         ///< NaN and infinities may get lost
  bool full_delegation = false;
  bool keep_originals = false;
  std::string shared_constants = "share";  ///< or "duplicate", "refuse"
  davit::Limits limits{};                  ///< of reading and running
  std::string
      method{};  ///< which of a program's methods runs; empty: "forward", or the first if there is none of that name
  std::string ir{};    ///< "core": take every composite operator apart first
  bool saved = false;  ///< check: save the lowered program and load it back before it runs
};

/// Errors: a backend or a partitioner that does not exist.
[[nodiscard]] davit::Result<void> check_choice(const LoweringChoice& choice);
/// Errors: a choice that only lowering has, made for a file that is lowered already.
[[nodiscard]] davit::Result<void> check_lowered(const LoweringChoice& choice, const std::string& file);

/// A lowered program and a session of it. The one place that compiles the backends.
class Runner {
 public:
  /// Errors: not_found for names that this program does not know, or no method; what lowering reports.
  [[nodiscard]] static davit::Result<Runner> lower(std::span<const davit::ProgramMethod> methods,
                                                   const LoweringChoice& choice, bool trace = false,
                                                   davit::Diagnostics* diagnostics = nullptr);
  [[nodiscard]] static davit::Result<Runner> lower(const davit::ExportedProgram& program, const LoweringChoice& choice,
                                                   bool trace = false, davit::Diagnostics* diagnostics = nullptr);
  /// Loads what save() wrote. Errors: what loading reports; not_found for no method.
  [[nodiscard]] static davit::Result<Runner> load(const std::string& file, const LoweringChoice& choice,
                                                  bool trace = false);
  /// The same from the bytes of a package.
  [[nodiscard]] static davit::Result<Runner> load(const davit::SharedBytes& package, const LoweringChoice& choice);
  /// Loads a package, or reads and lowers a .pt2 file. Errors: those of both, guessed what the file is; choices that
  /// only lowering has, of a package.
  [[nodiscard]] static davit::Result<Runner> open(const std::string& file, const LoweringChoice& choice,
                                                  bool trace = false, davit::Diagnostics* diagnostics = nullptr);
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;
  ~Runner();

  [[nodiscard]] davit::Result<davit::Outputs> run(std::span<const davit::EValue> inputs);
  [[nodiscard]] const davit::LoweredProgram& program() const;
  /// The method that is run: see LoweringChoice::method.
  [[nodiscard]] const davit::LoweredMethod& method() const;
  [[nodiscard]] std::span<const davit::NamedTensor> state() const;
  /// The memory plan of the last run, in words.
  [[nodiscard]] davit::Name plan() const;
  /// Bytes of the arena, known after a run.
  [[nodiscard]] std::size_t arena_bytes() const;
  /// What is known of the partitions of a program that was loaded: reports for profile().
  [[nodiscard]] std::vector<davit::PartitionReport> reports() const;
  [[nodiscard]] davit::Result<void> save(const std::string& file, bool debug_map = true) const;
  /// Saves the program so that it begins where this session is: with its state in place of the initial one.
  [[nodiscard]] davit::Result<void> save_state(const std::string& file) const;
  /// Runs some times and writes into the report of the method that it runs how long partitions and nodes took, as the
  /// median of runs after the first up to one that fails, and where its memory lies; a report without nodes gets those
  /// that ran. Only with `trace`. Errors: what the first two runs report.
  [[nodiscard]] davit::Result<void> profile(std::span<const davit::EValue> inputs,
                                            std::span<davit::PartitionReport> reports);
  /// Keeps copies of what the partitions answer from now on; only with `trace`.
  void record_calls();
  /// What they answered since, in order.
  [[nodiscard]] std::vector<DelegateCall> take_calls();
  /// Forgets the events so far; only with `trace`.
  void clear_trace();
  [[nodiscard]] davit::Result<void> write_trace(const std::string& file) const;

 private:
  struct Sessions;
  explicit Runner(std::unique_ptr<Sessions> sessions) noexcept;
  std::unique_ptr<Sessions> sessions_;
};

}  // namespace tool
