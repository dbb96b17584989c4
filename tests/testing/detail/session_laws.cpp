// SPDX-License-Identifier: MIT
#include "davit/testing/detail/session_laws.hpp"

#include <doctest/doctest.h>

#include "testing/faulty_backend.hpp"

using namespace davit;
using faulty::broken_laws;
using faulty::contains;
using faulty::executes;

namespace {

struct counts_compile : compiler_demo {
  static inline int calls = 0;
  static Result<Handle> compile(const Processed& processed, const CompileSpec& spec) {
    auto handle = compiler_demo::compile(processed, spec);
    if (handle && ++calls > 1) handle->instructions[0].op = Op::sub;
    return handle;
  }
};
struct compiles_once : compiler_demo {
  static inline int calls = 0;
  static Result<Handle> compile(const Processed& processed, const CompileSpec& spec) {
    if (++calls > 1) return std::unexpected(Error{.stage = Stage::compile, .what = "no"});
    return compiler_demo::compile(processed, spec);
  }
};
struct Drifts {  // a result that depends on earlier calls
  static inline float calls = 0;
  static void after(std::span<const EValue>, std::span<EValue> out, auto&) {
    out[0].tensor().as<float>()[0] += ++calls;
  }
};
struct SharesResult {  // all sessions return the same memory
  static void after(std::span<const EValue>, std::span<EValue> out, auto&) {
    static float shared = 0;
    shared = *out[0].tensor().as<float>();
    out[0] = TensorView{&shared, nullptr, nullptr, 0, ScalarType::float32};
  }
};

}  // namespace

TEST_CASE("compile must be a function of its arguments") {
  CHECK(contains(broken_laws<counts_compile>(), "compile"));
  CHECK(contains(broken_laws<compiles_once>(), "compile"));
}
TEST_CASE("results must not depend on the calls before") {
  CHECK(contains(broken_laws<executes<Drifts>>(), "functional"));
}
TEST_CASE("sessions must not share their results' memory") {
  CHECK(broken_laws<executes<SharesResult>>() == "sessions");
}
