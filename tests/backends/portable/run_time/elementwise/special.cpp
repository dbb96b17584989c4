// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/special.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::elementwise_special_ops;
using Numbers = KernelTest::Numbers;

}  // namespace

TEST_CASE("portable: special functions of floats, of 16 bits in float32, and of integers as float32") {
  KernelTest test;
  for (const ScalarType type :
       {ScalarType::float32, ScalarType::float64, ScalarType::bfloat16, ScalarType::float16, ScalarType::int64}) {
    CHECK(test.run(elementwise_special_ops, "aten.special_bessel_j0.default", {test.tensor(type, {2}, {1, -3})}) ==
          ErrorCode::ok);
    CHECK(test.dtype() == (type == ScalarType::int64 ? ScalarType::float32 : type));
    CHECK(test.near(test.values(), {0.7651976865579666, -0.2600519549019335},
                    type == ScalarType::float64    ? 1e-14
                    : type == ScalarType::bfloat16 ? 2e-3
                                                   : 2e-4));
  }
  CHECK(test.run(elementwise_special_ops, "aten.special_i1e.default", {test.tensor(ScalarType::float32, {1}, {-1})}) ==
        ErrorCode::ok);
  CHECK(test.near(test.values(), {-0.2079104153497085}, 1e-7));
  CHECK(test.run(elementwise_special_ops, "aten.polygamma.default",
                 {EValue(1), test.tensor(ScalarType::int64, {2}, {1, 2})}) == ErrorCode::ok);
  CHECK(test.near(test.values(), {1.6449340668482264, 0.6449340668482264}, 1e-6));
  CHECK(test.run(elementwise_special_ops, "aten.polygamma.default",
                 {EValue(-1), test.tensor(ScalarType::float32, {1}, {1})}) == ErrorCode::out_of_range);
}

TEST_CASE("portable: special functions of two operands, of which one may be a number") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {2, 1}, {2, 4}), q = test.tensor(ScalarType::float32, {2}, {1, 3});
  CHECK(test.run(elementwise_special_ops, "aten.special_zeta.default", {x, q}) == ErrorCode::ok);
  CHECK(test.near(test.values(), {1.6449341, 0.3949341, 1.0823232, 0.0198232}, 1e-6));
  CHECK(test.run(elementwise_special_ops, "aten.special_zeta.self_scalar", {EValue(2), q}) == ErrorCode::ok);
  CHECK(test.near(test.values(), {1.6449341, 0.3949341}, 1e-6));
  CHECK(test.run(elementwise_special_ops, "aten.igammac.default", {x, q}) == ErrorCode::ok);
  CHECK(test.near(test.values(), {0.7357589, 0.1991483, 0.9810118, 0.6472319}, 1e-6));
  CHECK(test.run(elementwise_special_ops, "aten.special_legendre_polynomial_p.n_scalar",
                 {test.tensor(ScalarType::float32, {2}, {0.5, -1}), EValue(3)}) == ErrorCode::ok);
  CHECK(test.near(test.values(), {-0.4375, -1}, 1e-6));
  CHECK(test.run(elementwise_special_ops, "aten.special_shifted_chebyshev_polynomial_t.default",
                 {test.tensor(ScalarType::float64, {1}, {0.65}), test.tensor(ScalarType::int64, {1}, {2})}) ==
        ErrorCode::ok);
  CHECK(test.near(test.values(), {2 * 0.09 - 1}, 1e-12));
}

TEST_CASE("portable: nextafter steps in the dtype of the result") {
  KernelTest test;
  const double inf = std::numeric_limits<double>::infinity();
  const auto next = [&](ScalarType type, double a, double b) {
    CHECK(test.run(elementwise_special_ops, "aten.nextafter.default",
                   {test.tensor(type, {1}, {a}), test.tensor(type, {1}, {b})}) == ErrorCode::ok);
    return test.values()[0];
  };
  CHECK(next(ScalarType::float32, 1, 2) == 1 + 0x1p-23);
  CHECK(next(ScalarType::float64, 1, 0) == 1 - 0x1p-53);
  CHECK(next(ScalarType::bfloat16, 1, inf) == 1 + 0x1p-7);
  CHECK(next(ScalarType::float16, 65504, inf) == inf);
  CHECK(next(ScalarType::float16, 0, -1) == -0x1p-24);
  const EValue whole = test.tensor(ScalarType::int64, {1}, {1});
  CHECK(test.run(elementwise_special_ops, "aten.nextafter.default", {whole, whole}) == ErrorCode::invalid_dtype);
}
