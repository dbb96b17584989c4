// SPDX-License-Identifier: MIT
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "commands.hpp"
#include "davit/formats/partition_html.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/lowering/print_report.hpp"
#include "davit/lowering/write_dot.hpp"
#include "runner.hpp"

namespace tool {

namespace {

using namespace davit;

[[nodiscard]] Result<void> lower_program(const LowerCommand& options) {
  const Result<ExportedProgram> program = formats::read_pt2(options.model, {.limits = options.lowering.limits});
  if (!program) return std::unexpected(program.error());
  Diagnostics diagnostics;
  const Result<Runner> runner = Runner::lower(*program, options.lowering, false, &diagnostics);
  if (!runner) return std::unexpected(runner.error());
  for (const Name& warning : diagnostics.warnings) std::fprintf(stderr, "davit: warning: %s\n", printable(warning).c_str());
  if (options.report)
    for (const PartitionReport& report : diagnostics.reports) print("%s", print_report(report).c_str());
  if (!options.dot.empty()) {
    std::string dot;
    for (const PartitionReport& report : diagnostics.reports) dot += write_dot(report);
    if (Result<void> written = formats::write_file(options.dot, dot); !written) return written;
  }
  if (!options.html.empty()) {
    const std::string title = std::filesystem::path(options.model).filename().string() + ", lowered";
    if (Result<void> written = formats::write_file(options.html, formats::partition_html(title, diagnostics.reports)); !written)
      return written;
  }
  return options.output.empty() ? Result<void>() : runner->save(options.output, !options.strip_debug_map);
}

}  // namespace

int lower(const LowerCommand& options) {
  const Result<void> status = lower_program(options);
  if (status) return 0;
  std::fprintf(stderr, "davit: %s\n", to_string(status.error()).c_str());
  return 2;
}

}  // namespace tool
