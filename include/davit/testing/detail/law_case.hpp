// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "davit/backend/contract.hpp"
#include "davit/lowered/lowered_program.hpp"
#include "davit/runtime/session.hpp"
#include "davit/testing/detail/snapshot.hpp"

namespace davit::testing {

/// A violated law, and how it was violated.
struct LawViolation {
  std::string_view law;
  Name what;
};

/// User inputs of one call of a program's "forward".
using SampleInputs = std::span<const EValue>;

namespace detail {

/// The program and samples for the laws of B, the expected results, and the violations.
template <Backend B>
struct LawCase {
  const ExportedProgram& program;
  const typename B::CompileSpec& spec;
  std::span<const SampleInputs> samples;
  std::vector<Snapshot> expected{};
  std::vector<LawViolation> violations{};

  template <class... Parts>
  void broken(std::string_view law, const Parts&... what) {
    violations.push_back({law, concat(what...)});
  }
  [[nodiscard]] bool mutates_inputs() const {
    return std::ranges::any_of(program.signature.output_specs,
                               [](const OutputSpec& s) { return kind(s) == OutputKind::user_input_mutation; });
  }

  /// Runs every sample in a new session and compares. Skipped if the program changes user inputs, because samples then
  /// differ.
  void same_results(std::string_view law, const LoweredProgram& lowered, std::string_view how) {
    if (mutates_inputs()) return;
    Result<Session> session = Session::make(lowered);
    if (!session) return broken(law, how, ": ", to_name(session.error()));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      Result<Outputs> outputs = session->run(0, samples[i]);
      if (!outputs) return broken(law, how, ": ", to_name(outputs.error()));
      if (Snapshot(outputs->all()) != expected[i]) return broken(law, how, ": sample ", i, " gave another result");
    }
  }

  /// Records a fresh session's results, call by call, for all other comparisons.
  [[nodiscard]] bool expect(const LoweredProgram& lowered) {
    Result<Session> session = Session::make(lowered);
    if (!session) {
      broken("sessions", to_name(session.error()));
      return false;
    }
    for (const SampleInputs& sample : samples) {
      const Snapshot inputs(sample);
      Result<Outputs> outputs = session->run(0, sample);
      if (!outputs) {
        broken("outputs", "a sample did not run: ", to_name(outputs.error()));
        return false;
      }
      expected.emplace_back(outputs->all());
      if (!mutates_inputs() && Snapshot(sample) != inputs) broken("inputs", "execute changed its inputs");
    }
    return true;
  }
};

}  // namespace detail

}  // namespace davit::testing
