// SPDX-License-Identifier: MIT
#include "davit/formats/embed_delegates.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../examples/npu/npu_compiler.hpp"
#include "davit/backend/embed_delegate.hpp"
#include "davit/backends/portable.hpp"
#include "davit/formats/crc32.hpp"
#include "davit/formats/embed_program.hpp"
#include "davit/formats/npy.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/prepare_program.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/verify.hpp"
#include "davit/runtime/session.hpp"
#include "davit/testing/backend_laws.hpp"
#include "support/data.hpp"
#include "support/draft.hpp"
#include "support/error_in.hpp"

namespace {

using namespace davit;
using support::Draft;
using support::error_in;

/// Takes additions and negations; its blob of a partition is the operators' names.
struct noter {
  static constexpr std::string_view name = "noter";
  static constexpr std::int32_t blob_version = 5;
  struct CompileSpec {
    bool fails = false;
  };
  using Processed = std::string;
  using Handle = Processed;
  static inline bool saves_segment = false;

  static constexpr bool is_available() { return true; }
  static const char* refuses(GraphModuleView graph, NodeId n) {
    const std::string_view target = graph.target(graph.nodes[n]);
    return target == "aten.add.Tensor" || target == "aten.neg.default" ? nullptr : "neither addition nor negation";
  }
  static Result<Processed> preprocess(const Method& method, const CompileSpec& spec, DebugHandleRecorder& handles) {
    const GraphModuleView graph = method.view();
    const DebugHandle first = handles.handle(0);
    if (spec.fails) return std::unexpected(Error{.debug_handle = first, .what = "out of ink"});
    std::string all;
    for (const Node& node : graph.nodes) all += std::string(graph.target(node)) + "\n";
    return all;
  }
  static Result<Handle> compile(const Processed& processed, const CompileSpec&) { return processed; }
  template <class Context>
  static Status execute(const Handle&, std::span<const EValue>, std::span<EValue>, Context&) {
    return {};
  }
  static std::size_t scratch_bytes(const Processed& processed) { return processed.size(); }
  static std::vector<std::byte> save(const Processed& processed, SegmentWriter& segments) {
    const auto bytes = std::as_bytes(std::span(processed));
    if (saves_segment) (void)segments.add(bytes);
    return {bytes.begin(), bytes.end()};
  }
  static Result<Processed> load(std::span<const std::byte>, const SegmentReader&) { return Processed(); }
  static std::vector<std::byte> save_spec(const CompileSpec&) { return {}; }
  static Result<CompileSpec> load_spec(std::span<const std::byte>) { return CompileSpec{}; }
};
static_assert(check_backend<noter>() && SizesStaticScratch<noter>);
/// noter without save.
struct forgetful {
  static constexpr std::string_view name = "forgetful";
  using CompileSpec = noter::CompileSpec;
  using Processed = noter::Processed;
  using Handle = noter::Handle;
  static constexpr bool is_available() { return true; }
  static const char* refuses(GraphModuleView graph, NodeId n) { return noter::refuses(graph, n); }
  static Result<Processed> preprocess(const Method& m, const CompileSpec& s, DebugHandleRecorder& r) {
    return noter::preprocess(m, s, r);
  }
  static Result<Handle> compile(const Processed& processed, const CompileSpec&) { return processed; }
  template <class Context>
  static Status execute(const Handle&, std::span<const EValue>, std::span<EValue>, Context&) {
    return {};
  }
};

template <class... Bs>
using ByCapability = CapabilityPartitioner<BackendList<Bs...>>;

/// w + x, neg; mul, on no backend; w + mul: two partitions that both need the weight.
ExportedProgram two_partitions() {
  Draft d;
  const ValueId w = d.parameter("w", 2), x = d.user("x");
  const ValueId y = d.mul("product", d.neg("negated", d.add("sum", x, w)), x);
  d.output(d.add("last", y, w));
  return d.finish();
}
std::size_t calls_in(GraphModuleView graph) {
  std::size_t calls = 0;
  for (const Node& node : graph.nodes) calls += graph.target(node) == call_delegate_target ? 1 : 0;
  return calls;
}

}  // namespace

