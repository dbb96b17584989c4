// SPDX-License-Identifier: MIT
#include "davit/runtime/program_plan.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "../support/draft.hpp"
#include "davit/lowered/schedule.hpp"

using namespace davit;
using support::Draft;

namespace {

using Kind = PlannedBlock::Kind;

/// A schedule written by hand: slots by number, steps in order.
struct Steps {
  Schedule schedule;
  Steps() { schedule.graphs.push_back({}); }
  Range slots(std::initializer_list<std::uint32_t> list) {
    const Range r{static_cast<std::uint32_t>(schedule.slots.size()), static_cast<std::uint32_t>(list.size())};
    schedule.slots.insert(schedule.slots.end(), list.begin(), list.end());
    for (const std::uint32_t slot : list) schedule.slot_count = std::max(schedule.slot_count, slot + 1);
    return r;
  }
  Steps& call(std::initializer_list<std::uint32_t> in, std::initializer_list<std::uint32_t> out) {
    schedule.steps.push_back({.kind = StepKind::call_delegate, .inputs = slots(in), .outputs = slots(out)});
    ++schedule.graphs.back().steps.count;
    return *this;
  }
  Steps& flow(StepKind kind, GraphId graph, GraphId other, std::initializer_list<std::uint32_t> in,
              std::initializer_list<std::uint32_t> out, std::uint32_t carried = 0, std::uint32_t sliced = 0) {
    schedule.steps.push_back({.kind = kind,
                              .graph = graph,
                              .other = other,
                              .carried = carried,
                              .sliced = sliced,
                              .inputs = slots(in),
                              .outputs = slots(out)});
    ++schedule.graphs.back().steps.count;
    return *this;
  }
  /// Begins a sub-graph: the next steps belong to it.
  Steps& graph(std::initializer_list<std::uint32_t> in, std::initializer_list<std::uint32_t> out) {
    schedule.graphs.push_back(
        {.steps = {static_cast<std::uint32_t>(schedule.steps.size()), 0}, .inputs = slots(in), .outputs = slots(out)});
    return *this;
  }
  Steps& returns(std::initializer_list<std::uint32_t> out) {
    schedule.output_slots.assign(out);
    return *this;
  }
};

const PlannedBlock& value(const ProgramPlan& plan, std::uint32_t slot) {
  for (const PlannedBlock& block : plan.blocks)
    if (block.kind == Kind::value && block.slot == slot) return block;
  FAIL("no block for slot " << slot);
  return plan.blocks.front();
}
bool lives(const ProgramPlan& plan, std::uint32_t slot, std::uint32_t first, std::uint32_t last) {
  const Lifetime& life = value(plan, slot).life;
  CAPTURE(slot);
  CHECK(life.first == first);
  CHECK(life.last == last);
  return life.first == first && life.last == last;
}
/// All blocks of these bytes, placed.
ProgramPlan placed(const Schedule& schedule, std::size_t bytes = 100) {
  ProgramPlan plan = plan_lifetimes(schedule);
  for (PlannedBlock& block : plan.blocks) block.life.bytes = bytes;
  place_blocks(plan);
  return plan;
}

}  // namespace

TEST_CASE("a value lives from the step that makes it to the last that reads it, an output to the end") {
  Steps steps;
  steps.call({0}, {1}).call({1}, {2, 3}).call({2}, {4}).call({1, 4}, {5}).returns({5, 3});
  const ProgramPlan plan = plan_lifetimes(steps.schedule);
  CHECK(plan.ticks == 5);
  CHECK(plan.blocks.size() == 4 + 5);
  CHECK(lives(plan, 1, 1, 4));
  CHECK(lives(plan, 2, 2, 3));
  CHECK(lives(plan, 3, 2, 5));
  CHECK(lives(plan, 4, 3, 4));
  CHECK(lives(plan, 5, 4, 5));
  for (const PlannedBlock& block : plan.blocks)
    if (block.kind == Kind::scratch) CHECK(block.life.first == block.life.last);
  CHECK(plan.blocks[0].kind == Kind::scratch);
  CHECK(plan.blocks[0].step == 0);
}

TEST_CASE("an unused value has a place while it is made; a buffer's new value lives to the end") {
  Steps steps;
  steps.call({0, 6}, {1, 7}).call({0}, {2}).returns({2});
  steps.schedule.buffers.push_back({.target = "b", .slot = 6, .result = 7});
  const ProgramPlan plan = plan_lifetimes(steps.schedule);
  CHECK(lives(plan, 1, 1, 1));
  CHECK(lives(plan, 7, 1, 3));
  CHECK(placed(steps.schedule).is_sound());
}

