// SPDX-License-Identifier: MIT
#include "davit/runtime/session.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "../support/error_in.hpp"
#include "../support/toy_backend.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;
using support::A, support::B, support::ByHand, support::Draft, support::error_in, support::Sizes, support::Toys,
    support::Two;
using Floats = std::vector<float>;

namespace {

/// The split program: operators in `other` go to toy1, the rest to toy0.
LoweredProgram split(const ExportedProgram& program, std::string_view other = "mul") {
  A::state.refused = other;
  auto lowered = to_backend(program, CapabilityPartitioner<Two>());
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  return *std::move(lowered);
}
LoweredProgram by_hand(const ExportedProgram& program, std::initializer_list<support::Group> groups) {
  auto lowered = to_backend(program, ByHand<Two>(program.view(), groups));
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  return *std::move(lowered);
}
Floats state_of(std::span<const NamedTensor> state) {
  Floats values;
  for (const NamedTensor& entry : state) values.push_back(*entry.tensor.view().as<float>());
  return values;
}
template <class Session>
auto run_one(Session& session, const Tensor& x) {
  const EValue inputs[] = {x};
  return session.run(0, inputs);
}

/// total += x in one partition, x *= 2 in another; returns total * x, and total before the change
ExportedProgram accumulates() {
  Draft d;
  const ValueId total = d.buffer("total", 10);
  const ValueId x = d.user("x");
  const ValueId sum = d.add("sum", total, x);
  const ValueId twice = d.mul("twice", x, 2.0);
  d.mutate_buffer("total", sum);
  d.mutate_input("x", twice);
  d.output(d.mul("y", sum, twice));
  d.output(total);
  return d.finish();
}

/// while (i < limit) { i = i + step; x = x * 2 }, over vectors of `sizes`; i has the same sizes
ExportedProgram loops(double limit, Sizes sizes = {}) {
  Draft d;
  const ValueId i = d.user("i", sizes);
  const ValueId x = d.user("x", sizes);
  const ValueId step = d.user("step", sizes);
  const GraphId go_on = d.branch("go_on", 3, [&](auto in) { return d.lt("less", in[0], limit); }, sizes);
  const GraphId body = d.branch(
      "body", 3, [&](auto in) { return std::vector{d.add("next", in[0], in[2]), d.mul("doubled", in[1], 2.0)}; },
      sizes);
  const ValueId last = d.like(i, "last");
  const ValueId y = d.like(x, "y");
  d.node("higher_order.while_loop", {d.b.subgraph(go_on), d.b.subgraph(body), d.b.tensors({i, x}), d.b.tensors({step})},
         {last, y});
  d.output(last);
  d.output(d.add("z", y, 1.0));
  return d.finish();
}

/// carry = carry + slice * k; rows = slice - carry; over a dimension of x (3, 2)
ExportedProgram scans(std::int64_t dim, bool reverse) {
  const bool rows = dim == 0 || dim == -2;
  Draft d;
  const ValueId x = d.user("x", {3, 2});
  const ValueId init = rows ? d.user("init", {2}) : d.user("init", {3});
  const ValueId k = rows ? d.user("k", {2}) : d.user("k", {3});
  const auto body = [&](auto in) {
    const ValueId carry = d.add("carry", in[0], d.mul("scaled", in[1], in[2]));
    return std::vector{carry, d.sub("row", in[1], carry)};
  };
  const GraphId graph = rows ? d.branch("body", 3, body, {2}) : d.branch("body", 3, body, {3});
  const ValueId last = d.like(init, "last");
  const ValueId stacked =
      rows ? d.b.tensor("stacked", ScalarType::float32, {3, 2}) : d.b.tensor("stacked", ScalarType::float32, {2, 3});
  d.node("higher_order.scan",
         {d.b.subgraph(graph), d.b.tensors({init}), d.b.tensors({x}), d.b.integer(dim), d.b.boolean(reverse),
          d.b.tensors({k})},
         {last, stacked});
  d.output(last);
  d.output(d.neg("result", stacked));
  return d.finish();
}

/// x and y of one dynamic length s0, within `range`; returns (x + y) * y
ExportedProgram dynamic(std::int64_t min, std::optional<std::int64_t> max) {
  Draft d;
  const ExprId s0 = d.b.symbol("s0");
  const ValueId x = d.user("x", s0);
  const ValueId y = d.user("y", s0);
  const ValueId sum = d.add("sum", x, y);
  d.output(d.mul("product", sum, y));
  d.program.range_constraints.push_back({"s0", min, max});
  return d.finish();
}
Tensor ramp(std::int64_t count, float first = 1) {
  const std::int64_t sizes[] = {count};
  Tensor t = Tensor::zeros(ScalarType::float32, sizes);
  for (std::int64_t i = 0; i < count; ++i) t.view().as<float>()[i] = first + static_cast<float>(i);
  return t;
}

/// A tracer that runs its own session again.
struct RunsAgain {
  static constexpr bool enabled = true;
  Session* session = nullptr;
  const Tensor* x = nullptr;
  std::vector<Error> errors{};
  void begin_op(DebugHandle, std::string_view) {}
  void end_op(DebugHandle, std::string_view) {}
  void memory(DebugHandle, std::size_t) {}
  void begin_delegate(std::string_view, std::string_view) { errors.push_back(error_in(run_one(*session, *x))); }
};

struct Calls {
  static constexpr bool enabled = true;
  std::vector<Name> log;
  void begin_op(DebugHandle, std::string_view) {}
  void end_op(DebugHandle, std::string_view) {}
  void memory(DebugHandle, std::size_t) {}
  void begin_delegate(std::string_view tag, std::string_view backend) {
    log.push_back(concat("begin ", tag, " of ", backend));
  }
  void end_delegate(std::string_view tag, std::string_view) { log.push_back(concat("end ", tag)); }
  void delegate_outputs(std::string_view tag, std::span<const EValue> outputs) {
    log.push_back(concat(tag, ": ", outputs.size()));
  }
};

}  // namespace

