// SPDX-License-Identifier: MIT
#include "davit/program/operators/folds.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/embed_graph.hpp"
#include "davit/backend/static_rows.hpp"
#include "davit/program/graph_builder.hpp"
#include "davit/program/operators/node_arguments.hpp"

using namespace davit;
using operators::PadView;
using operators::ProgramCalls;
using operators::QuantizationView;

namespace {

using B = GraphBuilder;
using Sizes = std::initializer_list<std::int64_t>;
static_assert(operators::CallGraph<ProgramCalls> && operators::CallGraph<EmbedGraph>);
constexpr double inf = std::numeric_limits<double>::infinity();

/// The result of `ask` for the graph that `make(builder)` adds, as a program and as a static program; an empty result
/// if the two differ.
template <class Answer, class Make, class Ask>
[[nodiscard]] constexpr Answer answer(Make&& make, Ask&& ask) {
  B b;
  b.begin_graph();
  std::vector<Argument> outputs;
  for (const ValueId v : make(b)) outputs.push_back(B::value(v));
  b.end_graph(outputs);
  const GraphModule module = std::move(b).finish();
  const ProgramCalls program{module.view(), Uses(module.view())};
  const StaticGraphRows rows(module.view());
  const std::vector<std::uint8_t> backend_of(module.view().nodes.size(), 0);
  const EmbedGraph embedded{.graph = rows.view(), .backend_of = backend_of.data(), .self = 0};
  const Answer plain = ask(program);
  return ask(embedded) == plain ? plain : Answer{};
}

constexpr ValueId pad(B& b, ValueId x, Sizes widths, double value) {
  return b.call("aten.constant_pad_nd.default",
                {{"self", B::value(x)}, {"pad", b.ints(widths)}, {"value", B::real(value)}}, "p", ScalarType::float32,
                {1, 3, 9, 9});
}
/// The padding that folds into its user; rank 0 if none does.
constexpr PadView inner_padding(Sizes widths, double value = 0, bool is_output = false) {
  return answer<PadView>(
      [&](B& b) {
        const ValueId p = pad(b, b.input("x", ScalarType::float32, {1, 3, 7, 7}), widths, value);
        const ValueId y = b.call("aten.neg.default", {{"self", B::value(p)}}, "y", ScalarType::float32, {1, 3, 9, 9});
        std::vector<ValueId> outputs{y};
        if (is_output) outputs.push_back(p);
        return outputs;
      },
      [](const auto& g) {
        PadView view;
        return operators::read_inner_padding(g, ValueId{1}, view) ? view : PadView{};
      });
}
constexpr bool check_paddings() {
  return inner_padding({1, 2, 0, 2}) == PadView{.input = 0, .rank = 4, .before = {0, 0, 0, 1}, .after = {0, 0, 2, 2}} &&
         inner_padding({1, 1}, 0.5).rank == 0 && inner_padding({1, 1}, 0, true).rank == 0 &&
         inner_padding({-1, 1}).rank == 0 && inner_padding({0, 0, 0, 0, 1, 0}).rank == 0;
}
static_assert(check_paddings());

constexpr ValueId convert(B& b, std::string_view target, ValueId x, double scale, std::int64_t zero_point,
                          ScalarType to) {
  return b.call(target,
                {{"input", B::value(x)},
                 {"scale", B::real(scale)},
                 {"zero_point", B::integer(zero_point)},
                 {"quant_min", B::integer(-128)},
                 {"quant_max", B::integer(127)}},
                "q", to, {2, 3});
}
constexpr std::string_view to_bytes = "quantized_decomposed.quantize_per_tensor.default";
constexpr std::string_view of_bytes = "quantized_decomposed.dequantize_per_tensor.default";
constexpr ValueId clamp(B& b, ValueId x, double low, double high) {
  return b.call("aten.clamp.default", {{"self", B::value(x)}, {"min", B::real(low)}, {"max", B::real(high)}}, "c",
                ScalarType::float32, {2, 3});
}

struct Bytes {
  ValueId before = no_id;
  std::int64_t low = 0;
  std::int64_t high = 0;
  friend constexpr bool operator==(const Bytes&, const Bytes&) = default;
};
/// The range that two clamps allow in a quantize with scale 0.5 and zero point 10, and the value before them.
constexpr Bytes bounded(double low, double high, std::uint32_t most, bool is_output = false) {
  return answer<Bytes>(
      [&](B& b) {
        const ValueId first = clamp(b, b.input("x", ScalarType::float32, {2, 3}), low, high);
        const ValueId second = clamp(b, first, -20, 30);
        const ValueId q = convert(b, to_bytes, second, 0.5, 10, ScalarType::int8);
        std::vector<ValueId> outputs{q};
        if (is_output) outputs.push_back(first);
        return outputs;
      },
      [&](const auto& g) {
        QuantizationView view;
        if (operators::read_quantization(g.call(2), view)) return Bytes{};
        return Bytes{operators::through_bounds(g, view.input, view, most), view.low, view.high};
      });
}
constexpr bool check_bounds() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Bytes one{1, -30, 70};
  return bounded(0, inf, 2) == Bytes{0, 10, 70} && bounded(-inf, 1.3, 2) == Bytes{0, -30, 13} &&
         bounded(0, inf, 1) == one && bounded(0, inf, 0) == Bytes{2, -128, 127} && bounded(0, inf, 2, true) == one &&
         bounded(nan, inf, 2) == one && bounded(1, 0, 2) == one && bounded(40, 50, 2) == Bytes{0, 90, 70} &&
         bounded(-1e300, 1e300, 2) == Bytes{0, -30, 70};
}
static_assert(check_bounds());

