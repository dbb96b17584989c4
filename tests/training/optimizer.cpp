// SPDX-License-Identifier: MIT
#include "davit/training/optimizer.hpp"

#include <doctest/doctest.h>

#include <variant>

using namespace davit;

TEST_CASE("the defaults equal torch.optim's") {
  CHECK(sgd().momentum == 0);
  CHECK(sgd().dampening == 0);
  CHECK(sgd().weight_decay == 0);
  CHECK(adam().beta1 == 0.9);
  CHECK(adam().beta2 == 0.999);
  CHECK(adam().eps == 1e-8);
  CHECK(adam().weight_decay == 0);
  CHECK(adamw().weight_decay == 1e-2);
  CHECK(adamw().eps == adam().eps);
  CHECK(std::holds_alternative<sgd>(Optimizer()));
}
