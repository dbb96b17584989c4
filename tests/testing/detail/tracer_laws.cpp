// SPDX-License-Identifier: MIT
#include "davit/testing/detail/session_laws.hpp"

#include <doctest/doctest.h>

#include "testing/faulty_backend.hpp"

using namespace davit;
using faulty::broken_laws;
using faulty::executes;

namespace {

struct UnknownHandle {
  static void after(std::span<const EValue>, std::span<EValue>, auto& context) {
    context.begin_op(77, "op");
    context.end_op(77, "op");
  }
};
struct Unpaired {
  static void after(std::span<const EValue>, std::span<EValue>, auto& context) { context.begin_op(0, "op"); }
};

struct differs_when_traced : compiler_demo {
  template <Tracer T, class Report>
  static Status execute(const Handle& handle, std::span<const EValue> in, std::span<EValue> out,
                        ExecuteContext<T, Report, Workspace>& context) {
    const Status status = compiler_demo::execute(handle, in, out, context);
    if constexpr (T::enabled) out[0].tensor().as<float>()[0] += 1;
    return status;
  }
};

}  // namespace

TEST_CASE("events must have known handles and come in pairs") {
  CHECK(broken_laws<executes<UnknownHandle>>() == "handles");
  CHECK(broken_laws<executes<Unpaired>>() == "handles");
}
TEST_CASE("a tracer must change no result") { CHECK(broken_laws<differs_when_traced>() == "tracer"); }
