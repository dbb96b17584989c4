// SPDX-License-Identifier: MIT
#include "davit/lowering/functionalize.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "../support/toy_backend.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/verify.hpp"
#include "davit/runtime/session.hpp"

using namespace davit;
using support::A;
using support::Draft;
using support::Toys;
using Floats = std::vector<float>;

namespace {

/// The targets of a program's nodes, without "aten.", separated by blanks.
std::string targets(const ExportedProgram& program) {
  std::string all;
  const GraphModuleView graph = program.view();
  for (const Node& node : graph.nodes)
    all += std::string(all.empty() ? "" : " ") + std::string(graph.target(node).substr(5));
  return all;
}
ExportedProgram functional(const ExportedProgram& program) {
  std::optional<ExportedProgram> out = functionalize(program);
  REQUIRE(out);
  for (const Error& violation : verify(*out)) FAIL_CHECK(to_string(violation));
  return *std::move(out);
}
ValueId view(Draft& d, std::string_view target, std::initializer_list<Argument> inputs, std::string_view name,
             support::Sizes sizes) {
  const ValueId v = d.b.tensor(name, ScalarType::float32, sizes);
  d.node(target, inputs, {v});
  return v;
}
/// Runs `program` on portable alone; the outputs, then what x holds.
std::vector<Floats> run(const ExportedProgram& program, const Tensor& x) {
  auto lowered = to_backend<portable>(program);
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  Session session = *Session::make(*lowered);
  const auto out = session.run("forward", x);
  REQUIRE_MESSAGE(out, (out ? std::string() : to_string(out.error())));
  std::vector<Floats> all;
  for (const EValue& value : out->all()) all.push_back(support::elements(value));
  all.push_back(support::elements(x.view()));
  return all;
}

}  // namespace

TEST_CASE("a program without in-place operators is not copied") {
  Draft d;
  d.output(d.relu("r", d.user("x")));
  CHECK(!functionalize(d.finish()));
}

TEST_CASE("an in-place operator on a value of the program becomes the operator without the underscore") {
  Draft d;
  const ValueId x = d.user("x", {2});
  const ValueId a = d.add("a", x, 1.0);
  const ValueId r = d.op("aten.mul_.Tensor", "mul_", a, {x});
  d.op("aten.relu_.default", "relu_", r);
  d.op("aten.detach_.default", "detach_", a);
  d.output(d.add("out", a, r));
  d.program.guards = {.nodes = {{.op = GuardOp::stride, .a = 0, .b = 0}}, .roots = {0}};
  const ExportedProgram program = d.finish();
  const ExportedProgram made = functional(program);
  CHECK(made.guards == program.guards);
  CHECK(targets(made) == "add.Tensor mul.Tensor relu.default detach.default add.Tensor");
  CHECK(made.signature == program.signature);
  CHECK(run(program, programs::tensor({2}, {2, -1})) == std::vector<Floats>{{12, 0}, {2, -1}});
}

TEST_CASE("an operator that changes its tensor's form in place becomes a view: writes through it reach its aliases") {
  Draft d;
  const ValueId a = d.add("a", d.user("x", {2}), 1.0);
  const ValueId u = view(d, "aten.unsqueeze_.default", {d.b.value(a), d.b.integer(0)}, "unsqueeze_", {1, 2});
  const ValueId t =
      view(d, "aten.transpose_.default", {d.b.value(u), d.b.integer(0), d.b.integer(1)}, "transpose_", {2, 1});
  view(d, "aten.mul_.Tensor", {d.b.value(t), d.b.real(3)}, "mul_", {2, 1});
  d.output(d.add("out", a, 1.0));
  d.output(view(d, "aten.squeeze_.dim", {d.b.value(t), d.b.integer(1)}, "squeeze_", {2}));
  CHECK(run(d.finish(), programs::tensor({2}, {2, -1})).front() == Floats{10, 1});
}
TEST_CASE("views of that kind alone: nothing is written") {
  Draft d;
  const ValueId a = d.add("a", d.user("x", {2}), 1.0);
  d.output(view(d, "aten.unsqueeze_.default", {d.b.value(a), d.b.integer(-1)}, "unsqueeze_", {2, 1}));
  CHECK(targets(*functionalize(d.finish())) == "add.Tensor unsqueeze.default");
}