TEST_CASE("outputs come in the program's order, whichever partition made them, with literals among them") {
  const Toys toys;
  Draft d;
  const ValueId k = d.constant("k", 7);
  const ValueId x = d.user("x");
  const ValueId h = d.user("h");
  const ValueId late = d.mul("late", d.add("first", x, h), x);
  d.output(late);
  d.output(h);
  d.output(d.b.integer(5), std::int64_t{5});
  d.output(k);
  d.output(d.sub("difference", x, h));
  d.output(late);
  Session session = *Session::make(split(d.finish()));
  const Tensor a = programs::scalar(3);
  const Tensor b = programs::scalar(4);
  const EValue inputs[] = {a, b};
  for (int i = 0; i < 2; ++i) {
    const auto outputs = session.run("forward", inputs);
    REQUIRE(outputs);
    REQUIRE(outputs->size() == 6);
    CHECK((*outputs)[2]->as_int() == 5);
    CHECK(programs::item((*outputs)[0]) == 21);
    CHECK(programs::item((*outputs)[1]) == 4);
    CHECK(programs::item((*outputs)[3]) == 7);
    CHECK(programs::item((*outputs)[4]) == -1);
    CHECK(programs::item((*outputs)[5]) == 21);
  }
}

TEST_CASE("outputs of one node that go to different partitions, and an unused one") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  const auto [sum, difference] = d.both("sum", "difference", x, 2.0);
  const auto [other, unused] = d.both("other", "unused", difference, 1.0);
  (void)unused;
  d.output(d.mul("m", other, sum));
  const ExportedProgram program = d.finish();
  Session session = *Session::make(by_hand(program, {{0, {"sum"}}, {1, {"other"}}, {0, {"m"}}}));
  CHECK(support::run(session, {5}) == Floats{28});
}

TEST_CASE("buffers and user inputs take their new values after a run, and the outputs keep the old ones") {
  const Toys toys;
  Session session = *Session::make(split(accumulates()));
  const Tensor x = programs::scalar(3);
  const auto outputs = run_one(session, x);
  REQUIRE(outputs);
  CHECK(support::items(outputs->all()) == Floats{13, 6, 78, 10});
  CHECK(state_of(session.state()) == Floats{13});
  CHECK(*x.view().as<float>() == 6);
  const auto again = run_one(session, x);
  REQUIRE(again);
  CHECK(support::items(again->all()) == Floats{19, 12, 228, 13});
}

TEST_CASE(
    "a failed run changes neither buffers nor user inputs, whichever partition fails, and the next one succeeds") {
  const Toys toys;
  const LoweredProgram lowered = split(accumulates());
  for (support::ToyState* state : {&A::state, &B::state}) {
    Session session = *Session::make(lowered);
    const Tensor x = programs::scalar(3);
    REQUIRE(run_one(session, x));
    for (int failed = 0; failed < 2; ++failed) {
      state->fail_at = 0;
      CHECK(error_in(run_one(session, x)).what == "it was told to fail");
      CHECK(state_of(session.state()) == Floats{13});
      CHECK(*x.view().as<float>() == 6);
    }
    const auto outputs = run_one(session, x);
    REQUIRE(outputs);
    CHECK(support::items(outputs->all()) == Floats{19, 12, 228, 13});
  }
}

