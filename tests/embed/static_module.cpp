// SPDX-License-Identifier: MIT
#include "davit/embed/static_module.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "davit/backends/portable/embed.hpp"
#include "support/static_toy.hpp"

namespace {

using namespace davit;
using namespace static_toy;
using Four = std::array<float, 4>;

template <class Module>
constexpr bool computes_residual() {
  Module module;
  const Four x{0, 1, 2, 3};
  Four y{};
  return module.forward(x, y).has_value() && y == Four{1, 1, 7, 3};
}
using ByCalculator = static_module<residual, calculator>;
using BySize = static_module<residual, tuned<portable, for_size>>;
using ForSpeed = static_module<residual, tuned<portable, for_speed>>;
using ByBoth = static_module<residual, adder, portable>;
static_assert(computes_residual<ByCalculator>());
static_assert(computes_residual<BySize>());
static_assert(computes_residual<ForSpeed>());
static_assert(computes_residual<ByBoth>());

static_assert(ByCalculator::step_count == 2, "relu(add) is folded into one step, the dead node has none");
static_assert(BySize::step_count == 3);
static_assert(ByCalculator::arena_bytes == 16);
static_assert(ByCalculator::ram_bytes == 16 && sizeof(ByCalculator) == 16);
static_assert(ByCalculator::weight_bytes == 16);
static_assert(ByBoth::backends == std::array<std::string_view, 2>{"adder", "portable"});
static_assert(ByBoth::backend_of() == std::array<std::uint8_t, 4>{0, 255, 1, 0});
static_assert(ByBoth::partition_of() == std::array<std::uint32_t, 4>{0, no_id, 1, 2});
static_assert(ByBoth::operators() == std::array<std::string_view, 2>{"aten.add.Tensor", "aten.relu.default"});

constexpr bool keeps_state() {
  static_module<running_total, calculator> module;
  Four y{};
  bool ok = module.forward(Four{1, 3, 1, 6}, y).has_value() && y == Four{0.5f, 1, 0.25f, 0.5f};
  ok = ok && module.forward(Four{2, 1, 4, 2}, y).has_value() && y == Four{0.25f, 0.5f, 0.125f, 0.25f};
  module.reset();
  return ok && module.forward(Four{1, 3, 1, 6}, y).has_value() && y == Four{0.5f, 1, 0.25f, 0.5f};
}
static_assert(keeps_state());
static_assert(static_module<running_total, calculator>::state_bytes == 16);

constexpr bool keeps_state_of_a_failed_run() {
  static_module<total_from_zero, calculator> module;
  Four y{};
  const Status failed = module.forward(Four{1, 1, 0, 1}, y);
  const bool ok = !failed && failed.error().code() == ErrorCode::out_of_range && failed.error().debug_handle() == 1;
  return ok && module.forward(Four{2, 2, 2, 2}, y).has_value() && y == Four{0.5f, 0.5f, 0.5f, 0.5f};
}
static_assert(keeps_state_of_a_failed_run());

/// Two outputs: y and its sum with x; y is also the first output's reshape.
constexpr GraphModule make_two_outputs() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {4});
  const ValueId y = call(b, "aten.relu.default", "y", x);
  const ValueId z = add(b, "z", y, x);
  const ValueId view =
      b.call("aten.view.default", {{"self", b.value(y)}, {"size", b.ints({2, 2})}}, "view", f32, {2, 2});
  b.end_graph({y, z, view, x});
  return std::move(b).finish();
}
using TwoOutputs = static_module<static_program_of<make_two_outputs>, calculator>;
constexpr bool gives_all_outputs() {
  TwoOutputs module;
  Four y{}, z{}, view{}, same{};
  return module.forward(Four{-1, 2, -3, 4}, y, z, view, same).has_value() && y == Four{0, 2, 0, 4} &&
         z == Four{-1, 4, -3, 8} && view == y && same == Four{-1, 2, -3, 4};
}
static_assert(gives_all_outputs());
static_assert(TwoOutputs::arena_bytes == 0, "outputs are computed in the caller's memory");

/// Two states that are exchanged, and a user input that is written back.
constexpr GraphModule make_swap() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId s = b.input("s", f32, {4}), t = b.input("t", f32, {4}), x = b.input("x", f32, {4});
  const ValueId sum = add(b, "sum", s, x);
  b.end_graph({t, s, sum, t});
  return std::move(b).finish();
}
inline constexpr std::array<float, 4> ones{1, 1, 1, 1};
struct swap : static_program_of<make_swap> {
  static constexpr std::array inputs{state_input(), state_input(ones), user_input()};
  static constexpr std::array outputs{mutation_of(0), mutation_of(1), mutation_of(2), user_output()};
};
constexpr bool swaps_states() {
  static_module<swap, calculator> module;
  Four x{5, 5, 5, 5}, t{};
  bool ok = module.forward(x, t).has_value() && x == Four{5, 5, 5, 5} && t == ones;
  ok = ok && module.forward(x, t).has_value() && x == Four{6, 6, 6, 6} && t == Four{};
  return ok && module.forward(x, t).has_value() && x == Four{6, 6, 6, 6} && t == ones;
}
static_assert(swaps_states());

using Long = static_module<static_program_of<make_chain<80>>, calculator>;
static_assert(Long::step_count == 40);
constexpr bool runs_chunks() {
  Long module;
  Four y{};
  return module.forward(Four{1, 2, 3, 4}, y).has_value() && y == Four{41, 82, 123, 164};
}
static_assert(runs_chunks());

