// SPDX-License-Identifier: MIT
#include "davit/runtime/session.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "../programs.hpp"
#include "support/compiler_demo.hpp"
#include "davit/lowering/to_backend.hpp"
#include "support/mock_backend.hpp"
#include "support/saved_program.hpp"

using namespace davit;
using programs::item;
using programs::scalar;
using programs::tensor;

namespace {

struct Tag {};
using Mock = testing::mock_backend<Tag>;
struct Script : testing::MockScript {
  Script() { Mock::script = this; }
  Script(const Script&) = delete;
  ~Script() { Mock::script = nullptr; }
};

Session session_of(const ExportedProgram& program) {
  auto lowered = to_backend<Mock>(program);
  REQUIRE(lowered);
  (void)Mock::script->take_log();
  return *Session::make(std::move(*lowered));
}

/// forward(self, x, a): an input that the export fixed.
ExportedProgram with_constant(std::string_view name, double value) {
  GraphBuilder b;
  b.begin_graph();
  const auto x = b.input("x", ScalarType::float32, {});
  Argument a = b.real(value);
  a.name = b.text(name);
  b.input(a);
  const ValueId out[] = {b.tensor("out", ScalarType::float32, {})};
  const Argument in[] = {b.value(x)};
  const Argument made[] = {b.value(out[0])};
  b.node("test.echo.default", in, made);
  b.end_graph({out[0]});
  return programs::user_program(std::move(b).finish());
}

/// forward(self, x) with these outputs.
ExportedProgram returning(const std::vector<Argument>& outputs) {
  GraphBuilder b;
  b.begin_graph();
  b.input("x", ScalarType::float32, {});
  b.end_graph(std::span<const Argument>(outputs));
  return programs::user_program(std::move(b).finish());
}

}  // namespace

TEST_CASE("B04: each of five calls asks whether the backend is available, then executes") {
  Script script;
  Session session = session_of(programs::echo());
  const Tensor x = scalar(4);
  for (int i = 0; i < 5; ++i) CHECK(session.call<TensorView>("forward", x));
  CHECK(script.take_log() ==
        "is_available execute is_available execute is_available execute is_available execute "
        "is_available execute");
}

TEST_CASE(
    "B05: unavailable at a call is an error before execute; when it comes back the method runs, not compiled again") {
  Script script;
  Session session = session_of(programs::echo());
  const Tensor x = scalar(4);
  script.available = false;
  const auto failed = session.call<TensorView>("forward", x);
  REQUIRE(!failed);
  CHECK(failed.error().code == ErrorCode::not_available);
  CHECK(failed.error().stage == Stage::execute);
  CHECK(failed.error().what == "backend mock is not available");
  CHECK(script.take_log() == "is_available");
  script.available = true;
  CHECK(session.call<TensorView>("forward", x));
  CHECK(script.take_log() == "is_available execute");
}

TEST_CASE(
    "B06: lowered while unavailable, called when available: an error that says so, where the original has a bare "
    "KeyError") {
  Script script;
  script.available = false;
  Session session = session_of(programs::echo());
  script.available = true;
  const Tensor x = scalar(4);
  const auto failed = session.call<TensorView>("forward", x);
  REQUIRE(!failed);
  CHECK(failed.error().code == ErrorCode::not_available);
  CHECK(failed.error().what ==
        "the partition was lowered while backend mock was not available, and so is not compiled");
  CHECK(failed.error().where == "method 'forward', partition 'mock_0'");
  CHECK(!failed.error().fix.empty());
  CHECK(script.take_log().empty());
}

TEST_CASE("C02: an input that the export fixed is its own default; the original drops defaults") {
  Script script;
  Session session = session_of(with_constant("a", 2.5));
  const Tensor x = scalar(1);
  REQUIRE(session.call<TensorView>("forward", x));
  CHECK(script.inputs.size() == 1);
  CHECK(session.call<TensorView>("forward", x, 2.5));
  const auto other = session.call<TensorView>("forward", x, 3.0);
  REQUIRE(!other);
  CHECK(other.error().where == "argument 'a' of forward()");
}

