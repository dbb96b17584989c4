// SPDX-License-Identifier: MIT
#include "support/compiler_demo.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "../programs.hpp"
#include "davit/core/evalue.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "davit/testing/backend_laws.hpp"
#include "support/saved_program.hpp"

using namespace davit;
using programs::item;
using programs::scalar;
using programs::tensor;

namespace {

constexpr auto f32 = ScalarType::float32;

std::string tokens_of(const ExportedProgram& program) {
  const auto lowered = to_backend<compiler_demo>(program);
  return lowered ? std::string(processed_of<compiler_demo>(lowered->methods()[0].delegates[0]).tokens.view())
                 : to_string(lowered.error());
}

/// (x + h) - h
ExportedProgram chain() {
  GraphBuilder b;
  b.begin_graph();
  const auto x = b.input("x", f32, {3});
  const auto h = b.input("h", f32, {3});
  const auto sum = b.call("aten.add.Tensor", {{"self", b.value(x)}, {"other", b.value(h)}}, "add", f32, {3});
  const auto back = b.call("aten.sub.Tensor", {{"self", b.value(sum)}, {"other", b.value(h)}}, "sub", f32, {3});
  b.end_graph({back});
  return programs::user_program(std::move(b).finish());
}

/// Runs tokens that preprocess did not make.
struct Direct {
  compiler_demo::Handle handle;
  compiler_demo::Workspace workspace;
  TextReport report;

  explicit Direct(std::string_view tokens) {
    auto compiled = compiler_demo::compile({Name(tokens)}, {});
    REQUIRE(compiled);
    handle = std::move(*compiled);
  }
  Status run(std::span<const EValue> inputs, std::span<EValue> outputs) {
    NullTracer tracer;
    ExecuteContext<NullTracer, TextReport, compiler_demo::Workspace> context(tracer, report, workspace);
    REQUIRE(compiler_demo::prepare(handle, inputs, workspace));
    return compiler_demo::execute(handle, inputs, outputs, context);
  }
};

struct Events {
  static constexpr bool enabled = true;
  std::vector<std::string> seen;
  void begin_op(DebugHandle handle, std::string_view name) {
    seen.push_back("begin " + std::string(name) + " " + std::to_string(handle));
  }
  void end_op(DebugHandle handle, std::string_view name) {
    seen.push_back("end " + std::string(name) + " " + std::to_string(handle));
  }
  void memory(DebugHandle handle, std::size_t bytes) {
    seen.push_back("memory " + std::to_string(bytes) + " " + std::to_string(handle));
  }
};

}  // namespace

TEST_CASE("F03: a saved demo module loads with the same tokens, and runs: 2 + 1 = 3") {
  const auto lowered = to_backend<compiler_demo>(programs::add(), {"options"});
  REQUIRE(lowered);
  const auto loaded = support::loaded<compiler_demo>(support::saved(*lowered));
  REQUIRE(loaded);
  const LoweredMethod& method = loaded->methods()[0];
  const LoweredDelegate& delegate = method.delegates.at(0);
  CHECK(processed_of<compiler_demo>(delegate).tokens ==
        "aten.add.Tensor:i0:i1<debug_handle>0,return:t0<debug_handle>-1");
  CHECK(spec_of<compiler_demo>(delegate).options == "options");
  REQUIRE(delegate.handle != nullptr);
  REQUIRE(handle_of<compiler_demo>(delegate).instructions.size() == 2);
  CHECK(handle_of<compiler_demo>(delegate).instructions[0].instruction == "aten.add.Tensor");
  CHECK(handle_of<compiler_demo>(delegate).instructions[0].debug_handle == 0);
  Session session = *Session::make(*loaded);
  const Tensor x = scalar(2);
  const Tensor h = scalar(1);
  const auto result = session.call<TensorView>("forward", x, h);
  REQUIRE(result);
  CHECK(*result->as<float>() == 3);
}

