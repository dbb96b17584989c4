// SPDX-License-Identifier: MIT
// davit: inspects, lowers, runs, measures, checks, compares and embeds programs exported by torch.export.

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "command_line.hpp"
#include "commands.hpp"
#include "davit/core/real_from_chars.hpp"
#include "davit/core/target.hpp"
#include "davit/formats/mapped_file.hpp"
#include "partitioner_help.hpp"
#include "read_program.hpp"
#include "suggestion.hpp"

#if DAVIT_TARGET_WINDOWS
#include <filesystem>
// the last of them
#define WIN32_LEAN_AND_MEAN
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <windows.h>
// after it
#include <shellapi.h>
#endif

namespace {

/// Formats names as a set {a,b}: help prints it, and completions parse it.
[[nodiscard]] std::string any_of(std::string names) {
  std::erase(names, ' ');
  return "{" + names + "}";
}
[[nodiscard]] std::string partitioners() {
  std::string names;
  for (const tool::PartitionerHelp& each : tool::partitioner_help)
    names.append(names.empty() ? "" : ",")
        .append(each.form.substr(0, each.form.find(':')))
        .append(each.form.contains(':') ? ":" : "");
  return any_of(names);
}

/// Requires a non-empty value.
const CLI::Validator is_named(
    [](const std::string& value) { return value.empty() ? std::string("it names nothing") : std::string(); }, "");

/// Checks that a text is a whole number without sign that fits T.
template <class T>
[[nodiscard]] std::string check_whole(const std::string& value) {
  T number{};
  const auto [at, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (value.starts_with('-')) return value + " is negative";
  if (error == std::errc::result_out_of_range) return value + " is too large";
  return error != std::errc{} || at != value.data() + value.size() ? "'" + value + "' is no whole number"
                                                                   : std::string();
}
/// Parses a number of bytes: 512, 64k, 2G.
const CLI::Validator is_bytes(
    [](std::string& value) {
      const std::size_t digits =
          std::min(value.find_first_not_of("0123456789", value.starts_with('-') ? 1 : 0), value.size());
      const std::string wrong = check_whole<std::uint64_t>(value.substr(0, digits));
      return wrong.empty() ? CLI::AsSizeValue(false)(value) : wrong;
    },
    "SIZE");
const CLI::Validator is_count([](const std::string& value) { return check_whole<std::int64_t>(value); }, "UINT");
const CLI::Validator is_seed([](const std::string& value) { return check_whole<std::uint64_t>(value); }, "UINT");
/// Requires a number from 0 to `most`.
[[nodiscard]] CLI::Validator is_real(double most) {
  return CLI::Validator(
      [most](const std::string& value) {
        double number = -1;
        const auto [at, error] = davit::real_from_chars(value.data(), value.data() + value.size(), number);
        const bool good = error == std::errc{} && at == value.data() + value.size() && number >= 0 && number <= most;
        return good ? std::string()
                    : "'" + value + "' is no number from 0 to " +
                          (most < 1e9 ? std::to_string(static_cast<int>(most)) : "the largest");
      },
      "");
}

/// Adds the options of lowering. `one`: a single list of backends and number of threads.
void add_lowering(CLI::App& command, tool::LoweringChoice& choice, bool one = true) {
  if (one) {
    command.add_option("--backends", choice.backends, "backends by preference, separated by commas (portable)")
        ->type_name(any_of(tool::backend_names()))
        ->check(is_named);
    command.add_option("--threads", choice.threads, "threads of one run, for backends that have them (1)")
        ->check(CLI::Range(1, 1024));
  }
  command
      .add_option("--partitioner", choice.partitioner,
                  "which backend gets which nodes (capability); see davit help partitioner")
      ->type_name(partitioners());
  CLI::Option* costs =
      command.add_option("--costs", choice.costs->file, "for choose: use this table of costs, and measure nothing");
  command
      .add_option(
          "--save-costs", choice.costs->save,
          "for choose: read this table if it exists, measure the missing costs and write it; without --costs and "
          "--save-costs measurements are not kept")
      ->excludes(costs);
  command
      .add_option("--max-memory", choice.limits.max_memory,
                  "maximum bytes of the state, of the arena, and of a partition's own memory (64G)")
      ->transform(is_bytes);
  command
      .add_option("--max-loop-iterations", choice.limits.max_loop_iterations, "maximum iterations of one loop (2^32)")
      ->check(is_count);
  command.add_option("--ir", choice.ir, "core: decompose every composite operator, even if a backend takes it whole")
      ->check(CLI::IsMember({"core"}));
  command.add_flag("--fast-math", choice.fast_math, "let backends lose NaN and infinities, which saves them a check");
  command.add_flag("--full-delegation", choice.full_delegation, "fail if the partitioner leaves a node");
}

/// Adds the options of a command that reads .pt2 files.
void add_reading(CLI::App& command) {
  command.add_flag("--skip-unreadable-guards", tool::skip_unreadable_guards,
                   "read a model although some of its guards (conditions on inputs) cannot be read; calls that break "
                   "them then give wrong numbers");
}

/// A command whose .pt2 files may get trained weights.
void add_weights(CLI::App& command) {
  CLI::Option* weights =
      command
          .add_option(
              "--weights-of", tool::weights,
              "what davit train wrote, or a checkpoint: its tensors replace the parameters and buffers of their "
              "names in the .pt2 file")
          ->check(is_named);
  command
      .add_option("--weights-prefix", tool::weights_prefix,
                  "what the names in that file begin with and the program's do not, say model.")
      ->needs(weights);
}

/// A command that makes a training program of a joint graph; `option` names the optimizer.
void add_training(CLI::App& command, tool::TrainingChoice& choice, const std::string& option) {
  const bool always = option == "--optimizer";
  CLI::Option* optimizer =
      command
          .add_option(option, choice.optimizer,
                      always ? "with torch.optim's defaults (sgd)"
                             : "the model is a joint graph (docs/training.md): train it by this optimizer")
          ->type_name("{sgd,adam,adamw}");
  CLI::Option* const others[] = {
      command.add_option("--momentum", choice.momentum, "of sgd (0)")->check(is_real(1e30)),
      command.add_flag("--nesterov", choice.nesterov, "of sgd with momentum"),
      command.add_option("--weight-decay", choice.weight_decay, "(0; of adamw 0.01)")->check(is_real(1e30)),
      command.add_option("--freeze", choice.frozen, "patterns of parameters that stay as they are: 'encoder.*'"),
      command
          .add_option("--accumulate", choice.accumulate,
                      "batches whose mean gradient makes one step of the optimizer (1)")
          ->check(CLI::Range(1, 1 << 20))};
  if (always) return;
  for (CLI::Option* other : others) other->needs(optimizer);
}

CLI::Option* add_method(CLI::App& command, tool::LoweringChoice& choice, const std::string& runs) {
  return command.add_option("--method", choice.method,
                            "which method " + runs + " (forward, or the first if there is none of that name)");
}

/// Returns `status`, after printing the name of a written cost table.
[[nodiscard]] int print_cost_file(int status, const tool::LoweringChoice& choice) {
  if (choice.costs->written()) tool::print_written(choice.costs->save);
  return status;
}

const std::string input_help =
    "inputs in order: FILE.npy, FILE.npz (all its arrays), FILE.npz:NAME, a number, true, false, none, or str:TEXT";

/// Removes files being written, then ends the process by the signal. An ignored signal stays ignored.
void end_by_signal(int signal) {
  davit::formats::remove_unfinished_files();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}
void handle_signals() {
  for (const int signal : {
#if defined(SIGHUP)
           SIGHUP, SIGQUIT,
#endif
           SIGINT, SIGTERM})
    if (std::signal(signal, end_by_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
#if defined(SIGXFSZ)
  std::signal(SIGXFSZ, SIG_IGN);  // a too large file becomes an Error
#endif
}
/// Keeps standard streams closed that the caller closed, so that no other file gets their numbers.
void reserve_streams() {
#if defined(F_GETFD)
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
#endif
}
/// The program's arguments in UTF-8, which consoles are told to show too: Windows gives main those of its code page.
[[nodiscard]] std::vector<std::string> arguments_of(int argc, char** argv) {
#if DAVIT_TARGET_WINDOWS
  SetConsoleOutputCP(CP_UTF8);
  if (wchar_t** const wide = CommandLineToArgvW(GetCommandLineW(), &argc); wide != nullptr) {
    std::vector<std::string> arguments;
    for (int i = 0; i < argc; ++i) arguments.push_back(std::filesystem::path(wide[i]).string());  // UTF-8
    LocalFree(wide);
    return arguments;
  }
#endif
  return {argv, argv + argc};
}
/// Prints help, version or error of CLI11, and returns the exit status.
[[nodiscard]] int report_parse_error(const CLI::App& app, const CLI::Error& error,
                                     std::span<const char* const> arguments) {
  std::ostringstream text;
  const int status = app.exit(error, text, std::cerr);
  tool::print("%s", text.str().c_str());
  if (status == 0) return 0;
  if (const std::string suggestion = tool::suggest_option(app, arguments); !suggestion.empty())
    std::fprintf(stderr, "%s\n", suggestion.c_str());
  return 2;
}
/// Flushes standard output and returns `status`, or another status if output was lost.
[[nodiscard]] int flush_output(int status) {
  const bool failed = std::ferror(stdout) != 0;
  if (std::fflush(stdout) != 0 && tool::print_error == 0) tool::print_error = errno;
  if (!failed && tool::print_error == 0) return status;
  const int why = tool::print_error == 0 ? EIO : tool::print_error;
  std::fprintf(stderr, "davit: the standard output could not be written: %s\n", std::strerror(why));
  return status == 0 || status == 1 ? 2 : status;
}

[[nodiscard]] int run_command(int argc, char** argv) {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 19);  // returns the memory of unused weights to the system at once
#endif
  CLI::App app(
      "davit: inspects, lowers, runs, measures, checks, compares and embeds programs exported by torch.export");
  app.require_subcommand(1);
  app.set_version_flag("--version", tool::version());

  tool::InspectOptions inspect;
  app.allow_windows_style_options(false);  // "/models/a.pt2" is a path on Windows too
  CLI::App* inspect_command = app.add_subcommand("inspect",
                                                 "prints a program's graph, sizes, operators and signature; for a "
                                                 "lowered program its methods, partitions, backends and bytes");
  inspect_command->add_option("program", inspect.model, "a .pt2 file, or a .davit file that `davit lower` wrote")
      ->required();
  inspect_command->add_option("--model", inspect.name, "which model of an archive of several");
  CLI::Option* inspect_json = inspect_command->add_flag(
      "--json", inspect.json, "the signature as JSON; for a lowered program its methods, partitions and state");
  inspect_command->add_flag("--graph", inspect.graph, "the graph, in fx style, with dtypes and sizes")
      ->excludes(inspect_json);
  inspect_command
      ->add_option(
          "--ir", inspect.ir,
          "core: the graph as PyTorch's run_decompositions writes it, without composite and in-place operators")
      ->check(CLI::IsMember({"core"}))
      ->excludes(inspect_json);

  tool::RunOptions run;
  CLI::App* run_command = app.add_subcommand("run", "runs a program and summarizes its outputs");
  run_command->add_option("model", run.model, "a .pt2 file, or a .davit file that `davit lower` wrote")->required();
  CLI::Option* run_inputs = run_command->add_option("--input", run.inputs, input_help);
  run_command->add_flag("--random", run.random, "random inputs: floats in [-1, 1), integers 0 or 1")
      ->excludes(run_inputs);
  run_command->add_option("--seed", run.seed, "seed of random inputs (0)")->check(is_seed)->needs("--random");
  run_command->add_option("--output-dir", run.output_dir,
                          "folder for output_<i>.npy; bfloat16 is written as by ml_dtypes, read it with "
                          "numpy.load(FILE).view(ml_dtypes.bfloat16)");
  run_command
      ->add_option("--top", run.top,
                   "for an output that is one row of floats, print this many of its largest elements (5)")
      ->check(CLI::Range(0, 1000));
  add_method(*run_command, run.lowering, "runs");
  add_lowering(*run_command, run.lowering);
  run_command->add_option("--repeat", run.repeat, "run this often, state carried over, and print the median time")
      ->check(CLI::Range(1, 1000000));
  run_command->add_flag("--plan", run.plan,
                        "print the memory plan: places and lifetimes of values and scratch in the arena");
  run_command->add_flag("--profile", run.profile,
                        "run several more times and print the times of partitions and operators");
  run_command->add_option("--trace", run.trace, "write events of the last run in Chrome's trace format");

  tool::CheckOptions check;
  CLI::App* check_command = app.add_subcommand("check", "runs recorded cases and compares every output");
  check_command->add_option("cases", check.cases, "folders with case.json, zips of such folders, or folders of them")
      ->required();
  add_lowering(*check_command, check.lowering);
  check_command->add_flag("--saved", check.lowering.saved, "save each lowered program and load it back before it runs");

  tool::LowerCommand lower;
  CLI::App* lower_command = app.add_subcommand("lower", "lowers a program, saves it and reports its partitions");
  lower_command
      ->add_option("model", lower.models,
                   "a .pt2 file; or several METHOD=FILE, such as prefill=a.pt2 decode=b.pt2: one program with these "
                   "methods, which share their state (changed buffers, matched by name)")
      ->required();
  add_lowering(*lower_command, lower.lowering);
  lower_command->add_option("-o,--output", lower.output,
                            "write the lowered program: a .davit file, to run anywhere with these backends");
  lower_command
      ->add_option("--weights-file", lower.weights_file,
                   "write the weights to a .davit file of their own, beside the package, which needs it to load; "
                   "processes that map the file share its memory")
      ->needs("-o");
  lower_command->add_flag("--strip-debug-map", lower.strip_debug_map,
                          "leave out the source lines of nodes: errors then name a debug handle instead");
  lower_command->add_flag(
      "--keep-originals", lower.lowering.keep_originals,
      "keep each partition's program, so that another backend of the list can take it where its own is missing");
  lower_command
      ->add_option("--shared-constants", lower.lowering.shared_constants,
                   "what to do with constants that several partitions use (share)")
      ->check(CLI::IsMember({"share", "duplicate", "refuse"}));
  lower_command
      ->add_flag("--report{brief}", lower.report,
                 "print partitions, and reasons of refused nodes, in 20 lines a method; the default if no file is "
                 "written. --report full: all of them, and constants")
      ->check(CLI::IsMember({"brief", "full"}));
  lower_command->add_option("--dot", lower.dot, "write the partitioned graph for Graphviz");
  CLI::Option* profile = lower_command->add_flag(
      "--profile", lower.profile, "run it several times, and add times and the memory plan to report, JSON and page");
  add_method(*lower_command, lower.lowering, "--profile measures")->needs(profile);
  lower_command
      ->add_option("--input", lower.inputs,
                   "inputs of --profile in order, as for run; without any, the file's example inputs, or random ones")
      ->needs(profile);
  lower_command->add_option("--json", lower.json,
                            "write the complete report as JSON: partitions, nodes, edges, memory");
  lower_command->add_option("--html", lower.html, "write the report as a page, one file for any browser");

  tool::BenchOptions bench;
  CLI::App* bench_command = app.add_subcommand(
      "bench",
      "compares the times of programs that run in turn: a row per model, list of backends and number of threads");
  bench_command->add_option("models", bench.models,
                            ".pt2 files, and .davit files that `davit lower` wrote, which know their backends");
  bench_command->add_option("--backends", bench.backends, "a list as for run; repeat it for more rows (portable)")
      ->type_name(any_of(tool::backend_names()))
      ->check(is_named)
      ->allow_extra_args(false);
  bench_command->add_option("--threads", bench.threads, "numbers of threads, separated by commas, each a row (1)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1024));
  add_method(*bench_command, bench.lowering, "runs");
  add_lowering(*bench_command, bench.lowering, false);
  CLI::Option* bench_inputs = bench_command->add_option(
      "--input", bench.inputs,
      input_help + "; a program among them is a model; without any, the file's example inputs, or random ones");
  bench_command->add_option("--seed", bench.seed, "random inputs of this seed")->check(is_seed)->excludes(bench_inputs);
  bench_command->add_option("--seconds", bench.seconds, "duration of each row (1)")->check(is_real(3600));
  bench_command->add_option("--json", bench.json, "write the table as JSON");
  bench_command->add_option("--html", bench.html, "write the table as a page with bars, one file for any browser");

  tool::EmbedCommand embed;
  CLI::App* embed_command = app.add_subcommand("embed", "writes a program as a C++ header for static_module");
  embed_command
      ->add_option("model", embed.models,
                   "a .pt2 file; or several METHOD=FILE, such as prefill=a.pt2 decode=b.pt2 --name N: one program with "
                   "these methods, which share their state (changed buffers, matched by name), the arena and the file "
                   "of weights. In C++ module.decode(...), in C N_decode(...)")
      ->required();
  embed_command->add_option("-o,--output", embed.output, "the folder to write NAME.hpp and NAME.bin to")->required();
  embed_command->add_option("--name", embed.name, "name of the C++ type and of the files (the model's file name)");
  embed_command
      ->add_option("--layout", embed.layout, "layout of the weights of linear layers and convolutions (contiguous)")
      ->check(CLI::IsMember({"contiguous", "output_inner"}));
  embed_command
      ->add_option("--weights", embed.weights,
                   "incbin: NAME.bin, which the assembler includes; array: in the header (incbin)")
      ->check(CLI::IsMember({"incbin", "array"}));
  embed_command->add_option(
      "--section", embed.section,
      "section of the weights: the linker script puts it into flash, or into external flash that is mapped while "
      "forward runs (.rodata.davit.weights.NAME)");
  embed_command->add_option(
      "--dim", embed.dims,
      "SYMBOL=N fixes a symbolic size; with SYMBOL=FIRST..LAST or FIRST..LAST:STEP each call gives "
      "it; METHOD.SYMBOL=... is for one method");
  CLI::Option* any_backend = embed_command->add_flag(
      "--any-backend", embed.any_backend,
      "write the program even if portable refuses some nodes: other backends of static_module take them");
  CLI::Option* embed_backends =
      embed_command
          ->add_option(
              "--backends", embed.backends,
              "backends, by preference, that compile the nodes they take now; their static backends run them (none)")
          ->type_name(any_of(tool::backend_names()))
          ->check(is_named);
  embed_command
      ->add_flag("--c", embed.c, "also write NAME.h and NAME_c.cpp: C functions that run the program on portable")
      ->excludes(any_backend)
      ->excludes(embed_backends);
  embed_command->add_flag("--source-lines", embed.source_lines, "add the model's source lines as comments");

  tool::ExplainCommand explain;
  CLI::App* explain_command = app.add_subcommand("explain", "explains an error code from a device");
  explain_command->add_option("code", explain.code, "the four bytes as a number: 1285 or 0x505")->required();
  explain_command->add_option("--model", explain.models, "the .pt2 file that was embedded, or METHOD=FILE each")
      ->required();
  explain_command->add_option("--method", explain.method, "the method that returned the code (the first)");
  explain_command->add_option("--backends", explain.backends, "the --backends of davit embed (none)")
      ->type_name(any_of(tool::backend_names()));

  tool::TrainCommand train;
  CLI::App* train_command =
      app.add_subcommand("train", "trains a joint graph (loss and gradients, docs/training.md) on arrays of samples");
  train_command
      ->add_option("joint", train.model,
                   "a .pt2 file with a loss and gradients, or a .davit file that davit train wrote, to go on with")
      ->required();
  train_command
      ->add_option("--data", train.data,
                   "an array for each input, in order: FILE.npy, FILE.npz or FILE.npz:NAME; the first dimension counts "
                   "samples")
      ->required();
  train_command->add_option("--batch", train.batch, "samples of a step (the program's; 32 if that is dynamic)")
      ->check(is_count);
  train_command->add_option("--epochs", train.epochs, "how often all samples are gone through (1)")->check(is_count);
  add_training(*train_command, train.training, "--optimizer");
  train_command->add_option("--lr", train.learning_rate, "learning rate (1e-3)")->check(is_real(1e30));
  train_command->add_option("--shuffle", train.shuffle, "a seed: each epoch in another order, that of torch.randperm")
      ->check(is_seed);
  train_command->add_option("--log", train.log, "print the loss of every so many steps (1)")
      ->check(CLI::Range(std::size_t{1}, SIZE_MAX));
  train_command->add_option(
      "-o,--output", train.output,
      "write the training program with what it learned: a .davit file, for --weights-of, or to go on");
  train_command->add_option("--html", train.html, "write a page with the curve of the loss, one file for any browser");
  add_lowering(*train_command, train.lowering);

  tool::OperatorsCommand operators;
  CLI::App* operators_command = app.add_subcommand(
      "operators", "lists the operators, and which backend has them: at run time, in static modules, in int8");
  CLI::Option* part = operators_command->add_option("part", operators.part, "only operators whose name contains this");
  operators_command
      ->add_option("--groups", operators.models,
                   "print the portable_of<...> that these models need: .pt2 files, lowered for portable, or packages")
      ->type_name("MODEL")
      ->excludes(part);

  tool::CompareOptions compare;
  CLI::App* compare_command = app.add_subcommand(
      "compare",
      "runs a lowered program, and the same partitions on a reference backend; exit status 1 if outputs differ");
  compare_command->add_option("model", compare.model, "a .pt2 file")->required();
  add_lowering(*compare_command, compare.lowering);
  compare_command
      ->add_option(
          "--reference", compare.reference,
          "the backend to compare with (portable), or eager: the original program, node by node, without partitions")
      ->type_name(any_of(tool::backend_names() + ",eager"));
  CLI::Option* compare_inputs = compare_command->add_option(
      "--input", compare.inputs, "inputs in order, as for run; without any, the file's example inputs, or random ones");
  compare_command->add_option("--seed", compare.seed, "random inputs of this seed")
      ->check(is_seed)
      ->excludes(compare_inputs);
  compare_command->add_option("--rtol", compare.rtol, "relative tolerance (1e-4)")->check(is_real(1e300));
  compare_command->add_option("--atol", compare.atol, "absolute tolerance (1e-5)")->check(is_real(1e300));
  compare_command->add_option(
      "--html", compare.html,
      "write the graph as a page, coloured by how far outputs differ, one file for any browser");

  tool::DiffCommand diff;
  CLI::App* diff_command = app.add_subcommand(
      "diff",
      "compares two lowered programs: nodes added, removed, moved to another backend, slower; exit status 1 if they "
      "differ");
  const std::string diff_help = "a .davit file, or a report of davit lower --json (with --profile it has times)";
  diff_command->add_option("before", diff.before, diff_help)->required();
  diff_command->add_option("after", diff.after, diff_help)->required();
  diff_command->add_flag("--profile", diff.profile, "run the .davit files several times on random inputs, for times");
  diff_command->add_option("--ratio", diff.ratio, "of times, from which on a node is slower or faster (1.2)")
      ->check(is_real(1e6));
  diff_command->add_option("--html", diff.html,
                           "write the second program as a page with its changes, one file for any browser");

  for (CLI::App* command : app.get_subcommands({}))
    if (command != operators_command && command != diff_command) add_reading(*command);
  for (CLI::App* command : {run_command, lower_command, embed_command, compare_command}) add_weights(*command);
  for (CLI::App* command : {lower_command, embed_command, compare_command})
    add_training(*command, tool::training, "--train");

  std::string shell;
  CLI::App* completions_command =
      app.add_subcommand("completions", "prints a script that completes davit's commands and options in a shell");
  completions_command->add_option("shell", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));

  std::string topic;
  CLI::App* help_command =
      app.add_subcommand("help",
                         "prints the help of a command, of `partitioner` (how programs are partitioned), or of all as "
                         "a `man` page, davit.1");
  std::string topics = "partitioner,man";
  for (const CLI::App* command : app.get_subcommands({})) topics += "," + command->get_name();
  help_command->add_option("topic", topic, "a command, partitioner, or man")->type_name(any_of(topics));

  const std::span<const char* const> arguments(argv, static_cast<std::size_t>(argc));
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    if (argc < 2 || argv[1][0] == '-' || !app.get_subcommands().empty())
      return report_parse_error(app, error, arguments);
    std::fprintf(stderr, "davit: there is no command '%s'%s; davit help lists them\n",
                 davit::printable(argv[1]).c_str(), tool::suggest_command(app, argv[1]).c_str());
    return 2;
  } catch (const CLI::ParseError& error) {
    return report_parse_error(app, error, arguments);
  }
  if (completions_command->parsed()) return tool::print("%s", tool::completions(app, shell).c_str()), 0;
  if (help_command->parsed()) return tool::help(app, topic);
  if (inspect_command->parsed()) return tool::inspect(inspect);
  if (embed_command->parsed()) return tool::embed(embed);
  if (train_command->parsed()) return print_cost_file(tool::train(train), train.lowering);
  if (explain_command->parsed()) return tool::explain(explain);
  if (operators_command->parsed()) return tool::operators(operators);
  if (bench_command->parsed()) return tool::bench(bench);
  if (run_command->parsed()) return print_cost_file(tool::run(run), run.lowering);
  if (lower_command->parsed()) return print_cost_file(tool::lower(lower), lower.lowering);
  if (diff_command->parsed()) return tool::diff(diff);
  if (compare_command->parsed()) return print_cost_file(tool::compare(compare), compare.lowering);
  return print_cost_file(tool::check(check), check.lowering);
}

}  // namespace

int main(int argc, char** argv) try {
  reserve_streams();
  handle_signals();
  std::vector<std::string> arguments = arguments_of(argc, argv);
  for (std::size_t i = 1; i + 1 < arguments.size(); ++i)  // a model may follow --report
    if (arguments[i] == "--report" && (arguments[i + 1] == "full" || arguments[i + 1] == "brief")) {
      arguments[i] += "=" + arguments[i + 1];
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  std::vector<char*> texts;
  for (std::string& argument : arguments) texts.push_back(argument.data());
  return flush_output(run_command(static_cast<int>(texts.size()), texts.data()));
} catch (const std::exception& error) {
  std::fprintf(stderr, "davit: %s\n", error.what());
  return 2;
} catch (...) {
  std::fprintf(stderr, "davit: unknown exception\n");
  return 2;
}
