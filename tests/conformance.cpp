// SPDX-License-Identifier: MIT

// Checks ExportGraphSignature against fixtures that torch.export answered, as in tests/cases/signatures (torch 2.6).
//
// usage: conformance FIXTURE.json or folder of them...
// Prints a line per failed check and closes with "N passed, N failed": the number of checks, over all fixtures. One
// check compares one recorded answer (the specs, the printed form, one query, one changed flag) to the type of every
// constant. Exit status: 0 all passed, 1 a check failed, 2 a fixture or its program could not be read, or nothing was
// checked.

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdio>
#include <expected>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "davit/formats/json/json.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/formats/pt2/signature_json.hpp"
#include "davit/program/signature.hpp"
#include "davit/program/signature_printer.hpp"
#include "../tools/davit/signature_queries.hpp"

namespace {

using davit::Error;
using davit::ExportGraphSignature;
using davit::Name;
using davit::NodeOp;
using davit::Result;
using davit::SignatureSemantics;
using davit::formats::Json;
using davit::formats::JsonArray;
using davit::formats::JsonDocument;
using davit::formats::JsonMember;
using davit::formats::JsonObject;
using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

// -- counting -----------------------------------------------------------------------------------------------------

/// Counts checks and prints the failed ones, each with the fixture and the place in it.
class Report {
 public:
  void begin(std::string_view fixture) { fixture_ = fixture; }

  void check(bool passed, std::string_view place, std::string_view why) {
    passed ? ++passed_ : ++failed_;
    if (!passed) {
      std::printf("%s: %.*s: %.*s\n", fixture_.c_str(), static_cast<int>(place.size()), place.data(),
                  static_cast<int>(why.size()), why.data());
    }
  }
  /// Records a check that could not be made, because the fixture is malformed.
  void fail(const Error& error) { check(false, "fixture", to_string(error)); }
  void unreadable(const Error& error) {
    std::fprintf(stderr, "%s: %s\n", fixture_.c_str(), to_string(error).c_str());
    unreadable_ = true;
  }

  [[nodiscard]] int finish() const {
    std::printf("%zu passed, %zu failed\n", passed_, failed_);
    return unreadable_ || passed_ + failed_ == 0 ? 2 : failed_ != 0 ? 1 : 0;
  }

