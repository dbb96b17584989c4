// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "davit/program/graph_builder.hpp"
#include "support/int8_cases.hpp"

/// Static programs with PT2E patterns, and their results without fusion.
namespace int8_graph {

using davit::Arg;
using davit::GraphBuilder;
using davit::ScalarType;
using davit::ValueId;
using Sizes = std::initializer_list<std::int64_t>;

/// The scale and zero point of bytes.
struct Scale {
  double scale;
  std::int64_t zero_point;
  ScalarType type = ScalarType::int8;
  [[nodiscard]] constexpr std::int64_t low() const { return type == ScalarType::int8 ? -128 : 0; }
};

constexpr ValueId convert(GraphBuilder& b, std::string_view target, ValueId x, Scale q, ScalarType to, Sizes sizes) {
  return b.call(target,
                {{"input", b.value(x)},
                 {"scale", b.real(q.scale)},
                 {"zero_point", b.integer(q.zero_point)},
                 {"quant_min", b.integer(q.low())},
                 {"quant_max", b.integer(q.low() + 255)},
                 {"dtype", b.scalar_type(q.type)}},
                "q", to, sizes);
}
constexpr ValueId dequantize(GraphBuilder& b, ValueId x, Scale q, Sizes sizes) {
  return convert(b, "quantized_decomposed.dequantize_per_tensor.default", x, q, ScalarType::float32, sizes);
}
constexpr ValueId quantize(GraphBuilder& b, ValueId x, Scale q, Sizes sizes) {
  return convert(b, "quantized_decomposed.quantize_per_tensor.default", x, q, q.type, sizes);
}
constexpr ValueId dequantize_weight(GraphBuilder& b, ValueId w, ValueId scales, ValueId zero_points, Sizes sizes) {
  return b.call("quantized_decomposed.dequantize_per_channel.default",
                {{"input", b.value(w)},
                 {"scales", b.value(scales)},
                 {"zero_points", b.value(zero_points)},
                 {"axis", b.integer(0)},
                 {"quant_min", b.integer(-127)},
                 {"quant_max", b.integer(127)},
                 {"dtype", b.scalar_type(ScalarType::int8)}},
                "w", ScalarType::float32, sizes);
}
/// An operator whose one tensor argument is `self`.
constexpr ValueId call(GraphBuilder& b, std::string_view target, ValueId x, Sizes sizes,
                       std::initializer_list<Arg> more = {}) {
  std::vector<davit::Argument> arguments{b.value(x)};
  arguments[0].name = b.intern("self");
  for (const Arg& a : more) {
    arguments.push_back(a.argument);
    arguments.back().name = b.intern(a.name);
  }
  const ValueId y = b.tensor("y", ScalarType::float32, sizes);
  const davit::Argument outputs[] = {b.value(y)};
  b.node(target, arguments, outputs);
  return y;
}

/// A program with a byte tensor as input and output: `make(builder, x)` builds the operators between them.
template <auto make, ScalarType Type, std::int64_t... In>
constexpr davit::GraphModule one_input() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", Type, {In...});
  const ValueId y = make(b, x);
  b.end_graph({y});
  return std::move(b).finish();
}

/// Portable without fusion: every node alone, in float.
struct unfolded {
  static constexpr std::string_view name = "unfolded";
  using Kernels = davit::portable_static::Kernels;
  static constexpr const char* embed(const davit::EmbedNode& n, davit::StepWriter& steps) {
    davit::EmbedGraph alone = n.g;
    alone.self = davit::EmbedGraph::unassigned - 1;
    return davit::portable_static::embed(davit::EmbedNode{alone, n.id}, steps);
  }
};

/// The largest difference of the program's results from those of its float form, over random inputs, and the number of
/// different results.
struct Difference {
  int largest = 0;
  int different = 0;
  int compared = 0;
};
template <class Program, class In, class Out>
Difference difference(int rounds = 50) {
  static davit::static_module<Program, davit::portable> folded;
  static davit::static_module<Program, unfolded> plain;
  davit::int8_cases::Random random(7);
  Difference d;
  for (int r = 0; r < rounds; ++r) {
    In x{};
    Out y{};
    Out expected{};
    for (auto& v : x) v = static_cast<typename In::value_type>(random.in(0, 255));
    if (!folded.forward(x, y) || !plain.forward(x, expected)) return {.largest = 1000};
    for (std::size_t i = 0; i < y.size(); ++i) {
      const int gap = std::abs(static_cast<int>(y[i]) - static_cast<int>(expected[i]));
      d.largest = gap > d.largest ? gap : d.largest;
      d.different += gap != 0 ? 1 : 0;
      ++d.compared;
    }
  }
  return d;
}
/// True if nearly all results equal the float form's, and the others are off by one step: ties, which float rounds to
/// even.
[[nodiscard]] inline bool is_close(const Difference& d) {
  return d.compared > 0 && d.largest <= 1 && d.different * 50 <= d.compared;
}

}  // namespace int8_graph
