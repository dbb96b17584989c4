// SPDX-License-Identifier: MIT
#include "davit/kernels/fold_batch_norm.hpp"

#include <doctest/doctest.h>

using namespace davit;

TEST_CASE("a batch norm becomes part of the weights before it") {
  const float mean[] = {1, -2};
  const float variance[] = {3, 15};
  const float scale[] = {4, 2};
  const float shift[] = {0.5f, 1};
  float weight[] = {1, 2, 3, 4};
  float bias[] = {5, 6};
  // s = 4 / sqrt(3 + 1) = 2 and 2 / sqrt(15 + 1) = 0.5
  kernels::fold_batch_norm({.mean = mean, .variance = variance, .scale = scale, .shift = shift, .epsilon = 1}, 2, 2,
                           weight, bias);
  CHECK(weight[0] == 2);
  CHECK(weight[1] == 4);
  CHECK(weight[2] == 1.5f);
  CHECK(weight[3] == 2);
  CHECK(bias[0] == (5 - 1) * 2 + 0.5f);
  CHECK(bias[1] == (6 + 2) * 0.5f + 1);
}

TEST_CASE("a batch norm without scale and shift only normalizes") {
  const float mean[] = {1};
  const float variance[] = {4};
  float weight[] = {8};
  float bias[] = {3};
  kernels::fold_batch_norm({.mean = mean, .variance = variance}, 1, 1, weight, bias);
  CHECK(weight[0] == 4);
  CHECK(bias[0] == 1);
}
