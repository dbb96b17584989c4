// SPDX-License-Identifier: MIT
#include "davit/backend/embed_graph.hpp"

#include <doctest/doctest.h>

#include <array>
#include <span>

#include "davit/program/graph_builder.hpp"

namespace {

using namespace davit;

constexpr GraphModule pooling() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId scale = b.input("scale", ScalarType::float32, {2});
  const ValueId x = b.input("x", ScalarType::float32, {1, 2, 4, 6});
  const ValueId y = b.call("aten.max_pool2d.default",
                           {{"self", b.value(x)},
                            {"kernel_size", b.ints({2})},
                            {"stride", b.ints({2, 3})},
                            {"padding", b.integer(1)},
                            {"ceil_mode", b.boolean(true)},
                            {"alpha", b.real(0.5)},
                            {"mode", b.string("nearest")}},
                           "y", ScalarType::float32, {1, 2, 2, 2});
  static_cast<void>(scale);
  b.end_graph({y});
  return std::move(b).finish();
}
inline constexpr std::array<float, 2> scales{3, 4};

constexpr bool reads_a_node() {
  const GraphModule module = pooling();
  const std::array<StaticInput, 2> inputs{constant_input(scales), user_input()};
  const std::array<std::uint8_t, 3> is_output{0, 0, 1};
  const std::array<std::uint8_t, 1> backend_of{1};
  const StaticGraphRows rows(module.view());
  const EmbedGraph g{rows.view(), inputs.data(), is_output.data(), backend_of.data(), 1};
  const EmbedNode n{g, 0};
  bool ok = n.output() == 2 && n.output(1) == no_id && !n.uses_output(1) && n.uses_output(0) && n.value("self") == 1 &&
            n.value("other") == no_id;
  ok = ok && n.integers<2>("kernel_size", 0) == std::array<std::int64_t, 2>{2, 2};
  ok = ok && n.integers<2>("stride", 0) == std::array<std::int64_t, 2>{2, 3};
  ok = ok && n.integers<2>("padding", 0) == std::array<std::int64_t, 2>{1, 1};
  ok = ok && n.integers<2>("dilation", 1) == std::array<std::int64_t, 2>{1, 1};
  ok = ok && n.flag("ceil_mode") && !n.flag("absent") && n.number("alpha") == 0.5 && n.integer("absent", 7) == 7 &&
       n.count("stride") == 2;
  ok = ok && n.items("stride").size() == 2 && n.items("padding").empty() && n.string("mode") == "nearest" &&
       n.string("alpha").empty() && n.integer("self", 3) == 0 && g.users(1) == 1 && g.users(0) == 0;
  ok = ok && g.rank(1) == 4 && g.size(1, -1) == 6 && g.size(1, 1) == 2 && g.numel(2) == 8 && !g.same_sizes(1, 2);
  ok = ok && g.elements<float>(0)[1] == 4 && g.elements<float>(1) == nullptr && g.elements<int>(0) == nullptr;
  return ok && n.is("aten.max_pool2d.default") && g.is_assigned(0, "aten.max_pool2d.default") &&
         !g.is_assigned(0, "aten.relu.default") && !g.is_assigned(no_id) && !g.is_probing();
}
static_assert(reads_a_node());

}  // namespace

TEST_CASE("a backend reads nodes by their arguments' names") { CHECK(reads_a_node()); }
