// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/outside_weights.hpp"
#include "davit/formats/report_json.hpp"
#include "davit/lowered/print_report.hpp"
#include "davit/lowered/write_dot.hpp"
#include "davit/lowering/value_users.hpp"
#include "files.hpp"
#include "inputs.hpp"
#include "progress.hpp"
#include "read_program.hpp"
#include "report_page.hpp"
#include "runner.hpp"

namespace tool {

namespace {

using namespace davit;

/// Joins the names of the models for reports.
[[nodiscard]] std::string join(const std::vector<std::string>& models) {
  std::string all;
  for (const std::string& model : models) {
    const std::size_t method = model.find('=') + 1;  // 0: no method
    all += (all.empty() ? "" : ", ") + model.substr(0, method) +
           formats::path_of(model.substr(method)).filename().string();
  }
  return all;
}

/// The weights that nodes read, or that are outputs. Training changes others, such as a count of batches, which are no
/// part of the results.
[[nodiscard]] std::vector<NamedTensor> weights_of_nodes(const ExportedProgram& program) {
  const GraphModuleView graph = program.view();
  const ValueUsers users = value_users(graph);
  const std::span<const Argument> inputs = graph.args(graph.root().inputs);
  std::vector<NamedTensor> weights;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Name* const name = target(program.signature.input_specs[i]);
    if (name == nullptr || !inputs[i].is_value()) continue;
    const ValueId v = inputs[i].value();
    if (users.of(v).empty() && users.is_output[v] == 0) continue;
    const auto weight = std::ranges::find(program.state_dict, *name, &NamedTensor::name);
    if (weight != program.state_dict.end() && std::ranges::find(weights, *name, &NamedTensor::name) == weights.end())
      weights.push_back(*weight);
  }
  return weights;
}

/// Saves the program, and its weights in a file of their own. Lowers it once more to learn if its weights may be
/// replaced.
[[nodiscard]] Result<void> save_apart(const LowerCommand& options, const NamedProgram& program, const Runner& runner,
                                      Progress& progress) {
  const std::filesystem::path file = formats::path_of(options.weights_file);
  const auto folder_of = [](const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(path.has_parent_path() ? path.parent_path() : ".", ignored);
  };
  if (folder_of(file) != folder_of(formats::path_of(options.output)))
    return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                 .stage = Stage::save,
                                 .where = concat("--weights-file ", options.weights_file),
                                 .what = "the package finds its weights in its own folder alone",
                                 .fix = "name a file in the folder of -o"});
  const std::vector<NamedTensor> weights = weights_of_nodes(program.program);
  if (weights.empty())
    return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                 .stage = Stage::save,
                                 .where = concat("--weights-file ", options.weights_file),
                                 .what = "the program reads no weights",
                                 .fix = "lower it without the option"});
  progress.show("lowering it once more, with other weights");
  const Result<bool> free = formats::weights_are_free(
      program.program, runner.program(), [&](const ExportedProgram& other) -> Result<LoweredProgram> {
        const ProgramMethod method[] = {{Name::own(program.method), &other}};
        const Result<Runner> again = Runner::lower(method, options.lowering, options.profile, nullptr);
        if (!again) return std::unexpected(again.error());
        return again->program();
      });
  if (!free) return std::unexpected(free.error());
  progress.show({});
  if (Result<void> saved = formats::save_weights(weights, options.weights_file); !saved) return saved;
  print_written(options.weights_file);
  const std::string name = file.filename().string();
  if (Result<void> saved = runner.save(options.output, {.debug_map = !options.strip_debug_map,
                                                        .weights = weights,
                                                        .weights_file = name,
                                                        .may_replace_weights = *free});
      !saved)
    return saved;
  print_written(options.output);
  if (!*free) print("the package loads with these weights alone: lowering computed results from them\n");
  return {};
}

[[nodiscard]] Result<void> lower_program(const LowerCommand& options) {
  if (Result<void> has_page = check_page(options.html); !has_page) return has_page;
  const Files files = Files()
                          .reads_all(options.models, options.inputs)
                          .uses(options.lowering)
                          .writes("-o", options.output)
                          .writes("--weights-file", options.weights_file)
                          .writes("--dot", options.dot)
                          .writes("--json", options.json)
                          .writes("--html", options.html);
  if (Result<void> apart = files.check(); !apart) return apart;
  const std::string model = join(options.models);
  Progress progress("reading " + model);
  bool are_methods = false;
  const Result<std::vector<NamedProgram>> programs = read_models(options.models, options.lowering.limits, are_methods);
  if (!programs) return std::unexpected(programs.error());
  if (!options.weights_file.empty() && programs->size() > 1)
    return std::unexpected(Error{.code = ErrorCode::not_available,
                                 .stage = Stage::save,
                                 .where = concat("--weights-file ", options.weights_file),
                                 .what = "a package of several methods keeps its weights itself",
                                 .fix = "lower each method by its own command, or leave the option out"});
  std::vector<ProgramMethod> methods;
  for (const NamedProgram& each : *programs) methods.push_back({Name::own(each.method), &each.program});
  progress.show("lowering " + model);
  Diagnostics diagnostics{.with_attributes = !options.json.empty() || !options.html.empty()};
  Result<Runner> runner = Runner::lower(methods, options.lowering, options.profile, &diagnostics);
  if (!runner) return std::unexpected(runner.error());
  for (const Name& warning : diagnostics.warnings)
    std::fprintf(stderr, "davit: warning: %s\n", printable(warning).c_str());
  if (options.profile) {
    const LoweredMethod& method = runner->method();
    const Result<std::vector<Input>> inputs =
        inputs_or_default(options.inputs, method.parent, method.interface.inputs, {}, SayInputs::yes);
    if (!inputs) return std::unexpected(inputs.error());
    progress.show("measuring partitions and operators");
    if (Result<void> measured = runner->profile(values_of(*inputs), diagnostics.reports); !measured) return measured;
  }
  progress.show({});
  const auto write = [&](const std::string& file, const std::string& text) -> Result<void> {
    if (file.empty()) return {};
    if (Result<void> written = formats::write_file(file, text); !written) return written;
    print_written(file);
    return {};
  };
  const bool writes = !options.output.empty() || !options.dot.empty() || !options.json.empty() || !options.html.empty();
  const ReportLength length = options.report == "full" ? ReportLength::full : ReportLength::brief;
  if (!options.report.empty() || !writes)
    for (const PartitionReport& report : diagnostics.reports)
      print("%s%s", print_report(report, length).c_str(),
            length == ReportLength::brief ? "--report full: every row, and the constants\n" : "");
  std::string dot;
  if (!options.dot.empty())
    for (const PartitionReport& report : diagnostics.reports) dot += write_dot(report);
  if (Result<void> written = write(options.dot, dot); !written) return written;
  std::string json;
  if (!options.json.empty() || !options.html.empty()) json = formats::report_json(model, diagnostics.reports);
  if (Result<void> written = write(options.json, json); !written) return written;
  if (!options.html.empty())
    if (Result<void> written = write_page(options.html, json); !written) return written;
  if (options.output.empty()) return {};
  if (!options.weights_file.empty()) return save_apart(options, programs->front(), *runner, progress);
  if (Result<void> saved = runner->save(options.output, {.debug_map = !options.strip_debug_map}); !saved) return saved;
  print_written(options.output);
  return {};
}

}  // namespace

int lower(const LowerCommand& options) {
  const Result<void> status = lower_program(options);
  if (status) return 0;
  std::fprintf(stderr, "davit: %s\n", to_string(status.error()).c_str());
  return 2;
}

}  // namespace tool
