// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/symbolic.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::portable_kernels::symbolic_ops;

constexpr double inf = std::numeric_limits<double>::infinity();

/// Calls a kernel for Python's operator; its code must be ok.
EValue of(const char* name, EValue a, EValue b) {
  KernelTest test;
  CHECK(test.run(symbolic_ops, std::string("_operator.") + name, {a, b}) == ErrorCode::ok);
  return test.outputs[0];
}

}  // namespace

TEST_CASE("portable: powers of sizes, also of -1, 0 and 1 to large exponents") {
  CHECK(of("pow", -1, 65).as_int() == -1);
  CHECK(of("pow", -1, 64).as_int() == 1);
  CHECK(of("pow", -1, 1).as_int() == -1);
  CHECK(of("pow", -1, 0).as_int() == 1);
  CHECK(of("pow", 0, 0).as_int() == 1);
  CHECK(of("pow", 0, 1000000000000).as_int() == 0);
  CHECK(of("pow", 1, 1000000000000).as_int() == 1);
  CHECK(of("pow", -2, 63).as_int() == std::numeric_limits<std::int64_t>::min());
  KernelTest test;
  CHECK(test.run(symbolic_ops, "_operator.pow", {EValue(2), EValue(63)}) == ErrorCode::out_of_range);
  CHECK(test.run(symbolic_ops, "_operator.pow", {EValue(2), EValue(1000000000000)}) == ErrorCode::out_of_range);
}

TEST_CASE("portable: floors and remainders of floats are Python's") {
  CHECK(of("floordiv", 1.0, 0.1).as_float() == 9);
  CHECK(of("mod", 1.0, 0.1).as_float() == 0.09999999999999995);
  CHECK(of("mod", 1e20, 3.0).as_float() == 1);
  CHECK(of("floordiv", -7.5, 2).as_float() == -4);
  CHECK(of("mod", -7.5, 2).as_float() == 0.5);
  CHECK(of("mod", 5, -3.0).as_float() == -1);
  CHECK(of("mod", 3.0, inf).as_float() == 3);
  CHECK(of("mod", -3.0, inf).as_float() == inf);
  CHECK(of("floordiv", -3.0, inf).as_float() == -1);
  CHECK(std::signbit(of("mod", 6.0, -3.0).as_float()));
  CHECK(std::signbit(of("floordiv", 0.0, -2.0).as_float()));
  CHECK(of("floordiv", -7, 2).as_int() == -4);
  CHECK(of("mod", -7, 2).as_int() == 1);
}

TEST_CASE("portable: ints and floats compare and divide exactly, as Python's; overflow is an error") {
  const std::int64_t big = (std::int64_t{1} << 53) + 1, most = std::numeric_limits<std::int64_t>::max();
  CHECK_FALSE(of("eq", big, 9007199254740992.0).as_bool());
  CHECK(of("gt", big, 9007199254740992.0).as_bool());
  CHECK(of("lt", 9007199254740992.0, big).as_bool());
  CHECK(of("eq", 3, 3.0).as_bool());
  CHECK(of("lt", 3, 3.5).as_bool());
  CHECK(of("gt", -3, -3.5).as_bool());
  CHECK(of("lt", most, 9223372036854775808.0).as_bool());
  CHECK(of("lt", most, inf).as_bool());
  CHECK(of("gt", 0, -inf).as_bool());
  CHECK(of("ne", 0, std::nan("")).as_bool());
  CHECK_FALSE(of("ge", 0, std::nan("")).as_bool());
  CHECK(of("truediv", big, 1).as_float() == 9007199254740992.0);
  CHECK(of("truediv", most, most - 1).as_float() == 1.0);
  KernelTest test;
  CHECK(test.run(symbolic_ops, "_operator.neg", {EValue(std::numeric_limits<std::int64_t>::min())}) ==
        ErrorCode::out_of_range);
  REQUIRE(test.run(symbolic_ops, "_operator.neg", {EValue(most)}) == ErrorCode::ok);
  CHECK(test.outputs[0].as_int() == -most);
}