TEST_CASE("operands of a cond that it returns live as long as its results") {
  // 1 = f(0); 2 = pred(0); 3 = cond(2, [1]) { yes: 11 = g(10), no: 20 }; 4 = h(0); 5 = k(3, 4)
  Steps steps;
  steps.call({0}, {1})
      .call({0}, {2})
      .flow(StepKind::cond, 1, 2, {2, 1}, {3})
      .call({0}, {4})
      .call({3, 4}, {5})
      .returns({5});
  steps.graph({10}, {11}).call({10}, {11}).graph({20}, {20});
  const ProgramPlan plan = plan_lifetimes(steps.schedule);
  const std::uint32_t last = value(plan, 4).life.last;  // the step that reads 3 as well
  CHECK(value(plan, 11).life.last == last);
  CHECK(value(plan, 1).life.last == last);  // the other branch returns it
  CHECK(value(plan, 2).life.last < value(plan, 4).life.first);
  CHECK(placed(steps.schedule).is_sound());
}

TEST_CASE("a loop's operands live until it ends, and never overlap its body's values") {
  // 1 = f(0); while (12 = c(10, 11)) { 22 = g(20, 21) } over 1 and 0
  Steps steps;
  steps.call({0}, {1}).flow(StepKind::while_loop, 1, 2, {1, 0}, {2}, 1).call({2}, {3}).returns({3});
  steps.graph({10, 11}, {12}).call({10, 11}, {12}).graph({20, 21}, {22}).call({20, 21}, {22});
  const ProgramPlan plan = placed(steps.schedule);
  const Lifetime& operand = value(plan, 1).life;
  for (const std::uint32_t slot : {12u, 22u}) {
    CHECK(operand.first < value(plan, slot).life.first);
    CHECK(operand.last >= value(plan, slot).life.last);
    CHECK(value(plan, slot).offset != value(plan, 1).offset);
  }
  CHECK(plan.is_sound());
}

TEST_CASE("results of a scan's body live until the scan ends") {
  Steps steps;
  steps.call({0}, {1}).flow(StepKind::scan, 1, no_id, {1, 0}, {2, 3}, 1, 1).returns({2, 3});
  steps.graph({10, 11}, {12, 13}).call({10, 11}, {12}).call({12}, {13});
  const ProgramPlan plan = placed(steps.schedule);
  CHECK(value(plan, 12).life.last >= value(plan, 13).life.first);
  CHECK(value(plan, 12).life.last == value(plan, 13).life.last);
  CHECK(plan.is_sound());
}

TEST_CASE("the result of a loop's condition lives until that loop ends, whatever loops are in its body") {
  // while (12 = c(10)) { scan over 20 { 31 = f(30) }; 22 = g(21) }
  Steps steps;
  steps.flow(StepKind::while_loop, 1, 2, {0}, {1}, 1).returns({1});
  steps.graph({10}, {12}).call({10}, {12});
  steps.graph({20}, {22}).flow(StepKind::scan, 3, no_id, {20, 20}, {21, 23}, 1, 1).call({21}, {22});
  steps.graph({30, 32}, {31, 31}).call({30}, {31});
  const ProgramPlan plan = placed(steps.schedule);
  CHECK(value(plan, 12).life.last == value(plan, 22).life.last);
  CHECK(plan.is_sound());
}

TEST_CASE("an input that an output may view lives as long as that") {
  Steps steps;
  steps.call({0}, {1}).call({1}, {2}).call({2}, {3}).call({2, 3}, {4}).returns({4});
  for (std::uint32_t d = 0; d < 4; ++d) steps.schedule.steps[d].delegate = d;
  CHECK(value(plan_lifetimes(steps.schedule), 1).life.last == 2);
  const std::uint8_t views[] = {0, 1, 0, 0};
  const ProgramPlan plan = plan_lifetimes(steps.schedule, views);
  CHECK(value(plan, 1).life.last == 4);
  CHECK(value(plan, 3).life.last == 4);
}

