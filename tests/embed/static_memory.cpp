// SPDX-License-Identifier: MIT
#include "davit/embed/static_memory.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace {

using namespace davit;

constexpr StatePools pools{{3, 0, 0, 0, 0, 0, 1, 0}};
static_assert(pools.bytes() == 20);
static_assert(sizeof(StaticState<pools>) == 24);
static_assert(std::is_empty_v<StaticState<StatePools{}>>);
static_assert(std::is_same_v<element_of<ScalarType::bfloat16>, BFloat16>);
static_assert(state_pool(ScalarType::float16) == 8);

constexpr bool arenas_of_types_are_laid_out_alike() {
  StaticState<StatePools{}> state;
  TypedArena arena(64);
  const std::array<float, 2> x{1, 2};
  const RunMemory<StaticState<StatePools{}>, 1> memory{&arena, &state, {x.data()}};
  memory.in_arena<float>(16)[1] = 3;
  memory.in_arena<std::int8_t>(20)[0] = 5;
  return memory.argument<const float>(0)[1] == 2 && memory.in_arena<float>(20)[0] == 3 &&
         memory.in_arena<std::int8_t>(0)[20] == 5;
}
static_assert(arenas_of_types_are_laid_out_alike());

}  // namespace

TEST_CASE("states of equally many elements of different types have functions of their own") {
  constexpr auto of_pool = [](std::size_t pool) {
    StatePools made;
    made.counts[pool] = 4;
    return made;
  };
  StaticState<of_pool(0)> floats;
  StaticState<of_pool(6)> integers;
  CHECK(floats.of<float>() != nullptr);
  CHECK(floats.of<std::int64_t>() == nullptr);
  CHECK(integers.of<float>() == nullptr);
  CHECK(integers.of<std::int64_t>() != nullptr);
}

TEST_CASE("a state has its elements by type") {
  StaticState<pools> state;
  state.of<float>()[2] = 4;
  state.of<std::int64_t>()[0] = 9;
  CHECK(state.f32.elements[2] == 4.0f);
  CHECK(state.i64.elements[0] == 9);
  static_cast<void>(arenas_of_types_are_laid_out_alike);  // in constant evaluation only
}

TEST_CASE("a running program's arena is bytes") {
  StaticState<StatePools{}> state;
  alignas(16) std::array<std::byte, 32> bytes{};
  const RunMemory<StaticState<StatePools{}>, 0> memory{bytes.data(), &state, {}};
  memory.in_arena<std::int8_t>(17)[0] = 5;
  CHECK(bytes[17] == std::byte{5});
}
