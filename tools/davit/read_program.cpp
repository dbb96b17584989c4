// SPDX-License-Identifier: MIT
#include "read_program.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "davit/formats/mapped_file.hpp"
#include "davit/formats/checkpoint.hpp"
#include "davit/training/replace_weights.hpp"
#include "davit/training/training_program.hpp"

namespace tool {

using namespace davit;

namespace {

[[nodiscard]] Result<void> take_weights(ExportedProgram& program) {
  const Result<std::vector<NamedTensor>> trained = formats::read_state(weights);
  if (!trained) return std::unexpected(trained.error());
  Result<std::size_t> replaced = replace_weights(program, *trained, weights_prefix);
  if (replaced) return {};
  replaced.error().where = concat("--weights-of ", weights, ": ", replaced.error().where);
  return std::unexpected(std::move(replaced.error()));
}

/// The optimizer of a choice. Errors: options of another one.
[[nodiscard]] Result<Optimizer> optimizer_of(const TrainingChoice& choice) {
  const auto refuse = [](ErrorCode code, Name where, Name what, Name fix) {
    return std::unexpected(Error{
        .code = code, .stage = Stage::load, .where = std::move(where), .what = std::move(what), .fix = std::move(fix)});
  };
  const auto made = [&](auto how) -> Optimizer {
    how.weight_decay = choice.weight_decay.value_or(how.weight_decay);
    return how;
  };
  if (choice.optimizer.empty() || choice.optimizer == "sgd")
    return made(sgd{.momentum = choice.momentum.value_or(0), .nesterov = choice.nesterov});
  if (choice.optimizer != "adam" && choice.optimizer != "adamw")
    return refuse(ErrorCode::not_found, "--optimizer", concat("there is no optimizer '", choice.optimizer, "'"),
                  "there are sgd, adam and adamw");
  if (choice.momentum || choice.nesterov)
    return refuse(ErrorCode::invalid_argument, choice.momentum ? Name("--momentum") : Name("--nesterov"),
                  concat(choice.optimizer, " has none: its moments have factors of their own"),
                  "leave it out, or take --optimizer sgd");
  return choice.optimizer == "adam" ? made(adam()) : made(adamw());
}

}  // namespace

Result<ExportedProgram> training_of(const ExportedProgram& joint, const TrainingChoice& choice) {
  const Result<Optimizer> optimizer = optimizer_of(choice);
  if (!optimizer) return std::unexpected(optimizer.error());
  TrainOptions how{.frozen = {}, .accumulate = choice.accumulate};
  for (const std::string& pattern : choice.frozen) how.frozen.push_back(Name::own(pattern));
  return training_program(joint, *optimizer, how);
}

Result<ExportedProgram> read_program(const std::string& file, const formats::Pt2Options& options) {
  Result<ExportedProgram> program = formats::read_pt2(file, options);
  if (program && !weights.empty())
    if (Result<void> taken = take_weights(*program); !taken) return std::unexpected(std::move(taken.error()));
  return !program || training.optimizer.empty() ? program : training_of(*program, training);
}

Result<std::vector<NamedProgram>> read_models(const std::vector<std::string>& models, const Limits& limits,
                                              bool& are_methods) {
  std::vector<NamedProgram> all;
  for (const std::string& model : models) {
    const std::size_t equals = model.find('=');
    std::error_code ignored;
    const bool is_file =
        equals == std::string::npos || equals == 0 || std::filesystem::exists(formats::path_of(model), ignored);
    if (is_file && models.size() > 1)
      return std::unexpected(
          Error{.code = ErrorCode::invalid_argument,
                .stage = Stage::load,
                .where = concat("model ", model),
                .what = "several files are the methods of one program, and this one is not said to be a method",
                .fix = "write, say, prefill=FILE decode=FILE"});
    are_methods = !is_file;
    std::string method = is_file ? "forward" : model.substr(0, equals);
    const std::string file = is_file ? model : model.substr(equals + 1);
    Result<ExportedProgram> program =
        read_program(file, reading(limits, is_file ? std::string_view() : std::string_view(method)));
    if (!program && !is_file) program = read_program(file, reading(limits));
    if (!program) return std::unexpected(std::move(program.error()));
    all.push_back({std::move(method), *std::move(program)});
  }
  return all;
}

}  // namespace tool
