// SPDX-License-Identifier: MIT
#include "davit/testing/detail/numeric_gap.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace davit;
using testing::numeric_gap;
using testing::NumericGap;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
Tensor tensor_of(ScalarType type, const std::vector<T>& values) {
  const auto size = static_cast<std::int64_t>(values.size());
  Tensor tensor = Tensor::zeros(type, std::span(&size, 1));
  if (!values.empty()) std::memcpy(tensor.storage.writable(), values.data(), values.size() * sizeof(T));
  return tensor;
}
NumericGap gap(const std::vector<double>& a, const std::vector<double>& b) {
  return numeric_gap(tensor_of(ScalarType::float64, a).view(), tensor_of(ScalarType::float64, b).view());
}

}  // namespace

TEST_CASE("the largest absolute and the largest relative gap, wherever they are") {
  CHECK(gap({1, 102, 0.1}, {1, 100, 0.2}).absolute == 2);
  CHECK(gap({1, 102, 0.1}, {1, 100, 0.2}).relative == 0.5);
  CHECK(gap({0.5}, {0}).absolute == 0.5);
  CHECK(gap({0.5}, {0}).relative == 0);
  CHECK(gap({}, {}).absolute == 0);
}

TEST_CASE("NaN and infinities have no gap only against themselves") {
  CHECK(gap({not_a_number, infinity, -infinity}, {not_a_number, infinity, -infinity}).absolute == 0);
  for (const double other : {1.0, infinity, -infinity}) CHECK(gap({not_a_number}, {other}).absolute == infinity);
  CHECK(gap({1}, {infinity}).relative == infinity);
  CHECK(gap({infinity}, {-infinity}).absolute == infinity);
}

TEST_CASE("integers of any size are compared exactly") {
  const auto a = tensor_of<std::int64_t>(ScalarType::int64, {INT64_MAX, INT64_MIN});
  const auto b = tensor_of<std::int64_t>(ScalarType::int64, {INT64_MAX - 1, INT64_MIN});
  CHECK(numeric_gap(a.view(), b.view()).absolute == 1);
  const auto c = tensor_of<std::uint8_t>(ScalarType::bool_, {1, 0});
  const auto d = tensor_of<std::uint8_t>(ScalarType::bool_, {0, 0});
  CHECK(numeric_gap(c.view(), d.view()).absolute == 1);
}

TEST_CASE("half precision, and the parts of complex numbers") {
  const auto a = tensor_of<Half>(ScalarType::float16, {Half(1.5f), Half(2.0f)});
  const auto b = tensor_of<Half>(ScalarType::float16, {Half(1.0f), Half(2.0f)});
  CHECK(numeric_gap(a.view(), b.view()).absolute == 0.5);
  Tensor x = tensor_of<float>(ScalarType::complex64, {});
  x.sizes = {1};
  x.storage = SharedBytes::allocate(8);
  Tensor y = x;
  y.storage = SharedBytes::allocate(8);
  reinterpret_cast<float*>(y.storage.writable())[1] = 2;
  CHECK(numeric_gap(x.view(), y.view()).absolute == 2);
}

TEST_CASE("values of different kinds, dtypes or sizes are infinitely far apart") {
  const auto one = tensor_of<double>(ScalarType::float64, {1});
  const auto two = tensor_of<double>(ScalarType::float64, {1, 2});
  const auto integer = tensor_of<std::int64_t>(ScalarType::int64, {1});
  CHECK(numeric_gap(one.view(), two.view()).absolute == infinity);
  CHECK(numeric_gap(one.view(), integer.view()).absolute == infinity);
  CHECK(numeric_gap(EValue(1.0), EValue(1)).absolute == infinity);
  CHECK(numeric_gap(EValue("a"), EValue("b")).absolute == infinity);
  CHECK(numeric_gap(EValue("a"), EValue("a")).absolute == 0);
  CHECK(numeric_gap(EValue(), EValue()).absolute == 0);
  CHECK(numeric_gap(EValue(3), EValue(1)).absolute == 2);
  CHECK(numeric_gap(EValue(true), EValue(false)).absolute == 1);
  CHECK(numeric_gap(EValue(1.5), EValue(1.0)).relative == 0.5);
}
