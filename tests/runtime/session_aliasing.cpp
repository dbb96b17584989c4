// SPDX-License-Identifier: MIT
// Where a Session's values lie in one memory: outputs that are fed back, backends that answer views, in-place writes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../support/error_in.hpp"
#include "../support/toy_backend.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"

using namespace davit;
using support::B, support::ByHand, support::Draft, support::error_in, support::Toys;
using Floats = std::vector<float>;

namespace {

Session session_of(Result<LoweredProgram> lowered) {
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  return *Session::make(*std::move(lowered));
}

/// x @ x of a square matrix.
ExportedProgram squaring() {
  Draft d;
  const ValueId x = d.user("x", {2, 2});
  d.output(d.op("aten.mm.default", "mm", x, {x}));
  return d.finish();
}

struct other : portable {
  static constexpr std::string_view name = "other";
};

/// A backend with one operator, neg, whose result is its input unchanged.
struct viewer {
  static constexpr std::string_view name = "viewer";
  struct CompileSpec {};
  struct Processed {};
  struct Handle {};
  static bool is_available() { return true; }
  static const char* refuses(GraphModuleView graph, NodeId node) {
    return graph.target(graph.nodes[node]) == "aten.neg.default" ? nullptr : "no view";
  }
  static Result<Processed> preprocess(const Method&, const CompileSpec&, DebugHandleRecorder&) { return Processed{}; }
  static Result<Handle> compile(const Processed&, const CompileSpec&) { return Handle{}; }
  template <class Context>
  static Status execute(const Handle&, std::span<const EValue> inputs, std::span<EValue> outputs, Context&) {
    outputs[0] = inputs[0];
    return {};
  }
};

}  // namespace

TEST_CASE("an output that is fed back is read before it is overwritten") {
  const Tensor x = programs::tensor({2, 2}, {1, 1, 0, 1});
  Session session = session_of(to_backend<portable>(squaring()));
  EValue value = x;
  for (const float wanted : {2.f, 4.f, 8.f, 16.f}) {
    const EValue inputs[] = {value};
    auto out = session.run(0, inputs);
    REQUIRE(out);
    CHECK(support::elements((*out)[0]) == Floats{1, wanted, 0, 1});
    value = EValue((*out)[0].value());
  }
  // a row of the output, through a view of the caller's
  REQUIRE(session.run("forward", x));
  const auto again = session.run("forward", x);
  REQUIRE(again);
  const TensorView whole = (*again)[0].value().tensor();
  const std::int64_t strides[] = {1, 2};
  const TensorView turned{whole.data, whole.sizes_data, strides, 2, whole.dtype};
  const auto squared = session.run("forward", EValue(turned));
  REQUIRE(squared);
  CHECK(support::elements((*squared)[0]) == Floats{1, 0, 4, 1});
}

TEST_CASE("an output that is fed back into a method of several partitions, one of which makes something in its place") {
  Draft d;
  const ValueId x = d.user("x", {2});
  const ValueId a = d.add("a", x, 1.0);
  const ValueId b = d.mul("b", a, 2.0);
  d.output(d.add("out", b, x));
  const ExportedProgram program = d.finish();
  using List = BackendList<portable, other>;
  Session session =
      session_of(to_backend(program, ByHand<List>(program.view(), {{0, {"a"}}, {1, {"b"}}, {0, {"out"}}})));
  const Tensor first = programs::tensor({2}, {1, 2});
  EValue value = first;
  for (const Floats& wanted : {Floats{5, 8}, Floats{17, 26}, Floats{53, 80}}) {
    const auto out = session.run("forward", value);
    REQUIRE(out);
    CHECK(support::elements((*out)[0]) == wanted);
    value = EValue((*out)[0].value());
  }
}

