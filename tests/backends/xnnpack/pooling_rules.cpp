// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/pooling_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "backends/xnnpack/check.hpp"

using namespace davit;
using support::Net;
using xnnpack_check::faults;

TEST_CASE("pools: rounding up, averages, adaptive, global, and means over any dimensions") {
  Net n;
  const auto x = n.input("x", {2, 7, 12, 10});
  const auto pool = n.op("aten.max_pool2d.default", "m", {2, 7, 6, 5},
                         {{"self", n.v(x)},
                          {"kernel_size", n.ints({3, 2})},
                          {"stride", n.ints({2, 2})},
                          {"padding", n.ints({0, 0})},
                          {"dilation", n.ints({1, 1})},
                          {"ceil_mode", GraphBuilder::boolean(true)}});
  const auto average = n.op("aten.avg_pool2d.default", "a", {2, 7, 4, 3},
                            {{"self", n.v(x)}, {"kernel_size", n.ints({3, 4})}, {"stride", n.ints({3, 3})}});
  const auto uneven = n.op("aten.avg_pool2d.default", "u", {2, 7, 6, 5},
                           {{"self", n.v(x)},
                            {"kernel_size", n.ints({3, 3})},
                            {"stride", n.ints({2, 2})},
                            {"padding", n.ints({1, 1})},
                            {"ceil_mode", GraphBuilder::boolean(false)},
                            {"count_include_pad", GraphBuilder::boolean(false)}});
  const auto adaptive =
      n.op("aten._adaptive_avg_pool2d.default", "d", {2, 7, 3, 5}, {{"self", n.v(x)}, {"output_size", n.ints({3, 5})}});
  const auto global =
      n.op("aten._adaptive_avg_pool2d.default", "g", {2, 7, 1, 1}, {{"self", n.v(x)}, {"output_size", n.ints({1, 1})}});
  const auto spatial = n.op("aten.mean.dim", "s", {2, 7}, {{"self", n.v(x)}, {"dim", n.ints({-1, -2})}});
  const auto last = n.op("aten.mean.dim", "l", {2, 7, 12, 1},
                         {{"self", n.v(x)}, {"dim", n.ints({3})}, {"keepdim", GraphBuilder::boolean(true)}});
  const auto outer = n.op("aten.mean.dim", "o", {7, 10}, {{"self", n.v(x)}, {"dim", n.ints({0, 2})}});
  const auto all = n.op("aten.mean.default", "all", {}, {{"self", n.v(x)}});
  CHECK(faults(n.finish({pool, average, uneven, adaptive, global, spatial, last, outer, all}), n.sample()) == "");
}

TEST_CASE(
    "a max pool with a stride beyond its window is refused, an average is not: not every version of XNNPACK has it") {
  for (const bool maximum : {true, false}) {
    Net n;
    const auto x = n.input("x", {2, 3, 5, 7});
    const ExportedProgram program =
        n.finish({n.op(maximum ? "aten.max_pool2d.default" : "aten.avg_pool2d.default", "p", {2, 3, 4, 4},
                       {{"self", n.v(x)}, {"kernel_size", n.ints({2, 1})}, {"stride", n.ints({1, 2})}})});
    CHECK(xnnpack_check::reason(program) == (maximum ? "a stride beyond the window" : ""));
    if (!maximum) CHECK(faults(program, n.sample()) == "");
  }
}

TEST_CASE("means between bounds, of rows and of columns that do not fill a vector, keep a NaN") {
  Net n;
  const auto x = n.input("x", {2, 70, 3, 5});
  const auto w = n.weight("w", {70, 70, 1, 1}, 0.1);
  const auto c = n.conv("c", x, w, {2, 70, 3, 5});
  const auto planes = n.op("aten.mean.dim", "planes", {2, 70}, {{"self", n.v(c)}, {"dim", n.ints({2, 3})}});
  const auto rows = n.op("aten.mean.dim", "rows", {2, 70, 3}, {{"self", n.v(c)}, {"dim", n.ints({3})}});
  CHECK(faults(n.finish({n.relu("a", planes, {2, 70}), n.relu("b", rows, {2, 70, 3})}), n.sample()) == "");
}

TEST_CASE("dilated max pools with windows that reach into the padding") {
  const auto pool = [](std::initializer_list<std::int64_t> kernel, std::initializer_list<std::int64_t> padding,
                       std::initializer_list<std::int64_t> dilation, support::Sizes in, support::Sizes out,
                       bool leaves) {
    Net n;
    const auto x = n.input("x", in);
    const ExportedProgram program = n.finish({n.op("aten.max_pool2d.default", "m", out,
                                                   {{"self", n.v(x)},
                                                    {"kernel_size", n.ints(kernel)},
                                                    {"stride", n.ints({1, 1})},
                                                    {"padding", n.ints(padding)},
                                                    {"dilation", n.ints(dilation)}})});
    CHECK(xnnpack_check::reason(program) == (leaves ? "a dilated window that leaves the image" : ""));
    if (!leaves) CHECK(faults(program, n.sample()) == "");
  };
  pool({2, 2}, {1, 1}, {1, 2}, {1, 3, 6, 6}, {1, 3, 7, 6}, true);
  pool({4, 2}, {2, 0}, {2, 1}, {1, 3, 6, 6}, {1, 3, 4, 5}, true);
  pool({2, 2}, {0, 1}, {1, 3}, {1, 3, 6, 2}, {1, 3, 5, 1}, true);
  pool({3, 3}, {1, 1}, {2, 2}, {1, 3, 6, 6}, {1, 3, 4, 4}, false);
  pool({2, 3}, {0, 1}, {1, 2}, {1, 3, 6, 7}, {1, 3, 5, 5}, false);
  pool({2, 2}, {1, 1}, {1, 1}, {1, 3, 6, 6}, {1, 3, 7, 7}, false);
}