TEST_CASE("C03: a keyword argument with a default may be given by name or left out; the original cannot lower it") {
  Script script;
  Session session = session_of(with_constant("a", 2.5));
  const Tensor x = scalar(1);
  const EValue args[] = {x};
  const NamedValue a[] = {{"a", 2.5}};
  const NamedValue both[] = {{"a", 2.5}, {"x", x.view()}};
  CHECK(session.run("forward", args, a));
  CHECK(session.run("forward", {}, both));
  CHECK(session.run("forward", args));
}

TEST_CASE(
    "C04: a keyword argument without default must be given, and may be in any order; the original cannot lower it") {
  Script script;
  Session session = session_of(programs::echo(2));
  const Tensor x = scalar(1);
  const Tensor y = scalar(2);
  const NamedValue swapped[] = {{"a1", y.view()}, {"a0", x.view()}};
  REQUIRE(session.run("forward", {}, swapped));
  CHECK(item(script.inputs[0]) == 1);
  CHECK(item(script.inputs[1]) == 2);
  const EValue args[] = {x};
  const NamedValue unknown[] = {{"a1", y.view()}, {"zz", y.view()}};
  CHECK(session.run("forward", args, unknown).error().what == "forward() has no argument 'zz'");
  const NamedValue twice[] = {{"a0", y.view()}};
  CHECK(session.run("forward", args, twice).error().what == "forward() got two values for argument 'a0'");
  CHECK(session.run("forward", {}, twice).error().what == "forward() is missing value for argument 'a1'");
}

TEST_CASE("run takes tensors, numbers and Results of them; an Error among these is returned, and nothing runs") {
  Script script;
  Session session = session_of(programs::echo(2));
  std::vector<float> element = {3};
  const Tensor y = scalar(2);
  const auto outputs = session.run("forward", davit::tensor(element, {}), y);
  REQUIRE(outputs);
  CHECK(item(script.inputs[0]) == 3);
  CHECK(item(script.inputs[1]) == 2);
  CHECK((*outputs)[0].as<float>().has_value());
  (void)script.take_log();
  const auto failed = session.run("forward", y, davit::tensor(element, {2}));
  CHECK(failed.error().what == "a tensor of sizes [2] cannot be made of 1 elements");
  CHECK(script.take_log().empty());
  CHECK(session.run("forward", y, 1).error().code == ErrorCode::invalid_argument);
  CHECK(session.run("backward", y, y).error().code == ErrorCode::not_found);
}

TEST_CASE("C05: a method without inputs executes with none, and its one output is the result") {
  Script script;
  Session session = session_of(programs::echo(0, {ValueKind::sym_int}));
  script.run = [](std::span<const EValue>, std::span<EValue> outputs) { outputs[0] = 1; };
  const auto result = session.call<std::int64_t>("forward");
  REQUIRE(result);
  CHECK(*result == 1);
  CHECK(script.inputs.empty());
}

TEST_CASE("C06: arguments may have any name, _0 and typed_inputs too; the original trips over its own variables") {
  Script script;
  for (const std::string_view name : {"_0", "typed_inputs"}) {
    Session session = session_of(with_constant(name, 1.0));
    const Tensor x = scalar(1);
    CHECK(session.call<TensorView>("forward", x));
  }
}

TEST_CASE("C07: too few, too many and wrong arguments are named, and the backend never sees them") {
  Script script;
  Session session = session_of(programs::add());
  const Tensor x = scalar(1);
  const auto missing = session.call<TensorView>("forward", x);
  REQUIRE(!missing);
  CHECK(missing.error().code == ErrorCode::invalid_argument);
  CHECK(missing.error().what == "forward() is missing value for argument 'h'");
  CHECK(missing.error().fix == "call it as forward(x: float32[], h: float32[])");
  const auto extra = session.call<TensorView>("forward", x, x, x);
  REQUIRE(!extra);
  CHECK(extra.error().what == "forward() expected at most 2 argument(s) but received 3");
  TensorView nowhere = x.view();
  nowhere.data = nullptr;
  CHECK(session.run("forward", x, nowhere).error().where == "argument 1 of forward()");
  const auto kind = session.call<TensorView>("forward", x, 1);
  REQUIRE(!kind);
  CHECK(kind.error().what == "Expected a value of type 'Tensor' for argument 'h' but instead found type 'int'");
  const Tensor wide = Tensor::zeros(ScalarType::float64, {});
  CHECK(session.call<TensorView>("forward", x, wide).error().code == ErrorCode::invalid_dtype);
  const Tensor ranked = tensor({1}, {1});
  CHECK(session.call<TensorView>("forward", x, ranked).error().code == ErrorCode::invalid_shape);
  CHECK(script.take_log().find("execute") == std::string::npos);
  const auto name = session.run("backward", {});
  REQUIRE(!name);
  CHECK(name.error().what == "Method 'backward' is not defined");

  Session sized = session_of(programs::add({2, 3}));
  const Tensor right = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{2, 3});
  const Tensor wrong = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{2, 4});
  CHECK(sized.call<TensorView>("forward", right, right));
  const auto shape = sized.call<TensorView>("forward", right, wrong);
  REQUIRE(!shape);
  CHECK(shape.error().code == ErrorCode::invalid_shape);
  CHECK(shape.error().what == "its sizes are [2, 4]: size 1 is 4, and the program was exported for 3 there");
}

