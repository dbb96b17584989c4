// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/exported_program_json.hpp"

#include <doctest/doctest.h>

#include <string>

#include "support/program_json.hpp"

using namespace davit;
using namespace davit::formats;
using program_json::ProgramText;

namespace {

Result<ExportedProgram> read(const std::string& text) {
  const auto document = parse_json(text, "json");
  REQUIRE_MESSAGE(document, text);
  return read_exported_program(document->root());
}

ExportedProgram program_of(const ProgramText& text) {
  Result<ExportedProgram> program = read(text.text());
  REQUIRE_MESSAGE(program, to_string(program.error()));
  return *std::move(program);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  REQUIRE(text.find(from) != text.npos);
  return text.replace(text.find(from), from.size(), to);
}

void check_refused(const std::string& text, std::string_view where, ErrorCode code = ErrorCode::corrupt_data) {
  const auto program = read(text);
  REQUIRE(!program);
  CHECK(program.error().code == code);
  CHECK(program.error().stage == Stage::load);
  CHECK(program.error().where == where);
}

}  // namespace

TEST_CASE("a program is read completely") {
  ProgramText text;
  text.calls = R"({"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec": "[1, {}]", "out_spec":
                   "[1, {\"type\": \"builtins.dict\", \"context\": \"[\\\"y\\\"]\", \"children_spec\": [{\"type\": null, \"context\": null, \"children_spec\": []}]}]",
                   "forward_arg_names": ["x"]}}, {"fqn": "l"}, {"fqn": "m", "signature": null})";
  text.rest = R"("opset_version": {"aten": 10, "ns": 2}, "schema_version": {"major": 8, "minor": 17},
                 "range_constraints": {"s0": {"min_val": 2, "max_val": null}, "s0 + 1": {"min_val": null, "max_val": 9}},
                 "verifiers": ["TRAINING"], "torch_version": "2.9.0", "guards_code": ["L['x'].size()[0] == 2", "L['x'].stride()[0] > 0"])";
  const ExportedProgram program = program_of(text);
  CHECK(program.view().nodes.size() == 1);
  CHECK(program.signature.parameters() == std::vector<Name>{"w"});
  REQUIRE(program.module_call_graph.size() == 3);
  CHECK(program.module_call_graph[0].in_spec == "[1, {}]");
  CHECK(program.module_call_graph[0].forward_arg_names == std::vector<Name>{"x"});
  CHECK(program.module_call_graph[0].output_names == std::vector<Name>{"y"});
  CHECK(program.module_call_graph[1].fqn == "l");
  CHECK(!program.module_call_graph[2].has_signature);
  REQUIRE(program.range_constraints.size() == 2);
  CHECK(program.range_constraints[0].min == 2);
  CHECK(!program.range_constraints[0].max);
  CHECK(program.range_constraints[1].symbol == "s0 + 1");
  CHECK(program.range_constraints[1].max == 9);
  REQUIRE(program.opset_version.size() == 2);
  CHECK(program.opset_version[1].version == 2);
  CHECK(program.schema_minor == 17);
  CHECK(program.dialect == Dialect::training);
  CHECK(program.torch_version == "2.9.0");
  CHECK(program.state_dict.empty());
  REQUIRE(program.guards.size() == 2);
  const std::vector<Name> names{"x"};
  CHECK(print_guard(program.guards, 0, names) == "x.shape[0] == 2");
  CHECK(print_guard(program.guards, 1, names) == "x.stride(0) > 0");
}

TEST_CASE("a guard that cannot be read refuses the program, unless the caller wants it without") {
  ProgramText text;
  text.rest = replaced(text.rest, R"("verifiers")",
                       R"x("guards_code": ["L['x'].size()[0] == 2", "L['x'].size()[0] in (2, 3)"], "verifiers")x");
  check_refused(text.text(), "json.guards_code[1], guard 'L['x'].size()[0] in (2, 3)', byte 17",
                ErrorCode::unsupported_argument);
  const auto document = parse_json(text.text(), "json");
  REQUIRE(document);
  const auto program = read_exported_program(document->root(), true);
  REQUIRE(program);
  CHECK(program->guards.size() == 1);
  for (const char* const guards : {R"("L['x']")", "[1]", "{}"})
    CHECK(!read(replaced(ProgramText().text(), R"("verifiers")",
                         concat(R"("guards_code": )", guards, R"(, "verifiers")").view())));
  for (const char* const guards : {"null", "[]"})
    CHECK(program_of([&] {
            ProgramText none;
            none.rest =
                replaced(none.rest, R"("verifiers")", concat(R"("guards_code": )", guards, R"(, "verifiers")").view());
            return none;
          }())
              .guards.empty());
}

