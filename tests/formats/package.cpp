// SPDX-License-Identifier: MIT
#include "davit/formats/package.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "../support/count_allocations.hpp"
#include "../support/toy_backend.hpp"
#include "davit/backend/program_body.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/runtime/session.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/formats/package_layout.hpp"

using namespace davit;
using namespace davit::formats;
using support::ByHand;
using support::Draft;
using support::Toys;
using Bytes = std::vector<std::byte>;
using Floats = std::vector<float>;

namespace {

/// A toy that shares weights among its partitions and saves them as segments.
struct saving : support::toy_backend<2> {
  using Base = support::toy_backend<2>;
  static constexpr std::string_view name = "saving";
  static inline int together = 0;
  static inline bool takes_less = false;  ///< its library refuses nodes that were lowered for it

  static Result<Handle> compile(const Processed& processed, const CompileSpec& spec) {
    if (takes_less)
      return std::unexpected(Error{.code = ErrorCode::unsupported_operator,
                                   .what = "aten.add.Tensor: not by this version",
                                   .fix = "name another backend"});
    return Base::compile(processed, spec);
  }

  static Result<std::vector<Processed>> preprocess_all(std::span<const Method> methods,
                                                       std::span<const CompileSpec> specs,
                                                       DebugHandleRecorder& debug_handles) {
    together += static_cast<int>(methods.size());
    std::vector<Processed> all;
    for (std::size_t i = 0; i < methods.size(); ++i) {
      debug_handles.begin_method(methods[i].name, methods[i].view());
      Result<Processed> one = preprocess(methods[i], specs[i], debug_handles);
      if (!one) return std::unexpected(one.error());
      all.push_back(*one);
    }
    return all;
  }
  static std::vector<std::byte> save(const Processed& processed) {
    SegmentWriter none;
    return save(processed, none);
  }
  static std::vector<std::byte> save(const Processed& processed, SegmentWriter& segments) {
    ByteWriter out;
    const auto operand = [&](const support::ToyCode::Operand& o) {
      out.number(o.kind);
      out.number(o.index);
      out.number(o.number);
    };
    out.number(static_cast<std::uint64_t>(processed.code->instructions.size()));
    for (const auto& i : processed.code->instructions) {
      out.number(i.op);
      operand(i.x);
      operand(i.y);
      out.number(i.out);
      out.number(i.handle);
    }
    out.number(static_cast<std::uint64_t>(processed.code->outputs.size()));
    for (const auto& o : processed.code->outputs) operand(o);
    out.number(static_cast<std::uint64_t>(processed.code->constants.size()));
    for (const Tensor& t : processed.code->constants) write_tensor(out, t, segments);
    out.number(processed.code->temporaries);
    return std::move(out).take();
  }
  static Result<Processed> load(std::span<const std::byte> bytes) { return load(bytes, SegmentReader()); }
  static Result<Processed> load(std::span<const std::byte> bytes, const SegmentReader& segments) {
    ByteReader in(bytes);
    auto code = std::make_shared<support::ToyCode>();
    const auto operand = [&] {
      support::ToyCode::Operand o;
      o.kind = in.number<support::ToyCode::Operand::Kind>();
      o.index = in.number<std::uint32_t>();
      o.number = in.number<double>();
      return o;
    };
    for (std::size_t n = in.count(4); n > 0; --n) {
      support::ToyCode::Instruction i;
      i.op = in.number<support::ToyCode::Op>();
      i.x = operand();
      i.y = operand();
      i.out = in.number<std::uint32_t>();
      i.handle = in.number<DebugHandle>();
      code->instructions.push_back(i);
    }
    for (std::size_t n = in.count(4); n > 0; --n) code->outputs.push_back(operand());
    for (std::size_t n = in.count(4); n > 0; --n) {
      Result<Tensor> tensor = read_tensor(in, segments);
      if (!tensor) return std::unexpected(tensor.error());
      code->constants.push_back(*tensor);
    }
    code->temporaries = in.number<std::uint32_t>();
    return Processed{std::move(code)};
  }
  static std::vector<std::byte> save_spec(const CompileSpec& spec) {
    ByteWriter out;
    out.number(spec.tuning);
    return std::move(out).take();
  }
  static Result<CompileSpec> load_spec(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    return CompileSpec{in.number<int>()};
  }
};
static_assert(SavesSegments<saving> && PreprocessesTogether<saving, saving> && Backend<saving>);

struct other_portable : portable {
  static constexpr std::string_view name = "other_portable";
};
using Portables = BackendList<portable, other_portable>;
using Saving = BackendList<saving, portable>;

template <class List>
LoweredProgram lower(const ExportedProgram& program, const auto& partitioner, const LowerOptions& options = {}) {
  auto lowered = to_backend(program, partitioner, options);
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  return *std::move(lowered);
}
Bytes save(const LoweredProgram& program, SaveOptions options = {}) {
  auto bytes = save_program(program, options);
  REQUIRE(bytes);
  return *std::move(bytes);
}
template <class List>
LoweredProgram load(const Bytes& bytes) {
  auto program = load_program<List>(SharedBytes::copy_of(bytes));
  REQUIRE_MESSAGE(program, (program ? std::string() : to_string(program.error())));
  return *std::move(program);
}
template <class R>
Error fault_of(const R& result) {
  REQUIRE(!result);
  return result.error();
}
Package apart(const Bytes& bytes) {
  auto package = read_package(SharedBytes::copy_of(bytes));
  REQUIRE(package);
  return *std::move(package);
}

/// y = (x + w) * w, z = y - k, with parameter w = 2 and constant k = 1; with source lines
ExportedProgram sample() {
  Draft d;
  const ValueId w = d.parameter("w", 2);
  const ValueId k = d.constant("k", 1);
  const ValueId x = d.user("x");
  d.metadata = d.b.metadata(programs::trace_of_add, "L__self__,,__main__.M");
  const ValueId sum = d.add("sum", x, w);
  const ValueId y = d.mul("y", sum, w);
  d.output(d.sub("z", y, k));
  return d.finish();
}
template <class List>
ByHand<List> sample_split(const ExportedProgram& program) {
  return ByHand<List>(program.view(), {{0, {"sum"}}, {1, {"y"}}, {0, {"z"}}});
}

/// A small program with all features: weights, a changing buffer and input, dynamic sizes with bounds, cond,
/// while_loop, scan.
ExportedProgram rich() {
  Draft d;
  const ValueId w = d.parameter("w", 3);
  const ValueId total = d.buffer("total", 10);
  const ValueId k = d.constant("k", 2);
  const ExprId s0 = d.b.symbol("s0");
  const ValueId x = d.user("x");
  const ValueId v = d.user("v", s0);
  const ValueId rows = d.user("rows", {3, 2});
  d.metadata = d.b.metadata(programs::trace_of_mul);
  const ValueId sum = d.add("sum", total, d.mul("scaled", x, w));
  const ValueId p = d.gt("p", sum, 20.0);
  const ValueId chosen = d.cond(
      "chosen", p, {sum, k}, [&](auto in) { return d.sub("s", in[0], in[1]); },
      [&](auto in) { return d.relu("r", d.neg("n", in[0])); });
  const GraphId go_on = d.branch("go_on", 2, [&](auto in) { return d.lt("less", in[0], 3.0); });
  const GraphId body =
      d.branch("body", 2, [&](auto in) { return std::vector{d.add("next", in[0], 1.0), d.mul("twice", in[1], 2.0)}; });
  const ValueId last = d.like(x, "last");
  const ValueId y = d.like(x, "y");
  d.node("higher_order.while_loop",
         {d.b.subgraph(go_on), d.b.subgraph(body), d.b.tensors({x, chosen}), d.b.tensors({})}, {last, y});
  const ValueId init = d.b.tensor("zero", ScalarType::float32, {2});
  const Argument first[] = {GraphBuilder::value(rows), GraphBuilder::integer(0), GraphBuilder::integer(0)};
  const Argument made[] = {GraphBuilder::value(init)};
  d.b.node("aten.select.int", first, made);
  const GraphId step =
      d.branch("step", 2, [&](auto in) { return std::vector{d.add("carry", in[0], in[1]), d.neg("row", in[1])}; }, {2});
  const ValueId carry = d.like(init, "last_carry");
  const ValueId stacked = d.like(rows, "stacked");
  d.node("higher_order.scan",
         {d.b.subgraph(step), d.b.tensors({init}), d.b.tensors({rows}), d.b.integer(0), d.b.boolean(true),
          d.b.tensors({})},
         {carry, stacked});
  d.mutate_buffer("total", sum);
  d.mutate_input("x", last);
  d.output(y);
  d.output(d.mul("doubled", v, v));
  d.output(stacked);
  d.output(d.b.integer(5), std::int64_t{5});
  d.program.range_constraints.push_back({"s0", 1, 100});
  return d.finish();
}
/// Two runs of the rich program as numbers; empty if one failed.
Floats rich_history(const LoweredProgram& program, Limits limits = {}) {
  Session session = *Session::make(program, {.limits = limits});
  const Tensor x = programs::scalar(1);
  const Tensor v = programs::tensor({4}, {1, 2, 3, 4});
  const Tensor rows = programs::tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  const EValue inputs[] = {x, v, rows};
  Floats all;
  for (int i = 0; i < 2; ++i) {
    const auto outputs = session.run(0, inputs);
    if (!outputs) return {};
    for (const EValue& output : outputs->all()) {
      const Floats elements =
          output.is_tensor() && output.tensor().dtype == ScalarType::float32 ? support::elements(output) : Floats{};
      all.insert(all.end(), elements.begin(), elements.end());
    }
  }
  return all;
}
/// Gives the nodes to two backends in turn.
template <class List>
struct Turns {
  using Backends = List;
  [[nodiscard]] Result<Partitioning<List>> partition(const Method& method) const {
    Partitioning<List> out(method.view());
    for (NodeId n = 0; n < method.view().nodes.size(); ++n)
      if (!is_control_flow(method.view(), method.view().nodes[n]))
        out.tags.nodes[n] = out.add(concat("p", n), n % 2 == 0 ? DelegationSpec<List>(std::in_place_index<0>)
                                                               : DelegationSpec<List>(std::in_place_index<1>));
    return out;
  }
};

/// A file that is removed after the test.
struct TemporaryFile {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("davit_package_" + std::to_string(::getpid()) + ".davit");
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

/// self.total.add_(x); return total * 2, in torch's training IR, whose signature does not list the mutation.
ExportedProgram training_counter() {
  Draft d;
  const ValueId total = d.buffer("total", 10);
  const ValueId x = d.user("x");
  d.op("aten.add_.Tensor", "add_", total, {x});
  d.output(d.op("aten.mul.Tensor", "twice", total, {2.0}));
  return d.finish();
}

/// The package with another content and right hashes.
Bytes signed_again(const Package& package, const Bytes& table, std::uint32_t segment = no_id,
                   const Bytes& content = {}) {
  std::vector<std::span<const std::byte>> segments;
  for (std::uint32_t i = 0; i < package.segments.size(); ++i)
    segments.push_back(i == segment ? std::span<const std::byte>(content) : package.segments.find(i)->bytes());
  return write_package(table, segments, package.debug_map.bytes());
}
Bytes copy(const SharedBytes& bytes) { return {bytes.bytes().begin(), bytes.bytes().end()}; }

struct Random {
  std::uint64_t state = 0x9e3779b97f4a7c15u;
  std::uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
};
/// Changes a few bytes: to random ones, to ends of ranges, by one, or to a huge or a small 8-byte number.
void damage(Bytes& bytes, Random& random) {
  if (bytes.empty()) return;
  for (std::size_t n = 1 + random.below(3); n > 0; --n) {
    const std::size_t at = random.below(bytes.size());
    switch (random.below(6)) {
      case 0: bytes[at] = std::byte{static_cast<unsigned char>(random.next())}; break;
      case 1: bytes[at] = std::byte{0}; break;
      case 2: bytes[at] = std::byte{0xff}; break;
      case 3:
        bytes[at] =
            std::byte{static_cast<unsigned char>(std::to_integer<int>(bytes[at]) + (random.below(2) == 0 ? 1 : -1))};
        break;
      default: {
        const std::uint64_t numbers[] = {0, 1, UINT64_MAX, INT64_MAX, std::uint64_t{1} << 40, random.below(300)};
        const std::uint64_t number = numbers[random.below(6)];
        const std::size_t word = at / 8 * 8;
        std::memcpy(bytes.data() + word, &number, std::min<std::size_t>(8, bytes.size() - word));
      }
    }
  }
}

}  // namespace

TEST_CASE("a program is saved and loaded back, and runs as before: weights, state, control flow, dynamic sizes") {
  const LoweredProgram lowered = lower<Portables>(rich(), Turns<Portables>());
  const Floats expected = rich_history(lowered);
  REQUIRE(expected.size() == 26);
  CHECK(expected[0] == 13);
  const LoweredProgram loaded = load<Portables>(save(lowered));
  CHECK(rich_history(loaded) == expected);
  CHECK(loaded.methods()[0].delegates.size() == lowered.methods()[0].delegates.size());
  CHECK(loaded.methods()[0].schedule.steps == lowered.methods()[0].schedule.steps);
  CHECK(loaded.state().size() == 1);
  const LoweredProgram again = load<Portables>(save(loaded));
  CHECK(rich_history(again) == expected);
}

TEST_CASE("the same program gives the same bytes, also when it was saved and loaded before") {
  const ExportedProgram program = rich();
  const Bytes bytes = save(lower<Portables>(program, Turns<Portables>()));
  CHECK(save(lower<Portables>(rich(), Turns<Portables>())) == bytes);
  CHECK(save(load<Portables>(bytes)) == bytes);
  CHECK(save(lower<Portables>(program, CapabilityPartitioner<Portables>())) != bytes);
}

TEST_CASE("equal blobs are kept once, and weights are at multiples of 64 bytes and not copied") {
  Draft d;
  const std::int64_t sizes[] = {64, 64};
  const Tensor weights = Tensor::zeros(ScalarType::float32, sizes);
  weights.view().as<float>()[0] = 1;
  Tensor equal = weights;
  equal.storage = SharedBytes::copy_of(weights.storage.bytes());
  const ValueId w = d.parameter("w", weights);
  const ValueId u = d.parameter("u", equal);
  const ValueId x = d.user("x", {64, 64});
  d.output(d.mul("m", d.add("a", x, w), d.add("b", x, u)));
  const ExportedProgram program = d.finish();
  for (const SharedConstants shared : {SharedConstants::share, SharedConstants::duplicate}) {
    const Bytes bytes = save(lower<Portables>(program, Turns<Portables>(), {.shared_constants = shared}));
    CHECK(bytes.size() < 2 * 64 * 64 * 4);
    const SharedBytes kept = SharedBytes::copy_of(bytes);
    const auto loaded = load_program<Portables>(kept);
    REQUIRE(loaded);
    const Tensor& held = processed_of<portable>(loaded->methods()[0].delegates[0]).body->constants.at(0);
    CHECK((held.storage.data() >= kept.data() && held.storage.data() < kept.data() + kept.size()));
    CHECK(reinterpret_cast<std::uintptr_t>(held.storage.data()) % 64 == 0);
  }
}

TEST_CASE("a file is written, mapped and loaded; an unwritable file is an error") {
  const TemporaryFile file;
  const LoweredProgram lowered = lower<Portables>(rich(), Turns<Portables>());
  REQUIRE(save_program(lowered, file.path));
  const auto loaded = load_program<Portables>(file.path);
  REQUIRE(loaded);
  CHECK(rich_history(*loaded) == rich_history(lowered));
  CHECK(std::filesystem::file_size(file.path) == save(lowered).size());
  const auto nowhere = save_program(lowered, std::filesystem::path("/no such folder/x.davit"));
  CHECK(fault_of(nowhere).code == ErrorCode::io_error);
  CHECK(fault_of(load_program<Portables>(std::filesystem::path("/no such folder/x.davit"))).code ==
        ErrorCode::io_error);
}

TEST_CASE("errors of a loaded program name the node and its source line, until the debug map is stripped") {
  const Toys toys;
  const ExportedProgram program = sample();
  const Bytes bytes = save(lower<Saving>(program, sample_split<Saving>(program)));
  const auto fault = [](const Bytes& from) {
    Session session = *Session::make(load<Saving>(from));
    saving::state.fail_at = 0;
    const Tensor x = programs::scalar(3);
    const EValue inputs[] = {x};
    return fault_of(session.run(0, inputs));
  };
  const Error told = fault(bytes);
  CHECK(told.where.view().starts_with("method 'forward', node 'sum' (aten.add.Tensor)"));
  CHECK(told.source.view().find("return x + h") != std::string_view::npos);
  const Bytes without = save(lower<Saving>(program, sample_split<Saving>(program)), {.debug_map = false});
  const auto stripped = strip_debug_map(SharedBytes::copy_of(bytes));
  REQUIRE(stripped);
  CHECK(*stripped == without);
  CHECK(apart(without).hash == apart(bytes).hash);
  const Error bare = fault(without);
  CHECK(bare.where.view().starts_with("debug handle"));
  CHECK(bare.source.empty());
  CHECK(bare.debug_handle == told.debug_handle);
  Session session = *Session::make(load<Saving>(without));
  CHECK(support::run(session, {3}) == Floats{9});
}

TEST_CASE(
    "a backend that preprocesses together and saves segments: its weights are shared in the file, its spec is kept") {
  const Toys toys;
  saving::together = 0;
  const ExportedProgram program = sample();
  ByHand<Saving> partitioner(program.view(), {{1, {"y"}}});
  for (const std::string_view node : {"sum", "z"})
    partitioner.answer.tags.tag_node(
        support::find_node(program.view(), node),
        partitioner.answer.add(Name::own(node), delegate_to<Saving, saving>({.tuning = 7})));
  const Bytes bytes = save(lower<Saving>(program, partitioner));
  CHECK(saving::together == 2);
  const LoweredProgram loaded = load<Saving>(bytes);
  CHECK(saving::together == 2);
  CHECK(spec_of<saving>(loaded.methods()[0].delegates.back()).tuning == 7);
  Session session = *Session::make(loaded);
  CHECK(support::run(session, {3}) == Floats{9});
  std::size_t fours = 0;  // w is used by two partitions of two backends, k by one: 4 bytes each
  const Package package = apart(bytes);
  for (std::uint32_t i = 0; i < package.segments.size(); ++i) fours += package.segments.find(i)->size() == 4 ? 1 : 0;
  CHECK(fours == 2);
}

TEST_CASE("a backend that cannot save is named") {
  const Toys toys;
  using List = BackendList<support::A, portable>;
  const ExportedProgram program = sample();
  const Error error = fault_of(save_program(lower<List>(program, sample_split<List>(program))));
  CHECK(error.code == ErrorCode::unsupported_argument);
  CHECK(error.stage == Stage::save);
  CHECK(error.backend == "toy0");
  CHECK(error.where == "method 'forward', partition 'p0'");
}

TEST_CASE("a backend that is not in the list is an error that says which are") {
  const Toys toys;
  const ExportedProgram program = sample();
  const Bytes bytes = save(lower<Saving>(program, sample_split<Saving>(program)));
  const Error error = fault_of(load_program<Portables>(SharedBytes::copy_of(bytes)));
  CHECK(error.code == ErrorCode::not_available);
  CHECK(error.stage == Stage::load);
  CHECK(error.backend == "saving");
  CHECK(error.what == "the program was lowered for backend 'saving', which is not in this program's list");
  CHECK(error.fix == "add it to the BackendList, which has: portable, other_portable");
  using Reordered = BackendList<portable, other_portable, saving>;
  Session session = *Session::make(load<Reordered>(bytes));
  CHECK(support::run(session, {3}) == Floats{9});
}

namespace {

/// Two packages of the backend `saving` with portable as fallback: with the fallback's sub-program, and without.
std::pair<Bytes, Bytes> with_fallback() {
  const ExportedProgram program = sample();
  ByHand<Saving> partitioner = sample_split<Saving>(program);
  for (auto& delegation : partitioner.answer.delegations) delegation.fallbacks = {1};
  Bytes kept = save(lower<Saving>(program, partitioner, {.keep_originals = true}));
  return {std::move(kept), save(lower<Saving>(program, partitioner))};
}

}  // namespace

TEST_CASE(
    "a backend that is not available where the program is loaded: its fallback if the sub-program was kept, else an "
    "error") {
  const Toys toys;
  const auto [kept, bare] = with_fallback();
  CHECK(kept.size() > bare.size());
  saving::state.available = false;
  Diagnostics diagnostics;
  const Result<LoweredProgram> moved = load_program<Saving>(SharedBytes::copy_of(kept), &diagnostics);
  REQUIRE(moved);
  const LoweredProgram& loaded = *moved;
  CHECK(loaded.methods()[0].delegates[0].backend == 1);
  REQUIRE(!diagnostics.warnings.empty());
  CHECK(diagnostics.warnings[0].view().starts_with(
      "backend saving is not available here; method 'forward', partition 'p0' runs on "));
  Session session = *Session::make(loaded);
  CHECK(support::run(session, {3}) == Floats{9});
  const Error error = fault_of(load_program<Saving>(SharedBytes::copy_of(bare)));
  CHECK(error.code == ErrorCode::not_available);
  CHECK(error.stage == Stage::load);
  CHECK(error.backend == "saving");
  CHECK(error.where == "method 'forward', partition 'p0'");
  const auto stripped = strip_debug_map(SharedBytes::copy_of(kept));
  REQUIRE(stripped);
  Session other = *Session::make(load<Saving>(*stripped));
  CHECK(support::run(other, {3}) == Floats{9});
}

TEST_CASE(
    "a backend whose library takes less where the program is loaded: its fallback if the sub-program was kept, else an "
    "error") {
  const Toys toys;
  const auto [kept, bare] = with_fallback();
  saving::takes_less = true;
  Diagnostics diagnostics;
  const Result<LoweredProgram> moved = load_program<Saving>(SharedBytes::copy_of(kept), &diagnostics);
  const Error error = fault_of(load_program<Saving>(SharedBytes::copy_of(bare)));
  saving::takes_less = false;
  REQUIRE_MESSAGE(moved, to_string(moved.error()));
  REQUIRE(!diagnostics.warnings.empty());
  CHECK(diagnostics.warnings[0] ==
        "backend saving here does not take method 'forward', partition 'p0', which runs on portable");
  Session session = *Session::make(*moved);
  CHECK(support::run(session, {3}) == Floats{9});
  CHECK(error.code == ErrorCode::unsupported_operator);
  CHECK(error.stage == Stage::compile);
  CHECK(error.where == "method 'forward', partition 'p0'");
  CHECK(error.what == "aten.add.Tensor: not by this version");
  CHECK(error.fix.view().find("backend saving supports less here") != std::string_view::npos);
}

TEST_CASE("a loaded program names its symbols as the model does") {
  Draft d;
  d.b.expr({.value = 2});
  const ValueId x = d.user("x", d.b.symbol("s77")), y = d.like(x, "y");
  d.node("aten.neg.default", {d.b.value(x)}, {y});
  d.output(y);
  const auto lowered = to_backend<portable>(d.finish());
  REQUIRE(lowered);
  const LoweredProgram loaded = load<BackendList<portable>>(save(*lowered));
  for (const LoweredProgram* each : {&*lowered, &loaded})
    CHECK(signature_text("forward", each->methods()[0].interface) == "forward(x: float32[s77])");
}

TEST_CASE("errors of a backend's load and compile reach the caller") {
  const Toys toys;
  const ExportedProgram program = sample();
  const Bytes bytes = save(lower<Saving>(program, sample_split<Saving>(program)));
  saving::state.fails_compile = true;
  const Error error = fault_of(load_program<Saving>(SharedBytes::copy_of(bytes)));
  CHECK(error.stage == Stage::compile);
  CHECK(error.backend == "saving");
  CHECK(error.where == "method 'forward', partition 'p0'");
}

TEST_CASE("several methods, with the state they share") {
  const ExportedProgram counter = programs::counter(10);
  const ProgramMethod methods[] = {{"one", &counter}, {"two", &counter}};
  const auto lowered = to_backend(std::span<const ProgramMethod>(methods), CapabilityPartitioner<Portables>());
  REQUIRE(lowered);
  const LoweredProgram loaded = load<Portables>(save(*lowered));
  CHECK(loaded.state().size() == 1);
  Session session = *Session::make(loaded);
  CHECK(support::run(session, {1}, 0) == Floats{11, 11});
  CHECK(support::run(session, {1}, 1) == Floats{12, 12});
  CHECK(session.program().find_method("two").value() == 1);
}

TEST_CASE("a buffer that an operator writes in place is each session's own, also where the package is mapped") {
  const TemporaryFile file;
  REQUIRE(save_program(lower<Portables>(training_counter(), Turns<Portables>()), file.path));
  const auto loaded = load_program<Portables>(file.path);
  REQUIRE(loaded);
  Session first = *Session::make(*loaded);
  Session second = *Session::make(*loaded);
  CHECK(support::run(first, {1}) == Floats{22});
  CHECK(support::run(first, {1}) == Floats{24});
  CHECK(support::run(second, {1}) == Floats{22});
  REQUIRE(first.state().size() == 1);
  CHECK(*first.state()[0].tensor.view().as<float>() == 12);
  CHECK(*loaded->state()[0].tensor.view().as<float>() == 10);
  CHECK(save(*loaded) == save(lower<Portables>(training_counter(), Turns<Portables>())));
}

TEST_CASE("memory that cannot be had is an Error, whichever allocation fails: saving, loading") {
  const LoweredProgram lowered = lower<Portables>(rich(), Turns<Portables>(), {.keep_originals = true});
  CHECK(support::fail_each([&] { return save_program(lowered); }) > 50);
  const SharedBytes bytes = SharedBytes::copy_of(*save_program(lowered));
  CHECK(support::fail_each([&] { return load_program<Portables>(bytes); }) > 200);
  const TemporaryFile file;
  const std::string path = file.path;
  CHECK(support::fail_each([&] { return save_program(lowered, path); }) > 50);
  CHECK(support::fail_each([&] { return load_program<Portables>(path); }) > 200);
}

TEST_CASE("every truncation is an error, and so is every flipped bit, or it was padding") {
  const LoweredProgram lowered = lower<Portables>(rich(), Turns<Portables>());
  const Bytes bytes = save(lowered);
  const Floats expected = rich_history(lowered);
  for (std::size_t size = 0; size < bytes.size(); size += size < 400 || size + 200 > bytes.size() ? 1 : 37) {
    const auto loaded = load_program<Portables>(SharedBytes::copy_of(std::span(bytes).first(size)));
    if (loaded && rich_history(*loaded) != expected) FAIL_CHECK("the first " << size << " bytes");
    if (!loaded) REQUIRE(loaded.error().code == ErrorCode::corrupt_data);
  }
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    Bytes damaged = bytes;
    damaged[i] ^= std::byte{static_cast<unsigned char>(1u << i % 8)};
    const auto loaded = load_program<Portables>(SharedBytes::copy_of(damaged));
    if (loaded && rich_history(*loaded) != expected) FAIL_CHECK("byte " << i);
  }
}

