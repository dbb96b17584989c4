// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/core/limits.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/program/exported_program.hpp"

namespace tool {

/// Set by --skip-unreadable-guards for every .pt2 file that is read.
inline bool skip_unreadable_guards = false;

/// Returns the options for reading a .pt2 file.
[[nodiscard]] inline davit::formats::Pt2Options reading(const davit::Limits& limits = {}, std::string_view model = {}) {
  return {.model = model, .limits = limits, .skip_unreadable_guards = skip_unreadable_guards};
}

/// How a joint graph becomes a training program.
struct TrainingChoice {
  std::string optimizer{};  ///< empty: none was named
  std::optional<double> momentum{};
  std::optional<double> weight_decay{};
  bool nesterov = false;
  std::vector<std::string> frozen{};  ///< patterns of parameters
  std::uint32_t accumulate = 1;
};
/// The training program of a joint graph; without a name the optimizer is sgd. Errors: what does not exist, options of
/// another optimizer, what davit::training_program gives.
[[nodiscard]] davit::Result<davit::ExportedProgram> training_of(const davit::ExportedProgram& joint,
                                                                const TrainingChoice& choice);
/// Set by --train: programs that are read are joint graphs, and become training programs.
inline TrainingChoice training;
/// Set by --weights-of and --weights-prefix, for programs that are read: a package or a checkpoint.
inline std::string weights, weights_prefix;
/// Reads a .pt2 file, gives the program the weights of --weights-of, and makes it what --train says. Errors: what
/// reading, replace_weights and training_of give.
[[nodiscard]] davit::Result<davit::ExportedProgram> read_program(const std::string& file,
                                                                 const davit::formats::Pt2Options& options);

/// A method and its program.
struct NamedProgram {
  std::string method;
  davit::ExportedProgram program;
};
/// Reads "FILE", or several "METHOD=FILE"; in an archive of several models, the model with the method's name. Sets
/// `are_methods` if there are method names; a lone "FILE" is "forward". Errors: those of reading; files without a
/// method.
[[nodiscard]] davit::Result<std::vector<NamedProgram>> read_models(const std::vector<std::string>& models,
                                                                   const davit::Limits& limits, bool& are_methods);

}  // namespace tool
