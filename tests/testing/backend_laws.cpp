// SPDX-License-Identifier: MIT
#include "davit/testing/backend_laws.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/contiguous.hpp"
#include "davit/program/graph_builder.hpp"
#include "testing/faulty_backend.hpp"

using namespace davit;
using faulty::broken_laws;
using faulty::contains;
using faulty::executes;

namespace {

struct forgets_available : compiler_demo {
  static inline int calls = 0;
  static bool is_available() { return ++calls % 2 == 1; }
};
struct unavailable : compiler_demo {
  static bool is_available() { return false; }
};
struct refuses_all : compiler_demo {
  static const char* refuses(GraphModuleView, NodeId) { return "no"; }
};
struct takes_too_much : compiler_demo {
  static const char* refuses(GraphModuleView, NodeId) { return nullptr; }
};
/// Costs of regions: a valid number for kind 0, else an invalid one.
template <int Kind>
struct estimates : compiler_demo {
  static inline int calls = 0;
  static double offload_cost(GraphModuleView graph, std::span<const NodeId> nodes) {
    CHECK(graph.used != nullptr);
    CHECK(graph.constant != nullptr);
    if (Kind == 1) return -1;
    if (Kind == 2) return std::numeric_limits<double>::infinity();
    if (Kind == 3) return std::numeric_limits<double>::quiet_NaN();
    return Kind == 4 ? ++calls : static_cast<double>(nodes.size());
  }
};
struct counts_preprocess : compiler_demo {
  static inline int calls = 0;
  static Result<Processed> preprocess(const Method& m, const CompileSpec& s, DebugHandleRecorder& r) {
    auto processed = compiler_demo::preprocess(m, s, r);
    if (processed) processed->tokens = concat("constant:", ++calls, "<debug_handle>-1,return:i0<debug_handle>-1");
    return processed;
  }
};
struct changes_program : compiler_demo {
  static Result<Processed> preprocess(const Method& m, const CompileSpec& s, DebugHandleRecorder& r) {
    auto processed = compiler_demo::preprocess(m, s, r);
    const_cast<ExportedProgram*>(m.program)->graph_module.graphs[0].is_single_tensor_return ^= 1;
    return processed;
  }
};
struct WrongType {
  static void after(std::span<const EValue>, std::span<EValue> out, auto&) { out[0] = 1; }
};

/// Computes relu; `Dense` selects the way it copies its input.
template <bool Dense>
struct rectifier {
  static constexpr std::string_view name = "rectifier";
  struct CompileSpec {};
  struct Processed {};
  using Handle = Processed;
  struct Workspace {
    Tensor result;
  };
  static constexpr bool is_available() { return true; }
  static Result<Processed> preprocess(const Method&, const CompileSpec&, DebugHandleRecorder&) { return Processed{}; }
  static Result<Handle> compile(const Processed&, const CompileSpec&) { return Handle{}; }
  template <class Context>
  static Status execute(const Handle&, std::span<const EValue> in, std::span<EValue> out, Context& context) {
    Tensor& result = context.workspace().result;
    result = Dense ? contiguous(in[0].tensor()) : keep_tensor(in[0].tensor());
    float* const y = result.view().template as<float>();
    for (std::int64_t i = 0; i < result.numel(); ++i) y[i] = y[i] < 0 ? 0 : y[i];
    out[0] = result.view();
    return {};
  }
};

/// Returns one wrong result, at one of the suite's calls of execute.
struct Stumbles {
  static inline int at = 0;
  static inline int calls = 0;
  static void after(std::span<const EValue>, std::span<EValue> out, auto&) {
    if (++calls == at) out[0].tensor().as<float>()[0] += 1;
  }
};

}  // namespace

TEST_CASE("a good backend breaks no law") { CHECK(broken_laws<compiler_demo>() == ""); }
TEST_CASE("availability must not change, and without it nothing is checked") {
  CHECK(contains(broken_laws<forgets_available>(), "available"));
  CHECK(broken_laws<unavailable>() == "available");
}
TEST_CASE("preprocess must take every node that refuses() accepts") {
  CHECK(broken_laws<refuses_all>() == "lowers");
  CHECK(broken_laws<takes_too_much>(programs::binary("aten.mul.Tensor")) == "lowers");
  CHECK(broken_laws<compiler_demo>(programs::binary("aten.mul.Tensor")) == "lowers");
}
TEST_CASE("costs are numbers of nanoseconds, and the same for the same region") {
  CHECK(broken_laws<estimates<0>>() == "");
  CHECK(broken_laws<estimates<1>>() == "costs");
  CHECK(broken_laws<estimates<2>>() == "costs");
  CHECK(broken_laws<estimates<3>>() == "costs");
  CHECK(broken_laws<estimates<4>>() == "costs");
}
TEST_CASE("preprocess must be a function of its arguments and must not change them") {
  CHECK(broken_laws<counts_preprocess>() == "pure");
  CHECK(contains(broken_laws<changes_program>(), "pure"));
}
TEST_CASE("outputs must have the types declared") { CHECK(broken_laws<executes<WrongType>>() == "outputs"); }
TEST_CASE("inputs may have any strides") {
  GraphBuilder b;
  b.begin_graph("forward");
  const ValueId x = b.input("x", ScalarType::float32, {2, 3});
  b.end_graph({b.call("aten.relu.default", {{"self", b.value(x)}}, "y", ScalarType::float32, {2, 3})});
  const ExportedProgram program = programs::user_program(std::move(b).finish());
  const Tensor numbers = *owned_tensor(std::vector<float>{-1, 2, -3, 4, -5, -6}, {2, 3});
  const EValue inputs[] = {numbers};
  const testing::SampleInputs samples[] = {inputs};
  CHECK(testing::check_backend_laws<rectifier<true>>(program, {}, samples).empty());
  const auto broken = testing::check_backend_laws<rectifier<false>>(program, {}, samples);
  REQUIRE(broken.size() == 1);
  CHECK(broken[0].law == "strides");
}
TEST_CASE("one wrong result is noticed, whichever call it comes from") {
  Stumbles::at = Stumbles::calls = 0;
  REQUIRE(broken_laws<executes<Stumbles>>() == "");
  const int all = Stumbles::calls;
  CHECK(all > 20);
  std::string laws;
  for (Stumbles::at = 1; Stumbles::at <= all; ++Stumbles::at) {
    CAPTURE(Stumbles::at);
    Stumbles::calls = 0;
    const std::string broken = broken_laws<executes<Stumbles>>();
    CHECK(broken != "");
    laws += broken + " ";
  }
  for (const char* law : {"compile", "functional", "sessions", "checked", "destination", "tracer", "saved"}) {
    CAPTURE(law);
    CHECK(contains(laws, law));
  }
}
