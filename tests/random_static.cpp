// SPDX-License-Identifier: MIT
// Tests static programs: embeds random programs, and compares their outputs after compilation with an eager run.
// benchmarks/random_static.sh runs any number of them.
//   random_static write FOLDER FIRST COUNT   writes SEED.hpp, SEED.cpp and SEED.in of each program that can be embedded
//   random_static compare FOLDER             compares the outputs in SEED.out with eager runs
// SEED.cpp defines run_SEED(in, out): it reads inputs as SEED.in contains them, and writes outputs for SEED.out.
// SEED may be followed by the numbers of steps that are left out: 17_0_3.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/backends/portable/run_time/reductions/sorting.hpp"
#include "davit/core/contiguous.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/formats/embed_program.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/program/printer.hpp"
#include "davit/testing/compare.hpp"
#include "davit/testing/eager.hpp"
#include "davit/testing/judge.hpp"
#include "davit/testing/random_program.hpp"
#include "static_ir.hpp"

namespace {

using namespace davit;
using testing::EagerProgram;
using testing::EagerValue;
using testing::ProgramRecipe;
using testing::RandomProgram;

constexpr std::uint64_t runs = 3;
/// The largest value of a symbolic size; buffers are large enough for it.
constexpr std::int64_t most = 8;

/// topk that orders equal elements by index, as static programs do; torch does not specify their order.
[[nodiscard]] ErrorCode first_of_equals(portable_kernels::KernelCall& call) {
  const auto rank = static_cast<std::int64_t>(call.tensor(0).rank);
  const std::int64_t dim = call.integer(2, -1);
  return portable_kernels::detail::order_lines(
      call, static_cast<std::size_t>(dim < 0 && rank > 0 ? dim + rank : dim), call.integer(1), call.boolean(3, true),
      true, [](portable_kernels::detail::Ranked* entries, std::int64_t n) {
        std::sort(entries, entries + n, portable_kernels::detail::comes_before);
      });
}
struct FirstOfEquals {
  static constexpr std::array operators{
      portable_kernels::CustomOperator{.row = {"aten.topk.default", first_of_equals},
                                       .schema = "aten.topk.default(Tensor self, SymInt k, int dim=-1, bool "
                                                 "largest=True, bool sorted=True) -> (Tensor values, Tensor indices)"}};
};

/// "17_0_3": the recipe of seed 17 without its first and fourth step.
[[nodiscard]] ProgramRecipe recipe_of(std::string_view label) {
  std::vector<std::uint64_t> numbers;
  for (const char *at = label.data(), *const end = at + label.size(); at < end; ++at) {
    std::uint64_t number = 0;
    at = std::from_chars(at, end, number).ptr;
    numbers.push_back(number);
  }
  ProgramRecipe out = ProgramRecipe::of(numbers.at(0));
  std::vector<std::uint64_t> steps;
  for (std::size_t i = 0; i < out.steps.size(); ++i)
    if (std::ranges::find(numbers.begin() + 1, numbers.end(), i) == numbers.end()) steps.push_back(out.steps[i]);
  out.steps = std::move(steps);
  return out;
}

[[nodiscard]] std::string_view element(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::float32: return "float";
    case ScalarType::float64: return "double";
    case ScalarType::int64: return "std::int64_t";
    case ScalarType::int32: return "std::int32_t";
    case ScalarType::int8: return "std::int8_t";
    case ScalarType::uint8: return "std::uint8_t";
    case ScalarType::bool_: return "bool";
    default: return "";
  }
}

/// A tensor of a call: its index among the program's inputs or outputs, and the size of its buffer.
struct Port {
  std::size_t at = 0;
  ScalarType dtype{};
  std::size_t elements = 0;
};
struct Ports {
  std::vector<Port> inputs;   ///< of the user's
  std::vector<Port> outputs;  ///< of the program's
  bool is_sized = false;      ///< an input has a symbolic size, which comes with the call
};