TEST_CASE("a buffer that moved into its one partition is the session's, as one that several partitions use") {
  const Toys toys;
  Draft d;
  const ValueId own = d.buffer("own", 1);
  const ValueId common = d.buffer("common", 100);
  const ValueId x = d.user("x");
  const ValueId next_own = d.mul("next_own", own, 3.0);
  const ValueId a = d.add("a", common, x);
  const ValueId b = d.mul("b", common, x);
  d.mutate_buffer("own", next_own);
  d.mutate_buffer("common", a);
  d.output(b);
  const LoweredProgram lowered = split(d.finish());
  CHECK(lowered.methods()[0].schedule.buffers.size() == 1);
  Session first = *Session::make(lowered);
  Session second = *Session::make(lowered);
  CHECK(support::run(first, {2}) == Floats{3, 102, 200});
  CHECK(support::run(first, {2}) == Floats{9, 104, 204});
  CHECK(support::run(second, {2}) == Floats{3, 102, 200});
  CHECK(state_of(first.state()) == Floats{9, 104});
  CHECK(state_of(lowered.state()) == Floats{1, 100});
  Session moved = std::move(first);
  CHECK(support::run(moved, {2}) == Floats{27, 106, 208});
}

TEST_CASE("two buffers that take each other's value are swapped at the end, not on the way") {
  const Toys toys;
  Draft d;
  const ValueId m = d.buffer("m", 1);
  const ValueId n = d.buffer("n", 2);
  const ValueId x = d.user("x");
  d.mutate_buffer("m", n);
  d.mutate_buffer("n", m);
  d.output(d.add("sum", x, m));
  Session session = *Session::make(split(d.finish()));
  CHECK(support::run(session, {10}) == Floats{2, 1, 11});
  CHECK(state_of(session.state()) == Floats{2, 1});
  CHECK(support::run(session, {10}).back() == 12);
}

TEST_CASE("tokens order operators with effects across partitions, and are no values of the caller") {
  const Toys toys;
  Draft d;
  const ValueId t0 = d.token("t0");
  const ValueId x = d.user("x");
  const auto [t1, a] = d.effect("t1", "a", t0, x, 1.0);
  const ValueId m = d.mul("m", a, 2.0);
  const auto [t2, b] = d.effect("t2", "b", t1, m, 3.0);
  d.output_token(t2);
  d.output(b);
  const ExportedProgram program = d.finish();
  const LoweredProgram lowered = by_hand(program, {{0, {"t1"}}, {1, {"m"}}, {0, {"t2"}}});
  CHECK(lowered.methods()[0].schedule.steps.size() == 3);
  Session session = *Session::make(lowered);
  const Tensor x0 = programs::scalar(4);
  const auto outputs = run_one(session, x0);
  REQUIRE(outputs);
  REQUIRE(outputs->all().size() == 2);
  CHECK(outputs->all()[0].is_none());
  CHECK(outputs->size() == 1);
  CHECK(programs::item((*outputs)[0]) == 13);
  CHECK(A::state.executed == 2);
}

TEST_CASE("cond runs the branch that its predicate names, and only that one") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  const ValueId p = d.gt("p", x, 0.0);
  const ValueId out = d.cond(
      "out", p, {x}, [&](auto in) { return d.mul("m", in[0], 2.0); }, [&](auto in) { return d.neg("n", in[0]); });
  d.output(d.add("result", out, 100.0));
  const LoweredProgram lowered = split(d.finish());
  Session session = *Session::make(lowered);
  CHECK(support::run(session, {4}) == Floats{108});
  CHECK(B::state.executed == 1);
  CHECK(support::run(session, {-4}) == Floats{104});
  CHECK(B::state.executed == 1);
  CHECK(support::run(session, {5}) == Floats{110});
}

TEST_CASE("nested cond, with a branch that returns its operand, and a predicate that is a literal") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  const ValueId y = d.user("y");
  const ValueId p = d.gt("p", x, 0.0);
  const ValueId out = d.cond(
      "out", p, {x, y},
      [&](auto in) {
        const ValueId q = d.gt("q", in[1], 0.0);
        return d.cond(
            "inner", q, {in[0], in[1]}, [&](auto deep) { return d.add("s", deep[0], deep[1]); },
            [&](auto deep) { return deep[1]; });
      },
      [&](auto in) { return d.neg("n", in[0]); });
  const GraphId yes = d.branch("yes", 1, [&](auto in) { return d.relu("r", in[0]); });
  const GraphId no = d.branch("no", 1, [&](auto in) { return d.mul("never", in[0], 0.0); });
  const ValueId fixed = d.like(x, "fixed");
  d.node("higher_order.cond", {d.b.boolean(true), d.b.subgraph(yes), d.b.subgraph(no), d.b.tensors({out})}, {fixed});
  d.output(out);
  d.output(fixed);
  Session session = *Session::make(split(d.finish()));
  CHECK(support::run(session, {1, 2}) == Floats{3, 3});
  CHECK(support::run(session, {1, -2}) == Floats{-2, 0});
  CHECK(support::run(session, {-1, 2}) == Floats{1, 1});
}

