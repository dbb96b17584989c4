// SPDX-License-Identifier: MIT
#include "davit/embed/run_device.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <vector>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "support/static_control.hpp"
#include "support/static_device.hpp"
#include "support/static_toy.hpp"

namespace {

using namespace davit;
using namespace static_toy;
using static_device::asynchronous_adder;
using static_device::device;
using static_device::Device;
using Four = std::array<float, 4>;

using Model = static_module<residual, asynchronous_adder,
                            portable>;  // relu(x + bias) + x: the device's, portable's, the device's
static_assert(Model::has_device && !static_module<residual, adder, portable>::has_device);
static_assert(static_module<residual, adder, portable>::ram_bytes == Model::arena_bytes);
static_assert(detail::device_kernels<asynchronous_adder::Kernels>[0] &&
              !detail::device_kernels<calculator::Kernels>[0]);
// the module's cache lines hold no other data
static_assert(Model::arena_bytes % 64 != 0 && alignof(Model) == 64 && sizeof(Model) >= 128 &&
              alignof(static_module<residual, adder, portable>) == 16);
constinit Model global;  // no static constructor

struct Trace {
  static inline std::vector<int> seen;
  static void before(const StepInfo& step) { seen.push_back(static_cast<int>(step.node)); }
  static void after(const StepInfo& step) { seen.push_back(-static_cast<int>(step.node)); }
};

struct Interrupt;
using Interrupted = static_module<residual, step_hook<Interrupt>, asynchronous_adder, portable>;
struct Interrupt {
  static inline Interrupted* module = nullptr;
  static inline std::vector<RunState> seen;
  static void before(const StepInfo&);
};
void Interrupt::before(const StepInfo&) { seen.push_back(module->step()); }

/// Runs a started run to its end; returns the number of commands it waited for.
template <class Module>
int go_through(Module& module) {
  int waits = 0;
  while (!module.done()) {
    CHECK(module.step() == RunState::waiting);  // the device is not done: nothing happens
    device.finish();
    ++waits;
    (void)module.step();
  }
  return waits;
}

struct Both {
  static constexpr std::string_view name = "both";
  using methods = static_methods<residual, running_total>;
};

using One = std::array<float, 1>;
using Two = std::array<float, 2>;
using Six = std::array<float, 6>;

/// The number of commands a program's run waits for; -1 if its results differ from portable's.
template <auto make, class... Outputs, class... Inputs>
int same_as_portable(const Inputs&... inputs) {
  static_module<static_program_of<make>, asynchronous_adder, portable> module;
  static_module<static_program_of<make>, portable> plain;
  device = Device();
  std::tuple<Outputs...> expected{}, started{}, waited{};
  const auto run = [&](auto& outputs, auto&& call) {
    return std::apply([&](auto&... out) { return call(inputs..., out...).has_value(); }, outputs);
  };
  bool ok = run(expected, [&](auto&... all) { return plain.forward(all...); });
  ok = ok && run(waited, [&](auto&... all) { return module.forward(all...); }) && waited == expected;
  const int commands = device.commands;
  ok = ok && run(started, [&](auto&... all) { return module.forward_start(all...); });
  return go_through(module) == commands && ok && started == expected ? commands : -1;
}

}  // namespace

TEST_CASE("state is written back when a run ends, and only then") {
  device = Device();
  static_module<running_total, asynchronous_adder, calculator> module;  // y = 1 / (state + x), which becomes the state
  Four y{};
  const Four given{1, 3, 1, 6};
  REQUIRE(module.forward_start(given, y).has_value());
  CHECK(go_through(module) == 1);
  CHECK(y == Four{0.5f, 1, 0.25f, 0.5f});
  device.fails = true;
  CHECK_FALSE(module.forward(Four{9, 9, 9, 9}, y).has_value());
  device.fails = false;
  REQUIRE(module.forward(Four{2, 1, 4, 2}, y).has_value());
  CHECK(y == Four{0.25f, 0.5f, 0.125f, 0.25f});
}

