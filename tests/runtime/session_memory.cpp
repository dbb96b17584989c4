// SPDX-License-Identifier: MIT
// The memory of a Session: plans, heap allocations, and programs that write in place.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "../support/count_allocations.hpp"
#include "../support/error_in.hpp"
#include "../support/filling_backend.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/method_state.hpp"
#include "davit/runtime/session.hpp"
#include "davit/testing/detail/alternating_partitioner.hpp"
#include "davit/testing/detail/eager_value.hpp"
#include "davit/testing/random_program.hpp"
#include "davit/testing/detail/snapshot.hpp"

using namespace davit;
using support::A, support::B, support::ByHand, support::Draft, support::error_in, support::Toys;
using Floats = std::vector<float>;

namespace {

using Filling = support::filling_backend<0>;
using Mixed = BackendList<Filling, B>;
struct other_portable : portable {
  static constexpr std::string_view name = "other_portable";
};
using Portables = BackendList<portable, other_portable>;

using Turns = testing::AlternatingPartitioner<Portables>;
std::vector<Tensor> copies(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> out;
  for (const Tensor& each : tensors) out.push_back(testing::copy_of(each));
  return out;
}
std::vector<EValue> values(const std::vector<Tensor>& tensors) { return {tensors.begin(), tensors.end()}; }
testing::Snapshot state_of(const Session& session) {
  std::vector<EValue> out;
  for (const NamedTensor& entry : session.state()) out.emplace_back(entry.tensor);
  return testing::Snapshot(out);
}

struct Fillings {
  Fillings() { Filling::reset(); }
  ~Fillings() { Filling::reset(); }
  Fillings(const Fillings&) = delete;
};

template <class P>
auto lower(const ExportedProgram& program, const P& partitioner) {
  auto lowered = to_backend(program, partitioner);
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  return *std::move(lowered);
}

/// Sends every other node to the second backend.
struct Alternating {
  using Backends = Portables;
  [[nodiscard]] Result<Partitioning<Portables>> partition(const Method& method) const {
    Partitioning<Portables> out(method.view());
    for (NodeId n = 0; n < method.view().nodes.size(); ++n) {
      if (is_control_flow(method.view(), method.view().nodes[n])) continue;
      out.tags.nodes[n] = n % 2 == 0 ? out.add(concat("p", n), delegate_to<Portables, portable>())
                                     : out.add(concat("p", n), delegate_to<Portables, other_portable>());
    }
    return out;
  }
};

Tensor filled(std::initializer_list<std::int64_t> sizes, float value) {
  Tensor t = Tensor::zeros(ScalarType::float32, sizes);
  for (std::int64_t i = 0; i < t.numel(); ++i) t.view().as<float>()[i] = value;
  return t;
}

/// Heap allocations of 20 runs after 3 to warm up.
template <class Session>
std::size_t steady(Session& session, std::span<const EValue> inputs) {
  for (int i = 0; i < 3; ++i) REQUIRE(session.run(0, inputs));
  const support::AllocationCount counted;
  bool good = true;
  for (int i = 0; i < 20; ++i) good = session.run(0, inputs).has_value() && good;
  const std::size_t count = counted.count();
  CHECK(good);
  return count;
}

/// A chain x -> a -> b -> ..., with every node in its own partition of the filling backend.
template <std::size_t N>
LoweredProgram chain(support::Sizes sizes) {
  Draft d;
  ValueId v = d.user("x", sizes);
  ByHand<Mixed> partitioner;
  for (std::size_t i = 0; i < N; ++i) v = d.add(concat("n", i), v, 1.0);
  d.output(v);
  const ExportedProgram program = d.finish();
  partitioner.answer = Partitioning<Mixed>(program.view());
  for (NodeId n = 0; n < program.view().nodes.size(); ++n)
    partitioner.answer.tags.tag_node(n, partitioner.answer.add(concat("p", n), delegate_to<Mixed, Filling>()));
  return lower(program, partitioner);
}

/// x + y of one symbolic length, then * y, within a range.
ExportedProgram dynamic(std::optional<std::int64_t> max) {
  Draft d;
  const ExprId s0 = d.b.symbol("s0");
  const ValueId x = d.user("x", s0);
  const ValueId y = d.user("y", s0);
  const ValueId sum = d.add("sum", x, y);
  const ValueId m = d.mul("m", sum, y);
  d.output(d.sub("out", m, x));
  d.program.range_constraints.push_back({"s0", 0, max});
  return d.finish();
}

/// A counter in torch's training IR: `self.total.add_(x)` through a view if `by_view`; returns total * 2. The signature
/// does not say that the buffer changes.
ExportedProgram training_counter(bool by_view = false) {
  Draft d;
  d.program.signature.input_specs.push_back(InputToBufferSpec({"b_total"}, "total", true));
  const ValueId total = d.b.input("b_total", ScalarType::float32, {2});
  d.program.state_dict.push_back({"total", programs::tensor({2}, {10, 20})});
  const ValueId x = by_view ? d.user("x") : d.user("x", {2});
  ValueId target = total;
  if (by_view) {
    const ValueId selected = d.b.tensor("selected", ScalarType::float32, {});
    d.node("aten.select.int", {d.b.value(total), d.b.integer(0), d.b.integer(1)}, {selected});
    target = selected;
  }
  d.op("aten.add_.Tensor", "add_", target, {x});
  d.output(d.op("aten.mul.Tensor", "twice", total, {2.0}));
  return d.finish();
}

}  // namespace

