// SPDX-License-Identifier: MIT
#include "bench_process.hpp"

#include "davit/core/target.hpp"

#if DAVIT_TARGET_LINUX
#include <sys/prctl.h>
#endif
#if __has_include(<sys/wait.h>)
#include <sys/wait.h>
#include <unistd.h>
#define DAVIT_HAS_PROCESSES 1
#else
#define DAVIT_HAS_PROCESSES 0
#endif

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <utility>

#include "davit/formats/mapped_file.hpp"
#include "davit/formats/package_layout.hpp"
#include "davit/lowered/print_report.hpp"
#include "inputs.hpp"
#include "inspect_package.hpp"
#include "runner.hpp"

namespace tool {

using namespace davit;

namespace {

using Clock = std::chrono::steady_clock;
[[nodiscard]] double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// A model under measurement, inside a row's process.
struct Measured {
  Runner runner;
  std::vector<Input> inputs;
  std::vector<EValue> values;
  bool spent = false;  ///< a run failed after successful ones, for example because the state is full

  [[nodiscard]] static Result<Measured> prepare(BenchRow& row, const BenchOptions& options) {
    const auto begin = Clock::now();
    LoweringChoice choice{.limits = options.lowering.limits,
                          .method = options.lowering.method};  // method of a package, which is already lowered
    if (!row.package) {
      choice = options.lowering;
      choice.backends = row.backends;
    }
    choice.threads = row.threads;
    Diagnostics diagnostics;
    Result<Runner> runner = Runner::open(row.model, choice, false, &diagnostics);
    if (!runner) return std::unexpected(std::move(runner.error()));
    row.prepare_ms = ms_since(begin);
    row.partitions = runner->method().delegates.size();
    for (const PartitionReport& report : diagnostics.reports) {
      const ConstantBytes bytes = davit::constant_bytes(report);
      row.constant_bytes += bytes.kept + bytes.moved + bytes.shared + bytes.duplicated;
    }
    for (const NamedTensor& buffer : runner->program().state()) row.state_bytes += buffer.tensor.view().nbytes();
    Result<std::vector<Input>> inputs = inputs_or_default(
        options.inputs, runner->method().parent, runner->method().interface.inputs, options.seed, SayInputs::no);
    if (!inputs) return std::unexpected(std::move(inputs.error()));
    Measured out{*std::move(runner), *std::move(inputs), {}};
    out.values = values_of(out.inputs);
    for (int i = 0; i < 2; ++i)
      if (const Result<Outputs> outputs = out.runner.run(out.values); !outputs) return std::unexpected(outputs.error());
    row.arena_bytes = out.runner.arena_bytes();
    return out;
  }
  /// Runs the model for some time and prints the time of each run, followed by a blank. With several runs the first is
  /// not counted, because other rows ran on this CPU before it.
  [[nodiscard]] std::string run(double seconds) {
    std::string times;
    const auto begin = Clock::now();
    for (bool first = true; !spent; first = false) {
      const auto start = Clock::now();
      spent = !runner.run(values).has_value();
      const double ms = ms_since(start);
      const bool last = ms_since(begin) >= seconds * 1000;
      if (!spent && (!first || last)) times += std::to_string(ms) + " ";
      if (last) break;
    }
    return times;
  }
};

/// Returns the backend names of a program's partitions.
[[nodiscard]] std::string backends_of(const LoweredProgram& program, const LoweredMethod& method) {
  std::string names;
  for (const LoweredDelegate& delegate : method.delegates) {
    const std::string name(program.backends().name(delegate.backend));
    if ((names + ",").find(name + ",") == std::string::npos) names += (names.empty() ? "" : ",") + name;
  }
  return names;
}

/// What its lowering or its package says of the row.
void describe(BenchRow& row, const BenchOptions& options, const Measured& measured) {
  if (row.package) row.backends = backends_of(measured.runner.program(), measured.runner.method());
  if (row.package)
    if (const Result<SharedBytes> bytes = formats::map_file(row.model); bytes)
      if (const Result<formats::Package> package = formats::read_package(*bytes); package)
        row.constant_bytes = segment_bytes(*package);
  if (options.lowering.costs->written()) print_written(options.lowering.costs->save);
}
/// Adds the times of runs, as Measured::run prints them.
void add_times(BenchRow& row, const std::string& text) {
  std::istringstream times(text);
  for (double ms = 0; times >> ms;) row.ms.push_back(ms);
}

#if DAVIT_HAS_PROCESSES

#if DAVIT_TARGET_LINUX
/// Kills this process when its parent ends; a stopped process would not notice.
void follow_parent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }
void stop(pid_t process) { kill(process, SIGSTOP); }
void go_on(pid_t process) {
  if (process > 0) kill(process, SIGCONT);
}
#else
void follow_parent() {}
void stop(pid_t) {}
void go_on(pid_t) {}
#endif

/// Returns the peak memory of this process, or 0.
[[nodiscard]] std::size_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:"))
      return static_cast<std::size_t>(std::strtoull(line.c_str() + 6, nullptr, 10) * 1024);
  return 0;
}

