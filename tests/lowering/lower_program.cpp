// SPDX-License-Identifier: MIT
#include "davit/lowering/lower_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "../support/error_in.hpp"
#include "../support/toy_backend.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/program/graph_equal.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;
using support::A, support::B, support::ByHand, support::C, support::Draft, support::error_in, support::Three,
    support::Toys, support::Two;
using Floats = std::vector<float>;

namespace {

/// y = (x + w) * w, z = y - k, with parameter w = 2 and constant k = 1
ExportedProgram sample() {
  Draft d;
  const ValueId w = d.parameter("w", 2);
  const ValueId k = d.constant("k", 1);
  const ValueId x = d.user("x");
  const ValueId sum = d.add("sum", x, w);
  const ValueId y = d.mul("y", sum, w);
  d.output(d.sub("z", y, k));
  return d.finish();
}

/// x + y and x - y, one program each
ExportedProgram simple(std::string_view target) { return programs::binary(target); }

std::vector<std::string_view> backends(const LoweredProgram& program, std::size_t method) {
  std::vector<std::string_view> names;
  for (const LoweredDelegate& delegate : program.methods()[method].delegates)
    names.push_back(program.backends().name(delegate.backend));
  return names;
}
using Texts = std::vector<std::string_view>;

bool has(const Error& error, std::string_view text) { return to_string(error).find(text) != std::string_view::npos; }

/// A backend that preprocesses its partitions together, and counts them.
struct Together : support::toy_backend<3> {
  static constexpr std::string_view name = "together";
  static inline std::vector<std::size_t> calls;
  static inline bool forgets = false;
  static Result<std::vector<Processed>> preprocess_all(std::span<const Method> methods,
                                                       std::span<const CompileSpec> specs,
                                                       DebugHandleRecorder& debug_handles) {
    calls.push_back(methods.size());
    std::vector<Processed> all;
    for (std::size_t i = 0; i < methods.size(); ++i) {
      debug_handles.begin_method(methods[i].name, methods[i].view());
      Result<Processed> one = preprocess(methods[i], specs[i], debug_handles);
      if (!one) return std::unexpected(one.error());
      all.push_back(*one);
    }
    if (forgets) all.pop_back();
    return all;
  }
};
static_assert(PreprocessesTogether<Together, Together> && !PreprocessesTogether<A, A>);

}  // namespace

TEST_CASE("a program is lowered onto two backends and runs; the program itself does not change") {
  const Toys toys;
  const ExportedProgram program = sample();
  const GraphModule before = program.graph_module;
  const void* const weights = program.state_dict[0].tensor.storage.data();
  const auto lowered = to_backend(program, ByHand<Two>(program.view(), {{0, {"sum", "y"}}, {1, {"z"}}}));
  REQUIRE(lowered);
  CHECK(graph_equal(before.view(), program.view(), {.metadata = true}));
  CHECK(program.state_dict[0].tensor.storage.data() == weights);
  REQUIRE(lowered->methods().size() == 1);
  CHECK(lowered->methods()[0].name == "forward");
  CHECK(backends(*lowered, 0) == Texts{"toy0", "toy1"});
  CHECK(lowered->methods()[0].delegates[1].tag == "p1");
  CHECK(lowered->state().empty());
  CHECK(A::state.constants == std::vector<const void*>{weights});
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {3}) == Floats{9});
  CHECK(A::state.executed == 1);
  CHECK(B::state.executed == 1);
}

TEST_CASE("the partitioner's compile specs reach preprocess and compile") {
  const Toys toys;
  const ExportedProgram program = sample();
  ByHand<Two> partitioner(program.view(), {});
  const TagId tag = partitioner.answer.add("tuned", delegate_to<Two, B>({.tuning = 7}));
  for (TagId& t : partitioner.answer.tags.nodes) t = tag;
  const auto lowered = to_backend(program, partitioner);
  REQUIRE(lowered);
  CHECK(processed_of<B>(lowered->methods()[0].delegates[0]).tuning == 7);
  CHECK(spec_of<B>(lowered->methods()[0].delegates[0]).tuning == 7);
}

