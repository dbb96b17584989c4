// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "read_program.hpp"
#include "runner.hpp"

namespace tool {

/// Why print() failed first: an errno, or 0.
inline int print_error = 0;

/// printf to the standard output, as davit::printable(): names come from files.
[[gnu::format(printf, 1, 2)]] inline void print(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string text(size < 0 ? 0 : static_cast<std::size_t>(size), '\0');
  if (size > 0) std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  if (std::fputs(davit::printable(text).c_str(), stdout) < 0 && print_error == 0) print_error = errno;
}

/// Makes a folder, with those above it. Errors: io_error.
[[nodiscard]] inline davit::Result<void> make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return std::unexpected(davit::Error{.code = davit::ErrorCode::io_error,
                                      .stage = davit::Stage::save,
                                      .where = davit::Name::own(folder.string()),
                                      .what = davit::concat("the folder cannot be made: ", error.message()),
                                      .fix = "name another"});
}

/// Says that a file was written.
inline void print_written(const std::string& file) { print("wrote %s\n", file.c_str()); }

struct InspectOptions {
  std::string model;
  std::string name;  ///< which model of an archive of several; empty: the only one
  bool json = false;
  bool graph = false;
  std::string ir;  ///< "core": the program with its composite operators taken apart
};
struct RunOptions {
  std::string model;
  std::vector<std::string> inputs;
  std::string output_dir;
  LoweringChoice lowering;
  int repeat = 1;
  bool plan = false;
  std::string trace;
  bool random = false;  ///< made-up inputs
  std::uint64_t seed = 0;
  std::size_t top = 5;  ///< of a row of floats
  bool profile = false;
};
struct LowerCommand {
  std::vector<std::string> models;  ///< a file, or METHOD=FILE each
  LoweringChoice lowering;
  std::string output;
  bool strip_debug_map = false;
  bool report = false;
  bool profile = false;
  std::vector<std::string> inputs;
  std::string dot;
  std::string json;
  std::string html;
};
struct CompareOptions {
  std::string model;
  LoweringChoice lowering;
  std::string reference = "portable";
  std::vector<std::string> inputs;  ///< none: random ones
  std::uint64_t seed = 0;
  double rtol = 1e-4;
  double atol = 1e-5;
};
struct BenchOptions {
  std::vector<std::string> models;        ///< .pt2 files, which are lowered, and packages
  std::vector<std::string> backends;      ///< lists, each a row; none: portable
  std::vector<std::uint32_t> threads{1};  ///< numbers, each a row
  LoweringChoice lowering;
  std::vector<std::string> inputs;  ///< none: random ones
  std::uint64_t seed = 0;
  double seconds = 1;  ///< of each row
  std::string json;
  std::string html;
};
struct EmbedCommand {
  std::vector<std::string> models;  ///< a file, or METHOD=FILE each
  std::string output;
  std::string name;  ///< empty: the file's
  std::string layout = "contiguous";
  std::string weights = "incbin";
  std::string section;            ///< of the weights; empty: .rodata.davit.weights.NAME
  std::vector<std::string> dims;  ///< "s0=1"
  bool source_lines = false;
  bool c = false;            ///< C functions too
  bool any_backend = false;  ///< nodes that static portable refuses are another backend's
  std::string backends;      ///< that compile what they take of the program now
};
struct ExplainCommand {
  std::string code;
  std::vector<std::string> models;  ///< as they were embedded
  std::string method;               ///< which of them; empty: the first
  std::string backends;             ///< that they were embedded with
};
struct TrainCommand {
  std::string model;  ///< a joint graph, or a training program that is to go on
  std::vector<std::string> data;
  std::int64_t batch = 0;  ///< 0: the program's
  std::size_t epochs = 1;
  TrainingChoice training;
  double learning_rate = 1e-3;
  std::optional<std::uint64_t> shuffle{};  ///< a seed
  std::size_t log = 1;                     ///< every so many steps a line
  std::string output;
  std::string html;  ///< a page with the curve
  LoweringChoice lowering;
};
struct OperatorsCommand {
  std::string part;  ///< only those whose name holds it
};
struct CheckOptions {
  std::vector<std::string> cases;
  LoweringChoice lowering;
};

// Each returns the exit status; errors are printed to stderr and give 2.
int inspect(const InspectOptions& options);
int run(const RunOptions& options);
int check(const CheckOptions& options);
int lower(const LowerCommand& options);
int embed(const EmbedCommand& options);
int explain(const ExplainCommand& options);
/// Trains a joint graph on arrays, and writes a package that begins with the trained state.
int train(const TrainCommand& options);
int operators(const OperatorsCommand& options);
/// Runs programs by turns and compares how long they take; 2 if one of them does not run.
int bench(BenchOptions options);
/// The version of this program, and what it was compiled with.
std::string version();
/// The backends that this program is compiled with, separated by ", ".
std::string backend_names();
/// 1 if a partition diverges from the reference.
int compare(const CompareOptions& options);

}  // namespace tool