/// The scale of the dequantize before a view or a transposition of a value.
constexpr double dequantized(std::string_view between, bool through_views) {
  return answer<double>(
      [&](B& b) {
        const ValueId x = convert(b, of_bytes, b.input("x", ScalarType::int8, {2, 3}), 0.25, 0, ScalarType::float32);
        return std::vector{
            b.call(between, {{"self", B::value(x)}, {"size", b.ints({2, 3})}}, "y", ScalarType::float32, {2, 3})};
      },
      [&](const auto& g) {
        QuantizationView view;
        return operators::read_dequantized(g, 2, through_views, view) ? view.scale : 0.0;
      });
}
constexpr double weights(std::string_view between, bool transposed) {
  return answer<double>(
      [&](B& b) {
        const ValueId x = convert(b, of_bytes, b.input("x", ScalarType::int8, {2, 3}), 0.25, 0, ScalarType::float32);
        return std::vector{
            b.call(between, {{"self", B::value(x)}, {"dims", b.ints({1, 0})}}, "y", ScalarType::float32, {3, 2})};
      },
      [&](const auto& g) {
        QuantizationView view;
        return operators::read_weights(g, transposed ? 2 : 1, transposed, view) ? view.scale : 0.0;
      });
}
constexpr bool check_dequantized() {
  return dequantized("aten.view.default", true) == 0.25 && dequantized("aten.view.default", false) == 0 &&
         dequantized("aten.neg.default", true) == 0 && weights("aten.permute.default", true) == 0.25 &&
         weights("aten.t.default", true) == 0.25 && weights("aten.view.default", true) == 0 &&
         weights("aten.neg.default", false) == 0.25;
}
static_assert(check_dequantized());

/// Scales along the last dimension cannot be a product's weight scales.
constexpr double channels(std::int64_t axis) {
  return answer<double>(
      [&](B& b) {
        const ValueId w = b.input("w", ScalarType::int8, {3, 3});
        const ValueId s = b.input("s", ScalarType::float32, {3});
        return std::vector{b.call(
            "quantized_decomposed.dequantize_per_channel.default",
            {{"input", B::value(w)}, {"scales", B::value(s)}, {"zero_points", B::none()}, {"axis", B::integer(axis)}},
            "y", ScalarType::float32, {3, 3})};
      },
      [&](const auto& g) {
        QuantizationView view, input;
        return operators::read_weights(g, 2, false, view) && !operators::read_dequantized(g, 2, true, input) ? 1.0
                                                                                                             : 0.0;
      });
}
static_assert(channels(0) == 1 && channels(-2) == 1 && channels(1) == 0);

/// The foldable producers of one output, and of an element of a list that is an output.
constexpr bool check_producers() {
  using Producers = std::pair<NodeId, NodeId>;
  const auto producers = answer<Producers>(
      [](B& b) {
        const ValueId x = b.input("x", ScalarType::float32, {3, 5});
        const ValueId parts[] = {b.tensor("first", ScalarType::float32, {3, 2}),
                                 b.tensor("second", ScalarType::float32, {3, 3})};
        Argument inputs[] = {B::value(x), b.ints({2, 3}), B::integer(1)};
        inputs[0].name = b.intern("self");
        inputs[1].name = b.intern("split_sizes");
        inputs[2].name = b.intern("dim");
        const Argument outputs[] = {b.tensors({parts[0], parts[1]})};
        b.node("aten.split_with_sizes.default", inputs, outputs);
        const ValueId y = b.call("aten.neg.default", {{"self", B::value(parts[1])}}, "y", ScalarType::float32, {3, 3});
        return std::vector{b.call("aten.neg.default", {{"self", B::value(y)}}, "z", ScalarType::float32, {3, 3})};
      },
      [](const auto& g) { return Producers(operators::inner_producer(g, 3), operators::inner_producer(g, 2)); });
  return producers == Producers(1, no_id);
}
static_assert(check_producers());

}  // namespace

TEST_CASE("an element of a list has no producer that folds into its use") { CHECK(check_producers()); }

TEST_CASE(
    "a padding with zeros is folded into the convolution that is its only user, unless it pads batch or channels") {
  CHECK(check_paddings());
}

TEST_CASE("bounds before a quantize are bounds on its bytes") { CHECK(check_bounds()); }

TEST_CASE("operands and weights are found behind their dequantize") {
  CHECK(check_dequantized());
  CHECK(channels(0) == 1);
}