[[nodiscard]] Port port_of(GraphModuleView graph, const Argument& argument, std::size_t at) {
  const Value& value = graph.values[argument.value()];
  Port out{.at = at, .dtype = value.dtype, .elements = 1};
  for (const Dim& dim : graph.dims_of(value.sizes))
    out.elements *= static_cast<std::size_t>(dim.is_static() ? dim.value : 8 * most);
  return out;
}
[[nodiscard]] Ports ports_of(const ExportedProgram& program) {
  Ports out;
  const GraphModuleView graph = program.view();
  const std::span<const Argument> inputs = graph.args(graph.root().inputs);
  std::size_t user = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (kind(program.signature.input_specs[i]) == InputKind::user_input) {
      out.inputs.push_back(port_of(graph, inputs[i], user++));
      out.is_sized |= !std::ranges::all_of(graph.dims_of(graph.values[inputs[i].value()].sizes), &Dim::is_static);
    }
  const std::span<const Argument> outputs = graph.args(graph.root().outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (kind(program.signature.output_specs[i]) == OutputKind::user_output)
      out.outputs.push_back(port_of(graph, outputs[i], i));
  return out;
}
/// The symbol's value in a run with these inputs.
[[nodiscard]] std::int64_t symbol_in(GraphModuleView graph, const ExportedProgram& program,
                                     std::span<const Tensor> inputs) {
  std::size_t user = 0;
  const std::span<const Argument> all = graph.args(graph.root().inputs);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (kind(program.signature.input_specs[i]) != InputKind::user_input) continue;
    const std::span<const Dim> dims = graph.dims_of(graph.values[all[i].value()].sizes);
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (!dims[d].is_static()) return inputs[user].view().size(d);
    ++user;
  }
  return most;
}

/// The function that calls the module: it reads the inputs of the runs, and writes their outputs.
[[nodiscard]] std::string driver(const std::string& label, const Ports& ports) {
  std::string text =
      "#include <array>\n#include <cstdint>\n#include <cstdio>\n\n#include \"davit/backends/portable/embed.hpp\"\n"
      "#include \"davit/embed/static_module.hpp\"\n#include \"" +
      label + ".hpp\"\n\nstatic int run_" + label +
      "(const char* given, const char* made) {\n  static davit::static_module<program_" + label +
      ", davit::portable> module;\n";
  std::string arguments = ports.is_sized ? "davit::with_dims(size)" : "";
  std::string reads, writes;
  const auto add = [&](const Port& port, const std::string& name) {
    text += "  static std::array<" + std::string(element(port.dtype)) + ", " + std::to_string(port.elements) + "> " +
            name + "{};\n";
    arguments += (arguments.empty() ? "" : ", ") + name;
    writes += "    std::fwrite(" + name + ".data(), sizeof(" + name + "[0]), " + name + ".size(), out);\n";
  };
  for (std::size_t i = 0; i < ports.inputs.size(); ++i) {
    const std::string name = "in" + std::to_string(i);
    add(ports.inputs[i], name);
    reads += "    if (std::fread(" + name + ".data(), sizeof(" + name + "[0]), " + name + ".size(), in) != " + name +
             ".size()) return 1;\n";
  }
  for (std::size_t i = 0; i < ports.outputs.size(); ++i) add(ports.outputs[i], "out" + std::to_string(i));
  return text +
         "  std::FILE *const in = std::fopen(given, \"rb\"), *const out = std::fopen(made, \"wb\");\n  for (int run = "
         "0; run < " +
         std::to_string(runs) +
         "; ++run) {\n    [[maybe_unused]] std::int64_t size = 0;\n"
         "    if (std::fread(&size, sizeof(size), 1, in) != 1) return 1;\n" +
         reads + "    const davit::Status status = module.forward(" + arguments +
         ");\n"
         "    const std::int64_t error = status ? 0 : static_cast<std::int64_t>(status.error().bits());\n"
         "    std::fwrite(&error, sizeof(error), 1, out);\n" +
         writes + "  }\n  std::fclose(in);\n  return std::fclose(out);\n}\n";
}

