// SPDX-License-Identifier: MIT
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "davit/formats/embed_program.hpp"
#include "davit/formats/mapped_file.hpp"
#include "static_ir.hpp"

namespace tool {

namespace {

using namespace davit;

/// "s0=1" as a symbol and a number.
[[nodiscard]] Result<std::pair<std::string, std::int64_t>> symbol(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const bool ok = equals != std::string::npos && equals != 0 &&
                  std::from_chars(text.data() + equals + 1, end, number).ptr == end && equals + 1 != text.size();
  if (ok) return std::pair(text.substr(0, equals), number);
  return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                               .stage = Stage::save,
                               .where = concat("--dim ", text),
                               .what = "it is not SYMBOL=NUMBER",
                               .fix = "write, say, --dim s0=1"});
}

[[nodiscard]] Result<void> embed_model(const EmbedCommand& options) {
  bool are_methods = false;
  const Result<std::vector<NamedProgram>> programs = read_methods(options.models, options.backends, are_methods);
  if (!programs) return std::unexpected(programs.error());
  if (are_methods && options.name.empty())
    return std::unexpected(Error{.code = ErrorCode::invalid_argument, .stage = Stage::save, .where = "the program", .what = "its methods have names, and it has none", .fix = "add --name NAME"});
  std::vector<ProgramMethod> methods;
  for (const NamedProgram& each : *programs) methods.push_back({Name::own(each.method), &each.program});
  formats::EmbedOptions how;
  how.name = options.name.empty() ? std::filesystem::path(options.models[0]).stem().string() : options.name;
  how.layout = options.layout == "output_inner" ? WeightLayout::output_inner : WeightLayout::contiguous;
  how.weights_as_array = options.weights == "array";
  how.section = options.section;
  how.source_lines = options.source_lines;
  if (options.c) how.plan = &plan_static_portable;
  if (!options.any_backend) how.select = options.backends.empty() ? &select_static : &select_beside_delegates;
  for (const std::string& dim : options.dims) {
    auto bound = symbol(dim);
    if (!bound) return std::unexpected(bound.error());
    how.symbols.push_back(*std::move(bound));
  }
  const Result<formats::EmbeddedProgram> embedded = are_methods ? formats::embed_program(methods, how) : formats::embed_program((*programs)[0].program, how);
  if (!embedded) return std::unexpected(embedded.error());
  for (const std::string& assertion : embedded->unchecked)
    std::fprintf(stderr, "davit: warning: the embedded program does not check %s\n", printable(assertion).c_str());
  const std::filesystem::path folder(options.output);
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* ending, auto contents) -> Result<void> {
    const std::string file = folder / (how.name + ending);
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
  if (how.weights_as_array) return {};
  // written even if it is empty, so that build systems know what comes out
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
