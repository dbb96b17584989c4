// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "davit/formats/npy.hpp"
#include "inputs.hpp"
#include "read_program.hpp"
#include "runner.hpp"

namespace tool {

namespace {

using namespace davit;

void print_output(std::size_t i, const OutputPort& port, const EValue& value) {
  tool::print("output %zu '%s': ", i, std::string(port.name.view()).c_str());
  if (const TensorView* tensor = value.tensor_if()) {
    tool::print("%s[", std::string(name_of(tensor->dtype)).c_str());
    for (std::size_t d = 0; d < tensor->rank; ++d)
      tool::print("%s%lld", d == 0 ? "" : ", ", static_cast<long long>(tensor->size(d)));
    tool::print("]\n");
  } else if (value.is_string()) {
    tool::print("'%s'\n", std::string(value.as_string()).c_str());
  } else if (value.is_bool()) {
    tool::print("%s\n", value.as_bool() ? "true" : "false");
  } else if (value.is_int()) {
    tool::print("%lld\n", static_cast<long long>(value.as_int()));
  } else if (value.is_float()) {
    tool::print("%.17g\n", value.as_float());
  } else {
    tool::print("none\n");
  }
}

/// Prints the outputs; tensors also go to output_<i>.npy in the folder, if one is named.
[[nodiscard]] Result<void> show(std::span<const EValue> outputs, std::span<const OutputPort> ports,
                                const std::filesystem::path& folder) {
  if (!folder.empty()) std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    print_output(i, ports[i], outputs[i]);
    if (folder.empty() || !outputs[i].is_tensor()) continue;
    const auto file = folder / ("output_" + std::to_string(i) + ".npy");
    if (Result<void> written = formats::write_npy(file, outputs[i].tensor()); !written) return written;
  }
  return {};
}

/// Lowers a .pt2 file, or loads what was lowered before.
[[nodiscard]] Result<Runner> start(const RunOptions& options) {
  const bool trace = !options.trace.empty();
  if (is_package(options.model) || options.model.ends_with(".davit")) return Runner::load(options.model, options.lowering, trace);
  const Result<ExportedProgram> program = read_program(options.model, {.limits = options.lowering.limits});
  if (!program) return std::unexpected(program.error());
  return Runner::lower(*program, options.lowering, trace);
}

[[nodiscard]] Result<void> run_program(const RunOptions& options) {
  const Result<std::vector<Input>> inputs = parse_inputs(options.inputs);
  if (!inputs) return std::unexpected(inputs.error());
  const std::vector<EValue> values = values_of(*inputs);
  Result<Runner> runner = start(options);
  if (!runner) return std::unexpected(std::move(runner.error()));
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
  if (Result<void> shown = show(outputs->all(), runner->outputs(), options.output_dir); !shown) return shown;
  std::ranges::sort(times);
  tool::print("%d run(s), median %.3f ms\n", options.repeat, times[times.size() / 2]);
  if (options.plan) tool::print("%s", std::string(runner->plan().view()).c_str());
  return options.trace.empty() ? Result<void>() : runner->write_trace(options.trace);
}

}  // namespace

int run(const RunOptions& options) {
  const Result<void> status = run_program(options);
  if (status) return 0;
  std::fprintf(stderr, "davit: %s\n", to_string(status.error()).c_str());
  return 2;
}

}  // namespace tool
