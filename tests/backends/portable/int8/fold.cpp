// SPDX-License-Identifier: MIT
#include "davit/backends/portable/int8/fold.hpp"

#include <doctest/doctest.h>
#include <array>

#include "support/int8_graph.hpp"

using namespace davit;
using namespace int8_graph;

namespace {

constexpr ValueId softmax(GraphBuilder& b, ValueId x) {
  const ValueId y = call(b, "aten._softmax.default", dequantize(b, x, {0.05, 9}, {3, 5}), {3, 5},
                         {{"dim", b.integer(-1)}, {"half_to_float", b.boolean(false)}});
  return quantize(b, y, {1.0 / 256, -128}, {3, 5});
}
/// A function without a kernel on bytes, over the first dimension: computed in float between a dequantize and a
/// quantize.
constexpr ValueId softmax_of_columns(GraphBuilder& b, ValueId x) {
  const ValueId y = call(b, "aten._softmax.default", dequantize(b, x, {0.05, 9}, {3, 5}), {3, 5},
                         {{"dim", b.integer(0)}, {"half_to_float", b.boolean(false)}});
  return quantize(b, y, {1.0 / 256, -128}, {3, 5});
}
template <auto make>
struct program : static_program_of<one_input<make, ScalarType::int8, 3, 5>> {};
using Rows = std::array<std::int8_t, 15>;

}  // namespace

TEST_CASE("softmax of rows is one step; nodes without an integer kernel are computed in float") {
  static_assert(static_module<program<softmax>, portable>::step_count == 1);
  CHECK(is_close(difference<program<softmax>, Rows, Rows>()));
  CHECK(static_module<program<softmax_of_columns>, portable>::step_count == 3);
  CHECK(difference<program<softmax_of_columns>, Rows, Rows>().largest == 0);
}

TEST_CASE("programs on bytes run in constant evaluation") {
  constexpr auto y = [] {
    static_module<program<softmax>, portable> module;
    const Rows x{1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 127, -128, -128, -128, -128};
    Rows out{};
    (void)module.forward(x, out);
    return out;
  }();
  static_assert(y[5] == y[9] && y[10] > 120);
  static static_module<program<softmax>, portable> module;
  const Rows x{1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 127, -128, -128, -128, -128};
  Rows out{};
  CHECK(module.forward(x, out).has_value());
  CHECK(out == y);
}

TEST_CASE("code for speed gives the same bytes as code for size") {
  static static_module<program<softmax>, portable> small;
  static static_module<program<softmax>, tuned<portable, for_speed>> fast;
  const Rows x{1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 127, -128, -128, -128, -128};
  Rows a{};
  Rows b{};
  CHECK(small.forward(x, a).has_value());
  CHECK(fast.forward(x, b).has_value());
  CHECK(a == b);
}
