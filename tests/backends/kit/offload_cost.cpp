// SPDX-License-Identifier: MIT
#include "davit/backends/kit/offload_cost.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "davit/lowering/value_sources.hpp"
#include "support/net.hpp"
#include "support/toy_backend.hpp"

using namespace davit;
using support::Net;

namespace {

/// Calls `ask` as a partitioner does, about `count` nodes from `first` on.
template <class Ask>
auto asked(const ExportedProgram& program, std::size_t first, std::size_t count, Ask&& ask) {
  GraphModuleView graph = program.view();
  const std::vector<std::uint8_t> used = used_values(graph), constant = constant_values(program);
  graph.used = used.data();
  graph.constant = constant.data();
  std::vector<NodeId> nodes(count);
  std::iota(nodes.begin(), nodes.end(), static_cast<NodeId>(first));
  return ask(graph, std::span<const NodeId>(nodes));
}
/// True if the nodes of a program pay the border of their region.
bool pays(const ExportedProgram& program, const LibraryRates& rates, std::size_t first, std::size_t count) {
  return asked(program, first, count, [&](GraphModuleView graph, std::span<const NodeId> nodes) {
    return pays_its_border(graph, nodes, rates);
  });
}
/// The estimated time of the nodes.
double estimate(const ExportedProgram& program, const LibrarySpeed& speed, std::size_t first, std::size_t count) {
  return asked(program, first, count,
               [&](GraphModuleView graph, std::span<const NodeId> nodes) { return estimated_ns(graph, nodes, speed); });
}

}  // namespace

TEST_CASE("products are worth a library, and the operators that it names; others are not") {
  support::Net n;
  const auto x = n.input("x", {2, 3});
  const auto view = n.op("aten.view.default", "view", {3, 2}, {{"self", n.v(x)}, {"size", n.ints({3, 2})}});
  const auto product = n.op("aten.mm.default", "product", {2, 2}, {{"self", n.v(x)}, {"mat2", n.v(view)}});
  const auto tanh = n.op("aten.tanh.default", "tanh", {2, 2}, {{"self", n.v(product)}});
  const ExportedProgram program = n.finish({n.op("tanh.own.default", "own", {2, 2}, {{"self", n.v(tanh)}})});
  CHECK(!is_worth_a_library(program.view(), 0));
  CHECK(is_worth_a_library(program.view(), 1));
  CHECK(!is_worth_a_library(program.view(), 2));
  CHECK(is_worth_a_library(program.view(), 2, {"exp", "tanh"}));
  CHECK(!is_worth_a_library(program.view(), 3, {"own", "tanh"}));
}

TEST_CASE("a node's work: its kind, and its multiplications") {
  Net n;
  const auto x = n.input("x", {2, 16, 10, 12}), rows = n.input("rows", {6, 20});
  const auto dense = n.conv("dense", x, n.weight("w0", {32, 16, 3, 3}), {2, 32, 10, 12}, 1, 1);
  const auto depthwise = n.conv("depthwise", x, n.weight("w1", {16, 1, 3, 3}), {2, 16, 5, 6}, 2, 1, 16);
  const auto of_few = n.conv("of_few", x, n.weight("w2", {32, 4, 1, 1}), {2, 32, 10, 12}, 1, 0, 4);
  const auto to_few = n.conv("to_few", x, n.weight("w3", {4, 16, 1, 1}), {2, 4, 10, 12});
  const auto product =
      n.op("aten.linear.default", "product", {6, 8}, {{"input", n.v(rows)}, {"weight", n.v(n.weight("w4", {8, 20}))}});
  const auto pool =
      n.op("aten.max_pool2d.default", "pool", {2, 16, 5, 6}, {{"self", n.v(x)}, {"kernel_size", n.ints({2, 2})}});
  const auto transposed = n.op("aten.convolution.default", "transposed", {2, 8, 20, 24},
                               {{"input", n.v(x)},
                                {"weight", n.v(n.weight("w5", {16, 8, 2, 2}))},
                                {"bias", {}},
                                {"stride", n.ints({2, 2})},
                                {"padding", n.ints({0, 0})},
                                {"dilation", n.ints({1, 1})},
                                {"transposed", GraphBuilder::boolean(true)},
                                {"output_padding", n.ints({0, 0})},
                                {"groups", n.i(1)}});
  const ExportedProgram program =
      n.finish({dense, depthwise, of_few, to_few, product, pool, transposed, n.relu("y", x, {2, 16, 10, 12})});
  const auto is = [&](std::string_view node, WorkKind kind, double amount) {
    CAPTURE(node);
    const NodeWork work = work_of(program.view(), support::find_node(program.view(), node));
    CHECK(work.kind == kind);
    CHECK(work.amount == amount);
  };
  is("dense", WorkKind::convolution, 2 * 32 * 120 * 16 * 9);
  is("depthwise", WorkKind::depthwise_convolution, 2 * 16 * 30 * 9);
  is("of_few", WorkKind::convolution_of_few, 2 * 32 * 120 * 4);
  is("to_few", WorkKind::convolution_to_few, 2 * 4 * 120 * 16);
  is("product", WorkKind::product, 6 * 8 * 20);
  is("pool", WorkKind::pooling, 2 * 16 * 30 * 4);
  is("transposed", WorkKind::other, 0);
  is("y", WorkKind::other, 0);
  CHECK(is_worth_a_library(program.view(), support::find_node(program.view(), "dense")));
  CHECK(!is_worth_a_library(program.view(), support::find_node(program.view(), "transposed")));
}