TEST_CASE("nodes that the partitioner leaves go to the last backend, in groups without cycles") {
  const Toys toys;
  const ExportedProgram program = sample();
  const auto lowered = to_backend(program, ByHand<Two>(program.view(), {{0, {"y"}}}));
  REQUIRE(lowered);
  CHECK(backends(*lowered, 0) == Texts{"toy0", "toy1", "toy1"});
  CHECK(lowered->methods()[0].delegates[1].tag == "toy1_rest_0");
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {3}) == Floats{9});
  const auto none = to_backend(program, ByHand<Two>(program.view(), {}));
  REQUIRE(none);
  CHECK(backends(*none, 0) == Texts{"toy1"});
}

TEST_CASE("require_full_delegation lists every node that was left, with the reasons") {
  const Toys toys;
  A::state.refused = "add mul";
  B::state.refused = "mul add sub";
  const ExportedProgram program = sample();
  const Error error = error_in(to_backend(program, CapabilityPartitioner<Two>(), {.require_full_delegation = true}));
  CHECK(error.code == ErrorCode::unsupported_operator);
  CHECK(error.stage == Stage::partition);
  CHECK(error.where == "node 'sum' (aten.add.Tensor)");
  CHECK(error.what ==
        "2 node(s) were left undelegated, and full delegation is required:"
        "\n  node 'sum' (aten.add.Tensor): toy0 says: it was told not to take this operator: toy1 says: it was told "
        "not to take this operator"
        "\n  node 'y' (aten.mul.Tensor): toy0 says: it was told not to take this operator: toy1 says: it was told not "
        "to take this operator");
  CHECK(to_backend(sample(), CapabilityPartitioner<Two>()));
  A::state.refused = {};
  CHECK(to_backend(sample(), CapabilityPartitioner<Two>(), {.require_full_delegation = true}));
}

TEST_CASE("require_full_delegation gives the number of nodes beyond its list") {
  const Toys toys;
  Draft d;
  ValueId v = d.user("x");
  for (int i = 0; i < 120; ++i) v = d.add(concat("n", i), v, 1.0);
  d.output(v);
  const ExportedProgram program = d.finish();
  const Error error = error_in(to_backend(program, ByHand<Two>(program.view(), {}), {.require_full_delegation = true}));
  CHECK(has(error, "120 node(s) were left undelegated"));
  CHECK(has(error, "node 'n49'"));
  CHECK(has(error, "and 70 more"));
}

TEST_CASE("a partitioning against the rules is refused, with the rest of the errors beside the first") {
  const Toys toys;
  const ExportedProgram program = sample();
  ByHand<Two> partitioner(program.view(), {{0, {"sum", "y"}}, {1, {"y"}}});
  partitioner.answer.tags.tag_output(root_graph, 0);
  partitioner.answer.tags.tag_input(program.view(), 2, 0);
  const Error error = error_in(to_backend(program, partitioner));
  CHECK(error.stage == Stage::partition);
  CHECK(error.what == "the output node is tagged 'p0' (and 2 more)");
  CHECK(has(error, "the node is tagged 'p0' and 'p1'"));
  CHECK(has(error, "a user input is tagged 'p0'"));
  CHECK(A::state.preprocessed + B::state.preprocessed == 0);
}

TEST_CASE("tags without delegations, and an error of the partitioner itself") {
  const Toys toys;
  const ExportedProgram program = sample();
  ByHand<Two> partitioner(program.view(), {{0, {"sum"}}});
  partitioner.answer.delegations.clear();
  CHECK(error_in(to_backend(program, partitioner)).what == "there are not as many delegations as tags");
  const Error error = error_in(to_backend(program, CapabilityPartitioner<Two>({.order = {9}})));
  CHECK(error.stage == Stage::partition);
  CHECK(error.what == "there is no backend 9");
}

