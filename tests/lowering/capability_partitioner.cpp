// SPDX-License-Identifier: MIT
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/quotient_graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "../support/toy_backend.hpp"

using namespace davit;
using support::A, support::B, support::C, support::Draft, support::Three, support::Toys, support::Two;

namespace {

/// s0 = x + 1; m = s0 * 2; s1 = m + 1; s2 = s1 + 1; n = -s2
ExportedProgram sample() {
  Draft d;
  const ValueId s0 = d.add("s0", d.user("x"), 1.0);
  const ValueId m = d.mul("m", s0, 2.0);
  const ValueId s1 = d.add("s1", m, 1.0);
  const ValueId s2 = d.add("s2", s1, 1.0);
  d.output(d.neg("n", s2));
  return d.finish();
}

template <class List>
Partitioning<List> partition(const ExportedProgram& program, CapabilityOptions options = {}) {
  auto answer = CapabilityPartitioner<List>(std::move(options)).partition(Method{"forward", &program});
  REQUIRE(answer);
  return std::move(*answer);
}
/// The tag of a node by name, or "" if it has none.
template <class List>
Name tag(const ExportedProgram& program, const Partitioning<List>& p, std::string_view node) {
  const TagId tag = p.tags.nodes[support::find_node(program.view(), node)];
  return tag == no_id ? Name() : p.tags.names[tag];
}
template <class List>
std::vector<Name> tags(const ExportedProgram& program, const Partitioning<List>& p) {
  std::vector<Name> all;
  for (const std::string_view node : {"s0", "m", "s1", "s2", "n"}) all.push_back(tag(program, p, node));
  return all;
}
template <class List>
bool refused(const ExportedProgram& program, const Partitioning<List>& p, std::string_view node, std::uint32_t backend,
             std::string_view reason) {
  return std::ranges::any_of(p.refusals, [&](const NodeRefusal& r) {
    return r.node == support::find_node(program.view(), node) && r.backend == backend && r.reason == reason;
  });
}

/// A toy backend with estimates: a time per node, another for one operator, and one for each value that crosses the
/// border.
template <int N>
struct Estimating : support::toy_backend<N> {
  static inline double node_ns = 0, border_ns = 0, slow_ns = 0;
  static inline std::string_view slow;
  static inline std::size_t asked = 0;
  [[nodiscard]] static double offload_cost(GraphModuleView graph, std::span<const NodeId> nodes) {
    double ns = 0;
    std::vector<ValueId> read, made;
    for (const NodeId n : nodes) {
      ++asked;
      const bool dear = !slow.empty() && graph.target(graph.nodes[n]).find(slow) != std::string_view::npos;
      ns += dear ? slow_ns : node_ns;
      for (const Argument& a : graph.inputs(graph.nodes[n]))
        graph.for_each_value(a, [&](ValueId v) { read.push_back(v); });
      for (const Argument& a : graph.outputs(graph.nodes[n]))
        graph.for_each_value(a, [&](ValueId v) { made.push_back(v); });
    }
    const auto has = [](const std::vector<ValueId>& all, ValueId v) { return std::ranges::count(all, v); };
    for (std::size_t i = 0; i < read.size(); ++i)
      if (has(made, read[i]) == 0 && std::ranges::find(read, read[i]) - read.begin() == static_cast<std::ptrdiff_t>(i))
        ns += border_ns;
    for (const ValueId v : made)
      if (graph.used[v] > has(read, v)) ns += border_ns;
    return ns;
  }
};
/// Sets the estimates of two backends, and resets them.
struct Estimates {
  Estimates(double first, double second, double border = 0) {
    Estimating<0>::node_ns = first;
    Estimating<1>::node_ns = second;
    Estimating<0>::border_ns = Estimating<1>::border_ns = border;
  }
  ~Estimates() {
    Estimating<0>::slow = Estimating<1>::slow = {};
    Estimating<0>::asked = Estimating<1>::asked = 0;
  }
  Estimates(const Estimates&) = delete;
  Estimates& operator=(const Estimates&) = delete;
};
using Pair = BackendList<Estimating<0>, Estimating<1>, C>;
constexpr std::string_view sooner = "a later backend of the list is estimated to take its group less time";

}  // namespace