TEST_CASE("partitions become calls with their blobs") {
  const ExportedProgram program = two_partitions();
  const auto made = formats::embed_delegates(program, ByCapability<noter>());
  REQUIRE(made.has_value());
  CHECK(verify(*made, {.allow_unknown_operators = true}).empty());
  const GraphModuleView graph = made->view();
  REQUIRE(graph.nodes.size() == 3);
  CHECK(graph.target(graph.nodes[1]) == "aten.mul.Tensor");
  REQUIRE(made->constants.size() == 2);
  CHECK(made->state_dict.empty());  // the weight went with the partitions
  const std::array<std::string_view, 2> texts{"aten.add.Tensor\naten.neg.default\n", "aten.add.Tensor\n"};
  for (std::size_t i = 0; i < 2; ++i) {
    const Node& node = graph.nodes[2 * i];
    CHECK(graph.target(node) == call_delegate_target);
    const auto argument = [&](std::string_view name) { return graph.find_input(node, name); };
    CHECK(graph.string(*argument("backend")) == "noter");
    CHECK(argument("blob_version")->payload == 5);
    CHECK(argument("bytes")->payload == static_cast<std::int64_t>(texts[i].size()));
    CHECK(argument("scratch_bytes")->payload == static_cast<std::int64_t>(texts[i].size()));
    CHECK(argument("inputs")->items.count == 1);
    const Tensor& blob = made->constants[i].tensor;
    CHECK(graph.name(argument("blob")->value()) == made->constants[i].name);
    CHECK(blob.dtype == ScalarType::uint8);
    CHECK(blob.numel() % 16 == 0);
    const BlobKey key{5, static_cast<std::int32_t>(argument("fingerprint")->payload),
                      static_cast<std::int32_t>(texts[i].size())};
    CHECK(static_cast<std::uint32_t>(key.fingerprint) == formats::crc32_of(std::as_bytes(std::span(texts[i]))));
    const std::byte* payload = blob_payload(static_cast<const std::uint8_t*>(blob.view().data), key);
    REQUIRE(payload != nullptr);
    CHECK(std::memcmp(payload, texts[i].data(), texts[i].size()) == 0);
  }
  // and the result can be embedded: both blobs are in the program's
  const auto embedded = formats::embed_program(*made);
  REQUIRE(embedded.has_value());
  CHECK(embedded->blob.size() == 64 + 32);
  CHECK(embedded->header.contains("higher_order.executorch_call_delegate"));
}

TEST_CASE("nodes outside partitions stay") {
  Draft d;
  const ValueId x = d.user("x");
  const auto yes = [&](std::span<const ValueId> in) { return d.add("a", in[0], 1.0); };
  const auto no = [&](std::span<const ValueId> in) { return d.neg("b", in[0]); };
  d.output(d.cond("either", d.gt("positive", x, 0), {x}, yes, no));
  const ExportedProgram program = d.finish();
  const auto made =
      formats::embed_delegates(program, ByCapability<noter>());  // the branches' nodes are in no partition
  REQUIRE(made.has_value());
  CHECK(calls_in(made->view()) == 0);
  CHECK(made->view().nodes.size() == program.view().nodes.size());
  Partitioning<BackendList<noter>> empty(program.view());
  empty.add("nothing", delegate_to<BackendList<noter>, noter>());
  CHECK(formats::embed_delegates(program, BackendList<noter>::tables(), empty).has_value());
}

TEST_CASE("names that the model has are not a blob's") {
  Draft d;
  const ValueId x = d.user("noter_0_blob");
  d.output(d.neg("noter_0_blob_", x));
  const auto made = formats::embed_delegates(d.finish(), ByCapability<noter>());
  REQUIRE(made.has_value());
  CHECK(made->constants[0].name == "noter_0_blob__");
}

TEST_CASE("errors name the partition and its backend") {
  const ExportedProgram program = two_partitions();
  const Error unsaved = error_in(formats::embed_delegates(program, ByCapability<forgetful>()));
  CHECK(unsaved.code == ErrorCode::unsupported_argument);
  CHECK(unsaved.stage == Stage::preprocess);
  CHECK(unsaved.backend == "forgetful");
  CHECK(unsaved.where == "partition 'forgetful_0'");
  CHECK(unsaved.what == "what it makes of a program cannot be saved");
  noter::saves_segment = true;
  CHECK(error_in(formats::embed_delegates(program, ByCapability<noter>())).what ==
        "it saves segments beside its bytes, and a static program's blob is one piece");
  noter::saves_segment = false;
  using List = BackendList<noter>;
  auto failing = *ByCapability<noter>().partition({"forward", &program});
  failing.delegations[1].spec = std::make_shared<const noter::CompileSpec>(noter::CompileSpec{.fails = true});
  const Error failed = error_in(formats::embed_delegates(program, List::tables(), failing));
  CHECK(failed.what == "out of ink");
  CHECK(failed.where.view().contains("last"));  // by its debug handle
  failing.delegations[1] = {.backend = 1};
  CHECK(error_in(formats::embed_delegates(program, List::tables(), failing)).code == ErrorCode::out_of_range);
  failing.delegations.pop_back();
  CHECK(error_in(formats::embed_delegates(program, List::tables(), failing)).where == "delegations");
  failing.tags.nodes.pop_back();
  CHECK(error_in(formats::embed_delegates(program, List::tables(), failing)).stage == Stage::partition);
  const Error kept = error_in(formats::embed_delegates(ExportedProgram(programs::counter(1)), ByCapability<noter>()));
  CHECK(kept.what == "the partition would keep the state 'total', which static programs have themselves");
}

