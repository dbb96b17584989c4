// SPDX-License-Identifier: MIT
#include "davit/core/copy_tensor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "davit/core/tensor.hpp"

using namespace davit;

namespace {
using V = std::vector<std::int64_t>;
}

TEST_CASE("elements are copied for any strides of either side") {
  Tensor from = Tensor::zeros(ScalarType::float32, V{2, 3, 4});
  std::iota(from.view().as<float>(), from.view().as<float>() + 24, 0.0f);
  Tensor permuted = from;
  permuted.sizes = {4, 2, 3};
  permuted.strides = {1, 12, 4};
  const Tensor to = Tensor::zeros(ScalarType::float32, V{4, 2, 3});
  copy_tensor(permuted.view(), to.view());
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 3; ++k)
        CHECK(to.view().as<float>()[i * 6 + j * 3 + k] == static_cast<float>(j * 12 + k * 4 + i));
  const Tensor back = Tensor::zeros(ScalarType::float32, V{2, 3, 4});
  Tensor back_permuted = back;
  back_permuted.sizes = permuted.sizes;
  back_permuted.strides = permuted.strides;
  copy_tensor(to.view(), back_permuted.view());
  CHECK(std::equal(back.view().as<float>(), back.view().as<float>() + 24, from.view().as<float>()));
}

TEST_CASE("expanded tensors repeat, empty ones copy nothing, scalars copy one element") {
  Tensor one = Tensor::zeros(ScalarType::int64, V{});
  *one.view().as<std::int64_t>() = 9;
  const Tensor scalar = Tensor::zeros(ScalarType::int64, V{});
  copy_tensor(one.view(), scalar.view());
  CHECK(*scalar.view().as<std::int64_t>() == 9);
  one.sizes = {3};
  one.strides = {0};
  const Tensor three = Tensor::zeros(ScalarType::int64, V{3});
  copy_tensor(one.view(), three.view());
  CHECK(three.view().as<std::int64_t>()[2] == 9);
  copy_tensor(Tensor::zeros(ScalarType::int64, V{0}).view(), Tensor::zeros(ScalarType::int64, V{0}).view());
}

TEST_CASE("memory_ranges overlap exactly if they share a byte") {
  const Tensor t = Tensor::zeros(ScalarType::float32, V{8});
  const auto part = [&](std::int64_t offset, std::int64_t size, std::int64_t stride) {
    Tensor p = t;
    p.storage_offset = offset;
    p.sizes = {size};
    p.strides = {stride};
    return memory_range(p.view());
  };
  CHECK(overlap(part(0, 4, 1), part(3, 1, 1)));
  CHECK(!overlap(part(0, 4, 1), part(4, 4, 1)));
  CHECK(overlap(part(0, 4, 2), part(5, 2, 1)));
  CHECK(!overlap(part(0, 0, 1), part(0, 8, 1)));
  CHECK(part(0, 4, 2).end - part(0, 4, 2).begin == 28);
}

TEST_CASE("a tensor repeats elements if it was expanded, and has any") {
  float values[6]{};
  const std::int64_t sizes[]{2, 3}, none[]{0, 3}, one[]{1, 3};
  const std::int64_t rows[]{3, 1}, expanded[]{0, 1};
  const auto view = [&](const std::int64_t* of_size, const std::int64_t* strides) {
    return TensorView{values, of_size, strides, 2, ScalarType::float32};
  };
  CHECK(!repeats_elements(view(sizes, rows)));
  CHECK(repeats_elements(view(sizes, expanded)));
  CHECK(!repeats_elements(view(none, expanded)));
  CHECK(!repeats_elements(view(one, expanded)));
}