TEST_CASE(
    "offload cost: of the estimating backends the one with the lowest estimate gets a group; without estimates the "
    "order decides") {
  const Toys toys;
  const ExportedProgram program = sample();
  {
    const Estimates estimates(10, 4);
    const auto split = partition<Pair>(program);
    CHECK(tags(program, split) == std::vector<Name>(5, "toy1_0"));
    CHECK(refused(program, split, "s0", 0, sooner));
    REQUIRE(split.candidates.size() == 2);
    CHECK(split.candidates[0].what == "5 nodes from s0, estimated");
    CHECK((split.candidates[0].candidate == "toy0" && split.candidates[0].ns == 50 && !split.candidates[0].chosen));
    CHECK((split.candidates[1].candidate == "toy1" && split.candidates[1].ns == 20 && split.candidates[1].chosen));
    CHECK(split.delegations[0].fallbacks == std::vector<std::uint32_t>{2});
    CHECK(tags(program, partition<Pair>(program, {.order = {1, 0}})) == std::vector<Name>(5, "toy1_0"));
    CHECK(tags(program, partition<BackendList<A, Estimating<1>>>(program)) == std::vector<Name>(5, "toy0_0"));
    CHECK(tags(program, partition<BackendList<Estimating<0>, B>>(program)) == std::vector<Name>(5, "toy0_0"));
    CHECK(tags(program, partition<BackendList<Estimating<0>, C, Estimating<1>>>(program))[0] == "toy1_0");
  }
  const auto first = [&](double a, double b) {
    const Estimates estimates(a, b);
    const auto split = partition<Pair>(program);
    return split.refusals.empty() && split.candidates.empty() && tags(program, split) == std::vector<Name>(5, "toy0_0");
  };
  CHECK(first(10, 10));
  CHECK(first(10, 9.9));  // less than the estimates' error
  CHECK(first(10, 20));
}

TEST_CASE("offload cost: nodes that the later backend refuses stay, if both parts together then cost least") {
  const Toys toys;
  const ExportedProgram program = sample();
  B::state.refused = "mul";
  {
    const Estimates estimates(10, 4);
    CHECK(tags(program, partition<Pair>(program)) ==
          std::vector<Name>{"toy1_0", "toy0_0", "toy1_1", "toy1_1", "toy1_1"});
  }
  const Estimates estimates(10, 4, 20);  // saves 24, and costs four more crossings
  CHECK(tags(program, partition<Pair>(program)) == std::vector<Name>(5, "toy0_0"));
}

TEST_CASE("offload cost: groups between those of a later backend move there together if their borders cost more") {
  const Toys toys;
  const ExportedProgram program = sample();
  A::state.refused = "mul neg";
  {
    const Estimates estimates(10, 11);
    CHECK(tags(program, partition<Pair>(program)) ==
          std::vector<Name>{"toy0_0", "toy1_0", "toy0_1", "toy0_1", "toy1_1"});
  }
  const Estimates estimates(10, 11, 5);
  const auto split = partition<Pair>(program);
  CHECK(tags(program, split) == std::vector<Name>(5, "toy1_0"));
  CHECK(refused(program, split, "s2", 0, sooner));
  CHECK(refused(program, split, "m", 0, "it was told not to take this operator"));
}

TEST_CASE("offload cost: nothing moves to a backend that gains nothing by it, or that takes none of it") {
  const Toys toys;
  const ExportedProgram program = sample();
  const Estimates estimates(10, 4);
  const auto hook = partition<Pair>(program, {.profitable = [](GraphModuleView, std::span<const NodeId>,
                                                               std::uint32_t backend) { return backend != 1; }});
  CHECK(tags(program, hook) == std::vector<Name>(5, "toy0_0"));
  B::state.refused = "add mul neg";
  CHECK(tags(program, partition<Pair>(program)) == std::vector<Name>(5, "toy0_0"));
}

TEST_CASE("offload cost: only groups with a choice are estimated, each node a few times") {
  const Toys toys;
  Draft d;
  ValueId x = d.user("x");
  for (int i = 0; i < 100; ++i) x = i % 4 == 3 ? d.mul("m", x, 2.0) : d.add("s", x, 1.0);
  d.output(x);
  const ExportedProgram program = d.finish();
  const Estimates estimates(10, 10);
  (void)partition<BackendList<Estimating<0>, B, C>>(program);
  CHECK(Estimating<0>::asked == 0);
  A::state.refused = "mul";
  (void)partition<Pair>(program);
  CHECK(Estimating<0>::asked > 0);
  CHECK(Estimating<0>::asked + Estimating<1>::asked <= 8 * 100);
}

TEST_CASE("each node goes to the first backend that takes it, and neighbours join") {
  const Toys toys;
  const ExportedProgram program = sample();
  CHECK(tags(program, partition<Two>(program)) == std::vector<Name>(5, "toy0_0"));
  A::state.refused = "mul neg";
  const auto split = partition<Two>(program);
  CHECK(tags(program, split) == std::vector<Name>{"toy0_0", "toy1_0", "toy0_1", "toy0_1", "toy1_1"});
  REQUIRE(split.delegations.size() == 4);
  CHECK(split.refusals.size() == 2);
  CHECK(refused(program, split, "m", 0, "it was told not to take this operator"));
  CHECK(refused(program, split, "n", 0, "it was told not to take this operator"));
}

TEST_CASE("a node that every backend refuses stays without a tag, with the reason of each") {
  const Toys toys;
  const ExportedProgram program = sample();
  A::state.refused = "mul";
  B::state.refused = "mul";
  const auto split = partition<Two>(program);
  CHECK(tags(program, split) == std::vector<Name>{"toy0_0", "", "toy0_1", "toy0_1", "toy0_1"});
  CHECK(split.refusals.size() == 2);
  CHECK(refused(program, split, "m", 1, "it was told not to take this operator"));
}

