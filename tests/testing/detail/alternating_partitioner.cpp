// SPDX-License-Identifier: MIT
#include "davit/testing/detail/alternating_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

#include <doctest/doctest.h>

#include "../../support/toy_backend.hpp"

using namespace davit;
using support::A, support::B, support::Draft, support::Three, support::Toys, support::Two;

namespace {
ExportedProgram chain(int length) {
  Draft d;
  ValueId v = d.user("x");
  for (int i = 0; i < length; ++i) v = d.add(concat("n", i), v, 1.0);
  d.output(v);
  return d.finish();
}
static_assert(Partitioner<testing::AlternatingPartitioner<Two>>);
}  // namespace

TEST_CASE("nodes are dealt out in turn: in a chain every value crosses a border") {
  const Toys toys;
  const ExportedProgram program = chain(6);
  const auto dealt = testing::AlternatingPartitioner<Two>{}.partition(Method{"forward", &program});
  REQUIRE(dealt);
  REQUIRE(dealt->delegations.size() == 6);
  for (std::uint32_t n = 0; n < 6; ++n) {
    CHECK(dealt->tags.nodes[n] == n);
    CHECK(dealt->delegations[n].backend == n % 2);
  }
  CHECK(dealt->tags.names[1] == "toy1_1");
  const auto some = testing::AlternatingPartitioner<Three>{{2, 0}}.partition(Method{"forward", &program});
  REQUIRE(some);
  CHECK(some->delegations[0].backend == 2);
  CHECK(some->delegations[1].backend == 0);
  CHECK(some->delegations[2].backend == 2);
}

TEST_CASE(
    "a node that a backend refuses goes to the next one; a node that all refuse goes to the backend whose turn it "
    "was") {
  const Toys toys;
  const ExportedProgram program = chain(4);
  const auto backends_of = [&] {
    const auto dealt = testing::AlternatingPartitioner<Two>{}.partition(Method{"forward", &program});
    REQUIRE(dealt);
    std::vector<std::uint32_t> backends;
    for (NodeId n = 0; n < 4; ++n) backends.push_back(dealt->delegations[dealt->tags.nodes[n]].backend);
    return backends;
  };
  B::state.refused_nodes = 0b0010;
  CHECK(backends_of() == std::vector<std::uint32_t>{0, 0, 0, 1});
  A::state.refused_nodes = 0b0010;
  CHECK(backends_of() == std::vector<std::uint32_t>{0, 1, 0, 1});
}

TEST_CASE("a program dealt out gives the same results") {
  const Toys toys;
  const auto lowered = to_backend(chain(7), testing::AlternatingPartitioner<Two>{});
  REQUIRE(lowered);
  CHECK(A::state.preprocessed == 4);
  CHECK(B::state.preprocessed == 3);
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {2}) == std::vector<float>{9});
}

TEST_CASE("control flow is left out") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  const ValueId p = d.gt("p", x, 0.0);
  d.output(d.cond("out", p, {x}, [&](auto in) { return d.neg("y", in[0]); }, [](auto in) { return in[0]; }));
  const ExportedProgram program = d.finish();
  const auto dealt = testing::AlternatingPartitioner<Two>{}.partition(Method{"forward", &program});
  REQUIRE(dealt);
  CHECK(dealt->tags.nodes[support::find_node(program.view(), "out")] == no_id);
  CHECK(dealt->delegations.size() == 2);
}