TEST_CASE("an output that is fed back keeps its sizes while the run makes others, also if it has no elements") {
  Draft d;
  const ExprId s0 = d.b.symbol("s0");
  const ValueId x = d.user("x", s0, 3);
  const auto row = [&](std::string_view name, std::int64_t rows, ExprId size) {
    return d.b.declare({.name = d.b.text(name),
                        .sizes = d.b.dims(std::vector<Dim>{{.value = rows}, {.value = 3, .expr = size}}),
                        .dtype = ScalarType::float32});
  };
  const ValueId k = row("k", 1, d.b.symbol("s1"));
  d.b.input(d.b.value(k));
  d.program.signature.input_specs.push_back(UserInputSpec{TensorArgument{"k"}});
  const ValueId e = d.user("e", {0, 1});
  const ValueId seen_row = row("seen", 1, s0), wide = row("wide", 0, s0);
  d.node("aten.unsqueeze.default", {d.b.value(x), d.b.integer(0)}, {seen_row});
  d.node("aten.add.Tensor", {d.b.value(e), d.b.value(x)}, {wide});
  d.output(seen_row);
  d.output(d.mul("twice", k, 2.0));
  d.output(wide);
  d.output(e);
  Session session = session_of(to_backend<portable>(d.finish()));
  const Tensor one = programs::tensor({1}, {1}), two = programs::tensor({1, 2}, {1, 2}),
               five = programs::tensor({5}, {1, 2, 3, 4, 5}), none = programs::tensor({0, 1}, {});
  const auto first = session.run("forward", one, two, none);
  REQUIRE_MESSAGE(first, (first ? std::string() : to_string(first.error())));
  const EValue seen = (*first)[0].value(), empty = (*first)[2].value();
  for (int run = 0; run < 2; ++run) {
    const auto again = session.run("forward", five, seen, empty);
    REQUIRE_MESSAGE(again, (again ? std::string() : to_string(again.error())));
    CHECK(support::elements((*again)[1]) == Floats{2});
    CHECK((*again)[2].value().tensor().size(1) == 5);
    CHECK((*again)[3].value().tensor().size(1) == 1);
    if (run == 0) REQUIRE(session.run("forward", one, two, none));
  }
}

TEST_CASE("an output that views an argument, and is fed back, keeps its strides while the run makes others") {
  Draft d;
  const ValueId total = d.buffer("total", 1);
  const ValueId x = d.user("x", {2, 2});
  const ValueId shown = d.b.tensor("shown", ScalarType::float32, {});
  d.node("aten.as_strided.default", {d.b.value(total), d.b.ints({}), d.b.ints({})},
         {shown});  // storage matters: views stay views
  d.op("aten.add_.Tensor", "add_", shown, {1.0});
  const ValueId turned = d.b.tensor("turned", ScalarType::float32, {2, 2});
  d.node("aten.transpose.int", {d.b.value(x), d.b.integer(0), d.b.integer(1)}, {turned});
  d.output(turned);
  d.output(d.sub("difference", turned, x));
  const ExportedProgram program = d.finish();
  using List = BackendList<portable, other>;
  const auto check = [](Session session) {
    const Tensor first = programs::tensor({2, 2}, {1, 2, 5, 9});
    EValue value = first;
    for (const float sign : {1.f, -1.f, 1.f, -1.f}) {
      const auto out = session.run("forward", value);
      REQUIRE(out);
      value = EValue((*out)[0].value());
      CHECK(value.tensor().data == first.view().data);
      CHECK(support::elements((*out)[1]) == Floats{0, 3 * sign, -3 * sign, 0});
    }
  };
  check(session_of(to_backend<portable>(program)));
  check(session_of(to_backend(
      program, ByHand<List>(program.view(), {{0, {"shown", "add_"}}, {1, {"turned"}}, {0, {"difference"}}}))));
}

TEST_CASE("the memory of an input that a backend's result views is not reused while the result is needed") {
  Draft d;
  const ValueId x = d.user("x", {2});
  const ValueId a = d.add("a", x, 1.0);
  const ValueId v = d.neg("v", a);
  const ValueId m = d.mul("m", x, 10.0);
  d.output(d.add("out", v, m));
  const ExportedProgram program = d.finish();
  using List = BackendList<portable, viewer, other>;
  Session session =
      session_of(to_backend(program, ByHand<List>(program.view(), {{0, {"a"}}, {1, {"v"}}, {2, {"m"}}, {0, {"out"}}})));
  const Tensor one = programs::tensor({2}, {1, 2});
  const auto out = session.run("forward", one);
  REQUIRE(out);
  CHECK(support::elements((*out)[0]) == Floats{12, 23});
  CHECK(session.plan(0).is_sound());
}

