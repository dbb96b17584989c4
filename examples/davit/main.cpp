// SPDX-License-Identifier: MIT
// davit: looks at, runs and checks programs exported by torch.export.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "commands.hpp"

namespace {

void add_lowering(CLI::App& command, tool::LoweringChoice& choice) {
  command.add_option("--backends", choice.backends, "backends by preference, separated by commas (portable)");
  command.add_option("--partitioner", choice.partitioner,
                     "capability: large groups, each on the first backend that takes it; alternate: every other node on the next "
                     "backend, to exercise borders");
  command.add_flag("--full-delegation", choice.full_delegation, "fail if the partitioner leaves a node");
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("davit: looks at, runs and checks programs exported by torch.export");
  app.require_subcommand(1);

  tool::InspectOptions inspect;
  CLI::App* inspect_command = app.add_subcommand("inspect", "prints a program's graph, sizes, operators and signature");
  inspect_command->add_option("model", inspect.model, "a .pt2 file")->required();
  inspect_command->add_option("--model", inspect.name, "which model of an archive of several");
  inspect_command->add_flag("--json", inspect.json, "the signature's queries as JSON");
  inspect_command->add_flag("--graph", inspect.graph, "the graph, in fx style");

  tool::RunOptions run;
  CLI::App* run_command = app.add_subcommand("run", "runs a program on inputs from .npy files");
  run_command->add_option("model", run.model, "a .pt2 file, or a .davit file that `davit lower` wrote")->required();
  run_command->add_option("--input", run.inputs, "inputs in order: FILE.npy, a number, true, false, none, or str:TEXT");
  run_command->add_option("--output-dir", run.output_dir, "where output_<i>.npy are written");
  add_lowering(*run_command, run.lowering);
  run_command->add_option("--repeat", run.repeat, "run this often, state carried over, and print the median time")
      ->check(CLI::Range(1, 1000000));
  run_command->add_option("--trace", run.trace, "write events of the last run in Chrome's trace format");

  tool::CheckOptions check;
  CLI::App* check_command = app.add_subcommand("check", "runs recorded cases and compares every output");
  check_command->add_option("cases", check.cases, "folders with case.json, zips of such folders, or folders of them")
      ->required();
  add_lowering(*check_command, check.lowering);
  check_command->add_flag("--saved", check.lowering.saved, "save each lowered program and load it back before it runs");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (inspect_command->parsed()) return tool::inspect(inspect);
  if (run_command->parsed()) return tool::run(run);
  return tool::check(check);
} catch (const std::exception& error) {
  std::fprintf(stderr, "davit: %s\n", error.what());
  return 2;
} catch (...) {
  std::fprintf(stderr, "davit: unknown exception\n");
  return 2;
}