TEST_CASE("a predicate that is no bool is an error at the node, with its source line") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  d.metadata = d.b.metadata(programs::trace_of_add);
  const ValueId out = d.cond("out", x, {x}, [&](auto in) { return in[0]; }, [&](auto in) { return d.neg("n", in[0]); });
  d.output(out);
  Session session = *Session::make(split(d.finish()));
  const Tensor x0 = programs::scalar(1);
  const Error error = error_in(run_one(session, x0));
  CHECK(error.code == ErrorCode::invalid_dtype);
  CHECK(error.stage == Stage::execute);
  CHECK(error.where == "method 'forward', node 'out' (higher_order.cond)");
  CHECK(error.source.view().find("return x + h") != std::string_view::npos);
}

TEST_CASE("while_loop runs until its condition is false; without an iteration its operands come out") {
  const Toys toys;
  const LoweredProgram lowered = split(loops(3));
  CHECK(lowered.methods()[0].delegates.size() == 4);
  Session session = *Session::make(lowered);
  CHECK(support::run(session, {0, 1, 1}) == Floats{3, 9});
  CHECK(support::run(session, {5, 1, 1}) == Floats{5, 2});
  CHECK(support::run(session, {-4, 1, 1}) == Floats{3, 129});
  CHECK(support::run(session, {2, 8, 5}) == Floats{7, 17});
}

TEST_CASE("a loop without end stops at the session's limit; one that ends just there does not") {
  const Toys toys;
  const LoweredProgram lowered = split(loops(3));
  Session session = *Session::make(lowered, {.limits = {.max_loop_iterations = 3}});
  CHECK(support::run(session, {0, 1, 1}) == Floats{3, 9});
  const Tensor zero = programs::scalar(0);
  const EValue endless[] = {zero, zero, zero};
  const Error error = error_in(session.run(0, endless));
  CHECK(error.code == ErrorCode::out_of_range);
  CHECK(error.what == "the loop did not end in 3 iterations");
  CHECK(error.where == "method 'forward', node 'last' (higher_order.while_loop)");
  CHECK(support::run(session, {0, 1, 1}) == Floats{3, 9});
}

TEST_CASE("a loop in a loop: the inner one begins anew each time") {
  const Toys toys;
  // i = 0; while (i < 3) { j = 0; while (j < 2) { j = j + 1; x = x + 10 } i = i + j - 1; }
  Draft d;
  const ValueId i = d.user("i");
  const ValueId x = d.user("x");
  const GraphId go_on = d.branch("go_on", 2, [&](auto in) { return d.lt("less", in[0], 3.0); });
  const GraphId body = d.branch("body", 2, [&](auto in) {
    const ValueId zero = d.mul("zero", in[0], 0.0);
    const GraphId inner_go_on = d.branch("inner_go_on", 2, [&](auto deep) { return d.lt("inner_less", deep[0], 2.0); });
    const GraphId inner = d.branch(
        "inner", 2, [&](auto deep) { return std::vector{d.add("j", deep[0], 1.0), d.add("y", deep[1], 10.0)}; });
    const ValueId j = d.like(in[0], "last_j");
    const ValueId y = d.like(in[0], "last_y");
    d.node("higher_order.while_loop",
           {d.b.subgraph(inner_go_on), d.b.subgraph(inner), d.b.tensors({zero, in[1]}), d.b.tensors({})}, {j, y});
    return std::vector{d.sub("next", d.add("sum", in[0], j), 1.0), y};
  });
  const ValueId last = d.like(i, "last");
  const ValueId total = d.like(x, "total");
  d.node("higher_order.while_loop", {d.b.subgraph(go_on), d.b.subgraph(body), d.b.tensors({i, x}), d.b.tensors({})},
         {last, total});
  d.output(last);
  d.output(total);
  Session session = *Session::make(split(d.finish()));
  for (int n = 0; n < 2; ++n) CHECK(support::run(session, {0, 5}) == Floats{3, 65});
}

TEST_CASE("a loop whose body swaps its carried values") {
  const Toys toys;
  Draft d;
  const ValueId i = d.user("i");
  const ValueId x = d.user("x");
  const ValueId y = d.user("y");
  const GraphId go_on = d.branch("go_on", 3, [&](auto in) { return d.lt("less", in[0], 3.0); });
  const GraphId body =
      d.branch("body", 3, [&](auto in) { return std::vector{d.add("next", in[0], 1.0), in[2], in[1]}; });
  const ValueId a = d.like(x, "a");
  const ValueId b = d.like(x, "b");
  const ValueId c = d.like(x, "c");
  d.node("higher_order.while_loop", {d.b.subgraph(go_on), d.b.subgraph(body), d.b.tensors({i, x, y}), d.b.tensors({})},
         {a, b, c});
  for (const ValueId v : {a, b, c}) d.output(v);
  Session session = *Session::make(split(d.finish()));
  CHECK(support::run(session, {0, 1, 2}) == Floats{3, 2, 1});
  CHECK(support::run(session, {1, 1, 2}) == Floats{3, 1, 2});
}

