// SPDX-License-Identifier: MIT
#include "davit/runtime/node_call.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string_view>

#include "../programs.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowered/backend_list.hpp"

using namespace davit;

TEST_CASE("a program of one node is called with its operands; without a backend that takes it there is no call") {
  const BackendTables kernels = BackendList<portable>::tables();
  auto call = NodeCall::make(programs::binary("aten.sub.Tensor"), kernels);
  REQUIRE(call.has_value());
  REQUIRE(call->has_value());
  const Tensor x = programs::scalar(5), h = programs::scalar(3);
  const EValue inputs[] = {x, h};
  EValue outputs[1];
  REQUIRE((**call).run(inputs, outputs).has_value());
  CHECK(programs::item(outputs[0]) == 2);
  REQUIRE((**call).run(inputs, outputs).has_value());
  CHECK(programs::item(outputs[0]) == 2);

  const auto none = NodeCall::make(programs::binary("mine.unknown.default"), kernels);
  REQUIRE(none.has_value());
  CHECK_FALSE(none->has_value());
}

TEST_CASE("the backend's fault is the error") {
  auto call = NodeCall::make(programs::binary("aten.sub.Tensor"), BackendList<portable>::tables());
  REQUIRE(call.has_value());
  const Tensor x = programs::tensor({2}, {1, 2}), h = programs::tensor({3}, {1, 2, 3});
  const EValue inputs[] = {x, h};
  EValue outputs[1];
  const auto done = (**call).run(inputs, outputs);
  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().code == ErrorCode::invalid_shape);
  CHECK(done.error().stage == Stage::execute);
  CHECK(!done.error().what.empty());
}