TEST_CASE("a region pays its border if its work saves more than its border costs") {
  Net n;
  const auto w = n.weight("w", {64, 64, 1, 1}, 0.1), v = n.weight("v", {64, 1, 3, 3}, 0.1);
  const auto x =
      n.input("x", {1, 64, 32, 32});  // 65,536 elements; a pointwise convolution has 64 multiplications per element
  const auto a = n.conv("a", x, w, {1, 64, 32, 32});
  const auto b = n.conv("b", a, w, {1, 64, 32, 32});
  const auto c = n.conv("c", b, v, {1, 64, 32, 32}, 1, 1, 64);
  const ExportedProgram program = n.finish({n.relu("y", c, {1, 64, 32, 32})});
  const LibraryRates rates{.convolution = 40, .depthwise_convolution = 9};
  CHECK_FALSE(pays(program, rates, 0, 1));  // 1.6 of 2, and 0.25 are below the threshold
  CHECK(pays(program, rates, 0, 2));        // 3.2 of 2
  CHECK(pays(program, {.convolution = 35}, 0, 1));
  CHECK_FALSE(pays(program, rates, 2, 2));  // 1 of 2
  CHECK(pays(program, rates, 3, 1));        // which reorders nothing
  CHECK_FALSE(pays(program, {.convolution = 40, .copies_all = true}, 3, 1));
  CHECK_FALSE(pays(program, {.convolution = -40}, 0, 2));
  CHECK_FALSE(pays(program, {}, 0, 4));

  Net m;  // values with users outside leave the region; a weight crosses its border only if it is passed
  const auto x2 = m.input("x", {1, 64, 32, 32}), given = m.input("given", {1024, 64, 1, 1});
  const auto a2 = m.conv("a", x2, m.weight("w", {1024, 64, 1, 1}, 0.1), {1, 1024, 32, 32});
  const auto b2 = m.conv("b", a2, m.weight("v", {64, 1024, 1, 1}, 0.1), {1, 64, 32, 32});
  const auto c2 = m.conv("c", x2, given, {1, 1024, 32, 32});
  const ExportedProgram branches = m.finish({m.relu("y", a2, {1, 1024, 32, 32}), b2, c2});
  constexpr double once = 65536.0 * 1024, border = 65536 * 2, wide = 65536 * 16;
  CHECK(pays(branches, {.convolution = 2 * once / (border + wide - 16000)}, 0, 2));
  CHECK_FALSE(pays(branches, {.convolution = 2 * once / (border + wide - 17000)}, 0, 2));
  CHECK(pays(branches, {.convolution = once / (65536 + wide + 65536 - 16000)}, 2, 1));
  CHECK_FALSE(pays(branches, {.convolution = once / (65536 + wide + 65536 - 17000)}, 2, 1));

  Net places;  // unused values do not leave
  const auto x4 = places.input("x", {1, 16, 32, 32});
  const auto pooled =
      places.many("aten.max_pool2d_with_indices.default", {{"pooled", {1, 16, 32, 32}}, {"at", {1, 16, 32, 32}}},
                  {{"self", Net::v(x4)},
                   {"kernel_size", places.ints({3, 3})},
                   {"stride", places.ints({1, 1})},
                   {"padding", places.ints({1, 1})}});
  const ExportedProgram unused = places.finish({pooled[0]});
  CHECK(pays(unused, {.pooling = 16384.0 * 9 / 17000}, 0, 1));
  CHECK_FALSE(pays(unused, {.pooling = 16384.0 * 9 / 16000}, 0, 1));

  Net few;  // some microseconds do not pay for another partition
  const auto x3 = few.input("x", {1, 8, 16, 16});
  const ExportedProgram small = few.finish({few.conv("y", x3, few.weight("w", {8, 1, 3, 3}), {1, 8, 16, 16}, 1, 1, 8)});
  CHECK(pays(small, {}, 0, 1));
}