TEST_CASE("partitions that depend on each other are an error that lists the way round, also with a rest") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  const ValueId a = d.add("a", x, x);
  const ValueId b = d.add("b", x, x);
  const ValueId m1 = d.mul("m1", a, x);
  const ValueId m2 = d.mul("m2", b, x);
  d.output(d.add("c", b, m1));
  d.output(d.add("d", m2, a));
  const ExportedProgram program = d.finish();
  const Error rest = error_in(to_backend(program, ByHand<Two>(program.view(), {{0, {"a", "d"}}, {0, {"b", "c"}}})));
  CHECK(rest.code == ErrorCode::invalid_argument);
  CHECK(
      rest.what ==
      "the partitions depend on each other: partition 'p0' needs 'm2' of node 'm2', which needs 'b' of partition 'p1', "
      "which needs 'm1' of node 'm1', which needs 'a' of partition 'p0'");
  const Error full = error_in(
      to_backend(program, ByHand<Two>(program.view(), {{0, {"a", "d"}}, {0, {"b", "c"}}, {1, {"m1"}}, {1, {"m2"}}})));
  CHECK(has(full, "partition 'p0' needs 'm2' of partition 'p3'"));
  CHECK(A::state.preprocessed == 0);
  A::state.refused = "mul";
  const auto lowered = to_backend(program, CapabilityPartitioner<Two>());
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {3}) == Floats{24, 24});
}

TEST_CASE("tags without nodes make no partition") {
  const Toys toys;
  const ExportedProgram program = sample();
  const auto lowered =
      to_backend(program, ByHand<Two>(program.view(), {{0, {}}, {1, {"sum"}}, {0, {}}, {0, {"y", "z"}}, {1, {}}}));
  REQUIRE(lowered);
  CHECK(backends(*lowered, 0) == Texts{"toy1", "toy0"});
  CHECK(lowered->methods()[0].delegates[1].tag == "p3");
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {3}) == Floats{9});
}

TEST_CASE("a program without nodes has no partitions, and returns its inputs") {
  const Toys toys;
  Draft d;
  const ValueId w = d.parameter("w", 5);
  const ValueId x = d.user("x");
  d.output(x);
  d.output(w);
  const auto lowered = to_backend(d.finish(), CapabilityPartitioner<Two>());
  REQUIRE(lowered);
  CHECK(lowered->methods()[0].delegates.empty());
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {3}) == Floats{3, 5});
}

TEST_CASE("constants of several partitions are shared, copied, or refused") {
  const Toys toys;
  const ExportedProgram program = sample();
  const ByHand<Two> split(program.view(), {{0, {"sum"}}, {1, {"y", "z"}}});
  Diagnostics diagnostics;
  REQUIRE(to_backend(program, split, {}, &diagnostics));
  REQUIRE(A::state.constants.size() == 1);
  CHECK(A::state.constants[0] == B::state.constants[0]);
  REQUIRE(diagnostics.reports.size() == 1);
  const PartitionReport& report = diagnostics.reports[0];
  CHECK(report.method == "forward");
  REQUIRE(report.constants.size() == 2);
  CHECK((report.constants[0].target == "w" && report.constants[0].fate == "shared" &&
         report.constants[0].partitions == 2));
  CHECK(report.constants[0].bytes == 4);
  CHECK((report.constants[1].target == "k" && report.constants[1].fate == "moved"));
  REQUIRE(report.partitions.size() == 2);
  CHECK(
      (report.partitions[1].tag == "p1" && report.partitions[1].backend == "toy1" && report.partitions[1].nodes == 2));
  CHECK((report.partitions[1].inputs == 1 && report.partitions[1].outputs == 1 &&
         report.partitions[1].constant_bytes == 8));

  A::state = B::state = {};
  const auto copied = to_backend(program, split, {.shared_constants = SharedConstants::duplicate});
  REQUIRE(copied);
  CHECK(A::state.constants[0] != B::state.constants[0]);
  Session session = *Session::make(*copied);
  CHECK(support::run(session, {3}) == Floats{9});

  const Error refused = error_in(to_backend(program, split, {.shared_constants = SharedConstants::refuse}));
  CHECK(refused.where == "constant 'w'");
  CHECK(refused.what == "2 partitions use it (4 bytes)");
  const ByHand<Two> whole(program.view(), {{0, {"sum", "y"}}, {1, {"z"}}});
  CHECK(to_backend(program, whole, {.shared_constants = SharedConstants::refuse}));
}