void answer(std::FILE* answers, const std::string& text) {
  std::fwrite(text.c_str(), 1, text.size() + 1, answers);
  std::fflush(answers);
}
[[nodiscard]] bool next(std::FILE* from, std::string& text) {
  text.clear();
  for (int c = std::fgetc(from); c != EOF; c = std::fgetc(from)) {
    if (c == 0) return true;
    text += static_cast<char>(c);
  }
  return false;
}

/// Main loop of a row's process: prepares, then answers commands until an empty one.
void serve(BenchRow row, const BenchOptions& options, std::FILE* commands, std::FILE* answers) {
  Result<Measured> measured = Measured::prepare(row, options);
  if (!measured) return answer(answers, to_string(measured.error()));
  describe(row, options, *measured);
  std::fflush(stdout);
  std::ostringstream out;
  out << "\n"
      << row.backends << "\n"
      << row.partitions << " " << row.prepare_ms << " " << row.arena_bytes << " " << row.state_bytes << " "
      << row.constant_bytes;
  answer(answers, out.str());
  std::string command;
  while (next(commands, command) && !command.empty())
    answer(answers, measured->run(std::strtod(command.c_str(), nullptr)));
  answer(answers, std::to_string(peak_bytes()));
}

#endif

}  // namespace

#if DAVIT_HAS_PROCESSES

struct BenchProcess::Here {};

BenchProcess::BenchProcess(BenchRow row, const BenchOptions& options) : row_(std::move(row)) {
  int to[2], from[2];
  if (pipe(to) != 0) {
    row_.failed = "there is no pipe to a process of its own";
    return;
  }
  if (pipe(from) != 0) {
    close(to[0]), close(to[1]);
    row_.failed = "there is no pipe to a process of its own";
    return;
  }
  std::fflush(stdout);
  pid_ = fork();
  if (pid_ == 0) {
    follow_parent();
    close(to[1]), close(from[0]);
    std::FILE* const answers = fdopen(from[1], "w");
    try {
      serve(row_, options, fdopen(to[0], "r"), answers);
    } catch (const std::exception& error) {
      answer(answers, error.what());
    }
    _exit(0);
  }
  close(to[0]), close(from[1]);
  commands_ = fdopen(to[1], "w");
  answers_ = fdopen(from[0], "r");
  std::string text;
  if (pid_ < 0 || !next(answers_, text)) text = "its process ended";
  if (!text.starts_with('\n')) {
    row_.failed = text;
    return;
  }
  std::istringstream in(text.substr(1));
  std::getline(in, row_.backends);
  in >> row_.partitions >> row_.prepare_ms >> row_.arena_bytes >> row_.state_bytes >> row_.constant_bytes;
  stop(pid_);
}

BenchProcess::~BenchProcess() {
  go_on(pid_);
  if (commands_ != nullptr) std::fclose(commands_);
  if (answers_ != nullptr) std::fclose(answers_);
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

std::string BenchProcess::ask(std::string_view command) {
  std::string text;
  if (!row_.failed.empty()) return text;
  go_on(pid_);
  answer(commands_, std::string(command));
  if (!next(answers_, text)) row_.failed = "its process ended";
  stop(pid_);
  return text;
}

void BenchProcess::run(double seconds) { add_times(row_, ask(std::to_string(seconds))); }
void BenchProcess::end() { row_.peak_bytes = static_cast<std::size_t>(std::strtoull(ask({}).c_str(), nullptr, 10)); }

#else

struct BenchProcess::Here {
  std::function<std::string(double seconds)> run;
};

BenchProcess::BenchProcess(BenchRow row, const BenchOptions& options) : row_(std::move(row)) {
  Result<Measured> measured = Measured::prepare(row_, options);
  if (!measured) {
    row_.failed = to_string(measured.error());
    return;
  }
  describe(row_, options, *measured);
  const auto model = std::make_shared<Measured>(*std::move(measured));
  here_ = std::make_unique<Here>([model](double seconds) { return model->run(seconds); });
}
BenchProcess::~BenchProcess() = default;
void BenchProcess::run(double seconds) {
  if (here_ != nullptr) add_times(row_, here_->run(seconds));
}
void BenchProcess::end() { here_.reset(); }

#endif

}  // namespace tool
