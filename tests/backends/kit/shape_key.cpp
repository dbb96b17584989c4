// SPDX-License-Identifier: MIT
#include "davit/backends/kit/shape_key.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "davit/core/tensor.hpp"

using namespace davit;

TEST_CASE("the key of a call has the sizes of tensors and the numbers, in order") {
  const Tensor x = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{2, 3}),
               one = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{});
  const std::vector<EValue> inputs{
      EValue(x.view()), EValue(std::int64_t{7}), EValue(one.view()), EValue(0.5), EValue(true), EValue()};
  ShapeKey key{1, 2, 3, 4};
  shape_key(inputs, key);
  CHECK(key == ShapeKey{2, 3, 7});
  shape_key({}, key);
  CHECK(key.empty());
}