TEST_CASE("refusals are reported by node, operator, backend and reason") {
  const Toys toys;
  A::state.refused = "mul";
  Diagnostics diagnostics;
  REQUIRE(to_backend(sample(), CapabilityPartitioner<Two>(), {}, &diagnostics));
  REQUIRE(diagnostics.reports[0].refusals.size() == 1);
  const PartitionReport::Refusal& refusal = diagnostics.reports[0].refusals[0];
  CHECK(refusal.node == "y");
  CHECK(refusal.target == "aten.mul.Tensor");
  CHECK(refusal.backend == "toy0");
  CHECK(refusal.reason == "it was told not to take this operator");
}

TEST_CASE("the report has a row per node: operator, partition, operands, source line") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x", {2});
  const ValueId a = d.add("a", x, x);
  d.output(d.cond(
      "c", d.gt("p", x, 0.0), {a}, [&](auto in) { return d.add("y", in[0], in[0]); }, [](auto in) { return in[0]; },
      {2}));
  ExportedProgram program = d.finish();
  GraphModule& graph = program.graph_module;
  const auto text = [&](std::string_view what) {
    const Text at{static_cast<std::uint32_t>(graph.text.size()), static_cast<std::uint32_t>(what.size())};
    graph.text.insert(graph.text.end(), what.begin(), what.end());
    return at;
  };
  graph.nodes[graph.values[a].producer].metadata = static_cast<std::uint32_t>(graph.metadata.size());
  graph.metadata.push_back({.stack_trace = text("trace"), .nn_module_stack = text("stack")});
  Diagnostics diagnostics;
  REQUIRE(to_backend(program, CapabilityPartitioner<Two>(), {}, &diagnostics));
  const PartitionReport& report = diagnostics.reports[0];
  const auto row = [&](std::string_view name) {
    const auto at =
        std::ranges::find_if(report.nodes, [&](const PartitionReport::Node& node) { return node.name == name; });
    REQUIRE(at != report.nodes.end());
    return static_cast<NodeId>(at - report.nodes.begin());
  };
  CHECK(report.nodes.size() == graph.nodes.size());
  const PartitionReport::Node& sum = report.nodes[row("a")];
  CHECK((sum.target == "aten.add.Tensor" && sum.type == "float32[2]" && sum.inputs.empty() && sum.ns == UINT64_MAX));
  REQUIRE(sum.place < report.places.size());
  CHECK((report.places[sum.place].stack_trace == "trace" && report.places[sum.place].nn_module_stack == "stack"));
  REQUIRE(sum.partition < report.partitions.size());
  CHECK(report.partitions[sum.partition].backend == "toy0");
  const PartitionReport::Node& flow = report.nodes[row("c")];
  CHECK((flow.partition == no_id && flow.place == no_id));
  CHECK((std::ranges::find(flow.inputs, row("a")) != flow.inputs.end() &&
         std::ranges::find(flow.inputs, row("p")) != flow.inputs.end()));
  CHECK(report.nodes[row("y")].partition < report.partitions.size());
  for (const PartitionedGraph::Box& box : report.graph.boxes)
    if (box.kind == PartitionedGraph::BoxKind::partition) CHECK(report.partitions.at(box.partition).tag == box.label);
}

TEST_CASE("one partitioner lowers every method; each runs under its own name") {
  const Toys toys;
  const ExportedProgram add = simple("aten.add.Tensor");
  const ExportedProgram sub = simple("aten.sub.Tensor");
  const ProgramMethod methods[] = {{"accum", &add}, {"sub_accum", &sub}};
  const auto lowered = to_backend(std::span<const ProgramMethod>(methods), CapabilityPartitioner<Two>());
  REQUIRE(lowered);
  CHECK(*lowered->find_method("sub_accum") == 1);
  const Error unknown = error_in(lowered->find_method("forward"));
  CHECK(unknown.code == ErrorCode::not_found);
  CHECK(unknown.fix == "this program has: accum, sub_accum");
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {5, 2}, 0) == Floats{7});
  CHECK(support::run(session, {5, 2}, 1) == Floats{3});
}

