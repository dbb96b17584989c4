// SPDX-License-Identifier: MIT
#include "davit/core/tensor.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

using namespace davit;

namespace {

using V = std::vector<std::int64_t>;

constexpr std::int64_t extent(const V& sizes, const V& strides, std::int64_t offset = 0) {
  return storage_extent(sizes, strides, offset, 4);
}

constexpr bool check_extent() {
  return extent({}, {}) == 4 && extent({2, 3}, {3, 1}) == 24 && extent({2, 3}, {1, 2}) == 24 &&
         extent({2, 3}, {3, 1}, 5) == 44 && extent({1000}, {0}) == 4 && extent({0, 5}, {5, 1}) == 0 &&
         extent({1, 1}, {99, 99}) == 4;
}
static_assert(check_extent());

constexpr bool check_hostile() {
  return extent({-1}, {1}) == -1 && extent({2}, {-1}) == -1 && extent({2}, {1}, -1) == -1 &&
         extent({INT64_MAX}, {INT64_MAX}) == -1 && extent({INT64_MAX, INT64_MAX}, {1, 1}) == -1 &&
         extent({2}, {1}, INT64_MAX) == -1 && extent({2, 2}, {INT64_MAX / 2, INT64_MAX / 2}) == -1 &&
         extent({1}, {INT64_MAX / 2}) == -1;
}
static_assert(check_hostile());

}  // namespace

TEST_CASE("the extent of a tensor counts the bytes that its strides reach") { CHECK(check_extent()); }
TEST_CASE("negative and overflowing sizes, strides and offsets have no extent") { CHECK(check_hostile()); }
TEST_CASE("zeros are contiguous and owned") {
  const Tensor t = Tensor::zeros(ScalarType::float32, V{2, 3});
  CHECK(t.strides == V{3, 1});
  CHECK(t.numel() == 6);
  CHECK(t.storage.size() == 24);
  const TensorView v = t.view();
  CHECK(v.as<float>()[5] == 0);
  CHECK(v.is_contiguous());
  const Tensor shared = t;
  v.as<float>()[0] = 7;
  CHECK(shared.view().as<float>()[0] == 7);
}
TEST_CASE(
    "a view starts at the storage offset; a tensor without elements has a view, and a tensor without storage a null "
    "one") {
  Tensor t = Tensor::zeros(ScalarType::float32, V{4});
  t.view().as<float>()[2] = 5;
  t.storage_offset = 2;
  t.sizes = {2};
  CHECK(t.view().as<float>()[0] == 5);
  const Tensor empty = Tensor::zeros(ScalarType::float32, V{0, 3});
  CHECK(Tensor{.dtype = ScalarType::float32, .sizes = {}, .strides = {}, .storage = {}}.view().data == nullptr);
  CHECK(empty.view().numel() == 0);
}
TEST_CASE("a tensor over a span, a vector or an array views its elements, if the sizes make as many") {
  std::vector<float> numbers = {0, 1, 2, 3, 4, 5};
  const Result<Tensor> matrix = tensor(numbers, {2, 3});
  REQUIRE(matrix);
  CHECK(matrix->dtype == ScalarType::float32);
  CHECK(matrix->strides == V{3, 1});
  CHECK(matrix->view().data == numbers.data());
  const std::array<std::int64_t, 2> constant = {1, 2};
  CHECK(tensor(constant, V{2})->view().as<std::int64_t>()[1] == 2);
  CHECK(tensor(std::span(numbers).first(4), {2, 2})->numel() == 4);
  double scalar[] = {1.5};
  CHECK(tensor(scalar, {})->sizes.empty());
  CHECK(tensor(std::span<const float>(), {0, 3})->numel() == 0);
  const Error error = tensor(numbers, {1, 3, 224, 224}).error();
  CHECK(error.code == ErrorCode::invalid_shape);
  CHECK(error.what == "a tensor of sizes [1, 3, 224, 224] cannot be made of 6 elements");
  CHECK(!tensor(numbers, {-2, -3}));
  CHECK(!tensor(numbers, {INT64_MAX, 2}));
  CHECK(!tensor(numbers, V(max_rank + 1, 1)));
}
TEST_CASE("a tensor that owns a vector keeps its elements where they are") {
  std::vector<std::int32_t> numbers = {1, 2, 3};
  const std::int32_t* const data = numbers.data();
  Result<Tensor> owned = owned_tensor(std::move(numbers), {3});
  REQUIRE(owned);
  const Tensor shared = *owned;
  owned = owned_tensor<std::int32_t>({7}, {1});
  CHECK(shared.view().data == data);
  CHECK(shared.as<std::int32_t>()->back() == 3);
  CHECK(owned->as<std::int32_t>()->front() == 7);
  CHECK(!owned_tensor<float>({1, 2}, {3}));
}
TEST_CASE("a tensor's elements are of exactly the type asked for") {
  std::vector<float> numbers = {0, 1, 2, 3};
  Tensor t = *tensor(numbers, {2, 2});
  t.as<float>()->front() = 9;
  CHECK(numbers[0] == 9);
  CHECK(t.as<double>().error().what == "the tensor has elements of float32, not of float64");
  t.strides = {1, 2};
  CHECK(t.as<float>().error().code == ErrorCode::invalid_shape);
}
TEST_CASE("a tensor of more elements than memory can have has no storage") {
  const std::int64_t wraps[] = {3, 6148914691236517206};
  const Tensor t = Tensor::zeros(ScalarType::int8, wraps);
  CHECK(t.storage.size() == 0);
  CHECK(t.view().data == nullptr);
  std::vector<float> two(2);
  CHECK(!tensor(two, {3, 6148914691236517206}));
}
TEST_CASE("keep_tensor: a view of the storage becomes a part of it, other tensors are copied in their layout") {
  const Tensor whole = *owned_tensor<float>({0, 1, 2, 3, 4, 5}, {2, 3});
  const std::int64_t sizes[] = {2, 2};
  const std::int64_t strides[] = {1, 3};
  const TensorView view{whole.view().as<float>() + 1, sizes, strides, 2, ScalarType::float32};
  const Tensor part = keep_tensor(view, whole.storage);
  CHECK(part.storage.data() == whole.storage.data());
  CHECK(part.storage_offset == 1);
  const Tensor copy = keep_tensor(view);
  CHECK(!whole.storage.holds(copy.view().data));
  CHECK(copy.strides == std::vector<std::int64_t>{1, 3});
  CHECK(copy.view().as<float>()[4] == 5);
  const std::int64_t none[] = {0, 2};
  CHECK(keep_tensor({nullptr, none, strides, 2, ScalarType::float32}, whole.storage).storage.empty());
}

