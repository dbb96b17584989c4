// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/node_kernel.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include "davit/backends/portable.hpp"
#include "support/net.hpp"

using namespace davit;
using namespace davit::portable_kernels;

TEST_CASE("a node's kernel runs on its arguments, at any address") {
  support::Net n;
  const auto x = n.input("x", {2, 3}), y = n.input("y", {2, 3});
  const auto sum = n.op("aten.add.Tensor", "sum", {2, 3}, {{"self", n.v(y)}, {"other", n.v(x)}, {"alpha", n.i(2)}});
  const auto wrong = n.op("aten.add.Tensor", "wrong", {2, 3}, {{"self", n.v(y)}, {"other", n.v(x)}, {"beta", n.i(2)}});
  const auto none = n.op("own.add.default", "none", {2, 3}, {{"self", n.v(y)}});
  const ExportedProgram program = n.finish({sum, wrong, none});
  std::array<std::uint32_t, 2> numbers{};
  numbers[x] = 0;
  numbers[y] = 1;
  KernelStep step;
  CHECK(bind_node(program.view(), 1, "aten.add.Tensor", numbers, step) == "no parameter is called 'beta'");
  CHECK(bind_node(program.view(), 2, "own.add.default", numbers, step) == "there is no kernel for this operation");
  REQUIRE(bind_node(program.view(), 0, "aten.add.Tensor", numbers, step).empty());
  const std::array<std::int64_t, 2> sizes{2, 3};
  for (int i = 0; i < 3; ++i) add_tensor(step, sizes);
  std::array<float, 6> a{1, 2, 3, 4, 5, 6}, b{10, 20, 30, 40, 50, 60}, made{};
  KernelState state(step);
  KernelMemory memory;
  REQUIRE(state.run(step, memory, [&](std::size_t i) -> void* {
    return i == 0 ? a.data() : i == 1 ? b.data() : made.data();
  }));
  CHECK(made == std::array<float, 6>{12, 24, 36, 48, 60, 72});
}

TEST_CASE("a view that a kernel returns is copied to its place") {
  support::Net n;
  const auto x = n.input("x", {2, 3});
  const auto turned =
      n.op("aten.transpose.int", "turned", {3, 2}, {{"self", n.v(x)}, {"dim0", n.i(0)}, {"dim1", n.i(1)}});
  const ExportedProgram program = n.finish({turned});
  std::array<std::uint32_t, 2> numbers{};
  numbers[x] = 0;
  KernelStep step;
  REQUIRE(bind_node(program.view(), 0, "aten.transpose.int", numbers, step).empty());
  add_tensor(step, std::array<std::int64_t, 2>{2, 3});
  add_tensor(step, std::array<std::int64_t, 2>{3, 2});
  std::array<float, 6> a{1, 2, 3, 4, 5, 6}, made{};
  KernelState state(step);
  KernelMemory memory;
  for (int run = 0; run < 2; ++run) {
    made = {};
    REQUIRE(state.run(step, memory, [&](std::size_t i) -> void* { return i == 0 ? a.data() : made.data(); }));
    CHECK(made == std::array<float, 6>{1, 4, 2, 5, 3, 6});
  }
}
