// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/matmul_rules.hpp"

#include <doctest/doctest.h>

#include "backends/xnnpack/check.hpp"

using namespace davit;
using support::Net;
using xnnpack_check::faults;
using xnnpack_check::real;

TEST_CASE("products: linear, addmm, mm, bmm, constant or not, biases of any shape") {
  Net n;
  const auto w = n.weight("w", {5, 7});
  const auto m = n.weight("mm", {7, 5});
  const auto bias = n.weight("bias", {5});
  const auto column = n.weight("column", {4, 1});
  const auto x = n.input("x", {4, 7});
  const auto y = n.input("y", {7, 5});
  const auto p = n.input("p", {3, 4, 7});
  const auto q = n.input("q", {3, 5, 7});
  const auto swapped =
      n.op("aten.permute.default", "swapped", {3, 7, 5}, {{"self", n.v(q)}, {"dims", n.ints({0, 2, 1})}});
  const auto linear =
      n.op("aten.linear.default", "l", {3, 4, 5}, {{"input", n.v(p)}, {"weight", n.v(w)}, {"bias", n.v(bias)}});
  const auto addmm =
      n.op("aten.addmm.default", "a", {4, 5}, {{"self", n.v(column)}, {"mat1", n.v(x)}, {"mat2", n.v(m)}});
  const auto mm = n.op("aten.mm.default", "b", {4, 5}, {{"self", n.v(x)}, {"mat2", n.v(y)}});
  const auto bmm = n.op("aten.bmm.default", "c", {3, 4, 5}, {{"self", n.v(p)}, {"mat2", n.v(swapped)}});
  CHECK(faults(n.finish({linear, n.relu("r", addmm, {4, 5}), mm, bmm}), n.sample()) == "");
}