TEST_CASE("a map lowers the methods it names; the others go to the last backend, whatever the map requires") {
  const Toys toys;
  const ExportedProgram add = simple("aten.add.Tensor");
  const ExportedProgram sub = simple("aten.sub.Tensor");
  const ProgramMethod methods[] = {{"accum", &add}, {"sub_accum", &sub}};
  using Map = std::vector<MethodPartitioner<CapabilityPartitioner<Two>>>;
  const auto lower = [&](const Map& map, LowerOptions options = {}) {
    return to_backend<CapabilityPartitioner<Two>>(std::span<const ProgramMethod>(methods),
                                                  std::span<const MethodPartitioner<CapabilityPartitioner<Two>>>(map),
                                                  options);
  };
  const auto lowered = lower({{"sub_accum", CapabilityPartitioner<Two>()}});
  REQUIRE(lowered);
  CHECK(backends(*lowered, 0) == Texts{"toy1"});
  CHECK(backends(*lowered, 1) == Texts{"toy0"});
  CHECK(lower({{"sub_accum", CapabilityPartitioner<Two>()}}, {.require_full_delegation = true}));
  const Error unknown = error_in(lower({{"nope", CapabilityPartitioner<Two>()}}));
  CHECK(unknown.code == ErrorCode::not_found);
  CHECK(unknown.what == "Method 'nope' is not defined");
  CHECK(unknown.fix == "the program has: accum, sub_accum");
}

TEST_CASE("methods share the buffers they change, and each buffer is kept once") {
  const Toys toys;
  const ExportedProgram counter = programs::counter(10);
  const ProgramMethod methods[] = {{"one", &counter}, {"two", &counter}};
  const auto lowered = to_backend(std::span<const ProgramMethod>(methods), CapabilityPartitioner<Two>());
  REQUIRE(lowered);
  CHECK(lowered->state().size() == 1);
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {1}, 0) == Floats{11, 11});
  CHECK(support::run(session, {1}, 1) == Floats{12, 12});
}

TEST_CASE("an unavailable backend is a warning, once, and an error when it runs") {
  const Toys toys;
  A::state.available = false;
  const ExportedProgram program = sample();
  Diagnostics diagnostics;
  const auto lowered =
      to_backend(program, ByHand<Two>(program.view(), {{0, {"sum"}}, {1, {"y"}}, {0, {"z"}}}), {}, &diagnostics);
  REQUIRE(lowered);
  REQUIRE(diagnostics.warnings.size() == 1);
  CHECK(
      diagnostics.warnings[0].view().starts_with("backend toy0 is not available here; the program can still be saved"));
  CHECK(A::state.compiled == 0);
  CHECK(B::state.compiled == 1);
  Session session = *Session::make(*lowered);
  const Tensor x = programs::scalar(3);
  const EValue inputs[] = {x};
  for (int i = 0; i < 2; ++i) {
    const Error error = error_in(session.run("forward", inputs));
    CHECK(error.code == ErrorCode::not_available);
    CHECK(error.stage == Stage::execute);
    CHECK(error.backend == "toy0");
    CHECK(error.where == "method 'forward', partition 'p0'");
    A::state.available = true;  // too late: it was not compiled
  }
}

TEST_CASE("a backend that has gone since it was compiled is an error of the run") {
  const Toys toys;
  const auto lowered = to_backend(sample(), CapabilityPartitioner<Two>());
  REQUIRE(lowered);
  A::state.available = false;
  Session session = *Session::make(*lowered);
  const Tensor x = programs::scalar(3);
  const EValue inputs[] = {x};
  const Error error = error_in(session.run("forward", inputs));
  CHECK(error.code == ErrorCode::not_available);
  CHECK(error.backend == "toy0");
  A::state.available = true;
  CHECK(support::run(session, {3}) == Floats{9});
}