TEST_CASE("map runs its body over the first dimension and stacks the results") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x", {3, 2});
  const ValueId k = d.user("k", {2});
  const GraphId body = d.branch("body", 2, [&](auto in) { return d.add("s", d.mul("m", in[0], in[1]), in[1]); }, {2});
  const ValueId y = d.like(x, "y");
  d.node("higher_order.map_impl", {d.b.subgraph(body), d.b.tensors({x}), d.b.tensors({k})}, {y});
  d.output(d.neg("result", y));
  Session session = *Session::make(split(d.finish()));
  const Tensor a = programs::tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor b = programs::tensor({2}, {10, 100});
  const EValue inputs[] = {a, b};
  for (int n = 0; n < 2; ++n) {
    const auto outputs = session.run(0, inputs);
    REQUIRE(outputs);
    CHECK(support::elements((*outputs)[0]) == Floats{-20, -300, -40, -500, -60, -700});
  }
  CHECK(B::state.executed == 6);
}

TEST_CASE("scan carries a value and stacks rows, over any dimension, from either end") {
  const Toys toys;
  const Tensor x = programs::tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  struct Case {
    std::int64_t dim;
    bool reverse;
    Floats last, stacked;
  };
  // carry_i = carry + 2 * slice_i; the rows are slice_i - carry_i, negated at the end
  const Case cases[] = {{0, false, {18, 24}, {1, 2, 5, 8, 13, 18}},
                        {-2, false, {18, 24}, {1, 2, 5, 8, 13, 18}},
                        {0, true, {18, 24}, {17, 22, 13, 16, 5, 6}},
                        {1, false, {6, 14, 22}, {1, 3, 5, 4, 10, 16}},
                        {-1, true, {6, 14, 22}, {5, 11, 17, 2, 4, 6}}};
  for (const Case& c : cases) {
    CAPTURE(c.dim);
    CAPTURE(c.reverse);
    Session session = *Session::make(split(scans(c.dim, c.reverse)));
    const bool rows = c.last.size() == 2;
    const Tensor init = rows ? programs::tensor({2}, {0, 0}) : programs::tensor({3}, {0, 0, 0});
    const Tensor k = rows ? programs::tensor({2}, {2, 2}) : programs::tensor({3}, {2, 2, 2});
    const EValue inputs[] = {x, init, k};
    for (int n = 0; n < 2; ++n) {
      const auto outputs = session.run(0, inputs);
      REQUIRE_MESSAGE(outputs, (outputs ? std::string() : to_string(outputs.error())));
      CHECK(support::elements((*outputs)[0]) == c.last);
      CHECK(support::elements((*outputs)[1]) == c.stacked);
    }
  }
}

TEST_CASE("a scan's tensors must have slices, equally many, and no more than the limit") {
  const Toys toys;
  Draft d;
  const ExprId s0 = d.b.symbol("s0");
  const ExprId s1 = d.b.symbol("s1");
  const ValueId x = d.user("x", s0);
  const ValueId y = d.user("y", s1);
  const GraphId body = d.branch("body", 2, [&](auto in) { return d.add("s", in[0], in[1]); });
  const ValueId out = d.sized("out", s0);
  d.node("higher_order.map_impl", {d.b.subgraph(body), d.b.tensors({x, y}), d.b.tensors({})}, {out});
  d.output(out);
  const LoweredProgram lowered = split(d.finish());
  const auto run = [&](std::int64_t a, std::int64_t b, Limits limits) {
    Session session = *Session::make(lowered, {.limits = limits});
    const Tensor first = ramp(a);
    const Tensor second = ramp(b);
    const EValue inputs[] = {first, second};
    const auto outputs = session.run(0, inputs);
    return outputs ? Name() : concat(name_of(outputs.error().code), ": ", outputs.error().what);
  };
  CHECK(run(3, 3, {}).empty());
  CHECK(run(3, 2, {}) == "invalid shape: the sliced inputs have different lengths");
  CHECK(run(0, 0, {}) == "invalid shape: the sliced dimension has length 0");
  CHECK(run(3, 3, {.max_loop_iterations = 2}) == "out of range: it runs over too many slices");
}

TEST_CASE("an error inside control flow names partition and backend, and the source line of the node") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  const ValueId p = d.gt("p", x, 0.0);
  const std::uint32_t metadata = d.b.metadata(programs::trace_of_mul);
  const ValueId out = d.cond(
      "out", p, {x},
      [&](auto in) {
        d.metadata = metadata;
        return d.mul("m", in[0], 2.0);
      },
      [&](auto in) { return d.neg("n", in[0]); });
  d.output(out);
  Session session = *Session::make(split(d.finish()));
  B::state.fail_at = 0;
  const Tensor x0 = programs::scalar(1);
  const Error error = error_in(run_one(session, x0));
  CHECK(error.backend == "toy1");
  CHECK(error.debug_handle != no_debug_handle);
  CHECK(error.where == "method 'forward', node 'm' (aten.mul.Tensor)");
  CHECK(error.source.view().find("return x * h") != std::string_view::npos);
}

