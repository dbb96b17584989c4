// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "davit/backends/onednn/describe_int8.hpp"
#include "davit/backends/onednn/fusion.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/kernels/function_ref.hpp"
#include "davit/program/operators/folds.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/operators/quantization.hpp"

/// What PT2E writes around an operator, dequantize before it and quantize after it, as one operation on int8.
namespace davit::onednn_ops {

/// The tensor of a value that is a constant of the partition, or nullptr.
using ConstantOf = kernels::FunctionRef<const Tensor*(ValueId)>;

class Int8Fusion {
 public:
  /// Values that are looked at (`checks`) stay as they are.
  Int8Fusion(GraphModuleView graph, std::vector<Operation>& operations, ConstantOf constant_of, std::span<const ValueCheck> checks)
      : graph_(graph), operations_(operations), constant_of_(constant_of), calls_{graph, uses_of(graph, operations, checks)}, producer_(graph.values.size(), no_id) {
    for (std::uint32_t i = 0; i < operations.size(); ++i)
      for (const ValueId v : operations[i].outputs) producer_[v] = i;
  }

  /// Puts int8 operations where there are fast ones; what nobody needs any more is gone. O(operations).
  void run() {
    bool joined = false;
    for (Operation& op : operations_) joined = join(op) || joined;
    if (joined) remove_unused();
  }

 private:
  using View = operators::QuantizationView;

  /// The least of a dtype of bytes; the largest is 255 above.
  [[nodiscard]] std::int64_t least_of(ValueId v) const { return graph_.values[v].dtype == ScalarType::int8 ? -128 : 0; }
  /// True for numbers that float arithmetic can have.
  [[nodiscard]] bool fits(const View& view, ValueId bytes) const {
    const std::int64_t least = least_of(bytes);
    return view.scale > 1e-30 && view.scale < 1e30 && view.zero_point >= least && view.zero_point <= least + 255;
  }
  /// The operation that makes a value for one use alone.
  [[nodiscard]] Operation* inner_maker(ValueId v) const { return calls_.is_single(v) && producer_[v] != no_id ? &operations_[producer_[v]] : nullptr; }
  /// How a value was dequantized.
  [[nodiscard]] std::optional<View> bytes_of(ValueId v) const {
    View view;
    return operators::read_dequantized(calls_, v, false, view) && fits(view, view.input) ? std::optional(view) : std::nullopt;
  }
  [[nodiscard]] static kernels::ByteScale scale_of(const View& view) {
    return {static_cast<float>(view.scale), static_cast<float>(view.zero_point)};
  }

