// SPDX-License-Identifier: MIT
#include "davit/kernels/elementwise.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "davit/core/walk.hpp"
#include "davit/kernels/arithmetic.hpp"

using namespace davit;
using kernels::Conversion;

namespace {

template <class T>
struct Affine {
  T factor;
  explicit Affine(kernels::Parameters& p) noexcept : factor(p.number<T>(0)) {}
  T operator()(T a, T b) const noexcept { return factor * a - b; }
};

/// 2 * a - b over (rows, 3), with b broadcast.
template <class T>
std::vector<T> run(std::int64_t rows, std::vector<T> b, const std::vector<std::int64_t>& b_sizes) {
  std::vector<T> a(static_cast<std::size_t>(rows) * 3);
  std::iota(a.begin(), a.end(), T{});
  std::vector<T> out(a.size());
  const std::array<std::int64_t, 2> sizes{rows, 3};
  const std::array<std::int64_t, 2> strides{3, 1};
  std::vector<std::int64_t> b_strides(b_sizes.size());
  contiguous_strides(b_sizes, b_strides);
  constexpr ScalarType type = scalar_type_of<T>;
  const TensorView x{a.data(), sizes.data(), strides.data(), 2, type};
  const TensorView y{b.data(), b_sizes.data(), b_strides.data(), static_cast<std::uint8_t>(b_sizes.size()), type};
  const TensorView to{out.data(), sizes.data(), strides.data(), 2, type};
  constexpr kernels::Compute compute = kernels::compute_of(type);
  constexpr ScalarType wide = kernels::scalar_type_of_compute(compute);
  const std::array<kernels::Operand, 2> operands{
      {{&x, Conversion::into_compute(type, type)}, {&y, Conversion::into_compute(type, type)}}};
  kernels::Parameters parameters{.reals = {2}, .integers = {2}};
  kernels::map_blocks(operands, to, Conversion::between(wide, type), kernels::number_loops<Affine, 2>.of(compute),
                      parameters);
  return out;
}

/// Returns the element; 777 is an error.
template <class T>
struct Refusing {
  kernels::Parameters* p;
  explicit Refusing(kernels::Parameters& parameters) noexcept : p(&parameters) {}
  T operator()(T a) const noexcept {
    if (a == 777) p->code = ErrorCode::out_of_range;
    return a;
  }
};

}  // namespace

TEST_CASE("threads share adjacent elements; an error of one is an error") {
  std::vector<float> b(15000);
  std::iota(b.begin(), b.end(), 0.5F);
  const std::vector<float> alone = run<float>(5000, b, {5000, 3}), number = run<float>(5000, {7}, {});
  kernels::ThreadTeam team(3, 1);
  const kernels::TeamScope scope(&team);
  CHECK(run<float>(5000, b, {5000, 3}) == alone);
  CHECK(run<float>(5000, {7}, {}) == number);
  for (const std::int64_t count : {700, 5000}) {
    std::vector<std::int64_t> x(static_cast<std::size_t>(count)), out(x.size());
    std::iota(x.begin(), x.end(), 0);
    const std::int64_t one = 1;
    const TensorView from{x.data(), &count, &one, 1, ScalarType::int64},
        to{out.data(), &count, &one, 1, ScalarType::int64};
    const std::array<kernels::Operand, 1> operands{
        {{&from, Conversion::into_compute(ScalarType::int64, ScalarType::int64)}}};
    kernels::Parameters parameters;
    kernels::map_blocks(operands, to, Conversion::between(ScalarType::int64, ScalarType::int64),
                        kernels::number_loops<Refusing, 1>.int64, parameters);
    CHECK(out == x);
    CHECK((parameters.code == ErrorCode::ok) == (count < 777));
  }
}

TEST_CASE("operands broadcast; operands of a narrow dtype are converted by blocks") {
  CHECK(run<float>(2, {1, 2, 3}, {3}) == std::vector<float>{-1, 0, 1, 5, 6, 7});
  CHECK(run<float>(2, {1, 2}, {2, 1}) == std::vector<float>{-1, 1, 3, 4, 6, 8});
  CHECK(run<std::int64_t>(2, {5}, {}) == std::vector<std::int64_t>{-5, -3, -1, 1, 3, 5});
  CHECK(run<std::int8_t>(2, {1, 2, 3}, {3}) == std::vector<std::int8_t>{-1, 0, 1, 5, 6, 7});
  const std::vector<std::int16_t> many = run<std::int16_t>(1000, {1, 2, 3}, {3});
  CHECK(many.back() == 2 * 2999 - 3);
  CHECK(run<double>(1000, {0}, {1, 1})[2500] == 5000);
  CHECK(run<float>(0, {0}, {1, 1}).empty());
}

