// SPDX-License-Identifier: MIT
#include "davit/backend/step_writer.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <type_traits>

namespace {

using namespace davit;

struct first {
  struct Params {
    std::int32_t count;
    float scale;
  };
};
struct second {
  struct Params {};
};
static_assert(kernel_id<first> != kernel_id<second>);
static_assert(std::is_same_v<joined_kernels<kernel_list<first>, kernel_list<second>>, kernel_list<first, second>>);
static_assert(static_cast<const first::Params&>(Constant<first::Params{3, 2}>{}).count == 3);

constexpr bool writes_steps() {
  const std::array<StaticValue, 2> values{
      {{"y", 0, 0, 1, 0, 1, ScalarType::float32}, {"x", 0, 0, 1, -1, 1, ScalarType::int8}}};
  const EmbedGraph graph{.graph = {.values = values.data()}, .self = 2};
  StepTables tables;
  tables.needs = Table<std::uint8_t>(2);
  tables.tags = Table<std::uint8_t>(2);
  StepWriter steps(tables, graph, 5);
  constexpr std::array<std::int32_t, 2> numbers{8, 9};
  const std::uint32_t scratch = steps.temporary(ScalarType::int16, 12);
  steps.step<first>({3, 0.5f}).out(0).in(1).in(no_id).scratch(scratch).table<std::int32_t>(numbers).overwrites(1);
  steps.step<second>({}).out(0);
  steps.step<first>({3, 0.5f}).out(0);
  steps.set_tag(1, 7);
  const StaticStep& s = tables.steps[0];
  bool ok = s.kernel == kernel_id<first> && s.node == 5 && s.backend == 2 && s.operands == Range{0, 5} &&
            s.params == Range{0, 2};
  ok =
      ok && tables.params[0] == 3 && tables.params[1] == std::bit_cast<std::int32_t>(0.5f) && tables.params.size() == 2;
  ok = ok && tables.steps[2].params.first == 0 && tables.steps[1].params.count == 0;
  ok = ok && tables.operands[1].dtype == ScalarType::int8 && tables.operands[2].kind == StepOperand::Kind::none;
  ok = ok && tables.operands[3].dtype == ScalarType::int16 && tables.operands[4].id == 0 && tables.tables.i32[1] == 9;
  return ok && tables.needs[1] == StepTables::needed_by_some && tables.needs[0] == StepTables::written &&
         s.overwrites[0] == 1 && s.overwrites[1] == no_id && steps.tag(1) == 7;
}
static_assert(writes_steps());

}  // namespace

TEST_CASE("steps are written at run time as in constant evaluation") { CHECK(writes_steps()); }
