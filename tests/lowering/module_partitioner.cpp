// SPDX-License-Identifier: MIT
#include "davit/lowering/module_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "../support/toy_backend.hpp"

using namespace davit;
using support::A, support::B, support::Draft, support::Toys, support::Two;

namespace {

using Modules = ModulePartitioner<Two>;
static_assert(Partitioner<Modules>);

constexpr std::string_view top = "L__self__,,__main__.Net";
constexpr std::string_view layer0 = "L__self__,,__main__.Net;L__self___enc_0,enc.0,__main__.Layer";
constexpr std::string_view linear0 =
    "L__self__,,__main__.Net;L__self___enc_0,enc.0,__main__.Layer;x,enc.0.linear,torch.nn.Linear";
constexpr std::string_view layer10 = "L__self__,,__main__.Net;L__self___enc_10,enc.10,__main__.Layer";
constexpr std::string_view strict = "L__self__,,__main__.Net;fn_0,getattr(L['fn'], '0'),torch.nn.Linear";

/// A node of each of the stacks, then one without any.
ExportedProgram sample() {
  Draft d;
  ValueId v = d.user("x");
  int n = 0;
  for (const std::string_view stack : {top, layer0, linear0, layer10, strict}) {
    d.metadata = d.b.metadata("", stack);
    v = d.add(concat("n", n++), v, 1.0);
  }
  d.metadata = no_id;
  d.output(d.neg("last", v));
  return d.finish();
}
std::vector<int> backends(std::vector<Modules::Rule> rules) {
  const ExportedProgram program = sample();
  const auto answer = Modules{std::move(rules)}.partition(Method{"forward", &program});
  REQUIRE(answer);
  std::vector<int> out;
  for (const TagId tag : answer->tags.nodes)
    out.push_back(tag == no_id ? -1 : static_cast<int>(answer->delegations[tag].backend));
  return out;
}

}  // namespace

TEST_CASE("a module has its own nodes and those of the modules below it") {
  const Toys toys;
  CHECK(backends({{"enc.0", 0}}) == std::vector<int>{-1, 0, 0, -1, -1, -1});
  CHECK(backends({{"enc", 1}}) == std::vector<int>{-1, 1, 1, 1, -1, -1});
  CHECK(backends({{"", 0}}) == std::vector<int>{0, 0, 0, 0, 0, -1});
  CHECK(backends({{"getattr(L['fn'], '0')", 0}}) == std::vector<int>{-1, -1, -1, -1, 0, -1});
}

TEST_CASE("the longest path decides") {
  const Toys toys;
  const std::vector<int> expected{0, 0, 1, 0, 0, -1};
  CHECK(backends({{"", 0}, {"enc.0.linear", 1}}) == expected);
  CHECK(backends({{"enc.0.linear", 1}, {"", 0}}) == expected);
}

TEST_CASE("the program computes the same") {
  const Toys toys;
  const auto lowered = to_backend(sample(), Modules{{{"enc.0", 0}}});
  REQUIRE(lowered);
  CHECK(lowered->methods()[0].delegates.size() == 3);
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {2}) == std::vector<float>{-7});
}

TEST_CASE("a module without nodes and a backend that does not exist are errors") {
  const Toys toys;
  const ExportedProgram program = sample();
  const auto unknown = Modules{{{"enc.0", 0}, {"dec", 1}}}.partition(Method{"forward", &program});
  REQUIRE(!unknown);
  CHECK(unknown.error().code == ErrorCode::not_found);
  CHECK(unknown.error().where == "module 'dec'");
  const auto outside = Modules{{{"enc", 2}}}.partition(Method{"forward", &program});
  REQUIRE(!outside);
  CHECK(outside.error().code == ErrorCode::out_of_range);
}

TEST_CASE("stacks that are no stacks are passed over") {
  for (const std::string_view text : {"", ";", ";;,", "a", "a,", "((((", "))", "[,;", ",,,;,,,"}) {
    std::string seen;
    for_each_module(text, [&](std::string_view path, std::string_view) { seen += path; });
    CHECK(seen.size() <= text.size());
  }
}
