// SPDX-License-Identifier: MIT
#include "davit/lowering/repair_metadata.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/prepare_program.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/verify.hpp"
#include "davit/runtime/session.hpp"
#include "support/net.hpp"

using namespace davit;
using support::Net;

namespace {

/// An LSTM of 2 layers over 4 rows of 3, whose last states are recorded with these sizes; returns its results.
std::vector<ValueId> lstm(Net& n, std::initializer_list<std::int64_t> said) {
  std::vector<Argument> weights;
  for (const std::int64_t features : {6, 5})
    for (const std::int64_t of : {features, std::int64_t{5}})
      weights.push_back(n.v(n.weight("w" + std::to_string(weights.size()), {20, of}, 0.5)));
  const Argument starts[] = {n.v(n.input("h", {2, 3, 5})), n.v(n.input("c", {2, 3, 5}))};
  const Argument parameters = n.draft.b.list(weights, ArgumentKind::value),
                 states = n.draft.b.list(starts, ArgumentKind::value);
  const ValueId x = n.input("x", {4, 3, 6});
  return n.many("aten.lstm.input", {{"rows", {4, 3, 5}}, {"state", said}, {"cell", said}},
                {{"input", n.v(x)},
                 {"hx", states},
                 {"params", parameters},
                 {"has_biases", GraphBuilder::boolean(false)},
                 {"num_layers", n.i(2)},
                 {"dropout", GraphBuilder::real(0)},
                 {"train", GraphBuilder::boolean(false)},
                 {"bidirectional", GraphBuilder::boolean(false)},
                 {"batch_first", GraphBuilder::boolean(false)}});
}
std::vector<std::int64_t> sizes(const ExportedProgram& program, std::string_view name) {
  const GraphModuleView graph = program.view();
  std::vector<std::int64_t> out;
  for (ValueId v = 0; v < graph.values.size(); ++v)
    if (graph.name(v) == name)
      for (const Dim& d : graph.dims_of(graph.values[v].sizes)) out.push_back(d.value);
  return out;
}
using Sizes = std::vector<std::int64_t>;

/// A classifier by the last layer's last state, as torch records it.
ExportedProgram classifier(Net& n) {
  const std::vector<ValueId> made = lstm(n, {2, 1, 3, 5});
  const ValueId last =
      n.op("aten.select.int", "last", {1, 3, 5}, {{"self", n.v(made[1])}, {"dim", n.i(0)}, {"index", n.i(-1)}});
  const ValueId kept =
      n.op("aten.dropout.default", "kept", {1, 3, 5},
           {{"input", n.v(last)}, {"p", GraphBuilder::real(0.5)}, {"train", GraphBuilder::boolean(false)}});
  const ValueId head = n.op("aten.linear.default", "head", {1, 3, 7},
                            {{"input", n.v(kept)}, {"weight", n.v(n.weight("head_w", {7, 5}))}});
  const std::vector<ValueId> layers =
      n.many("aten.unbind.int", {{"l0", {1, 3, 5}}, {"l1", {1, 3, 5}}}, {{"self", n.v(made[1])}});
  const std::vector<ValueId> cells = n.many("aten.chunk.default", {{"c0", {2, 1, 3, 3}}, {"c1", {2, 1, 3, 2}}},
                                            {{"self", n.v(made[2])}, {"chunks", n.i(2)}, {"dim", n.i(-1)}});
  return n.finish({head, n.add("sum", layers[0], layers[1], {1, 3, 5}), cells[1]});
}

}  // namespace

TEST_CASE("recurrent layers are known by their operators, their cells are none") {
  static_assert(is_recurrent_layer("aten.gru.input") && !is_recurrent_layer("aten.gru_cell.default"));
  for (const std::string_view layer :
       {"aten.gru.input", "aten.lstm.input", "aten.rnn_relu.input", "aten.rnn_tanh.input"})
    CHECK(is_recurrent_layer(layer));
  for (const std::string_view other : {"aten.gru_cell.default", "aten.lstm.data", "aten.linear.default"})
    CHECK_FALSE(is_recurrent_layer(other));
}

