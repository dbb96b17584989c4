// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "davit/formats/file_kind.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/formats/zip/zip.hpp"
#include "davit/testing/compare.hpp"
#include "files.hpp"
#include "progress.hpp"
#include "read_program.hpp"
#include "recorded_case.hpp"
#include "runner.hpp"

namespace tool {

namespace {

using namespace davit;
namespace fs = std::filesystem;

/// Joins the lines of a text by " |".
[[nodiscard]] std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n') {
      line += " |";
    } else if (c != ' ' || !line.ends_with(' ')) {
      line += c;
    }
  }
  return line;
}

struct Tally {
  int passed = 0;
  int failed = 0;
  Progress progress;

  void count(const std::string& name, const std::vector<std::string>& failures) {
    if (!failures.empty()) progress.show({});
    for (const std::string& failure : failures) print("%s: %s\n", name.c_str(), one_line(failure).c_str());
    ++(failures.empty() ? passed : failed);
    progress.show(std::to_string(passed) + " passed, " + std::to_string(failed) + " failed");
  }
};

[[nodiscard]] testing::Check check_named(std::string_view name) {
  if (name == "shape_dtype") return testing::Check::shape_dtype;
  return name == "permutation" ? testing::Check::permutation : testing::Check::close;
}

/// Copies of a run's inputs, which the program may change.
struct RunInputs {
  std::vector<Tensor> tensors;
  std::vector<EValue> values;

  explicit RunInputs(const formats::RecordedRun& run) {
    tensors.reserve(run.inputs.size());
    for (const formats::RecordedValue& input : run.inputs) {
      values.push_back(input.value());
      if (!values.back().is_tensor()) continue;
      Tensor& own = tensors.emplace_back(input.tensor);
      own.storage = SharedBytes::copy_of(input.tensor.storage.bytes());
      values.back() = EValue(own.view());
    }
  }
};

/// Compares outputs of a run, and inputs after it, with the recorded values.
class Comparison {
 public:
  Comparison(const formats::RecordedCase& recorded, std::vector<std::string>& failures)
      : case_(recorded), failures_(failures) {}

  void outputs(std::size_t index, std::span<const EValue> actual, std::span<const OutputPort> ports) {
    const formats::RecordedRun& run = case_.runs[index];
    const std::string where = "run " + std::to_string(index);
    if (actual.size() != run.outputs.size()) {
      failures_.push_back(where + ": there are " + std::to_string(actual.size()) + " outputs, recorded " +
                          std::to_string(run.outputs.size()));
      return;
    }
    const std::vector<std::size_t>& only = case_.check_outputs;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      if (!only.empty() && std::ranges::find(only, i) == only.end()) continue;
      if (ports[i].kind == OutputKind::token) continue;
      value(where + ", output " + std::to_string(i), actual[i], run.outputs[i]);
    }
  }
  /// Compares inputs after the run. Skips inputs whose shape changed: the caller's view cannot show that.
  void inputs_after(std::size_t index, std::span<const EValue> inputs) {
    for (const auto& [i, recorded] : case_.runs[index].inputs_after) {
      const TensorView* tensor = inputs[i].tensor_if();
      if (tensor != nullptr && !std::ranges::equal(tensor->sizes(), recorded.tensor.sizes)) continue;
      value("run " + std::to_string(index) + ", input " + std::to_string(i) + " after it", inputs[i], recorded);
    }
  }
  void state_after(std::size_t index, std::span<const NamedTensor> state) {
    for (const auto& [name, recorded] : case_.runs[index].state_after) {
      const auto at = std::ranges::find(state, std::string_view(name), [](const auto& e) { return e.name.view(); });
      value("run " + std::to_string(index) + ", buffer after it", at == state.end() ? EValue() : at->tensor.view(),
            recorded);
    }
  }

 private:
  void value(const std::string& where, const EValue& actual, const formats::RecordedValue& recorded) {
    if (recorded.opaque) return;
    const testing::Tolerance tolerance{recorded.rtol.value_or(case_.rtol), recorded.atol.value_or(case_.atol)};
    const std::string gap = testing::compare(actual, recorded.value(), tolerance, check_named(case_.check));
    if (!gap.empty()) failures_.push_back(where + " '" + recorded.name + "': " + gap);
  }

  const formats::RecordedCase& case_;
  std::vector<std::string>& failures_;
};

/// A file that goes at the end.
struct Removed {
  std::string name;
  ~Removed() {
    std::error_code error;
    if (!name.empty()) fs::remove(name, error);
  }
};

