// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/autocast_dtypes.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "support/draft.hpp"

using namespace davit;

namespace {

/// A program with one wrapped graph: a linear layer, and operators on its result inside and outside.
struct Program {
  support::Draft d;
  ValueId linear = 0, sum = 0, loss = 0, given = 0, twice = 0, cast = 0, norm = 0, apart = 0;

  [[nodiscard]] ValueId value(std::string_view name) {
    return d.b.tensor(name, ScalarType::float32, std::initializer_list<std::int64_t>{4, 4});
  }
  [[nodiscard]] ValueId op(std::string_view target, std::string_view name, std::vector<Argument> in) {
    const ValueId out = value(name);
    const Argument made = GraphBuilder::value(out);
    d.b.node(target, in, {&made, 1});
    return out;
  }
  explicit Program(std::string_view device) {
    const ValueId x = d.user("x", {4, 4});
    const auto v = [](ValueId id) { return GraphBuilder::value(id); };
    const Argument own[] = {v(x)};
    const GraphId inner = d.b.begin_graph("submod");
    const ValueId parameter = value("parameter");
    d.b.input(v(parameter));
    linear = op("aten.linear.default", "linear", {v(parameter), v(parameter)});
    sum = op("aten.add.Tensor", "sum", {v(linear), v(linear)});
    loss = op("aten.prod.dim_int", "loss", {v(sum), d.b.integer(0)});
    d.b.end_graph({sum});
    given = value("given");
    const Argument call[] = {d.b.string(device), d.b.scalar_type(ScalarType::bfloat16), d.b.boolean(true),
                             d.b.none(),         GraphBuilder::subgraph(inner),         own[0]};
    const Argument made = v(given);
    d.b.node("higher_order.wrap_with_autocast", call, {&made, 1});
    twice = op("aten.mul.Tensor", "twice", {v(given), d.b.real(2)});
    Argument dtype = d.b.scalar_type(ScalarType::float32);
    dtype.name = d.b.text("dtype");
    cast = op("aten.to.dtype", "cast", {v(twice), dtype});
    norm = op("aten.layer_norm.default", "norm", {v(given), d.b.ints({4}), v(x)});
    apart = op("aten.mul.Tensor", "apart", {v(x), v(twice)});
    d.output(apart);
  }
};

}  // namespace

TEST_CASE("values that autocast computes in a lower precision, and their results, have it though recorded as float32") {
  Program p("cpu");
  ExportedProgram program = p.d.finish();
  formats::correct_autocast_dtypes(program);
  const auto dtype_of = [&](ValueId v) { return program.view().values[v].dtype; };
  for (const ValueId v : {p.linear, p.sum, p.given, p.twice, p.norm}) CHECK(dtype_of(v) == ScalarType::bfloat16);
  for (const ValueId v : {p.loss, p.cast, p.apart}) CHECK(dtype_of(v) == ScalarType::float32);
}

TEST_CASE("the autocast of another device changes nothing on a CPU") {
  Program p("cuda");
  ExportedProgram program = p.d.finish();
  formats::correct_autocast_dtypes(program);
  for (const ValueId v : {p.linear, p.sum, p.given, p.twice, p.norm})
    CHECK(program.view().values[v].dtype == ScalarType::float32);
}
