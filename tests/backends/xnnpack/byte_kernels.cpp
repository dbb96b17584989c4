// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/byte_kernels.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "backends/xnnpack/check.hpp"
#include "davit/backends/xnnpack.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "support/quantized_net.hpp"
#include "support/random_quantized_net.hpp"

using namespace davit;
using support::QuantizedNet;
using support::Sizes;
using xnnpack_check::faults;
using xnnpack_check::steps;
using xnnpack_parts::Op;

TEST_CASE("random nets of bytes are portable's to the last bit") {
  std::size_t joined = 0, ran = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    QuantizedNet n;
    std::size_t layer = 0;
    const ExportedProgram program = support::random_quantized_net(n, seed, layer);
    const std::vector<Op> ops = steps(program);  // none of what has bytes without a sign, which is refused
    INFO("seed " << seed);
    joined += static_cast<std::size_t>(std::ranges::count(ops, Op::kernel));
    if (ops.empty()) continue;
    ++ran;
    CHECK(faults(program, n.sample(), {0, 0}) == "");
  }
  CHECK(ran > 10);
  if (kernels::can_convolve_bytes()) CHECK(joined > ran);
}

TEST_CASE("rows, lines and sums of bytes stay bytes") {
  QuantizedNet n;
  const auto weights = n.weights("w", {12, 8});
  const auto taps = n.weights("t", {12, 12, 3});
  const auto a = n.through_bytes("a", n.input("x", {3, 6, 8}), {3, 6, 8}, {0.01, 3});
  const auto b = n.through_bytes("b", n.input("y", {3, 6, 8}), {3, 6, 8}, {0.02, -128});
  const auto sum = n.through_bytes("sum", n.add("s", a, b, {3, 6, 8}), {3, 6, 8}, {0.013, -5});
  const auto rows = n.op("aten.linear.default", "l", {3, 6, 12},
                         {{"input", n.v(sum)}, {"weight", n.v(n.dequantize("wf", weights, {12, 8}))}});
  const auto made = n.through_bytes("rows", rows, {3, 6, 12}, {0.03, 11});
  const auto turned =
      n.op("aten.permute.default", "turned", {3, 12, 6}, {{"self", n.v(made)}, {"dims", n.ints({0, 2, 1})}});
  const auto again = n.through_bytes("again", turned, {3, 12, 6}, {0.03, 11});
  const auto line =
      n.op("aten.conv1d.default", "c", {3, 12, 6},
           {{"input", n.v(again)}, {"weight", n.v(n.dequantize("tf", taps, {12, 12, 3}))}, {"padding", n.ints({1})}});
  const ExportedProgram program = n.finish({n.quantize("out", line, {3, 12, 6}, {0.2, 0}), sum});
  const std::vector<Op> ops = steps(program);
  if (kernels::can_convolve_bytes()) CHECK(std::ranges::count(ops, Op::kernel) == 3);
  CHECK(faults(program, n.sample(), {0, 0}) == "");
}

TEST_CASE("kernels on bytes give the same on the pool's threads, in several sessions") {
  const auto outputs = [](std::uint32_t threads) {
    QuantizedNet n;
    const Sizes sizes{1, 64, 40, 40};
    const auto weights = n.weights("w", {64, 64, 3, 3});
    const auto in = n.through_bytes("in", n.input("x", sizes), sizes, {0.01, 3});
    const ExportedProgram program = n.finish({n.quantize(
        "out", n.conv("c", in, n.dequantize("wf", weights, {64, 64, 3, 3}), no_id, sizes, 1, 1, 1), sizes, {0.5, 7})});
    const auto lowered = to_backend<xnnpack>(program, {.threads = threads});
    REQUIRE(lowered);
    std::vector<std::vector<std::int8_t>> all;
    for (int session = 0; session < 2; ++session) {
      auto made = Session::make(*lowered);
      REQUIRE(made);
      const auto out = made->run(0, n.sample());
      REQUIRE(out);
      const TensorView t = out->all()[0].tensor();
      all.emplace_back(t.as<std::int8_t>(), t.as<std::int8_t>() + t.numel());
    }
    return all;
  };
  const auto one = outputs(1);
  CHECK(one[0] == one[1]);
  CHECK(std::ranges::any_of(one[0], [&](std::int8_t x) { return x != one[0][0]; }));
  CHECK(outputs(2) == one);
}