TEST_CASE("C08: execute sees the caller's storage, and returning it gives the caller's storage back") {
  Script script;
  Session session = session_of(programs::echo());
  const Tensor x = scalar(4);
  const auto result = session.call<TensorView>("forward", x);
  REQUIRE(result);
  CHECK(script.inputs[0].tensor().data == x.view().data);
  CHECK(result->data == x.view().data);
}

TEST_CASE("D01: one tensor comes back bare") {
  Script script;
  Session session = session_of(programs::echo());
  const Tensor five = scalar(5);
  const auto result = session.call<TensorView>("forward", five);
  REQUIRE(result);
  CHECK(*result->as<float>() == 5);
}

TEST_CASE("D02: two tensors come back as a tuple of two") {
  Script script;
  Session session = session_of(programs::echo(2, {ValueKind::tensor, ValueKind::tensor}));
  const Tensor five = scalar(5);
  const Tensor six = scalar(6);
  const auto result = session.call<std::tuple<TensorView, TensorView>>("forward", five, six);
  REQUIRE(result);
  CHECK(*std::get<0>(*result).as<float>() == 5);
  CHECK(*std::get<1>(*result).as<float>() == 6);
}

TEST_CASE("D03: a tuple of one comes back as a tuple of one") {
  Script script;
  Session session = session_of(programs::echo());
  const Tensor five = scalar(5);
  const auto result = session.call<std::tuple<TensorView>>("forward", five);
  REQUIRE(result);
  CHECK(*std::get<0>(*result).as<float>() == 5);
}

TEST_CASE("D04: nested outputs come flat, as torch.export has them, and each is checked") {
  Script script;
  Session session = session_of(programs::echo(1, {ValueKind::tensor, ValueKind::tensor, ValueKind::sym_int}));
  const Tensor five = scalar(5);
  script.run = [](std::span<const EValue> in, std::span<EValue> out) { out[0] = in[0], out[1] = in[0], out[2] = 7; };
  const auto good = session.call<std::tuple<TensorView, TensorView, std::int64_t>>("forward", five);
  REQUIRE(good);
  CHECK(std::get<2>(*good) == 7);
  script.run = [](std::span<const EValue> in, std::span<EValue> out) { out[0] = in[0], out[1] = in[0], out[2] = 7.5; };
  const auto bad = session.call<std::tuple<TensorView, TensorView, std::int64_t>>("forward", five);
  REQUIRE(!bad);
  CHECK(bad.error().what.view().starts_with("Expected a value of type 'int' for output"));
}

TEST_CASE("D05: an empty tuple is a method without outputs; the original crashes while lowering it") {
  Script script;
  Session session = session_of(returning({}));
  const Tensor x = scalar(1);
  CHECK(session.call<std::tuple<>>("forward", x));
  CHECK(script.take_log().empty());
}

