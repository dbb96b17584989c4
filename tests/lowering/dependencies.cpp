// SPDX-License-Identifier: MIT
#include "davit/lowering/dependencies.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "../support/toy_backend.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/quotient_graph.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"

using namespace davit;
using support::Draft;
using Nodes = std::vector<NodeId>;

namespace {

Nodes needs_of(const Dependencies& dependencies, NodeId node) {
  Nodes all;
  dependencies.for_each(node, [&](NodeId n) { all.push_back(n); });
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

/// a = x + 1; shown = as_strided(buf); shown.add_(1); c = buf * a: functionalize leaves it in place.
ExportedProgram in_order() {
  Draft d;
  const ValueId buf = d.buffer("buf", 10);
  const ValueId x = d.user("x");
  const ValueId a = d.add("a", x, 1.0);
  const ValueId shown = d.b.tensor("shown", ScalarType::float32, {});
  d.node("aten.as_strided.default", {d.b.value(buf), d.b.ints({}), d.b.ints({})}, {shown});
  d.op("aten.add_.Tensor", "add_", shown, {1.0});
  d.output(d.mul("c", buf, a));
  return d.finish();
}

struct takes_pointwise : portable {
  static constexpr std::string_view name = "takes_pointwise";
  static const char* refuses(GraphModuleView graph, NodeId node) {
    const std::string_view target = graph.target(graph.nodes[node]);
    return target == "aten.add.Tensor" || target == "aten.mul.Tensor" ? nullptr : "it is no sum or product";
  }
};

}  // namespace

TEST_CASE("reads and writes of one memory keep their order; without writes there are data edges alone") {
  Draft d;
  const ValueId x = d.user("x", {2});
  const ValueId before = d.neg("before", x);  // 0 reads x
  const ValueId row = d.b.tensor("row", ScalarType::float32, {});
  d.node("aten.select.int", {d.b.value(x), d.b.integer(0), d.b.integer(0)}, {row});  // 1 reads x
  d.op("aten.add_.Tensor", "add_", row, {1.0});                                      // 2 writes x through row
  d.neg("after", x);                                                                 // 3 reads x
  d.op("aten.mul_.Tensor", "mul_", x, {2.0});                                        // 4 writes x
  d.neg("apart", before);                                                            // 5 does not touch x
  d.output(before);
  const ExportedProgram program = d.finish();
  const Dependencies dependencies(program.view());
  CHECK(needs_of(dependencies, 0).empty());
  CHECK(needs_of(dependencies, 1).empty());
  CHECK(needs_of(dependencies, 2) == Nodes{0, 1});
  CHECK(needs_of(dependencies, 3) == Nodes{2});
  CHECK(needs_of(dependencies, 4) == Nodes{2, 3});
  CHECK(needs_of(dependencies, 5) == Nodes{0});
}

TEST_CASE("a node of control flow with a writing sub-graph writes all its operands") {
  Draft d;
  const ValueId p = d.user("p");
  const ValueId x = d.user("x");
  const ValueId before = d.neg("before", x);
  const ValueId positive = d.gt("positive", p, 0.0);
  const auto writes = [&](std::span<const ValueId> in) { return d.op("aten.add_.Tensor", "add_", in[0], {1.0}); };
  const ValueId c =
      d.cond("c", positive, {x}, writes, [&](std::span<const ValueId> in) { return d.neg("neg", in[0]); });
  const ValueId after = d.neg("after", x);
  d.output(before);
  d.output(c);
  d.output(after);
  const ExportedProgram program = d.finish();
  const auto node_of = [&](ValueId v) { return program.view().values[v].producer; };
  const Dependencies dependencies(program.view());
  CHECK(needs_of(dependencies, node_of(c)) == Nodes{node_of(before), node_of(positive)});
  CHECK(needs_of(dependencies, node_of(after)) == Nodes{node_of(c)});
}

TEST_CASE("a partition that would have to run before and after a write is two") {
  const ExportedProgram program = in_order();
  const QuotientGraph q = contract(program.view(), std::vector<std::uint32_t>{0, no_id, no_id, 0}, 1);
  CHECK(topological_order(q).order == std::vector<std::uint32_t>{1, 2, 0});  // x + 1 may wait for the write
  Draft d;
  const ValueId x = d.user("x");
  d.neg("before", x);
  d.op("aten.add_.Tensor", "add_", x, {1.0});
  d.neg("after", x);
  const ExportedProgram around = d.finish();
  CHECK(!topological_order(contract(around.view(), std::vector<std::uint32_t>{0, no_id, 0}, 1)).cycle.empty());
}

TEST_CASE("a buffer that is written in place is read after that, however the program is cut") {
  const ExportedProgram program = in_order();
  const auto run = [&](Result<LoweredProgram> lowered) {
    REQUIRE(lowered);
    Session session = *Session::make(*lowered);
    const Tensor x = programs::scalar(1);
    const auto out = session.run("forward", x);
    REQUIRE_MESSAGE(out, (out ? std::string() : to_string(out.error())));
    return programs::item((*out)[0].value());
  };
  CHECK(run(to_backend<portable>(program)) == 22);
  CHECK(run(to_backend(program, CapabilityPartitioner<BackendList<takes_pointwise, portable>>())) == 22);
}

TEST_CASE("a token alone orders operators with effects, and no partition may run before and after one") {
  Draft d;
  const ValueId t0 = d.token("t0");
  const ValueId x = d.user("x");
  const ValueId y = d.user("y");
  const auto [t1, a] = d.effect("t1", "a", t0, x, 1.0);
  const auto [t2, b] = d.effect("t2", "b", t1, y, 2.0);
  const auto [t3, c] = d.effect("t3", "c", t2, x, 3.0);
  const ValueId apart = d.mul("apart", y, 3.0);
  d.output_token(t3);
  for (const ValueId v : {a, b, c, apart}) d.output(v);
  const ExportedProgram program = d.finish();
  const Dependencies dependencies(program.view());
  CHECK(needs_of(dependencies, 0).empty());
  CHECK(needs_of(dependencies, 1) == Nodes{0});
  CHECK(needs_of(dependencies, 2) == Nodes{1});
  CHECK(needs_of(dependencies, 3).empty());
  const auto is_cycle = [&](std::vector<std::uint32_t> groups) {
    return !topological_order(contract(program.view(), groups, 1)).cycle.empty();
  };
  CHECK(is_cycle({0, no_id, 0, no_id}));
  CHECK(!is_cycle({0, 0, no_id, 0}));
}
