// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/npy.hpp"
#include "davit/lowered/print_report.hpp"
#include "files.hpp"
#include "inputs.hpp"
#include "print_value.hpp"
#include "progress.hpp"
#include "runner.hpp"

namespace tool {

namespace {

using namespace davit;

/// Lists the files that the command reads and writes, except outputs.
[[nodiscard]] Files files_of(const RunOptions& options) {
  return Files().reads_all({options.model}, options.inputs).uses(options.lowering).writes("--trace", options.trace);
}

/// Prints the outputs, and writes tensors to output_<i>.npy in the folder, if there is one.
[[nodiscard]] Result<void> show(std::span<const EValue> outputs, std::span<const OutputPort> ports,
                                const RunOptions& options) {
  const std::filesystem::path folder = formats::path_of(options.output_dir);
  if (!folder.empty())
    if (Result<void> made = make_folder(folder); !made) return made;
  const auto file_of = [&](std::size_t i) {
    return folder.empty() || !outputs[i].is_tensor() ? std::string()
                                                     : (folder / ("output_" + std::to_string(i) + ".npy")).string();
  };
  Files files = files_of(options);
  for (std::size_t i = 0; i < outputs.size(); ++i) files.writes("--output-dir", file_of(i));
  if (Result<void> apart = files.check(); !apart) return apart;
  for (std::size_t i = 0; i < outputs.size(); ++i) print_output(i, ports[i], outputs[i], options.top);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string file = file_of(i);
    if (file.empty()) continue;
    if (Result<void> written = formats::write_npy(file, outputs[i].tensor()); !written) return written;
    print_written(file);
  }
  return {};
}

/// Makes the inputs if none are given: random ones if requested, else the file's example inputs. Errors: those of
/// random inputs; the file has no example inputs, and the program takes inputs.
[[nodiscard]] Result<std::vector<Input>> no_inputs(const RunOptions& options, const LoweredMethod& method) {
  if (options.random) return random_inputs(method.parent, options.seed);
  const std::string wanted = describe_inputs(method.interface);
  if (wanted.empty()) return std::vector<Input>();
  if (std::optional<std::vector<Input>> examples = example_inputs(method.parent, SayInputs::yes))
    return *std::move(examples);
  return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                               .stage = Stage::execute,
                               .where = concat("method '", method.name, "'"),
                               .what = concat("it takes ", wanted),
                               .fix = "give each by --input, in this order; --random makes some up"});
}

[[nodiscard]] Result<void> run_program(const RunOptions& options) {
  if (Result<void> apart = files_of(options).check(); !apart) return apart;
  Result<std::vector<Input>> inputs = parse_inputs(options.inputs);
  if (!inputs) return std::unexpected(inputs.error());
  Progress progress("lowering " + options.model);
  Diagnostics diagnostics;
  Result<Runner> runner = Runner::open(options.model, options.lowering, !options.trace.empty() || options.profile,
                                       options.profile ? &diagnostics : nullptr);
  progress.show({});
  if (!runner) return std::unexpected(std::move(runner.error()));
  if (options.inputs.empty()) inputs = no_inputs(options, runner->method());
  if (!inputs) return std::unexpected(inputs.error());
  reinterpret_as_bfloat16(*inputs, runner->method().interface.inputs);
  const std::vector<EValue> values = values_of(*inputs);
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  Result<Outputs> outputs = std::unexpected(Error{});
  for (int i = 0; i < options.repeat; ++i) {
    runner->clear_trace();
    const auto begin = Clock::now();
    outputs = runner->run(values);
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    if (!outputs) return std::unexpected(std::move(outputs.error()));
  }
  if (Result<void> shown = show(outputs->all(), runner->method().interface.outputs, options); !shown) return shown;
  std::ranges::sort(times);
  if (times.size() == 1)
    print("first run %.3f ms\n", times[0]);
  else
    print("%d runs, median %.3f ms\n", options.repeat, times[times.size() / 2]);
  if (options.plan) print("%s", std::string(runner->plan().view()).c_str());
  if (!options.trace.empty()) {
    if (Result<void> written = runner->write_trace(options.trace); !written) return written;
    print_written(options.trace);
  }
  if (!options.profile) return {};
  std::vector<PartitionReport> reports =
      diagnostics.reports.empty() ? runner->reports() : std::move(diagnostics.reports);
  progress.show("measuring partitions and operators");
  if (Result<void> measured = runner->profile(values, reports); !measured) return measured;
  progress.show({});
  for (const PartitionReport& report : reports)
    if (report.method == runner->method().name) print("%s", print_times(report).c_str());
  return {};
}

}  // namespace

int run(const RunOptions& options) {
  const Result<void> status = run_program(options);
  if (status) return 0;
  std::fprintf(stderr, "davit: %s\n", to_string(status.error()).c_str());
  return 2;
}

}  // namespace tool
