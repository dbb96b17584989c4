// SPDX-License-Identifier: MIT
#include "davit/lowering/value_users.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "../support/draft.hpp"

using namespace davit;
using support::Draft;

namespace {

/// a = x + x; b = a + 1, an output; c = a * b, an output
constexpr bool check_users() {
  Draft d;
  const ValueId x = d.user("x");
  const ValueId a = d.add("a", x, x);
  const ValueId b = d.add("b", a, 1.0);
  const ValueId c = d.mul("c", a, b);
  d.output(b);
  d.output(c);
  const GraphModule module = d.finish().graph_module;
  const ValueUsers users = value_users(module.view());
  const auto are = [&](ValueId v, std::vector<NodeId> nodes) { return std::ranges::equal(users.of(v), nodes); };
  return are(x, {0, 0}) && are(a, {1, 2}) && are(b, {2}) && are(c, {}) && users.is_output[x] == 0 &&
         users.is_output[a] == 0 && users.is_output[b] == 1 && users.is_output[c] == 1;
}
static_assert(check_users());

}  // namespace

TEST_CASE("users are in order, once per use; outputs are marked") { CHECK(check_users()); }

TEST_CASE("values in lists count; outputs of sub-graphs are outputs") {
  Draft d;
  const ValueId x = d.user("x");
  const ValueId p = d.gt("p", x, 0.0);
  ValueId y = no_id;
  d.output(d.cond("out", p, {x}, [&](auto in) { return y = d.neg("y", in[0]); }, [](auto in) { return in[0]; }));
  const ExportedProgram program = d.finish();
  const ValueUsers users = value_users(program.view());
  CHECK(users.of(x).size() == 2);
  CHECK(users.of(p).size() == 1);
  CHECK(users.is_output[y] == 1);
}