TEST_CASE("transposed operands, by tiles") {
  for (const auto& [rows, columns] :
       {std::pair(16, 32), std::pair(50, 70), std::pair(15, 100), std::pair(100, 31), std::pair(33, 65)}) {
    const std::vector<std::int64_t> sizes{2, rows, columns}, turned{rows * columns, 1, rows},
        dense{rows * columns, columns, 1}, one_row{columns};
    const std::vector<std::int64_t> one{1};
    const std::int64_t count = 2 * rows * columns;
    std::vector<Half> a(static_cast<std::size_t>(count));
    std::vector<float> b(a.size()), c(static_cast<std::size_t>(columns)), sum(a.size());
    std::vector<BFloat16> narrow(a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] = Half(static_cast<float>(i % 97)), b[i] = static_cast<float>(i % 89);
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i) * 1000;
    const TensorView x{a.data(), sizes.data(), turned.data(), 3, ScalarType::float16};
    const TensorView y{b.data(), sizes.data(), dense.data(), 3, ScalarType::float32};
    const TensorView row{c.data(), one_row.data(), one.data(), 1, ScalarType::float32};
    const auto as_float = [](ScalarType from) { return Conversion::into_compute(from, ScalarType::float32); };
    const auto at = [&](std::int64_t i) {  // of x, for element i of the result
      const std::int64_t plane = i / (rows * columns), r = i / columns % rows, k = i % columns;
      return static_cast<float>(a[static_cast<std::size_t>(plane * rows * columns + r + k * rows)]);
    };
    kernels::Parameters none;
    const std::array operands{kernels::Operand{&x, as_float(x.dtype)}, kernels::Operand{&y, as_float(y.dtype)}};
    kernels::map_blocks(operands, TensorView{sum.data(), sizes.data(), dense.data(), 3, ScalarType::float32},
                        Conversion::between(ScalarType::float32, ScalarType::float32),
                        kernels::number_loops<kernels::Add, 2>.float32, none);
    const std::array with_row{kernels::Operand{&x, as_float(x.dtype)}, kernels::Operand{&row, as_float(row.dtype)}};
    kernels::map_blocks(with_row, TensorView{narrow.data(), sizes.data(), dense.data(), 3, ScalarType::bfloat16},
                        Conversion::between(ScalarType::float32, ScalarType::bfloat16),
                        kernels::number_loops<kernels::Add, 2>.float32, none);
    std::size_t wrong = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(i);
      wrong += sum[k] != at(i) + b[k];
      wrong += narrow[k].bits != BFloat16(at(i) + c[k % c.size()]).bits;
    }
    CHECK(wrong == 0);
  }
}
TEST_CASE("pairs of operands of any length, one possibly a number: vectors equal single elements, NaN and zeros too") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  std::vector<float> a, b;
  const auto check = [&](const auto& f) {
    for (const bool a_steps : {true, false})
      for (const bool b_steps : {true, false})
        for (std::size_t n = 0; n <= a.size(); ++n) {
          std::vector<float> y(a.size(), 7);
          kernels::map_pairs(f, a.data() + a.size() - n, a_steps, b.data() + a.size() - n, b_steps, y.data(),
                             static_cast<std::int64_t>(n));
          for (std::size_t i = 0; i < n; ++i) {
            const float expected = f(a[a.size() - n + (a_steps ? i : 0)], b[a.size() - n + (b_steps ? i : 0)]);
            if (std::isnan(expected) ? std::isnan(y[i])
                                     : std::bit_cast<std::uint32_t>(y[i]) == std::bit_cast<std::uint32_t>(expected))
              continue;
            CAPTURE(i);
            FAIL_CHECK("another result than of one element: " << y[i] << " for " << expected);
          }
          if (n < y.size()) CHECK(y[n] == 7);
        }
  };
  const float values[] = {0.0f, -0.0f, nan, 1, -1, infinity, -infinity, 2.5f};
  for (const float x : values)
    for (const float y : values) a.push_back(x), b.push_back(y);
  a.push_back(3), b.push_back(4);
  check(kernels::Maximum<float>{});
  check(kernels::Minimum<float>{});
  check(kernels::Divide<float>{});
  check(kernels::Subtract<float>{});
}

TEST_CASE("pairs along a walk, with even rows or not") {
  const std::vector<float> a{1, 2, 3, 4, 5, 6}, b{10, 20};
  std::vector<float> y(6);
  Walk even;
  even.push(3, std::array<std::int64_t, 3>{1, 1, 0}).push(2, std::array<std::int64_t, 3>{3, 3, 1});
  kernels::map_pairs(kernels::Add<float>{}, even, a.data(), b.data(), y.data());
  CHECK(y == std::vector<float>{11, 12, 13, 24, 25, 26});
  Walk turned;
  turned.push(3, std::array<std::int64_t, 3>{1, 2, 0}).push(2, std::array<std::int64_t, 3>{3, 1, 1});
  kernels::map_pairs(kernels::Add<float>{}, turned, a.data(), b.data(), y.data());
  CHECK(y == std::vector<float>{11, 13, 15, 22, 24, 26});
}
