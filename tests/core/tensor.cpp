// SPDX-License-Identifier: MIT
#include "davit/core/tensor.hpp"

#include <doctest/doctest.h>

#include <cstdint>
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
         extent({2}, {1}, INT64_MAX) == -1 && extent({2, 2}, {INT64_MAX / 2, INT64_MAX / 2}) == -1;
}
static_assert(check_hostile());

}  // namespace

TEST_CASE("the extent of a tensor counts what its strides reach") {
  CHECK(check_extent());
}
TEST_CASE("negative and overflowing sizes, strides and offsets have no extent") {
  CHECK(check_hostile());
}
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