TEST_CASE("dropout_ calls its tensor self, dropout calls it input") {
  Draft d;
  const ValueId x = d.user("x", {2});
  Argument self = d.b.value(d.add("a", x, 1.0));
  self.name = d.b.text("self");
  d.output(view(d, "aten.dropout_.default", {self, d.b.real(0.5), d.b.boolean(false)}, "dropout_", {2}));
  CHECK(run(d.finish(), programs::tensor({2}, {2, 5})) == std::vector<Floats>{{3, 6}, {2, 5}});
}

TEST_CASE("a write to a user input is a mutation that the caller's interface does not list") {
  Draft d;
  const ValueId x = d.user("x", {2});
  d.op("aten.add_.Tensor", "add_", x, {1.0});
  d.output(d.mul("out", x, 2.0));
  d.output(x);
  const ExportedProgram program = d.finish();
  const ExportedProgram made = functional(program);
  REQUIRE(made.signature.output_specs.size() == 3);
  CHECK(kind(made.signature.output_specs[0]) == OutputKind::user_input_mutation);
  CHECK(*target(made.signature.output_specs[0]) == "x");
  auto lowered = to_backend<portable>(program);
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const Tensor x0 = programs::tensor({2}, {1, 2});
  const auto out = session.run("forward", x0);
  REQUIRE(out);
  CHECK(out->all().size() == 2);
  CHECK(support::elements((*out)["out"].value()) == Floats{4, 6});
  CHECK(support::elements((*out)["x"].value()) == Floats{2, 3});
  CHECK(support::elements(out->mutations()["x"].value()) == Floats{2, 3});
  CHECK(support::elements(x0.view()) == Floats{2, 3});
}

TEST_CASE("a write through views makes a new base, and recomputes other views") {
  Draft d;
  const ValueId x = d.user("x", {2, 3});
  const ValueId turned =
      view(d, "aten.transpose.int", {d.b.value(x), d.b.integer(0), d.b.integer(1)}, "turned", {3, 2});
  const ValueId flat = view(d, "aten.reshape.default", {d.b.value(x), d.b.ints({6})}, "flat", {6});
  const ValueId row = view(d, "aten.select.int", {d.b.value(turned), d.b.integer(0), d.b.integer(1)}, "row", {2});
  d.op("aten.add_.Tensor", "add_", row, {10.0});
  d.output(d.neg("negated", flat));
  d.output(row);
  const ExportedProgram program = d.finish();
  CHECK(targets(functional(program)) ==
        "transpose.int reshape.default select.int add.Tensor select_scatter.default transpose.int reshape.default "
        "neg.default");
  CHECK(run(program, programs::tensor({2, 3}, {0, 1, 2, 3, 4, 5})) ==
        std::vector<Floats>{{0, -11, -2, -3, -14, -5}, {11, 14}, {0, 11, 2, 3, 14, 5}});
}

TEST_CASE("writes through slices, lists of views, permutations and views that add or drop dimensions") {
  Draft d;
  const ValueId x = d.user("x", {2, 4});
  const ValueId first = d.b.tensor("first", ScalarType::float32, {2, 3});
  const ValueId second = d.b.tensor("second", ScalarType::float32, {2, 1});
  const Argument lists[] = {d.b.tensors({first, second})};
  const Argument split[] = {d.b.value(x), d.b.integer(3), d.b.integer(1)};
  d.b.node("aten.split.Tensor", split, lists);
  d.op("aten.fill_.Scalar", "fill_", second, {9.0});
  const ValueId part =
      view(d, "aten.slice.Tensor", {d.b.value(first), d.b.integer(1), d.b.integer(0), d.b.integer(3), d.b.integer(2)},
           "part", {2, 2});
  const ValueId wide = view(d, "aten.unsqueeze.default", {d.b.value(part), d.b.integer(0)}, "wide", {1, 2, 2});
  const ValueId turned = view(d, "aten.permute.default", {d.b.value(wide), d.b.ints({1, 2, 0})}, "turned", {2, 2, 1});
  d.op("aten.mul_.Tensor", "mul_", turned, {10.0});
  const ValueId rows0 = d.b.tensor("rows0", ScalarType::float32, {4});
  const ValueId rows1 = d.b.tensor("rows1", ScalarType::float32, {4});
  const Argument rows[] = {d.b.tensors({rows0, rows1})};
  const Argument unbind[] = {d.b.value(x)};
  d.b.node("aten.unbind.int", unbind, rows);
  d.op("aten.copy_.default", "copy_", rows1, {rows0});
  d.output(first);
  CHECK(run(d.finish(), programs::tensor({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})) ==
        std::vector<Floats>{{10, 2, 30, 10, 2, 30}, {10, 2, 30, 9, 10, 2, 30, 9}});
}

