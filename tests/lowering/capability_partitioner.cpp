// SPDX-License-Identifier: MIT
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/quotient_graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "../support/toy_backend.hpp"

using namespace davit;
using support::A;
using support::B;
using support::C;
using support::Draft;
using support::Three;
using support::Toys;
using support::Two;

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
/// The tag of a node as "name", or "" if it has none.
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

}  // namespace

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

TEST_CASE("order: backends by preference, and those that it leaves out get nothing") {
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

TEST_CASE("worthwhile: a group that the hook turns down goes to the next backend") {
  const Toys toys;
  const ExportedProgram program = sample();
  A::state.refused = "mul neg";
  const auto split = partition<Two>(
      program, {.worthwhile = [](GraphModuleView graph, std::span<const NodeId> nodes, std::uint32_t backend) {
        return backend != 0 || node_label(graph, nodes[0]) == "s0";
      }});
  CHECK(tags(program, split) == std::vector<Name>{"toy0_0", "toy1_0", "toy1_0", "toy1_0", "toy1_0"});
  CHECK(refused(program, split, "s2", 0, "its group is not worth a delegate call"));
}

TEST_CASE("only_available passes over backends that are not there; fallbacks name those after a partition's own") {
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
