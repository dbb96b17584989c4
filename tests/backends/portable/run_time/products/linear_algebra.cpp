// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/linear_algebra.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::linear_algebra_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

/// a (n, k) times b (k, m), row by row.
Numbers product(const Numbers& a, const Numbers& b, std::size_t n, std::size_t k, std::size_t m) {
  Numbers out(n * m);
  for (std::size_t i = 0; i < n * m * k; ++i) out[i / k] += a[i / (k * m) * k + i % k] * b[i % k * m + i / k % m];
  return out;
}
bool near(const Numbers& a, const Numbers& b) { return KernelTest::near(a, b, 1e-6); }

}  // namespace

TEST_CASE("portable: inverses of stacks of matrices; a singular one is numbered") {
  KernelTest test;
  const EValue a = test.tensor(ScalarType::float32, {2, 2, 2}, {0, 2, 4, 0, 1, 2, 2, 4});
  CHECK(test.run(linear_algebra_ops, "aten.linalg_inv_ex.default", {a, EValue(false)}, 2) == ErrorCode::ok);
  const Numbers inverse = test.values();
  CHECK(Numbers(inverse.begin(), inverse.begin() + 4) == Numbers{0, 0.25, 0.5, 0});
  CHECK(test.values(1) == Numbers{0, 2});
  CHECK(test.run(linear_algebra_ops, "aten.linalg_inv_ex.default", {a, EValue(true)}, 2) == ErrorCode::failed);
  CHECK(test.run(linear_algebra_ops, "aten.linalg_inv_ex.default",
                 {test.tensor(ScalarType::float32, {2, 3}, {}), EValue(false)}, 2) == ErrorCode::invalid_shape);
}

