// SPDX-License-Identifier: MIT
#include "davit/testing/eager.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../support/draft.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/decompose.hpp"

using namespace davit;
using testing::EagerProgram;
using testing::EagerValue;

namespace {

const BackendTables kernels = BackendList<portable>::tables();

std::vector<float> elements(const EagerValue& value) {
  const Tensor& t = *value.tensor;
  REQUIRE(t.view().is_contiguous());
  const float* data = t.view().as<float>();
  return {data, data + t.numel()};
}

/// Inputs: floats of sizes [2, 3, 4], [1, 2, 3, 4] and [], bools of sizes [2, 3] and [2, 3, 4].
struct CoreInputs {
  ValueId x, cube, one, rows, mask;
};
/// An operator, the sizes of its result, and its arguments.
struct CoreCase {
  std::string_view target;
  std::vector<std::int64_t> sizes;
  std::vector<Arg> (*arguments)(GraphBuilder& b, const CoreInputs& in);
};
/// The operator that is refused.
std::string_view refused_target;
constexpr BackendTable refusing{.name = "refusing", .refuses = [](GraphModuleView graph, NodeId node) -> const char* {
                                  return graph.target(graph.nodes[node]) == refused_target ? "not in its table"
                                                                                           : nullptr;
                                }};

}  // namespace

