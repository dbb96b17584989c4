// SPDX-License-Identifier: MIT
#include "davit/testing/compare.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace davit;
using testing::Check;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
Tensor tensor_of(ScalarType type, const std::vector<T>& values) {
  const std::int64_t size = static_cast<std::int64_t>(values.size());
  Tensor tensor = Tensor::zeros(type, std::span(&size, 1));
  std::memcpy(tensor.storage.writable(), values.data(), values.size() * sizeof(T));
  return tensor;
}
Tensor doubles(const std::vector<double>& values) { return tensor_of(ScalarType::float64, values); }
Tensor integers(const std::vector<std::int64_t>& values) { return tensor_of(ScalarType::int64, values); }
std::string compare(const Tensor& a, const Tensor& b, testing::Tolerance tolerance = {}, Check check = Check::close) {
  return testing::compare(a.view(), b.view(), tolerance, check);
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("tolerances are those of allclose, NaN equals NaN") {
  CHECK(compare(doubles({1, not_a_number, infinity, -infinity}), doubles({1, not_a_number, infinity, -infinity}))
            .empty());
  CHECK(compare(doubles({1.0001}), doubles({1}), {1e-3, 0}).empty());
  CHECK_FALSE(compare(doubles({1.01}), doubles({1}), {1e-3, 0}).empty());
  CHECK(compare(doubles({1e-9}), doubles({0}), {1e-3, 1e-8}).empty());
  CHECK_FALSE(compare(doubles({1e-9}), doubles({0}), {1e-3, 0}).empty());
  CHECK_FALSE(compare(doubles({1.0000000001}), doubles({1})).empty());
  CHECK_FALSE(compare(doubles({infinity}), doubles({-infinity}), {1, 1}).empty());
  CHECK_FALSE(compare(doubles({1}), doubles({infinity}), {1, 1}).empty());
  CHECK_FALSE(compare(doubles({not_a_number}), doubles({1}), {1, 1}).empty());
}

TEST_CASE("a message names number, first index, both values and the largest difference") {
  CHECK(compare(doubles({1, 2.5, 3, 8}), doubles({1, 2, 3, 4})) ==
        "2 of 4 elements differ; the first, at [1], is 2.5, recorded 2; largest difference 4, relative 1");
  Tensor a = doubles({1, 2, 3, 4});
  a.sizes = {2, 2};
  a.strides = {2, 1};
  Tensor b = a;
  b.storage = doubles({1, 2, 5, 4}).storage;
  CHECK(has(compare(a, b), "the first, at [1, 0], is 3"));
  const std::int64_t large = std::int64_t{1} << 60;
  CHECK(has(compare(integers({large + 1}), integers({large})), "is 1152921504606846977, recorded 1152921504606846976"));
  CHECK(has(compare(doubles({not_a_number, 2}), doubles({0, 1})), "largest difference nan"));
}

TEST_CASE("dtype and shape must agree, for any values") {
  for (const Check check : {Check::close, Check::shape_dtype, Check::permutation}) {
    CHECK(compare(doubles({1}), integers({1}), {}, check) == "dtype is float64, recorded int64");
    CHECK(compare(doubles({1}), doubles({1, 2}), {}, check) == "shape is [1], recorded [2]");
  }
  CHECK(compare(doubles({1}), doubles({2}), {}, Check::shape_dtype).empty());
}

TEST_CASE("permutation compares values in any order") {
  CHECK(compare(integers({2, 0, 1}), integers({0, 1, 2}), {}, Check::permutation).empty());
  CHECK_FALSE(compare(integers({2, 0, 0}), integers({0, 1, 2}), {}, Check::permutation).empty());
  CHECK(compare(doubles({not_a_number, 1, not_a_number}), doubles({1, not_a_number, not_a_number}), {},
                Check::permutation)
            .empty());
}

TEST_CASE("every element type is compared") {
  for (const ScalarType type :
       {ScalarType::float32, ScalarType::float64, ScalarType::float16, ScalarType::bfloat16, ScalarType::int64,
        ScalarType::int32, ScalarType::int16, ScalarType::int8, ScalarType::uint8, ScalarType::uint16,
        ScalarType::uint32, ScalarType::uint64, ScalarType::bool_, ScalarType::complex64, ScalarType::complex128,
        ScalarType::complex32, ScalarType::float8_e4m3fn}) {
    const std::int64_t one = 1;
    const Tensor zero = Tensor::zeros(type, std::span(&one, 1));
    const Tensor other = Tensor::zeros(type, std::span(&one, 1));
    other.storage.writable()[size_of(type) - 1] = std::byte{1};
    CHECK(compare(zero, zero).empty());
    CHECK_FALSE(compare(zero, other).empty());
  }
}

TEST_CASE("strided tensors are compared by their elements") {
  Tensor turned = doubles({1, 3, 2, 4});
  turned.sizes = {2, 2};
  turned.strides = {1, 2};
  Tensor straight = doubles({1, 2, 3, 4});
  straight.sizes = {2, 2};
  straight.strides = {2, 1};
  CHECK(compare(turned, straight).empty());
}

TEST_CASE("numbers, text and none are compared by kind and value") {
  using testing::compare;
  CHECK(compare(EValue(1), EValue(1), {}).empty());
  CHECK(compare(EValue(2), EValue(1), {}) == "it is 2, recorded 1");
  CHECK(compare(EValue(1), EValue(true), {}) == "it is of type int, recorded bool");
  CHECK(compare(EValue(true), EValue(false), {}) == "it is true, recorded false");
  CHECK(compare(EValue(1.5), EValue(1.25), {}) == "it is 1.5, recorded 1.25");
  CHECK(compare(EValue(1.5), EValue(1.25), {}, Check::shape_dtype).empty());
  CHECK(compare(EValue(not_a_number), EValue(not_a_number), {}).empty());
  CHECK(compare(EValue("a"), EValue("a"), {}).empty());
  CHECK_FALSE(compare(EValue("a"), EValue("b"), {}).empty());
  CHECK(compare(EValue(), EValue(), {}).empty());
  CHECK_FALSE(compare(EValue(), EValue(1), {}).empty());
}