TEST_CASE("a backend that returns a tensor without memory is an Error, on its first run and on a later one") {
  const Toys toys;
  Draft d;
  d.output(d.add("a", d.user("x"), 1.0));
  const auto lowered = to_backend<B>(d.finish());
  REQUIRE(lowered);
  const Tensor x = programs::scalar(3);
  const EValue inputs[] = {x};
  for (const bool first : {true, false}) {
    Session session = *Session::make(*lowered);
    for (int run = 0; run < (first ? 0 : 2); ++run) CHECK(session.run("forward", inputs));
    B::state.null_output = true;
    const Error error = error_in(session.run("forward", inputs));
    CHECK(error.what == "a backend returned a tensor without memory: its data is null");
    B::state.null_output = false;
    CHECK(session.run("forward", inputs));
  }
}

TEST_CASE("a partition's results are checked, and the error names partition, backend and output") {
  const Toys toys;
  Session session = *Session::make(split(accumulates()));
  const Tensor x = programs::scalar(3);
  B::state.wrong_output = true;
  for (int i = 0; i < 2; ++i) {
    const Error error = error_in(run_one(session, x));
    CHECK(error.code == ErrorCode::invalid_argument);
    CHECK(error.backend == "toy1");
    CHECK(error.where.view().find("partition 'toy1_0'") != std::string_view::npos);
    CHECK(*x.view().as<float>() == 3);
  }
}

TEST_CASE("inputs are checked before anything runs: number, kind, dtype, rank, sizes") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x", {2, 3});
  const ValueId y = d.user("y", {2, 3});
  d.output(d.mul("m", d.add("s", x, y), y));
  Session session = *Session::make(split(d.finish()));
  const Tensor good = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{2, 3});
  const auto code_of = [&](std::vector<EValue> inputs) {
    const auto outputs = session.run(0, inputs);
    return outputs ? ErrorCode::ok : outputs.error().code;
  };
  const Tensor wide = Tensor::zeros(ScalarType::float64, good.sizes);
  const Tensor flat = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{6});
  const Tensor other = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{3, 2});
  CHECK(code_of({good.view()}) == ErrorCode::invalid_argument);
  CHECK(code_of({good.view(), good.view(), good.view()}) == ErrorCode::invalid_argument);
  CHECK(code_of({good.view(), 3}) == ErrorCode::invalid_argument);
  CHECK(code_of({good.view(), EValue()}) == ErrorCode::invalid_argument);
  CHECK(code_of({good.view(), wide.view()}) == ErrorCode::invalid_dtype);
  CHECK(code_of({good.view(), flat.view()}) == ErrorCode::invalid_shape);
  CHECK(code_of({good.view(), other.view()}) == ErrorCode::invalid_shape);
  CHECK(A::state.executed + B::state.executed == 0);
  CHECK(code_of({good.view(), good.view()}) == ErrorCode::ok);
  CHECK(code_of({good.view(), other.view()}) == ErrorCode::invalid_shape);
  CHECK(A::state.executed + B::state.executed == 2);
  const EValue wrong[] = {good, other};
  const Error error = error_in(session.run(0, wrong));
  CHECK(error.where == "argument 'y' of forward()");
  CHECK(error.what == "its sizes are [3, 2]: size 0 is 3, and the program was exported for 2 there");
}

TEST_CASE("dynamic sizes: each run has its own; sizes of one symbol must agree and keep to its range") {
  const Toys toys;
  Session session = *Session::make(split(dynamic(2, 5)));
  const auto run = [&](std::int64_t a, std::int64_t b) -> Floats {
    const Tensor x = ramp(a);
    const Tensor y = ramp(b, 10);
    const EValue inputs[] = {x, y};
    const auto outputs = session.run(0, inputs);
    return outputs ? support::elements((*outputs)[0]) : Floats{static_cast<float>(outputs.error().code)};
  };
  const Floats invalid{static_cast<float>(ErrorCode::invalid_shape)};
  CHECK(run(3, 3) == Floats{110, 143, 180});
  CHECK(run(5, 5) == Floats{110, 143, 180, 221, 266});
  CHECK(run(2, 2) == Floats{110, 143});
  const int executed = A::state.executed;
  CHECK(run(3, 4) == invalid);
  CHECK(run(1, 1) == invalid);
  CHECK(run(6, 6) == invalid);
  CHECK(A::state.executed == executed);
  CHECK(run(3, 3) == Floats{110, 143, 180});
}

