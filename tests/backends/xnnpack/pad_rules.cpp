// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/pad_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "backends/xnnpack/check.hpp"

using namespace davit;
using support::Net;
using xnnpack_check::faults;
using xnnpack_check::steps;
using xnnpack_parts::Op;

TEST_CASE("a padding that others use too stays") {
  Net n;
  const auto w = n.weight("w", {16, 16, 3, 3});
  const auto x = n.input("x", {1, 16, 5, 5});
  const auto padded =
      n.op("aten.constant_pad_nd.default", "p", {1, 16, 7, 7}, {{"self", n.v(x)}, {"pad", n.ints({1, 1, 1, 1})}});
  const ExportedProgram program = n.finish({n.conv("c", padded, w, {1, 16, 5, 5}), padded});
  CHECK(faults(program, n.sample()) == "");
  CHECK(std::ranges::count(steps(program), Op::pad) == 1);
}
