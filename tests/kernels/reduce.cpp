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

std::vector<kernels::Accumulated> reduced(const kernels::Groups& groups, const Conversion& load,
                                          const kernels::ReduceLoop& loop, double center = 0, double start = 0) {
  std::vector<kernels::Accumulated> all;
  groups.for_each(loop, [&](const std::byte* first, std::size_t n) {
    CHECK((n == 1 || loop.columns != nullptr));
    kernels::AccumulatedColumns some;
    some.start(n);
    some.real.fill(start);
    some.integer.fill(0);
    some.center.fill(center);
    groups.reduce(first, load, loop, some);
    for (std::size_t i = 0; i < n; ++i)
      all.push_back({some.real[i], some.integer[i], center, some.seen, some.found_at[i]});
  });
  return all;
}
/// Reduces each column of a (rows, count) tensor.
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
  return reduced(groups, load, loop, center);
}
/// Reduces the columns one by one, as rows.
template <class T>
std::vector<kernels::Accumulated> rows(const std::vector<T>& data, const kernels::ReduceLoop& loop, std::int64_t count,
                                       double center = 0) {
  const auto length = static_cast<std::int64_t>(data.size()) / count;
  std::vector<kernels::Accumulated> all(static_cast<std::size_t>(count), {.center = center});
  std::vector<T> row(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t k = 0; k < length; ++k)
      row[static_cast<std::size_t>(k)] = data[static_cast<std::size_t>(k * count + i)];
    loop.row(reinterpret_cast<const std::byte*>(row.data()), length, all[static_cast<std::size_t>(i)]);
  }
  return all;
}

}  // namespace

TEST_CASE("sums of strided groups, in double or modulo 2^64, for every dtype") {
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
TEST_CASE("many columns at a time equal single columns") {
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
TEST_CASE("groups of overlapping windows, of few elements, and of steps equal their elements' reductions") {
  std::vector<float> data(5000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i * 7919 % 101) - 50;
  data[777] = std::numeric_limits<float>::quiet_NaN();
  std::vector<Half> halves;
  for (const float v : data) halves.push_back(static_cast<Half>(v));
  struct Case {
    Integers kept, kept_strides, reduced, reduced_strides;
  };
  for (const Case& c :
       {Case{{100}, {1}, {3}, {1}}, Case{{70}, {1}, {300}, {1}}, Case{{10}, {1}, {300}, {1}}, Case{{90}, {4}, {4}, {1}},
        Case{{90}, {2}, {5}, {7}}, Case{{9, 30}, {150, 1}, {3, 3}, {50, 1}}, Case{{3, 20}, {1000, 2}, {2, 2}, {50, 1}},
        Case{{30}, {3}, {40}, {2}}, Case{{2, 3}, {1000, 300}, {4, 80}, {100, 1}}, Case{{20}, {1}, {2, 300}, {1000, 0}},
        Case{{20}, {5}, {6}, {0}}, Case{{5}, {1}, {1}, {7}}, Case{{3}, {1}, {1100}, {2}}}) {
    std::vector<std::vector<float>> groups;
    const auto each = [](const Integers& sizes, const Integers& strides, auto&& f) {
      for (std::int64_t i = 0; i < (sizes.size() == 2 ? sizes[0] : 1); ++i)
        for (std::int64_t k = 0; k < sizes.back(); ++k)
          f((sizes.size() == 2 ? i * strides[0] : 0) + k * strides.back());
    };
    each(c.kept, c.kept_strides, [&](std::int64_t first) {
      groups.emplace_back();
      each(c.reduced, c.reduced_strides,
           [&](std::int64_t at) { groups.back().push_back(data[static_cast<std::size_t>(first + at)]); });
    });
    for (const ScalarType type : {ScalarType::float32, ScalarType::float16})
      for (const kernels::ReduceLoops* loops :
           {&kernels::sum_loops, &kernels::product_loops, &kernels::extreme_loops<true>, &kernels::extreme_loops<false>,
            &kernels::extreme_loops<true, false>, &kernels::extreme_loops<false, false>,
            &kernels::squared_deviation_loops}) {
        const void* const first = type == ScalarType::float32 ? static_cast<void*>(data.data()) : halves.data();
        const kernels::Groups all({const_cast<void*>(first), nullptr, nullptr, 0, type}, c.kept, c.kept_strides,
                                  c.reduced, c.reduced_strides,
                                  loops == &kernels::extreme_loops<true> || loops == &kernels::extreme_loops<false>);
        const auto got = reduced(all, Conversion::between(type, ScalarType::float32), loops->float32, 0.5, 1);
        REQUIRE(got.size() == groups.size());
        const bool places = loops == &kernels::extreme_loops<true> || loops == &kernels::extreme_loops<false>;
        for (std::size_t i = 0; i < got.size(); ++i) {
          kernels::Accumulated expected{.real = 1, .center = 0.5};
          for (const float v : groups[i]) loops->float32.row(reinterpret_cast<const std::byte*>(&v), 1, expected);
          CAPTURE(i);
          CAPTURE(c.kept.back());
          CHECK((std::isnan(expected.real)
                     ? std::isnan(got[i].real)
                     : got[i].real == expected.real || got[i].real == doctest::Approx(expected.real)));
          if (places) CHECK(got[i].found_at == expected.found_at);
        }
      }
  }
}
TEST_CASE("results are converted to the dtype of the tensor") {
  std::array<Half, 600> out{};
  const std::int64_t count = 600;
  const std::int64_t one = 1;
  {
    kernels::ResultWriter writer({out.data(), &count, &one, 1, ScalarType::float16}, false, 0);
    for (int i = 0; i < 600; ++i) {
      const double value = i * 0.5;
      writer.push(&value, 1);
    }
  }
  CHECK(static_cast<float>(out[599]) == 299.5f);
}