TEST_CASE("a chain of partitions takes turns in two places, or in one if they may compute over their input") {
  const Toys toys;
  const Fillings fillings;
  const LoweredProgram lowered = chain<8>({100});
  const Tensor x = filled({100}, 1);
  const EValue inputs[] = {x};
  for (const bool overwrites : {false, true}) {
    Filling::overwrites = overwrites;
    Session session = *Session::make(lowered);
    const auto outputs = session.run(0, inputs);
    REQUIRE(outputs);
    CHECK(support::elements((*outputs)[0]) == Floats(100, 9));
    const ProgramPlan& plan = session.plan(0);
    CHECK(plan.total_bytes() == 8 * 400);
    CHECK(plan.arena_bytes == (overwrites ? 448 : 896));
    CHECK(plan.is_sound());
    CHECK(*x.view().as<float>() == 1);  // the caller's tensor is never overwritten
  }
}

TEST_CASE("scratch is lent only while its partition runs") {
  const Toys toys;
  const Fillings fillings;
  Filling::scratch_size = 1000;
  Session session = *Session::make(chain<4>({16}));
  const Tensor x = filled({16}, 1);
  const EValue inputs[] = {x};
  const auto outputs = session.run(0, inputs);
  REQUIRE(outputs);
  CHECK(support::elements((*outputs)[0]) == Floats(16, 5));
  const ProgramPlan& plan = session.plan(0);
  CHECK(plan.total_bytes() == 4 * 1000 + 4 * 64);
  CHECK(plan.arena_bytes == 1024 + 2 * 64);
  CHECK(plan.is_sound());
  const Name report = plan.report(session.program().methods()[0].parent.view());
  CHECK(report.view().starts_with("arena 1152 bytes for 4256 bytes in 8 blocks\n"));
  CHECK(report.view().find("'n3'") != std::string_view::npos);
  CHECK(report.view().find("scratch of step 2") != std::string_view::npos);
}

TEST_CASE("an output that was passed on by a backend that fills no destinations is not planned") {
  const Toys toys;
  const Fillings fillings;
  Draft d;
  const ValueId x = d.user("x", {4});
  const ValueId a = d.add("a", x, 1.0);
  const ValueId m = d.mul("m", a, 2.0);
  d.output(d.add("b", m, a));
  const ExportedProgram program = d.finish();
  Session session = *Session::make(lower(program, ByHand<Mixed>(program.view(), {{0, {"a"}}, {1, {"m"}}, {0, {"b"}}})));
  const Tensor one = filled({4}, 1);
  const EValue inputs[] = {one};
  const auto outputs = session.run(0, inputs);
  REQUIRE(outputs);
  CHECK(support::elements((*outputs)[0]) == Floats(4, 6));
  CHECK(session.plan(0).total_bytes() == 2 * 16);
  CHECK(session.plan(0).is_sound());
}

