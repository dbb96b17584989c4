// SPDX-License-Identifier: MIT
#include "davit/formats/mapped_file.hpp"
#include "files.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace tool {

using namespace davit;
namespace fs = std::filesystem;

namespace {

/// Resolves links of a path, also if the file does not exist yet.
[[nodiscard]] fs::path named_by(fs::path path) {
  std::error_code error;
  for (int i = 0; i < 40; ++i) {
    const fs::path next = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;
  }
  fs::path whole = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path : whole;
}

[[nodiscard]] bool same_file(const std::string& one, const std::string& other) {
  const fs::path a = formats::path_of(one), b = formats::path_of(other);
  std::error_code error;
  if (!fs::exists(a, error) || !fs::exists(b, error)) return named_by(a) == named_by(b);
  return fs::is_regular_file(a, error) && fs::equivalent(a, b, error);
}

}  // namespace

Files& Files::reads_model(const std::string& model) {
  std::error_code ignored;
  const bool is_file = fs::exists(formats::path_of(model), ignored);
  read_.push_back(is_file ? model : model.substr(model.find('=') + 1));
  return *this;
}
Files& Files::reads_input(const std::string& input) {
  std::error_code ignored;
  const std::size_t colon = fs::exists(formats::path_of(input), ignored) ? std::string::npos : input.rfind(".npz:");
  read_.push_back(colon == std::string::npos ? input : input.substr(0, colon + 4));
  return *this;
}
Files& Files::reads_all(const std::vector<std::string>& models, const std::vector<std::string>& inputs) {
  for (const std::string& model : models) reads_model(model);
  for (const std::string& input : inputs) reads_input(input);
  return *this;
}
Files& Files::uses(const LoweringChoice& choice) {
  constexpr std::string_view rules = "config:";
  if (choice.partitioner.starts_with(rules)) read_.push_back(choice.partitioner.substr(rules.size()));
  if (!choice.costs->file.empty()) read_.push_back(choice.costs->file);
  return writes("--save-costs", choice.costs->save);
}
Files& Files::writes(std::string option, std::string file) {
  if (!file.empty()) written_.push_back({std::move(option), std::move(file)});
  return *this;
}

Result<void> Files::check() const {
  const auto refused = [](const Written& by, Name what) -> Result<void> {
    return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                 .stage = Stage::save,
                                 .where = concat(by.option, " ", by.file),
                                 .what = std::move(what),
                                 .fix = "name another file"});
  };
  for (std::size_t i = 0; i < written_.size(); ++i) {
    for (const std::string& read : read_)
      if (same_file(read, written_[i].file))
        return refused(written_[i], concat("this would replace ", read, ", which is read"));
    for (std::size_t j = 0; j < i; ++j)
      if (same_file(written_[j].file, written_[i].file))
        return refused(written_[i], concat("this would replace what ", written_[j].option, " writes"));
  }
  return {};
}

}  // namespace tool