 private:
  std::string fixture_;
  std::size_t passed_ = 0;
  std::size_t failed_ = 0;
  bool unreadable_ = false;
};

/// The first bytes of a text, for a line of the report.
std::string shortened(std::string_view text) {
  return text.size() <= 300 ? std::string(text) : std::string(text.substr(0, 300)) + "...";
}

// -- what davit answers, as JSON ----------------------------------------------------------------------------------

std::string written(const std::function<void(Writer&)>& write) {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  write(writer);
  return {buffer.GetString(), buffer.GetSize()};
}

void write_member(Writer& writer, std::string_view key, std::string_view value) {
  davit::formats::detail::write_key(writer, key);
  davit::formats::detail::write_string(writer, value);
}

void write_argument(Writer& writer, const davit::ArgumentSpec& argument) {
  writer.StartObject();
  write_member(writer, "type", type_name(argument));
  write_member(writer, "name", arg_name(argument));
  if (const auto* constant = std::get_if<davit::ConstantArgument>(&argument)) {
    writer.Key("value");
    davit::formats::detail::write(writer, constant->value);
  }
  if (const auto* object = std::get_if<davit::CustomObjArgument>(&argument)) {
    write_member(writer, "class_fqn", object->class_fqn);
  }
  writer.EndObject();
}

template <class Spec>
void write_spec(Writer& writer, const Spec& spec) {
  writer.StartObject();
  write_member(writer, "kind", name_of(kind(spec)));
  writer.Key("kind_value");
  writer.Int(static_cast<int>(kind(spec)));
  writer.Key("arg");
  write_argument(writer, arg(spec));
  writer.Key("target");
  const Name* named = target(spec);
  named ? davit::formats::detail::write_string(writer, *named) : static_cast<void>(writer.Null());
  if constexpr (requires { persistent(spec); }) {
    writer.Key("persistent");
    const std::optional<bool> flag = persistent(spec);
    flag ? writer.Bool(*flag) : writer.Null();
  }
  writer.EndObject();
}

template <class Spec>
std::string specs_json(const std::vector<Spec>& specs) {
  return written([&](Writer& writer) {
    writer.StartArray();
    for (const Spec& spec : specs) write_spec(writer, spec);
    writer.EndArray();
  });
}

// -- comparing ----------------------------------------------------------------------------------------------------

/// Compares JSON that davit wrote with a recorded value, types and order included.
void compare(Report& report, std::string_view place, std::string_view answer, Json recorded) {
  const Result<JsonDocument> document = davit::formats::parse_json(answer, "answer");
  if (!document) return report.fail(document.error());
  report.check(same(document->root(), recorded), place, "davit answers " + shortened(answer));
}

using Members = std::vector<JsonMember>;

/// The members of an object, or an error for other values.
Result<Members> members_of(Json json) {
  const Result<JsonObject> object = json.object();
  if (!object) return std::unexpected(object.error());
  return Members(object->begin(), object->end());
}

JsonMember* find(Members& members, std::string_view key) {
  for (JsonMember& member : members)
    if (member.key == key) return &member;
  return nullptr;
}

/// Replaces or adds the members of `changes`.
void overlay(Members& members, const Members& changes) {
  for (const JsonMember& change : changes) {
    JsonMember* const member = find(members, change.key);
    member ? static_cast<void>(*member = change) : members.push_back(change);
  }
}

/// Compares answers with recorded ones; each key of either side is one check.
void compare(Report& report, const std::string& place, Members answers, Members recorded) {
  for (const JsonMember& expected : recorded) {
    const JsonMember* const answer = find(answers, expected.key);
    const bool left_out = !answer && expected.key == "parameters_to_mutate" && expected.value.is_array() &&
                          expected.value.array()->empty();
    const bool passed = answer ? same(answer->value, expected.value) : left_out;
    report.check(passed, place + '.' + std::string(expected.key), "davit's answer is not the recorded one");
  }
  for (const JsonMember& answer : answers)
    if (!find(recorded, answer.key)) report.check(false, place + '.' + std::string(answer.key), "is not recorded");
}

// -- queries ------------------------------------------------------------------------------------------------------

/// The legacy class's user outputs as the fixtures record them: a refusal ends the list with a note.
std::string legacy_user_outputs(const ExportGraphSignature& signature) {
  ExportGraphSignature taken;
  bool refused = false;
  for (const davit::OutputSpec& spec : signature.output_specs) {
    taken.output_specs.push_back(spec);
    refused = !taken.user_outputs(SignatureSemantics::legacy);
    if (!refused) continue;
    taken.output_specs.pop_back();
    break;
  }
  const auto outputs = taken.user_outputs(SignatureSemantics::legacy);
  return written([&](Writer& writer) {
    writer.StartObject();
    writer.Key("user_outputs");
    writer.StartArray();
    for (const davit::ConstantValue& value : *outputs) davit::formats::detail::write(writer, value);
    if (refused) {
      writer.StartObject();
      write_member(writer, "raises", "RuntimeError");
      writer.EndObject();
    }
    writer.EndArray();
    writer.EndObject();
  });
}

/// Compares a signature's answers with the `queries` of `holder`; the legacy ones with those of its `seed004`, too,
/// which take precedence.
Result<void> compare_queries(Report& report, const std::string& place, const ExportGraphSignature& signature,
                             Json holder, SignatureSemantics semantics = SignatureSemantics::newest) {
  const bool legacy = semantics == SignatureSemantics::legacy;
  const auto text = davit::formats::signature_queries_json(signature);
  if (!text) return std::unexpected(text.error());
  const auto newest = davit::formats::parse_json(*text, "answer");
  if (!newest) return std::unexpected(newest.error());
  const auto outputs = davit::formats::parse_json(legacy_user_outputs(signature), "answer");
  if (!outputs) return std::unexpected(outputs.error());
  const Result<Json> queries = holder.at("queries");
  if (!queries) return std::unexpected(queries.error());
  const auto seed004 = holder.find("seed004");
  if (!seed004) return std::unexpected(seed004.error());

  Members answers = *members_of(newest->root());
  Result<Members> recorded = members_of(*queries);
  if (!recorded) return std::unexpected(recorded.error());
  if (legacy) {
    overlay(answers, *members_of(outputs->root()));
    const Result<Members> changes = *seed004 ? members_of(**seed004) : Members();
    if (!changes) return std::unexpected(changes.error());
    overlay(*recorded, *changes);
  }
  compare(report, place + (legacy ? ".seed004" : ".queries"), std::move(answers), *std::move(recorded));
  return {};
}

// -- one fixture --------------------------------------------------------------------------------------------------

Result<ExportGraphSignature> signature_of_program(const std::filesystem::path& path) {
  auto program = davit::formats::read_pt2(path.string());
  if (!program) return std::unexpected(std::move(program).error());
  return std::move(program->signature);
}

Result<void> check_specs(Report& report, const ExportGraphSignature& signature, Json fixture) {
  const Result<Json> inputs = fixture.at("input_specs");
  if (!inputs) return std::unexpected(inputs.error());
  const Result<Json> outputs = fixture.at("output_specs");
  if (!outputs) return std::unexpected(outputs.error());
  const Result<std::string_view> printed = fixture.string("str");
  if (!printed) return std::unexpected(printed.error());
  compare(report, "input_specs", specs_json(signature.input_specs), *inputs);
  compare(report, "output_specs", specs_json(signature.output_specs), *outputs);
  const std::string text = to_string(signature);
  report.check(text == *printed, "str", "davit prints " + shortened(text));
  return {};
}

/// Checks an entry of `replace_all_uses`: a rename on a fresh copy, by the newest and by the legacy class.
Result<void> check_rename(Report& report, const std::string& place, const ExportGraphSignature& signature, Json entry) {
  const Result<std::string_view> old_name = entry.string("old");
  if (!old_name) return std::unexpected(old_name.error());
  const Result<std::string_view> new_name = entry.string("new");
  if (!new_name) return std::unexpected(new_name.error());
  ExportGraphSignature newest = signature;
  newest.replace_all_uses(*old_name, *new_name);
  const Result<void> compared = compare_queries(report, place, newest, entry);
  if (!compared) return compared;
  ExportGraphSignature legacy = signature;
  legacy.replace_all_uses(*old_name, *new_name, SignatureSemantics::legacy);
  return compare_queries(report, place, legacy, entry, SignatureSemantics::legacy);
}

/// Checks `replace_chain`: several renames on one copy, one after the other.
Result<void> check_chain(Report& report, ExportGraphSignature signature, Json chain) {
  const Result<JsonArray> steps = chain.array("steps");
  if (!steps) return std::unexpected(steps.error());
  for (const Json step : *steps) {
    const Result<JsonArray> names = step.array();
    if (!names) return std::unexpected(names.error());
    if (names->size() != 2) return step.expected("an array of two names");
    const Result<std::string_view> old_name = (*names->begin()).string();
    if (!old_name) return std::unexpected(old_name.error());
    const Result<std::string_view> new_name = (*++names->begin()).string();
    if (!new_name) return std::unexpected(new_name.error());
    signature.replace_all_uses(*old_name, *new_name);
  }
  return compare_queries(report, "replace_chain", signature, chain);
}

Result<NodeOp> read_op(Json entry, std::string_view key) {
  const Result<std::string_view> name = entry.string(key);
  if (!name) return std::unexpected(name.error());
  constexpr std::pair<std::string_view, NodeOp> ops[] = {{"placeholder", NodeOp::placeholder},
                                                         {"get_attr", NodeOp::get_attr},
                                                         {"call_function", NodeOp::call_function},
                                                         {"call_method", NodeOp::call_method},
                                                         {"call_module", NodeOp::call_module},
                                                         {"input", NodeOp::input},
                                                         {"output", NodeOp::output}};
  for (const auto& [text, op] : ops)
    if (text == *name) return op;
  return entry.error(std::string(key) + " is no kind of node");
}

/// Checks an entry of `replace_hook`: a call of a fresh copy's hook.
Result<void> check_hook(Report& report, const std::string& place, const ExportGraphSignature& signature, Json entry) {
  const Result<bool> replace_inputs = entry.boolean("replace_inputs");
  if (!replace_inputs) return std::unexpected(replace_inputs.error());
  const Result<bool> changed = entry.boolean("changed");
  if (!changed) return std::unexpected(changed.error());
  const Result<std::string_view> old_name = entry.string("old");
  if (!old_name) return std::unexpected(old_name.error());
  const Result<std::string_view> new_name = entry.string("new");
  if (!new_name) return std::unexpected(new_name.error());
  const Result<NodeOp> old_op = read_op(entry, "old_op");
  if (!old_op) return std::unexpected(old_op.error());
  const Result<NodeOp> user_op = read_op(entry, "user_op");
  if (!user_op) return std::unexpected(user_op.error());
  ExportGraphSignature hooked = signature;
  hooked.get_replace_hook({.replace_inputs = *replace_inputs})(*old_name, *old_op, *new_name, *user_op);
  const auto before = davit::formats::signature_queries_json(signature);
  const auto after = davit::formats::signature_queries_json(hooked);
  report.check(before && after && (*before != *after) == *changed, place + ".changed", "davit says otherwise");
  return compare_queries(report, place, hooked, entry);
}

using CheckEntry = Result<void> (*)(Report&, const std::string&, const ExportGraphSignature&, Json);

Result<void> check_entries(Report& report, std::string_view key, const ExportGraphSignature& signature, Json fixture,
                           CheckEntry check) {
  const Result<JsonArray> entries = fixture.array(key);
  if (!entries) return std::unexpected(entries.error());
  std::size_t index = 0;
  for (const Json entry : *entries) {
    const std::string place = std::string(key) + '[' + std::to_string(index++) + ']';
    const Result<void> checked = check(report, place, signature, entry);
    if (!checked) return checked;
  }
  return {};
}

void check_signature(Report& report, const ExportGraphSignature& signature, Json fixture) {
  const auto keep = [&report](const Result<void>& checked) {
    if (!checked) report.fail(checked.error());
  };
  keep(check_specs(report, signature, fixture));
  keep(compare_queries(report, "signature", signature, fixture));
  keep(compare_queries(report, "signature", signature, fixture, SignatureSemantics::legacy));
  keep(check_entries(report, "replace_all_uses", signature, fixture, check_rename));
  keep(check_entries(report, "replace_hook", signature, fixture, check_hook));
  const Result<Json> chain = fixture.at("replace_chain");
  keep(chain ? check_chain(report, signature, *chain) : std::unexpected(chain.error()));
}

Result<std::string> read_file(const std::filesystem::path& path) {
  std::error_code failed;
  std::ifstream stream(path, std::ios::binary);
  if (!stream || std::filesystem::is_directory(path, failed)) {
    return std::unexpected(Error{.code = davit::ErrorCode::io_error, .what = "cannot be read"});
  }
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

void check_fixture(Report& report, const std::filesystem::path& path) {
  report.begin(path.string());
  const Result<std::string> text = read_file(path);
  if (!text) return report.unreadable(text.error());
  const Result<JsonDocument> document = davit::formats::parse_json(*text, "fixture");
  if (!document) return report.unreadable(document.error());
  const Json fixture = document->root();
  const Result<std::string_view> kind = fixture.string("kind");
  if (!kind) return report.fail(kind.error());
  if (*kind == "program") {
    const Result<std::string_view> program = fixture.string("program");
    if (!program) return report.fail(program.error());
    const auto signature = signature_of_program(path.parent_path() / *program);
    return signature ? check_signature(report, *signature, fixture) : report.unreadable(signature.error());
  }
  if (*kind != "synthetic") return report.fail(fixture.error("kind is neither program nor synthetic").error());
  const Result<Json> json = fixture.at("signature_json");
  if (!json) return report.fail(json.error());
  const auto signature = davit::formats::read_signature(*json);
  return signature ? check_signature(report, *signature, fixture) : report.fail(signature.error());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FIXTURE.json or folder of them...\n", argv[0]);
    return 2;
  }
  Report report;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      check_fixture(report, argv[i]);
      continue;
    }
    std::vector<std::string> fixtures;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i]))
      if (entry.path().extension() == ".json") fixtures.push_back(entry.path().string());
    std::ranges::sort(fixtures);
    for (const std::string& fixture : fixtures) check_fixture(report, fixture.c_str());
  }
  return report.finish();
}