TEST_CASE("the arena has room for the upper bounds of dynamic sizes, and does not grow") {
  const Toys toys;
  const Fillings fillings;
  A::state.refused = "mul";
  const auto lowered = lower(dynamic(1000), CapabilityPartitioner<Mixed>());
  Session session = *Session::make(lowered);
  std::vector<std::size_t> arenas;
  for (const std::int64_t n : {3, 1000, 0, 17}) {
    const Tensor x = filled({n}, 2);
    const EValue inputs[] = {x, x};
    const auto outputs = session.run(0, inputs);
    REQUIRE(outputs);
    CHECK(support::elements((*outputs)[0]) == Floats(static_cast<std::size_t>(n), 6));
    arenas.push_back(session.plan(0).arena_bytes);
    CHECK(session.plan(0).is_sound());
  }
  CHECK(arenas == std::vector<std::size_t>(4, arenas[0]));
  CHECK(arenas[0] >= 4000);
}

TEST_CASE("a float among the inputs does not keep the arena from its upper bounds") {
  const Toys toys;
  const Fillings fillings;
  Draft d;
  const ExprId s0 = d.b.symbol("s0");
  const ValueId x = d.user("x", s0);
  d.program.signature.input_specs.push_back(UserInputSpec{SymFloatArgument{"f"}});
  const ValueId f = d.b.declare({.name = d.b.text("f"), .kind = ValueKind::sym_float});
  d.b.input(GraphBuilder::value(f));
  d.output(d.add("out", x, f));
  d.program.range_constraints.push_back({"s0", 0, 500});
  Session session = *Session::make(lower(d.finish(), CapabilityPartitioner<Mixed>()));
  const Tensor one = filled({3}, 1);
  const EValue inputs[] = {one, 2.5};
  const auto outputs = session.run(0, inputs);
  REQUIRE(outputs);
  CHECK(support::elements((*outputs)[0]) == Floats(3, 3.5f));
  CHECK(session.plan(0).arena_bytes >= 2000);
}

TEST_CASE(
    "without upper bounds, or with huge ones, the arena follows the sizes of the runs, and nothing is prepared for "
    "others") {
  const Toys toys;
  const Fillings fillings;
  std::vector<int> prepared;
  for (const std::optional<std::int64_t> max :
       {std::optional<std::int64_t>(), std::optional(INT64_MAX - 1), std::optional(std::int64_t{1} << 31)}) {
    Session session = *Session::make(lower(dynamic(max), CapabilityPartitioner<Mixed>()));
    std::size_t before = 0;
    const int already = Filling::state.prepared;
    for (const std::int64_t n : {3, 1000, 5000}) {
      const Tensor x = filled({n}, 2);
      const EValue inputs[] = {x, x};
      const auto outputs = session.run(0, inputs);
      REQUIRE(outputs);
      CHECK(support::elements((*outputs)[0]) == Floats(static_cast<std::size_t>(n), 6));
      CHECK(session.plan(0).arena_bytes > before);
      CHECK(session.plan(0).arena_bytes < 3 * 64 + static_cast<std::size_t>(n) * 12);
      before = session.plan(0).arena_bytes;
    }
    prepared.push_back(Filling::state.prepared - already);
  }
  CHECK(prepared == std::vector<int>(3, prepared[0]));
}

TEST_CASE("data-dependent sizes: their partitions have memory of their own") {
  const Toys toys;
  const Fillings fillings;
  Draft d;
  const ExprId u0 = d.b.symbol("u0");
  const ValueId x = d.user("x", {4});
  const ValueId found = d.sized("found", u0);
  const Argument in[] = {GraphBuilder::value(x)};
  const Argument out[] = {GraphBuilder::value(found)};
  d.b.node("aten.relu.default", in, out);
  const ValueId more = d.add("more", found, 1.0);
  d.output(d.neg("less", more));
  const ExportedProgram program = d.finish();
  Session session =
      *Session::make(lower(program, ByHand<Mixed>(program.view(), {{0, {"found"}}, {0, {"more"}}, {1, {"less"}}})));
  const Tensor two = filled({4}, 2);
  const EValue inputs[] = {two};
  for (int i = 0; i < 2; ++i) {
    const auto outputs = session.run(0, inputs);
    REQUIRE(outputs);
    CHECK(support::elements((*outputs)[0]) == Floats(4, -3));
  }
  CHECK(session.plan(0).total_bytes() == 0);
  CHECK(Filling::destinations == 0);
}