TEST_CASE("G01: each lowering numbers its debug handles from 0, since the map belongs to the module") {
  CHECK(tokens_of(programs::add()) == "aten.add.Tensor:i0:i1<debug_handle>0,return:t0<debug_handle>-1");
  CHECK(tokens_of(programs::binary("aten.sub.Tensor")) ==
        "aten.sub.Tensor:i0:i1<debug_handle>0,return:t0<debug_handle>-1");
  CHECK(tokens_of(chain()) ==
        "aten.add.Tensor:i0:i1<debug_handle>0,aten.sub.Tensor:t0:i1<debug_handle>1,return:t1<debug_handle>-1");
}

TEST_CASE("H01: another operator is refused by name, with the model's source line and a caret") {
  const auto lowered = to_backend<compiler_demo>(programs::binary("aten.mul.Tensor", {}, programs::trace_of_mul));
  REQUIRE(!lowered);
  const Error& error = lowered.error();
  CHECK(error.code == ErrorCode::unsupported_operator);
  CHECK(error.stage == Stage::preprocess);
  CHECK(error.backend == "compiler_demo");
  CHECK(error.what == "The node of aten.mul.Tensor is not supported in this compiler");
  CHECK(error.source ==
        "  File \"/home/user/model.py\", line 7, in forward\n    return x * h\n    ~~~~~~~~~~~~ <--- HERE");
}

TEST_CASE("H08: operands with different sizes at run time are a shape error with the model's line, in a session too") {
  GraphBuilder b;  // x[s0] + h[s1]: the original checks the sizes only at run time
  b.begin_graph();
  const auto sized = [&](std::string_view name, std::string_view symbol) {
    const Dim size[] = {{.value = 2, .expr = b.symbol(symbol)}};
    const ValueId v = b.declare({.name = b.text(name), .sizes = b.dims(size), .device = b.intern("cpu"), .dtype = f32});
    return v;
  };
  const auto x = sized("x", "s0");
  const auto h = sized("h", "s1");
  b.input(b.value(x));
  b.input(b.value(h));
  const auto out = sized("add", "s0");
  Argument in[] = {b.value(x), b.value(h)};
  const Argument outs[] = {b.value(out)};
  b.node("aten.add.Tensor", in, outs, b.metadata(programs::trace_of_add, "L__self__,,__main__.M"));
  b.end_graph({out});
  const auto lowered = to_backend<compiler_demo>(programs::user_program(std::move(b).finish()));
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const Tensor two = tensor({2}, {1, 2});
  const Tensor three = tensor({3}, {1, 2, 3});
  const auto failed = session.call<TensorView>("forward", two, three);
  REQUIRE(!failed);
  CHECK(failed.error().code == ErrorCode::invalid_shape);
  CHECK(failed.error().stage == Stage::execute);
  CHECK(failed.error().debug_handle == 0);
  CHECK(failed.error().what == "The operands of aten.add.Tensor have different sizes.");
  CHECK(failed.error().where.view().find("module hierarchy top(M)") != std::string_view::npos);
  CHECK(failed.error().source.view().find("return x + h\n    ~~~~~~~~~~~~ <--- HERE") != std::string_view::npos);
  const auto works = session.call<TensorView>("forward", three, three);  // other sizes than before
  REQUIRE(works);
  CHECK(works->numel() == 3);
  CHECK(works->as<float>()[2] == 6);
}

TEST_CASE("I01: chains and several results run; the original lowers (x + h) - h and cannot run it") {
  const auto lowered = to_backend<compiler_demo>(chain());
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const Tensor x = tensor({3}, {1, 2, 3});
  const Tensor h = tensor({3}, {10, 20, 30});
  const auto result = session.call<TensorView>("forward", x, h);
  REQUIRE(result);
  CHECK(result->as<float>()[0] == 1);
  CHECK(result->as<float>()[2] == 3);

  GraphBuilder b;
  b.begin_graph();
  const auto p = b.input("x", f32, {});
  const auto q = b.input("h", f32, {});
  const auto sum = b.call("aten.add.Tensor", {{"self", b.value(p)}, {"other", b.value(q)}}, "add", f32, {});
  const auto difference = b.call("aten.sub.Tensor", {{"self", b.value(p)}, {"other", b.value(q)}}, "sub", f32, {});
  b.end_graph({sum, difference, p});
  const auto several = to_backend<compiler_demo>(programs::user_program(std::move(b).finish()));
  REQUIRE(several);
  Session tuples = *Session::make(*several);
  const Tensor five = scalar(5);
  const Tensor two = scalar(2);
  const auto all = tuples.call<std::tuple<TensorView, TensorView, TensorView>>("forward", five, two);
  REQUIRE(all);
  CHECK(*std::get<0>(*all).as<float>() == 7);
  CHECK(*std::get<1>(*all).as<float>() == 3);
  CHECK(std::get<2>(*all).data == five.view().data);
}