TEST_CASE("commands in branches and loops") {
  using namespace static_control;
  for (const float p : {0.0f, 1.0f})
    for (const float q : {0.0f, 1.0f})
      CHECK(same_as_portable<make_branches, Two, Two>(One{p}, One{q}, Two{1, 2}) == (p > 0 && q > 0 ? 2 : 1));
  for (const int n : {0, 1, 3})
    CHECK(same_as_portable<make_loop, Two, Two>(One{static_cast<float>(n)}, Two{1, 2}, Two{10, 20}) == 2 * n + 1);
  CHECK(same_as_portable<make_scan<false>, Two, Six, Six>(Two{100, 200}, Six{1, 2, 3, 10, 20, 30}, Two{5, 7}) == 6);
  CHECK(same_as_portable<make_scan<true>, Two, Six, Six>(Two{100, 200}, Six{1, 2, 3, 10, 20, 30}, Two{5, 7}) == 6);
  CHECK(same_as_portable<static_control::make_swap, Two, Two, Six>(Two{100, 200}, Two{7, 8}, Six{1, 2, 3, 4, 5, 6}) ==
        4);
}

TEST_CASE("forward waits for the device, which the backend may sleep for") {
  device = Device();
  Model module;
  Four y{};
  REQUIRE(module.forward(Four{0, 1, 2, 3}, y).has_value());
  CHECK(y == Four{1, 1, 7, 3});
  CHECK(device.commands == 2);
  CHECK(device.sleeps == 2);
  CHECK(module.done());
  CHECK(module.step() == RunState::idle);
}

TEST_CASE("a run continues from command to command") {
  device = Device();
  const Four x{0, 1, 2, 3};
  Four y{};
  CHECK(global.done());
  REQUIRE(global.forward_start(x, y).has_value());
  CHECK_FALSE(global.done());
  CHECK(device.busy);
  CHECK(device.commands == 0);
  Four other{};
  CHECK(global.forward_start(x, other).error().code() == ErrorCode::not_available);  // a run is active
  CHECK(global.forward(x, other).error().code() == ErrorCode::not_available);
  CHECK(global.step() == RunState::waiting);
  device.finish();
  CHECK(global.step() == RunState::waiting);  // portable's relu, and the next command
  CHECK(device.busy);
  device.finish();
  CHECK(y == Four{1, 1, 7, 3});
  CHECK_FALSE(global.done());
  CHECK(global.step() == RunState::done);
  CHECK(global.done());
  CHECK(global.status().has_value());
  CHECK(global.step() == RunState::done);
  CHECK(device.sleeps == 0);
  const Four given{4, 3, 2, 1};
  REQUIRE(global.forward_start(given, y).has_value());  // once more
  CHECK(go_through(global) == 2);
  CHECK(y == Four{9, 4, 7, 1});
}

TEST_CASE("a step within a step does nothing, as of an interrupt's handler while the CPU computes") {
  device = Device();
  Interrupted module;
  Interrupt::module = &module;
  Four y{};
  const Four given{0, 1, 2, 3};
  REQUIRE(module.forward_start(given, y).has_value());
  CHECK(Interrupt::seen == std::vector<RunState>{RunState::running});  // before the first command
  CHECK(go_through(module) == 2);
  CHECK(Interrupt::seen == std::vector<RunState>(3, RunState::running));
  CHECK(y == Four{1, 1, 7, 3});
}

TEST_CASE("a command that is done before the run waits for it is not waited for: its interrupt may be over") {
  device = Device();
  device.is_quick = true;
  Model module;
  Four y{};
  const Four given{0, 1, 2, 3};
  REQUIRE(module.forward_start(given, y).has_value());
  CHECK(module.done());
  CHECK(y == Four{1, 1, 7, 3});
  device.is_quick = false;
  REQUIRE(module.forward_start(given, y).has_value());
  device.finish();
  device.is_quick = true;
  CHECK(module.step() == RunState::done);
  CHECK(device.commands == 4);
}