TEST_CASE("no heap memory in steady state: partitions, state, mutations, cond, loops") {
  const Toys toys;
  const Fillings fillings;
  Filling::scratch_size = 128;
  Draft d;
  const ValueId total = d.buffer("total", 1);
  const ValueId x = d.user("x");
  const ValueId rows = d.user("rows", {3, 2});
  const ValueId sum = d.add("sum", total, x);
  const ValueId twice = d.mul("twice", x, 0.5);
  const ValueId p = d.gt("p", twice, 0.0);
  const ValueId chosen = d.cond(
      "chosen", p, {sum, twice}, [&](auto in) { return d.mul("m", in[0], in[1]); },
      [&](auto in) { return d.neg("n", in[0]); });
  const GraphId go_on = d.branch("go_on", 2, [&](auto in) { return d.lt("less", in[0], 3.0); });
  const GraphId body =
      d.branch("body", 2, [&](auto in) { return std::vector{d.add("next", in[0], 1.0), d.mul("half", in[1], 0.5)}; });
  const ValueId last = d.like(x, "last");
  const ValueId y = d.like(x, "y");
  d.node("higher_order.while_loop",
         {d.b.subgraph(go_on), d.b.subgraph(body), d.b.tensors({twice, chosen}), d.b.tensors({})}, {last, y});
  const GraphId row = d.branch("row", 1, [&](auto in) { return d.add("r", in[0], 1.0); }, {2});
  const ValueId mapped = d.like(rows, "mapped");
  d.node("higher_order.map_impl", {d.b.subgraph(row), d.b.tensors({rows}), d.b.tensors({})}, {mapped});
  d.mutate_buffer("total", sum);
  d.mutate_input("x", twice);
  d.output(y);
  d.output(total);
  d.output(mapped);
  A::state.refused = "mul";
  Session session = *Session::make(lower(d.finish(), CapabilityPartitioner<Mixed>()));
  const Tensor a = programs::scalar(2);
  const Tensor b = filled({3, 2}, 1);
  const EValue inputs[] = {a, b};
  CHECK(steady(session, inputs) == 0);
  CHECK(session.plan(0).is_sound());
}

TEST_CASE("an input that is between two outputs of the previous run is passed on unchanged, without heap memory") {
  const Tensor memory = filled({6}, 0);
  float* const data = memory.view().as<float>();
  static constexpr std::int64_t two[] = {2}, one[] = {1};
  const auto at = [&](std::size_t first) { return EValue(TensorView{data + first, two, one, 1, ScalarType::float32}); };
  detail::OverwrittenMemory last(0, 2, {});
  const std::array outputs = {at(0), at(4)};
  last.note({}, {}, outputs);

  const std::array between = {at(2)};
  CHECK(last.may_hold(between));
  const support::AllocationCount counted;
  const std::optional<std::span<const EValue>> same = last.replace(between);
  CHECK(counted.count() == 0);
  REQUIRE(same);
  CHECK(same->data() == between.data());

  const std::array fed_back = {at(2), at(4), at(3)};
  const std::optional<std::span<const EValue>> copied = last.replace(fed_back);
  REQUIRE(copied);
  CHECK((*copied)[0].tensor().data == data + 2);
  CHECK((*copied)[1].tensor().data != data + 4);
  CHECK((*copied)[2].tensor().data != data + 3);
}

TEST_CASE("no heap memory in steady state for dynamic sizes that stay the same either") {
  const Toys toys;
  const Fillings fillings;
  A::state.refused = "mul";
  Session session = *Session::make(lower(dynamic(100), CapabilityPartitioner<Mixed>()));
  const Tensor x = filled({30}, 2);
  const EValue inputs[] = {x, x};
  CHECK(steady(session, inputs) == 0);
}

