// SPDX-License-Identifier: MIT
#include "davit/lowering/config_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "../support/toy_backend.hpp"

using namespace davit;
using support::A, support::B, support::Draft, support::Toys, support::Two;

namespace {

using Config = ConfigPartitioner<Two>;
static_assert(Partitioner<Config>);

/// a = x + 1; b = a * 2; c = -b; e = c + 1
ExportedProgram sample() {
  Draft d;
  const ValueId a = d.add("a", d.user("x"), 1.0);
  const ValueId b = d.mul("b", a, 2.0);
  d.output(d.add("e", d.neg("c", b), 1.0));
  return d.finish();
}
/// The backend of each node, -1 for none.
std::vector<int> backends(std::string_view text) {
  const ExportedProgram program = sample();
  const auto config = Config::parse(text);
  REQUIRE(config);
  const auto answer = config->partition(Method{"forward", &program});
  REQUIRE(answer);
  std::vector<int> out;
  for (const TagId tag : answer->tags.nodes)
    out.push_back(tag == no_id ? -1 : static_cast<int>(answer->delegations[tag].backend));
  return out;
}
Error refusal(std::string_view text) {
  const auto config = Config::parse(text, "split.cfg");
  if (!config) return config.error();
  const ExportedProgram program = sample();
  const auto answer = config->partition(Method{"forward", &program});
  REQUIRE(!answer);
  return answer.error();
}

}  // namespace

TEST_CASE("lines name operators or nodes by glob, and the first that matches decides") {
  const Toys toys;
  CHECK(backends("aten.add.* = toy0\nb = toy1\n") == std::vector<int>{0, 1, -1, 0});
  CHECK(backends("e=toy1\r\n# all other sums\r\n\r\n  aten.add.Tensor =\ttoy0  # here\r\n") ==
        std::vector<int>{0, -1, -1, 1});
  CHECK(backends("b = toy1\n* = toy0") == std::vector<int>{0, 1, 0, 0});
  CHECK(backends("") == std::vector<int>{-1, -1, -1, -1});
}

TEST_CASE("neighbours join, and the program computes the same") {
  const Toys toys;
  const auto config = Config::parse("? = toy0\nb = toy1");
  REQUIRE(config);
  const auto lowered = to_backend(sample(), *config);
  REQUIRE(lowered);
  CHECK(lowered->methods()[0].delegates.size() == 1);
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {2}) == std::vector<float>{-5});
}

TEST_CASE("errors name the line") {
  const Toys toys;
  const Error unknown = refusal("a = toy0\n\nb = gpu\n");
  CHECK(unknown.code == ErrorCode::not_found);
  CHECK(unknown.where == "split.cfg, line 3");
  CHECK(unknown.what == "there is no backend 'gpu'");
  CHECK(unknown.fix == "the list has: toy0, toy1");
  const Error unmatched = refusal("a = toy0\nnosuch* = toy1");
  CHECK(unmatched.code == ErrorCode::not_found);
  CHECK(unmatched.where == "split.cfg, line 2");
  for (const std::string_view bad : {"a toy0", "= toy0", "a =", "="}) {
    CHECK(refusal(bad).code == ErrorCode::corrupt_data);
    CHECK(refusal(bad).where == "split.cfg, line 1");
  }
}

TEST_CASE("rules can be made without a text") {
  const Toys toys;
  const ExportedProgram program = sample();
  const auto bad = Config({{"a", 5}}).partition(Method{"forward", &program});
  REQUIRE(!bad);
  CHECK(bad.error().where == "rule 'a'");
  CHECK(Config({{"a", 1}}).partition(Method{"forward", &program}));
}