[[nodiscard]] bool is_writable(const Ports& ports) {
  const auto known = [](const Port& port) { return !element(port.dtype).empty(); };
  return std::ranges::all_of(ports.inputs, known) && std::ranges::all_of(ports.outputs, known);
}

[[nodiscard]] Result<void> write_one(const std::string& folder, const std::string& label) {
  const RandomProgram random(recipe_of(label));
  const ExportedProgram& program = random.program();
  const Ports ports = ports_of(program);
  if (!is_writable(ports)) return std::unexpected(Error{.what = "an element type that the judge does not write"});
  const Result<ExportedProgram> ready = tool::static_ir(program, "");
  if (!ready) return std::unexpected(ready.error());
  formats::EmbedOptions options{.name = "program_" + label, .weights_as_array = true};
  options.select = &tool::select_static;
  options.kernels = tool::portable_tables();
  if (ports.is_sized) options.symbols.push_back({.name = "s0", .first = 1, .last = most});
  const Result<formats::EmbeddedProgram> embedded = formats::embed_program(*ready, options);
  if (!embedded) return std::unexpected(embedded.error());
  std::vector<std::byte> given;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const std::vector<Tensor> inputs = random.user_inputs(run);
    const std::int64_t size = symbol_in(program.view(), program, inputs);
    const auto* const bytes = reinterpret_cast<const std::byte*>(&size);
    given.insert(given.end(), bytes, bytes + sizeof(size));
    for (const Port& port : ports.inputs) {
      const Tensor dense = contiguous(inputs[port.at].view());
      const std::size_t room = port.elements * size_of(port.dtype);
      const auto* const from = dense.view().as<std::byte>();
      given.insert(given.end(), from, from + dense.view().nbytes());
      given.resize(given.size() + room - dense.view().nbytes());
    }
  }
  const std::string file = folder + "/" + label;
  if (Result<void> written = formats::write_file(file + ".hpp", std::string_view(embedded->header)); !written)
    return written;
  if (Result<void> written = formats::write_file(file + ".cpp", std::string_view(driver(label, ports))); !written)
    return written;
  return formats::write_file(file + ".in", std::span<const std::byte>(given));
}

/// Describes how the outputs differ from an eager run and from `roundings` perturbed eager runs; empty if they agree.
[[nodiscard]] std::string difference(const RandomProgram& random, std::span<const std::byte> answers,
                                     std::size_t roundings) {
  const ExportedProgram& program = random.program();
  const Ports ports = ports_of(program);
  const BackendTables kernels = BackendList<portable_with<FirstOfEquals>>::tables();
  EagerProgram eager(program, kernels);
  std::vector<EagerProgram> rounding = testing::detail::rounding_programs(program, kernels, 0, roundings);
  for (std::uint64_t run = 0; run < runs; ++run) {
    const std::string place = "run " + std::to_string(run) + ", ";
    const auto run_one = [&](EagerProgram& reference, std::vector<Tensor>& inputs) {
      inputs = random.user_inputs(run);
      const std::vector<EValue> values(inputs.begin(), inputs.end());
      return reference.run(values);
    };
    std::vector<Tensor> inputs;
    const Result<std::vector<EagerValue>> expected = run_one(eager, inputs);
    if (!expected) return place + "the reference fails: " + to_string(expected.error());
    std::vector<std::vector<Tensor>> rounded_inputs(roundings);
    std::vector<std::vector<EagerValue>> rounded(roundings);
    for (std::size_t r = 0; r < roundings; ++r) {
      Result<std::vector<EagerValue>> made = run_one(rounding[r], rounded_inputs[r]);
      if (!made) return place + "the reference fails where it rounds otherwise";
      rounded[r] = *std::move(made);
    }
    const auto take = [&](std::size_t bytes) {
      const std::span<const std::byte> out = answers.first(std::min(bytes, answers.size()));
      answers = answers.subspan(out.size());
      return out;
    };
    std::int64_t error = -1;
    if (const auto bytes = take(sizeof(error)); bytes.size() == sizeof(error))
      std::memcpy(&error, bytes.data(), sizeof(error));
    if (error != 0) return place + "it fails: " + std::to_string(error);
    const auto differs = [&](const Port& port, const TensorView& right, auto&& of_rounding) -> std::string {
      const std::span<const std::byte> bytes = take(port.elements * size_of(port.dtype));
      Tensor actual = contiguous(right);
      if (bytes.size() < actual.view().nbytes()) return "there is no answer";
      std::memcpy(const_cast<std::byte*>(actual.view().as<std::byte>()), bytes.data(), actual.view().nbytes());
      std::vector<EValue> of_roundings;
      for (std::size_t r = 0; r < roundings; ++r) of_roundings.emplace_back(of_rounding(r));
      return testing::detail::difference(EValue(actual), EValue(right), of_roundings, rounding,
                                         testing::JudgeOptions{}.tolerance);
    };
    for (const Port& port : ports.inputs)
      if (const std::string wrong =
              differs(port, inputs[port.at].view(), [&](std::size_t r) { return rounded_inputs[r][port.at].view(); });
          !wrong.empty())
        return place + "input " + std::to_string(port.at) + " afterwards: " + wrong;
    for (const Port& port : ports.outputs)
      if (const std::string wrong = differs(port, (*expected)[port.at].tensor->view(),
                                            [&](std::size_t r) { return rounded[r][port.at].tensor->view(); });
          !wrong.empty())
        return place + "output " + std::to_string(port.at) + ": " + wrong;
  }
  return {};
}