TEST_CASE("work of other dtypes is not judged") {
  Net n;
  const auto x = n.input("x", {256, 256}), w = n.weight("w", {256, 256});
  ExportedProgram program = n.finish({n.op("aten.mm.default", "y", {256, 256}, {{"self", n.v(x)}, {"mat2", n.v(w)}})});
  CHECK_FALSE(pays(program, {.product = -1, .copies_all = true}, 0, 1));
  for (Value& v : program.graph_module.values) v.dtype = ScalarType::bfloat16;
  CHECK(pays(program, {.product = -1, .copies_all = true}, 0, 1));

  Net q;
  const auto bytes = q.input("bytes", {256, 256});
  const auto floats =
      q.op("quantized_decomposed.dequantize_per_tensor.default", "floats", {256, 256}, {{"input", q.v(bytes)}});
  const ExportedProgram quantized = q.finish(
      {q.op("aten.mm.default", "y", {256, 256}, {{"self", q.v(floats)}, {"mat2", q.v(q.weight("w", {256, 256}))}})});
  CHECK(pays(quantized, {.product = -1, .copies_all = true}, 0, 2));
  CHECK_FALSE(pays(quantized, {.product = -1, .copies_all = true}, 1, 1));
}

TEST_CASE("an estimate: the multiplications of full vectors of channels, by kind") {
  Net n;
  const auto x = n.input("x", {1, 24, 10, 10}), z = n.input("z", {1, 16, 8, 8}), rgb = n.input("rgb", {1, 3, 10, 10});
  const auto full = n.conv("full", x, n.weight("w0", {32, 24, 3, 3}), {1, 32, 10, 10}, 1, 1);
  const auto strided = n.conv("strided", x, n.weight("w1", {32, 24, 3, 3}), {1, 32, 5, 5}, 2, 1);
  const auto small = n.conv("small", z, n.weight("w2", {32, 16, 3, 3}), {1, 32, 8, 8}, 1, 1);
  const auto depthwise = n.conv("depthwise", x, n.weight("w3", {24, 1, 3, 3}), {1, 24, 10, 10}, 1, 1, 24);
  const auto grouped = n.conv("grouped", x, n.weight("w4", {24, 4, 3, 3}), {1, 24, 10, 10}, 1, 1, 6);
  const auto few = n.conv("few", x, n.weight("w5", {4, 24, 3, 3}), {1, 4, 10, 10}, 1, 1);
  const auto colours = n.conv("colours", rgb, n.weight("w6", {16, 3, 3, 3}), {1, 16, 10, 10}, 1, 1);
  const ExportedProgram program = n.finish({full, strided, small, depthwise, grouped, few, colours});
  const auto ns = [&](std::string_view node, const LibrarySpeed& speed) {
    return estimate(program, speed, support::find_node(program.view(), node), 1);
  };
  const LibrarySpeed plain{.multiplications = 10},
      blocks{.multiplications = 10, .channel_block = 16, .filter_block = 16};
  CHECK(ns("full", plain) == doctest::Approx(32 * 100 * 24 * 9 / 10.0));
  CHECK(ns("full", blocks) == doctest::Approx(32 * 100 * 32 * 9 / 10.0));
  CHECK(ns("full", {.multiplications = 10, .winograd = 20}) == doctest::Approx(32 * 100 * 24 * 9 / 20.0));
  CHECK(ns("full", {.multiplications = 10, .idle_rows = 50}) == doctest::Approx(32 * 100 * 24 * 9 / 10.0 * 1.5));
  CHECK(ns("strided", {.multiplications = 10, .winograd = 20}) == doctest::Approx(32 * 25 * 24 * 9 / 10.0));
  CHECK(ns("small", {.multiplications = 10, .winograd = 20}) == doctest::Approx(32 * 64 * 16 * 9 / 10.0));
  CHECK(ns("depthwise", {.depthwise = 5, .channel_block = 16}) == doctest::Approx(24 * 100 * 9 / 5.0));
  CHECK(ns("grouped", blocks) == doctest::Approx(24 * 100 * 4 * 9 / 10.0 * 2));
  CHECK(ns("few", blocks) == doctest::Approx(16 * 100 * 32 * 9 / 10.0));
  CHECK(ns("few", {.few_filters = 5, .channel_block = 16}) == doctest::Approx(4 * 100 * 24 * 9 / 5.0));
  CHECK(ns("colours", blocks) == doctest::Approx(16 * 100 * 3 * 9 / 10.0));  // no full vectors of channels
  CHECK(ns("full", {.node_ns = 7, .multiplications = 1e30}) == doctest::Approx(7));
}