TEST_CASE("a run that fails behind the write to a user input, in the same partition, leaves that as it was") {
  for (const bool by_view : {false, true}) {  // functionalization takes the write away, or leaves it
    CAPTURE(by_view);
    Draft d;
    const ValueId buf = d.buffer("buf", programs::tensor({4}, {5, 5, 5, 5}));
    const ValueId x = d.user("x", {4});
    d.program.signature.input_specs.push_back(UserInputSpec{TensorArgument{"i"}});
    const ValueId i = d.b.input("i", ScalarType::int64, {1});
    ValueId seen = x;
    if (by_view) {
      seen = d.b.tensor("seen", ScalarType::float32, {4});
      d.node("aten.as_strided.default", {d.b.value(x), d.b.ints({4}), d.b.ints({1})}, {seen});
    }
    d.op("aten.add_.Tensor", "add_", seen, {1.0});
    d.op("aten.add_.Tensor", "count", buf, {1.0});
    const ValueId taken = d.b.tensor("taken", ScalarType::float32, {1});
    d.node("aten.index_select.default", {d.b.value(x), d.b.integer(0), d.b.value(i)}, {taken});
    d.output(taken);
    d.output(d.mul("twice", buf, 2.0));
    Session session = session_of(to_backend<portable>(d.finish()));
    const Tensor value = programs::tensor({4}, {1, 2, 3, 4});
    const std::int64_t one[] = {1};
    Tensor index = Tensor::zeros(ScalarType::int64, one);
    std::int64_t& at = *index.view().as<std::int64_t>();
    for (int run = 0; run < 3; ++run) {
      at = 4;
      CHECK(error_in(session.run("forward", value, index)).code == ErrorCode::out_of_range);
      const auto first = static_cast<float>(1 + run);
      CHECK(support::elements(value.view()) == Floats{first, first + 1, first + 2, first + 3});
      at = 2;
      const auto out = session.run("forward", value, index);
      REQUIRE(out);
      CHECK(support::elements((*out)[0]) == Floats{first + 3});
      CHECK(support::elements((*out)[1])[0] == 2 * (6 + static_cast<float>(run)));
      CHECK(support::elements(value.view()) == Floats{first + 1, first + 2, first + 3, first + 4});
    }
  }
}

TEST_CASE(
    "a run that fails after an operator wrote to a user input leaves that as it was; a successful one changes it") {
  const Toys toys;
  using List = BackendList<portable, B>;
  Draft d;
  const ValueId x = d.user("x", {4});
  const ValueId seen = d.b.tensor("seen", ScalarType::float32, {2});
  d.node("aten.as_strided.default", {d.b.value(x), d.b.ints({2}), d.b.ints({2})}, {seen});
  d.op("aten.copy_.default", "copy_", seen, {d.add("more", seen, 1.0)});
  d.output(d.mul("out", x, 2.0));
  d.output(x);
  const ExportedProgram program = d.finish();
  Session session =
      session_of(to_backend(program, ByHand<List>(program.view(), {{0, {"seen", "more", "copy_"}}, {1, {"out"}}})));
  const Tensor value = programs::tensor({4}, {1, 2, 3, 4});
  B::state.fail_at = 0;
  CHECK(error_in(session.run("forward", value)).what == "it was told to fail");
  CHECK(support::elements(value.view()) == Floats{1, 2, 3, 4});
  const auto out = session.run("forward", value);
  REQUIRE(out);
  CHECK(support::elements((*out)[0]) == Floats{4, 4, 8, 8});
  CHECK(support::elements(value.view()) == Floats{2, 2, 4, 4});
  CHECK((*out)[1].value().tensor().data == value.view().data);  // the caller's tensor is returned, not copied
}