TEST_CASE("backends that prepare are asked once per set of sizes") {
  const Toys toys;
  Session session = *Session::make(split(dynamic(0, std::nullopt)));
  const auto run = [&](std::int64_t count) {
    const Tensor x = ramp(count);
    const EValue inputs[] = {x, x};
    REQUIRE(session.run(0, inputs));
    return A::state.prepared;
  };
  CHECK(run(3) == 1);
  CHECK(run(3) == 1);
  CHECK(run(4) == 2);
  CHECK(run(3) == 3);
  CHECK(run(0) == 4);
}

TEST_CASE("arguments by name; wrong ones and unknown methods are reported") {
  const Toys toys;
  const ExportedProgram program = programs::binary("aten.sub.Tensor");
  Session session = *Session::make(split(program));
  const Tensor x = programs::scalar(5);
  const Tensor h = programs::scalar(3);
  const NamedValue named[] = {{"h", h.view()}, {"x", x.view()}};
  const auto outputs = session.run("forward", {}, named);
  REQUIRE(outputs);
  CHECK(programs::item((*outputs)[0]) == 2);
  const EValue positional[] = {x};
  CHECK(session.run("forward", positional, std::span(named, 1)));
  CHECK(error_in(session.run("forward", positional, named)).what == "forward() got two values for argument 'x'");
  CHECK(error_in(session.run("forward", {}, std::span(named, 1))).what ==
        "forward() is missing value for argument 'x'");
  const NamedValue unknown[] = {{"z", h.view()}};
  CHECK(error_in(session.run("forward", positional, unknown)).code == ErrorCode::invalid_argument);
  CHECK(error_in(session.run("backward", positional)).code == ErrorCode::not_found);
  const auto called = session.call<TensorView>("forward", x, h);
  REQUIRE(called);
  CHECK(*called->as<float>() == 2);
  CHECK(error_in(session.call<std::int64_t>("forward", x, h)).code == ErrorCode::invalid_argument);
  CHECK(error_in(session.call<TensorView>("backward", x)).code == ErrorCode::not_found);
}

TEST_CASE("a tracer sees every delegate call with its outputs") {
  const Toys toys;
  const ExportedProgram program = accumulates();
  Calls calls;
  Session session = *Session::make(split(program), {.tracer = TracerRef(calls)});
  const Tensor x = programs::scalar(3);
  REQUIRE(run_one(session, x));
  const std::vector<Name> log = calls.log;
  REQUIRE(log.size() == 6);
  CHECK(log[0] == "begin toy0_0 of toy0");
  CHECK(log[1] == "end toy0_0");
  CHECK(log[2] == "toy0_0: 1");
  CHECK(log[3] == "begin toy1_0 of toy1");
  calls.log.clear();
  B::state.fail_at = 0;
  CHECK(!run_one(session, x));
  CHECK(calls.log.back() == "end toy1_0");
}

TEST_CASE("a tracer that runs the session during its run gets an Error, and the run continues") {
  const Toys toys;
  const Tensor x = programs::scalar(3);
  RunsAgain again;
  Session session = *Session::make(split(accumulates()), {.tracer = TracerRef(again)});
  again.session = &session;
  again.x = &x;
  const auto outputs = run_one(session, x);
  REQUIRE(outputs);
  CHECK(support::items(outputs->all()) == Floats{13, 6, 78, 10});
  B::state.fail_at = 0;
  CHECK(error_in(run_one(session, x)).what == "it was told to fail");
  CHECK(state_of(session.state()) == Floats{13});
  REQUIRE(again.errors.size() == 4);
  for (const Error& error : again.errors)
    CHECK(error.what == "the session is running: a tracer or a backend of its run called it");
  const auto next = run_one(session, x);
  REQUIRE(next);
  CHECK(support::items(next->all()) == Floats{19, 12, 228, 13});
}

TEST_CASE("a method that only reads a buffer sees another method's write to it") {
  const Toys toys;
  const ExportedProgram step = programs::counter(10);
  Draft reader;
  const ValueId total = reader.buffer("total", 10);
  reader.output(reader.mul("m", total, reader.user("x")));
  const ExportedProgram read = reader.finish();
  Draft unrelated;
  unrelated.program.signature.input_specs.push_back(InputToBufferSpec({"total"}, "total", true));
  const ValueId pair = unrelated.b.input("total", ScalarType::float32, {2});
  unrelated.program.state_dict.push_back({"total", programs::tensor({2}, {1, 2})});
  unrelated.user("x");
  unrelated.output(unrelated.neg("n", pair));
  const ExportedProgram other = unrelated.finish();
  const ProgramMethod methods[] = {{"read", &read}, {"step", &step}, {"other", &other}};
  CHECK(error_in(to_backend(std::span<const ProgramMethod>(methods), CapabilityPartitioner<Two>())).what ==
        "methods share state by name: 'read' has it as float32 [], 'other' has it as float32 [2]");
  const auto lowered = to_backend(std::span<const ProgramMethod>(methods).first(2), CapabilityPartitioner<Two>());
  REQUIRE(lowered);
  CHECK(lowered->state().size() == 1);
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {2}, 0) == Floats{20});
  CHECK(support::run(session, {5}, 1) == Floats{15, 15});
  CHECK(support::run(session, {2}, 0) == Floats{30});
  CHECK(support::run(session, {2}, 0) == Floats{30});
  CHECK(support::run(session, {1}, 1) == Floats{16, 16});
  CHECK(state_of(session.state()) == Floats{16});
}

