// SPDX-License-Identifier: MIT
#include "davit/runtime/typed_method.hpp"

#include <doctest/doctest.h>

#include <tuple>

#include "../programs.hpp"
#include "support/compiler_demo.hpp"
#include "davit/lowering/to_backend.hpp"

using namespace davit;

namespace {
using F3 = StaticTensor<float, 3>;
using Adds = TypedMethod<compiler_demo, std::tuple<F3>(F3, F3)>;
}  // namespace

TEST_CASE("a typed method writes to the caller's tensors") {
  const auto lowered = to_backend<compiler_demo>(programs::add({3}));
  REQUIRE(lowered);
  auto method = Adds::bind(*lowered, "forward");
  REQUIRE(method);
  float x[] = {1, 2, 3};
  float h[] = {10, 20, 30};
  float out[] = {0, 0, 0};
  REQUIRE((*method)({x}, {h}, {out}));
  CHECK(out[0] == 11);
  CHECK(out[2] == 33);
}

TEST_CASE("binding checks name, number, dtype and sizes once") {
  const auto lowered = to_backend<compiler_demo>(programs::add({3}));
  REQUIRE(lowered);
  CHECK(Adds::bind(*lowered, "backward").error().code == ErrorCode::not_found);
  using F4 = StaticTensor<float, 4>;
  using I3 = StaticTensor<std::int64_t, 3>;
  CHECK(TypedMethod<compiler_demo, std::tuple<F3>(F3)>::bind(*lowered, "forward").error().code ==
        ErrorCode::invalid_argument);
  CHECK(TypedMethod<compiler_demo, std::tuple<F3>(F3, F4)>::bind(*lowered, "forward").error().code ==
        ErrorCode::invalid_shape);
  CHECK(TypedMethod<compiler_demo, std::tuple<F3>(F3, I3)>::bind(*lowered, "forward").error().code ==
        ErrorCode::invalid_dtype);
  CHECK(TypedMethod<compiler_demo, std::tuple<I3>(F3, F3)>::bind(*lowered, "forward").error().code ==
        ErrorCode::invalid_dtype);
  const auto stateful = to_backend<compiler_demo>(programs::counter(1));
  REQUIRE(stateful);
  using F0 = StaticTensor<float>;
  CHECK(TypedMethod<compiler_demo, std::tuple<F0>(F0)>::bind(*stateful, "forward").error().what ==
        "a typed method takes and returns tensors only, and keeps no state");
}
