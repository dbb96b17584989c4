// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/matmul.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "davit/kernels/thread_team.hpp"
#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::matmul_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

/// Numbers that are exact in bfloat16.
Numbers numbers(std::int64_t count, std::int64_t step) {
  Numbers all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<double>(static_cast<std::int64_t>(i) * step % 31 - 15) / 16;
  return all;
}
/// x (m, k) times the transpose of w (n, k), plus a bias of n.
Numbers product(const Numbers& x, const Numbers& w, const Numbers& bias, std::int64_t m, std::int64_t n,
                std::int64_t k) {
  Numbers out;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = bias[static_cast<std::size_t>(j)];
      for (std::int64_t at = 0; at < k; ++at)
        sum += x[static_cast<std::size_t>(i * k + at)] * w[static_cast<std::size_t>(j * k + at)];
      out.push_back(sum);
    }
  return out;
}
bool nearly(const Numbers& a, const Numbers& b) {
  return std::ranges::equal(a, b, [](double x, double y) {
    return (std::isnan(x) && std::isnan(y)) || x == y || std::fabs(x - y) <= 0.005 * (1 + std::fabs(y));
  });
}

}  // namespace

TEST_CASE("portable: linear layers in bfloat16 of all sizes, alone and by threads") {
  KernelTest test;
  davit::kernels::ThreadTeam team(2, 1);
  for (const std::int64_t m : {1, 5, 20, 67})
    for (const std::int64_t n : {1, 9, 16, 40, 131})
      for (const std::int64_t k : {2, 7, 64, 600}) {
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        const Numbers x = numbers(m * k, 7), w = numbers(n * k, 11), bias = numbers(n, 5);
        const Numbers expected = product(x, w, bias, m, n, k);
        const EValue input = test.tensor(ScalarType::bfloat16, {m, k}, x),
                     weight = test.tensor(ScalarType::bfloat16, {n, k}, w),
                     added = test.tensor(ScalarType::bfloat16, {n}, bias);
        REQUIRE(test.run(matmul_ops, "aten.linear.default", {input, weight, added}) == ErrorCode::ok);
        CHECK(nearly(test.values(), expected));
        const EValue turned = test.view(weight, {k, n}, {1, k});
        REQUIRE(test.run(matmul_ops, "aten.addmm.default", {added, input, turned, EValue(1), EValue(1)}) ==
                ErrorCode::ok);
        CHECK(nearly(test.values(), expected));
        Numbers across(w.size());
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t at = 0; at < k; ++at)
            across[static_cast<std::size_t>(at * n + j)] = w[static_cast<std::size_t>(j * k + at)];
        const EValue right = test.tensor(ScalarType::bfloat16, {k, n}, across);
        REQUIRE(test.run(matmul_ops, "aten.addmm.default", {added, input, right, EValue(1), EValue(1)}) ==
                ErrorCode::ok);
        CHECK(nearly(test.values(), expected));
        const davit::kernels::TeamScope scope(&team);
        REQUIRE(test.run(matmul_ops, "aten.linear.default", {input, weight, added}) == ErrorCode::ok);
        CHECK(nearly(test.values(), expected));
      }
}

TEST_CASE("portable: subnormal, infinite and NaN bfloat16, and rows at odd addresses") {
  KernelTest test;
  const std::int64_t m = 20, n = 33, k = 64;
  const Numbers w = numbers(n * k, 11), bias(static_cast<std::size_t>(n), 0);
  for (const double strange : {9.2e-41, std::numeric_limits<double>::infinity(), std::nan("")}) {
    CAPTURE(strange);
    Numbers x = numbers(m * k, 7), large = w;
    x[static_cast<std::size_t>(3 * k + 6)] = strange;
    if (strange < 1) {  // alone in its row, times 2^127: not flushed to zero
      for (std::int64_t i = 0; i < k; ++i) x[static_cast<std::size_t>(3 * k + i)] = i == 6 ? std::ldexp(1, -133) : 0;
      for (std::int64_t j = 0; j < n; ++j) large[static_cast<std::size_t>(j * k + 6)] = std::ldexp(1, 120);
    }
    const EValue input = test.tensor(ScalarType::bfloat16, {m, k}, x),
                 weight = test.tensor(ScalarType::bfloat16, {n, k}, large);
    REQUIRE(test.run(matmul_ops, "aten.linear.default", {input, weight, EValue()}) == ErrorCode::ok);
    const Numbers expected = product(x, large, bias, m, n, k);
    if (strange < 1) CHECK(test.values()[static_cast<std::size_t>(3 * n)] == std::ldexp(1, -13));
    CHECK(nearly(test.values(), expected));
  }
  const Numbers stack = numbers(3 * m * k, 7), rights = numbers(3 * k * (n + 1), 11);
  const EValue left = test.tensor(ScalarType::bfloat16, {3, m, k}, stack),
               padded = test.tensor(ScalarType::bfloat16, {3, k, n + 1}, rights);
  REQUIRE(test.run(matmul_ops, "aten.bmm.default", {left, test.view(padded, {3, k, n}, {k * (n + 1), n + 1, 1}, 1)}) ==
          ErrorCode::ok);
  Numbers products;
  for (std::int64_t i = 0; i < 3; ++i) {
    Numbers turned;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t at = 0; at < k; ++at)
        turned.push_back(rights[static_cast<std::size_t>((i * k + at) * (n + 1) + j + 1)]);
    const Numbers some =
        product(Numbers(stack.begin() + i * m * k, stack.begin() + (i + 1) * m * k), turned, bias, m, n, k);
    products.insert(products.end(), some.begin(), some.end());
  }
  CHECK(nearly(test.values(), products));
  const Numbers all = numbers(m * (k + 1) + 1, 7);
  const EValue memory = test.tensor(ScalarType::bfloat16, {m * (k + 1) + 1}, all),
               weight = test.tensor(ScalarType::bfloat16, {n, k}, w);
  for (const std::int64_t row : {k, k + 1})
    for (const std::int64_t first : {0, 1}) {
      Numbers x;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t at = 0; at < k; ++at) x.push_back(all[static_cast<std::size_t>(first + i * row + at)]);
      REQUIRE(test.run(matmul_ops, "aten.linear.default",
                       {test.view(memory, {m, k}, {row, 1}, first), weight, EValue()}) == ErrorCode::ok);
      CHECK(nearly(test.values(), product(x, w, bias, m, n, k)));
    }
}
