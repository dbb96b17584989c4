// SPDX-License-Identifier: MIT
#include "davit/kernels/reduce.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

using namespace davit;
using kernels::Conversion;
using Integers = std::vector<std::int64_t>;

namespace {

/// Each column of a (rows, count) tensor, reduced.
template <class T>
std::vector<kernels::Accumulated> columns(const std::vector<T>& data, const kernels::ReduceLoops& loops,
                                          std::int64_t count = 2, double center = 0) {
  const std::int64_t rows = static_cast<std::int64_t>(data.size()) / count;
  const Integers sizes{rows, count};
  const Integers strides{count, 1};
  const TensorView x{const_cast<T*>(data.data()), sizes.data(), strides.data(), 2, scalar_type_of<T>};
  const kernels::Groups groups(x, Integers{count}, Integers{1}, Integers{rows}, Integers{count});
  constexpr bool floats = std::is_floating_point_v<T>;
  const Conversion load = Conversion::between(x.dtype, floats ? x.dtype : ScalarType::int64);
  const kernels::ReduceLoop& loop = std::is_same_v<T, float> ? loops.float32 : floats ? loops.float64 : loops.int64;
  std::vector<kernels::Accumulated> all;
  groups.for_each(loop, [&](const std::byte* first, std::size_t n) {
    CHECK((n == 1 || loop.columns != nullptr));
    all.resize(all.size() + n, {.center = center});
    groups.reduce(first, load, loop, std::span(all).last(n));
  });
  return all;
}
/// The same of the columns one by one, as rows.
template <class T>
std::vector<kernels::Accumulated> rows(const std::vector<T>& data, const kernels::ReduceLoop& loop, std::int64_t count,
                                       double center = 0) {
  const auto length = static_cast<std::int64_t>(data.size()) / count;
  std::vector<kernels::Accumulated> all(static_cast<std::size_t>(count), {.center = center});
  std::vector<T> row(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t k = 0; k < length; ++k)
      row[static_cast<std::size_t>(k)] = data[static_cast<std::size_t>(k * count + i)];
    loop.row(reinterpret_cast<const std::byte*>(row.data()), sizeof(T), length, all[static_cast<std::size_t>(i)]);
  }
  return all;
}

}  // namespace

TEST_CASE("sums of strided groups, in double or modulo 2^64, whatever the dtype") {
  const auto sums = columns<float>({1, 2, 3, 4}, kernels::sum_loops);
  CHECK(sums[0].real == 4);
  CHECK(sums[1].real == 6);
  const std::vector<std::int8_t> many(2000, 3);
  CHECK(columns<std::int8_t>(many, kernels::sum_loops)[1].integer == 3000);
}
TEST_CASE("extremes: the first of equals, and NaN for good, across blocks") {
  const auto largest = columns<float>({1, 5, 7, 5, 7, 2}, kernels::extreme_loops<true>);
  CHECK(largest[0].real == 7);
  CHECK(largest[0].found_at == 1);
  CHECK(largest[1].found_at == 0);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(columns<float>({1, 0, nan, 0, 9, 0}, kernels::extreme_loops<true>)[0].found_at == 1);
  std::vector<std::int16_t> many(4000, 1);
  many[3000] = -5;
  const auto smallest = columns<std::int16_t>(many, kernels::extreme_loops<false>);
  CHECK(smallest[0].integer == -5);
  CHECK(smallest[0].found_at == 1500);
}
TEST_CASE("many columns at a time give what each alone gives") {
  constexpr std::int64_t length = 37;
  for (const std::int64_t count : {8, 63, 64, 65, 200}) {
    std::vector<float> data(static_cast<std::size_t>(count * length));
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = 0.25f * static_cast<float>(i * 31 % 17) - 1.0f;
    data[static_cast<std::size_t>(3 * count + 5)] = std::numeric_limits<float>::quiet_NaN();
    data[static_cast<std::size_t>(7 * count + 5)] = data[3];
    const std::vector<double> wide(data.begin(), data.end());
    std::vector<std::int64_t> whole(data.size());
    for (std::size_t i = 0; i < data.size(); ++i) whole[i] = static_cast<std::int64_t>(i * 31 % 17) - 5;
    for (const kernels::ReduceLoops* loops :
         {&kernels::sum_loops, &kernels::product_loops, &kernels::extreme_loops<true>, &kernels::extreme_loops<false>,
          &kernels::squared_deviation_loops}) {
      const auto check = [&](const auto& values, const kernels::ReduceLoop& loop) {
        if (loop.row == nullptr) return;
        const auto got = columns(values, *loops, count, 0.5);
        const auto expected = rows(values, loop, count, 0.5);
        REQUIRE(got.size() == expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
          CAPTURE(count);
          CAPTURE(i);
          CHECK((std::isnan(expected[i].real) ? std::isnan(got[i].real)
                                              : got[i].real == doctest::Approx(expected[i].real)));
          CHECK(got[i].integer == expected[i].integer);
          CHECK(got[i].found_at == expected[i].found_at);
        }
      };
      check(data, loops->float32);
      check(wide, loops->float64);
      check(whole, loops->int64);
    }
  }
}
TEST_CASE("results are converted to the dtype of the tensor") {
  std::array<Half, 600> out{};
  const std::int64_t count = 600;
  const std::int64_t one = 1;
  {
    kernels::ResultWriter writer({out.data(), &count, &one, 1, ScalarType::float16}, false, 0);
    for (int i = 0; i < 600; ++i) writer.push({.real = i * 0.5});
  }
  CHECK(static_cast<float>(out[599]) == 299.5f);
}
