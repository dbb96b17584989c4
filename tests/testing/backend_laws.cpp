// SPDX-License-Identifier: MIT
#include "davit/testing/backend_laws.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "../programs.hpp"
#include "davit/backends/compiler_demo.hpp"

using namespace davit;
using programs::scalar;

// Each backend here breaks one law; the suite must say which.
namespace {

/// compiler_demo with one thing wrong.
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
template <class Do>
struct executes : compiler_demo {
  template <Tracer T, class Report>
  static Status execute(const Handle& handle, std::span<const EValue> in, std::span<EValue> out,
                        ExecuteContext<T, Report, Workspace>& context) {
    const Status status = compiler_demo::execute(handle, in, out, context);
    Do::after(in, out, context);
    return status;
  }
};
struct Drifts {  // a result that depends on the calls before
  static inline float calls = 0;
  static void after(std::span<const EValue>, std::span<EValue> out, auto&) {
    out[0].tensor().as<float>()[0] += ++calls;
  }
};
struct ChangesInput {
  static void after(std::span<const EValue> in, std::span<EValue>, auto&) { in[0].tensor().as<float>()[0] += 1; }
};
struct WrongType {
  static void after(std::span<const EValue>, std::span<EValue> out, auto&) { out[0] = 1; }
};
struct IgnoresDestination {  // fills a destination with something else
  static void after(std::span<const EValue>, std::span<EValue> out, auto& context) {
    if (out[0].tensor().data != context.workspace().results[0].view().data) out[0].tensor().as<float>()[0] = -1;
  }
};
struct UnknownHandle {
  static void after(std::span<const EValue>, std::span<EValue>, auto& context) {
    context.begin_op(77, "op");
    context.end_op(77, "op");
  }
};
struct Unpaired {
  static void after(std::span<const EValue>, std::span<EValue>, auto& context) { context.begin_op(0, "op"); }
};
struct saves_wrong : compiler_demo {
  static Result<Processed> load(std::span<const std::byte> bytes) {
    auto processed = compiler_demo::load(bytes);
    processed->tokens = "return:i1<debug_handle>-1";
    return processed;
  }
};

template <class B>
std::string broken_laws(const ExportedProgram& program = programs::add()) {
  const Tensor x = scalar(3);
  const Tensor h = scalar(4);
  const EValue first[] = {x.view(), h.view()};
  const EValue second[] = {h.view(), h.view()};
  const testing::SampleInputs samples[] = {first, second};
  std::vector<std::string> laws;
  std::string text;
  testing::check_backend_laws<B>(program, {}, samples, [&](std::string_view law, std::string_view what) {
    CHECK(!what.empty());
    if (text.find(law) == std::string::npos) (text += text.empty() ? "" : " ") += law;
  });
  return text;
}
bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("a good backend breaks no law") {
  CHECK(broken_laws<compiler_demo>() == "");
}
TEST_CASE("availability must not change, and without it nothing is checked") {
  CHECK(contains(broken_laws<forgets_available>(), "available"));
  CHECK(broken_laws<unavailable>() == "available");
}
TEST_CASE("what refuses() takes and what preprocess takes must agree") {
  CHECK(broken_laws<refuses_all>() == "lowers");
  CHECK(broken_laws<takes_too_much>(programs::binary("aten.mul.Tensor")) == "lowers");
  CHECK(broken_laws<compiler_demo>(programs::binary("aten.mul.Tensor")) == "lowers");
}
TEST_CASE("preprocess must be a function of its arguments and must not change them") {
  CHECK(broken_laws<counts_preprocess>() == "pure");
  CHECK(contains(broken_laws<changes_program>(), "pure"));
}
TEST_CASE("execute must be a function of its inputs and must not change them") {
  CHECK(contains(broken_laws<executes<Drifts>>(), "functional"));
  CHECK(contains(broken_laws<executes<ChangesInput>>(), "inputs"));
}
TEST_CASE("outputs must have the types declared") {
  CHECK(broken_laws<executes<WrongType>>() == "outputs");
}
TEST_CASE("destinations must be honoured") {
  CHECK(broken_laws<executes<IgnoresDestination>>() == "destination");
}
TEST_CASE("events must have known handles and come in pairs") {
  CHECK(broken_laws<executes<UnknownHandle>>() == "handles");
  CHECK(broken_laws<executes<Unpaired>>() == "handles");
}
TEST_CASE("what is loaded must do what was saved") {
  CHECK(contains(broken_laws<saves_wrong>(), "saved"));
}
