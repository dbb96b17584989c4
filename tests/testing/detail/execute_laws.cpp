// SPDX-License-Identifier: MIT
#include "davit/testing/detail/execute_laws.hpp"

#include <doctest/doctest.h>

#include "davit/backends/portable.hpp"
#include "support/draft.hpp"
#include "testing/faulty_backend.hpp"

using namespace davit;
using faulty::broken_laws;
using faulty::contains;
using faulty::executes;

namespace {

struct ChangesInput {
  static void after(std::span<const EValue> in, std::span<EValue>, auto&) { in[0].tensor().as<float>()[0] += 1; }
};
struct IgnoresDestination {  // fills a destination with wrong bytes
  static void after(std::span<const EValue>, std::span<EValue> out, auto& context) {
    if (out[0].tensor().data != context.workspace().results[0].view().data) out[0].tensor().as<float>()[0] = -1;
  }
};
struct needs_a_report : compiler_demo {
  template <Tracer T, class Report>
  static Status execute(const Handle& handle, std::span<const EValue> in, std::span<EValue> out,
                        ExecuteContext<T, Report, Workspace>& context) {
    if (!Report::enabled) return std::unexpected(Fault(ErrorCode::failed));
    return compiler_demo::execute(handle, in, out, context);
  }
};

struct writes_behind : compiler_demo {
  template <Tracer T, class Report>
  static Status execute(const Handle& handle, std::span<const EValue> in, std::span<EValue> out,
                        ExecuteContext<T, Report, Workspace>& context) {
    const EValue to = out[0];
    const Status done = compiler_demo::execute(handle, in, out, context);
    const TensorView& made = context.workspace().results[0].view();
    if (to.is_tensor() && to.tensor().numel() < made.numel()) to.tensor().as<float>()[to.tensor().numel()] = 1;
    return done;
  }
};

}  // namespace

TEST_CASE("execute must not change its inputs") { CHECK(contains(broken_laws<executes<ChangesInput>>(), "inputs")); }
TEST_CASE("destinations must be honoured") { CHECK(broken_laws<executes<IgnoresDestination>>() == "destination"); }
TEST_CASE("execute must not write behind a destination") {
  support::Draft d;
  const ValueId x = d.user("x", {3});
  d.output(d.add("y", x, x));
  const ExportedProgram program = d.finish();
  const Tensor sample = programs::tensor({3}, {1, 2, 3});
  const EValue inputs[] = {sample};
  const testing::SampleInputs samples[] = {inputs};
  std::string text;
  const auto note = [&](std::string_view law, std::string_view) { text += law; };
  testing::check_backend_laws<compiler_demo>(program, {}, samples, note);
  testing::check_backend_laws<portable>(program, {}, samples, note);
  CHECK(text == "");
  testing::check_backend_laws<writes_behind>(program, {}, samples, note);
  CHECK(text == "destination");
}
TEST_CASE("execute must work without a session's report") { CHECK(broken_laws<needs_a_report>() == "functional"); }
