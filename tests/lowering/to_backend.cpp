// SPDX-License-Identifier: MIT
#include "davit/lowering/to_backend.hpp"

#include <doctest/doctest.h>

#include <type_traits>
#include <utility>
#include <vector>

#include "../programs.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/program/graph_equal.hpp"
#include "davit/runtime/session.hpp"
#include "support/mock_backend.hpp"

using namespace davit;

namespace {

struct Tag {};
using Mock = testing::mock_backend<Tag>;

/// A script that is active while it lives.
struct Script : testing::MockScript {
  Script() { Mock::script = this; }
  Script(const Script&) = delete;
  ~Script() { Mock::script = nullptr; }
};

using Specs = std::vector<MethodCompileSpec<Mock>>;
using Methods = std::vector<ProgramMethod>;

auto lower(const Methods& methods, const Specs& specs, Diagnostics* diagnostics = nullptr) {
  return to_backend<Mock>(std::span(methods), std::span(specs), diagnostics);
}

}  // namespace

TEST_CASE("A01: lowering twice gives two modules of one type that share nothing") {
  Script script;
  const ExportedProgram program = programs::echo();
  const auto first = to_backend<Mock>(program);
  const auto second = to_backend<Mock>(program);
  REQUIRE((first && second));
  static_assert(std::is_same_v<decltype(first), decltype(second)>);
  CHECK(first->methods().data() != second->methods().data());
  CHECK(first->shared_debug_map() != second->shared_debug_map());
}

TEST_CASE(
    "A02: a lowered program holds processed, spec, interface and handle of each method, in the order of the specs") {
  Script script;
  const ExportedProgram program = programs::echo();
  const auto lowered = lower({{"a", &program}, {"b", &program}, {"forward", &program}},
                             {{"b", {"opt_b"}}, {"forward", {"opt_forward"}}});
  REQUIRE(lowered);
  REQUIRE(lowered->methods().size() == 2);
  CHECK(lowered->methods()[0].name == "b");
  CHECK(spec_of<Mock>(lowered->methods()[0].delegates[0]).text == "opt_b");
  CHECK(processed_of<Mock>(lowered->methods()[0].delegates[0]).blob == "blob");
  CHECK(lowered->methods()[0].interface.inputs.size() == 1);
  CHECK(lowered->methods()[0].delegates[0].handle != nullptr);
  CHECK(lowered->methods()[1].name == "forward");
}