[[nodiscard]] std::vector<std::string> try_case(const formats::CaseFiles& files, const LoweringChoice& lowering) {
  const auto failed = [](const Error& error) { return std::vector{to_string(error)}; };
  const Result<formats::RecordedCase> recorded = formats::read_case(files);
  if (!recorded && recorded.error().code == ErrorCode::io_error && !files.read("program.pt2"))
    return {to_string(recorded.error()), "the folder has no program.pt2 either"};
  if (!recorded) return failed(recorded.error());
  Removed kept;  // where a file that is mapped cannot be removed: Windows
  Result<SharedBytes> bytes = files.read(recorded->program);
  if (!bytes) return failed(bytes.error());
  const bool is_package = formats::is_package(bytes->bytes());
  Result<ExportedProgram> program =
      is_package ? Result<ExportedProgram>(std::in_place) : formats::read_pt2(*bytes, reading());
  if (!program) return failed(program.error());
  Result<Runner> runner = is_package ? Runner::load(*bytes, lowering) : Runner::lower(*program, lowering);
  if (!runner) return failed(runner.error());
  program = std::unexpected(Error{});  // releases memory that is no longer needed
  bytes = std::unexpected(Error{});
  if (lowering.saved) {
    std::string name = (fs::temp_directory_path() / "davit-check-XXXXXX").string();
    const int number = mkstemp(name.data());
    if (number < 0) return {"a file for the saved program cannot be made in " + name};
    close(number);
    const formats::UnfinishedFile file(name);
    const Result<void> saved = runner->save(name);
    runner = std::unexpected(Error{});
    if (saved) runner = Runner::load(name, lowering);
    std::error_code error;
    if (!fs::remove(name, error)) kept.name = name;
    if (!saved) return failed(saved.error());
    if (!runner) return failed(runner.error());
  }
  std::vector<std::string> failures;
  Comparison comparison(*recorded, failures);
  for (std::size_t i = 0; i < recorded->runs.size(); ++i) {
    const RunInputs inputs(recorded->runs[i]);
    const Result<Outputs> outputs = runner->run(inputs.values);
    if (!outputs) {
      failures.push_back("run " + std::to_string(i) + ": " + to_string(outputs.error()));
      break;  // the state is wrong from here on
    }
    comparison.outputs(i, outputs->all(), runner->method().interface.outputs);
    comparison.inputs_after(i, inputs.values);
    comparison.state_after(i, runner->state());
  }
  return failures;
}

/// Runs a case. Returns a line per failure.
[[nodiscard]] std::vector<std::string> run_case(const formats::CaseFiles& files, const LoweringChoice& lowering) {
  try {
    return try_case(files, lowering);
  } catch (const std::exception& error) {  // for example out of memory: the other cases may still succeed
    return {error.what()};
  }
}

/// A case that was found: a folder, or a member of an archive.
struct FoundCase {
  std::string name;
  std::function<formats::CaseFiles()> files;
};

/// Finds the cases at `path` inside the folder `given`. Does not follow links out of `given`.
[[nodiscard]] Result<void> find_cases(const fs::path& path, const fs::path& given, std::vector<FoundCase>& found) {
  if (fs::is_directory(path)) {
    if (fs::exists(fs::symlink_status(path / "case.json")))
      found.push_back({path.string(), [path, given] { return formats::CaseFiles::folder(path, given); }});
    std::vector<fs::path> below;
    for (const fs::directory_entry& entry : fs::directory_iterator(path))
      if (entry.is_symlink() ? entry.path().extension() == ".zip" && formats::lies_in(entry.path(), given)
                             : entry.is_directory() || entry.path().extension() == ".zip")
        below.push_back(entry.path());
    std::ranges::sort(below);
    for (const fs::path& each : below)
      if (Result<void> looked = find_cases(each, given, found); !looked) return looked;
    return {};
  }
  const Result<SharedBytes> bytes = formats::map_file(path.string());
  if (!bytes) return std::unexpected(bytes.error());
  Result<formats::ZipArchive> opened = formats::ZipArchive::open(*bytes, path.string());
  if (!opened) return std::unexpected(std::move(opened.error()));
  const auto archive = std::make_shared<formats::ZipArchive>(*std::move(opened));
  std::vector<std::string> prefixes;
  for (const formats::ZipMember& member : archive->members()) {
    const std::string name(member.name);
    if (name == "case.json" || name.ends_with("/case.json")) prefixes.push_back(name.substr(0, name.size() - 9));
  }
  if (prefixes.empty())
    return std::unexpected(Error{.code = ErrorCode::not_found,
                                 .where = Name(path.string()),
                                 .what = "the archive holds no case.json",
                                 .fix = "name a folder with case.json, or a zip of such folders"});
  for (const std::string& prefix : prefixes)
    found.push_back(
        {path.string() + "/" + prefix, [archive, prefix] { return formats::CaseFiles::member(*archive, prefix); }});
  return {};
}

[[nodiscard]] Result<void> check_all(const CheckOptions& options, Tally& tally) {
  if (Result<void> apart = Files().reads_all(options.cases, {}).uses(options.lowering).check(); !apart) return apart;
  if (Result<void> known = check_choice(options.lowering); !known) return known;
  std::vector<FoundCase> found;
  for (const std::string& path : options.cases) {
    const fs::path given = formats::path_of(path);
    if (!fs::exists(given))
      return std::unexpected(
          Error{.code = ErrorCode::io_error, .where = Name(path), .what = "there is no such file or folder"});
    const std::size_t before = found.size();
    if (Result<void> looked = find_cases(given, given, found); !looked) return looked;
    if (found.size() == before)
      return std::unexpected(
          Error{.code = ErrorCode::not_found,
                .where = Name(path),
                .what = "there is no case below this folder: no case.json beside a program.pt2",
                .fix = "name a folder with case.json, or a zip of such folders; links out of it are not followed"});
  }
  print("%s found\n", count_of(found.size(), "case").c_str());
  for (const FoundCase& each : found) tally.count(each.name, run_case(each.files(), options.lowering));
  return {};
}

}  // namespace

int check(const CheckOptions& options) {
  Tally tally;
  const Result<void> checked = check_all(options, tally);
  tally.progress.show({});
  if (!checked) {
    std::fprintf(stderr, "davit: %s\n", to_string(checked.error()).c_str());
    return 2;
  }
  print("%d passed, %d failed\n", tally.passed, tally.failed);
  return tally.failed == 0 ? 0 : 1;
}

}  // namespace tool
