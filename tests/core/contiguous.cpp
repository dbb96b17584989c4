// SPDX-License-Identifier: MIT
#include "davit/core/contiguous.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace davit;

TEST_CASE("a copy of a tensor of any strides is contiguous") {
  float numbers[] = {0, 1, 2, 3, 4, 5};
  const std::int64_t sizes[] = {2, 3}, columns[] = {1, 2}, repeated[] = {0, 1};
  const auto items = [](const Tensor& t) {
    return std::vector<float>(t.view().as<float>(), t.view().as<float>() + t.numel());
  };
  CHECK(items(contiguous({numbers, sizes, columns, 2, ScalarType::float32})) == std::vector<float>{0, 2, 4, 1, 3, 5});
  const Tensor expanded = contiguous({numbers, sizes, repeated, 2, ScalarType::float32});
  CHECK(items(expanded) == std::vector<float>{0, 1, 2, 0, 1, 2});
  CHECK(expanded.view().is_contiguous());
  const std::int64_t none[] = {0, 3};
  CHECK(contiguous({nullptr, none, columns, 2, ScalarType::float32}).numel() == 0);
}