TEST_CASE("a symbolic int among the inputs: sizes follow it from run to run, and its range is checked") {
  Draft d;
  const ExprId s0 = d.b.symbol("s0");
  const ValueId x = d.user("x", {1});
  const ValueId n = d.b.declare({.name = d.b.text("n"), .constant = 3, .expr = s0, .kind = ValueKind::sym_int});
  d.b.input(d.b.value(n));
  d.program.signature.input_specs.push_back(UserInputSpec{SymIntArgument{"n"}});
  const ValueId wide = d.sized("wide", s0, 3);
  const Argument size[] = {d.b.value(n)};
  d.node("aten.expand.default", {d.b.value(x), d.b.list(size, ArgumentKind::value)}, {wide});
  d.output(d.mul("out", wide, 2.0));
  d.program.range_constraints.push_back({"s0", 2, 10});
  Session session = session_of(to_backend<portable>(d.finish()));
  const Tensor value = programs::tensor({1}, {1.5});
  for (const int count : {3, 5, 2, 10}) {
    const auto out = session.run("forward", value, count);
    REQUIRE_MESSAGE(out, (out ? std::string() : to_string(out.error())));
    CHECK(support::elements((*out)[0]) == Floats(static_cast<std::size_t>(count), 3));
  }
  for (const int count : {99, 1}) CHECK(error_in(session.run("forward", value, count)).fix == "keep s0=2..10");
}

TEST_CASE("as_strided's storage offset counts from the start of the storage") {
  Draft d;
  const ValueId x = d.user("x", {6});
  const ValueId part = d.b.tensor("part", ScalarType::float32, {3});
  d.node("aten.slice.Tensor", {d.b.value(x), d.b.integer(0), d.b.integer(3), d.b.integer(6)}, {part});
  const ValueId from_start = d.b.tensor("from_start", ScalarType::float32, {2});
  d.node("aten.as_strided.default", {d.b.value(part), d.b.ints({2}), d.b.ints({2}), d.b.integer(1)}, {from_start});
  const ValueId from_own = d.b.tensor("from_own", ScalarType::float32, {2});
  d.node("aten.as_strided.default", {d.b.value(part), d.b.ints({2}), d.b.ints({2})}, {from_own});
  d.output(from_start);
  d.output(from_own);
  Session session = session_of(to_backend<portable>(d.finish()));
  const Tensor value = programs::tensor({6}, {0, 1, 2, 3, 4, 5});
  const auto out = session.run("forward", value);
  REQUIRE(out);
  CHECK(support::elements((*out)[0]) == Floats{1, 3});
  CHECK(support::elements((*out)[1]) == Floats{3, 5});
}

TEST_CASE("a view whose arguments are named, a symbolic size before self, keeps self's memory") {
  Draft d;
  const ExprId s0 = d.b.symbol("s0");
  const ValueId x = d.user("x", s0, 3);
  const ValueId n = d.b.declare({.name = d.b.text("n"), .constant = 3, .expr = s0, .kind = ValueKind::sym_int});
  d.node("aten.sym_size.int", {d.b.value(x), d.b.integer(0)}, {n});
  const ValueId a = d.op("aten.add.Tensor", "a", x, {1.0});
  const ValueId v = d.sized("v", s0, 3);
  const Argument size[] = {d.b.value(n)};
  Argument sizes = d.b.list(size, ArgumentKind::value);
  sizes.name = d.b.text("size");
  Argument self = d.b.value(a);
  self.name = d.b.text("self");
  d.node("aten.view.default", {sizes, self}, {v});
  const ValueId m = d.op("aten.mul.Tensor", "m", x, {10.0});
  d.output(d.add("out", v, m));
  Session session = session_of(to_backend<portable>(d.finish()));
  const Tensor value = programs::tensor({3}, {1, 2, 3});
  const auto out = session.run("forward", value);
  REQUIRE(out);
  CHECK(support::elements((*out)[0]) == Floats{12, 23, 34});
}

namespace {

/// A tensor of zeros like x that x's elements are copied to.
ValueId fresh_copy(Draft& d, std::string_view name, ValueId x) {
  return d.op("aten.copy_.default", name, d.op("aten.zeros_like.default", std::string(name) + "_to", x), {x});
}

/// Values of the outputs and of changed buffers after the caller's tensor was overwritten and freed.
std::vector<Floats> kept(const ExportedProgram& program, const Partitioner auto& partitioner) {
  Session session = session_of(to_backend(program, partitioner));
  std::optional<Tensor> x = programs::tensor({2, 2}, {1, 2, 3, 4});
  const auto out = session.run("forward", *x);
  REQUIRE_MESSAGE(out, (out ? std::string() : to_string(out.error())));
  std::ranges::fill(std::span(x->view().as<float>(), 4), 99.0f);
  x.reset();
  std::vector<Floats> all;
  for (const Output& each : *out) all.push_back(support::elements(each));
  for (const Output& each : out->mutations()) all.push_back(support::elements(each));
  return all;
}
std::vector<Floats> kept(const ExportedProgram& program) {
  std::vector<Floats> whole = kept(program, CapabilityPartitioner<BackendList<portable>>());
  CHECK(kept(program, CapabilityPartitioner<BackendList<other, portable>>()) == whole);
  return whole;
}

}  // namespace