TEST_CASE("A03: only the methods of the specs exist; any other name is an error that lists them") {
  Script script;
  const ExportedProgram program = programs::echo();
  const auto lowered = lower({{"a", &program}, {"b", &program}, {"forward", &program}}, {{"b", {}}, {"forward", {}}});
  REQUIRE(lowered);
  CHECK(*lowered->find_method("b") == 0);
  CHECK(*lowered->find_method("forward") == 1);
  const auto missing = lowered->find_method("a");
  REQUIRE(!missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK(missing.error().what == "Method 'a' is not defined");
  CHECK(missing.error().fix == "this program has: b, forward");
}

TEST_CASE("A04: empty specs give a program without methods, and nothing is preprocessed or compiled") {
  Script script;
  const ExportedProgram program = programs::echo();
  const auto lowered = lower({{"forward", &program}}, {});
  REQUIRE(lowered);
  CHECK(lowered->methods().empty());
  CHECK(script.take_log().empty());
  CHECK(lowered->find_method("forward").error().fix == "the program was lowered without methods");
}

TEST_CASE(
    "A05: preprocess sees a program of its own and cannot change the caller's; the original clones every module") {
  Script script;
  const ExportedProgram program = programs::add();
  const GraphModule before = program.graph_module;
  REQUIRE(to_backend<Mock>(program));
  CHECK(script.program != &program);
  CHECK(graph_equal(before.view(), program.view(), {.metadata = true}));
  static_assert(std::is_same_v<decltype(Method::program), const ExportedProgram*>);
}

TEST_CASE("A06: a lowered module has no parameters of its own; it keeps only buffers that its methods change") {
  Script script;
  GraphBuilder b;
  b.begin_graph();
  const auto w = b.input("p_w", ScalarType::float32, {});
  b.end_graph({w});
  ExportedProgram program;
  program.graph_module = std::move(b).finish();
  program.signature = {.input_specs = {InputToParameterSpec({"p_w"}, "w")},
                       .output_specs = {UserOutputSpec{TensorArgument{"p_w"}}}};
  program.state_dict.push_back({"w", programs::scalar(1)});
  const auto lowered = to_backend<Mock>(program);
  REQUIRE(lowered);
  CHECK(lowered->state().empty());
  CHECK(lowered->methods()[0].interface.inputs.empty());

  const ExportedProgram counter = programs::counter(3);
  const auto stateful = to_backend<Mock>(counter);
  REQUIRE(stateful);
  REQUIRE(stateful->state().size() == 1);
  CHECK(stateful->state()[0].name == "total");
}

TEST_CASE("B01: an available backend is asked to preprocess, then if it is available, then to compile") {
  Script script;
  REQUIRE(to_backend<Mock>(programs::echo()));
  CHECK(script.take_log() == "preprocess is_available compile");
  const ExportedProgram program = programs::echo();
  REQUIRE(lower({{"a", &program}, {"b", &program}}, {{"a", {}}, {"b", {}}}));
  CHECK(script.take_log() == "preprocess preprocess is_available compile compile");
}

TEST_CASE("B02: an unavailable backend is not compiled, and lowering succeeds without handles") {
  Script script;
  script.available = false;
  const auto lowered = to_backend<Mock>(programs::echo());
  REQUIRE(lowered);
  CHECK(script.take_log() == "preprocess is_available");
  CHECK(lowered->methods()[0].delegates[0].handle == nullptr);
}

TEST_CASE("B03: then a warning goes to the caller's diagnostics, if the caller gave any") {
  Script script;
  script.available = false;
  Diagnostics diagnostics;
  REQUIRE(to_backend<Mock>(programs::echo(), {}, &diagnostics));
  REQUIRE(diagnostics.warnings.size() == 1);
  CHECK(diagnostics.warnings[0] ==
        "backend mock is not available here; the program can still be saved, and runs where it is loaded with the "
        "backend "
        "available");
  script.available = true;
  REQUIRE(to_backend<Mock>(programs::echo(), {}, &diagnostics));
  CHECK(diagnostics.warnings.size() == 1);
}

TEST_CASE("E01: compile gets each method's blob with that method's spec") {
  Script script;
  const ExportedProgram program = programs::echo();
  const auto lowered = lower({{"a", &program}, {"b", &program}}, {{"a", {"opt_a"}}, {"b", {"opt_b"}}});
  REQUIRE(lowered);
  CHECK(script.compiled_specs == std::vector<Name>{"opt_a", "opt_b"});
  CHECK(script.compiled_blobs == std::vector<Name>{"blob", "blob"});
  CHECK(handle_of<Mock>(lowered->methods()[0].delegates[0]).number == 10);
  CHECK(handle_of<Mock>(lowered->methods()[1].delegates[0]).number == 20);
}

TEST_CASE("E02: compile returns one handle of one method, so that a handle for another name cannot be returned") {
  CHECK(std::is_same_v<decltype(Mock::compile({}, {})), Result<Mock::Handle>>);
}

TEST_CASE(
    "E03: a spec for a method the program lacks is an error before anything is preprocessed; the original "
    "preprocesses first") {
  Script script;
  const ExportedProgram program = programs::echo();
  const auto lowered = lower({{"forward", &program}}, {{"forward", {}}, {"nope", {}}});
  REQUIRE(!lowered);
  CHECK(lowered.error().code == ErrorCode::not_found);
  CHECK(lowered.error().what == "Method 'nope' is not defined");
  CHECK(lowered.error().fix == "the program has: forward");
  CHECK(script.take_log().empty());
}

TEST_CASE("E04: compile specs are of the backend's type; another type does not compile (compile_errors/E04)") {
  CHECK_FALSE(std::is_constructible_v<Mock::CompileSpec, std::vector<int>>);
  CHECK_FALSE(std::is_constructible_v<MethodCompileSpec<Mock>, Name, int>);
}

TEST_CASE("E05: a method may have any name, __is_available too; two specs for one method are an error") {
  Script script;
  const ExportedProgram program = programs::echo();
  CHECK(lower({{"__is_available", &program}}, {{"__is_available", {}}}));
  const auto twice = lower({{"forward", &program}}, {{"forward", {"one"}}, {"forward", {"two"}}});
  REQUIRE(!twice);
  CHECK(twice.error().what == "method 'forward' has two compile specs");
  const auto refusal = [&](std::vector<ProgramMethod> methods) {
    const CapabilityPartitioner<BackendList<Mock>> partitioner;
    return to_backend(std::span<const ProgramMethod>(methods), partitioner).error().what;
  };
  CHECK(refusal({{"forward", &program}, {"other", &program}, {"forward", &program}}) ==
        "two methods are called 'forward'");
  CHECK(refusal({{"", &program}}) == "method '' has no name");
  CHECK(refusal({{"forward", nullptr}}) == "method 'forward' has no program");
}

TEST_CASE("H07: errors of preprocess and compile arrive with code and text, with stage and backend added") {
  Script script;
  script.preprocess_error =
      Error{.code = ErrorCode::out_of_memory, .debug_handle = 0, .what = "pp failed", .fix = "buy some"};
  const auto first = to_backend<Mock>(programs::add());
  REQUIRE(!first);
  CHECK(first.error().code == ErrorCode::out_of_memory);
  CHECK(first.error().stage == Stage::preprocess);
  CHECK(first.error().backend == "mock");
  CHECK(first.error().what == "pp failed");
  CHECK(first.error().fix == "buy some");
  CHECK(first.error().source.view().find("return x + h") != std::string_view::npos);
  CHECK(script.take_log() == "preprocess");

  script.preprocess_error.reset();
  script.compile_error = Error{.code = ErrorCode::failed, .what = "cc failed"};
  const auto second = to_backend<Mock>(programs::add());
  REQUIRE(!second);
  CHECK(second.error().stage == Stage::compile);
  CHECK(second.error().where == "method 'forward', partition 'mock_0'");
  CHECK(second.error().what == "cc failed");
}

TEST_CASE("a program that breaks the rules is refused with every violation") {
  Script script;
  ExportedProgram program = programs::add();
  program.signature.input_specs.pop_back();
  program.signature.output_specs.clear();
  const auto lowered = to_backend<Mock>(program);
  REQUIRE(!lowered);
  CHECK(lowered.error().code == ErrorCode::invalid_program);
  CHECK(lowered.error().what.view().ends_with("(and 1 more)"));
  CHECK(lowered.error().source.view().find("it lists 0 outputs, the graph has 1") != std::string_view::npos);
  CHECK(script.take_log().empty());
}
