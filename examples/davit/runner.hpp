// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "davit/core/evalue.hpp"
#include "davit/lowering/diagnostics.hpp"
#include "davit/lowering/method_interface.hpp"
#include "davit/program/exported_program.hpp"

namespace tool {

/// How a program is lowered.
struct LoweringChoice {
  std::string backends = "portable";       ///< names by preference, separated by commas
  std::string partitioner = "capability";  ///< or "alternate"
  bool full_delegation = false;
};

/// A lowered program and a session of it. The one place that compiles the backends.
class Runner {
 public:
  /// Errors: not_found for names that this program does not know; what lowering reports.
  [[nodiscard]] static davit::Result<Runner> lower(const davit::ExportedProgram& program, const LoweringChoice& choice,
                                                   bool trace = false, davit::Diagnostics* diagnostics = nullptr);
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;
  ~Runner();

  [[nodiscard]] davit::Result<std::span<const davit::EValue>> run(std::span<const davit::EValue> inputs);
  [[nodiscard]] std::span<const davit::OutputPort> outputs() const;
  [[nodiscard]] std::span<const davit::NamedTensor> state() const;
  /// Forgets the events so far; only with `trace`.
  void clear_trace();
  [[nodiscard]] davit::Result<void> write_trace(const std::string& file) const;

 private:
  struct Sessions;
  explicit Runner(std::unique_ptr<Sessions> sessions) noexcept;
  std::unique_ptr<Sessions> sessions_;
};

}  // namespace tool