TEST_CASE("thousands of damaged packages with right hashes give an error or a program that runs without harm") {
  const LoweredProgram lowered = lower<Portables>(rich(), Turns<Portables>(), {.keep_originals = true});
  const Package package = apart(save(lowered));
  const Bytes table = copy(package.table);
  Random random;
  std::size_t loaded = 0;
  std::size_t ran = 0;
  for (int round = 0; round < 3000; ++round) {
    Bytes changed = table;
    Bytes content;
    std::uint32_t segment = no_id;
    if (random.below(3) == 0) {
      segment = static_cast<std::uint32_t>(random.below(package.segments.size()));
      content = copy(*package.segments.find(segment));
      damage(content, random);
    } else {
      damage(changed, random);
    }
    const SharedBytes bytes = SharedBytes::copy_of(signed_again(package, changed, segment, content));
    const support::AllocationCount counted;
    const auto program = load_program<Portables>(bytes);
    if (counted.largest() > (std::size_t{1} << 24)) FAIL_CHECK("round " << round << " allocates " << counted.largest());
    if (!program) {
      if (program.error().what.empty()) FAIL_CHECK("round " << round << " says nothing");
      continue;
    }
    ++loaded;
    ran += rich_history(*program, {.max_loop_iterations = 100}).empty() ? 0 : 1;
  }
  CHECK(loaded > 100);
  CHECK(ran > 50);
}

TEST_CASE("counts that no file could hold are refused before memory is taken for them") {
  const Package package = apart(save(lower<Portables>(sample(), Turns<Portables>())));
  const Bytes table = copy(package.table);
  for (std::size_t at = 0; at + 8 <= table.size(); at += 4) {
    Bytes changed = table;
    const std::uint64_t huge = (std::uint64_t{1} << 36) + at;
    std::memcpy(changed.data() + at, &huge, 8);
    const SharedBytes bytes = SharedBytes::copy_of(signed_again(package, changed));
    const support::AllocationCount counted;
    const auto program = load_program<Portables>(bytes);
    if (counted.largest() > (std::size_t{1} << 22)) FAIL_CHECK("word at " << at << " allocates " << counted.largest());
  }
}
