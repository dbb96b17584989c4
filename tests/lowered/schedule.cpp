// SPDX-License-Identifier: MIT
#include "davit/lowered/schedule.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../support/toy_backend.hpp"

using namespace davit;
using support::Draft;
using Slots = std::vector<std::uint32_t>;

namespace {

Slots slots(const Schedule& s, Range r) {
  const auto all = s.at(r);
  return {all.begin(), all.end()};
}

/// The schedule of a program that calls no delegate.
Result<Schedule> schedule_of(const ExportedProgram& program) {
  return make_schedule(program, method_interface(program), {});
}

/// An identity sub-graph of `count` values.
GraphId identity(Draft& d, std::uint32_t count, std::uint32_t results) {
  const GraphId g = d.b.begin_graph("body");
  std::vector<Argument> values;
  for (std::uint32_t i = 0; i < count; ++i)
    values.push_back(d.b.value(d.b.input(concat("in", i), ScalarType::float32, {})));
  values.resize(results, values[0]);
  d.b.end_graph(std::span<const Argument>(values));
  return g;
}

}  // namespace

TEST_CASE("inputs and outputs are in the slots of their values; literals have their own slots behind them") {
  Draft d;
  const ValueId x = d.user("x");
  const ValueId y = d.user("y");
  d.output(y);
  d.output(d.b.integer(3), std::int64_t{3});
  d.output(x);
  const auto s = schedule_of(d.finish());
  REQUIRE(s);
  CHECK(s->steps.empty());
  CHECK(s->input_slots == Slots{x, y});
  CHECK(s->output_slots == Slots{y, 2, x});
  REQUIRE(s->literals.size() == 1);
  CHECK(s->literals[0].slot == 2);
  CHECK(s->literals[0].argument.payload == 3);
  CHECK(s->slot_count == 3);
}

TEST_CASE("cond, while_loop, map and scan: which values are carried, sliced, or passed") {
  Draft d;
  const ValueId x = d.user("x");
  const ValueId y = d.user("y");
  const ValueId z = d.user("z");
  const GraphId two = identity(d, 2, 1);
  const GraphId other = identity(d, 2, 1);
  const GraphId mapped = identity(d, 2, 1);
  const GraphId scanned = identity(d, 3, 2);
  const GraphId three = identity(d, 3, 2);
  const GraphId test = identity(d, 3, 1);
  const ValueId a = d.like(x, "a");
  const ValueId b = d.like(x, "b");
  const ValueId c = d.like(x, "c");
  const ValueId e = d.like(x, "e");
  const ValueId f = d.like(x, "f");
  const ValueId g = d.like(x, "g");
  d.node("higher_order.cond", {d.b.value(x), d.b.subgraph(two), d.b.subgraph(other), d.b.tensors({y, z})}, {a});
  d.node("higher_order.while_loop", {d.b.subgraph(test), d.b.subgraph(three), d.b.tensors({x, y}), d.b.tensors({z})},
         {b, c});
  d.node("higher_order.map_impl", {d.b.subgraph(mapped), d.b.tensors({y}), d.b.value(z)}, {e});
  d.node(
      "higher_order.scan",
      {d.b.subgraph(scanned), d.b.tensors({x}), d.b.tensors({y}), d.b.integer(1), d.b.boolean(true), d.b.tensors({z})},
      {f, g});
  d.output(a);
  const auto s = schedule_of(d.finish());
  REQUIRE(s);
  REQUIRE(s->steps.size() == 4);
  CHECK(s->graphs.size() == 7);
  CHECK(s->graphs[0].steps == Range{0, 4});
  const ScheduleStep& cond = s->steps[0];
  CHECK(cond.kind == StepKind::cond);
  CHECK((cond.graph == two && cond.other == other));
  CHECK(slots(*s, cond.inputs) == Slots{x, y, z});
  CHECK(slots(*s, cond.outputs) == Slots{a});
  const ScheduleStep& loop = s->steps[1];
  CHECK(loop.kind == StepKind::while_loop);
  CHECK((loop.graph == test && loop.other == three));
  CHECK((loop.carried == 2 && loop.sliced == 0));
  CHECK(slots(*s, loop.inputs) == Slots{x, y, z});
  CHECK(slots(*s, loop.outputs) == Slots{b, c});
  const ScheduleStep& map = s->steps[2];
  CHECK(map.kind == StepKind::map);
  CHECK((map.carried == 0 && map.sliced == 1 && map.dim == 0 && map.reverse == 0));
  CHECK(slots(*s, map.inputs) == Slots{y, z});
  const ScheduleStep& scan = s->steps[3];
  CHECK(scan.kind == StepKind::scan);
  CHECK((scan.carried == 1 && scan.sliced == 1 && scan.dim == 1 && scan.reverse == 1));
  CHECK(slots(*s, scan.inputs) == Slots{x, y, z});
  CHECK(slots(*s, scan.outputs) == Slots{f, g});
}

