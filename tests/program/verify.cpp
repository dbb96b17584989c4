// SPDX-License-Identifier: MIT
#include "davit/program/verify.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../programs.hpp"
#include "program/only_violation.hpp"

using namespace davit;

namespace {

constexpr bool check_seed() { return verify(programs::seed()).empty(); }
static_assert(check_seed());

constexpr bool check_all_come_back() {
  ProgramTables p = programs::seed();
  p.state_dict.clear();                                                                   // 3 violations
  put<OutputSpec>(p.signature.output_specs, 0, BufferMutationSpec({"add_9"}, "nosuch"));  // 2
  p.graph_module.nodes[1].target = p.graph_module.values[0].name;                         // 1
  p.graph_module.nodes[3].target = {};                                                    // 1
  return verify(p).size() == 7;
}
static_assert(check_all_come_back());

constexpr bool check_damaged_tables() {
  ProgramTables p = programs::seed();
  p.graph_module.arguments[0].payload = 1000;
  const std::vector<Error> v = verify(p);
  return v.size() == 1 && v[0].code == ErrorCode::corrupt_data && v[0].stage == Stage::verify &&
         v[0].where == "table 'arguments', row 0" && v[0].what == "unknown value";
}
static_assert(check_damaged_tables());

}  // namespace

TEST_CASE("a sound program has no violation") { CHECK(check_seed()); }
TEST_CASE("every violation comes back, not the first alone") { CHECK(check_all_come_back()); }
TEST_CASE("damaged tables are one error with table and row") { CHECK(check_damaged_tables()); }