TEST_CASE("control flow that is nested too deeply is not planned") {
  Steps steps;
  steps.flow(StepKind::cond, 1, 1, {0, 0}, {1}).returns({1});
  for (GraphId g = 1; g < 80; ++g) {
    steps.graph({2 * g}, {2 * g + 1});
    if (g + 1 < 80)
      steps.flow(StepKind::map, g + 1, no_id, {2 * g}, {2 * g + 1}, 0, 1);
    else
      steps.call({2 * g}, {2 * g + 1});
  }
  CHECK(plan_lifetimes(steps.schedule).blocks.empty());
}

TEST_CASE("an output takes the place of an input that is not needed after the step, if it may") {
  Steps steps;
  steps.call({0}, {1}).call({1}, {2}).call({2, 1}, {3}).call({3}, {4, 5}).returns({5});
  ProgramPlan plan = plan_lifetimes(steps.schedule);
  for (PlannedBlock& block : plan.blocks) block.life.bytes = block.kind == Kind::scratch ? 0 : 100;
  std::vector<std::size_t> asked;
  const auto overwrite = [&](std::size_t scratch, std::initializer_list<std::uint32_t> in, std::size_t outputs,
                             bool may) {
    overwrite_inputs(plan, BlocksOfSlots(plan, steps.schedule.slot_count), scratch, std::vector<std::uint32_t>(in),
                     outputs, [&](std::size_t i, std::size_t) {
                       asked.push_back(i);
                       return may;
                     });
  };
  overwrite(0, {0}, 1, true);  // the caller's block
  CHECK(value(plan, 1).shares == no_id);
  overwrite(2, {1}, 1, true);  // the next step needs it too
  CHECK(value(plan, 2).shares == no_id);
  CHECK(asked.empty());
  overwrite(4, {2, 1}, 1, false);
  CHECK(value(plan, 3).shares == no_id);
  overwrite(4, {2, 1}, 1, true);
  CHECK(plan.blocks[value(plan, 3).shares].slot == 2);
  overwrite(6, {3}, 2, true);
  CHECK(plan.blocks[value(plan, 4).shares].slot == 2);  // the first block of this memory
  CHECK(value(plan, 5).shares == no_id);
  place_blocks(plan);
  CHECK(value(plan, 4).offset == value(plan, 2).offset);
  CHECK(plan.arena_bytes == 2 * 128);
  CHECK(plan.is_sound());
}

TEST_CASE("an output of another size does not take the place of an input") {
  Steps steps;
  steps.call({0}, {1}).call({1}, {2}).returns({2});
  ProgramPlan plan = plan_lifetimes(steps.schedule);
  plan.blocks[1].life.bytes = 100;
  plan.blocks[3].life.bytes = 101;
  overwrite_inputs(plan, BlocksOfSlots(plan, steps.schedule.slot_count), 2, std::vector<std::uint32_t>{1}, 1,
                   [](std::size_t, std::size_t) { return true; });
  CHECK(plan.blocks[3].shares == no_id);
}

TEST_CASE("is_sound finds a block that was moved onto another, outside the arena, or that shares without right") {
  Steps steps;
  steps.call({0}, {1}).call({0}, {2}).call({1, 2}, {3}).returns({3});
  const ProgramPlan good = placed(steps.schedule);
  CHECK(good.is_sound());
  CHECK(ProgramPlan().is_sound());
  int broken = 0;
  for (std::size_t b = 0; b < good.blocks.size(); ++b)
    for (std::size_t other = 0; other < good.blocks.size(); ++other) {
      const Lifetime& x = good.blocks[b].life;
      const Lifetime& y = good.blocks[other].life;
      ProgramPlan moved = good;
      moved.blocks[b].offset = good.blocks[other].offset + 64;  // overlaps in part
      if (moved.blocks[b].offset + 100 > moved.arena_bytes) moved.arena_bytes = moved.blocks[b].offset + 100;
      const bool together = b != other && x.first <= y.last && y.first <= x.last;
      if (together) CHECK(!moved.is_sound());
      broken += together ? 1 : 0;
    }
  CHECK(broken > 6);
  ProgramPlan outside = good;
  outside.blocks[1].offset = good.arena_bytes - 99;
  CHECK(!outside.is_sound());
  outside.blocks[1].offset = SIZE_MAX - 10;
  CHECK(!outside.is_sound());
  ProgramPlan shrunk = good;
  shrunk.arena_bytes -= 64;
  CHECK(!shrunk.is_sound());
  ProgramPlan shared = good;  // 1 and 2 are both needed by the last step
  shared.blocks[3].shares = 1;
  shared.blocks[3].offset = shared.blocks[1].offset;
  CHECK(!shared.is_sound());
}

