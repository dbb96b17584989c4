// SPDX-License-Identifier: MIT
#include "davit/embed/static_method.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>

#include "support/static_toy.hpp"

namespace {

using namespace davit;
using namespace static_toy;
using Four = std::array<float, 4>;
using Settings = detail::StaticSettings<external_arena, calculator>;
using Method = static_method<running_total, Settings>;
using Residual = static_method<residual, Settings>;

static_assert(Method::argument_count == 2 && Method::state_count == 1 && Method::state_pools.bytes() == 16);
static_assert(Method::state_rows[0].input == 0 && Method::state_rows[0].count == 4 &&
              Method::state_rows[0].data.as<float>() == bias.data());
static_assert(Residual::state_count == 0 && Residual::weight_bytes == 16 && Residual::step_count == 2);
static_assert([] {
  std::size_t bytes = 0;
  Residual::for_each_constant([&](const ConstantData& data) { bytes += data.bytes(); });
  return bytes;
}() == 16);

}  // namespace

TEST_CASE("a method runs in memory and on state of another owner") {
  static_arena<Method::arena_bytes + 1> arena;
  using State = StaticState<StatePools{{8, 0, 0, 0, 0, 0, 0, 0}}>;
  using Memory = RunMemory<State, Method::argument_count>;
  State state;
  Method::reset<0>(state);
  const Four x{1, 3, 1, 6};
  Four y{};
  REQUIRE(Method::run<Memory, 0>(arena.bytes.data(), state, x, y).has_value());
  CHECK(y == Four{0.5f, 1, 0.25f, 0.5f});
  CHECK(state.f32.elements == std::array<float, 8>{2, 1, 4, 2});
  const Four back{-2, -1, -4, -2};
  CHECK(Method::run<Memory, 0>(arena.bytes.data(), state, back, y).error() == Fault(ErrorCode::out_of_range, 1));
  CHECK(state.f32.elements[0] == 2);  // a failed run changes nothing
}