TEST_CASE("a copy in the program's own tensor does not share the caller's memory") {
  const Floats x{1, 2, 3, 4};
  {
    Draft d;
    d.output(fresh_copy(d, "c", d.user("x", {2, 2})));
    CHECK(kept(d.finish()) == std::vector<Floats>{x});
  }
  {  // two copies, the second from the first
    Draft d;
    const ValueId first = fresh_copy(d, "c", d.user("x", {2, 2}));
    d.output(first);
    d.output(fresh_copy(d, "e", first));
    CHECK(kept(d.finish()) == std::vector<Floats>{x, x});
  }
  {  // all of it as a slice; the output is the whole or the part
    for (const bool part : {false, true}) {
      Draft d;
      const ValueId in = d.user("x", {2, 2}), to = d.op("aten.zeros_like.default", "to", in), v = d.like(in, "v");
      d.node("aten.slice.Tensor", {d.b.value(to), d.b.integer(0), d.b.integer(0), d.b.integer(INT64_MAX)}, {v});
      const ValueId written = d.op("aten.copy_.default", "written", v, {in});
      d.output(part ? written : to);
      CHECK(kept(d.finish()) == std::vector<Floats>{x});
    }
  }
  {  // broadcast
    Draft d;
    const ValueId in = d.user("x", {2, 2}), to = d.b.tensor("to", ScalarType::float32, {3, 2, 2});
    d.node("aten.zeros.default", {d.b.ints({3, 2, 2})}, {to});
    d.output(d.op("aten.copy_.default", "c", to, {in}));
    CHECK(kept(d.finish()) == std::vector<Floats>{{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}});
  }
  {  // in a branch
    Draft d;
    const ValueId in = d.user("x", {2, 2}), one = d.b.tensor("one", ScalarType::bool_, {});
    d.node("aten.any.default", {d.b.value(d.gt("p", in, 0.0))}, {one});
    d.output(d.cond(
        "c", one, {in}, [&](auto operands) { return fresh_copy(d, "c", operands[0]); },
        [&](auto operands) { return d.neg("n", operands[0]); }, {2, 2}));
    CHECK(kept(d.finish()) == std::vector<Floats>{x});
  }
  {  // a buffer, returned or not
    for (const bool returned : {false, true}) {
      Draft d;
      const ValueId buffer = d.buffer("b", programs::tensor({2, 2}, {0, 0, 0, 0})), in = d.user("x", {2, 2});
      d.op("aten.copy_.default", "c", buffer, {in});
      d.output(returned ? buffer : d.neg("n", in));
      CHECK(kept(d.finish()) == std::vector<Floats>{returned ? x : Floats{-1, -2, -3, -4}, x});
    }
  }
  {  // the form of run_decompositions: the buffer's new value is the input
    Draft d;
    d.buffer("b", programs::tensor({2, 2}, {0, 0, 0, 0}));
    const ValueId in = d.user("x", {2, 2});
    d.mutate_buffer("b", in);
    d.output(in);
    CHECK(kept(d.finish()) == std::vector<Floats>{x, x});
  }
}

TEST_CASE("a user input that takes another one's elements is seen after that is gone") {
  Draft d;
  const ValueId x = d.user("x", {2}), y = d.user("y", {2});
  d.mutate_input("x", y);
  d.output(d.neg("n", x));
  Session session = session_of(to_backend<portable>(d.finish()));
  const Tensor to = programs::tensor({2}, {1, 2});
  std::optional<Tensor> from = programs::tensor({2}, {3, 4});
  const EValue inputs[] = {to, *from};
  const auto out = session.run(0, inputs);
  REQUIRE(out);
  from.reset();
  CHECK(support::elements(out->mutations()["x"]) == Floats{3, 4});
  CHECK(support::elements(to.view()) == Floats{3, 4});
}