TEST_CASE("I02: every element counts, whatever the strides; different sizes are refused when lowering") {
  const auto lowered = to_backend<compiler_demo>(programs::add({2, 3}));
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const Tensor x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor h = tensor({2, 3}, {10, 20, 30, 40, 50, 60});
  h.strides = {1, 2};  // column-major: rows (10, 30, 50) and (20, 40, 60)
  const auto result = session.call<TensorView>("forward", x, h);
  REQUIRE(result);
  CHECK(std::vector<float>(result->as<float>(), result->as<float>() + 6) == std::vector<float>{11, 32, 53, 24, 45, 66});

  GraphBuilder b;
  b.begin_graph();
  const auto p = b.input("x", f32, {3});
  const auto q = b.input("h", f32, {1, 1});
  b.end_graph({b.call("aten.add.Tensor", {{"self", b.value(p)}, {"other", b.value(q)}}, "add", f32, {1, 3})});
  const auto refused = to_backend<compiler_demo>(programs::user_program(std::move(b).finish()));
  REQUIRE(!refused);
  CHECK(refused.error().what == "add and sub need operands of equal sizes");
  CHECK(refused.error().debug_handle == 0);
}

TEST_CASE("I03: other dtypes are refused with the original's sentence; alpha is not forgotten") {
  const auto refused =
      to_backend<compiler_demo>(programs::binary("aten.add.Tensor", {}, programs::trace_of_add, ScalarType::float64));
  REQUIRE(!refused);
  CHECK(refused.error().what == "Only float tensors are compatible for add and sub.");
  CHECK(!refused.error().source.empty());

  Direct direct("aten.add.Tensor:i0:i1<debug_handle>4,return:t0<debug_handle>-1");
  const Tensor wide = Tensor::zeros(ScalarType::float64, {});
  const EValue inputs[] = {wide, wide};
  EValue outputs[1];
  const Status status = direct.run(inputs, outputs);
  REQUIRE(!status);
  CHECK(status.error() == Fault(ErrorCode::invalid_dtype, 4));
  CHECK(direct.report.text == "Only float tensors are compatible for add and sub.");

  GraphBuilder b;
  b.begin_graph();
  const auto x = b.input("x", f32, {});
  const auto h = b.input("h", f32, {});
  const auto scaled =
      b.call("aten.add.Tensor", {{"self", b.value(x)}, {"other", b.value(h)}, {"alpha", b.integer(3)}}, "add", f32, {});
  const auto shifted = b.call("aten.sub.Tensor", {{"self", b.value(scaled)}, {"other", b.real(0.5)}}, "sub", f32, {});
  b.end_graph({shifted});
  const auto lowered = to_backend<compiler_demo>(programs::user_program(std::move(b).finish()));
  REQUIRE(lowered);
  CHECK(processed_of<compiler_demo>(lowered->methods()[0].delegates[0]).tokens ==
        "constant:3<debug_handle>0,aten.add.Tensor:i0:i1:t0<debug_handle>0,constant:0.5<debug_handle>1,"
        "aten.sub.Tensor:t1:t2<debug_handle>1,return:t3<debug_handle>-1");
  Session session = *Session::make(*lowered);
  const Tensor two = scalar(2);
  const Tensor five = scalar(5);
  const auto result = session.call<TensorView>("forward", two, five);
  REQUIRE(result);
  CHECK(*result->as<float>() == 16.5f);
}

