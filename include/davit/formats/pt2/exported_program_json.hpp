// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/formats/json/json.hpp"
#include "davit/formats/pt2/autocast_dtypes.hpp"
#include "davit/formats/pt2/graph_json.hpp"
#include "davit/formats/pt2/guard_code.hpp"
#include "davit/formats/pt2/pytree_json.hpp"
#include "davit/formats/pt2/quotient_dtypes.hpp"
#include "davit/formats/pt2/signature_json.hpp"
#include "davit/program/check_tables.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/schema_version.hpp"

namespace davit::formats {

namespace detail {

inline Result<void> check_schema_major(std::int64_t major, Name where) {
  if (major == schema_major_version) return {};
  return load_error(ErrorCode::version_mismatch, std::move(where),
                    concat("schema version ", major, " cannot be read, only ", schema_major_version),
                    major < schema_major_version
                        ? "export the program with torch 2.5 or later"
                        : "use a newer davit, or export the program with torch 2.12 or earlier");
}

inline Result<void> read_versions(Json json, ExportedProgram& program) {
  const Result<Json> schema = json.at("schema_version");
  if (!schema) return error_of(schema);
  const Result<std::int64_t> major = schema->integer("major");
  if (!major) return error_of(major);
  const Result<std::int64_t> minor = schema->integer("minor");
  if (!minor) return error_of(minor);
  if (Result<void> known = check_schema_major(*major, schema->place()); !known) return known;
  program.schema_major = *major;
  program.schema_minor = *minor;
  const auto torch = json.find("torch_version");
  if (!torch) return error_of(torch);
  if (*torch) {
    const Result<std::string_view> version = (*torch)->string();
    if (!version) return error_of(version);
    program.torch_version = *version;
  }
  const auto opsets = json.find("opset_version");
  if (!opsets) return error_of(opsets);
  if (!*opsets) return {};
  const Result<JsonObject> object = (*opsets)->object();
  if (!object) return error_of(object);
  for (const JsonMember member : *object) {
    const Result<std::int64_t> version = member.value.integer();
    if (!version) return error_of(version);
    program.opset_version.push_back({member.key, *version});
  }
  return {};
}

/// Reads the dialect from `verifiers`; files of torch before 2.5 have `dialect` instead.
inline Result<Dialect> read_dialect(Json json) {
  const auto named = [](std::string_view name) {
    return name == "ATEN"       ? Dialect::aten
           : name == "TRAINING" ? Dialect::training
           : name == "EDGE"     ? Dialect::edge
                                : Dialect::other;
  };
  const auto verifiers = json.find("verifiers");
  if (!verifiers) return error_of(verifiers);
  const auto dialect = json.find("dialect");
  if (!dialect) return error_of(dialect);
  if (!*verifiers && !*dialect) return Dialect::aten;
  if (!*verifiers) {
    const Result<std::string_view> name = (*dialect)->string();
    if (!name) return error_of(name);
    return named(*name);
  }
  const Result<JsonArray> array = (*verifiers)->array();
  if (!array) return error_of(array);
  Dialect found = Dialect::aten;
  for (const Json item : *array) {
    const Result<std::string_view> name = item.string();
    if (!name) return error_of(name);
    if (*name != "ATEN") found = named(*name);
  }
  return found;
}

inline Result<std::vector<RangeConstraint>> read_range_constraints(Json json) {
  std::vector<RangeConstraint> constraints;
  const auto found = json.find("range_constraints");
  if (!found) return error_of(found);
  if (!*found) return constraints;
  const Result<JsonObject> object = (*found)->object();
  if (!object) return error_of(object);
  for (const JsonMember member : *object) {
    const auto bound = [&](std::string_view key) -> Result<std::optional<std::int64_t>> {
      const auto value = member.value.find(key);
      if (!value) return error_of(value);
      if (!*value) return std::nullopt;
      // torch writes values beyond 64 bits, which are no bounds
      const Result<double> real = (*value)->is_real() ? (*value)->number() : 0.0;
      if (real && (key == "max_val" ? *real >= 0x1p63 : *real <= -0x1p63)) return std::nullopt;
      const Result<std::int64_t> number = (*value)->integer();
      if (!number) return error_of(number);
      return *number;
    };
    const auto min = bound("min_val");
    if (!min) return error_of(min);
    const auto max = bound("max_val");
    if (!max) return error_of(max);
    constraints.push_back({member.key, *min, *max});
  }
  return constraints;
}

inline Result<ModuleCallEntry> read_module_call_entry(Json json) {
  const Result<std::string_view> fqn = json.string("fqn");
  if (!fqn) return error_of(fqn);
  ModuleCallEntry entry{.fqn = *fqn};
  const auto signature = json.find("signature");
  if (!signature) return error_of(signature);
  if (!*signature) return entry;
  entry.has_signature = true;
  const Result<std::string_view> in_spec = (*signature)->string("in_spec");
  if (!in_spec) return error_of(in_spec);
  entry.in_spec = *in_spec;
  const Result<std::string_view> out_spec = (*signature)->string("out_spec");
  if (!out_spec) return error_of(out_spec);
  entry.out_spec = *out_spec;
  if (fqn->empty()) entry.output_names = pytree_names(*out_spec);
  const auto names = (*signature)->find("forward_arg_names");
  if (!names) return error_of(names);
  if (!*names) return entry;
  const Result<JsonArray> array = (*names)->array();
  if (!array) return error_of(array);
  for (const Json item : *array) {
    const Result<std::string_view> name = item.string();
    if (!name) return error_of(name);
    entry.forward_arg_names.push_back(*name);
  }
  return entry;
}

inline Result<std::vector<ModuleCallEntry>> read_module_call_graph(Json graph_module) {
  std::vector<ModuleCallEntry> entries;
  const auto found = graph_module.find("module_call_graph");
  if (!found) return error_of(found);
  if (!*found) return entries;
  const Result<JsonArray> array = (*found)->array();
  if (!array) return error_of(array);
  for (const Json item : *array) {
    Result<ModuleCallEntry> entry = read_module_call_entry(item);
    if (!entry) return error_of(std::move(entry));
    entries.push_back(*std::move(entry));
  }
  return entries;
}

/// Reads `guards_code` of torch 2.9 and later. Needs the signature and the module call graph. Skips an unreadable guard
/// if `skip_unreadable`.
inline Result<void> read_guards(Json json, bool skip_unreadable, ExportedProgram& program) {
  const auto found = json.find("guards_code");
  if (!found) return error_of(found);
  if (!*found) return {};
  const Result<JsonArray> array = (*found)->array();
  if (!array) return error_of(array);
  if (array->size() == 0) return {};
  GuardReader reader(program, program.guards);
  for (const Json item : *array) {
    const Result<std::string_view> text = item.string();
    if (!text) return error_of(text);
    Result<void> guard = reader.read(*text);
    if (guard || skip_unreadable) continue;
    guard.error().where = concat(item.place(), ", ", guard.error().where);
    return guard;
  }
  return {};
}

/// Turns tensors into tokens where the signature says so: the file describes tokens as tensors.
inline void make_tokens(ExportedProgram& program) {
  const auto mark = [&](Range arguments, std::size_t i) {
    if (i >= arguments.count) return;
    const Argument& argument = program.graph_module.arguments[arguments.first + i];
    if (!argument.is_value()) return;
    Value& value = program.graph_module.values[argument.value()];
    if (value.kind == ValueKind::tensor) value.kind = ValueKind::token;
  };
  const Graph root = program.graph_module.graphs[root_graph];
  for (std::size_t i = 0; i < program.signature.input_specs.size(); ++i)
    if (kind(program.signature.input_specs[i]) == InputKind::token) mark(root.inputs, i);
  for (std::size_t i = 0; i < program.signature.output_specs.size(); ++i)
    if (kind(program.signature.output_specs[i]) == OutputKind::token) mark(root.outputs, i);
}

}  // namespace detail

/// Reads the `ExportedProgram` object of a `.pt2` file's JSON: a whole program without its weights.
///
/// Reads graphs, signature, range constraints, guards, module call graph and versions. Ignores unknown keys and the
/// graph module's metadata; skips unreadable guards if `skip_unreadable_guards`. O(size log values). Errors name the
/// place; version_mismatch for another major schema version. Source:
/// torch._export.serde.serialize.ExportedProgramDeserializer.deserialize.
[[nodiscard]] inline Result<ExportedProgram> read_exported_program(Json json, bool skip_unreadable_guards = false) {
  ExportedProgram program;
  if (Result<void> versions = detail::read_versions(json, program); !versions) return error_of(std::move(versions));
  const Result<Dialect> dialect = detail::read_dialect(json);
  if (!dialect) return error_of(dialect);
  program.dialect = *dialect;
  auto constraints = detail::read_range_constraints(json);
  if (!constraints) return error_of(std::move(constraints));
  program.range_constraints = *std::move(constraints);

  const Result<Json> module = json.at("graph_module");
  if (!module) return error_of(module);
  auto calls = detail::read_module_call_graph(*module);
  if (!calls) return error_of(std::move(calls));
  program.module_call_graph = *std::move(calls);
  const Result<Json> signature = module->at("signature");
  if (!signature) return error_of(signature);
  Result<ExportGraphSignature> specs = read_signature(*signature);
  if (!specs) return error_of(std::move(specs));
  program.signature = *std::move(specs);

  const Result<Json> graph = module->at("graph");
  if (!graph) return error_of(graph);
  GraphBuilder builder;
  const Result<GraphId> root = GraphReader(builder).read(*graph);
  if (!root) return error_of(root);
  program.graph_module = std::move(builder).finish();
  detail::make_tokens(program);
  if (Result<void> sound = check_tables(program.view()); !sound) return error_of(std::move(sound));
  if (Result<void> guards = detail::read_guards(json, skip_unreadable_guards, program); !guards)
    return error_of(std::move(guards));
  correct_quotient_dtypes(program);
  correct_autocast_dtypes(program);
  return program;
}

}  // namespace davit::formats