TEST_CASE("portable takes no heap memory in steady state, whole or split over two instances") {
  Draft d;
  const ValueId w = d.parameter("w", filled({8, 8}, 0.25f));
  const ValueId x = d.user("x", {4, 8});
  const ValueId y = d.like(x, "y");
  d.node("aten.mm.default", {d.b.value(x), d.b.value(w)}, {y});
  const ValueId z = d.relu("z", d.add("s", y, x));
  d.output(d.mul("out", z, y));
  const ExportedProgram program = d.finish();
  const Tensor one = filled({4, 8}, 1);
  const EValue inputs[] = {one};
  Floats answers[2];
  Session whole = *Session::make(lower(program, CapabilityPartitioner<Portables>()));
  CHECK(steady(whole, inputs) == 0);
  answers[0] = support::elements((*whole.run(0, inputs))[0]);
  const auto split = lower(program, Alternating());
  CHECK(split.methods()[0].delegates.size() == 4);
  Session session = *Session::make(split);
  CHECK(steady(session, inputs) == 0);
  answers[1] = support::elements((*session.run(0, inputs))[0]);
  CHECK(answers[0] == Floats(32, 6));
  CHECK(answers[1] == answers[0]);
  CHECK(session.plan(0).total_bytes() >= 4 * 128);
  CHECK(session.plan(0).is_sound());
}

TEST_CASE("data-dependent sizes through portable, from call to call") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {6});
  const ExprId u0 = b.symbol("u0");
  const Dim sizes[] = {{.value = 3, .expr = u0}, {.value = 1}};
  const ValueId found = b.declare({.name = b.text("found"), .sizes = b.dims(sizes), .dtype = ScalarType::int64});
  const ValueId more = b.declare({.name = b.text("more"), .sizes = b.dims(sizes), .dtype = ScalarType::int64});
  const Argument in[] = {GraphBuilder::value(x)};
  const Argument out[] = {GraphBuilder::value(found)};
  b.node("aten.nonzero.default", in, out);
  const Argument add_in[] = {GraphBuilder::value(found), GraphBuilder::integer(10)};
  const Argument add_out[] = {GraphBuilder::value(more)};
  b.node("aten.add.Tensor", add_in, add_out);
  b.end_graph({more});
  Session session = *Session::make(lower(programs::user_program(std::move(b).finish()), Alternating()));
  for (const int count : {3, 6, 0, 1}) {
    Tensor t = filled({6}, 0);
    for (int i = 0; i < count; ++i) t.view().as<float>()[5 - i] = 1;
    const EValue inputs[] = {t};
    const auto outputs = session.run(0, inputs);
    REQUIRE(outputs);
    const TensorView& indices = (*outputs)[0]->tensor();
    REQUIRE(indices.size(0) == count);
    for (int i = 0; i < count; ++i) CHECK(indices.as<std::int64_t>()[i] == 16 - count + i);
  }
}

TEST_CASE("a buffer that an operator writes in place belongs to the session") {
  for (const bool by_view : {false, true}) {
    CAPTURE(by_view);
    const ExportedProgram program = training_counter(by_view);
    const Tensor x = by_view ? programs::scalar(1) : programs::tensor({2}, {1, 2});
    const EValue inputs[] = {x};
    const Floats once = by_view ? Floats{20, 42} : Floats{22, 44};
    const Floats twice = by_view ? Floats{20, 44} : Floats{24, 48};
    const auto check = [&](const auto& lowered) {
      Session first = *Session::make(lowered);
      Session second = *Session::make(lowered);
      CHECK(support::elements((*first.run(0, inputs))[0]) == once);
      CHECK(support::elements((*first.run(0, inputs))[0]) == twice);
      CHECK(support::elements((*second.run(0, inputs))[0]) == once);
      REQUIRE(first.state().size() == 1);
      CHECK(first.state()[0].name == "total");
      CHECK(support::elements(first.state()[0].tensor.view())[1] == twice[1] / 2);
    };
    check(lower(program, CapabilityPartitioner<Portables>()));
    check(lower(program, Alternating()));
    CHECK(support::elements(program.state_dict[0].tensor.view()) == Floats{10, 20});
    auto module = to_backend<portable>(program);
    REQUIRE(module);
    Session alone = *Session::make(*module);
    CHECK(support::elements((*alone.run(0, inputs))[0]) == once);
    CHECK(support::elements((*alone.run(0, inputs))[0]) == twice);
    CHECK(support::elements(program.state_dict[0].tensor.view()) == Floats{10, 20});
  }
}

