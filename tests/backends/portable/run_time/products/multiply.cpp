// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/multiply.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

using namespace davit;
using namespace davit::portable_kernels;

namespace {

template <class C>
void check_product(std::mt19937& random, std::int64_t m, std::int64_t n, std::int64_t k, bool turn_a, bool turn_b) {
  INFO("m " << m << " n " << n << " k " << k << " turned " << turn_a << turn_b);
  const auto numbers = [&](std::int64_t count) {
    std::vector<C> result(static_cast<std::size_t>(count));
    for (C& x : result) x = static_cast<C>(static_cast<std::int64_t>(random() % 15) - 7);
    return result;
  };
  const std::vector<C> a = numbers(m * k), b = numbers(k * n);
  const std::int64_t row = n + 3;
  std::vector<C> c(static_cast<std::size_t>(m * row), C{99}), expected = c;
  std::vector<C> work(static_cast<std::size_t>(multiply_work<C>(m, n)));
  const Matrix<C> left = turn_a ? Matrix<C>{a.data(), 1, m} : Matrix<C>{a.data(), k, 1};
  const Matrix<C> right = turn_b ? Matrix<C>{b.data(), 1, k} : Matrix<C>{b.data(), n, 1};
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      C sum{};
      for (std::int64_t l = 0; l < k; ++l)
        sum += left.data[i * left.row + l * left.col] * right.data[l * right.row + j * right.col];
      expected[static_cast<std::size_t>(i * row + j)] = sum;
    }
  multiply<C>(m, n, k, left, right, work.data(), c.data(), row);
  CHECK(c == expected);
}

/// The bits of a product of fractions, which depend on the order of sums.
std::vector<float> fractions(std::uint32_t seed, std::int64_t m, std::int64_t n, std::int64_t k, bool turn_b) {
  std::mt19937 random(seed);
  const auto numbers = [&](std::int64_t count) {
    std::vector<float> result(static_cast<std::size_t>(count));
    for (float& x : result) x = static_cast<float>(random() % 1000) / 777 - 0.6F;
    return result;
  };
  const std::vector<float> a = numbers(m * k), b = numbers(k * n);
  std::vector<float> c(static_cast<std::size_t>(m * n)), work(static_cast<std::size_t>(multiply_work<float>(m, n)));
  multiply<float>(m, n, k, {a.data(), k, 1}, turn_b ? Matrix<float>{b.data(), 1, k} : Matrix<float>{b.data(), n, 1},
                  work.data(), c.data(), n);
  return c;
}

template <class C>
void check_random(std::uint32_t seed, int rounds) {
  std::mt19937 random(seed);
  for (int i = 0; i < rounds; ++i) {
    const auto size = [&] { return static_cast<std::int64_t>(random() % (random() % 3 == 0 ? 300 : 40)); };
    const std::int64_t m = size(), n = size(), k = random() % 4 == 0 ? 2 * size() : size();
    check_product<C>(random, m, n, k, i % 2 != 0, i / 2 % 2 != 0);
  }
}

/// Transposes a matrix with every vector width of this CPU.
template <std::size_t Bytes>
void check_transpose() {
  if (Bytes > kernels::widest_vectors()) return;
  for (std::int64_t rows : {1, 7, 16, 33})
    for (std::int64_t columns : {1, 5, 16, 40}) {
      std::vector<float> from(static_cast<std::size_t>(rows * columns)), to(from.size());
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
      kernels::run_on<portable_kernels::detail::Transpose, Bytes>(rows, columns, static_cast<const float*>(from.data()),
                                                                  columns, to.data(), rows);
      bool equal = true;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c)
          equal =
              equal && to[static_cast<std::size_t>(c * rows + r)] == from[static_cast<std::size_t>(r * columns + c)];
      CHECK(equal);
    }
}

}  // namespace

TEST_CASE("threads share products: the sums are the same bits") {
  kernels::ThreadTeam team(3, 1);
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto size = [&] { return static_cast<std::int64_t>(1 + random() % (random() % 3 == 0 ? 400 : 40)); };
    const std::int64_t m = size(), n = size(), k = size();
    INFO("m " << m << " n " << n << " k " << k << " turned " << seed % 2);
    const std::vector<float> alone = fractions(seed, m, n, k, seed % 2 != 0);
    const kernels::TeamScope scope(&team);
    CHECK(fractions(seed, m, n, k, seed % 2 != 0) == alone);
  }
  const std::vector<float> alone = fractions(60, 1, 1001, 301, true);
  const kernels::TeamScope scope(&team);
  CHECK(fractions(60, 1, 1001, 301, true) == alone);
  check_random<float>(5, 100);
  check_random<std::uint64_t>(6, 40);
}

TEST_CASE("products are the sums that define them, for any sizes and strides") {
  check_random<float>(1, 200);
  check_random<double>(2, 60);
  check_random<std::uint64_t>(3, 60);
  std::mt19937 random(4);
  check_product<float>(random, 2100, 40, 3, false, false);
  check_product<float>(random, 2100, 9, 3, false, false);
  check_product<float>(random, 3, 2100, 70, false, false);
  check_product<float>(random, 1, 530, 601, false, true);  // a row times a matrix in main memory
  check_product<double>(random, 1, 530, 601, false, true);
}

TEST_CASE("matrices are transposed by blocks") {
  check_transpose<kernels::vector_bytes>();
#if DAVIT_WIDER_VECTORS
  if constexpr (kernels::vector_bytes < 32) check_transpose<32>();
  check_transpose<64>();
#endif
}