TEST_CASE("a bound beyond 64 bits is none") {
  const auto bounds = [](std::string_view text) {
    const auto program = read(replaced(ProgramText().text(), R"("range_constraints": {})",
                                       concat(R"("range_constraints": {"s0": )", text, "}").view()));
    REQUIRE(program);
    return program->range_constraints.at(0);
  };
  CHECK(bounds(R"({"min_val": 2, "max_val": 9223372036854775808})").min == 2);
  CHECK(!bounds(R"({"min_val": 2, "max_val": 9223372036854775808})").max);
  CHECK(!bounds(R"({"min_val": 2, "max_val": 18446744073709551617})").max);
  CHECK(!bounds(R"({"min_val": -9223372036854775811, "max_val": 4})").min);
  CHECK(bounds(R"({"min_val": -9223372036854775808, "max_val": 9223372036854775807})").min == INT64_MIN);
  CHECK(bounds(R"({"min_val": -9223372036854775808, "max_val": 9223372036854775807})").max == INT64_MAX);
}

TEST_CASE("the dialect comes from verifiers, or from older torch's field") {
  const auto dialect = [](std::string_view line) {
    return read(replaced(ProgramText().text(), R"("verifiers": ["ATEN"])", line))->dialect;
  };
  CHECK(dialect(R"("verifiers": ["ATEN"])") == Dialect::aten);
  CHECK(dialect(R"("verifiers": [])") == Dialect::aten);
  CHECK(dialect(R"("verifiers": ["ATEN", "EDGE"])") == Dialect::edge);
  CHECK(dialect(R"("verifiers": ["MINE"])") == Dialect::other);
  CHECK(dialect(R"("dialect": "TRAINING")") == Dialect::training);
  CHECK(dialect(R"("unknown": 3)") == Dialect::aten);
}

TEST_CASE("tokens of the signature are tokens") {
  ProgramText text;
  text.graph.inputs = program_json::tensor("t") + ", " + text.graph.inputs;
  text.graph.outputs = program_json::tensor("t") + ", " + text.graph.outputs;
  text.graph.tensor_values += ", " + program_json::value("t");
  text.input_specs = R"({"token": {"arg": {"name": "t"}}}, )" + text.input_specs;
  text.output_specs = R"({"token": {"arg": {"name": "t"}}}, )" + text.output_specs;
  const ExportedProgram program = program_of(text);
  CHECK(program.graph_module.values[0].kind == ValueKind::token);
  CHECK(program.graph_module.values[1].kind == ValueKind::tensor);
}

TEST_CASE("another major version is refused") {
  check_refused(replaced(ProgramText().text(), R"("major": 8)", R"("major": 9)"), "json.schema_version",
                ErrorCode::version_mismatch);
}

TEST_CASE("damaged programs are refused with their place") {
  const std::string text = ProgramText().text();
  check_refused("[]", "json");
  check_refused("{}", "json.schema_version");
  check_refused(replaced(text, "graph_module", "module"), "json.graph_module");
  check_refused(replaced(text, "\"signature\"", "\"sig\""), "json.graph_module.signature");
  check_refused(replaced(text, "\"graph\"", "\"g\""), "json.graph_module.graph");
  check_refused(replaced(text, R"("range_constraints": {})", R"("range_constraints": {"s0": {"min_val": 1.5}})"),
                "json.range_constraints.s0.min_val");
  check_refused(
      replaced(text, R"("range_constraints": {})", R"("range_constraints": {"s0": {"min_val": 9223372036854775808}})"),
      "json.range_constraints.s0.min_val");
  check_refused(replaced(text, R"("module_call_graph": [])", R"("module_call_graph": [{"fqn": ""}, {}])"),
                "json.graph_module.module_call_graph[1].fqn");
  check_refused(replaced(text, R"("aten": 10)", R"("aten": "x")"), "json.opset_version.aten");
  check_refused(replaced(text, R"(["ATEN"])", "[3]"), "json.verifiers[0]");
}

TEST_CASE("a text with any stretch taken out is an error or a program, never more") {
  const std::string text = ProgramText().text();
  for (const std::size_t length : {1u, 2u, 7u, 40u, 200u}) {
    for (std::size_t i = 0; i + length <= text.size(); i += length < 7 ? 1 : 3) {
      std::string cut = text;
      cut.erase(i, length);
      const auto document = parse_json(cut);
      if (!document) continue;
      const auto program = read_exported_program(document->root());
      CHECK((program || !program.error().where.empty()));
    }
  }
}

TEST_CASE("a text with any number or word changed is an error or a program, never more") {
  const std::string text = ProgramText().text();
  for (const std::string_view value :
       {"-1", "0", "9223372036854775807", "1e300", "null", "true", "\"x\"", "[]", "{}"}) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] < '0' || text[i] > '9') continue;
      const auto document = parse_json(std::string(text).replace(i, 1, value));
      if (!document) continue;
      const auto program = read_exported_program(document->root());
      CHECK((program || !program.error().where.empty()));
    }
  }
}
