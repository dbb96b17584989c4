// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/movement/scatter_reduce.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/kernel_test.hpp"

using namespace davit;
using portable_kernels::scatter_reduce_ops;
using Numbers = KernelTest::Numbers;

namespace {

constexpr auto f32 = ScalarType::float32;
constexpr auto i64 = ScalarType::int64;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

struct Reduce : KernelTest {
  ErrorCode add(const EValue& x, const EValue& index, const EValue& source) {
    return run(scatter_reduce_ops, "aten.scatter_add.default", {x, 0, index, source});
  }
  /// Combines 4 values with a tensor of 3: two with the first element, one with the second, one with the first again.
  ErrorCode reduce(ScalarType type, std::string_view how, bool include_self, const Numbers& self = {1, 7, 3},
                   const Numbers& source = {-5, 1, 0, -2}) {
    return run(
        scatter_reduce_ops, "aten.scatter_reduce.two",
        {tensor(type, {3}, self), 0, tensor(i64, {4}, {0, 0, 1, 0}), tensor(type, {4}, source), how, include_self});
  }
};

}  // namespace

TEST_CASE("scatter_add sums in order; half precision rounds once") {
  Reduce t;
  const EValue index = t.view(t.tensor(i64, {1}, {1}), {3000}, {0});
  REQUIRE(t.add(t.tensor(f32, {2}, {5, 1}), t.tensor(i64, {3}, {0, 1, 0}), t.tensor(f32, {4}, {1, 2, 3, 4})) ==
          ErrorCode::ok);
  CHECK(t.values() == Numbers{9, 3});
  const EValue tenth = t.tensor(ScalarType::float16, {1}, {1});
  REQUIRE(t.add(t.tensor(ScalarType::float16, {2}, {0, 0}), index, t.view(tenth, {3000}, {0})) == ErrorCode::ok);
  CHECK(t.values() == Numbers{0, 3000});  // past 2048, where 1 is less than half a step
  REQUIRE(t.add(t.tensor(ScalarType::uint8, {2}, {0, 0}), index,
                t.view(t.tensor(ScalarType::uint8, {1}, {1}), {3000}, {0})) == ErrorCode::ok);
  CHECK(t.values() == Numbers{0, 3000 % 256});
  REQUIRE(t.add(t.tensor(ScalarType::bool_, {2}, {0, 0}), t.tensor(i64, {2}, {1, 1}),
                t.tensor(ScalarType::bool_, {2}, {1, 1})) == ErrorCode::ok);
  CHECK(t.values() == Numbers{0, 1});
}

TEST_CASE("scatter_reduce with the tensor's own values") {
  Reduce t;
  for (const ScalarType type : {f32, i64, ScalarType::int8, ScalarType::bfloat16}) {
    REQUIRE(t.reduce(type, "sum", true) == ErrorCode::ok);
    CHECK(t.values() == Numbers{-5, 7, 3});
    REQUIRE(t.reduce(type, "prod", true) == ErrorCode::ok);
    CHECK(t.values() == Numbers{10, 0, 3});
    REQUIRE(t.reduce(type, "amax", true) == ErrorCode::ok);
    CHECK(t.values() == Numbers{1, 7, 3});
    REQUIRE(t.reduce(type, "amin", true) == ErrorCode::ok);
    CHECK(t.values() == Numbers{-5, 0, 3});
    REQUIRE(t.reduce(type, "mean", true) == ErrorCode::ok);
    CHECK(t.values() == (is_floating(type) ? Numbers{-1.25, 3.5, 3} : Numbers{-2, 3, 3}));  // integers round down
  }
}

TEST_CASE("scatter_reduce without self: elements without an index keep their value") {
  Reduce t;
  REQUIRE(t.reduce(f32, "sum", false) == ErrorCode::ok);
  CHECK(t.values() == Numbers{-6, 0, 3});
  REQUIRE(t.reduce(i64, "prod", false) == ErrorCode::ok);
  CHECK(t.values() == Numbers{10, 0, 3});
  REQUIRE(t.reduce(f32, "mean", false) == ErrorCode::ok);
  CHECK(t.values() == Numbers{-2, 0, 3});
  REQUIRE(t.reduce(f32, "amax", false, {9, 9, 9}) == ErrorCode::ok);
  CHECK(t.values() == Numbers{1, 0, 9});
  REQUIRE(t.reduce(ScalarType::bool_, "amin", false, {1, 1, 1}, {1, 1, 0, 1}) == ErrorCode::ok);
  CHECK(t.values() == Numbers{1, 0, 1});
}

TEST_CASE("scatter_reduce: NaN prevails") {
  Reduce t;
  for (const char* how : {"sum", "prod", "mean", "amax", "amin"}) {
    REQUIRE(t.reduce(f32, how, true, {not_a_number, 1, 1}, {1, 2, not_a_number, 3}) == ErrorCode::ok);
    CHECK(std::isnan(t.values()[0]));
    CHECK(std::isnan(t.values()[1]));
    REQUIRE(t.reduce(f32, how, false, {not_a_number, 1, not_a_number}, {1, 2, 3, 4}) == ErrorCode::ok);
    CHECK(!std::isnan(t.values()[0]));
    CHECK(std::isnan(t.values()[2]));
  }
}

TEST_CASE("scatter_reduce: a count is taken in the tensor's dtype, division never traps") {
  Reduce t;
  const EValue index = t.view(t.tensor(i64, {1}, {0}), {255}, {0});
  const EValue zeros = t.view(t.tensor(ScalarType::int8, {1}, {0}), {255}, {0});
  const auto mean = [&](const EValue& self, bool include_self) {
    return t.run(scatter_reduce_ops, "aten.scatter_reduce.two", {self, 0, index, zeros, "mean", include_self});
  };
  REQUIRE(mean(t.tensor(ScalarType::int8, {1}, {-128}), true) == ErrorCode::ok);  // 256 counts as 0: not divided
  CHECK(t.values() == Numbers{-128});
  REQUIRE(mean(t.tensor(ScalarType::int8, {1}, {-128}), false) == ErrorCode::ok);  // 255 counts as -1
  CHECK(t.values() == Numbers{0});
}

TEST_CASE("scatter_reduce refuses arguments that do not fit") {
  Reduce t;
  CHECK(t.reduce(f32, "add", true) == ErrorCode::invalid_argument);
  CHECK(t.reduce(ScalarType::bool_, "mean", true) == ErrorCode::invalid_dtype);
  CHECK(t.add(t.tensor(f32, {1}, {}), t.tensor(i64, {1}, {1}), t.tensor(f32, {1}, {})) == ErrorCode::out_of_range);
  CHECK(t.add(t.tensor(f32, {1}, {}), t.tensor(i64, {1}, {-1}), t.tensor(f32, {1}, {})) == ErrorCode::out_of_range);
  CHECK(t.add(t.tensor(f32, {1}, {}), t.tensor(i64, {1}, {0}), t.tensor(i64, {1}, {})) == ErrorCode::invalid_dtype);
  CHECK(t.add(t.tensor(f32, {1}, {}), t.tensor(i64, {2}, {0, 0}), t.tensor(f32, {1}, {})) == ErrorCode::invalid_shape);
}
