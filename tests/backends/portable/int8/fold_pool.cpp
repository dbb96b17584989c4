// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/fold_pool.hpp"

#include <doctest/doctest.h>
#include <array>

#include "support/int8_graph.hpp"

using namespace davit;
using namespace int8_graph;

namespace {

template <auto make>
struct program : static_program_of<one_input<make, ScalarType::int8, 1, 3, 6, 6>> {};
using Planes = std::array<std::int8_t, 108>;

constexpr ValueId input(GraphBuilder& b, ValueId x) { return dequantize(b, x, {0.02, -7}, {1, 3, 6, 6}); }
constexpr ValueId maxima(GraphBuilder& b, ValueId x) {
  return quantize(b,
                  call(b, "aten.max_pool2d.default", input(b, x), {1, 3, 3, 3},
                       {{"kernel_size", b.ints({3, 3})}, {"stride", b.ints({2, 2})}, {"padding", b.ints({1, 1})}}),
                  {0.02, -7}, {1, 3, 3, 3});
}
constexpr ValueId averages(GraphBuilder& b, ValueId x) {
  return quantize(b,
                  call(b, "aten.avg_pool2d.default", input(b, x), {1, 3, 2, 2},
                       {{"kernel_size", b.ints({3})}, {"stride", b.ints({})}}),
                  {0.015, 3}, {1, 3, 2, 2});
}
constexpr ValueId adaptive(GraphBuilder& b, ValueId x) {
  return quantize(
      b, call(b, "aten._adaptive_avg_pool2d.default", input(b, x), {1, 3, 3, 2}, {{"output_size", b.ints({3, 2})}}),
      {0.015, 3}, {1, 3, 3, 2});
}
constexpr ValueId mean(GraphBuilder& b, ValueId x) {
  return quantize(b, call(b, "aten.mean.dim", input(b, x), {1, 3}, {{"dim", b.ints({-1, -2})}}), {0.0107, 3}, {1, 3});
}

template <auto make, std::size_t Outputs>
Difference fold() {
  static_assert(static_module<program<make>, portable>::step_count == 1);
  return difference<program<make>, Planes, std::array<std::int8_t, Outputs>>();
}

}  // namespace

TEST_CASE("poolings and means of planes become one step") {
  CHECK(fold<maxima, 27>().largest == 0);
  CHECK(is_close(fold<averages, 12>()));
  CHECK(is_close(fold<adaptive, 18>()));
  CHECK(is_close(fold<mean, 3>()));
}
