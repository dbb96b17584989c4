// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "backends.hpp"
#include "commands.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/formats/recorded_case.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "davit/testing/compare.hpp"

namespace tool {

namespace {

using namespace davit;
namespace fs = std::filesystem;

struct Tally {
  int passed = 0;
  int failed = 0;
  bool progress = isatty(STDERR_FILENO) != 0;

  void count(const std::string& name, const std::vector<std::string>& failures) {
    for (const std::string& failure : failures) std::printf("%s: %s\n", name.c_str(), failure.c_str());
    ++(failures.empty() ? passed : failed);
    if (progress) std::fprintf(stderr, "\r%d passed, %d failed ", passed, failed);
  }
};

[[nodiscard]] testing::Check check_named(std::string_view name) {
  return name == "shape_dtype" ? testing::Check::shape_dtype : name == "permutation" ? testing::Check::permutation : testing::Check::close;
}

/// Runs a case; a line for everything that went wrong.
template <class B>
[[nodiscard]] std::vector<std::string> run_case(const formats::CaseFiles& files) {
  std::vector<std::string> failures;
  const auto fail = [&](const Error& error) {
    failures.push_back(to_string(error));
    return failures;
  };
  const Result<formats::RecordedCase> recorded = formats::read_case(files);
  if (!recorded) return fail(recorded.error());
  const Result<SharedBytes> bytes = files.read(recorded->program);
  if (!bytes) return fail(bytes.error());
  const Result<ExportedProgram> program = formats::read_pt2(*bytes);
  if (!program) return fail(program.error());
  const Result<LoweredModule<B>> lowered = to_backend<B>(*program);
  if (!lowered) return fail(lowered.error());
  Session<B> session(*lowered);
  for (std::size_t r = 0; r < recorded->runs.size(); ++r) {
    const formats::RecordedRun& run = recorded->runs[r];
    std::vector<Tensor> owned;
    std::vector<EValue> inputs;
    for (const formats::RecordedValue& input : run.inputs) {
      if (input.tag != EValue::Tag::tensor) {
        inputs.push_back(input.value());
        continue;
      }
      owned.push_back(input.tensor);
      owned.back().storage = SharedBytes::copy_of(input.tensor.storage.bytes());  // the program may change its inputs
      inputs.push_back(EValue(owned.back().view()));
    }
    const Result<std::span<const EValue>> outputs = session.run("forward", inputs);
    const std::string where = "run " + std::to_string(r);
    if (!outputs) {
      failures.push_back(where + ": " + to_string(outputs.error()));
      return failures;
    }
    if (outputs->size() != run.outputs.size()) {
      failures.push_back(where + ": " + std::to_string(outputs->size()) + " outputs, recorded " + std::to_string(run.outputs.size()));
      continue;
    }
    for (std::size_t i = 0; i < outputs->size(); ++i) {
      const auto& only = recorded->check_outputs;
      if (!only.empty() && std::ranges::find(only, static_cast<std::int64_t>(i)) == only.end()) continue;
      const formats::RecordedValue& expected = run.outputs[i];
      if (i < session.module().methods()[0].interface.outputs.size() &&
          session.module().methods()[0].interface.outputs[i].kind == OutputKind::token)
        continue;
      const testing::Tolerance tolerance{expected.rtol.value_or(recorded->rtol), expected.atol.value_or(recorded->atol)};
      const std::string difference = testing::compare((*outputs)[i], expected.value(), tolerance, check_named(recorded->check));
      if (!difference.empty()) failures.push_back(where + ", output " + std::to_string(i) + " '" + expected.name + "': " + difference);
    }
  }
  return failures;
}

template <class B>
[[nodiscard]] Result<void> check_path(const fs::path& path, Tally& tally) {
  if (fs::is_directory(path)) {
    if (fs::exists(path / "case.json")) {
      tally.count(path.string(), run_case<B>(formats::CaseFiles::folder(path)));
      return {};
    }
    std::vector<fs::path> below;
    for (const fs::directory_entry& entry : fs::directory_iterator(path))
      if (entry.is_directory() || entry.path().extension() == ".zip") below.push_back(entry.path());
    std::ranges::sort(below);
    for (const fs::path& each : below)
      if (Result<void> checked = check_path<B>(each, tally); !checked) return checked;
    return {};
  }
  const Result<SharedBytes> bytes = formats::map_file(path);
  if (!bytes) return std::unexpected(bytes.error());
  Result<formats::ZipArchive> archive = formats::ZipArchive::open(*bytes, path.string());
  if (!archive) return std::unexpected(std::move(archive.error()));
  std::vector<std::string> prefixes;
  for (const formats::ZipMember& member : archive->members()) {
    const std::string name(member.name);
    if (name == "case.json" || name.ends_with("/case.json")) prefixes.push_back(name.substr(0, name.size() - 9));
  }
  if (prefixes.empty())
    return std::unexpected(Error{.code = ErrorCode::not_found, .where = Name(path.string()), .what = "the archive holds no case.json",
                                 .fix = "name a folder with case.json, or a zip of such folders"});
  for (const std::string& prefix : prefixes)
    tally.count(path.string() + "/" + prefix, run_case<B>(formats::CaseFiles::member(*archive, prefix)));
  return {};
}

template <class B>
[[nodiscard]] Result<Tally> check_all(const CheckOptions& options) {
  Tally tally;
  for (const std::string& path : options.cases) {
    if (!fs::exists(path))
      return std::unexpected(Error{.code = ErrorCode::io_error, .where = Name(path), .what = "there is no such file or folder"});
    const int before = tally.passed + tally.failed;
    if (Result<void> checked = check_path<B>(path, tally); !checked) return std::unexpected(std::move(checked.error()));
    if (tally.passed + tally.failed == before)
      return std::unexpected(Error{.code = ErrorCode::not_found, .where = Name(path), .what = "there is no case below this folder"});
  }
  return tally;
}

}  // namespace

int check(const CheckOptions& options) {
  const Result<Tally> tally = with_backend(options.backends, [&]<class B>() { return check_all<B>(options); });
  if (!tally) {
    std::fprintf(stderr, "davit: %s\n", to_string(tally.error()).c_str());
    return 2;
  }
  if (tally->progress) std::fprintf(stderr, "\r");
  std::printf("%d passed, %d failed\n", tally->passed, tally->failed);
  return tally->failed == 0 ? 0 : 1;
}

}  // namespace tool