TEST_CASE("order: backends by preference; backends outside it get nothing") {
  const Toys toys;
  const ExportedProgram program = sample();
  CHECK(tags(program, partition<Two>(program, {.order = {1, 0}})) == std::vector<Name>(5, "toy1_0"));
  B::state.refused = "add";
  CHECK(tags(program, partition<Two>(program, {.order = {1}})) == std::vector<Name>{"", "toy1_0", "", "", "toy1_1"});
  const auto bad = CapabilityPartitioner<Two>({.order = {0, 2}}).partition(Method{"forward", &program});
  REQUIRE(!bad);
  CHECK(bad.error().code == ErrorCode::out_of_range);
  CHECK(bad.error().stage == Stage::partition);
  CHECK(bad.error().what == "there is no backend 2");
}

TEST_CASE("min_nodes: groups that are too small go to the next backend; the last takes any size") {
  const Toys toys;
  const ExportedProgram program = sample();
  A::state.refused = "mul neg";
  const auto split = partition<Two>(program, {.min_nodes = 2});
  CHECK(tags(program, split) == std::vector<Name>{"toy1_0", "toy1_0", "toy0_0", "toy0_0", "toy1_1"});
  CHECK(refused(program, split, "s0", 0, "its group has fewer nodes than the partitioner asks for"));
  CHECK(tags(program, partition<Two>(program, {.min_nodes = 3})) == std::vector<Name>(5, "toy1_0"));
  CHECK(tags(program, partition<Three>(program, {.min_nodes = 6})) == std::vector<Name>(5, "toy2_0"));
  B::state.refused = "add";
  const auto third = partition<Three>(program, {.min_nodes = 2});
  CHECK(tag(program, third, "s0") == "toy2_0");
}

TEST_CASE("max_partitions: the largest groups stay") {
  const Toys toys;
  const ExportedProgram program = sample();
  A::state.refused = "mul neg";
  const auto split = partition<Two>(program, {.max_partitions = 1});
  CHECK(tags(program, split) == std::vector<Name>{"toy1_0", "toy1_0", "toy0_0", "toy0_0", "toy1_1"});
  CHECK(refused(program, split, "s0", 0, "its backend has as many partitions as the partitioner allows"));
  CHECK(tags(program, partition<Two>(program, {.max_partitions = 0})) == std::vector<Name>(5, "toy1_0"));
}

TEST_CASE("profitable: a group that the hook rejects goes to the next backend") {
  const Toys toys;
  const ExportedProgram program = sample();
  A::state.refused = "mul neg";
  const auto split = partition<Two>(
      program, {.profitable = [](GraphModuleView graph, std::span<const NodeId> nodes, std::uint32_t backend) {
        return backend != 0 || node_label(graph, nodes[0]) == "s0";
      }});
  CHECK(tags(program, split) == std::vector<Name>{"toy0_0", "toy1_0", "toy1_0", "toy1_0", "toy1_0"});
  CHECK(refused(program, split, "s2", 0, "its group is not worth a delegate call"));
}

TEST_CASE("only_available skips unavailable backends; fallbacks are the backends after a partition's own") {
  const Toys toys;
  const ExportedProgram program = sample();
  A::state.available = false;
  CHECK(tags(program, partition<Three>(program)) == std::vector<Name>(5, "toy0_0"));
  const auto here = partition<Three>(program, {.only_available = true});
  CHECK(tags(program, here) == std::vector<Name>(5, "toy1_0"));
  CHECK(here.delegations[0].fallbacks == std::vector<std::uint32_t>{2});
  CHECK(partition<Three>(program).delegations[0].fallbacks == std::vector<std::uint32_t>{1, 2});
  CHECK(partition<Three>(program, {.fallbacks = false}).delegations[0].fallbacks.empty());
  B::state.available = C::state.available = false;
  CHECK(partition<Three>(program, {.only_available = true}).delegations.empty());
}

TEST_CASE("P02: two groups that need each other are not proposed") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  const ValueId a = d.add("a", x, x);
  const ValueId b = d.add("b", x, x);
  const ValueId m1 = d.mul("m1", a, x);
  const ValueId m2 = d.mul("m2", b, x);
  d.output(d.add("c", b, m1));
  d.output(d.add("d", m2, a));
  const ExportedProgram program = d.finish();
  A::state.refused = "mul";
  const auto split = partition<Two>(program);
  CHECK(
      !(tag(program, split, "a") == tag(program, split, "d") && tag(program, split, "b") == tag(program, split, "c")));
  const QuotientGraph q =
      contract(program.view(), split.tags.nodes, static_cast<std::uint32_t>(split.delegations.size()));
  CHECK(topological_order(q).cycle.empty());
  CHECK(split.delegations.size() == 3);
}

TEST_CASE("control flow stays without a tag; the nodes of its sub-graphs are partitioned like others") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  const ValueId p = d.gt("p", x, 0.0);
  d.output(d.cond("out", p, {x}, [&](auto in) { return d.neg("y", in[0]); }, [](auto in) { return in[0]; }));
  const ExportedProgram program = d.finish();
  const auto split = partition<Two>(program);
  CHECK(tag(program, split, "out").empty());
  CHECK(tag(program, split, "p") != tag(program, split, "y"));
  CHECK(split.delegations.size() == 2);
  CHECK(split.refusals.empty());
}