TEST_CASE("writes through diagonals") {
  Draft d;
  const ValueId x = d.user("x", {2, 3});
  const ValueId above = view(d, "aten.diagonal.default", {d.b.value(x), d.b.integer(1)}, "above", {2});
  d.op("aten.fill_.Scalar", "fill_", above, {9.0});
  const ValueId turned =
      view(d, "aten.transpose.int", {d.b.value(x), d.b.integer(0), d.b.integer(1)}, "turned", {3, 2});
  const ValueId main = view(d, "aten.diagonal.default",
                            {d.b.value(turned), d.b.integer(0), d.b.integer(-1), d.b.integer(0)}, "main", {2});
  d.op("aten.mul_.Tensor", "mul_", main, {10.0});
  d.output(above);
  const ExportedProgram program = d.finish();
  REQUIRE(functionalize(program));
  CHECK(run(program, programs::tensor({2, 3}, {1, 2, 3, 4, 5, 6})) ==
        std::vector<Floats>{{9, 9}, {10, 9, 3, 4, 50, 9}});
}

TEST_CASE("copy_ takes its source's elements, with self's sizes and dtype; a result of another dtype is cast back") {
  Draft d;
  const ValueId x = d.user("x", {2});
  const ValueId half = d.b.tensor("half", ScalarType::float16, {2});
  Argument dtype = d.b.scalar_type(ScalarType::float16);
  dtype.name = d.b.text("dtype");
  d.node("aten._to_copy.default", {d.b.value(x), dtype}, {half});
  const ValueId sum = d.op("aten.add_.Tensor", "add_", half, {x}, ScalarType::float16);
  const ValueId row = view(d, "aten.select.int", {d.b.value(x), d.b.integer(0), d.b.integer(0)}, "row", {});
  d.op("aten.copy_.default", "copy_", x, {sum});
  d.op("aten.copy_.default", "copy__1", x, {row});
  d.op("aten.gt_.Scalar", "gt_", x, {2.0});
  d.output(d.add("out", x, row));
  const ExportedProgram program = d.finish();
  CHECK(targets(functional(program)) ==
        "_to_copy.default add.Tensor _to_copy.default select.int _to_copy.default select.int expand.default gt.Scalar "
        "_to_copy.default select.int add.Tensor");
  CHECK(run(program, programs::tensor({2}, {2, 5})) == std::vector<Floats>{{2, 2}, {1, 1}});
}

TEST_CASE("a buffer that is written in place is mutated by the signature") {
  Draft d;
  const ValueId total = d.buffer("total", 10);
  const ValueId x = d.user("x");
  d.op("aten.add_.Tensor", "add_", total, {x});
  d.output(d.neg("out", total));
  const ExportedProgram program = d.finish();
  const ExportedProgram made = functional(program);
  CHECK(kind(made.signature.output_specs[0]) == OutputKind::buffer_mutation);
  auto lowered = to_backend<portable>(program);
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  for (const float wanted : {-13.f, -16.f}) {
    const auto out = session.run("forward", programs::scalar(3).view());
    REQUIRE(out);
    CHECK(out->all().size() == 1);
    CHECK(programs::item((*out)[0].value()) == wanted);
  }
  CHECK(programs::item(session.state()[0].tensor.view()) == 16);
}