TEST_CASE(
    "the accelerator's compiler: its streams give portable's results, keep the laws, and are compiled for static "
    "programs") {
  const auto program = formats::read_pt2(test_data("models/digits_mlp_b1/program.pt2").string());
  REQUIRE(program.has_value());
  using Backends = BackendList<npu_compiler, portable>;
  const auto lowered = to_backend(*program, CapabilityPartitioner<Backends>(), {.keep_originals = true});
  REQUIRE(lowered.has_value());
  const auto plain = to_backend<portable>(*program);
  REQUIRE(plain.has_value());
  const auto image = formats::read_npy(test_data("models/digits_mlp_b1/r0_in0.npy").string());
  REQUIRE(image.has_value());
  const EValue input(image->view());
  Session own = *Session::make(*lowered), reference = *Session::make(*plain);
  const auto scores = own.run("forward", std::span(&input, 1)),
             expected = reference.run("forward", std::span(&input, 1));
  REQUIRE(scores.has_value());
  REQUIRE(expected.has_value());
  for (std::size_t i = 0; i < 10; ++i)
    CHECK(std::fabs((*scores)[0]->tensor().as<float>()[i] - (*expected)[0]->tensor().as<float>()[i]) < 1e-3f);
  std::size_t partitions = 0;
  for (const LoweredDelegate& delegate : lowered->methods()[0].delegates) {
    if (delegate.backend != 0) continue;
    ++partitions;
    const NpuProgram stream = [&] {
      NpuProgram made;
      std::memcpy(&made, processed_of<npu_compiler>(delegate).data(), sizeof made);
      return made;
    }();
    CHECK(stream.commands == 3);  // three for six nodes
    CHECK(stream.scratch_bytes == 2 * 32 * 4);
    const Tensor x = Tensor::zeros(ScalarType::float32, std::array<std::int64_t, 2>{1, 64});
    const std::array<EValue, 1> sample{x.view()};
    const std::array<testing::SampleInputs, 1> samples{sample};
    testing::check_backend_laws<npu_compiler>(
        *delegate.original, {}, samples,
        [](std::string_view law, std::string_view what) { FAIL_CHECK(law << ": " << what); });
  }
  CHECK(partitions == 1);
  const auto prepared = prepare_program(*program, {.backends = Backends::tables()});
  REQUIRE(prepared.has_value());
  const auto delegated = formats::embed_delegates(*prepared ? **prepared : *program, ByCapability<npu_compiler>());
  REQUIRE(delegated.has_value());
  CHECK(calls_in(delegated->view()) == 1);
  CHECK(delegated->state_dict.empty());
}

TEST_CASE("a command stream that is none is an error") {
  NpuProgram header{.commands = 1, .scratch_bytes = 0, .inputs = 1, .outputs = 1};
  NpuCommand command{.rows = 1, .in = 4, .out = 4, .y = {2, 0}, .x = {3, 0}};
  const auto load = [&] {
    std::vector<std::byte> bytes(sizeof header + sizeof command);
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, &command, sizeof command);
    return npu_compiler::load(bytes);
  };
  CHECK(load().has_value());
  CHECK(error_in(npu_compiler::load({})).code == ErrorCode::corrupt_data);
  const auto is_refused = [&](auto& number, std::int32_t wrong) {
    const auto right = std::exchange(number, wrong);
    const bool refused = !load();
    number = right;
    return refused;
  };
  CHECK(is_refused(header.commands, 2));
  CHECK(is_refused(header.commands, -1));
  CHECK(is_refused(header.inputs, 9999));
  CHECK(is_refused(command.y.base, 4));
  CHECK(is_refused(command.y.base, 1));
  CHECK(is_refused(command.x.base, -1));
  CHECK(is_refused(command.x.offset, 4));
  CHECK(is_refused(command.in, 5));
  CHECK(is_refused(command.layout, NpuCommand::out_in));
  command.layout = NpuCommand::tiles;
  CHECK(load().has_value());
  CHECK(is_refused(command.weight.offset, 64));
  CHECK(is_refused(command.bias.base, 2));
  CHECK(load().has_value());
}
