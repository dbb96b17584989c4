// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "davit/core/catch_bad_alloc.hpp"
#include "davit/formats/file_kind.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/formats/pt2/check_targets.hpp"
#include "davit/formats/pt2/example_inputs.hpp"
#include "davit/formats/pt2/exported_program_json.hpp"
#include "davit/formats/pt2/payload_config.hpp"
#include "davit/formats/pt2/pt2_layout.hpp"
#include "davit/formats/pt2/torch_save.hpp"
#include "davit/formats/zip/zip.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/schema_version.hpp"

namespace davit::formats {

namespace detail {

/// Reads one program from a `.pt2` file.
class Pt2Reader {
 public:
  Pt2Reader(ZipArchive archive, const Pt2Options& options) : archive_(std::move(archive)), options_(options) {}

  [[nodiscard]] Result<ExportedProgram> run() {
    const Result<Pt2Layout> layout = find_pt2_layout(archive_, options_.model);
    if (!layout) return error_of(layout);
    if (Result<void> known = check_version(layout->version); !known) return error_of(std::move(known));
    Result<ExportedProgram> program = read_program(layout->program);
    if (!program) return program;
    if (Result<void> added = add_tensors(*layout, *program); !added)
      return std::unexpected(with_schema(std::move(added.error()), *program));
    if (Result<void> added = add_examples(*layout, *program); !added) return error_of(std::move(added));
    note_offsets(*program);
    return program;
  }

 private:
  [[nodiscard]] Result<void> add_tensors(const Pt2Layout& layout, ExportedProgram& program) {
    Result<TorchDict> weights = read_dict(layout.state_dict, layout.weights_config, layout.weights_folder);
    if (!weights) return error_of(std::move(weights));
    Result<TorchDict> constants = read_dict(layout.constants, layout.constants_config, layout.constants_folder);
    if (!constants) return error_of(std::move(constants));
    if (!weights->objects.empty())
      return corrupt(Name(archive_.label()),
                     concat("state dict entry ", in_quotes(weights->objects[0].name), " is not a tensor"));
    program.state_dict = std::move(weights->tensors);
    program.constants = std::move(constants->tensors);
    program.custom_objects = std::move(constants->objects);
    name_classes(program);
    return check_targets(program);
  }

  /// Reads the example inputs; unreadable ones are left out, because running does not need them. Errors: out_of_memory.
  [[nodiscard]] Result<void> add_examples(const Pt2Layout& layout, ExportedProgram& program) {
    const auto root = std::ranges::find_if(program.module_call_graph, [](const ModuleCallEntry& entry) {
      return entry.fqn.empty() && entry.has_signature;
    });
    if (layout.example_inputs.empty() || root == program.module_call_graph.end()) return {};
    const auto read = [&]() -> Result<std::vector<ExampleInput>> {
      Result<SharedBytes> bytes = archive_.read(layout.example_inputs);
      if (!bytes) return error_of(std::move(bytes));
      Result<TorchSave> saved =
          TorchSave::open(*std::move(bytes), archive_.place(layout.example_inputs), inner_options());
      if (!saved) return error_of(std::move(saved));
      return read_example_inputs(*saved, root->in_spec, options_.limits);
    };
    Result<std::vector<ExampleInput>> examples = read();
    if (!examples && examples.error().code == ErrorCode::out_of_memory) return error_of(std::move(examples));
    const auto is_user = [](const InputSpec& spec) { return kind(spec) == InputKind::user_input; };
    const auto users = static_cast<std::size_t>(std::ranges::count_if(program.signature.input_specs, is_user));
    if (examples && examples->size() == users) program.example_inputs = *std::move(examples);
    return {};
  }
  /// Records the storage offsets of parameters, buffers and constants, which graphs lack.
  static void note_offsets(ExportedProgram& program) {
    const TensorIndex tensors(program);
    GraphModule& graph = program.graph_module;
    const std::span<const Argument> inputs = program.view().args(program.view().root().inputs);
    for (std::size_t i = 0; i < inputs.size() && i < program.signature.input_specs.size(); ++i)
      if (const Name* name = target(program.signature.input_specs[i]); name != nullptr && inputs[i].is_value())
        if (const Tensor* tensor = tensors.find(*name))
          graph.values[inputs[i].value()].constant = tensor->storage_offset;
  }
  /// Checks the member `version`, "major.minor"; the JSON repeats it.
  [[nodiscard]] Result<void> check_version(const std::string& member) {
    if (member.empty()) return {};
    const Result<std::string> text = text_member(archive_, member);
    if (!text) return error_of(text);
    std::int64_t major = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), major);
    if (error != std::errc()) return corrupt(archive_.place(member), concat(in_quotes(*text), " is not a version"));
    return check_schema_major(major, archive_.place(member));
  }