TEST_CASE("I04: only methods that are asked for are compiled; the original fails on any other one") {
  const ExportedProgram good = programs::add();
  const ExportedProgram bad = programs::binary("aten.mul.Tensor");
  const ProgramMethod methods[] = {{"forward", &good}, {"other", &bad}};
  const MethodCompileSpec<compiler_demo> specs[] = {{"forward", {}}};
  CHECK(to_backend<compiler_demo>(methods, specs));
}

TEST_CASE(
    "I05: in-place operators that cannot become values are refused by name; a method that returns its input runs") {
  CHECK(to_backend<compiler_demo>(programs::binary("aten.add_.Tensor")));
  GraphBuilder b;
  b.begin_graph();
  const ValueId input = b.input("x", ScalarType::float32, {2});
  b.end_graph({b.call("aten.resize_.default", {{"self", b.value(input)}, {"size", b.ints({1})}}, "result",
                      ScalarType::float32, {1})});
  const auto refused = to_backend<compiler_demo>(programs::user_program(std::move(b).finish()));
  REQUIRE(!refused);
  CHECK(refused.error().what == "The node of aten.resize_.default is not supported in this compiler");

  const auto lowered = to_backend<compiler_demo>(programs::identity());
  REQUIRE(lowered);
  CHECK(lowered->methods()[0].delegates.empty());  // no node is left to the backend
  Session session = *Session::make(*lowered);
  const Tensor x = scalar(4);
  const auto result = session.call<TensorView>("forward", x);
  REQUIRE(result);
  CHECK(*result->as<float>() == 4);

  Direct direct("<debug_handle>-1,return<debug_handle>-1");
  const Status status = direct.run({}, {});
  REQUIRE(!status);
  CHECK(status.error().code() == ErrorCode::unsupported_operator);
  CHECK(direct.report.text == "Instruction,  is not supported. Contact the backend POC for details. ");
}

TEST_CASE("J01: a tracer gets each operator with its debug handle, and the bytes of its result") {
  const auto lowered = to_backend<compiler_demo>(chain());
  REQUIRE(lowered);
  Events events;
  Session session = *Session::make(*lowered, {.tracer = TracerRef(events)});
  const Tensor x = tensor({3}, {1, 2, 3});
  REQUIRE(session.call<TensorView>("forward", x, x));
  CHECK(events.seen == std::vector<std::string>{"begin aten.add.Tensor 0", "end aten.add.Tensor 0", "memory 12 0",
                                                "begin aten.sub.Tensor 1", "end aten.sub.Tensor 1", "memory 12 1"});
}

TEST_CASE("parameters and constants travel in the tokens") {
  GraphBuilder b;
  b.begin_graph();
  const auto p = b.input("p_w", f32, {2, 2});
  const auto c = b.input("c_k", f32, {2, 2});
  const auto x = b.input("x", f32, {2, 2});
  const auto sum = b.call("aten.add.Tensor", {{"self", b.value(x)}, {"other", b.value(p)}}, "add", f32, {2, 2});
  const auto out = b.call("aten.sub.Tensor", {{"self", b.value(sum)}, {"other", b.value(c)}}, "sub", f32, {2, 2});
  b.end_graph({out, p});
  ExportedProgram program;
  program.graph_module = std::move(b).finish();
  program.signature = {.input_specs = {InputToParameterSpec({"p_w"}, "w"), InputToTensorConstantSpec({"c_k"}, "k"),
                                       UserInputSpec{TensorArgument{"x"}}},
                       .output_specs = {UserOutputSpec{TensorArgument{"sub"}}, UserOutputSpec{TensorArgument{"p_w"}}}};
  const float infinity = std::numeric_limits<float>::infinity();
  program.state_dict.push_back({"w", tensor({2, 2}, {0.1f, 1e-30f, -3, infinity})});
  program.constants.push_back({"k", tensor({2, 2}, {1, 2, 3, 4})});
  program.constants.back().tensor.strides = {1, 2};
  const auto lowered = to_backend<compiler_demo>(program);
  REQUIRE(lowered);
  CHECK(processed_of<compiler_demo>(lowered->methods()[0].delegates[0])
            .tokens.view()
            .starts_with("constant:2x2:0.1 1e-30 -3 inf<debug_handle>-1,constant:2x2:1 3 2 4<debug_handle>-1,"));
  const auto loaded = support::loaded<compiler_demo>(support::saved(*lowered));
  REQUIRE(loaded);
  Session session = *Session::make(*loaded);
  const Tensor in = tensor({2, 2}, {10, 10, 10, 10});
  const auto result = session.call<std::tuple<TensorView, TensorView>>("forward", in);
  REQUIRE(result);
  const float* values = std::get<0>(*result).as<float>();
  CHECK(std::vector<float>(values, values + 4) == std::vector<float>{10.1f - 1, 7, 5, infinity});
  CHECK(std::get<1>(*result).as<float>()[0] == 0.1f);
}