TEST_CASE("the device's errors name the node") {
  device = Device();
  Model module;
  const Four x{0, 1, 2, 3};
  Four y{};
  device.refuses = true;
  CHECK(module.forward_start(x, y).error() == Fault(ErrorCode::not_available, 0));
  CHECK(module.done());
  CHECK(module.status().error() == Fault(ErrorCode::not_available, 0));
  CHECK(module.step() == RunState::failed);
  CHECK(module.forward(x, y).error() == Fault(ErrorCode::not_available, 0));
  device.refuses = false;
  REQUIRE(module.forward_start(x, y).has_value());
  device.finish();
  CHECK(module.step() == RunState::waiting);
  device.finish();
  device.fails = true;
  CHECK(module.step() == RunState::failed);
  CHECK(module.status().error() == Fault(ErrorCode::failed, 3));
  CHECK(module.forward(x, y).error() == Fault(ErrorCode::failed, 0));
  device.fails = false;
  CHECK(module.forward(x, y).has_value());
}

TEST_CASE("the cache is cleaned of the CPU's writes, and drops the lines that the device wrote") {
  device = Device();
  static_module<residual, tensors_in_arena, asynchronous_adder, portable> module;
  std::ranges::copy(Four{0, 1, 2, 3}, module.input<0>().begin());
  REQUIRE(module.forward().has_value());
  CHECK(std::ranges::equal(module.output<0>(), Four{1, 1, 7, 3}));
  // x + bias: bias is a constant; then relu(...) + x
  REQUIRE(device.cleaned.size() == 5);
  REQUIRE(device.invalidated.size() == 2);
  for (const auto& ranges : {device.cleaned, device.invalidated})
    for (const static_device::Range& range : ranges) {
      const auto* first = static_cast<const std::byte*>(range.first);
      CHECK(range.bytes == 16);
      CHECK(first >= module.arena().data());
      CHECK(first + range.bytes <= module.arena().data() + module.arena_bytes);
    }
  CHECK(device.cleaned[1].first == module.input<0>().data());
  CHECK(device.invalidated[0] == device.cleaned[0]);
  CHECK(device.invalidated[1].first == module.output<0>().data());
}

TEST_CASE("the caller's tensors are cleaned too, and a hook sees commands") {
  Trace::seen.clear();
  device = Device();
  static_module<residual, external_arena, step_hook<Trace>, asynchronous_adder, portable> module;
  static static_arena<decltype(module)::arena_bytes> arena;
  Four x{0, 1, 2, 3}, y{};
  REQUIRE(module.forward_start(arena, x, y).has_value());
  CHECK(go_through(module) == 2);
  CHECK(y == Four{1, 1, 7, 3});
  CHECK(device.cleaned[1] == static_device::Range{x.data(), 16});
  CHECK(device.invalidated.back() == static_device::Range{y.data(), 16});
  CHECK(Trace::seen == std::vector<int>{0, 0, 2, -2, 3, -3});
}

TEST_CASE("methods over one state wait for one device, one at a time") {
  using Module = static_module<Both, asynchronous_adder, portable>;
  static_assert(Module::has_device && Module::method<residual>::has_device);
  static Module module;
  static static_module<running_total, portable> plain;
  device = Device();
  const Four x{1, -2, 3, -4};
  Four first{}, second{}, expected{};
  REQUIRE(module.start<residual>(x, first).has_value());
  CHECK(module.call<running_total>(x, second).error().code() == ErrorCode::not_available);
  CHECK(go_through(module) == 2);
  CHECK(module.status().has_value());
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(first[i] == std::max(x[i] + bias[i], 0.0F) + x[i]);
  for (int run = 0; run < 2; ++run) {
    REQUIRE(plain.forward(x, expected).has_value());
    REQUIRE(module.start<running_total>(x, second).has_value());
    CHECK(go_through(module) > 0);
    CHECK(second == expected);
  }
  module.reset();
  plain.reset();
  REQUIRE(plain.forward(x, expected).has_value());
  REQUIRE(module.call<running_total>(x, second).has_value());
  CHECK(second == expected);
}