TEST_CASE("D06: numbers, text and None are returned unchanged") {
  Script script;
  GraphBuilder texts;
  const Tensor x = scalar(1);
  Session number = session_of(programs::echo(1, {ValueKind::sym_int}));
  script.run = [](std::span<const EValue>, std::span<EValue> out) { out[0] = 11; };
  CHECK(*number.call<std::int64_t>("forward", x) == 11);

  GraphBuilder b;
  b.begin_graph();
  b.input("x", ScalarType::float32, {});
  const Argument text[] = {b.string("mode")};
  b.end_graph(text);
  Session mode = session_of(programs::user_program(std::move(b).finish()));
  CHECK(*mode.call<std::string_view>("forward", x) == "mode");

  Session optional = session_of(programs::echo());
  script.run = nullptr;
  CHECK(optional.call<std::optional<TensorView>>("forward", x)->has_value());
  Session none = session_of(returning({GraphBuilder::none()}));
  const auto nothing = none.call<std::optional<TensorView>>("forward", x);
  REQUIRE(nothing);
  CHECK(!nothing->has_value());
  Session number_and_flag = session_of(programs::echo(1, {ValueKind::sym_float, ValueKind::sym_bool}));
  script.run = [](std::span<const EValue>, std::span<EValue> out) { out[0] = 0.5, out[1] = true; };
  CHECK(*number_and_flag.call<std::tuple<double, bool>>("forward", x) == std::tuple(0.5, true));
}

TEST_CASE("D07: an int is no float, a float no int, and an int no bool") {
  Script script;
  const Tensor x = scalar(1);
  const auto fails = [&](ValueKind declared, void (*run)(std::span<const EValue>, std::span<EValue>)) {
    Session session = session_of(programs::echo(1, {declared}));
    script.run = run;
    const auto result = session.call<EValue>("forward", x);
    return !result && result.error().code == ErrorCode::invalid_argument;
  };
  CHECK(fails(ValueKind::sym_int, [](std::span<const EValue>, std::span<EValue> out) { out[0] = 11.0; }));
  CHECK(fails(ValueKind::sym_float, [](std::span<const EValue>, std::span<EValue> out) { out[0] = 11; }));
  CHECK(fails(ValueKind::sym_bool, [](std::span<const EValue>, std::span<EValue> out) { out[0] = 1; }));
}

TEST_CASE("D08: a list for a tensor is an error; torch.export returns the elements of lists one by one") {
  Script script;
  Session session = session_of(programs::echo());
  const Tensor x = scalar(1);
  script.run = [](std::span<const EValue> in, std::span<EValue> out) { out[0] = EValue(in); };
  const auto result = session.call<EValue>("forward", x);
  REQUIRE(!result);
  CHECK(result.error().what.view().find("instead found type 'List'") != std::string_view::npos);
}

TEST_CASE(
    "D09: text for a tensor is an error with a sentence, where the original's message is empty; so are another dtype "
    "and other sizes") {
  Script script;
  Session session = session_of(programs::echo());
  const Tensor x = scalar(1);
  script.run = [](std::span<const EValue>, std::span<EValue> out) { out[0] = "text"; };
  const auto result = session.call<EValue>("forward", x);
  REQUIRE(!result);
  CHECK(result.error().stage == Stage::execute);
  CHECK(result.error().where == "output 'r0' of forward(), partition 'mock_0'");
  CHECK(result.error().what == "Expected a value of type 'Tensor' for output 'r0' but instead found type 'str'");
  CHECK(script.take_log() == "is_available execute");
  static const Tensor wide = Tensor::zeros(ScalarType::float64, {});
  script.run = [](std::span<const EValue>, std::span<EValue> out) { out[0] = wide.view(); };
  CHECK(session.call<EValue>("forward", x).error().code == ErrorCode::invalid_dtype);
  static const Tensor ranked = tensor({1}, {1});
  script.run = [](std::span<const EValue>, std::span<EValue> out) { out[0] = ranked.view(); };
  CHECK(session.call<EValue>("forward", x).error().code == ErrorCode::invalid_shape);
}

TEST_CASE("D10: an output left out is an error, and so is asking for another number than there are") {
  Script script;
  Session session = session_of(programs::echo(1, {ValueKind::tensor, ValueKind::tensor}));
  const Tensor x = scalar(1);
  script.run = [](std::span<const EValue> in, std::span<EValue> out) { out[0] = in[0]; };
  const auto left_out = session.call<std::tuple<TensorView, TensorView>>("forward", x);
  REQUIRE(!left_out);
  CHECK(left_out.error().what == "Expected a value of type 'Tensor' for output 'r1' but instead found type 'NoneType'");
  script.run = [](std::span<const EValue> in, std::span<EValue> out) { out[0] = out[1] = in[0]; };
  CHECK(session.call<TensorView>("forward", x).error().what == "Expected 1 elements in a list but found 2");
  CHECK(session.call<std::tuple<TensorView, TensorView, TensorView>>("forward", x).error().what ==
        "Expected 3 elements in a list but found 2");
  CHECK(session.call<std::tuple<>>("forward", x).error().what == "Expected 0 elements in a list but found 2");
}