TEST_CASE(
    "mutations are added in the order of the inputs, after the program's own, one for each name of its kind; tied "
    "buffers stay") {
  const auto draft = [](std::string_view tied) {
    Draft d;
    const ValueId a = d.buffer("a", 1), b = d.buffer("b", 2), own = d.buffer("own", 3), x = d.user("x"),
                  y = d.user("y");
    std::get<InputToBufferSpec>(d.program.signature.input_specs[1]).target = Name::own(tied);
    d.program.state_dict[1].name = Name::own(tied);
    for (const ValueId v : {y, x, b, a}) d.op("aten.add_.Tensor", "w" + std::to_string(v), v, {1.0});
    d.mutate_buffer("own", d.add("next", own, x));
    d.output(d.mul("out", a, b));
    return d.finish();
  };
  const ExportedProgram made = functional(draft("x"));  // the buffer is called like an input
  std::vector<std::pair<OutputKind, std::string>> all;
  for (const OutputSpec& spec : made.signature.output_specs)
    all.emplace_back(kind(spec), target(spec) != nullptr ? std::string(target(spec)->view()) : std::string());
  const auto buffer = OutputKind::buffer_mutation, input = OutputKind::user_input_mutation;
  CHECK(all ==
        std::vector<std::pair<OutputKind, std::string>>{
            {buffer, "own"}, {buffer, "a"}, {buffer, "x"}, {input, "x"}, {input, "y"}, {OutputKind::user_output, ""}});
  const std::string written = targets(functional(draft("a")));  // two names for one buffer
  CHECK(written == "add.Tensor add.Tensor add.Tensor copy_.default add.Tensor copy_.default add.Tensor mul.Tensor");
}

TEST_CASE("in sub-graphs of control flow, writes to their own values become values; a write to an operand stays") {
  for (const bool to_operand : {false, true}) {
    Draft d;
    const ValueId x = d.user("x");
    const ValueId p = d.gt("p", x, 0.0);
    const auto writes = [&](std::span<const ValueId> in) {
      const ValueId to = to_operand ? in[0] : d.neg("own", in[0]);
      return d.op("aten.add_.Tensor", "add_", to, {1.0});
    };
    d.output(d.cond("c", p, {x}, writes, [&](std::span<const ValueId> in) { return d.neg("neg", in[0]); }));
    const ExportedProgram program = d.finish();
    CHECK(targets(functional(program)).find("add_") == std::string::npos);
    CHECK((targets(functional(program)).find("copy_") != std::string::npos) == to_operand);
    CHECK(run(program, programs::scalar(2))[0] == Floats{to_operand ? 3.0f : -1.0f});
  }
}

TEST_CASE("an operand that a branch returns is not written separately") {
  Draft d;
  const ValueId x = d.user("x");
  const ValueId p = d.gt("p", x, 0.0);
  const ValueId c = d.cond(
      "c", p, {x}, [&](std::span<const ValueId> in) { return in[0]; },
      [&](std::span<const ValueId> in) { return d.neg("neg", in[0]); });
  d.op("aten.add_.Tensor", "add_", c, {1.0});
  d.output(x);
  const ExportedProgram program = d.finish();
  CHECK(targets(functional(program)).find("copy_") != std::string::npos);
  CHECK(run(program, programs::scalar(2)) == std::vector<Floats>{{3}, {3}});
  CHECK(run(program, programs::scalar(-2)) == std::vector<Floats>{{-2}, {-2}});
}

TEST_CASE("new results of control flow are ordinary values") {
  Draft d;
  const ValueId x = d.user("x"), y = d.user("y");
  const ValueId c = d.cond(
      "c", d.gt("p", x, 0.0), {x, y}, [&](std::span<const ValueId> in) { return d.mul("twice", in[0], 2.0); },
      [&](std::span<const ValueId> in) { return d.neg("neg", in[1]); });
  d.op("aten.exp_.default", "exp_", c);
  d.op("aten.add_.Tensor", "add_", y, {1.0});
  d.output(c);
  CHECK(!writes_in_place(functional(d.finish()).view()));
}

