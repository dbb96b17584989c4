// SPDX-License-Identifier: MIT
#include "davit/lowering/pattern_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../support/toy_backend.hpp"

using namespace davit;
using support::A, support::B, support::Draft, support::Toys, support::Two;

namespace {

using Patterns = PatternPartitioner<Two>;
static_assert(Partitioner<Patterns>);

const Patterns::Rule mul_relu{{"aten.mul.Tensor", "aten.relu.default"}, 0};

std::vector<int> backends(const ExportedProgram& program, std::vector<Patterns::Rule> rules) {
  const auto answer = Patterns{std::move(rules)}.partition(Method{"forward", &program});
  REQUIRE(answer);
  std::vector<int> out;
  for (const TagId tag : answer->tags.nodes)
    out.push_back(tag == no_id ? -1 : static_cast<int>(answer->delegations[tag].backend));
  return out;
}
/// a = x + 1; m = a * 2; r = relu(m); m2 = r * 3; r2 = relu(m2)
ExportedProgram chain() {
  Draft d;
  const ValueId r = d.relu("r", d.mul("m", d.add("a", d.user("x"), 1.0), 2.0));
  d.output(d.relu("r2", d.mul("m2", r, 3.0)));
  return d.finish();
}

}  // namespace

TEST_CASE("chains of the pattern go to its backend, others stay") {
  const Toys toys;
  CHECK(backends(chain(), {mul_relu}) == std::vector<int>{-1, 0, 0, 0, 0});
  CHECK(backends(chain(), {{{"aten.relu.default", "aten.mul.Tensor"}, 1}}) == std::vector<int>{-1, -1, 1, 1, -1});
  CHECK(backends(chain(), {{{"aten.add.Tensor"}, 1}, mul_relu}) == std::vector<int>{1, 0, 0, 0, 0});
  CHECK(backends(chain(), {{{"aten.relu.default", "aten.relu.default"}, 1}}) == std::vector<int>(5, -1));
  const auto lowered = to_backend(chain(), Patterns{{mul_relu}});
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {2}) == std::vector<float>{18});
}

TEST_CASE("earlier patterns take nodes first") {
  const Toys toys;
  const Patterns::Rule long_one{{"aten.add.Tensor", "aten.mul.Tensor", "aten.relu.default"}, 1};
  CHECK(backends(chain(), {long_one, mul_relu}) == std::vector<int>{1, 1, 1, 0, 0});
  CHECK(backends(chain(), {mul_relu, long_one}) == std::vector<int>{-1, 0, 0, 0, 0});
}

TEST_CASE("a value that leaves the middle of the chain breaks it") {
  const Toys toys;
  Draft second_user;
  const ValueId m = second_user.mul("m", second_user.user("x"), 2.0);
  second_user.output(second_user.add("s", second_user.relu("r", m), m));
  CHECK(backends(second_user.finish(), {mul_relu}) == std::vector<int>{-1, -1, -1});
  Draft output;
  const ValueId o = output.mul("m", output.user("x"), 2.0);
  output.output(output.relu("r", o));
  output.output(o);
  CHECK(backends(output.finish(), {mul_relu}) == std::vector<int>{-1, -1});
}

TEST_CASE("one user may use the value twice") {
  const Toys toys;
  Draft d;
  const ValueId r = d.neg("r", d.user("x"));
  d.output(d.mul("m", r, r));
  CHECK(backends(d.finish(), {{{"aten.neg.default", "aten.mul.Tensor"}, 0}}) == std::vector<int>{0, 0});
}

TEST_CASE("a chain whose last node waits for others stays whole") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  const ValueId m = d.mul("m", x, 2.0);
  const ValueId far = d.neg("far", d.add("near", x, 1.0));
  d.output(d.add("s", m, far));
  const ExportedProgram program = d.finish();
  const auto answer = Patterns{{{{"aten.mul.Tensor", "aten.add.Tensor"}, 0}, {{"aten.add.Tensor"}, 0}}}.partition(
      Method{"forward", &program});
  REQUIRE(answer);
  CHECK(answer->tags.nodes[0] == answer->tags.nodes[3]);
  CHECK(answer->tags.nodes[2] == no_id);
}

TEST_CASE("a chain of which one node is refused is left whole, with the reason") {
  const Toys toys;
  A::state.refused = "relu";
  const ExportedProgram program = chain();
  const auto answer = Patterns{{mul_relu}}.partition(Method{"forward", &program});
  REQUIRE(answer);
  CHECK(answer->tags.nodes == std::vector<TagId>(5, no_id));
  CHECK(answer->refusals.size() == 2);
}

TEST_CASE("a pattern without operators and a backend that does not exist are errors") {
  const ExportedProgram program = chain();
  const auto empty = Patterns{{mul_relu, {}}}.partition(Method{"forward", &program});
  REQUIRE(!empty);
  CHECK(empty.error().code == ErrorCode::invalid_argument);
  CHECK(empty.error().where == "pattern 1");
  const auto outside = Patterns{{{{"aten.mul.Tensor"}, 9}}}.partition(Method{"forward", &program});
  REQUIRE(!outside);
  CHECK(outside.error().code == ErrorCode::out_of_range);
}