  [[nodiscard]] Result<ExportedProgram> read_program(const std::string& member) {
    const Result<SharedBytes> bytes = archive_.read(member);
    if (!bytes) return error_of(bytes);
    const Result<JsonDocument> document = parse(*bytes, member);
    if (!document) return error_of(document);
    Result<ExportedProgram> program = read_exported_program(document->root(), options_.skip_unreadable_guards);
    if (program) return program;
    ExportedProgram versions;
    (void)read_versions(document->root(), versions);
    return std::unexpected(with_schema(std::move(program.error()), versions));
  }

  [[nodiscard]] Result<JsonDocument> parse(const SharedBytes& bytes, const std::string& member) const {
    return parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, archive_.place(member),
                      options_.limits);
  }

  /// Reads the state dict or the constants in the form that the file has.
  [[nodiscard]] Result<TorchDict> read_dict(const std::string& file, const std::string& config,
                                            const std::string& folder) {
    if (!file.empty()) {
      Result<SharedBytes> bytes = archive_.read(file);
      if (!bytes) return error_of(std::move(bytes));
      if (bytes->empty()) return TorchDict{};
      Result<TorchSave> saved = TorchSave::open(*std::move(bytes), archive_.place(file), inner_options());
      if (!saved) return error_of(std::move(saved));
      return saved->dict();
    }
    if (config.empty()) return TorchDict{};
    const Result<SharedBytes> bytes = archive_.read(config);
    if (!bytes) return error_of(bytes);
    const Result<JsonDocument> document = parse(*bytes, config);
    if (!document) return error_of(document);
    return PayloadReader(archive_, folder, inner_options()).read(document->root());
  }

  /// Options for nested archives. The outer archive's checksum covers them already.
  [[nodiscard]] ZipOptions inner_options() const noexcept {
    return {.verify_checksums = false, .allow_deflate = false, .limits = options_.limits};
  }

  /// Fills the class names of custom objects from the signature: newer files have them only there.
  static void name_classes(ExportedProgram& program) {
    const NameIndex objects(program.custom_objects, [](const NamedObject& o) { return o.name.view(); });
    for (const InputSpec& spec : program.signature.input_specs) {
      const auto* input = std::get_if<InputToCustomObjSpec>(&spec);
      const std::size_t at = input == nullptr ? NameIndex::not_found : objects.first(input->target);
      if (at != NameIndex::not_found && program.custom_objects[at].class_fqn.empty())
        program.custom_objects[at].class_fqn = input->arg.class_fqn;
    }
  }

  ZipArchive archive_;
  Pt2Options options_;
};

Result<ExportedProgram> read_pt2_bytes(SharedBytes bytes, std::string_view label, const Pt2Options& options) {
  Result<ZipArchive> archive = ZipArchive::open(
      std::move(bytes), label, {.verify_checksums = options.verify_checksums, .limits = options.limits});
  if (!archive) return error_of(std::move(archive));
  return Pt2Reader(*std::move(archive), options).run();
}

}  // namespace detail

Result<ExportedProgram> read_pt2(SharedBytes bytes, const Pt2Options& options) {
  return davit::detail::catch_bad_alloc(Stage::load, [&]() -> Result<ExportedProgram> {
    Result<ExportedProgram> program = detail::read_pt2_bytes(bytes, "pt2", options);
    if (!program) return std::unexpected(recognised(std::move(program.error()), bytes.bytes(), FileUse::program));
    return program;
  });
}

Result<ExportedProgram> read_pt2(const std::string& path, const Pt2Options& options) {
  return davit::detail::catch_bad_alloc(Stage::load, [&]() -> Result<ExportedProgram> {
    Result<SharedBytes> bytes = map_file(path);
    Result<ExportedProgram> program =
        bytes ? detail::read_pt2_bytes(*std::move(bytes), path_of(path).filename().string(), options)
              : Result<ExportedProgram>(error_of(std::move(bytes)));
    if (!program) return std::unexpected(with_file_kind_of(std::move(program.error()), path, FileUse::program));
    return program;
  });
}

}  // namespace davit::formats
