// SPDX-License-Identifier: MIT
#include "davit/autotune/autotune_partitioner.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "../support/toy_backend.hpp"
#include "davit/lowered/partition_report.hpp"
#include "davit/lowered/print_report.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;
using support::A, support::B, support::Draft, support::Toys, support::Two;

namespace {

/// s0 = x + 1; m = s0 * 2; s1 = m + 3
ExportedProgram sample() {
  Draft d;
  d.output(d.add("s1", d.mul("m", d.add("s0", d.user("x"), 1.0), 2.0), 3.0));
  return d.finish();
}
constexpr RegionOptions each_node{.regions = 3};
RegionChoice choice_of(const ExportedProgram& program, std::vector<std::uint32_t> order = {0, 1}) {
  return detail::make_choice(Two::tables(), Method{"forward", &program}, order, each_node);
}
/// Costs of the three regions on toy0 and on toy1.
CostTable table_of(const ExportedProgram& program, std::vector<std::uint64_t> a, std::vector<std::uint64_t> b) {
  const RegionChoice choice = choice_of(program);
  CostTable table;
  for (std::uint32_t r = 0; r < 3; ++r) {
    table.set({.region = choice.key(r, r + 1), .backend = "toy0", .ns = a[r]});
    table.set({.region = choice.key(r, r + 1), .backend = "toy1", .ns = b[r]});
  }
  return table;
}
std::vector<Name> tags(const ExportedProgram& program, const CostTable& table,
                       AutotuneOptions options = {.regions = each_node}) {
  const auto p = AutotunePartitioner<Two>(table, std::move(options)).partition(Method{"forward", &program});
  REQUIRE(p);
  std::vector<Name> all;
  for (const TagId tag : p->tags.nodes) all.push_back(tag == no_id ? Name() : p->tags.names[tag]);
  return all;
}

}  // namespace

TEST_CASE("each region goes to its fastest backend in the table, joined with its neighbours") {
  const Toys toys;
  const ExportedProgram program = sample();
  CHECK(tags(program, table_of(program, {1, 9, 1}, {5, 5, 5})) == std::vector<Name>{"toy0_0", "toy1_0", "toy0_1"});
  CHECK(tags(program, table_of(program, {9, 1, 9}, {5, 5, 5})) == std::vector<Name>{"toy1_0", "toy0_0", "toy1_1"});
  CHECK(tags(program, table_of(program, {1, 1, 9}, {5, 5, 5})) == std::vector<Name>{"toy0_0", "toy0_0", "toy1_0"});
  CostTable border = table_of(program, {1, 9, 1}, {5, 5, 5});
  border.border_ns = 4;
  CHECK(tags(program, border) == std::vector<Name>(3, "toy0_0"));
  border.set(BorderCost{.program = choice_of(program).program_key(), .ns = 1});
  CHECK(tags(program, border) == std::vector<Name>{"toy0_0", "toy1_0", "toy0_1"});
}

TEST_CASE("results equal those of the uncut program") {
  const Toys toys;
  const ExportedProgram program = sample();
  for (const auto& [a, b] : {std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>>{{1, 9, 1}, {5, 5, 5}},
                             {{9, 1, 9}, {5, 5, 5}},
                             {{1, 1, 1}, {5, 5, 5}}}) {
    const CostTable table = table_of(program, a, b);
    auto lowered = to_backend(program, AutotunePartitioner<Two>(table, {.regions = each_node}));
    REQUIRE(lowered);
    Session session = *Session::make(*lowered);
    CHECK(support::run(session, {4}) == std::vector<float>{13});
  }
}

TEST_CASE("a region that one backend takes goes there; a region that none takes stays, with the reasons") {
  const Toys toys;
  const ExportedProgram program = sample();
  A::state.refused = "mul";
  const RegionChoice choice = choice_of(program);
  CostTable table;
  for (const std::uint32_t r : {0u, 2u}) {
    table.set({.region = choice.key(r, r + 1), .backend = "toy0", .ns = 1});
    table.set({.region = choice.key(r, r + 1), .backend = "toy1", .ns = 5});
  }
  table.set({.region = choice.key(1, 2), .backend = "toy1", .ns = 5});
  CHECK(tags(program, table) == std::vector<Name>{"toy0_0", "toy1_0", "toy0_1"});
  B::state.refused = "mul";
  const auto p = AutotunePartitioner<Two>(table, {.regions = each_node}).partition(Method{"forward", &program});
  REQUIRE(p);
  CHECK(p->tags.nodes[1] == no_id);
  REQUIRE(p->refusals.size() == 2);
  CHECK(p->refusals[1].reason == "it was told not to take this operator");
}

