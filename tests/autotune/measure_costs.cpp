// SPDX-License-Identifier: MIT
#include "davit/autotune/measure_costs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "../support/timed_backend.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;
using support::Draft, support::Timed, support::TimedToys, support::ToyClock;
using First = support::timed_backend<0>;
using Second = support::timed_backend<1>;

namespace {

constexpr RegionOptions three{.regions = 3};

CostTable measured(const ExportedProgram& program, const TimingOptions& timing = {}) {
  CostTable table;
  REQUIRE(measure_costs<Timed, ToyClock>(Method{"forward", &program}, table, {.regions = three}, timing));
  return table;
}
std::vector<Name> tags(const ExportedProgram& program, const CostTable& table) {
  const auto p = AutotunePartitioner<Timed>(table, {.regions = three}).partition(Method{"forward", &program});
  REQUIRE(p);
  std::vector<Name> all;
  for (const TagId tag : p->tags.nodes) all.push_back(tag == no_id ? Name() : p->tags.names[tag]);
  return all;
}
/// The time of a run by the toy clock, lowered with the table.
std::int64_t time_of(const ExportedProgram& program, const CostTable& table) {
  auto lowered = to_backend(program, AutotunePartitioner<Timed>(table, {.regions = three}));
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const std::int64_t begin = ToyClock::ns;
  CHECK(support::run(session, {4}) == std::vector<float>{49});
  return ToyClock::ns - begin;
}

}  // namespace

TEST_CASE("each region is measured on each backend, and goes to the faster one") {
  const TimedToys toys;
  const ExportedProgram program = support::add_mul_add();
  First::mul_ns = 5000;
  Second::op_ns = 4000;
  const CostTable table = measured(program);
  CHECK(tags(program, table) ==
        std::vector<Name>{"timed0_0", "timed0_0", "timed1_0", "timed1_0", "timed0_1", "timed0_1"});
  CHECK(time_of(program, table) == 3 * 100 + 6 * 1000);
  const RegionChoice choice = detail::make_choice(Timed::tables(), Method{"forward", &program}, {0, 1}, three);
  CHECK(table.find(choice.key(1, 2), "timed0")->ns == 100 + 2 * 5000);
  CHECK(table.find(choice.key(1, 2), "timed1")->ns == 100 + 2 * 1000);
  CHECK(table.find(choice.key(1, 2), "timed1")->what == "aten.mul.Tensor ... aten.mul.Tensor, 2 nodes");
  CHECK(table.find(choice.key(0, 3), "timed0")->ns == 100 + 4 * 1000 + 2 * 5000);
}

TEST_CASE("neighbours that the choice joins were measured together") {
  const TimedToys toys;
  const ExportedProgram program = support::add_mul_add();
  const AutotuneOptions options{.regions = {.regions = 6}};
  First::mul_ns = 5000;
  Second::op_ns = 4000;
  CostTable table;
  REQUIRE(measure_costs<Timed, ToyClock>(Method{"forward", &program}, table, options));
  const RegionChoice choice =
      detail::make_choice(Timed::tables(), Method{"forward", &program}, {0, 1}, options.regions);
  REQUIRE(choice.regions().count() == 6);
  REQUIRE(table.find(choice.key(0, 2), "timed0") != nullptr);
  CHECK(table.find(choice.key(0, 2), "timed0")->ns == 100 + 2 * 1000);
  CHECK(table.find(choice.key(2, 4), "timed1")->ns == 100 + 2 * 1000);
  const auto p = AutotunePartitioner<Timed>(table, options).partition(Method{"forward", &program});
  REQUIRE(p);
  CHECK(p->tags.nodes == std::vector<TagId>{0, 0, 1, 1, 2, 2});
}

TEST_CASE("a call that costs more than a switch saves keeps the program together, on the better backend") {
  const TimedToys toys;
  const ExportedProgram program = support::add_mul_add();
  First::mul_ns = 1200;
  Second::op_ns = 1100;
  First::call_ns = Second::call_ns = 1000;
  const CostTable table = measured(program);
  CHECK(tags(program, table) == std::vector<Name>(6, "timed0_0"));
  CHECK(time_of(program, table) == 1000 + 4 * 1000 + 2 * 1200);
}

TEST_CASE("the cost of borders beyond the regions is seen in whole programs, and recorded") {
  const TimedToys toys;
  const ExportedProgram program = support::add_mul_add();
  First::mul_ns = 1500;
  Second::op_ns = 1500;
  CHECK(tags(program, measured(program)).at(2) == "timed1_0");
  ToyClock::border_ns = 3000;
  const CostTable table = measured(program);
  CHECK(tags(program, table) == std::vector<Name>(6, "timed0_0"));
  REQUIRE(table.borders().size() == 1);
  CHECK(table.borders()[0].ns > 300);
  CostTable without;  // the learnt costs are enough without the times of whole programs
  for (const RegionCost& cost : table.regions()) without.set(cost);
  CHECK(tags(program, without).at(2) == "timed1_0");
  without.set(table.borders()[0]);
  CHECK(tags(program, without) == std::vector<Name>(6, "timed0_0"));
}

