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

#include "davit/core/target.hpp"
#include "read_program.hpp"
#include "runner.hpp"

namespace tool {

/// errno of the first failed print(), or 0.
inline int print_error = 0;

// formats are the standard's, to which the C++ library holds Windows' printf too
#if DAVIT_TARGET_WINDOWS
#define DAVIT_PRINTF gnu_printf
#else
#define DAVIT_PRINTF printf
#endif

/// printf to standard output through davit::printable(), because names come from files.
[[gnu::format(DAVIT_PRINTF, 1, 2)]] inline void print(const char* format, ...) {
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

/// Creates a folder and its parents. Errors: io_error.
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

/// "1 node", "2 nodes".
[[nodiscard]] inline std::string count_of(std::size_t count, const char* word) {
  return std::to_string(count).append(" ").append(word).append(count == 1 ? "" : "s");
}

/// Prints the name of a written file.
inline void print_written(const std::string& file) { print("wrote %s\n", file.c_str()); }

struct InspectOptions {
  std::string model;
  std::string name;  ///< name of the model in an archive of several; empty: the only one
  bool json = false;
  bool graph = false;
  std::string ir;  ///< "core": the program with decomposed composite operators
};
struct RunOptions {
  std::string model;
  std::vector<std::string> inputs;
  std::string output_dir;
  LoweringChoice lowering;
  int repeat = 1;
  bool plan = false;
  std::string trace;
  bool random = false;  ///< synthetic inputs
  std::uint64_t seed = 0;
  std::size_t top = 5;  ///< number of largest elements to print for a row of floats
  bool profile = false;
};
struct LowerCommand {
  std::vector<std::string> models;  ///< FILE, or METHOD=FILE each
  LoweringChoice lowering;
  std::string output;
  std::string weights_file;
  bool strip_debug_map = false;
  std::string report;  ///< "brief", "full", or empty
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
  std::vector<std::string> inputs;      ///< empty: the file's example inputs, or random ones
  std::optional<std::uint64_t> seed{};  ///< of random inputs
  double rtol = 1e-4;
  double atol = 1e-5;
  std::string html;
};
struct DiffCommand {
  std::string before;  ///< a package, or a report that `davit lower --json` wrote
  std::string after;
  bool profile = false;  ///< run the packages for times
  double ratio = 1.2;    ///< of times, from which on a node became slower or faster
  std::string html;
};
struct BenchOptions {
  std::vector<std::string> models;        ///< .pt2 files, which are lowered, and packages
  std::vector<std::string> backends;      ///< lists, each a row; empty: portable
  std::vector<std::uint32_t> threads{1};  ///< numbers of threads, each a row
  LoweringChoice lowering;
  std::vector<std::string> inputs;      ///< empty: the file's example inputs, or random ones
  std::optional<std::uint64_t> seed{};  ///< of random inputs
  double seconds = 1;                   ///< per row
  std::string json;
  std::string html;
};
struct EmbedCommand {
  std::vector<std::string> models;  ///< FILE, or METHOD=FILE each
  std::string output;
  std::string name;  ///< empty: name of the file
  std::string layout = "contiguous";
  std::string weights = "incbin";
  std::string section;            ///< section of the weights; empty: .rodata.davit.weights.NAME
  std::vector<std::string> dims;  ///< "s0=1"
  bool source_lines = false;
  bool c = false;            ///< also write C functions
  bool any_backend = false;  ///< leave nodes that static portable refuses to other backends
  std::string backends;      ///< backends that compile the nodes they take now
};
struct ExplainCommand {
  std::string code;
  std::vector<std::string> models;  ///< as passed to embed
  std::string method;               ///< one of the methods; empty: the first
  std::string backends;             ///< as passed to embed
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
  std::string part;                 ///< only operators whose name contains this
  std::vector<std::string> models;  ///< print the groups that these need
};
struct CheckOptions {
  std::vector<std::string> cases;
  LoweringChoice lowering;
};

// Each returns the exit status. Errors are printed to stderr, with exit status 2.
int inspect(const InspectOptions& options);
int run(const RunOptions& options);
int check(const CheckOptions& options);
int lower(const LowerCommand& options);
int embed(const EmbedCommand& options);
int explain(const ExplainCommand& options);
/// Trains a joint graph on arrays, and writes a package that begins with the trained state.
int train(const TrainCommand& options);
int operators(const OperatorsCommand& options);
/// Runs programs in turn and compares their times. Returns 2 if one of them does not run.
int bench(BenchOptions options);
/// Returns the version of this program and its compile options.
std::string version();
/// Returns the names of the compiled-in backends for users, separated by ", ": without portable_2, which serves tests.
std::string backend_names();
/// Returns 1 if a partition diverges from the reference.
int compare(const CompareOptions& options);
/// Returns 1 if the programs differ.
int diff(const DiffCommand& options);

}  // namespace tool