TEST_CASE("an estimate: products by their rows, poolings, averages, and operators behind a product") {
  Net n;
  const auto rows = n.input("rows", {4, 20}), batch = n.input("batch", {3, 2, 20}),
             others = n.input("others", {3, 20, 5});
  const auto x = n.input("x", {1, 8, 6, 6});
  const auto linear =
      n.op("aten.linear.default", "linear", {4, 8}, {{"input", n.v(rows)}, {"weight", n.v(n.weight("w", {8, 20}))}});
  const auto bmm = n.op("aten.bmm.default", "bmm", {3, 2, 5}, {{"self", n.v(batch)}, {"mat2", n.v(others)}});
  const auto pool =
      n.op("aten.max_pool2d.default", "pool", {1, 8, 3, 3}, {{"self", n.v(x)}, {"kernel_size", n.ints({2, 2})}});
  const auto mean = n.op("aten.mean.dim", "mean", {1, 8}, {{"self", n.v(x)}, {"dim", n.ints({2, 3})}});
  const auto fused = n.relu("fused", linear, {4, 8});
  const auto apart = n.relu("apart", x, {1, 8, 6, 6});
  const ExportedProgram program = n.finish({fused, bmm, pool, mean, apart});
  const auto ns = [&](std::string_view node, const LibrarySpeed& speed, std::size_t count = 1) {
    return estimate(program, speed, support::find_node(program.view(), node), count);
  };
  CHECK(ns("linear", {.multiplications = 10, .idle_rows = 2}) == doctest::Approx(4 * 8 * 20 / 10.0 * 1.5));
  CHECK(ns("bmm", {.multiplications = 10, .idle_rows = 2}) == doctest::Approx(3 * 2 * 5 * 20 / 10.0 * 2));
  CHECK(ns("pool", {.pooled = 4}) == doctest::Approx(8 * 9 * 4 / 4.0));
  CHECK(ns("mean", {.averaged = 4}) == doctest::Approx(8 * 36 / 4.0));
  CHECK(ns("apart", {.node_ns = 3, .element_ns = 2, .fused_ns = 1}) == doctest::Approx(3 + 8 * 36 * 2));
  CHECK(ns("fused", {.node_ns = 3, .element_ns = 2, .fused_ns = 1}) ==
        doctest::Approx(3 + 32 * 2));  // no product in the region
  const LibrarySpeed free{
      .node_ns = 3, .multiplications = 1e30, .pooled = 1e30, .averaged = 1e30, .element_ns = 2, .fused_ns = 1};
  CHECK(ns("linear", free, 5) == doctest::Approx(3 + 3 + 3 + 3 + 32));  // and without a call of its own
}