TEST_CASE("a region that the table lacks is an error that names it, or left to the order") {
  const Toys toys;
  const ExportedProgram program = sample();
  const CostTable none;
  const auto missing = AutotunePartitioner<Two>(none, {.regions = each_node}).partition(Method{"forward", &program});
  REQUIRE(!missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK(missing.error().stage == Stage::partition);
  CHECK(missing.error().where == "nodes 's0' to 's0' (aten.add.Tensor)");
  CHECK(missing.error().what == "the cost table lacks their costs on toy0 (and 5 more)");
  CHECK(missing.error().fix.view().find("measure") != std::string_view::npos);
  CHECK(tags(program, none, {.regions = each_node, .missing = MissingCosts::ignore}) == std::vector<Name>(3, "toy0_0"));
  CHECK(tags(program, none, {.order = {1, 0}, .regions = each_node, .missing = MissingCosts::ignore}) ==
        std::vector<Name>(3, "toy1_0"));
  CHECK(tags(program, none, {.order = {1}}) == std::vector<Name>(3, "toy1_0"));  // nothing to choose
}

TEST_CASE("orders that make no sense are errors; fallbacks are the backends after a partition's own") {
  const Toys toys;
  const ExportedProgram program = sample();
  const CostTable table = table_of(program, {1, 9, 9}, {5, 5, 5});
  const auto far = AutotunePartitioner<Two>(table, {.order = {0, 2}}).partition(Method{"forward", &program});
  REQUIRE(!far);
  CHECK(far.error().code == ErrorCode::out_of_range);
  const auto twice = AutotunePartitioner<Two>(table, {.order = {1, 1}}).partition(Method{"forward", &program});
  REQUIRE(!twice);
  CHECK(twice.error().what == "backend toy1 is there twice");
  const auto p = AutotunePartitioner<Two>(table, {.regions = each_node}).partition(Method{"forward", &program});
  REQUIRE(p);
  CHECK(p->delegations[0].fallbacks == std::vector<std::uint32_t>{1});
  CHECK(p->delegations[1].fallbacks.empty());
}

TEST_CASE("the table outlives names and weights") {
  const Toys toys;
  const ExportedProgram program = sample();
  const CostTable table = table_of(program, {1, 9, 1}, {5, 5, 5});
  Draft d;
  d.output(d.add("out", d.mul("product", d.add("first", d.user("input"), 1.0), 2.0), 3.0));
  CHECK(tags(d.finish(), table) == std::vector<Name>{"toy0_0", "toy1_0", "toy0_1"});
}

TEST_CASE("control flow stays without a tag; its sub-graphs are chosen for like others") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  const ValueId p = d.gt("p", x, 0.0);
  d.output(d.cond("out", p, {x}, [&](auto in) { return d.neg("y", in[0]); }, [](auto in) { return in[0]; }));
  const ExportedProgram program = d.finish();
  const RegionChoice choice = choice_of(program);
  CostTable table;
  for (std::uint32_t r = 0; r < choice.regions().count(); ++r)
    for (std::uint32_t b = 0; b < 2; ++b) {
      if (!choice.takes(b, r)) continue;
      const bool root = choice.regions().graph[r] == root_graph;
      table.set({.region = choice.key(r, r + 1),
                 .backend = Name::own(choice.backends()[b]),
                 .ns = (b == 0) == root ? 1u : 2u});
    }
  const auto partitioner = AutotunePartitioner<Two>(table, {.regions = each_node});
  const auto tagged = partitioner.partition(Method{"forward", &program});
  REQUIRE(tagged);
  const auto name = [&](std::string_view node) {
    const TagId tag = tagged->tags.nodes[support::find_node(program.view(), node)];
    return tag == no_id ? Name() : tagged->tags.names[tag];
  };
  CHECK(name("p") == "toy0_0");
  CHECK(name("y") == "toy1_0");
  CHECK(name("out").empty());
  auto lowered = to_backend(program, partitioner);
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {4}) == std::vector<float>{-4});
}

TEST_CASE("the report lists the candidates") {
  const Toys toys;
  const ExportedProgram program = sample();
  CostTable table = table_of(program, {1000, 9000, 1000}, {5000, 5000, 5000});
  table.set({.region = choice_of(program).key(0, 3), .backend = "toy0", .ns = 10500});
  Diagnostics diagnostics;
  REQUIRE(to_backend(program, AutotunePartitioner<Two>(table, {.regions = each_node}), {}, &diagnostics));
  const std::string text = print_report(diagnostics.reports.at(0));
  const std::string wanted =
      "costs\n"
      "  of           candidate   partitions      us\n"
      "  the program  toy0 first           1  10.500\n"
      "  the program  toy1 first           1       ?\n"
      "  the program  by region            3   7.000  chosen\n"
      "  toy0_0       toy0                 1   1.000  chosen\n"
      "  toy0_0       toy1                 1   5.000\n"
      "  toy1_0       toy0                 1   9.000\n"
      "  toy1_0       toy1                 1   5.000  chosen\n"
      "  toy0_1       toy0                 1   1.000  chosen\n"
      "  toy0_1       toy1                 1   5.000\n";
  CHECK(text.find(wanted) != std::string::npos);
}
