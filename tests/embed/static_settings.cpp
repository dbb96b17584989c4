// SPDX-License-Identifier: MIT
#include "davit/embed/static_settings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "support/static_toy.hpp"

namespace {

using namespace davit;
using namespace static_toy;
using Four = std::array<float, 4>;

using Own = static_module<residual, tuned<portable, for_size>>;
using External = static_module<residual, external_arena, portable>;
using WithState = static_module<running_total, external_arena, calculator>;
static_assert(External::arena_bytes == Own::arena_bytes && External::ram_bytes == Own::ram_bytes);
static_assert(External::backends == std::array<std::string_view, 1>{"portable"});
static_assert(sizeof(Own) >= Own::arena_bytes && sizeof(External) == 1,
              "a module without an arena of its own is its state");

constexpr bool runs_in_the_callers_arena() {
  External module;
  static_arena<External::arena_bytes> arena{};
  Four y{};
  return module.forward(arena, Four{0, 1, 2, 3}, y).has_value() && y == Four{1, 1, 7, 3};
}
static_assert(runs_in_the_callers_arena());

/// Two models in one image: one arena of the larger size, not of the sum.
constexpr auto larger = max_arena<External, WithState>;
static_assert(larger == std::max(External::arena_bytes, WithState::arena_bytes));
struct Image {
  External first;
  WithState second;
  static_arena<larger> arena;
};
static_assert(External::arena_bytes != 0 && WithState::arena_bytes != 0);
static_assert(sizeof(Image) < External::arena_bytes + WithState::arena_bytes + 2 * sizeof(WithState));

/// y = relu(x) + t, and s = x + t is written back to x; same is the old x.
constexpr GraphModule make_written_back() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {4}), t = b.input("t", f32, {4}), unused = b.input("unused", f32, {4});
  static_cast<void>(unused);
  const ValueId active = call(b, "aten.relu.default", "active", x);
  const ValueId y = add(b, "y", active, t);
  b.end_graph({add(b, "s", x, t), y, x, t});
  return std::move(b).finish();
}
struct written_back : static_program_of<make_written_back> {
  static constexpr std::array outputs{mutation_of(0), user_output(), user_output(), user_output()};
};
using InArena = static_module<written_back, tensors_in_arena, calculator>;

struct Trace {
  static inline std::vector<StepInfo> before_steps, after_steps;
  static void before(const StepInfo& step) { before_steps.push_back(step); }
  static void after(const StepInfo& step) { after_steps.push_back(step); }
};
struct OnlyAfter {
  static inline int calls = 0;
  static void after(const StepInfo&) { ++calls; }
};

}  // namespace

TEST_CASE("modules alternate in one arena, and keep their state") {
  static Image image;
  Four y{}, z{};
  for (int i = 0; i < 2; ++i) {
    REQUIRE(image.first.forward(image.arena, Four{0, 1, 2, 3}, y).has_value());
    CHECK(y == Four{1, 1, 7, 3});
    REQUIRE(image.second.forward(image.arena, i == 0 ? Four{1, 3, 1, 6} : Four{2, 1, 4, 2}, z).has_value());
    CHECK(z == (i == 0 ? Four{0.5f, 1, 0.25f, 0.5f} : Four{0.25f, 0.5f, 0.125f, 0.25f}));
  }
}

TEST_CASE("an arena whose size or address is known only at run time is checked then") {
  External module;
  Four y{};
  alignas(static_alignment) std::array<std::byte, External::arena_bytes + 1> memory{};
  const std::span<std::byte> all(memory);
  const Four x{0, 1, 2, 3};
  CHECK(module.forward(memory, x, y).has_value());
  CHECK(y == Four{1, 1, 7, 3});
  CHECK(module.forward(all, x, y).has_value());
  CHECK(module.forward(all.first(External::arena_bytes - 1), x, y).error().code() == ErrorCode::out_of_memory);
  CHECK(module.forward(all.subspan(1), x, y).error().code() == ErrorCode::invalid_argument);
  CHECK(module.forward(all.subspan<1>(), x, y).error().code() == ErrorCode::invalid_argument);
}

TEST_CASE("inputs and outputs are in the arena") {
  static InArena module;
  std::ranges::fill(module.arena(), std::byte{0x5a});
  auto x = module.input<0>(), t = module.input<1>(), unused = module.input<2>();
  static_assert(decltype(x)::extent == 4 && InArena::arena_bytes >= 5 * 16);
  std::ranges::copy(Four{-1, 2, -3, 4}, x.begin());
  std::ranges::copy(Four{1, 1, 1, 1}, t.begin());
  std::ranges::copy(Four{9, 9, 9, 9}, unused.begin());
  REQUIRE(module.forward().has_value());
  CHECK(std::ranges::equal(module.output<0>(), Four{1, 3, 1, 5}));
  CHECK(std::ranges::equal(module.output<1>(), Four{-1, 2, -3, 4}));  // the value before the write-back
  CHECK(std::ranges::equal(module.output<2>(), Four{1, 1, 1, 1}));
  CHECK(std::ranges::equal(x, Four{0, 3, -2, 5}));
  for (const auto& tensor : {module.output<0>(), module.output<1>(), module.output<2>(), x}) {
    const auto* first = reinterpret_cast<const std::byte*>(tensor.data());
    CHECK(first >= module.arena().data());
    CHECK(first + 16 <= module.arena().data() + InArena::arena_bytes);
  }
}

TEST_CASE("a step's result may overwrite an input") {
  static static_module<static_program_of<make_residual>, tensors_in_arena, external_arena, calculator> module;
  using Module = decltype(module);
  static static_arena<Module::arena_bytes> arena;
  static_assert(Module::arena_bytes == 48);  // bias, x, and their sum; then y in place of the sum
  std::ranges::copy(bias, module.input<0>(arena).begin());
  std::ranges::copy(Four{0, 1, 2, 3}, module.input<1>(arena).begin());
  REQUIRE(module.forward(arena).has_value());
  CHECK(std::ranges::equal(module.output<0>(arena), Four{1, 1, 7, 3}));
}

TEST_CASE("a hook sees every step, in order") {
  Trace::before_steps.clear();
  Trace::after_steps.clear();
  static_module<residual, step_hook<Trace>, adder, portable> module;
  Four y{};
  REQUIRE(module.forward(Four{0, 1, 2, 3}, y).has_value());
  CHECK(y == Four{1, 1, 7, 3});
  REQUIRE(Trace::before_steps.size() == decltype(module)::step_count);
  REQUIRE(Trace::after_steps.size() == decltype(module)::step_count);
  const std::vector<std::pair<NodeId, std::string_view>> expected{
      {0, "aten.add.Tensor"}, {2, "aten.relu.default"}, {3, "aten.add.Tensor"}};
  for (std::uint32_t i = 0; i < expected.size(); ++i) {
    CHECK(Trace::before_steps[i].index == i);
    CHECK(Trace::before_steps[i].node == expected[i].first);
    CHECK(Trace::before_steps[i].target == expected[i].second);
    CHECK(Trace::after_steps[i].index == i);
  }
  static_module<residual, step_hook<OnlyAfter>, calculator> half;
  REQUIRE(half.forward(Four{0, 1, 2, 3}, y).has_value());
  CHECK(OnlyAfter::calls == 2);
  static_assert(sizeof(half) == sizeof(static_module<residual, calculator>));
}