TEST_CASE(
    "values that cannot be functionalized alone stay in place, and get copies of new values; the rest is "
    "functionalized") {
  Draft d;
  const ValueId x = d.user("x", {4});
  const ValueId y = d.mul("y", x, 1.0), z = d.mul("z", x, 2.0);
  const ValueId v = view(d, "aten.as_strided.default", {d.b.value(y), d.b.ints({2}), d.b.ints({2})}, "v", {2});
  d.op("aten.copy_.default", "kept", z, {y});  // as it is now
  d.op("aten.neg_.default", "neg_", v);
  d.op("aten.exp_.default", "exp_", z);
  d.op("aten.add_.Tensor", "add_", x, {0.5});
  d.output(y);
  d.output(z);
  const ExportedProgram program = d.finish();
  CHECK(targets(functional(program)) ==
        "mul.Tensor mul.Tensor as_strided.default clone.default neg.default copy_.default exp.default add.Tensor");
  const std::vector<Floats> out = run(program, programs::tensor({4}, {0, 1, 2, 3}));
  CHECK(out[0] == Floats{0, 1, -2, 3});
  CHECK(out[1][2] == doctest::Approx(std::exp(2.0f)));
  CHECK(out[2] == Floats{0.5f, 1.5f, 2.5f, 3.5f});
}

TEST_CASE("writes without a functional form stay: resize_, through as_strided and expand, operators of others") {
  const auto kept = [](auto&& write) {
    Draft d;
    const ValueId x = d.user("x", {4});
    write(d, x);
    d.output(x);
    return targets(functional(d.finish()));
  };
  CHECK(kept([](Draft& d, ValueId x) {
          d.op("aten.add_.Tensor", "add_",
               view(d, "aten.as_strided.default", {d.b.value(x), d.b.ints({2}), d.b.ints({2})}, "v", {2}), {1.0});
        }) == "as_strided.default add.Tensor copy_.default");
  CHECK(kept([](Draft& d, ValueId x) {
          d.op("aten.add_.Tensor", "add_",
               view(d, "aten.expand.default", {d.b.value(x), d.b.ints({2, 4})}, "v", {2, 4}), {1.0});
        }) == "expand.default add.Tensor copy_.default");
  CHECK(kept([](Draft& d, ValueId x) {
          d.op("aten.add_.Tensor", "add_",
               view(d, "aten.expand.default", {d.b.value(x), d.b.ints({1, 4})}, "v", {1, 4}), {1.0});
        }) == "expand.default add.Tensor view.default");
  CHECK(kept([](Draft& d, ValueId x) { view(d, "aten.resize_.default", {d.b.value(x), d.b.ints({2})}, "v", {2}); }) ==
        "resize_.default");
  CHECK(kept([](Draft& d, ValueId x) {
          d.node("mine.add_.Tensor", {d.b.value(x), d.b.real(1)}, {d.b.tensor("v", ScalarType::float32, {4})});
        }).find("_") != std::string::npos);
}

TEST_CASE("a tensor that as_strided views is written in place, before and after") {
  Draft d;
  const ValueId x = d.user("x", {4}), y = d.user("y", {2, 2});
  d.op("aten.add_.Tensor", "add_", x, {1.0});
  d.op("aten.copy_.default", "copied", y,
       {view(d, "aten.permute.default", {d.b.value(y), d.b.ints({1, 0})}, "turned", {2, 2})});
  d.output(d.neg("n", view(d, "aten.as_strided.default", {d.b.value(x), d.b.ints({2}), d.b.ints({2})}, "v", {2})));
  const ExportedProgram program = d.finish();
  CHECK(targets(functional(program)) == "add.Tensor copy_.default permute.default as_strided.default neg.default");
}

TEST_CASE("sums that are stored in another dtype are computed in that") {
  Draft d;
  const ValueId x = d.user("x", {3});
  const ValueId n = d.b.tensor("n", ScalarType::int64, {});
  d.node("aten.zeros.default", {d.b.ints({}), d.b.scalar_type(ScalarType::int64)}, {n});
  Argument out = d.b.value(n);
  out.name = d.b.text("out");
  const ValueId sum = d.b.tensor("sum", ScalarType::int64, {});
  d.node("aten.sum.IntList_out", {d.b.value(x), d.b.ints({0}), out}, {sum});
  d.output(d.op("aten.mul.Tensor", "wide", sum, {1.0}));
  CHECK(run(d.finish(), programs::tensor({3}, {1.5, 1.75, 0.5}))[0] == Floats{2});
}

