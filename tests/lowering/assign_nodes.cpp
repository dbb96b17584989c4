// SPDX-License-Identifier: MIT
#include "davit/lowering/assign_nodes.hpp"
#include "davit/lowering/to_backend.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "../support/toy_backend.hpp"

using namespace davit;
using support::A, support::B, support::Draft, support::Three, support::Toys, support::Two;

namespace {

/// a = x + 1; b = a * 2; c = a + b
ExportedProgram diamond() {
  Draft d;
  const ValueId a = d.add("a", d.user("x"), 1.0);
  const ValueId b = d.mul("b", a, 2.0);
  d.output(d.add("c", a, b));
  return d.finish();
}

}  // namespace

TEST_CASE("nodes for one backend join, but never around a node of another") {
  const Toys toys;
  const ExportedProgram program = diamond();
  const auto whole = assign_nodes(Two::tables(), program.view(), {0, 0, 0});
  CHECK(whole.delegations.size() == 1);
  CHECK(whole.tags.names[0] == "toy0_0");
  CHECK(whole.delegations[0].fallbacks == std::vector<std::uint32_t>{1});
  const auto split = assign_nodes(Two::tables(), program.view(), {0, 1, 0});
  REQUIRE(split.delegations.size() == 3);
  CHECK(split.tags.nodes == std::vector<TagId>{0, 1, 2});
  const auto left = assign_nodes(Two::tables(), program.view(), {0, no_id, 0});
  REQUIRE(left.delegations.size() == 2);
  CHECK(left.tags.nodes == std::vector<TagId>{0, no_id, 1});
}

TEST_CASE("a refusal leaves the node untagged, with its reason; in a chain it leaves the chain") {
  const Toys toys;
  A::state.refused = "mul";
  const ExportedProgram program = diamond();
  const auto out = assign_nodes(Two::tables(), program.view(), {0, 0, 0});
  CHECK(out.tags.nodes == std::vector<TagId>{0, no_id, 1});
  REQUIRE(out.refusals.size() == 1);
  CHECK(out.refusals[0].node == 1);
  CHECK(out.refusals[0].backend == 0);
  const std::uint32_t chains[] = {no_id, 0, 0};
  const auto chained = assign_nodes(Two::tables(), program.view(), {0, 0, 0}, chains, 1);
  CHECK(chained.tags.nodes == std::vector<TagId>{0, no_id, no_id});
}

TEST_CASE("a chain stays in one group") {
  const Toys toys;
  Draft d;  // a and c are a chain, though b delays c
  const ValueId x = d.user("x");
  const ValueId a = d.neg("a", x);
  const ValueId b = d.mul("b", x, 2.0);
  const ValueId b2 = d.neg("b2", b);
  d.output(d.add("c", a, b2));
  const ExportedProgram program = d.finish();
  const std::uint32_t chains[] = {0, no_id, no_id, 0};
  const auto out = assign_nodes(Two::tables(), program.view(), {0, 1, 0, 0}, chains, 1);
  CHECK(out.tags.nodes[0] == out.tags.nodes[3]);
}

TEST_CASE("for any assignment the partitions form no cycle and compute the same") {
  const Toys toys;
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Draft d;
    std::vector<ValueId> values{d.user("x")};
    std::vector<std::uint32_t> wanted;
    for (int n = 0; n < 30; ++n) {
      const ValueId left = values[random() % values.size()];
      values.push_back(d.sub(concat("n", n), left, values[random() % values.size()]));
      wanted.push_back(random() % 3 == 2 ? no_id : random() % 2);
    }
    d.output(values.back());
    const ExportedProgram program = d.finish();
    support::ByHand<Two> by_hand;
    by_hand.answer = Partitioning<Two>(assign_nodes(Two::tables(), program.view(), wanted));
    const auto lowered = to_backend(program, by_hand);
    REQUIRE(lowered);
    support::ByHand<Two> alone(program.view(), {});
    const auto expected = to_backend(program, alone);
    REQUIRE(expected);
    Session session = *Session::make(*lowered);
    Session reference = *Session::make(*expected);
    CHECK(support::run(session, {3}) == support::run(reference, {3}));
  }
}