TEST_CASE("a run that fails after an operator wrote in place leaves the buffer as it was") {
  const Toys toys;
  using List = BackendList<portable, B>;
  const ExportedProgram program = training_counter();
  ByHand<List> partitioner(program.view(), {{0, {"add_"}}, {1, {"twice"}}});
  Session session = *Session::make(lower(program, partitioner));
  const Tensor x = programs::tensor({2}, {1, 2});
  const EValue inputs[] = {x};
  REQUIRE(session.run(0, inputs));
  for (int i = 0; i < 2; ++i) {
    B::state.fail_at = 0;
    CHECK(error_in(session.run(0, inputs)).what == "it was told to fail");
    CHECK(support::elements(session.state()[0].tensor.view()) == Floats{11, 22});
  }
  CHECK(support::elements((*session.run(0, inputs))[0]) == Floats{24, 48});
  CHECK(steady(session, inputs) == 0);
}

TEST_CASE("memory that cannot be had is an Error, whichever allocation fails: lowering, a session, a run") {
  int judged = 0;
  for (std::uint64_t seed = 0; judged < 4;
       ++seed) {  // views that are written, buffers, control flow; each allocation of a first run fails once
    const testing::RandomProgram program(testing::ProgramRecipe::of(seed));
    if (const std::size_t nodes = program.program().view().nodes.size(); nodes < 12 || nodes > 30) continue;
    ++judged;
    const Turns turns{.seed = seed + 1};
    CHECK(support::fail_each([&] { return to_backend(program.program(), turns); }) > 100);
    const LoweredProgram lowered = *to_backend(program.program(), turns);
    CHECK(support::fail_each([&] { return Session::make(lowered); }) > 10);
    // first runs, each of a new session, whose next run then succeeds
    const std::vector<Tensor> given = program.user_inputs(0);
    Session untouched = *Session::make(lowered);
    const std::vector<Tensor> inputs = copies(given);
    const auto expected = untouched.run(0, values(inputs));
    REQUIRE(expected);
    const testing::Snapshot results(expected->all());
    const testing::Snapshot state = state_of(untouched);
    const testing::Snapshot written(values(inputs));
    for (std::size_t n = 1;; ++n) {
      Session session = *Session::make(lowered);
      const std::vector<Tensor> own = copies(given);
      const std::vector<EValue> passed = values(own);
      const testing::Snapshot before = state_of(session);
      support::allocations_until_failure = n;
      auto run = session.run(0, passed);
      const bool failed = support::allocations_until_failure.exchange(0) == 0;
      if (failed) {
        REQUIRE(!run);
        CHECK(run.error().code == ErrorCode::out_of_memory);
        CHECK(state_of(session) == before);
        CHECK(testing::Snapshot(passed) == testing::Snapshot(values(given)));
        run = session.run(0, passed);
      }
      REQUIRE(run);
      CHECK(testing::Snapshot(run->all()) == results);
      CHECK(state_of(session) == state);
      CHECK(testing::Snapshot(passed) == written);
      if (failed) continue;
      CHECK(n > 10);
      break;
    }
  }
}

TEST_CASE("a method's name costs no memory, whichever method it is") {
  Draft first, second;
  first.output(first.add("a", first.user("x", {4}), 1.0));
  second.output(second.mul("m", second.user("x", {4}), 3.0));
  const ExportedProgram one = first.finish(), two = second.finish();
  const ProgramMethod methods[] = {{"one", &one}, {"two", &two}};
  const auto lowered = to_backend(std::span<const ProgramMethod>(methods), CapabilityPartitioner<Portables>());
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const Tensor x = *owned_tensor(std::vector<float>(4, 2.0f), {4});
  const EValue inputs[] = {x};
  REQUIRE(session.run("two", std::span<const EValue>(inputs)));
  const support::AllocationCount count;
  const auto outputs = session.run("two", std::span<const EValue>(inputs));
  CHECK(count.count() == 0);
  REQUIRE(outputs);
  CHECK((*outputs)[0].as<float>()->front() == 6.0f);
}

