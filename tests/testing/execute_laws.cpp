// SPDX-License-Identifier: MIT
#include "davit/testing/execute_laws.hpp"

#include <doctest/doctest.h>

#include "testing/faulty_backend.hpp"

using namespace davit;
using faulty::broken_laws;
using faulty::contains;
using faulty::executes;

namespace {

struct ChangesInput {
  static void after(std::span<const EValue> in, std::span<EValue>, auto&) { in[0].tensor().as<float>()[0] += 1; }
};
struct IgnoresDestination {  // fills a destination with something else
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

}  // namespace

TEST_CASE("execute must not change its inputs") {
  CHECK(contains(broken_laws<executes<ChangesInput>>(), "inputs"));
}
TEST_CASE("destinations must be honoured") {
  CHECK(broken_laws<executes<IgnoresDestination>>() == "destination");
}
TEST_CASE("execute must do without what a session keeps") {
  CHECK(broken_laws<needs_a_report>() == "functional");
}
