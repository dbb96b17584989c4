// SPDX-License-Identifier: MIT
#include "davit/testing/detail/renamed_backend.hpp"

#include <doctest/doctest.h>

#include <type_traits>

#include "support/compiler_demo.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"

#include "../../programs.hpp"

using namespace davit;

namespace {
using Second = testing::renamed_backend<compiler_demo, "second">;
static_assert(Second::name == "second" && compiler_demo::name == "compiler_demo");
static_assert(!std::is_same_v<Second, compiler_demo>);
static_assert(!std::is_same_v<Second, testing::renamed_backend<compiler_demo, "third">>);
static_assert(std::is_same_v<Second, testing::renamed_backend<compiler_demo, "second">>);
static_assert(Backend<Second> && SelectsNodes<Second> && Prepares<Second> && SavesProcessed<Second>);
}  // namespace

TEST_CASE("a renamed backend computes the same, under its own name") {
  const auto lowered = to_backend<Second>(programs::add());
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const Tensor two = programs::scalar(2);
  const Tensor one = programs::scalar(1);
  CHECK(*session.call<TensorView>("forward", two, one)->as<float>() == 3);
  const auto refused = to_backend<Second>(programs::binary("aten.mul.Tensor"));
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::unsupported_operator);
}
