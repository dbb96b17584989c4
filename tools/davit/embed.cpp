// SPDX-License-Identifier: MIT
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <set>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "davit/formats/embed_program.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "files.hpp"
#include "static_ir.hpp"

namespace tool {

namespace {

using namespace davit;

/// Parses the values of a symbol: "s0=1", "s0=1..32" or "s0=8..64:8".
[[nodiscard]] Result<formats::EmbedSymbol> symbol(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const char *at = text.data() + std::min(equals + 1, text.size()), *const end = text.data() + text.size();
  const auto number = [&](std::int64_t& to) {
    const auto [next, wrong] = std::from_chars(at, end, to);
    at = next;
    return wrong == std::errc();
  };
  const auto skip = [&](std::string_view what) {
    if (!std::string_view(at, end).starts_with(what)) return false;
    at += what.size();
    return true;
  };
  formats::EmbedSymbol made;
  bool ok = equals != text.size() && equals != 0 && number(made.first);
  made.last = made.first;
  if (ok && skip("..")) ok = number(made.last) && (!skip(":") || number(made.step));
  if (ok && at == end) {
    made.name = text.substr(0, equals);
    return made;
  }
  return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                               .stage = Stage::save,
                               .where = concat("--dim ", text),
                               .what = "it is not SYMBOL=NUMBER, SYMBOL=FIRST..LAST or SYMBOL=FIRST..LAST:STEP",
                               .fix = "write, say, --dim s0=1, or --dim s0=1..32"});
}

/// Prints how many linear layers keep weights of 4 and of 8 bits, and the bytes of these with scales.
void print_packed(const std::vector<NamedProgram>& programs) {
  for (const ScalarType type : {ScalarType::uint8, ScalarType::int8}) {
    std::size_t layers = 0, bytes = 0;
    for (const NamedProgram& each : programs) {
      const GraphModuleView graph = each.program.view();
      std::set<ValueId> counted;
      for (NodeId n = 0; n < graph.nodes.size(); ++n) {
        const operators::NodeArguments call(graph, n);
        const ValueId weight = call.value({"weight", 1});
        if (!call.is("davit.linear_packed.rows") || weight == no_id || graph.values[weight].dtype != type) continue;
        ++layers;
        for (const operators::Parameter part : {operators::Parameter{"weight", 1}, {"scales", 2}, {"offsets", 3}}) {
          const ValueId v = call.value(part);
          if (v == no_id || !counted.insert(v).second) continue;
          std::size_t count = size_of(graph.values[v].dtype);
          for (const Dim& dim : graph.dims_of(graph.values[v].sizes)) count *= static_cast<std::size_t>(dim.value);
          bytes += count;
        }
      }
    }
    if (layers != 0)
      print("%zu linear layer%s with weights of %d bits: %zu bytes\n", layers, layers == 1 ? "" : "s",
            type == ScalarType::uint8 ? 4 : 8, bytes);
  }
}

[[nodiscard]] Result<void> embed_model(const EmbedCommand& options) {
  bool are_methods = false;
  std::vector<Name> warnings;
  const Result<std::vector<NamedProgram>> programs =
      read_methods(options.models, options.backends, are_methods, &warnings);
  if (!programs) return std::unexpected(programs.error());
  if (are_methods && options.name.empty())
    return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                 .stage = Stage::save,
                                 .where = "the program",
                                 .what = "its methods have names, and it has none",
                                 .fix = "add --name NAME"});
  std::vector<ProgramMethod> methods;
  for (const NamedProgram& each : *programs) methods.push_back({Name::own(each.method), &each.program});
  formats::EmbedOptions how;
  how.name = options.name.empty() ? formats::path_of(options.models[0]).stem().string() : options.name;
  if (how.name.find('/') != std::string::npos)
    return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                 .stage = Stage::save,
                                 .where = concat("--name ", how.name),
                                 .what = "files are called by it, in the folder of -o",
                                 .fix = "write a name without '/'"});
  Files files = Files().reads_all(options.models, {});
  for (const char* ending : {".hpp", ".h", "_c.cpp", ".bin"})
    files.writes("-o", (formats::path_of(options.output) / formats::path_of(how.name + ending)).string());
  if (Result<void> apart = files.check(); !apart) return apart;
  how.layout = options.layout == "output_inner" ? WeightLayout::output_inner : WeightLayout::contiguous;
  how.weights_as_array = options.weights == "array";
  how.section = options.section;
  how.source_lines = options.source_lines;
  if (options.c) how.plan = &plan_static_portable;
  how.kernels = portable_tables();
  if (!options.any_backend) how.select = options.backends.empty() ? &select_static : &select_beside_delegates;
  for (const std::string& dim : options.dims) {
    auto bound = symbol(dim);
    if (!bound) return std::unexpected(bound.error());
    how.symbols.push_back(*std::move(bound));
  }
  const Result<formats::EmbeddedProgram> embedded =
      are_methods ? formats::embed_program(methods, how) : formats::embed_program((*programs)[0].program, how);
  if (!embedded) return std::unexpected(embedded.error());
  for (const Name& warning : warnings) std::fprintf(stderr, "davit: warning: %s\n", printable(warning.view()).c_str());
  for (const std::string& assertion : embedded->unchecked)
    std::fprintf(stderr, "davit: warning: the embedded program does not check %s\n", printable(assertion).c_str());
  const std::filesystem::path folder = formats::path_of(options.output);
  if (Result<void> made = make_folder(folder); !made) return made;
  const auto write = [&](const char* ending, auto contents) -> Result<void> {
    const std::string file = (folder / formats::path_of(how.name + ending)).string();
    Result<void> written = formats::write_file(file, contents);
    if (written) print_written(file);
    return written;
  };
  using Text = std::string_view;
  if (Result<void> written = write(".hpp", Text(embedded->header)); !written) return written;
  if (options.c) {
    if (Result<void> written = write(".h", Text(embedded->c_header)); !written) return written;
    if (Result<void> written = write("_c.cpp", Text(embedded->c_source)); !written) return written;
  }
  print_packed(*programs);
  if (how.weights_as_array) return {};
  // written even if empty, so that the outputs are the same for build systems
  return write(".bin", std::span<const std::byte>(embedded->blob));
}

}  // namespace

int embed(const EmbedCommand& options) {
  const Result<void> status = embed_model(options);
  if (status) return 0;
  std::fprintf(stderr, "davit: %s\n", to_string(status.error()).c_str());
  return 2;
}

}  // namespace tool