TEST_CASE("with kept originals a partition falls back to the next available backend of its chain") {
  const Toys toys;
  A::state.available = B::state.available = false;
  const ExportedProgram program = sample();
  Diagnostics diagnostics;
  const auto lowered = to_backend(program, CapabilityPartitioner<Three>(), {.keep_originals = true}, &diagnostics);
  REQUIRE(lowered);
  REQUIRE(diagnostics.warnings.size() == 1);
  CHECK(diagnostics.warnings[0].view().starts_with(
      "backend toy0 is not available here; method 'forward', partition 'toy0_0' runs on toy2"));
  diagnostics.warnings.clear();
  CHECK(backends(*lowered, 0) == Texts{"toy2"});
  CHECK(C::state.preprocessed == 1);
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {3}) == Floats{9});
  C::state.available = false;
  const auto nowhere = to_backend(program, CapabilityPartitioner<Three>(), {.keep_originals = true}, &diagnostics);
  REQUIRE(nowhere);
  CHECK(diagnostics.warnings.size() == 1);
  C::state.available = true;
  const auto forgotten = to_backend(program, CapabilityPartitioner<Three>(), {.keep_originals = false}, &diagnostics);
  REQUIRE(forgotten);
  CHECK(backends(*forgotten, 0) == Texts{"toy0"});
  CHECK(diagnostics.warnings.size() == 2);
}

TEST_CASE("a fault of a partition that fell back names its own node, not one of another partition") {
  const Toys toys;
  Draft d;
  const ValueId a = d.add("a", d.user("x"), 1.0);
  d.output(d.mul("b", a, 2.0));
  const ExportedProgram program = d.finish();
  ByHand<Two> partitioner(program.view(), {{1, {"a"}}, {0, {"b"}}});
  partitioner.answer.delegations[1].fallbacks = {1};
  A::state.available = false;
  const auto lowered = to_backend(program, partitioner, {.keep_originals = true});
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  B::state.fail_at = 1;  // the second call: b
  const Tensor x = programs::scalar(3);
  const EValue inputs[] = {x};
  const Error error = error_in(session.run("forward", inputs));
  CHECK(error.what == "it was told to fail");
  CHECK(error.where == "method 'forward', node 'b' (aten.mul.Tensor)");
}

TEST_CASE("errors of preprocess and compile say backend, method and place") {
  const Toys toys;
  const ExportedProgram program = sample();
  const ByHand<Two> split(program.view(), {{0, {"sum"}}, {1, {"y", "z"}}});
  B::state.fails_preprocess = true;
  const Error preprocess = error_in(to_backend(program, split));
  CHECK(preprocess.stage == Stage::preprocess);
  CHECK(preprocess.backend == "toy1");
  CHECK(preprocess.where == "method 'forward', node 'y' (aten.mul.Tensor)");
  CHECK(A::state.compiled == 0);
  B::state.fails_preprocess = false;
  B::state.fails_compile = true;
  const Error compile = error_in(to_backend(program, split));
  CHECK(compile.stage == Stage::compile);
  CHECK(compile.backend == "toy1");
  CHECK(compile.where == "method 'forward', partition 'p1'");
}

TEST_CASE("a backend that preprocesses together sees all its partitions of a method at once") {
  const Toys toys;
  using List = BackendList<Together, B>;
  Together::calls.clear();
  const ExportedProgram program = sample();
  const ByHand<List> split(program.view(), {{0, {"sum"}}, {1, {"y"}}, {0, {"z"}}});
  const auto lowered = to_backend(program, split);
  REQUIRE(lowered);
  CHECK(Together::calls == std::vector<std::size_t>{2});
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {3}) == Floats{9});
  CHECK(lowered->methods()[0].delegates[0].original == nullptr);
  const auto kept = to_backend(program, split, {.keep_originals = true});
  REQUIRE(kept);
  CHECK(kept->methods()[0].delegates[0].original != nullptr);
  CHECK(kept->methods()[0].delegates[1].original != nullptr);
  Together::forgets = true;
  const auto forgot = to_backend(program, split);
  Together::forgets = false;
  const Error error = error_in(forgot);
  CHECK(error.stage == Stage::preprocess);
  CHECK(error.backend == "together");
  Together::state.fails_preprocess = true;
  CHECK(error_in(to_backend(program, split)).where == "method 'forward', node 'sum' (aten.add.Tensor)");
}

