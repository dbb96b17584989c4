// SPDX-License-Identifier: MIT
#include "davit/testing/detail/execute_laws.hpp"

#include <doctest/doctest.h>

#include "testing/faulty_backend.hpp"

using namespace davit;
using faulty::broken_laws;
using faulty::contains;

namespace {

struct saves_wrong : compiler_demo {
  static Result<Processed> load(std::span<const std::byte> bytes) {
    auto processed = compiler_demo::load(bytes);
    processed->tokens = "return:i1<debug_handle>-1";
    return processed;
  }
};

/// Refuses truncated bytes without a reason.
struct refuses_silently : compiler_demo {
  static Result<Processed> load(std::span<const std::byte> bytes) {
    if (bytes.size() < 20) return std::unexpected(Error{.code = ErrorCode::corrupt_data});
    return compiler_demo::load(bytes);
  }
};
/// The same in compile, which sees truncated tokens.
struct fails_without_code : compiler_demo {
  static Result<Handle> compile(const Processed& processed, const CompileSpec& spec) {
    auto handle = compiler_demo::compile(processed, spec);
    if (!handle) handle.error().code = ErrorCode::ok;
    return handle;
  }
};

}  // namespace

TEST_CASE("a loaded program must behave as the saved one") { CHECK(contains(broken_laws<saves_wrong>(), "saved")); }
TEST_CASE("damaged bytes must be refused with a code and a sentence") {
  CHECK(broken_laws<refuses_silently>() == "damaged");
  CHECK(broken_laws<fails_without_code>() == "damaged");
}
