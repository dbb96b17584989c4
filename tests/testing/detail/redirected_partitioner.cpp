// SPDX-License-Identifier: MIT
#include "../../../tools/davit/redirected_partitioner.hpp"

#include <doctest/doctest.h>

#include "../../support/toy_backend.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/config_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;
using support::A, support::B, support::Draft, support::Three, support::Toys, support::Two;

namespace {

/// a = x + 1; b = a * 2; c = -b; e = c + a
ExportedProgram sample() {
  Draft d;
  const ValueId a = d.add("a", d.user("x"), 1.0);
  const ValueId c = d.neg("c", d.mul("b", a, 2.0));
  d.output(d.add("e", c, a));
  return d.finish();
}

}  // namespace

TEST_CASE("the cut is the same, the backend is the one asked for") {
  const Toys toys;
  const auto config = ConfigPartitioner<Three>::parse("b = toy1\nc = toy0");  // the sums are left
  REQUIRE(config);
  const testing::RedirectedPartitioner<ConfigPartitioner<Three>> redirected{*config, 1};
  static_assert(Partitioner<decltype(redirected)>);
  const auto cut = to_backend(sample(), *config);
  const auto reference = to_backend(sample(), redirected);
  REQUIRE((cut && reference));
  const auto& before = cut->methods()[0];
  const auto& after = reference->methods()[0];
  REQUIRE(after.delegates.size() == before.delegates.size());
  for (std::size_t i = 0; i < after.delegates.size(); ++i) {
    CHECK(after.delegates[i].tag == before.delegates[i].tag);
    CHECK(after.delegates[i].backend == 1);
    CHECK(after.delegates[i].interface.outputs[0].name == before.delegates[i].interface.outputs[0].name);
  }
  Session session = *Session::make(*cut);
  Session other = *Session::make(*reference);
  CHECK(support::run(session, {2}) == support::run(other, {2}));
}

TEST_CASE("errors of the other partitioner, and a backend that does not exist, are errors") {
  const ExportedProgram program = sample();
  const Method method{"forward", &program};
  const testing::RedirectedPartitioner<ConfigPartitioner<Two>> unmatched{ConfigPartitioner<Two>({{"nosuch", 0}}), 0};
  CHECK(unmatched.partition(method).error().code == ErrorCode::not_found);
  const testing::RedirectedPartitioner<CapabilityPartitioner<Two>> outside{{}, 2};
  CHECK(outside.partition(method).error().code == ErrorCode::out_of_range);
}
