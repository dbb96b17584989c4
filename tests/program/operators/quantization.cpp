// SPDX-License-Identifier: MIT
#include "davit/program/operators/quantization.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "one_call.hpp"

using namespace davit;
using operators::QuantizationView;

namespace {

constexpr std::string_view to_bytes = "quantized_decomposed.quantize_per_tensor.default";
constexpr std::string_view of_channels = "quantized_decomposed.dequantize_per_channel.default";

constexpr one_call::Reading<QuantizationView> read_one(std::string_view target, Argument scale,
                                                       std::int64_t low = -128) {
  return one_call::reading<QuantizationView>(
      [&](GraphBuilder& b) {
        return one_call::call(b, target,
                              {{"input", b.value(one_call::tensor(b, {2, 3}))},
                               {"scale", scale},
                               {"zero_point", b.integer(-3)},
                               {"quant_min", b.integer(low)},
                               {"quant_max", b.integer(127)}});
      },
      [](const auto& call, QuantizationView& view) { return operators::read_quantization(call, view); });
}
constexpr one_call::Reading<QuantizationView> read_channels(std::int64_t axis) {
  return one_call::reading<QuantizationView>(
      [&](GraphBuilder& b) {
        return one_call::call(b, of_channels,
                              {{"input", b.value(one_call::tensor(b, {2, 3}))},
                               {"scales", b.value(one_call::tensor(b, {3}))},
                               {"zero_points", b.none()},
                               {"axis", b.integer(axis)},
                               {"quant_min", b.integer(-127)},
                               {"quant_max", b.integer(127)}});
      },
      [](const auto& call, QuantizationView& view) { return operators::read_quantization(call, view); });
}

constexpr bool check_numbers() {
  const auto q = read_one(to_bytes, GraphBuilder::real(0.5));
  const auto d = read_one("quantized_decomposed.dequantize_per_tensor.default", GraphBuilder::integer(2));
  return q.why.empty() && q.view.quantizes && q.view.scale == 0.5 && q.view.zero_point == -3 && q.view.low == -128 &&
         q.view.high == 127 && q.view.scales == no_id && d.why.empty() && !d.view.quantizes && d.view.scale == 2;
}
static_assert(check_numbers());

constexpr bool check_tensors() {
  const auto q = one_call::reading<QuantizationView>(
      [&](GraphBuilder& b) {
        const Argument one = b.value(one_call::tensor(b, {1}));
        return one_call::call(b, "quantized_decomposed.quantize_per_tensor.tensor",
                              {{"input", one},
                               {"scale", one},
                               {"zero_point", one},
                               {"quant_min", b.integer(0)},
                               {"quant_max", b.integer(255)}});
      },
      [](const auto& call, QuantizationView& view) { return operators::read_quantization(call, view); });
  return q.why.empty() && q.view.quantizes && !q.view.per_channel && q.view.scales == 0 && q.view.zero_points == 0 &&
         q.view.high == 255 &&
         read_one("quantized_decomposed.dequantize_per_tensor.tensor", GraphBuilder::real(1)).why ==
             "the scale or the zero point is no tensor";
}
static_assert(check_tensors());

constexpr bool check_channels() {
  const auto last = read_channels(-1);
  return last.why.empty() && last.view.per_channel && last.view.axis == 1 && last.view.scales != no_id &&
         last.view.zero_points == no_id && !last.view.quantizes;
}
static_assert(check_channels());

constexpr bool check_hostile() {
  return read_one(to_bytes, GraphBuilder::value(0)).why == "the scale or the zero point is no number" &&
         read_one(to_bytes, GraphBuilder::real(1), 128).why == "quant_min or quant_max is no number, or they cross" &&
         read_channels(2).why == "the scales are no tensor, or their dimension is not one of the input's" &&
         read_one("aten.neg.default", GraphBuilder::real(1)).why == "the operator neither quantizes nor dequantizes";
}
static_assert(check_hostile());

}  // namespace

TEST_CASE("quantize and dequantize by numbers, and by a tensor of scales") {
  CHECK(check_numbers());
  CHECK(check_tensors());
  CHECK(check_channels());
}

TEST_CASE("scales and dimensions that are none are refused") { CHECK(check_hostile()); }

TEST_CASE("quantize and dequantize have their arguments where their schemas say") {
  for (const operators::QuantizationOperator& op : operators::quantization_operators) {
    CHECK(one_call::stands_there(op.target, {op.per_channel ? "scales" : "scale", 1}));
    CHECK(one_call::stands_there(op.target, {op.per_channel ? "zero_points" : "zero_point", 2}));
    if (op.per_channel) CHECK(one_call::stands_there(op.target, {"axis", 3}));
    CHECK(one_call::stands_there(op.target, op.at("quant_max", 4)));
    CHECK(one_call::stands_there(op.target, op.dtype()));
    if (!op.quantizes) CHECK(one_call::stands_there(op.target, op.out_dtype()));
  }
}
