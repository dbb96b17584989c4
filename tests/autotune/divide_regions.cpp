// SPDX-License-Identifier: MIT
#include "davit/autotune/divide_regions.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "../support/net.hpp"

using namespace davit;
using support::Draft;
using support::Net;
using Bits = std::vector<std::uint64_t>;
using Numbers = std::vector<std::uint32_t>;

namespace {

constexpr Regions divide(const ProgramTables& program, const Bits& support, RegionOptions options = {.regions = 1}) {
  const ValueUsers users = value_users(program.view());
  return divide_regions(program, support, users, options);
}
constexpr ProgramTables chain(std::uint32_t length) {
  Draft d;
  ValueId v = d.user("x", {4});
  for (std::uint32_t i = 0; i < length; ++i) v = d.add(concat("n", i), v, 1.0);
  d.output(v);
  return d.finish();
}

constexpr bool check_runs() {
  const Regions r = divide(chain(6), {3, 3, 1, 1, 0, 3});
  return r.order == Numbers{0, 1, 2, 3, 4, 5} && r.first == Numbers{0, 2, 4, 5, 6} && r.support == Bits{3, 1, 0, 3} &&
         r.count() == 4;
}
static_assert(check_runs());

constexpr bool check_pieces() {
  return divide(chain(8), Bits(8, 3), {.regions = 4}).first == Numbers{0, 2, 4, 6, 8} &&
         divide(chain(8), Bits(8, 1), {.regions = 4}).first == Numbers{0, 8} &&  // one backend: nothing to choose
         divide(chain(2), Bits(2, 3), {.regions = 100}).first == Numbers{0, 1, 2} && divide(chain(0), {}).count() == 0;
}
static_assert(check_pieces());

/// True if each stretch of regions could be a partition: no region in it needs the result of a later region.
bool in_order(GraphModuleView graph, const Regions& r) {
  std::vector<std::uint32_t> position(graph.nodes.size(), no_id);
  for (std::uint32_t p = 0; p < r.order.size(); ++p) position[r.order[p]] = p;
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    bool ordered = position[n] != no_id;
    for_each_producer(graph, n, [&](NodeId p) { ordered = ordered && position[p] < position[n]; });
    if (!ordered) return false;
  }
  return r.order.size() == graph.nodes.size();
}

}  // namespace

TEST_CASE("stretches of equal support") { CHECK(check_runs()); }

TEST_CASE("large stretches are divided evenly, unless only one backend takes them") { CHECK(check_pieces()); }

TEST_CASE("branches that other backends take come one after the other") {
  Draft d;
  const ValueId x = d.user("x");
  ValueId a = x, b = x;
  for (int i = 0; i < 3; ++i) {
    a = d.add(concat("a", i), a, 1.0);
    b = d.mul(concat("b", i), b, 2.0);
  }
  d.output(d.add("sum", a, b));
  const ExportedProgram program = d.finish();
  const Regions r = divide(program, {1, 2, 1, 2, 1, 2, 1});
  CHECK(r.order == Numbers{0, 2, 4, 1, 3, 5, 6});
  CHECK(r.first == Numbers{0, 3, 6, 7});
}

TEST_CASE("cuts are at single values, before nodes that read weights") {
  Net net;  // two blocks of convolution, norm, relu, and a sum with the block's input
  const std::initializer_list<std::int64_t> like = {1, 8, 16, 16};
  std::vector<Net::Value> w, g;
  for (int i = 0; i < 4; ++i) w.push_back(net.weight(concat("w", i), {8, 8, 3, 3}));
  const Net::Value scale = net.weight("scale", {8}), shift = net.weight("shift", {8}), mean = net.weight("mean", {8}),
                   variance = net.weight("variance", {8}, 0.5, 1);
  Net::Value v = net.input("x", like);
  for (int block = 0; block < 2; ++block) {
    const Net::Value before = v;
    for (int i = 0; i < 2; ++i) {
      v = net.conv(concat("c", block, i), v, w[static_cast<std::size_t>(2 * block + i)], like, 1, 1);
      v = net.norm(concat("b", block, i), v, scale, shift, mean, variance, like);
      v = net.relu(concat("r", block, i), v, like);
    }
    v = net.add(concat("s", block), v, before, like);
  }
  const ExportedProgram program = net.finish({v});
  const Regions r = divide(program, Bits(14, 3), {.regions = 2});
  CHECK(r.first == Numbers{0, 7, 14});
}

TEST_CASE("a cut where one value passes is better than one before weights where two do") {
  Net net;  // blocks of relu, convolution, and a sum with the block's input
  const std::initializer_list<std::int64_t> like = {1, 8, 16, 16};
  std::vector<Net::Value> w;
  for (int i = 0; i < 4; ++i) w.push_back(net.weight(concat("w", i), {8, 8, 3, 3}));
  Net::Value v = net.input("x", like);
  for (int i = 0; i < 4; ++i) {
    const Net::Value r = net.relu(concat("r", i), v, like);
    v = net.add(concat("s", i), net.conv(concat("c", i), r, w[static_cast<std::size_t>(i)], like, 1, 1), v, like);
  }
  CHECK(divide(net.finish({v}), Bits(12, 3), {.regions = 4}).first == Numbers{0, 3, 6, 9, 12});
}

TEST_CASE("regions end with their graph; control flow is a region of its own") {
  Draft d;
  const ValueId x = d.user("x");
  const ValueId p = d.gt("p", x, 0.0);
  d.output(d.cond("out", p, {x}, [&](auto in) { return d.neg("y", in[0]); }, [](auto in) { return in[0]; }));
  const ExportedProgram program = d.finish();
  const GraphModuleView graph = program.view();
  Bits support(graph.nodes.size(), 3);
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    if (graph.target(graph.nodes[n]) == "higher_order.cond") support[n] = 0;
  const Regions r = divide(program, support);
  REQUIRE(r.count() == 3);
  for (std::uint32_t i = 0; i < r.count(); ++i)
    for (const NodeId n : r.nodes(i, i + 1)) CHECK(graph.nodes[n].graph == r.graph[i]);
  CHECK(in_order(graph, r));
}

TEST_CASE("random programs: an execution order, in stretches of equal support") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Draft d;
    std::vector<ValueId> values{d.user("x", {3})};
    const auto count = static_cast<std::uint32_t>(1 + random() % 40);
    Bits support;
    for (std::uint32_t i = 0; i < count; ++i) {
      values.push_back(d.add(concat("n", i), values[random() % values.size()], values[random() % values.size()]));
      support.push_back(random() % 4);
    }
    d.output(values.back());
    const ExportedProgram program = d.finish();
    const Regions r = divide(program, support, {.regions = 1 + static_cast<std::uint32_t>(random() % 8)});
    REQUIRE(in_order(program.view(), r));
    REQUIRE(r.first.back() == count);
    for (std::uint32_t i = 0; i < r.count(); ++i) {
      REQUIRE(!r.nodes(i, i + 1).empty());
      for (const NodeId n : r.nodes(i, i + 1)) REQUIRE(support[n] == r.support[i]);
    }
  }
}

TEST_CASE("sizes that are hostile do not overflow") {
  Draft d;
  const std::int64_t large = INT64_MAX / 2;
  ValueId v = d.user("x", {large, large, large});
  for (int i = 0; i < 6; ++i) v = d.add(concat("n", i), v, 1.0);
  d.output(v);
  CHECK(divide(d.finish(), Bits(6, 3), {.regions = 3}).first == Numbers{0, 2, 4, 6});
}