TEST_CASE("a node that is neither a delegate call nor control flow it knows is an error that names it") {
  const auto error_of = [](auto&& write) {
    Draft d;
    const ValueId x = d.user("x");
    d.output(write(d, x));
    const auto s = schedule_of(d.finish());
    REQUIRE(!s);
    CHECK(s.error().code == ErrorCode::invalid_program);
    CHECK(s.error().stage == Stage::partition);
    return s.error().where;
  };
  CHECK(error_of([](Draft& d, ValueId x) { return d.neg("y", x); }) == "node 'y' (aten.neg.default)");
  CHECK(error_of([](Draft& d, ValueId x) {
          const GraphId body = identity(d, 1, 1);
          const ValueId y = d.like(x, "y");
          d.node("higher_order.wrap", {d.b.subgraph(body), d.b.value(x)}, {y});
          return y;
        }) == "node 'y' (higher_order.wrap)");
  CHECK(error_of([](Draft& d, ValueId x) {
          const ValueId y = d.like(x, "y");
          d.node("higher_order.cond", {d.b.value(x), d.b.value(x), d.b.value(x), d.b.tensors({x})}, {y});
          return y;
        }) == "node 'y' (higher_order.cond)");
  CHECK(error_of([](Draft& d, ValueId x) {  // delegate 5 does not exist
          const ValueId y = d.like(x, "y");
          d.node(call_delegate_target, {d.b.integer(5), d.b.value(x)}, {y});
          return y;
        }) == "node 'y' (higher_order.executorch_call_delegate)");
}

TEST_CASE(
    "a delegate call takes buffers that moved from slots of their own, and gives tokens, mutations and results back") {
  Draft d;
  const ValueId t0 = d.token("t0");
  const ValueId total = d.buffer("total", 1);
  const ValueId x = d.user("x");
  const auto [t1, sum] = d.effect("t1", "sum", t0, total, x);
  d.output_token(t1);
  d.mutate_buffer("total", sum);
  d.output(sum);
  const ExportedProgram piece = d.finish();
  const MethodInterface interface = method_interface(piece);
  const MethodInterface* const interfaces[] = {&interface};

  Draft p;
  const ValueId p0 = p.token("t0");
  const ValueId px = p.user("x");
  const ValueId p1 = p.new_token("t1");
  const ValueId psum = p.like(px, "sum");
  p.node(call_delegate_target, {p.b.integer(0), p.b.value(p0), p.b.value(px)}, {p1, psum});
  p.output_token(p1);
  p.output(psum);
  const ExportedProgram parent = p.finish();
  const auto s = make_schedule(parent, interface, interfaces);
  REQUIRE(s);
  REQUIRE(s->buffers.size() == 1);
  const Schedule::MovedBuffer& buffer = s->buffers[0];
  CHECK(buffer.target == "total");
  CHECK((buffer.slot >= parent.graph_module.values.size() && buffer.result != buffer.slot));
  REQUIRE(s->steps.size() == 1);
  CHECK(s->steps[0].kind == StepKind::call_delegate);
  CHECK(slots(*s, s->steps[0].inputs) == Slots{buffer.slot, px});
  CHECK(slots(*s, s->steps[0].outputs) == Slots{p1, buffer.result, psum});
  CHECK(s->input_slots == Slots{buffer.slot, px});
  CHECK(s->output_slots == Slots{p1, buffer.result, psum});
}

TEST_CASE("a parent with other inputs or outputs than the method is an error, and so is a call that does not fit") {
  Draft d;
  d.output(d.user("x"));
  const ExportedProgram parent = d.finish();
  Draft more;
  more.output(more.user("x"));
  more.output(more.user("y"));
  const auto s = make_schedule(parent, method_interface(more.finish()), {});
  REQUIRE(!s);
  CHECK(s.error().what == "its inputs and outputs are not those of the method");
  Draft call;
  const ValueId x = call.user("x");
  const ValueId y = call.like(x, "y");
  call.node(call_delegate_target, {call.b.integer(0), call.b.value(x), call.b.value(x)}, {y});
  call.output(y);
  const ExportedProgram caller = call.finish();
  const MethodInterface interface = method_interface(parent);
  const MethodInterface* const interfaces[] = {&interface};
  CHECK(!make_schedule(caller, method_interface(caller), interfaces));
}

TEST_CASE("a delegate that is called twice is an error: a session's state for it is for one call") {
  Draft d;
  const ValueId x = d.user("x");
  const ValueId a = d.like(x, "a");
  const ValueId b = d.like(x, "b");
  d.node(call_delegate_target, {d.b.integer(0), d.b.value(x)}, {a});
  d.node(call_delegate_target, {d.b.integer(0), d.b.value(a)}, {b});
  d.output(b);
  const ExportedProgram parent = d.finish();
  Draft own;
  own.output(own.neg("n", own.user("x")));
  const MethodInterface part = method_interface(own.finish());
  const MethodInterface* const delegates[] = {&part};
  const auto s = make_schedule(parent, method_interface(parent), delegates);
  REQUIRE(!s);
  CHECK(s.error().code == ErrorCode::invalid_program);
  CHECK(s.error().where.view().find("node 'b'") != std::string_view::npos);
}