TEST_CASE("writes through the numbers of complex tensors, and through bytes, reach them") {
  Draft d;
  const ValueId x = d.user("x", {2});
  const ValueId z = d.like(x, "z", ScalarType::complex64);
  d.node("aten.complex.default", {d.b.value(x), d.b.value(x)}, {z});
  for (const std::string_view part : {"real", "imag"}) {
    const ValueId v = view(d, concat("aten.", part, ".default").view(), {d.b.value(z)}, part, {2});
    d.op("aten.mul_.Tensor", concat("mul_", part).view(), v, {part == "real" ? 2.0 : 3.0});
  }
  const ValueId pairs = view(d, "aten.view_as_real.default", {d.b.value(z)}, "pairs", {2, 2});
  d.op("aten.add_.Tensor", "add_", pairs, {1.0});
  const ValueId bits = d.like(x, "bits", ScalarType::int32);
  d.node("aten.view.dtype", {d.b.value(x), d.b.scalar_type(ScalarType::int32)}, {bits});
  d.node("aten.bitwise_or_.Scalar", {d.b.value(bits), d.b.integer(INT32_MIN)}, {d.like(x, "or_", ScalarType::int32)});
  d.output(view(d, "aten.view_as_real.default", {d.b.value(z)}, "seen", {2, 2}));
  const ExportedProgram program = d.finish();
  CHECK(!writes_in_place(functionalize(program)->view()));
  CHECK(run(program, programs::tensor({2}, {1, 2})) == std::vector<Floats>{{3, 4, 5, 7}, {-1, -2}});
}

TEST_CASE("out= forms with several results and of reductions, in-place forms with wider results, the diagonal") {
  Draft d;
  const ValueId x = d.user("x", {2, 2});
  const ValueId values = d.b.tensor("values", ScalarType::float32, {2}),
                indices = d.b.tensor("indices", ScalarType::int64, {2});
  d.node("aten.empty.memory_format", {d.b.ints({2})}, {values});
  d.node("aten.zeros.default", {d.b.ints({2}), d.b.scalar_type(ScalarType::int64)}, {indices});
  const ValueId m = d.b.tensor("m", ScalarType::float32, {2}), at = d.b.tensor("at", ScalarType::int64, {2});
  d.node("aten.max.dim_max", {d.b.value(x), d.b.integer(1), d.b.boolean(false), d.b.value(values), d.b.value(indices)},
         {m, at});
  Argument out = d.b.value(values);
  out.name = d.b.text("out");
  d.node("aten.mean.out", {d.b.value(x), d.b.ints({0}), out}, {d.b.tensor("mean", ScalarType::float32, {2})});
  const ValueId small = d.b.tensor("small", ScalarType::int32, {2});
  d.node("aten._to_copy.default", {d.b.value(indices), d.b.scalar_type(ScalarType::int32)}, {small});
  d.op("aten.__ilshift__.Tensor", "shifted", small, {indices}, ScalarType::int32);
  d.node("aten.cumsum_.default", {d.b.value(small), d.b.integer(0)}, {d.b.tensor("sums", ScalarType::int32, {2})});
  d.node("aten.fill_diagonal_.default", {d.b.value(x), d.b.real(9)}, {d.b.tensor("d", ScalarType::float32, {2, 2})});
  d.output(values);
  d.output(d.op("aten.mul.Tensor", "wide", small, {1.0}));
  const ExportedProgram program = d.finish();
  CHECK(!writes_in_place(functionalize(program)->view()));
  CHECK(run(program, programs::tensor({2, 2}, {1, 2, 4, 5})) == std::vector<Floats>{{2.5, 3.5}, {2, 4}, {9, 2, 4, 9}});
}

TEST_CASE("a write through windows of a tensor is one of the places that they show") {
  Draft d;
  const ValueId x = d.user("x", {2, 5});
  const ValueId windows = view(d, "aten.unfold.default", {d.b.value(x), d.b.integer(1), d.b.integer(2), d.b.integer(2)},
                               "windows", {2, 2, 2});
  const ValueId last = view(d, "aten.select.int", {d.b.value(windows), d.b.integer(1), d.b.integer(1)}, "last", {2, 2});
  d.op("aten.mul_.Tensor", "mul_", last, {10.0});
  d.output(d.op("aten.add.Tensor", "y", x, {0.0}));
  const ExportedProgram program = d.finish();
  CHECK(!writes_in_place(functionalize(program)->view()));
  CHECK(run(program, programs::tensor({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})).back() ==
        Floats{1, 2, 30, 40, 5, 6, 7, 80, 90, 10});
}

