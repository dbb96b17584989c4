// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/kernel_call.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backends/onednn.hpp"
#include "davit/backends/onednn/shapes.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "support/net.hpp"

using namespace davit;
using support::Net;

namespace {
/// A node that makes `out`.
ValueId node(Net& n, std::string_view target, std::initializer_list<Argument> in, ValueId out) {
  const Argument made = n.v(out);
  n.draft.b.node(target, std::span<const Argument>(in.begin(), in.size()), {&made, 1}, n.draft.metadata);
  return out;
}
}  // namespace

TEST_CASE("lookups, comparisons and choices run inside a partition: integers go in, bools come out") {
  Net n;
  const ValueId table = n.weight("table", {7, 16});
  const ValueId w = n.weight("w", {8, 16});
  n.draft.program.signature.input_specs.push_back(UserInputSpec{TensorArgument{Name::own("tokens")}});
  const ValueId tokens = n.draft.b.input("tokens", ScalarType::int64, {5});
  const ValueId rows =
      n.op("aten.embedding.default", "rows", {5, 16}, {{"weight", n.v(table)}, {"indices", n.v(tokens)}});
  const ValueId y = n.op("aten.linear.default", "y", {5, 8}, {{"input", n.v(rows)}, {"weight", n.v(w)}});
  const ValueId positive = n.draft.b.tensor("positive", ScalarType::bool_, {5, 8});
  const Argument compared[] = {n.v(y), GraphBuilder::real(0)}, made[] = {n.v(positive)};
  n.draft.b.node("aten.gt.Scalar", compared, made, n.draft.metadata);
  const ValueId t = n.op("aten.tanh.default", "t", {5, 8}, {{"self", n.v(y)}});
  const ValueId chosen =
      n.op("aten.where.self", "chosen", {5, 8}, {{"condition", n.v(positive)}, {"self", n.v(t)}, {"other", n.v(y)}});
  const ExportedProgram program = n.finish({chosen, positive});

  const auto lowered = to_backend(program, CapabilityPartitioner<BackendList<onednn, portable>>());
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  REQUIRE(lowered->methods()[0].delegates.size() == 1);
  CHECK(lowered->methods()[0].delegates[0].backend == 0);
  auto session = Session::make(*lowered);
  auto expected = Session::make(*to_backend(program, CapabilityPartitioner<BackendList<portable>>()));
  REQUIRE(session);
  REQUIRE(expected);
  const auto run = [](Session& s, std::vector<std::int64_t> numbers) {
    const std::int64_t sizes[] = {5}, strides[] = {1};
    return s.run(0, std::vector<EValue>{TensorView{numbers.data(), sizes, strides, 1, ScalarType::int64}});
  };
  const auto is = run(*session, {0, 6, 3, 3, 1}), should = run(*expected, {0, 6, 3, 3, 1});
  REQUIRE(is);
  REQUIRE(should);
  for (std::int64_t i = 0; i < 40; ++i) {
    CHECK(is->all()[0].tensor().as<float>()[i] ==
          doctest::Approx(should->all()[0].tensor().as<float>()[i]).epsilon(1e-5));
    CHECK(is->all()[1].tensor().as<bool>()[i] == should->all()[1].tensor().as<bool>()[i]);
  }
  // portable reports the kernel's refusal
  const auto outside = run(*session, {0, 7, 3, 3, 1});
  REQUIRE_FALSE(outside);
  CHECK(outside.error().code == run(*expected, {0, 7, 3, 3, 1}).error().code);
}

TEST_CASE("a lookup of constants that the kernel refuses is an error of the run, not of the compiler") {
  Net n;
  const ValueId table = n.weight("table", {7, 16});
  Tensor beyond = Tensor::zeros(ScalarType::int64, std::vector<std::int64_t>{2});
  beyond.view().as<std::int64_t>()[1] = 7;
  const ValueId tokens = n.draft.parameter("tokens", beyond);
  const ValueId x = n.input("x", {2, 16});
  const ValueId rows =
      n.op("aten.embedding.default", "rows", {2, 16}, {{"weight", n.v(table)}, {"indices", n.v(tokens)}});
  const ExportedProgram program =
      n.finish({n.op("aten.tanh.default", "t", {2, 16}, {{"self", n.v(n.add("sum", rows, x, {2, 16}))}})});
  const auto lowered = to_backend<onednn>(program);
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  auto session = Session::make(*lowered);
  REQUIRE(session);
  CHECK_FALSE(session->run(0, n.sample()));
}

