// SPDX-License-Identifier: MIT
#include "davit/embed/sized_method.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "support/static_control.hpp"
#include "support/static_toy.hpp"

namespace {

using namespace davit;
using namespace static_toy;

/// y = relu(x + x) for N rows of two, and the sum of its rows and s, which is state.
template <std::int64_t N>
constexpr GraphModule make_rows() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId s = b.input("s", ScalarType::float32, {2}), x = b.input("x", ScalarType::float32, {N, 2});
  const ValueId two =
      b.call("aten.add.Tensor", {{"self", b.value(x)}, {"other", b.value(x)}}, "two", ScalarType::float32, {N, 2});
  const ValueId y = b.call("aten.relu.default", {{"self", b.value(two)}}, "y", ScalarType::float32, {N, 2});
  const ValueId sum =
      b.call("aten.sum.dim_IntList", {{"self", b.value(y)}, {"dim", b.ints({0})}, {"keepdim", b.boolean(false)}}, "sum",
             ScalarType::float32, {2});
  const ValueId total =
      b.call("aten.add.Tensor", {{"self", b.value(sum)}, {"other", b.value(s)}}, "total", ScalarType::float32, {2});
  b.end_graph({total, y, total});
  return std::move(b).finish();
}
template <std::int64_t N>
struct rows_of : static_program_of<make_rows<N>> {
  static constexpr std::array inputs{state_input(), user_input()};
  static constexpr std::array outputs{mutation_of(0), user_output(), user_output()};
  static constexpr std::array<std::int64_t, 1> symbols{N};
};
struct rows {
  static constexpr std::string_view name = "rows";
  using sizes = static_sizes<rows_of<1>, rows_of<2>, rows_of<5>>;
};
using Rows = static_module<rows, portable>;
template <class P>
using SizesOf = detail::SizeTable<typename P::sizes, detail::StaticSettings<portable>>;

constexpr bool runs_each_size() {
  Rows module;
  std::array<float, 10> y{};
  std::array<float, 2> total{};
  const std::array<float, 10> x{1, -2, 3, 4, -5, 6, 7, 8, 9, 10};
  const auto run = [&](std::size_t n) {
    return module.forward(with_dims(n), std::span(x).first(2 * n), std::span(y).first(2 * n), total);
  };
  bool ok = run(2).has_value() && total == std::array<float, 2>{8, 8} && y[1] == 0 && y[2] == 6;
  ok = ok && run(1).has_value() && total == std::array<float, 2>{10, 8};
  ok = ok && run(5).has_value() && total == std::array<float, 2>{50, 64} && y[9] == 20;
  const Status none = run(3);
  ok = ok && !none && none.error().code() == ErrorCode::invalid_shape && total == std::array<float, 2>{50, 64};
  module.reset();
  return ok && run(1).has_value() && total == std::array<float, 2>{2, 0};
}
static_assert(runs_each_size());
static_assert(Rows::arena_bytes == static_module<rows_of<5>, portable>::arena_bytes, "what the largest size needs");
static_assert(Rows::state_bytes == 8 && Rows::name == "rows");

/// Over the N rows of x: s = s + x_i.
template <std::int64_t N>
constexpr GraphModule make_scan() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId s = b.input("s", ScalarType::float32, {2}), x = b.input("x", ScalarType::float32, {N, 2});
  const GraphId body = b.begin_graph("body");
  {
    const ValueId s1 = b.input("s1", ScalarType::float32, {2}), x1 = b.input("x1", ScalarType::float32, {2});
    const ValueId sum =
        b.call("aten.add.Tensor", {{"self", b.value(s1)}, {"other", b.value(x1)}}, "sum", ScalarType::float32, {2});
    b.end_graph({sum, sum});
  }
  const ValueId last = b.tensor("last", ScalarType::float32, {2}), sums = b.tensor("sums", ScalarType::float32, {N, 2});
  static_control::node(
      b, "higher_order.scan",
      {b.subgraph(body), b.tensors({s}), b.tensors({x}), b.integer(0), b.boolean(false), b.tensors({})}, {last, sums});
  b.end_graph({last, sums});
  return std::move(b).finish();
}
template <std::int64_t N>
struct scan_of : static_program_of<make_scan<N>> {
  static constexpr std::array<std::int64_t, 1> symbols{N};
};
struct scan {
  static constexpr std::string_view name = "scan";
  using sizes = static_sizes<scan_of<2>, scan_of<3>, scan_of<4>>;
};
constexpr bool scans_each_size() {
  static_module<scan, portable> module;
  const std::array<float, 2> s{100, 200};
  const std::array<float, 8> x{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<float, 2> last{};
  std::array<float, 8> sums{};
  bool ok = module.forward(with_dims(4), s, x, last, sums).has_value() && last == std::array<float, 2>{116, 220} &&
            sums[0] == 101 && sums[7] == 220;
  sums = {};
  ok = ok && module.forward(with_dims(2), s, x, last, sums).has_value() && last == std::array<float, 2>{104, 206};
  return ok && sums == std::array<float, 8>{101, 202, 104, 206};
}
static_assert(scans_each_size() && static_module<scan, portable>::name == "scan");

}  // namespace

TEST_CASE("a loop's number of iterations follows the size") {
  CHECK(scans_each_size());
  CHECK(SizesOf<scan>::codes == 1);
}
TEST_CASE("sizes come with the call") { CHECK(runs_each_size()); }

TEST_CASE("tensors have at least the elements of the size") {
  Rows module;
  const std::array<float, 10> x{1, 2, 3, 4, 5};
  std::array<float, 10> y{};
  std::array<float, 2> total{};
  CHECK(module.forward(with_dims(2), x, y, total));
  CHECK(y == std::array<float, 10>{2, 4, 6, 8});
  const Status short_output = module.forward(with_dims(2), x, std::span(y).first(3), total);
  REQUIRE(!short_output);
  CHECK(short_output.error().code() == ErrorCode::invalid_shape);
  CHECK(total == std::array<float, 2>{8, 12});
}

TEST_CASE("sizes that differ in numbers share their code") {
  using Sizes = SizesOf<rows>;
  CHECK(Sizes::count == 3);
  CHECK(Sizes::codes <= 2);  // a size of one row may have its own
  CHECK(Sizes::symbols[2] == std::array<std::int64_t, 1>{5});
  CHECK(Sizes::elements_of<0> == std::array<std::uint32_t, 3>{2, 4, 10});
  CHECK(Sizes::max_elements<1> == 10);
}