TEST_CASE("E01: each method runs with its own handle, in any order of calls") {
  Script script;
  const ExportedProgram program = programs::echo();
  const ProgramMethod methods[] = {{"a", &program}, {"b", &program}};
  const MethodCompileSpec<Mock> specs[] = {{"a", {"opt_a"}}, {"b", {"opt_b"}}};
  const auto lowered = to_backend<Mock>(methods, specs);
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const Tensor x = scalar(1);
  REQUIRE(session.call<TensorView>("b", x));
  CHECK(script.handle == 20);
  REQUIRE(session.call<TensorView>("a", x));
  CHECK(script.handle == 10);
}

TEST_CASE("E06: forward, accum and sub_accum of one program: (2, 1) -> (3, 1), 3 and 1") {
  GraphBuilder b;
  b.begin_graph();
  const auto x = b.input("x", ScalarType::float32, {});
  const auto h = b.input("h", ScalarType::float32, {});
  const auto sum =
      b.call("aten.add.Tensor", {{"self", b.value(x)}, {"other", b.value(h)}}, "add", ScalarType::float32, {});
  const auto rest =
      b.call("aten.sub.Tensor", {{"self", b.value(x)}, {"other", b.value(h)}}, "sub", ScalarType::float32, {});
  b.end_graph({sum, rest});
  const ExportedProgram forward = programs::user_program(std::move(b).finish());
  const ExportedProgram accum = programs::add();
  const ExportedProgram sub_accum = programs::binary("aten.sub.Tensor");
  const ProgramMethod methods[] = {{"forward", &forward}, {"accum", &accum}, {"sub_accum", &sub_accum}};
  const MethodCompileSpec<compiler_demo> specs[] = {{"forward", {}}, {"accum", {}}, {"sub_accum", {}}};
  const auto lowered = to_backend<compiler_demo>(methods, specs);
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const Tensor two = scalar(2);
  const Tensor one = scalar(1);
  const auto both = session.call<std::tuple<TensorView, TensorView>>("forward", two, one);
  REQUIRE(both);
  CHECK(*std::get<0>(*both).as<float>() == 3);
  CHECK(*std::get<1>(*both).as<float>() == 1);
  CHECK(*session.call<TensorView>("accum", two, one)->as<float>() == 3);
  CHECK(*session.call<TensorView>("sub_accum", two, one)->as<float>() == 1);
}

TEST_CASE("H09: a fault in execute is reported with backend, method, node and the model's source line") {
  Script script;
  Session session = session_of(programs::add());
  script.fault = ErrorCode::out_of_range;
  script.fault_handle = script.debug_handles.at(0);
  script.fault_text = "index 7 is too large";
  const Tensor x = scalar(1);
  const auto failed = session.call<TensorView>("forward", x, x);
  REQUIRE(!failed);
  CHECK(to_string(failed.error()) ==
        "execute [mock]: method 'forward', node 'result' (aten.add.Tensor), module hierarchy top(M): index 7 is too "
        "large "
        "(debug handle 0)\n"
        "  File \"/home/user/model.py\", line 5, in forward\n    return x + h\n    ~~~~~~~~~~~~ <--- HERE");
}

TEST_CASE("H11: an unknown handle is named, and a missing handle is not invented; the original loses or joins them") {
  Script script;
  Session session = session_of(programs::add());
  script.fault = ErrorCode::failed;
  const Tensor x = scalar(1);
  script.fault_handle = 9999;
  const auto unknown = session.call<TensorView>("forward", x, x);
  REQUIRE(!unknown);
  CHECK(unknown.error().debug_handle == 9999);
  CHECK(unknown.error().where == "debug handle 9999 (no debug information for it)");
  script.fault_handle = no_debug_handle;
  const auto none = session.call<TensorView>("forward", x, x);
  REQUIRE(!none);
  CHECK(none.error().where == "method 'forward', partition 'mock_0'");
  CHECK(none.error().source.empty());
}

