// SPDX-License-Identifier: MIT
#include "davit/lowering/all_node_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

#include <doctest/doctest.h>

#include "../support/toy_backend.hpp"

using namespace davit;
using support::A, support::B, support::Draft, support::Toys, support::Two;

namespace {

/// b = -(x + 1) * 2
ExportedProgram sample() {
  Draft d;
  const ValueId a = d.add("a", d.user("x"), 1.0);
  d.output(d.mul("b", d.neg("m", a), 2.0));
  return d.finish();
}
static_assert(Partitioner<AllNodePartitioner<Two>>);

}  // namespace

TEST_CASE("every node goes to the one backend, in one partition") {
  const Toys toys;
  const auto lowered = to_backend(sample(), AllNodePartitioner<Two>{1});
  REQUIRE(lowered);
  REQUIRE(lowered->methods()[0].delegates.size() == 1);
  CHECK(lowered->methods()[0].delegates[0].backend == 1);
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {2}) == std::vector<float>{-6});
}

TEST_CASE("nodes that the backend refuses go to the last one, and the result has the reason") {
  const Toys toys;
  A::state.refused = "neg";
  const ExportedProgram program = sample();
  const auto answer = AllNodePartitioner<Two>{0}.partition(Method{"forward", &program});
  REQUIRE(answer);
  CHECK(answer->refusals.size() == 1);
  const auto lowered = to_backend(program, AllNodePartitioner<Two>{0});
  REQUIRE(lowered);
  CHECK(lowered->methods()[0].delegates.size() == 3);
  const auto full = to_backend(program, AllNodePartitioner<Two>{0}, {.require_full_delegation = true});
  REQUIRE(!full);
  CHECK(full.error().what.view().find("it was told not to take this operator") != std::string_view::npos);
}

TEST_CASE("control flow stays with the program, and its branches go to the backend") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  const ValueId p = d.gt("p", x, 0.0);
  d.output(d.cond(
      "out", p, {x}, [&](auto in) { return d.neg("y", in[0]); }, [&](auto in) { return d.add("z", in[0], 1.0); }));
  const ExportedProgram program = d.finish();
  const auto lowered = to_backend(program, AllNodePartitioner<Two>{0}, {.require_full_delegation = true});
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {2}) == std::vector<float>{-2});
  CHECK(support::run(session, {-2}) == std::vector<float>{-1});
}

TEST_CASE("a backend that the list does not have is an error") {
  const ExportedProgram program = sample();
  const auto answer = AllNodePartitioner<Two>{2}.partition(Method{"forward", &program});
  REQUIRE(!answer);
  CHECK(answer.error().code == ErrorCode::out_of_range);
  CHECK(answer.error().fix == "the list has: toy0, toy1");
}