TEST_CASE(
    "a partition that returns a tensor without memory to the next one is an Error with its name, on its first run and "
    "on a later one") {
  const Toys toys;
  Draft d;
  d.output(d.mul("m", d.add("a", d.user("x"), 1.0), 2.0));
  const LoweredProgram lowered = split(d.finish());
  const Tensor x = programs::scalar(3);
  for (const bool first : {true, false}) {
    Session session = *Session::make(lowered);
    for (int run = 0; run < (first ? 0 : 2); ++run) CHECK(run_one(session, x));
    A::state.null_output = true;
    const Error error = error_in(run_one(session, x));
    CHECK(error.code == ErrorCode::failed);
    CHECK(error.backend == "toy0");
    CHECK(error.where == "method 'forward', partition 'toy0_0'");
    CHECK(error.what == "a backend returned a tensor without memory: its data is null");
    A::state.null_output = false;
    CHECK(run_one(session, x));
  }
}

TEST_CASE(
    "a backend that becomes unavailable is an Error with the partition's name before anything runs, and runs again "
    "when it is back") {
  const Toys toys;
  Draft d;
  d.output(d.mul("m", d.add("a", d.user("x"), 1.0), 2.0));
  Session session = *Session::make(split(d.finish()));
  const Tensor x = programs::scalar(3);
  for (int run = 0; run < 2; ++run) {
    CHECK(run_one(session, x));
    B::state.available = false;
    const int executed = A::state.executed;
    const Error error = error_in(run_one(session, x));
    CHECK(error.code == ErrorCode::not_available);
    CHECK(error.where == "method 'forward', partition 'toy1_0'");
    CHECK(error.what == "backend toy1 is not available");
    CHECK(A::state.executed == executed);
    B::state.available = true;
  }
  // no error in a branch that is not taken
  Draft c;
  const ValueId y = c.user("y");
  c.output(c.cond(
      "c", c.gt("p", y, 0.0), {y}, [&](auto in) { return c.mul("m", in[0], 2.0); },
      [&](auto in) { return c.neg("n", in[0]); }));
  Session branches = *Session::make(split(c.finish()));
  const Tensor minus = programs::scalar(-3);
  for (int run = 0; run < 2; ++run) CHECK(run_one(branches, x));
  B::state.available = false;
  CHECK(run_one(branches, minus));
  CHECK(error_in(run_one(branches, x)).code == ErrorCode::not_available);
  B::state.available = true;
  CHECK(run_one(branches, x));
}

TEST_CASE(
    "an exception of a backend is an Error with the partition's name, wherever it is thrown, and the session stays "
    "usable") {
  const Toys toys;
  Draft d;
  d.output(d.mul("m", d.add("a", d.user("x"), 1.0), 2.0));
  const ExportedProgram program = d.finish();
  const Tensor x = programs::scalar(3);
  Session session = *Session::make(split(program));
  const auto named = [](const Error& error, Stage stage) {
    CHECK(error.code == ErrorCode::failed);
    CHECK(error.stage == stage);
    CHECK(error.backend == "toy1");
    CHECK(error.where.view().find("partition 'toy1_0'") != std::string_view::npos);
    CHECK(error.what == "an exception was thrown: it was told to throw");
  };
  B::state.throws = "prepare";
  named(error_in(run_one(session, x)), Stage::execute);
  for (int run = 0; run < 2; ++run) {
    B::state.throws = {};
    CHECK(run_one(session, x));
    B::state.throws = "execute";
    named(error_in(run_one(session, x)), Stage::execute);
  }
  for (const auto& [function, stage] :
       {std::pair("preprocess", Stage::preprocess), std::pair("compile", Stage::compile)}) {
    B::state.throws = function;
    A::state.refused = "mul";
    named(error_in(to_backend(program, CapabilityPartitioner<Two>())), stage);
  }
  // a method of one partition
  B::state.throws = {};
  Session whole = *Session::make(*to_backend<B>(program));
  for (int run = 0; run < 2; ++run) {
    B::state.throws = {};
    CHECK(run_one(whole, x));
    CHECK(run_one(whole, x));
    B::state.throws = "execute";
    named(error_in(run_one(whole, x)), Stage::execute);
  }
}