TEST_CASE("an estimate: values that cross the border, and images that are reordered inside") {
  Net n;
  const auto x = n.input("x", {1, 16, 10, 10});
  const auto a = n.conv("a", x, n.weight("w0", {32, 16, 1, 1}), {1, 32, 10, 10});
  const auto s = n.op("aten.slice.Tensor", "s", {1, 32, 10, 8},
                      {{"self", n.v(a)}, {"dim", n.i(3)}, {"start", n.i(0)}, {"end", n.i(8)}});
  const auto r = n.relu("r", s, {1, 32, 10, 8});
  const ExportedProgram program = n.finish({n.conv("b", r, n.weight("w1", {8, 32, 1, 1}), {1, 8, 10, 8})});
  const auto ns = [&](const LibrarySpeed& speed, std::size_t first, std::size_t count) {
    LibrarySpeed but = speed;
    but.multiplications = 1e30;
    return estimate(program, but, first, count);
  };
  const LibrarySpeed border{.border_ns = 2};
  CHECK(ns(border, 0, 4) == doctest::Approx((1600 + 640) * 2));
  CHECK(ns(border, 0, 1) == doctest::Approx((1600 + 3200) * 2));
  CHECK(ns(border, 2, 1) == doctest::Approx((2560 + 2560) * 2 / 3.0));  // no image is reordered
  CHECK(ns({.layout_ns = 1, .border_ns = 2}, 0, 4) == doctest::Approx((1600 + 640) * 2 + 3200 + 2560));
  CHECK(ns({.moved_ns = 1}, 0, 4) == doctest::Approx(2560));
  CHECK(ns({.element_ns = 1, .fused_ns = 9}, 0, 4) == doctest::Approx(2560));  // a slice is between them
  CHECK(ns({}, 0, 4) == doctest::Approx(0));

  Net two;  // a part of a batch is strided
  const auto y = two.input("y", {2, 8, 10});
  const auto part = two.op("aten.slice.Tensor", "part", {2, 8, 6},
                           {{"self", two.v(y)}, {"dim", two.i(2)}, {"start", two.i(0)}, {"end", two.i(6)}});
  const auto wide = two.op("aten.conv1d.default", "wide", {2, 4, 6},
                           {{"input", two.v(part)}, {"weight", two.v(two.weight("w", {4, 8, 1}))}});
  const ExportedProgram batch = two.finish({wide, two.relu("bounded", part, {2, 8, 6})});
  const LibrarySpeed parts{
      .multiplications = 1e30, .element_ns = 1, .strided_ns = 4, .layout_ns = 1, .batch_layout_ns = 7};
  CHECK(estimate(batch, parts, 0, 2) == doctest::Approx(96 * 7));
  CHECK(estimate(batch, parts, 0, 3) == doctest::Approx(96 * 7 + 96 * 5));
  CHECK(estimate(batch, parts, 1, 2) == doctest::Approx(96));  // whose parts come from outside

  Net half;  // some channels of an image are strided
  const auto z = half.input("z", {1, 16, 10});
  const auto made = half.op("aten.conv1d.default", "made", {1, 32, 10},
                            {{"input", half.v(z)}, {"weight", half.v(half.weight("w", {32, 16, 1}))}});
  const auto gate = half.op("aten.slice.Tensor", "gate", {1, 16, 10},
                            {{"self", half.v(made)}, {"dim", half.i(1)}, {"start", half.i(0)}, {"end", half.i(16)}});
  const ExportedProgram gated = half.finish({half.relu("opened", gate, {1, 16, 10})});
  CHECK(estimate(gated, {.multiplications = 1e30, .element_ns = 1, .split_ns = 4}, 0, 3) == doctest::Approx(160 * 5));
  CHECK(estimate(gated, {.multiplications = 1e30, .element_ns = 1, .split_ns = 4}, 1, 2) == doctest::Approx(160));
}