TEST_CASE("portable: systems of equations from the left and the right, of vectors, one matrix for a batch") {
  KernelTest test;
  const Numbers a = {0, 2, 1, 1, 1, 0, 3, 0, 1};
  const EValue m = test.tensor(ScalarType::float64, {3, 3}, a);
  const Numbers x = {1, 2, 3, 4, 5, 6};
  const EValue left = test.tensor(ScalarType::float64, {3, 2}, product(a, x, 3, 3, 2));
  CHECK(test.run(linear_algebra_ops, "aten._linalg_solve_ex.default", {m, left, EValue(true), EValue(true)}, 4) ==
        ErrorCode::ok);
  CHECK(near(test.values(), x));
  CHECK(test.values(2) == Numbers{3, 3, 3});
  const EValue right = test.tensor(ScalarType::float64, {2, 3}, product(x, a, 2, 3, 3));
  CHECK(test.run(linear_algebra_ops, "aten._linalg_solve_ex.default", {m, right, EValue(false), EValue(true)}, 4) ==
        ErrorCode::ok);
  CHECK(near(test.values(), x));
  const EValue vector = test.tensor(ScalarType::float64, {3}, product(a, {1, 2, 3}, 3, 3, 1));
  CHECK(test.run(linear_algebra_ops, "aten._linalg_solve_ex.default", {m, vector, EValue(true), EValue(true)}, 4) ==
        ErrorCode::ok);
  CHECK(test.sizes() == Integers{3});
  CHECK(near(test.values(), {1, 2, 3}));
  const EValue batch = test.view(left, {4, 3, 2}, {0, 2, 1});
  CHECK(test.run(linear_algebra_ops, "aten._linalg_solve_ex.default", {m, batch, EValue(true), EValue(true)}, 4) ==
        ErrorCode::ok);
  CHECK(test.sizes() == Integers{4, 3, 2});
  CHECK(test.sizes(1) == Integers{3, 3});
  CHECK(test.run(linear_algebra_ops, "aten._linalg_solve_ex.default", {m, right, EValue(true), EValue(true)}, 4) ==
        ErrorCode::invalid_shape);
  const EValue triangle = test.tensor(ScalarType::float64, {2, 2}, {2, 9, 1, 4});
  const EValue b = test.tensor(ScalarType::float64, {2, 1}, {2, 9});
  CHECK(test.run(linear_algebra_ops, "aten.linalg_solve_triangular.default",
                 {triangle, b, EValue(false), EValue(true), EValue(false)}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 2});
  CHECK(test.run(linear_algebra_ops, "aten.linalg_solve_triangular.default",
                 {triangle, b, EValue(true), EValue(true), EValue(true)}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{-79, 9});
}

TEST_CASE("portable: factors multiply to the matrix; determinants") {
  KernelTest test;
  const Numbers a = {4, 2, 2, 5};
  const EValue m = test.tensor(ScalarType::float32, {2, 2}, a);
  CHECK(test.run(linear_algebra_ops, "aten.linalg_cholesky_ex.default", {m, EValue(false), EValue(true)}, 2) ==
        ErrorCode::ok);
  CHECK(test.values() == Numbers{2, 0, 1, 2});
  CHECK(test.run(linear_algebra_ops, "aten.linalg_cholesky_ex.default", {m, EValue(true), EValue(true)}, 2) ==
        ErrorCode::ok);
  CHECK(test.values() == Numbers{2, 1, 0, 2});
  const EValue negative = test.tensor(ScalarType::float32, {2, 2}, {1, 2, 2, 1});
  CHECK(test.run(linear_algebra_ops, "aten.linalg_cholesky_ex.default", {negative, EValue(false), EValue(false)}, 2) ==
        ErrorCode::ok);
  CHECK(test.values(1) == Numbers{2});
  CHECK(test.run(linear_algebra_ops, "aten.linalg_cholesky_ex.default", {negative, EValue(false), EValue(true)}, 2) ==
        ErrorCode::invalid_argument);
  CHECK(test.run(linear_algebra_ops, "aten._linalg_det.default", {negative}, 3) == ErrorCode::ok);
  CHECK(test.values() == Numbers{-3});
  CHECK(test.run(linear_algebra_ops, "aten._linalg_slogdet.default", {negative}, 4) == ErrorCode::ok);
  CHECK(test.values() == Numbers{-1});
  CHECK(test.values(1)[0] == doctest::Approx(std::log(3.0)));

  const Numbers tall = {1, 2, 3, 4, 5, 7};
  const EValue t = test.tensor(ScalarType::float64, {3, 2}, tall);
  CHECK(test.run(linear_algebra_ops, "aten.linalg_qr.default", {t, EValue("reduced")}, 2) == ErrorCode::ok);
  CHECK(near(product(test.values(0), test.values(1), 3, 2, 2), tall));
  CHECK(test.values(1)[0] < 0);  // as in LAPACK
  CHECK(test.run(linear_algebra_ops, "aten._linalg_svd.default", {t, EValue(false), EValue(true), EValue()}, 3) ==
        ErrorCode::ok);
  const Numbers s = test.values(1);
  CHECK(s[0] > s[1]);
  CHECK(near(product(product(test.values(0), {s[0], 0, 0, s[1]}, 3, 2, 2), test.values(2), 3, 2, 2), tall));
  const EValue wide = test.view(t, {2, 3}, {1, 2});
  CHECK(test.run(linear_algebra_ops, "aten._linalg_svd.default", {wide, EValue(true), EValue(true), EValue()}, 3) ==
        ErrorCode::ok);
  CHECK(test.sizes(2) == Integers{3, 3});
  CHECK(near(product(product(test.values(0), {s[0], 0, 0, 0, s[1], 0}, 2, 2, 3), test.values(2), 2, 3, 3),
             {1, 3, 5, 2, 4, 7}));
  CHECK(test.run(linear_algebra_ops, "aten.linalg_qr.default", {t, EValue("complete")}, 2) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{3, 3});
  CHECK(near(product(test.values(0), test.values(1), 3, 3, 2), tall));
  CHECK(test.run(linear_algebra_ops, "aten._linalg_svd.default", {wide, EValue(false), EValue(true), EValue()}, 3) ==
        ErrorCode::ok);
  CHECK(test.sizes(2) == Integers{2, 3});
  CHECK(
      near(product(product(test.values(0), {s[0], 0, 0, s[1]}, 2, 2, 2), test.values(2), 2, 2, 3), {1, 3, 5, 2, 4, 7}));
  CHECK(test.run(linear_algebra_ops, "aten._linalg_svd.default", {t, EValue(true), EValue(true), EValue()}, 3) ==
        ErrorCode::ok);
  CHECK(test.sizes() == Integers{3, 3});
  CHECK(near(product(product(test.values(0), {s[0], 0, 0, s[1], 0, 0}, 3, 3, 2), test.values(2), 3, 2, 2), tall));
  CHECK(test.run(linear_algebra_ops, "aten._linalg_svd.default",
                 {test.tensor(ScalarType::float64, {3, 2}, {1, 2, 1, 2, 1, 2}), EValue(false), EValue(true), EValue()},
                 3) == ErrorCode::ok);
  const Numbers q = test.values(0);  // with a singular value of 0
  CHECK(near(product({q[0], q[2], q[4], q[1], q[3], q[5]}, q, 2, 3, 2), {1, 0, 0, 1}));
  CHECK(test.run(linear_algebra_ops, "aten._linalg_eigh.default", {m, EValue("L"), EValue(true)}, 2) == ErrorCode::ok);
  CHECK(near({test.values()[0] + test.values()[1], test.values()[0] * test.values()[1]}, {9, 16}));
  const EValue turn = test.tensor(ScalarType::float64, {2, 2}, {0, -1, 1, 0});
  CHECK(test.run(linear_algebra_ops, "aten.linalg_matrix_exp.default", {turn}) == ErrorCode::ok);
  CHECK(near(test.values(), {std::cos(1.0), -std::sin(1.0), std::sin(1.0), std::cos(1.0)}));
}

TEST_CASE("portable: empty matrices and empty batches") {
  KernelTest test;
  for (const Integers& sizes : {Integers{0, 0}, Integers{0, 2, 2}, Integers{2, 0, 0}}) {
    const EValue a = test.tensor(ScalarType::float32, sizes, {});
    CHECK(test.run(linear_algebra_ops, "aten.linalg_inv_ex.default", {a, EValue(true)}, 2) == ErrorCode::ok);
    CHECK(test.run(linear_algebra_ops, "aten._linalg_slogdet.default", {a}, 4) == ErrorCode::ok);
    CHECK(test.run(linear_algebra_ops, "aten._linalg_eigh.default", {a, EValue("L"), EValue(true)}, 2) ==
          ErrorCode::ok);
    CHECK(test.run(linear_algebra_ops, "aten._linalg_svd.default", {a, EValue(true), EValue(true), EValue()}, 3) ==
          ErrorCode::ok);
    CHECK(test.run(linear_algebra_ops, "aten.linalg_qr.default", {a, EValue("complete")}, 2) == ErrorCode::ok);
  }
}

TEST_CASE(
    "portable: singular values and eigenvalues of numbers that are not finite are refused, as LAPACK's do not "
    "converge") {
  KernelTest test;
  for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const EValue a = test.tensor(ScalarType::float32, {2, 2, 2}, {1, 2, 2, 1, 1, 2, wrong, 4});
    CHECK(test.run(linear_algebra_ops, "aten._linalg_svd.default", {a, EValue(false), EValue(true), EValue()}, 3) ==
          ErrorCode::failed);
    CHECK(test.run(linear_algebra_ops, "aten._linalg_eigh.default", {a, EValue("L"), EValue(true)}, 2) ==
          ErrorCode::failed);
  }
}