TEST_CASE("damaged tokens are an error with the token") {
  for (const std::string_view tokens :
       {"", "return", "return<debug_handle>", "return<debug_handle>x", "return:t0<debug_handle>-1",
        "return:q0<debug_handle>-1", "return:<debug_handle>-1x", "aten.add.Tensor:i0:i1<debug_handle>0",
        "aten.add.Tensor:i0<debug_handle>0,return<debug_handle>-1", "return<debug_handle>-1,return<debug_handle>-1",
        "constant:x<debug_handle>0,return<debug_handle>-1", "constant:2:1<debug_handle>0,return<debug_handle>-1",
        "constant:-1:<debug_handle>0,return<debug_handle>-1",
        "constant:99999999999:1<debug_handle>0,return<debug_handle>-1",
        "constant:9999999999x9999999999x9999999999:1<debug_handle>0,return<debug_handle>-1", ",,,",
        "<debug_handle><debug_handle>", "aten.add.Tensor:i99999999999:i0<debug_handle>0,return:t0<debug_handle>-1"}) {
    CAPTURE(tokens);
    const auto compiled = compiler_demo::compile({Name(tokens)}, {});
    REQUIRE(!compiled);
    CHECK(compiled.error().code == ErrorCode::corrupt_data);
    CHECK(compiled.error().stage == Stage::compile);
    CHECK(!compiled.error().where.empty());
  }
  Direct direct(
      "constant:1<debug_handle>0,constant:2<debug_handle>0,aten.add.Tensor:t0:t1<debug_handle>7,return:t2<debug_handle>"
      "-1");
  EValue outputs[1];
  CHECK(direct.run({}, outputs).error() == Fault(ErrorCode::invalid_dtype, 7));
  Direct missing("aten.add.Tensor:i5:i6<debug_handle>7,return:t0<debug_handle>-1");
  CHECK(missing.run({}, outputs).error() == Fault(ErrorCode::invalid_dtype, 7));
  Direct results("return<debug_handle>-1");
  CHECK(results.run({}, outputs).error().code() == ErrorCode::invalid_argument);
}

TEST_CASE("the demo keeps the laws of a backend") {
  const Tensor x = tensor({3}, {1, 2, 3});
  const Tensor h = tensor({3}, {0.5f, -1, 7});
  const EValue first[] = {x, h};
  const EValue second[] = {h, h};
  const testing::SampleInputs samples[] = {first, second};
  CHECK(testing::check_backend_laws<compiler_demo>(
      chain(), {"spec"}, samples,
      [](std::string_view law, std::string_view what) { FAIL_CHECK(law << ": " << what); }));

  const ExportedProgram counter = programs::counter(10);
  const Tensor one = scalar(1);
  const Tensor two = scalar(2);
  const EValue a[] = {one};
  const EValue c[] = {two};
  const testing::SampleInputs calls[] = {a, c, a};
  CHECK(testing::check_backend_laws<compiler_demo>(
      counter, {}, calls, [](std::string_view law, std::string_view what) { FAIL_CHECK(law << ": " << what); }));
}