TEST_CASE("results of constants and a size are computed for each size") {
  Net n;
  const ValueId places = n.draft.parameter("places", programs::tensor({4}, {0, 1, 2, 3}));
  const ValueId ones = n.draft.parameter("ones", programs::tensor({4}, {1, 1, 1, 1}));
  const ValueId minus = n.draft.parameter("minus", programs::tensor({4}, {-1, -1, -1, -1}));
  const ValueId limits = n.draft.parameter("limits", programs::tensor({4}, {0, 0, 0, 0}));
  GraphBuilder& b = n.draft.b;
  const ExprId s0 = b.symbol("s0");
  const ValueId x = n.draft.user("x", s0);
  const ValueId size = b.declare({.name = b.text("size"), .constant = 4, .expr = s0, .kind = ValueKind::sym_int});
  node(n, "aten.sym_size.int", {n.v(x), n.i(0)}, size);
  const ValueId below = node(n, "aten.lt.Scalar", {n.v(places), n.v(size)}, b.tensor("below", ScalarType::bool_, {4}));
  const ValueId chosen =
      node(n, "aten.where.self", {n.v(below), n.v(ones), n.v(minus)}, b.tensor("chosen", ScalarType::float32, {4}));
  const ValueId under =
      node(n, "aten.lt.Tensor", {n.v(limits), n.v(chosen)}, b.tensor("under", ScalarType::bool_, {4}));
  const ValueId y = node(n, "aten.tanh.default", {n.v(x)}, n.draft.sized("y", s0));
  const auto lowered = to_backend(n.finish({y, below, under}), CapabilityPartitioner<BackendList<onednn, portable>>());
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  auto session = Session::make(*lowered);
  REQUIRE(session);
  for (const std::int64_t rows : {3, 1, 8, 3}) {
    const Tensor input = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{rows});
    const auto out = session->run(0, std::vector<EValue>{input.view()});
    REQUIRE(out);
    for (std::int64_t i = 0; i < 4; ++i) {
      CHECK(out->all()[1].tensor().as<bool>()[i] == (i < rows));
      CHECK(out->all()[2].tensor().as<bool>()[i] == (i < rows));
    }
  }
}

TEST_CASE("results of a size alone, integers and logarithms of zero among them, are computed once per size") {
  Net n;
  GraphBuilder& b = n.draft.b;
  const ExprId s0 = b.symbol("s0");
  const ValueId x = n.draft.user("x", s0);
  const ValueId size = b.declare({.name = b.text("size"), .constant = 4, .expr = s0, .kind = ValueKind::sym_int});
  const auto integers = [&](std::string_view name) { return n.draft.sized(name, s0, 4, ScalarType::int64); };
  const auto floats = [&](std::string_view name) { return n.draft.sized(name, s0); };
  const auto called = [&](std::string_view name, Argument a) {
    a.name = b.text(name);
    return a;
  };
  node(n, "aten.sym_size.int", {n.v(x), n.i(0)}, size);
  const ValueId positions =
      node(n, "aten.arange.start_step", {n.i(0), n.v(size), called("device", b.string("cpu", ArgumentKind::device))},
           integers("positions"));
  const ValueId twice = node(n, "aten.add.Tensor", {n.v(positions), n.v(positions)}, integers("twice"));
  const Argument as_floats = called("dtype", GraphBuilder::scalar_type(ScalarType::float32));
  const Argument as_integers = called("dtype", GraphBuilder::scalar_type(ScalarType::int64));
  const ValueId real = node(n, "aten._to_copy.default", {n.v(twice), as_floats}, floats("real"));
  const ValueId half = node(n, "aten.div.Tensor", {n.v(real), GraphBuilder::real(4)}, floats("half"));
  const ValueId log = node(n, "aten.log.default", {n.v(half)}, floats("log"));  // first of 0
  const ValueId whole = node(n, "aten._to_copy.default", {n.v(log), as_integers}, integers("whole"));
  const ValueId least = node(n, "aten.minimum.default", {n.v(whole), n.v(twice)}, integers("least"));
  const ValueId clamped = node(n, "aten.clamp.default", {n.v(least), n.i(-9)}, integers("clamped"));
  const ValueId bias = node(n, "aten._to_copy.default", {n.v(clamped), as_floats}, floats("bias"));
  const ValueId t = node(n, "aten.tanh.default", {n.v(x)}, floats("t"));
  const ExportedProgram program = n.finish({node(n, "aten.add.Tensor", {n.v(t), n.v(bias)}, floats("y"))});

  const auto lowered = to_backend<onednn>(program);
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  REQUIRE(lowered->methods()[0].delegates.size() == 1);
  auto session = Session::make(*lowered);
  auto expected = Session::make(*to_backend(program, CapabilityPartitioner<BackendList<portable>>()));
  REQUIRE(session);
  REQUIRE(expected);
  onednn_ops::Shapes& shapes = *handle_of<onednn>(lowered->methods()[0].delegates[0]).shapes;
  for (const std::int64_t rows : {3, 1, 40, 3}) {
    const Tensor input = Net::numbers({rows});
    const EValue value = input.view();
    const auto is = session->run(0, {&value, 1}), should = expected->run(0, {&value, 1});
    REQUIRE(is);
    REQUIRE(should);
    for (std::int64_t i = 0; i < rows; ++i)
      CHECK(is->all()[0].tensor().as<float>()[i] ==
            doctest::Approx(should->all()[0].tensor().as<float>()[i]).epsilon(1e-5));
    ShapeKey key;
    shape_key({&value, 1}, key);
    const auto code = shapes.code_for(key, {&value, 1});
    REQUIRE(code != nullptr);
    CHECK(code->kernels.empty());
    CHECK(std::ranges::count(code->steps, onednn_ops::StepKind::primitive, &onednn_ops::Step::kind) ==
          2);  // tanh, the sum
  }
}