TEST_CASE("a write through a slice that shows all of its base is one of the base") {
  Draft d;
  const ValueId x = d.user("x", {3});
  const ValueId all =
      view(d, "aten.slice.Tensor", {d.b.value(x), d.b.integer(0), d.b.integer(0), d.b.integer(INT64_MAX)}, "all", {3});
  d.op("aten.add_.Tensor", "add_", all, {1.0});
  d.output(d.relu("y", x));
  const ExportedProgram made = functional(d.finish());
  CHECK(targets(made).find("slice_scatter") == std::string::npos);
  CHECK(run(made, programs::tensor({3}, {-3, 0, 4})) == std::vector<Floats>{{-2, 1, 5}, {0, 1, 5}, {-2, 1, 5}});

  Draft e;  // two symbols that had the same value when the program was exported
  const ExprId s0 = e.b.symbol("s0"), s1 = e.b.symbol("s1");
  const ValueId y = e.user("y", s0), n = e.user("n", s1);
  const ValueId size = e.b.declare({.name = e.b.text("size"), .expr = s1, .kind = ValueKind::sym_int});
  e.node("aten.sym_size.int", {e.b.value(n), e.b.integer(0)}, {size});
  const ValueId part = e.sized("part", s1);
  e.node("aten.slice.Tensor", {e.b.value(y), e.b.integer(0), e.b.integer(0), e.b.value(size)}, {part});
  e.op("aten.add_.Tensor", "add_", part, {1.0});
  e.output(e.relu("r", y));
  CHECK(targets(functional(e.finish())).find("slice_scatter") != std::string::npos);
}

TEST_CASE("recomputed views are bounded: unbounded growth stays in place") {
  Draft d;
  const ValueId x = d.user("x", {302});
  std::vector<ValueId> views;
  ValueId last = x;
  for (int i = 0; i < 300; ++i)
    last = view(d, "aten.slice.Tensor", {d.b.value(last), d.b.integer(0), d.b.integer(1)}, concat("v", i).view(),
                {301 - i});
  for (int i = 0; i < 300; ++i) {
    d.op("aten.add_.Tensor", concat("add_", i).view(), x, {1.0});
    d.op("aten.neg.default", concat("use", i).view(), last);
  }
  d.output(last);
  CHECK(functional(d.finish()).graph_module.nodes.size() <= 300 + 3 * 300);
}

TEST_CASE("in-place forms reach a backend that takes the operator: one partition") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x", {2});
  const ValueId a = d.add("a", x, 1.0);
  const ValueId r = d.op("aten.relu_.default", "relu_", a);
  const ValueId s = d.op("aten.add_.Tensor", "add_", d.mul("m", r, 2.0), {x});
  d.output(s);
  auto lowered = to_backend(d.finish(), CapabilityPartitioner<BackendList<support::toy_backend<0>, portable>>());
  REQUIRE(lowered);
  REQUIRE(lowered->methods()[0].delegates.size() == 1);
  CHECK(lowered->methods()[0].delegates[0].backend == 0);
  Session session = *Session::make(*lowered);
  const auto out = session.run("forward", programs::tensor({2}, {1, -3}).view());
  REQUIRE(out);
  CHECK(support::elements((*out)["add_"].value()) == Floats{5, -3});
}

TEST_CASE("copy_ into a returned tensor is a copy; into a tensor that nobody sees, its source") {
  for (const bool shown : {false, true}) {
    Draft d;
    const ValueId x = d.user("x", {2});
    const ValueId to = d.op("aten.zeros_like.default", "to", x);
    const ValueId copied = d.op("aten.copy_.default", "copied", to, {x});
    d.output(shown ? copied : d.neg("n", copied));
    CHECK(targets(functional(d.finish())) ==
          (shown ? "zeros_like.default clone.default" : "zeros_like.default neg.default"));
  }
}