TEST_CASE("sizes may be any integers, in a list or a range; one that no tensor has is an error") {
  std::vector<float> v(6);
  const std::vector<std::size_t> sizes{2, 3};
  const std::array<int, 2> ints{3, 2};
  CHECK(tensor(v, {1, v.size()})->sizes == V{1, 6});
  CHECK(tensor(v, {std::int8_t{2}, 3u, 1LL})->sizes == V{2, 3, 1});
  CHECK(tensor(v, sizes)->sizes == V{2, 3});
  CHECK(tensor(v, ints)->sizes == V{3, 2});
  CHECK(tensor(v, V{6})->sizes == V{6});
  CHECK(owned_tensor(v, {v.size()})->sizes == V{6});
  CHECK(owned_tensor(v, sizes)->sizes == V{2, 3});
  CHECK(owned_tensor(std::vector{1.5f}, {})->sizes.empty());
  CHECK(tensor(v, {SIZE_MAX}).error().code == ErrorCode::invalid_shape);
  CHECK(tensor(v, {-1, 6}).error().code == ErrorCode::invalid_shape);
}
TEST_CASE("as<T>(tensor) equals its member") {
  std::vector<float> v{1, 2};
  CHECK((*as<float>(*tensor(v, {2})))[1] == 2);
  CHECK(as<int>(*tensor(v, {2})).error().code == ErrorCode::invalid_dtype);
}