TEST_CASE("EagerProgram: the rules of core operators, for backends without them, give the operators' results") {
  using B = GraphBuilder;
  using In = CoreInputs;
  using Args = std::vector<Arg>;
  const CoreCase cases[] = {
      {"aten.repeat.default",
       {4, 2, 9, 4},
       [](B& b, const In& in) { return Args{{"self", b.value(in.x)}, {"repeats", b.ints({4, 1, 3, 1})}}; }},
      {"aten.var.correction",
       {2, 1, 1},
       [](B& b, const In& in) {
         return Args{{"self", b.value(in.x)},
                     {"dim", b.ints({-1, 1})},
                     {"correction", b.integer(2)},
                     {"keepdim", b.boolean(true)}};
       }},
      {"aten.var.correction", {}, [](B& b, const In& in) { return Args{{"self", b.value(in.x)}}; }},
      {"aten._cdist_forward.default",
       {2, 3, 3},
       [](B& b, const In& in) {
         return Args{{"x1", b.value(in.x)}, {"x2", b.value(in.x)}, {"p", b.real(3)}, {"compute_mode", b.none()}};
       }},
      {"aten.as_strided.default",
       {3, 4},
       [](B& b, const In& in) {
         return Args{{"self", b.value(in.x)},
                     {"size", b.ints({3, 4})},
                     {"stride", b.ints({1, 5})},
                     {"storage_offset", b.integer(2)}};
       }},
      {"aten.clamp.Tensor",
       {2, 3, 4},
       [](B& b, const In& in) { return Args{{"self", b.value(in.x)}, {"min", b.none()}, {"max", b.value(in.one)}}; }},
      {"aten.diagonal.default",
       {3, 1},
       [](B& b, const In& in) {
         return Args{
             {"self", b.value(in.x)}, {"offset", b.integer(-1)}, {"dim1", b.integer(0)}, {"dim2", b.integer(-1)}};
       }},
      {"aten.diagonal.default",
       {2, 3},
       [](B& b, const In& in) {
         return Args{{"self", b.value(in.x)}, {"offset", b.integer(1)}, {"dim1", b.integer(1)}, {"dim2", b.integer(2)}};
       }},
      {"aten.roll.default",
       {2, 3, 4},
       [](B& b, const In& in) {
         return Args{{"self", b.value(in.x)}, {"shifts", b.ints({-5, 2})}, {"dims", b.ints({2, 1})}};
       }},
      {"aten.roll.default",
       {2, 3, 4},
       [](B& b, const In& in) { return Args{{"self", b.value(in.x)}, {"shifts", b.ints({7})}}; }},
      {"aten.index_put.default",
       {2, 3, 4},
       [](B& b, const In& in) {
         return Args{{"self", b.value(in.x)},
                     {"indices", b.list(std::vector<Argument>{b.value(in.rows)}, ArgumentKind::value)},
                     {"values", b.value(in.one)}};
       }},
      {"aten.masked_scatter.default",
       {2, 3, 4},
       [](B& b, const In& in) {
         return Args{{"self", b.value(in.x)}, {"mask", b.value(in.mask)}, {"source", b.value(in.cube)}};
       }},
      {"aten.adaptive_avg_pool1d.default",
       {2, 3, 3},
       [](B& b, const In& in) { return Args{{"self", b.value(in.x)}, {"output_size", b.ints({3})}}; }},
      {"aten._adaptive_avg_pool3d.default",
       {1, 2, 2, 3},
       [](B& b, const In& in) { return Args{{"self", b.value(in.cube)}, {"output_size", b.ints({2, 2, 3})}}; }},
      {"aten.col2im.default",
       {2, 1, 3, 4},
       [](B& b, const In& in) {
         return Args{{"self", b.value(in.x)},      {"output_size", b.ints({3, 4})}, {"kernel_size", b.ints({3, 1})},
                     {"dilation", b.ints({1, 1})}, {"padding", b.ints({1, 0})},     {"stride", b.ints({2, 2})}};
       }},
      {"aten.reflection_pad3d.default",
       {1, 4, 4, 7},
       [](B& b, const In& in) { return Args{{"self", b.value(in.cube)}, {"padding", b.ints({1, 2, 0, 1, 1, 1})}}; }},
      {"aten.replication_pad3d.default",
       {1, 4, 6, 4},
       [](B& b, const In& in) { return Args{{"self", b.value(in.cube)}, {"padding", b.ints({0, 0, 2, 1, 0, 2})}}; }},
      {"aten.cat.default",
       {4, 3, 4},
       [](B& b, const In& in) {
         return Args{{"tensors", b.list(std::vector<Argument>{b.value(in.x), b.value(in.mask)}, ArgumentKind::value)}};
       }},
  };
  const std::vector<float> numbers{1, -2, 3,   0.5f, 7, -6, 5,  4,    9, 8, -1, 2,
                                   0, 11, -12, 6,    3, 1,  -4, 2.5f, 1, 0, 3,  -7};
  const Tensor x = *tensor(numbers, {2, 3, 4}), cube = *tensor(numbers, {1, 2, 3, 4});
  const Tensor one = programs::tensor({}, {2.25f});
  static const bool bits[24] = {true,  false, true,  true,  false, false, true, true,  false, true,
                                false, true,  false, false, true,  true,  true, false, false, true};
  const Tensor rows = *tensor(std::span<const bool>(bits, 6), {2, 3}),
               mask = *tensor(std::span<const bool>(bits, 24), {2, 3, 4});
  const EValue inputs[] = {x, cube, one, rows, mask};
  for (const CoreCase& each : cases) {
    CAPTURE(each.target);
    GraphBuilder b;
    b.begin_graph();
    CoreInputs in{};
    in.x = b.input("x", ScalarType::float32, {2, 3, 4});
    in.cube = b.input("cube", ScalarType::float32, {1, 2, 3, 4});
    in.one = b.input("one", ScalarType::float32, {});
    in.rows = b.input("rows", ScalarType::bool_, {2, 3});
    in.mask = b.input("mask", ScalarType::bool_, {2, 3, 4});
    std::vector<Argument> arguments;
    for (const Arg& a : each.arguments(b, in)) {
      arguments.push_back(a.argument);
      arguments.back().name = b.intern(a.name);
    }
    const ValueId y = b.tensor("y", ScalarType::float32, each.sizes);
    const Argument out = GraphBuilder::value(y);
    b.node(each.target, arguments, {&out, 1});
    const ValueId z = b.tensor("z", ScalarType::float32, each.sizes);  // contiguous, also if y views an input
    const Argument negated = GraphBuilder::value(z);
    b.node("aten.neg.default", {&out, 1}, {&negated, 1});
    b.end_graph({z});
    const ExportedProgram program = programs::user_program(std::move(b).finish());
    refused_target = each.target;
    const BackendTable* const tables[] = {&refusing};
    const ExportedProgram made = run_decompositions(program, {.backends = BackendTables(tables)});
    for (const Node& node : made.view().nodes)
      if (each.target != "aten.cat.default") CHECK(made.view().target(node) != each.target);
    const auto whole = EagerProgram(program, kernels).run(inputs), parts = EagerProgram(made, kernels).run(inputs);
    REQUIRE(whole);
    REQUIRE(parts);
    const std::vector<float> a = elements((*whole)[0]), c = elements((*parts)[0]);
    REQUIRE(a.size() == c.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(c[i] == doctest::Approx(a[i]));
  }
}

TEST_CASE("EagerProgram: buffers change from run to run, and state() shows them") {
  const ExportedProgram program = programs::counter(5);
  EagerProgram eager(program, kernels);
  const Tensor x = programs::scalar(2);
  const EValue inputs[] = {x};
  CHECK(programs::item((*eager.run(inputs))[1].value()) == 7);
  CHECK(programs::item((*eager.run(inputs))[1].value()) == 9);
  REQUIRE(eager.state().size() == 1);
  CHECK(programs::item(EValue(eager.state()[0].tensor)) == 9);
  CHECK(programs::item(EValue(program.state_dict[0].tensor)) == 5);
}
TEST_CASE("EagerProgram: a write through a view reaches the input and every other view of it") {
  support::Draft d;
  const ValueId x = d.user("x", {2, 2});
  const ValueId row =
      d.b.call("aten.select.int", {{"self", d.b.value(x)}, {"dim", d.b.integer(0)}, {"index", d.b.integer(1)}}, "row",
               ScalarType::float32, {2});
  const ValueId before = d.b.call("aten.neg.default", {{"self", d.b.value(x)}}, "before", ScalarType::float32, {2, 2});
  d.b.call("aten.add_.Tensor", {{"self", d.b.value(row)}, {"other", d.b.real(10)}}, "add_", ScalarType::float32, {2});
  const ValueId after = d.b.call("aten.neg.default", {{"self", d.b.value(x)}}, "after", ScalarType::float32, {2, 2});
  d.output(before);
  d.output(after);
  const ExportedProgram program = d.finish();
  EagerProgram eager(program, kernels);
  const Tensor given = programs::tensor({2, 2}, {1, 2, 3, 4});
  const EValue inputs[] = {given};
  const auto outputs = eager.run(inputs);
  REQUIRE(outputs);
  CHECK(elements((*outputs)[0]) == std::vector<float>{-1, -2, -3, -4});
  CHECK(elements((*outputs)[1]) == std::vector<float>{-1, -2, -13, -14});
  CHECK(given.view().as<float>()[2] == 13);
}
TEST_CASE("EagerProgram: a run that fails leaves inputs and state alone and names the node") {
  support::Draft d;
  const ValueId x = d.user("x", {2});
  d.b.call("aten.add_.Tensor", {{"self", d.b.value(x)}, {"other", d.b.real(10)}}, "add_", ScalarType::float32, {2});
  const ValueId far =
      d.b.call("aten.select.int", {{"self", d.b.value(x)}, {"dim", d.b.integer(0)}, {"index", d.b.integer(7)}}, "far",
               ScalarType::float32, {});
  d.output(far);
  const ExportedProgram program = d.finish();
  EagerProgram eager(program, kernels);
  const Tensor given = programs::tensor({2}, {1, 2});
  const EValue inputs[] = {given};
  const auto outputs = eager.run(inputs);
  REQUIRE(!outputs);
  CHECK(outputs.error().where == "node 'far' (aten.select.int)");
  CHECK(given.view().as<float>()[0] == 1);
}
TEST_CASE("EagerProgram: an operator without a kernel is an Error") {
  const ExportedProgram program = programs::echo();
  EagerProgram eager(program, kernels);
  const Tensor x = programs::scalar(1);
  const EValue inputs[] = {x};
  const auto outputs = eager.run(inputs);
  REQUIRE(!outputs);
  CHECK(outputs.error().code == ErrorCode::unsupported_operator);
}
TEST_CASE("EagerProgram: operators that no backend has are decomposed, others are not") {
  support::Draft d;
  const ValueId x = d.user("x", {2, 2});
  const ValueId moved = d.b.call("aten.add.Tensor", {{"self", d.b.value(x)}, {"other", d.b.integer(1)}}, "moved",
                                 ScalarType::float32, {2, 2});
  d.output(d.b.call("quantized_decomposed.dequantize_per_token.default",
                    {{"input", d.b.value(moved)},
                     {"scales", d.b.value(x)},
                     {"zero_points", d.b.value(x)},
                     {"quant_min", d.b.integer(-128)},
                     {"quant_max", d.b.integer(127)},
                     {"dtype", d.b.scalar_type(ScalarType::int8)}},
                    "floats", ScalarType::float32, {2, 2}));
  const ExportedProgram program = d.finish();
  EagerProgram eager(program, kernels);
  const auto outputs = eager.run(std::vector<EValue>{programs::tensor({2, 2}, {1, 2, 3, 4}).view()});
  REQUIRE(outputs);
  CHECK(elements((*outputs)[0]) == std::vector<float>{1, 2, 3, 4});
}