TEST_CASE("validation finds a bad program before it is partitioned, and may be switched off") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  d.output(d.op("aten.add.Tensor", "y", x, {1.0}));
  ExportedProgram program = d.finish();
  program.signature.output_specs[0] = UserOutputSpec{TensorArgument{"renamed"}};
  const Error error = error_in(to_backend(program, CapabilityPartitioner<Two>()));
  CHECK(error.stage == Stage::verify);
  CHECK(error.what == "the graph calls this output 'y'");
  CHECK(A::state.preprocessed == 0);
  const auto lowered = to_backend(program, CapabilityPartitioner<Two>(), {.validate = false});
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  CHECK(support::run(session, {3}) == Floats{4});
}

TEST_CASE("a buffer without a tensor is an error, not a crash") {
  const Toys toys;
  ExportedProgram program = programs::counter(1);
  program.state_dict.clear();
  CHECK(error_in(to_backend(program, CapabilityPartitioner<Two>())).stage == Stage::verify);
  const Error error = error_in(to_backend(program, CapabilityPartitioner<Two>(), {.validate = false}));
  CHECK(error.code == ErrorCode::not_found);
  CHECK(error.where == "buffer 'total'");
}

TEST_CASE("control flow that no lowered program runs is an error that names the node") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  const GraphId body = d.branch("body", 1, [&](auto in) { return d.neg("n", in[0]); });
  const ValueId y = d.like(x, "y");
  d.node("higher_order.unheard_of", {d.b.subgraph(body), d.b.value(x)}, {y});
  d.output(y);
  const Error error = error_in(to_backend(d.finish(), CapabilityPartitioner<Two>()));
  CHECK(error.code == ErrorCode::invalid_program);
  CHECK(error.where == "node 'y' (higher_order.unheard_of)");
}

TEST_CASE("sub-graphs of control flow are cut like the root, and the parent keeps them") {
  const Toys toys;
  Draft d;
  const ValueId x = d.user("x");
  const ValueId p = d.gt("p", x, 0.0);
  d.output(d.cond(
      "out", p, {x}, [&](auto in) { return d.mul("m", d.add("s", in[0], 1.0), 2.0); },
      [&](auto in) { return d.neg("n", in[0]); }));
  const ExportedProgram program = d.finish();
  A::state.refused = "mul";
  const auto lowered = to_backend(program, CapabilityPartitioner<Two>());
  REQUIRE(lowered);
  const LoweredMethod& method = lowered->methods()[0];
  CHECK(method.delegates.size() == 4);
  CHECK(method.parent.graph_module.graphs.size() == 3);
  CHECK(method.schedule.steps.size() == 5);
}

TEST_CASE("a program that is not verified is lowered with a warning that says so") {
  const support::Toys toys;
  support::Draft d;
  d.output(d.add("a", d.user("x"), 1.0));
  const ExportedProgram program = d.finish();
  Diagnostics diagnostics;
  REQUIRE(to_backend(program, CapabilityPartitioner<support::Two>(), {.validate = false}, &diagnostics));
  REQUIRE(diagnostics.warnings.size() == 1);
  CHECK(diagnostics.warnings[0].view().starts_with(
      "LowerOptions::validate is off: neither the program nor its partitions are verified; it can be saved and run"));
  diagnostics = {};
  REQUIRE(to_backend(program, CapabilityPartitioner<support::Two>(), {}, &diagnostics));
  CHECK(diagnostics.warnings.empty());
}