TEST_CASE("H12: every code of execute arrives unchanged; without a sentence the code's name is the message") {
  Script script;
  Session session = session_of(programs::echo());
  const Tensor x = scalar(1);
  for (const ErrorCode code :
       {ErrorCode::failed, ErrorCode::out_of_memory, ErrorCode::assertion_failed, ErrorCode::io_error}) {
    script.fault = code;
    const auto failed = session.call<TensorView>("forward", x);
    REQUIRE(!failed);
    CHECK(failed.error().code == code);
    CHECK(to_string(failed.error()).ends_with(name_of(code)));
  }
}

TEST_CASE("H13: after errors of every sort the session works") {
  Script script;
  Session session = session_of(programs::echo());
  const Tensor x = scalar(8);
  script.fault = ErrorCode::failed;
  CHECK(!session.call<TensorView>("forward", x));
  script.fault.reset();
  CHECK(!session.call<TensorView>("forward", "text"));
  script.run = [](std::span<const EValue>, std::span<EValue> out) { out[0] = 1; };
  CHECK(!session.call<TensorView>("forward", x));
  script.run = nullptr;
  const auto result = session.call<TensorView>("forward", x);
  REQUIRE(result);
  CHECK(*result->as<float>() == 8);
}

TEST_CASE("H14: a module loaded without debug information reports the handle alone") {
  Script script;
  const auto lowered = to_backend<Mock>(programs::add());
  REQUIRE(lowered);
  const auto loaded = support::loaded<Mock>(support::saved(*lowered));
  REQUIRE(loaded);
  Session session = *Session::make(*loaded);
  script.fault = ErrorCode::failed;
  script.fault_handle = 0;
  script.fault_text = "it failed";
  const Tensor x = scalar(1);
  const auto failed = session.call<TensorView>("forward", x, x);
  REQUIRE(!failed);
  CHECK(to_string(failed.error()) ==
        "execute [mock]: debug handle 0 (no debug information for it): it failed (debug handle 0)");
}

TEST_CASE("state carries over from call to call, each session has its own, and a failed call changes nothing") {
  const auto lowered = to_backend<compiler_demo>(programs::counter(10));
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  Session other = *Session::make(*lowered);
  const Tensor two = scalar(2);
  CHECK(*session.call<TensorView>("forward", two)->as<float>() == 12);
  CHECK(*session.call<TensorView>("forward", two)->as<float>() == 14);
  CHECK(*other.call<TensorView>("forward", two)->as<float>() == 12);
  const Tensor wide = Tensor::zeros(ScalarType::float64, {});
  CHECK(!session.call<TensorView>("forward", wide));
  REQUIRE(session.state().size() == 1);
  CHECK(*session.state()[0].tensor.view().as<float>() == 14);
  CHECK(*lowered->state()[0].tensor.view().as<float>() == 10);
  const auto loaded = support::loaded<compiler_demo>(support::saved(*lowered));
  REQUIRE(loaded);
  Session again = *Session::make(*loaded);
  CHECK(*again.call<TensorView>("forward", two)->as<float>() == 12);
}

TEST_CASE("a mutated user input is written back; outputs that view it keep the value they had") {
  GraphBuilder b;
  b.begin_graph();
  const auto x = b.input("x", ScalarType::float32, {});
  const auto sum =
      b.call("aten.add.Tensor", {{"self", b.value(x)}, {"other", b.real(1)}}, "add", ScalarType::float32, {});
  b.end_graph({sum, x, sum});
  ExportedProgram program;
  program.graph_module = std::move(b).finish();
  program.signature = {.input_specs = {UserInputSpec{TensorArgument{"x"}}},
                       .output_specs = {UserInputMutationSpec({"add"}, "x"), UserOutputSpec{TensorArgument{"x"}},
                                        UserOutputSpec{TensorArgument{"add"}}}};
  const auto lowered = to_backend<compiler_demo>(program);
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const Tensor value = scalar(5);
  const auto result = session.call<std::tuple<TensorView, TensorView>>("forward", value);
  REQUIRE(result);
  CHECK(*value.view().as<float>() == 6);
  CHECK(*std::get<0>(*result).as<float>() == 5);
  CHECK(*std::get<1>(*result).as<float>() == 6);
}
