// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/layout_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "backends/xnnpack/check.hpp"

using namespace davit;
using support::Net;
using xnnpack_check::faults;
using xnnpack_check::steps;
using xnnpack_parts::Op;

TEST_CASE("parts of a concatenation are made in their places") {
  Net n;
  const auto w1 = n.weight("w1", {16, 16, 1, 1});
  const auto w2 = n.weight("w22", {32, 16, 3, 3}, 0.2);
  const auto x = n.input("x", {2, 16, 6, 6});
  const auto a = n.relu("a", n.conv("c1", x, w1, {2, 16, 6, 6}), {2, 16, 6, 6});
  const auto b = n.relu("b", n.conv("c2", x, w2, {2, 32, 6, 6}, 1, 1), {2, 32, 6, 6});
  const auto cat =
      n.op("aten.cat.default", "cat", {2, 48, 6, 6}, {{"tensors", n.draft.b.tensors({a, b})}, {"dim", n.i(1)}});
  const auto pool = n.op(
      "aten.max_pool2d.default", "pool", {2, 48, 3, 3},
      {{"self", n.v(cat)}, {"kernel_size", n.ints({3, 3})}, {"stride", n.ints({2, 2})}, {"padding", n.ints({1, 1})}});
  const ExportedProgram program = n.finish({pool, n.op("aten.neg.default", "neg", {2, 16, 6, 6}, {{"self", n.v(a)}})});
  CHECK(faults(program, n.sample()) == "");
  CHECK(steps(program) ==
        std::vector{Op::copy, Op::convolution, Op::convolution, Op::max_pool, Op::kernel, Op::copy, Op::copy});
}

TEST_CASE("functions of one number read parts of a concatenation in place") {
  for (const std::string_view target :
       {"aten.silu.default", "aten.hardswish.default", "aten.relu.default", "aten.leaky_relu.default"}) {
    CAPTURE(target);
    Net n;
    const auto x = n.input("x", {2, 4, 3, 3});
    const auto a = n.op(target, "a", {2, 24, 3, 3},
                        {{"self", n.v(n.conv("c1", x, n.weight("w1", {24, 4, 1, 1}), {2, 24, 3, 3}))}});
    const auto b = n.op(target, "b", {2, 24, 3, 3}, {{"self", n.v(a)}});
    const auto cat =
        n.op("aten.cat.default", "cat", {2, 48, 3, 3}, {{"tensors", n.draft.b.tensors({a, b})}, {"dim", n.i(1)}});
    const ExportedProgram program = n.finish({n.conv("c2", cat, n.weight("w2", {8, 48, 1, 1}), {2, 8, 3, 3})});
    CHECK(faults(program, n.sample()) == "");
    CHECK(std::ranges::count(steps(program), Op::copy) <= 4);  // the input and the output change their order, two
                                                               // parts are put in their places
  }
}

TEST_CASE("other concatenations: of constants, inputs, the same value twice, along other dimensions") {
  Net n;
  const auto k = n.weight("k", {2, 1, 4, 4});
  const auto w = n.weight("w", {3, 2, 1, 1});
  const auto x = n.input("x", {2, 2, 4, 4});
  const auto c = n.conv("c", x, w, {2, 3, 4, 4});
  const auto channels =
      n.op("aten.cat.default", "cat", {2, 9, 4, 4}, {{"tensors", n.draft.b.tensors({c, k, x, c})}, {"dim", n.i(1)}});
  const auto rows =
      n.op("aten.cat.default", "rows", {2, 3, 8, 4}, {{"tensors", n.draft.b.tensors({c, c})}, {"dim", n.i(-2)}});
  CHECK(faults(n.finish({channels, rows}), n.sample()) == "");
}

TEST_CASE("a part with innermost dimensions of size 1, as a softmax along them makes it") {
  Net n;
  const auto x = n.input("x", {4, 4, 1, 1});
  const auto p = n.op("aten._softmax.default", "p", {4, 4, 1, 1},
                      {{"self", n.v(x)}, {"dim", n.i(2)}, {"half_to_float", GraphBuilder::boolean(false)}});
  const auto h = n.op("aten.hardswish.default", "h", {4, 4, 1, 1}, {{"self", n.v(p)}});
  const auto cat =
      n.op("aten.cat.default", "cat", {4, 8, 1, 1}, {{"tensors", n.draft.b.tensors({h, h})}, {"dim", n.i(1)}});
  CHECK(faults(n.finish({n.op("aten.neg.default", "neg", {4, 4, 1, 1}, {{"self", n.v(x)}}), cat}), n.sample()) == "");
}

TEST_CASE("a part of one channel, whose average requests an order with the channels outside") {
  Net n;
  const auto w = n.weight("w", {1, 2, 1, 1});
  const auto x = n.input("x", {1, 2, 3, 2});
  const auto c = n.conv("c", x, w, {1, 1, 3, 2});
  const auto e = n.op("aten.elu.default", "e", {1, 1, 3, 2}, {{"self", n.v(c)}});
  const auto cat =
      n.op("aten.cat.default", "cat", {1, 2, 3, 2}, {{"tensors", n.draft.b.tensors({e, e})}, {"dim", n.i(1)}});
  const auto mean = n.op("aten.mean.dim", "mean", {1, 3, 2}, {{"self", n.v(e)}, {"dim", n.ints({1})}});
  CHECK(faults(n.finish({e, cat, mean}), n.sample()) == "");
}

TEST_CASE("views of images: no copy if the elements have the order already") {
  Net n;
  const auto w = n.weight("w", {8, 3, 2, 2});
  const auto x = n.input("x", {1, 3, 4, 4});
  const auto c = n.conv("c", x, w, {1, 8, 2, 2}, 2);
  const auto flat = n.op("aten.view.default", "flat", {1, 8, 4}, {{"self", n.v(c)}, {"size", n.ints({1, 8, 4})}});
  const auto tokens =
      n.op("aten.permute.default", "tokens", {1, 4, 8}, {{"self", n.v(flat)}, {"dims", n.ints({0, 2, 1})}});
  const ExportedProgram program = n.finish({tokens});
  CHECK(faults(program, n.sample()) == "");
  CHECK(steps(program) == std::vector{Op::copy, Op::convolution});
}

TEST_CASE("slices, selections, splits and repetitions") {
  Net n;
  const auto x = n.input("x", {4, 6, 5});
  const auto slice = n.op("aten.slice.Tensor", "a", {4, 2, 5},
                          {{"self", n.v(x)}, {"dim", n.i(1)}, {"start", n.i(1)}, {"end", n.i(5)}, {"step", n.i(2)}});
  const auto select = n.op("aten.select.int", "b", {4, 5}, {{"self", n.v(x)}, {"dim", n.i(1)}, {"index", n.i(-1)}});
  const auto one = n.op("aten.slice.Tensor", "c", {1, 6, 5}, {{"self", n.v(x)}, {"dim", n.i(0)}, {"start", n.i(-1)}});
  const auto expand = n.op("aten.expand.default", "d", {3, 6, 5}, {{"self", n.v(one)}, {"size", n.ints({3, -1, -1})}});
  CHECK(faults(n.finish({slice, select, expand}), n.sample()) == "");
}