TEST_CASE("the states of an LSTM have the sizes of its initial states, and so have values computed from them") {
  Net n;
  const ExportedProgram program = classifier(n);
  const std::optional<ExportedProgram> right = with_repaired_metadata(program);
  REQUIRE(right);
  CHECK(verify(*right).empty());
  CHECK(sizes(*right, "rows") == Sizes{4, 3, 5});
  CHECK(sizes(*right, "state") == Sizes{2, 3, 5});
  CHECK(sizes(*right, "cell") == Sizes{2, 3, 5});
  CHECK(sizes(*right, "last") == Sizes{3, 5});
  CHECK(sizes(*right, "kept") == Sizes{3, 5});
  CHECK(sizes(*right, "head") == Sizes{3, 7});
  CHECK(sizes(*right, "sum") == Sizes{3, 5});
  CHECK(sizes(*right, "c1") == Sizes{2, 3, 2});
  CHECK(!with_repaired_metadata(*right));
}

TEST_CASE("a program with right metadata stays") {
  Net n;
  const std::vector<ValueId> made = lstm(n, {2, 3, 5});
  CHECK(!with_repaired_metadata(n.finish({made[1], made[2]})));
}

TEST_CASE("a program with the recorded sizes is lowered whole, and runs") {
  Net n;
  const ExportedProgram program = classifier(n);
  const auto prepared = prepare_program(program, {.backends = BackendList<portable>::tables()});
  REQUIRE(prepared);
  REQUIRE(*prepared);
  CHECK((*prepared)->view().target((*prepared)->view().nodes[0]) == "aten.lstm.input");
  CHECK((*prepared)->view().nodes.size() < 10);
  const auto lowered = to_backend<portable>(program);
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const auto outputs = session.run("forward", n.sample());
  REQUIRE(outputs);
  const EValue head = (*outputs)[0];
  const std::span<const std::int64_t> made = head.tensor().sizes();
  CHECK(Sizes(made.begin(), made.end()) == Sizes{3, 7});
}

TEST_CASE("indices and counts of unique elements are int64, and so are values computed from them alone") {
  Net n;
  const ValueId x = n.input("x", {6});
  const std::vector<ValueId> made =
      n.many("aten._unique2.default", {{"elements", {6}}, {"places", {6}}, {"counts", {6}}},
             {{"self", n.v(x)},
              {"sorted", GraphBuilder::boolean(true)},
              {"return_inverse", GraphBuilder::boolean(true)},
              {"return_counts", GraphBuilder::boolean(true)}});
  const ValueId shown = n.op("aten.unsqueeze.default", "shown", {6, 1}, {{"self", n.v(made[1])}, {"dim", n.i(1)}});
  const ValueId joined =
      n.op("aten.stack.default", "joined", {2, 6}, {{"tensors", n.draft.b.tensors({made[1], made[1]})}});
  const ValueId total = n.op("aten.sum.default", "total", {}, {{"self", n.v(joined)}});
  const ValueId half = n.op("aten.div.Tensor", "half", {6}, {{"self", n.v(made[2])}, {"other", n.i(2)}});
  const ValueId mixed = n.op("aten.add.Tensor", "mixed", {6}, {{"self", n.v(made[1])}, {"other", n.v(x)}});
  const ValueId same = n.op("aten.add.Tensor", "same", {6}, {{"self", n.v(made[1])}, {"other", n.v(made[2])}});
  const std::optional<ExportedProgram> right =
      with_repaired_metadata(n.finish({made[0], shown, made[2], total, half, mixed, same}));
  REQUIRE(right);
  CHECK(verify(*right).empty());
  const auto dtype = [&](std::string_view name) {
    const GraphModuleView graph = right->view();
    for (const Value& value : graph.values)
      if (graph.str(value.name) == name) return value.dtype;
    return ScalarType::undefined;
  };
  CHECK(dtype("elements") == ScalarType::float32);
  for (const std::string_view name : {"half", "mixed"}) CHECK(dtype(name) == ScalarType::float32);
  for (const std::string_view name : {"places", "counts", "shown", "joined", "total", "same"})
    CHECK(dtype(name) == ScalarType::int64);
  CHECK(sizes(*right, "shown") == Sizes{6, 1});
  CHECK(!with_repaired_metadata(*right));
}