TEST_CASE("the report has a line per block, in order of offsets, and names values, scratch and buffers") {
  Draft d;
  const ValueId x = d.user("x");
  d.output(d.add("sum", x, 1.0));
  const ExportedProgram program = d.finish();
  Steps steps;
  steps.call({0}, {1, 2}).returns({1});
  ProgramPlan plan = plan_lifetimes(steps.schedule);
  for (PlannedBlock& block : plan.blocks) block.life.bytes = block.kind == Kind::scratch ? 1000 : 10;
  place_blocks(plan);
  CHECK(plan.report(program.view()) ==
        "arena 1152 bytes for 1020 bytes in 3 blocks\n"
        "  at 0, 1000 bytes, ticks 1 to 1: scratch of step 0\n"
        "  at 1024, 10 bytes, ticks 1 to 2: 'sum'\n"
        "  at 1088, 10 bytes, ticks 1 to 1: new value of a buffer, slot 2\n");
  CHECK(ProgramPlan().report(program.view()) == "arena 0 bytes for 0 bytes in 0 blocks\n");

  plan.blocks.push_back({.slot = 1, .step = 0});  // a block without bytes appears in neither report
  steps.schedule.steps[0].delegate = 7;
  const PartitionReport::Memory memory = plan.memory(steps.schedule, program.view());
  CHECK((memory.arena_bytes == 1152 && memory.total_bytes == 1020 && memory.ticks == 2));
  REQUIRE(memory.blocks.size() == 3);
  CHECK((memory.blocks[0].scratch && memory.blocks[0].what == "scratch of step 0" && memory.blocks[0].bytes == 1000));
  const PartitionReport::Block& sum = memory.blocks[1];
  CHECK((!sum.scratch && sum.what == "'sum'" && sum.partition == 7 && sum.offset == 1024 && sum.first == 1 &&
         sum.last == 2));
}

TEST_CASE("random plans, some with more blocks than are sorted by size, are sound and no larger than all blocks") {
  std::uint64_t seed = 11;
  const auto random = [&](std::uint64_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>((seed >> 33) % below);
  };
  for (const std::size_t count : {10u, 60u, 60u, 400u, 3000u}) {
    for (int round = 0; round < (count > 100 ? 2 : 100); ++round) {
      Schedule schedule;
      schedule.graphs.push_back({});
      schedule.slot_count = 3;
      for (std::size_t i = 0; i < count; ++i) {
        ScheduleStep step{.kind = StepKind::call_delegate};
        step.inputs = {static_cast<std::uint32_t>(schedule.slots.size()), 1 + random(3)};
        for (std::uint32_t k = 0; k < step.inputs.count; ++k)
          schedule.slots.push_back(schedule.slot_count - 1 -
                                   random(std::min(schedule.slot_count, random(9) == 0 ? schedule.slot_count : 5u)));
        step.outputs = {static_cast<std::uint32_t>(schedule.slots.size()), 1 + random(2)};
        for (std::uint32_t k = 0; k < step.outputs.count; ++k) schedule.slots.push_back(schedule.slot_count++);
        schedule.steps.push_back(step);
      }
      schedule.graphs[0].steps.count = static_cast<std::uint32_t>(count);
      for (int k = 0; k < 3; ++k) schedule.output_slots.push_back(random(schedule.slot_count));
      ProgramPlan plan = plan_lifetimes(schedule);
      for (PlannedBlock& block : plan.blocks) block.life.bytes = random(3) == 0 ? 0 : 64 * random(30);
      const BlocksOfSlots made(plan, schedule.slot_count);
      for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
        if (plan.blocks[b].kind != Kind::scratch) continue;
        const ScheduleStep& step = schedule.steps[plan.blocks[b].step];
        overwrite_inputs(plan, made, b, schedule.at(step.inputs), step.outputs.count,
                         [&](std::size_t, std::size_t) { return random(2) == 0; });
      }
      place_blocks(plan);
      std::size_t all = 0;
      for (const PlannedBlock& block : plan.blocks) {
        all += (block.life.bytes + plan_alignment - 1) / plan_alignment * plan_alignment;
        if (block.offset % plan_alignment != 0) FAIL_CHECK("an offset is not aligned");
      }
      CHECK(plan.is_sound());
      CHECK(plan.arena_bytes <= all);
    }
  }
}