TEST_CASE("a session takes exactly the memory of its limit: arena, partitions' own memory, state") {
  const auto run = [](const LoweredProgram& lowered, std::uint64_t max_memory,
                      std::initializer_list<std::int64_t> sizes) {
    Result<Session> session = Session::make(lowered, {.limits = {.max_memory = max_memory}});
    if (!session) return session.error().code;
    const Tensor x = filled(sizes, 1);
    const auto out = session->run(0, std::vector<EValue>{x});
    return out ? ErrorCode::ok : out.error().code;
  };
  const Fillings fillings;
  const LoweredProgram two = chain<3>({100});
  Session whole = *Session::make(two);
  const Tensor hundred = filled({100}, 1);
  REQUIRE(whole.run(0, std::vector<EValue>{hundred}));
  const std::size_t arena = whole.plan(0).arena_bytes;
  REQUIRE(arena >= 800);
  CHECK(run(two, arena, {100}) == ErrorCode::ok);
  CHECK(run(two, arena - 1, {100}) == ErrorCode::out_of_memory);
  Draft d;
  const ValueId x = d.user("x", {100});
  d.output(d.neg("y", d.neg("kept", d.add("sum", x, 1.0))));
  const LoweredProgram alone = lower(d.finish(), CapabilityPartitioner<BackendList<portable>>());
  std::uint64_t least = 0;
  for (std::uint64_t most = 1 << 20; least + 1 < most;) {
    const std::uint64_t middle = least + (most - least) / 2;
    (run(alone, middle, {100}) == ErrorCode::ok ? most : least) = middle;
  }
  CHECK(least + 1 >= 400);
  CHECK(least + 1 <= 2000);
  CHECK(run(alone, least, {100}) == ErrorCode::out_of_memory);
  const LoweredProgram counter = lower(training_counter(), CapabilityPartitioner<BackendList<portable>>());
  CHECK(run(counter, 7, {2}) == ErrorCode::out_of_memory);  // two floats of state
}

namespace {

/// x (one element) expanded to `size`, then every `step`-th element of the result.
ExportedProgram expanded(std::int64_t size, std::int64_t step, bool answers_all = false) {
  Draft d;
  const ValueId x = d.user("x", {1});
  const Dim sizes[] = {{.value = size}}, strides[] = {{.value = 0}};
  const ValueId wide = d.b.declare(
      {.name = d.b.text("wide"), .sizes = d.b.dims(sizes), .strides = d.b.dims(strides), .dtype = ScalarType::float32});
  d.node("aten.expand.default", {d.b.value(x), d.b.ints({size})}, {wide});
  const ValueId part = d.b.tensor("part", ScalarType::float32, {size / step});
  d.node("aten.slice.Tensor",
         {d.b.value(wide), d.b.integer(0), d.b.integer(0), d.b.integer(INT64_MAX), d.b.integer(step)}, {part});
  d.output(d.neg("n", part));
  if (answers_all) d.output(wide);
  return d.finish();
}

struct second : portable {
  static constexpr std::string_view name = "second";
  static const char* refuses(GraphModuleView graph, NodeId node) {
    return graph.target(graph.nodes[node]) == "aten.expand.default" ? nullptr : "no expand";
  }
};

}  // namespace

TEST_CASE("an expanded view takes no memory, in a partition, between two of them, and as an output") {
  constexpr std::int64_t size = std::int64_t{1} << 33, step = std::int64_t{1} << 31;
  const Tensor x = programs::tensor({1}, {3});
  const auto run = [&](Result<LoweredProgram> lowered) {
    REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
    Session session = *Session::make(*std::move(lowered));
    for (int k = 0; k < 2; ++k) {
      const auto out = session.run("forward", x);
      REQUIRE_MESSAGE(out, (out ? std::string() : to_string(out.error())));
      CHECK(support::elements((*out)[0]) == std::vector<float>(4, -3));
      if (out->size() == 2) CHECK((*out)[1].value().tensor().numel() == size);
    }
    CHECK(session.plan(0).arena_bytes < 1024);
  };
  run(to_backend<portable>(expanded(size, step)));
  run(to_backend<portable>(expanded(size, step, true)));
  run(to_backend(expanded(size, step), CapabilityPartitioner<BackendList<second, portable>>()));
}