/// A counter with two methods; the second one changes nothing: s += x; y = relu(s) + t. `apart` belongs to the first
/// alone.
constexpr GraphModule make_count() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId apart = b.input("apart", f32, {4}), s = b.input("s", f32, {4}), x = b.input("x", f32, {4});
  const ValueId sum = add(b, "sum", s, x);
  b.end_graph({sum, add(b, "more", apart, x), call(b, "aten.relu.default", "y", add(b, "both", apart, sum))});
  return std::move(b).finish();
}
constexpr GraphModule make_look() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId s = b.input("s", f32, {4}), t = b.input("t", f32, {4});
  b.end_graph({add(b, "y", call(b, "aten.relu.default", "active", s), t)});
  return std::move(b).finish();
}
struct counter {
  static constexpr std::string_view name = "counter";
  struct count : static_program_of<make_count> {
    static constexpr std::array inputs{shared_state(4), shared_state(0, state_input(ones)), user_input()};
    static constexpr std::array outputs{mutation_of(1), mutation_of(0), user_output()};
  };
  struct look : static_program_of<make_look> {
    static constexpr std::array inputs{shared_state(0, state_input(ones)), user_input()};
  };
  using methods = static_methods<count, look>;
};
using Counter = static_module<counter, calculator>;
static_assert(Counter::state_bytes == 32 &&
              Counter::arena_bytes ==
                  std::max(Counter::method<counter::count>::arena_bytes, Counter::method<counter::look>::arena_bytes));
static_assert(Counter::method<counter::look>::state_pools.bytes() == 16);
static_assert(Counter::name == "counter");
constexpr bool shares_state() {
  Counter module;
  Four y{};
  const auto looks_like = [&](float value) {
    return module.call<counter::look>(Four{1, 1, 1, 1}, y).has_value() &&
           y == Four{value + 1, value + 1, value + 1, value + 1};
  };
  bool ok = looks_like(1);
  ok = ok && module.call<counter::count>(Four{2, 2, 2, 2}, y).has_value() && y == Four{3, 3, 3, 3} && looks_like(3);
  ok = ok && module.call<counter::count>(Four{1, 1, 1, 1}, y).has_value() && y == Four{6, 6, 6, 6} && looks_like(4);
  module.reset();
  return ok && looks_like(1) && module.call<counter::count>(Four{2, 2, 2, 2}, y).has_value() && y == Four{3, 3, 3, 3};
}
static_assert(shares_state());

/// A global module needs no static constructor.
constinit static_module<running_total, calculator> global_total;

}  // namespace

TEST_CASE("a static module runs as it does in constant evaluation") {
  CHECK(computes_residual<ByCalculator>());
  CHECK(computes_residual<BySize>());
  CHECK(computes_residual<ForSpeed>());
  CHECK(computes_residual<ByBoth>());
  CHECK(keeps_state());
  CHECK(keeps_state_of_a_failed_run());
  CHECK(gives_all_outputs());
  CHECK(swaps_states());
  CHECK(runs_chunks());
  CHECK(shares_state());
}

TEST_CASE("tensors of several methods are in one arena") {
  static static_module<counter, tensors_in_arena, calculator> module;
  const auto x = module.input<counter::count, 0>();
  std::ranges::fill(x, 2.0f);
  REQUIRE(module.call<counter::count>().has_value());
  CHECK(module.output<counter::count, 0>()[3] == 3);
  std::ranges::fill(module.input<counter::look, 0>(), 5.0f);
  REQUIRE(module.call<counter::look>().has_value());
  CHECK(module.output<counter::look, 0>()[3] == 8);
}

TEST_CASE("a hook counts the steps of all methods, method by method") {
  static std::array<int, Counter::step_count> calls{};
  struct Hook {
    static void before(const StepInfo& step) { ++calls[step.index]; }
  };
  static_module<counter, step_hook<Hook>, calculator> module;
  Four y{};
  REQUIRE(module.call<counter::look>(ones, y).has_value());
  constexpr std::size_t first = Counter::method<counter::count>::step_count;
  static_assert(first > 0 && first < Counter::step_count);
  for (std::size_t i = 0; i < calls.size(); ++i) CHECK(calls[i] == (i < first ? 0 : 1));
}

TEST_CASE("a global module has its state before main") {
  Four y{};
  CHECK(global_total.forward(Four{1, 3, 1, 6}, y));
  CHECK(y == Four{0.5f, 1, 0.25f, 0.5f});
}
TEST_CASE("forward takes spans, arrays, nested arrays and static tensors") {
  TwoOutputs module;
  Four x{-1, 2, -3, 4}, z{};
  float y[4]{};
  float view[2][2]{};
  Four same{};
  CHECK(module.forward(std::span<const float, 4>(x), y, std::span(z), view, StaticTensor<float, 4>{same.data()})
            .has_value());
  CHECK(y[1] == 2.0f);
  CHECK(view[1][1] == 4.0f);
  CHECK(same == x);
}

TEST_CASE("the arena is used to its last byte, and no further") {
  static BySize module;
  for (const std::byte pattern : {std::byte{0x5a}, std::byte{0xa5}}) {
    std::fill(module.arena().begin(), module.arena().end(), pattern);
    Four y{};
    REQUIRE(module.forward(Four{7, 8, 9, 10}, y).has_value());
    CHECK(module.arena().back() != pattern);
  }
}
