// SPDX-License-Identifier: MIT
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "commands.hpp"
#include "davit/formats/npy.hpp"
#include "davit/formats/pt2.hpp"
#include "runner.hpp"

namespace tool {

namespace {

using namespace davit;

/// An input from the command line, and what it views.
struct Input {
  Tensor tensor;
  std::string text;
  EValue value;
};

/// Reads all of `text` as a number; false if it is none, or out of range.
template <class T>
[[nodiscard]] bool parse_number(std::string_view text, T& to) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, to);
  return error == std::errc{} && at == end;
}

[[nodiscard]] Result<void> read_input(const std::string& file, Input& out) {
  Result<Tensor> tensor = formats::read_npy(std::filesystem::path(file));
  if (!tensor) return std::unexpected(std::move(tensor.error()));
  out.tensor = *std::move(tensor);
  out.tensor.storage = SharedBytes::copy_of(out.tensor.storage.bytes());  // the program may change its inputs
  out.value = EValue(out.tensor.view());
  return {};
}

[[nodiscard]] Result<void> parse_input(const std::string& text, Input& out) {
  out.text = text;
  std::int64_t integer = 0;
  double real = 0;
  if (text == "none") return {};
  if (text.empty())
    return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                 .what = "an input is empty",
                                 .fix = "pass FILE.npy, a number, true, false, none or str:TEXT"});
  if (text.starts_with("str:")) {
    out.value = EValue(std::string_view(out.text).substr(4));
  } else if (text == "true" || text == "false") {
    out.value = EValue(text == "true");
  } else if (parse_number(text, integer)) {
    out.value = EValue(integer);
  } else if (parse_number(text, real)) {
    out.value = EValue(real);
  } else {
    return read_input(text, out);
  }
  return {};
}

void print(std::size_t i, const OutputPort& port, const EValue& value) {
  std::printf("output %zu '%s': ", i, std::string(port.name.view()).c_str());
  if (const TensorView* tensor = value.tensor_if()) {
    std::printf("%s[", std::string(name_of(tensor->dtype)).c_str());
    for (std::size_t d = 0; d < tensor->rank; ++d)
      std::printf("%s%lld", d == 0 ? "" : ", ", static_cast<long long>(tensor->size(d)));
    std::printf("]\n");
  } else if (value.is_string()) {
    std::printf("'%s'\n", std::string(value.as_string()).c_str());
  } else if (value.is_bool()) {
    std::printf("%s\n", value.as_bool() ? "true" : "false");
  } else if (value.is_int()) {
    std::printf("%lld\n", static_cast<long long>(value.as_int()));
  } else if (value.is_float()) {
    std::printf("%.17g\n", value.as_float());
  } else {
    std::printf("none\n");
  }
}

/// Prints the outputs; tensors also go to output_<i>.npy in the folder, if one is named.
[[nodiscard]] Result<void> show(std::span<const EValue> outputs, std::span<const OutputPort> ports,
                                const std::filesystem::path& folder) {
  if (!folder.empty()) std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    print(i, ports[i], outputs[i]);
    if (folder.empty() || !outputs[i].is_tensor()) continue;
    const auto file = folder / ("output_" + std::to_string(i) + ".npy");
    if (Result<void> written = formats::write_npy(file, outputs[i].tensor()); !written) return written;
  }
  return {};
}

/// Lowers a .pt2 file, or loads what was lowered before.
[[nodiscard]] Result<Runner> start(const RunOptions& options) {
  const bool trace = !options.trace.empty();
  if (options.model.ends_with(".davit")) return Runner::load(options.model, trace);
  const Result<ExportedProgram> program = formats::read_pt2(std::filesystem::path(options.model));
  if (!program) return std::unexpected(program.error());
  return Runner::lower(*program, options.lowering, trace);
}

[[nodiscard]] Result<void> run_program(const RunOptions& options) {
  std::vector<Input> inputs(options.inputs.size());
  std::vector<EValue> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (Result<void> parsed = parse_input(options.inputs[i], inputs[i]); !parsed) return parsed;
    values.push_back(inputs[i].value);
  }
  Result<Runner> runner = start(options);
  if (!runner) return std::unexpected(std::move(runner.error()));
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  Result<std::span<const EValue>> outputs;
  for (int i = 0; i < options.repeat; ++i) {
    runner->clear_trace();
    const auto begin = Clock::now();
    outputs = runner->run(values);
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    if (!outputs) return std::unexpected(std::move(outputs.error()));
  }
  if (Result<void> shown = show(*outputs, runner->outputs(), options.output_dir); !shown) return shown;
  std::ranges::sort(times);
  std::printf("%d run(s), median %.3f ms\n", options.repeat, times[times.size() / 2]);
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
