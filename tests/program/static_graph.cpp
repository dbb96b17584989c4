// SPDX-License-Identifier: MIT
#include "davit/program/static_graph.hpp"

#include <doctest/doctest.h>

#include "../programs.hpp"
#include "davit/program/check_tables.hpp"
#include "davit/program/graph_equal.hpp"
#include "davit/program/strip_metadata.hpp"

using namespace davit;

namespace {

constexpr auto with_metadata = freeze_graph<[] { return programs::add({2, 3}).graph_module; }>();
constexpr auto without = freeze_graph<[] { return programs::add({2, 3}).graph_module; }, false>();
constexpr auto stripped = freeze_graph<[] { return strip_metadata(programs::add({2, 3}).graph_module.view()); }>();

constexpr bool check_frozen() {
  const ProgramTables program = programs::add({2, 3});
  return graph_equal(with_metadata.view(), program.view(), {.metadata = true}) &&
         graph_equal(without.view(), program.view()) &&
         !graph_equal(without.view(), program.view(), {.metadata = true}) && without.view().metadata.empty() &&
         check_tables(with_metadata.view()).has_value() && check_tables(without.view()).has_value();
}
static_assert(check_frozen());
static_assert(stripped.text.size() < without.text.size());

}  // namespace

TEST_CASE("a frozen graph equals the one it was made from, and may leave metadata out") { CHECK(check_frozen()); }
