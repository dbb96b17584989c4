// SPDX-License-Identifier: MIT
#include "read_program.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "davit/formats/checkpoint.hpp"
#include "davit/training/replace_weights.hpp"

namespace tool {

using namespace davit;

Result<ExportedProgram> read_program(const std::string& file, const formats::Pt2Options& options) {
  Result<ExportedProgram> program = formats::read_pt2(file, options);
  if (!program || weights.empty()) return program;
  const Result<std::vector<NamedTensor>> trained = formats::read_state(weights);
  if (!trained) return std::unexpected(trained.error());
  Result<std::size_t> replaced = replace_weights(*program, *trained, weights_prefix);
  if (replaced) return program;
  replaced.error().where = concat("--weights ", weights, ": ", replaced.error().where);
  return std::unexpected(std::move(replaced.error()));
}

Result<std::vector<NamedProgram>> read_models(const std::vector<std::string>& models, const Limits& limits,
                                              bool& are_methods) {
  std::vector<NamedProgram> all;
  for (const std::string& model : models) {
    const std::size_t equals = model.find('=');
    std::error_code ignored;
    const bool is_file = equals == std::string::npos || equals == 0 || std::filesystem::exists(model, ignored);
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