int write(const std::string& folder, std::string_view first, std::string_view count) {
  std::map<std::string, std::vector<std::string>> refused;
  int written = 0, left = 0;
  const auto one = [&](const std::string& label) {
    if (const Result<void> done = write_one(folder, label); done) {
      ++written;
    } else {
      ++left;
      const Error& error = done.error();
      std::string reason(error.source.empty() ? error.what.view() : error.source.view());
      reason = reason.substr(0, reason.find('\n'));
      if (!error.source.empty()) reason = reason.substr(std::min(reason.size(), reason.find(" = ") + 3));
      refused[reason].push_back(label);
    }
  };
  if (first.contains('_')) {
    one(std::string(first));
  } else {
    std::uint64_t from = 0, number = 0;
    (void)std::from_chars(first.data(), first.data() + first.size(), from);
    (void)std::from_chars(count.data(), count.data() + count.size(), number);
    for (std::uint64_t seed = from; seed < from + number; ++seed) one(std::to_string(seed));
  }
  for (const auto& [reason, which] : refused)
    std::printf("refused %zu times, %s first: %s\n", which.size(), which[0].c_str(), reason.c_str());
  std::printf("%d written, %d refused\n", written, left);
  return 0;
}

int compare(const std::string& folder) {
  std::vector<std::string> labels;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".out") labels.push_back(entry.path().stem().string());
  std::ranges::sort(labels);
  int differing = 0;
  for (const std::string& label : labels) {
    const RandomProgram random(recipe_of(label));
    const Result<SharedBytes> answers = formats::map_file(folder + "/" + label + ".out");
    if (!answers) return std::printf("%s\n", to_string(answers.error()).c_str()), 2;
    std::string wrong = difference(random, answers->bytes(), 0);
    if (!wrong.empty()) wrong = difference(random, answers->bytes(), 32);
    if (wrong.empty()) continue;
    ++differing;
    std::printf("%s: %s\n%s\n", label.c_str(), wrong.c_str(), print_graph(random.program().view()).c_str());
  }
  std::printf("RANDOM_STATIC programs=%zu differ=%d\n", labels.size(), differing);
  return differing == 0 && !labels.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 2 ? argv[1] : "";
  if (what == "write" && argc > 3) return write(argv[2], argv[3], argc > 4 ? argv[4] : "1");
  if (what == "compare") return compare(argv[2]);
  return std::fprintf(stderr, "usage: random_static write FOLDER FIRST COUNT | random_static compare FOLDER\n"), 2;
}