TEST_CASE("the choice is never slower than one backend alone: random times") {
  const TimedToys toys;
  const ExportedProgram program = support::add_mul_add();
  std::uint32_t random = 7;
  const auto next = [&] { return static_cast<std::int64_t>((random = random * 1664525u + 1013904223u) >> 20) + 1; };
  for (int round = 0; round < 40; ++round) {
    First::call_ns = next();
    Second::call_ns = next();
    First::op_ns = next();
    Second::op_ns = next();
    First::mul_ns = next();
    Second::mul_ns = next();
    const std::int64_t first = First::call_ns + 4 * First::op_ns + 2 * First::mul_ns;
    const std::int64_t second = Second::call_ns + 4 * Second::op_ns + 2 * Second::mul_ns;
    CHECK(time_of(program, measured(program)) <= std::min(first, second));
  }
}

TEST_CASE("a table that holds everything stays as it is; the same one gives the same partitions") {
  const TimedToys toys;
  const ExportedProgram program = support::add_mul_add();
  CostTable table = measured(program);
  const std::size_t regions = table.regions().size();
  const int runs = First::state.executed + Second::state.executed;
  First::mul_ns = 100'000;
  REQUIRE(measure_costs<Timed, ToyClock>(Method{"forward", &program}, table, {.regions = three}));
  CHECK(First::state.executed + Second::state.executed == runs);
  CHECK(table.regions().size() == regions);
}

TEST_CASE("a region that cannot be lowered or run is recorded, and another backend gets it") {
  const TimedToys toys;
  const ExportedProgram program = support::add_mul_add();
  const RegionChoice choice = detail::make_choice(Timed::tables(), Method{"forward", &program}, {0, 1}, three);
  First::state.fails_compile = true;
  const CostTable compiled = measured(program);
  CHECK(compiled.find(choice.key(0, 1), "timed0")->outcome == CostOutcome::refused);
  CHECK(tags(program, compiled) == std::vector<Name>(6, "timed1_0"));
  TimedToys::reset();
  First::state.available = false;
  const CostTable absent = measured(program);
  CHECK(absent.find(choice.key(0, 1), "timed0")->outcome == CostOutcome::refused);
  CHECK(tags(program, absent) == std::vector<Name>(6, "timed1_0"));
  TimedToys::reset();
  First::state.wrong_output = true;
  const CostTable wrong = measured(program);
  CHECK(wrong.find(choice.key(0, 1), "timed0")->outcome == CostOutcome::not_run);
  CHECK(tags(program, wrong) == std::vector<Name>(6, "timed1_0"));
}

TEST_CASE("without time everything is noted as not run, and the order decides") {
  const TimedToys toys;
  const ExportedProgram program = support::add_mul_add();
  First::call_ns = Second::call_ns = 30'000'000;
  First::op_ns = 40'000'000;
  const CostTable table = measured(program, {.total_ms = 0});
  CHECK(!table.regions().empty());
  CHECK(tags(program, table).size() == 6);
}

TEST_CASE("state, shared weights and branches; sub-graphs of control flow") {
  const TimedToys toys;
  Draft d;
  const ValueId w = d.parameter("w", 3);
  const ValueId n = d.buffer("n", 1);
  const ValueId x = d.user("x");
  const ValueId left = d.mul("left", d.add("l0", x, w), w);
  const ValueId right = d.add("right", d.mul("r0", x, 2.0), n);
  const ValueId next = d.add("next", n, 1.0);
  const ValueId sum = d.add("sum", left, right);
  const ValueId p = d.gt("p", sum, 0.0);
  d.mutate_buffer("n", next);
  d.output(d.cond(
      "out", p, {sum}, [&](auto in) { return d.mul("y", in[0], 2.0); }, [&](auto in) { return d.neg("z", in[0]); }));
  const ExportedProgram program = d.finish();
  First::mul_ns = 9000;
  Second::op_ns = 8000;
  const CostTable table = measured(program);
  auto chosen = to_backend(program, AutotunePartitioner<Timed>(table, {.regions = three}));
  auto whole = to_backend(program, AllNodePartitioner<Timed>{0});
  REQUIRE(chosen);
  REQUIRE(whole);
  Session a = *Session::make(*chosen);
  Session b = *Session::make(*whole);
  for (const float value : {4.0f, -3.0f, 0.5f}) CHECK(support::run(a, {value}) == support::run(b, {value}));
  CHECK(!support::run(a, {1}).empty());
}

namespace {

/// portable with additional useless work.
struct slow_portable : portable {
  static constexpr std::string_view name = "slow_portable";
  template <class Context>
  [[nodiscard]] static Status execute(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                      Context& context) {
    volatile unsigned work = 0;
    for (unsigned i = 0; i < 200'000; ++i) work = work + i;
    return portable::execute(handle, inputs, outputs, context);
  }
};
static_assert(Backend<slow_portable>);

}  // namespace

TEST_CASE("measured: portable against itself with work that leads nowhere, the slow one preferred") {
  using List = BackendList<slow_portable, portable>;
  const ExportedProgram program = support::add_mul_add();
  CostTable table;
  REQUIRE(measure_costs<List>(Method{"forward", &program}, table, {.regions = three}, {.max_rounds = 10}));
  auto lowered = to_backend(program, AutotunePartitioner<List>(table, {.regions = three}));
  REQUIRE(lowered);
  REQUIRE(lowered->methods()[0].delegates.size() == 1);
  CHECK(lowered->methods()[0].delegates[0].backend == 1);
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {4}) == std::vector<float>{49});
}

TEST_CASE("an order that makes no sense is an error") {
  const ExportedProgram program = support::add_mul_add();
  CostTable table;
  const auto bad = measure_costs<Timed, ToyClock>(Method{"forward", &program}, table, {.order = {5}});
  REQUIRE(!bad);
  CHECK(bad.error().code == ErrorCode::out_of_range);
}