  /// Makes a quantize the operation before it, on int8.
  [[nodiscard]] bool join(Operation& quantize) {
    View to;
    if (quantize.kind != OpKind::convert || operators::read_quantization(calls_.call(quantize.node), to) || !to.quantizes) return false;
    least_ = static_cast<std::int32_t>(least_of(quantize.outputs[0]));
    if (!fits(to, quantize.outputs[0]) || to.low < least_ || to.high > least_ + 255) return false;
    View bounded = to;
    const ValueId inner = operators::through_bounds(calls_, to.input, bounded, 1);
    if (bounded.low > bounded.high) return false;
    const Int8Parameters made{.range = {static_cast<float>(1.0 / to.scale), static_cast<std::int32_t>(to.zero_point),
                                        static_cast<std::int32_t>(bounded.low), static_cast<std::int32_t>(bounded.high)}};
    const bool bounded_first = inner != to.input;
    if (bounded_first)
      if (std::optional<Operation> by = narrower(inner, to, made.range)) return replace(quantize, *std::move(by));
    const Operation* const op = inner_maker(inner);
    if (op == nullptr) return false;
    std::optional<Operation> joined;
    if (op->kind == OpKind::binary) joined = sum(*op, made);
    else if (op->kind == OpKind::convolution || op->kind == OpKind::linear) joined = product(*op, made);
    else if (!bounded_first) joined = on_bytes(*op, to);
    return joined && replace(quantize, *std::move(joined));
  }
  static bool replace(Operation& quantize, Operation&& by) {
    by.outputs = quantize.outputs;
    quantize = std::move(by);
    return true;
  }
  /// True if both sides mean the same by a byte, so that nothing is rounded between them.
  [[nodiscard]] bool is_same(const View& from, const View& to) const noexcept {
    return from.scale == to.scale && from.zero_point == to.zero_point && least_of(from.input) == least_ && to.low == least_ && to.high == least_ + 255;
  }
  /// The int8 operation whose bytes alone are bounded, as floats `v`, with these bounds as its own.
  [[nodiscard]] std::optional<Operation> narrower(ValueId v, const View& to, const kernels::ByteRange& range) const {
    const std::optional<View> x = bytes_of(v);
    if (!x || !is_same(*x, to) || !calls_.is_single(v)) return {};
    const Operation* const made = inner_maker(x->input);
    if (made == nullptr || made->int8 == nullptr) return {};
    Int8Parameters own = *made->int8;
    own.range.low = std::max(own.range.low, range.low);
    own.range.high = std::min(own.range.high, range.high);
    if (own.range.low > own.range.high) return {};
    Operation out = *made;
    out.int8 = std::make_shared<const Int8Parameters>(std::move(own));
    return out;
  }
  [[nodiscard]] std::optional<Operation> sum(const Operation& op, Int8Parameters made) const {
    if (op.algorithm != algorithm::binary_add) return {};
    const std::optional<View> a = bytes_of(op.inputs[0]), b = bytes_of(op.inputs[1]);
    const Dims sizes = sizes_of(graph_, op.outputs[0]);
    for (const std::optional<View>* x : {&a, &b})
      if (!*x || least_of((*x)->input) != least_ || sizes_of(graph_, (*x)->input) != sizes) return {};
    made.source = scale_of(*a);
    made.other = scale_of(*b);
    Operation out = op;
    out.kind = OpKind::int8_sum;
    out.inputs = {a->input, b->input};
    out.int8 = std::make_shared<const Int8Parameters>(std::move(made));
    return out;
  }
  /// What only moves numbers, or takes the largest, on the bytes that stand for them.
  [[nodiscard]] std::optional<Operation> on_bytes(const Operation& op, const View& to) const {
    if (op.kind != OpKind::view && (op.kind != OpKind::pool || op.algorithm != algorithm::pooling_max)) return {};
    const std::optional<View> x = bytes_of(op.inputs[0]);
    if (!x || !is_same(*x, to)) return {};
    Operation out = op;
    out.inputs = {x->input};
    return out;
  }
  [[nodiscard]] std::optional<Operation> product(const Operation& op, Int8Parameters made) const {
    const std::optional<View> x = bytes_of(op.inputs[0]);
    View weights;
    if (!x || !operators::read_weights(calls_, op.inputs[1], op.kind == OpKind::linear && !op.transposed, weights) ||
        !read_scales(weights, made.weight_scales))
      return {};
    made.source = scale_of(*x);
    const ValueId bias = op.inputs[2];
    const Tensor* const b = bias == no_id ? nullptr : constant_of_(bias);
    if (bias != no_id && (b == nullptr || !is_ordinary(*b) || b->dtype != ScalarType::float32)) return {};
    for (const float scale : made.weight_scales)
      if (const float unit = made.source.scale * scale; !(unit > 1e-20f && unit * made.range.inverse > 1e-9f && unit * made.range.inverse < 256.0f)) return {};
    Operation out = op;
    out.kind = OpKind::int8_product;
    out.transposed = op.kind == OpKind::linear;
    out.inputs = {x->input, weights.input, bias};
    out.int8 = std::make_shared<const Int8Parameters>(std::move(made));
    if (describe_int8_product(graph_, out)) return out;
    const std::optional<kernels::ByteConvolution> own = byte_convolution_of(graph_, out);
    return own && all_sums_fit(*own, *out.int8, b) ? std::optional(std::move(out)) : std::nullopt;
  }
  [[nodiscard]] static bool all_sums_fit(const kernels::ByteConvolution& c, const Int8Parameters& q, const Tensor* bias) {
    if (bias != nullptr && (bias->sizes.size() != 1 || bias->sizes[0] != c.out_channels)) return false;
    for (std::int64_t o = 0; o < c.out_channels; ++o)
      if (!kernels::sums_fit(c, int8_unit(q, static_cast<std::size_t>(o)), bias == nullptr ? 0.0f : *static_cast<const float*>(element(*bias, o)), q.range)) return false;
    return true;
  }
  /// int8 constants that stand for numbers around zero, with one scale or one for each index of the first dimension.
  [[nodiscard]] bool read_scales(const View& view, std::vector<float>& scales) const {
    const Tensor* const w = constant_of_(view.input);
    if (w == nullptr || w->dtype != ScalarType::int8 || w->sizes.empty()) return false;
    if (view.scales == no_id) {
      scales = {static_cast<float>(view.scale)};
      return view.zero_point == 0;
    }
    const Tensor* const s = constant_of_(view.scales);
    const Tensor* const z = view.zero_points == no_id ? nullptr : constant_of_(view.zero_points);
    const auto is_list = [&](const Tensor* t) { return t != nullptr && t->sizes.size() == 1 && t->sizes[0] == w->sizes[0]; };
    if (!is_list(s) || s->dtype != ScalarType::float32 || (view.zero_points != no_id && !is_list(z))) return false;
    for (std::int64_t c = 0; c < w->sizes[0]; ++c) {
      std::int64_t zero = 0;
      if (z != nullptr && (!kernels::load_element(element(*z, c), z->dtype, zero) || zero != 0)) return false;
      scales.push_back(*static_cast<const float*>(element(*s, c)));
    }
    return true;
  }
  [[nodiscard]] static const void* element(const Tensor& t, std::int64_t i) {
    const TensorView view = t.view();
    return static_cast<const std::byte*>(view.data) + static_cast<std::size_t>(i * view.stride(0)) * size_of(view.dtype);
  }

  void remove_unused() {
    std::vector<std::uint8_t> needed(graph_.values.size(), 0);
    for (const Argument& a : graph_.args(graph_.root().outputs)) graph_.for_each_value(a, [&](ValueId v) { needed[v] = 1; });
    std::vector<Operation> kept;
    for (std::size_t i = operations_.size(); i-- > 0;) {
      Operation& op = operations_[i];
      if (std::ranges::none_of(op.outputs, [&](ValueId v) { return needed[v] != 0; })) continue;
      for (const ValueId v : op.inputs)
        if (v != no_id) needed[v] = 1;
      kept.push_back(std::move(op));
    }
    std::ranges::reverse(kept);
    operations_ = std::move(kept);
  }

  GraphModuleView graph_;
  std::vector<Operation>& operations_;
  ConstantOf constant_of_;
  operators::ProgramCalls calls_;
  std::vector<std::uint32_t> producer_;
  std::int32_t least_ = -128;  ///< of the bytes that are made
};

}  // namespace davit::onednn_ops
