// SPDX-License-Identifier: MIT
#include "davit/lowering/check_partitioning.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "../support/toy_backend.hpp"
#include "davit/lowering/lower_program.hpp"

using namespace davit;
using support::ByHand, support::Draft, support::Group, support::Two;

namespace {

/// y = (x + w) * w, where w is a parameter; z = y - k, where k is a constant and x is a user input
ExportedProgram sample() {
  Draft d;
  const ValueId w = d.parameter("w", 2);
  const ValueId k = d.constant("k", 1);
  const ValueId x = d.user("x");
  const ValueId sum = d.add("sum", x, w);
  const ValueId y = d.mul("y", sum, w);
  d.output(d.sub("z", y, k));
  return d.finish();
}
constexpr ValueId w = 0;
constexpr ValueId x = 2;

/// The errors of a handmade partitioning after `spoil`.
template <class Spoil>
std::vector<Error> errors_of(std::initializer_list<Group> groups, Spoil&& spoil) {
  const ExportedProgram program = sample();
  ByHand<Two> partitioner(program.view(), groups);
  spoil(program.view(), partitioner.answer.tags);
  return check_partitioning(program, partitioner.answer.tags);
}
/// The only error.
template <class Spoil>
Error error_of(std::initializer_list<Group> groups, Spoil&& spoil) {
  const std::vector<Error> errors = errors_of(groups, spoil);
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].code == ErrorCode::invalid_argument);
  CHECK(errors[0].stage == Stage::partition);
  CHECK(!errors[0].fix.empty());
  return errors[0];
}

}  // namespace

TEST_CASE("a partitioning that keeps the rules has no errors, tagged constants included") {
  CHECK(errors_of({{0, {"sum", "y"}}, {1, {"z"}}}, [](GraphModuleView, PartitionTags&) {}).empty());
  CHECK(errors_of({}, [](GraphModuleView, PartitionTags&) {}).empty());
  CHECK(errors_of({{0, {"sum", "y"}}, {1, {"z"}}}, [](GraphModuleView g, PartitionTags& tags) {
          tags.tag_input(g, w, 0);
          tags.tag_input(g, 1, 1);
        }).empty());
}

TEST_CASE("a tagged output node is an error") {
  const Error error =
      error_of({{0, {"sum"}}}, [](GraphModuleView, PartitionTags& tags) { tags.tag_output(root_graph, 0); });
  CHECK(error.where == "outputs of graph ''");
  CHECK(error.what == "the output node is tagged 'p0'");
}

TEST_CASE("a tagged user input is an error") {
  const Error error = error_of({{0, {"sum"}}}, [](GraphModuleView g, PartitionTags& tags) { tags.tag_input(g, x, 0); });
  CHECK(error.where == "input 'x'");
  CHECK(error.what == "a user input is tagged 'p0'");
}

TEST_CASE("a tagged constant with a user of another tag, or of none, is an error that names the user") {
  const auto tag_w = [](GraphModuleView g, PartitionTags& tags) { tags.tag_input(g, w, 0); };
  const Error other = error_of({{0, {"sum"}}, {1, {"y"}}}, tag_w);
  CHECK(other.where == "constant 'w'");
  CHECK(other.what == "it is tagged 'p0', but its user node 'y' (aten.mul.Tensor) is tagged 'p1'");
  CHECK(error_of({{0, {"sum"}}}, tag_w).what ==
        "it is tagged 'p0', but its user node 'y' (aten.mul.Tensor) is not tagged");
}

TEST_CASE("a tag without a delegation is an error") {
  const Error error = error_of(
      {{0, {"sum"}}}, [](GraphModuleView g, PartitionTags& tags) { tags.tag_node(support::find_node(g, "y"), 7); });
  CHECK(error.where == "node 'y' (aten.mul.Tensor)");
  CHECK(error.what == "its tag 7 is not among the partitioning's 1 tags");
  CHECK(error.fix == "add a delegation for every tag");
}

TEST_CASE("a node in two partitions is an error that names both") {
  const Error error = error_of({{0, {"sum", "y"}}, {1, {"y"}}}, [](GraphModuleView, PartitionTags&) {});
  CHECK(error.where == "node 'y' (aten.mul.Tensor)");
  CHECK(error.what == "the node is tagged 'p0' and 'p1'");
}

TEST_CASE("a table of tags of another size is an error, and so are several things at once: each is listed") {
  const Error error = error_of({}, [](GraphModuleView, PartitionTags& tags) { tags.nodes.pop_back(); });
  CHECK(error.what == "there are 2 tags for 3 nodes");
  const std::vector<Error> all = errors_of({{0, {"sum", "y"}}, {1, {"y"}}}, [](GraphModuleView g, PartitionTags& tags) {
    tags.tag_output(root_graph, 1);
    tags.tag_input(g, x, 0);
  });
  CHECK(all.size() == 3);
}

TEST_CASE("a tagged control-flow node and a tag in two graphs are errors") {
  Draft d;
  const ValueId in = d.user("x");
  const ValueId p = d.gt("p", in, 0.0);
  d.output(d.cond("out", p, {in}, [&](auto own) { return d.neg("y", own[0]); }, [](auto own) { return own[0]; }));
  const ExportedProgram program = d.finish();
  const ByHand<Two> control(program.view(), {{0, {"p"}}, {1, {"out"}}});
  const std::vector<Error> tagged = check_partitioning(program, control.answer.tags);
  REQUIRE(tagged.size() == 1);
  CHECK(tagged[0].where == "node 'out' (higher_order.cond)");
  CHECK(tagged[0].what == "a control-flow node is tagged 'p1'");
  const ByHand<Two> two(program.view(), {{0, {"p", "y"}}});
  const std::vector<Error> spread = check_partitioning(program, two.answer.tags);
  REQUIRE(spread.size() == 1);
  CHECK(spread[0].what == "partition 'p0' has nodes in two graphs");
}

TEST_CASE("the error of a cycle lists the way round: partitions, nodes and the values between them") {
  const ExportedProgram program = sample();
  const GraphModuleView graph = program.view();
  const ByHand<Two> partitioner(graph, {{0, {"sum", "z"}}});
  const PartitionTags& tags = partitioner.answer.tags;
  const QuotientGraph q = contract(graph, tags.nodes, 1);
  const VertexOrder order = topological_order(q);
  REQUIRE(order.cycle.size() == 2);
  const Error error = cycle_error(graph, tags, q, order.cycle);
  CHECK(error.code == ErrorCode::invalid_argument);
  CHECK(error.stage == Stage::partition);
  CHECK(error.where == "partition 'p0'");
  CHECK(
      error.what ==
      "the partitions depend on each other: partition 'p0' needs 'y' of node 'y', which needs 'sum' of partition 'p0'");
}

TEST_CASE("a long cycle is cut short, and says how long it is") {
  Draft d;
  ValueId v = d.add("n0", d.user("x"), 1.0);
  for (int i = 1; i < 40; ++i) v = d.add(concat("n", i), v, 1.0);
  d.output(v);
  const ExportedProgram program = d.finish();
  const ByHand<Two> partitioner(program.view(), {{0, {"n0", "n39"}}});
  const QuotientGraph q = contract(program.view(), partitioner.answer.tags.nodes, 1);
  const VertexOrder order = topological_order(q);
  REQUIRE(order.cycle.size() == 39);
  const Error error = cycle_error(program.view(), partitioner.answer.tags, q, order.cycle);
  CHECK(error.what.view().ends_with(" ... (39 in all)"));
  CHECK(error.what.size() < 1000);
}
