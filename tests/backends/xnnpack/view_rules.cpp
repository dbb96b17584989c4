// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/view_rules.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "backends/xnnpack/check.hpp"

using namespace davit;
using support::Net;
using xnnpack_check::faults;
using xnnpack_check::steps;
using xnnpack_parts::Op;

TEST_CASE("views of images: no copy where the elements already lie so") {
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
