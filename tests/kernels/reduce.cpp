// SPDX-License-Identifier: MIT
#include "davit/kernels/reduce.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

using namespace davit;
using kernels::Conversion;
using Integers = std::vector<std::int64_t>;

namespace {

/// Each column of a (rows, 2) tensor, reduced.
template <class T>
std::vector<kernels::Accumulated> columns(const std::vector<T>& data, const kernels::ReduceLoops& loops) {
  const auto rows = static_cast<std::int64_t>(data.size() / 2);
  const Integers sizes{rows, 2};
  const Integers strides{2, 1};
  const TensorView x{const_cast<T*>(data.data()), sizes.data(), strides.data(), 2, scalar_type_of<T>};
  const kernels::Groups groups(x, Integers{2}, Integers{1}, Integers{rows}, Integers{2});
  const bool floats = std::is_same_v<T, float>;
  const Conversion load = floats ? Conversion::between(ScalarType::float32, ScalarType::float32)
                                 : Conversion::between(x.dtype, ScalarType::int64);
  std::vector<kernels::Accumulated> all;
  groups.for_each([&](const std::byte* first) {
    groups.reduce(first, load, floats ? loops.float32 : loops.int64, all.emplace_back());
  });
  return all;
}

}  // namespace

TEST_CASE("sums of strided groups, in double or modulo 2^64, whatever the dtype") {
  const auto sums = columns<float>({1, 2, 3, 4}, kernels::fold_loops<kernels::Add>);
  CHECK(sums[0].real == 4);
  CHECK(sums[1].real == 6);
  const std::vector<std::int8_t> many(2000, 3);
  CHECK(columns<std::int8_t>(many, kernels::fold_loops<kernels::Add>)[1].integer == 3000);
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
TEST_CASE("results are converted to the dtype of the tensor") {
  std::array<Half, 600> out{};
  const std::int64_t count = 600;
  const std::int64_t one = 1;
  {
    kernels::ResultWriter writer({out.data(), &count, &one, 1, ScalarType::float16}, false);
    for (int i = 0; i < 600; ++i) writer.push({.real = i * 0.5});
  }
  CHECK(static_cast<float>(out[599]) == 299.5f);
}
