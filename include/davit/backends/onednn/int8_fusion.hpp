// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "davit/backends/kit/int8_patterns.hpp"
#include "davit/backends/onednn/int8.hpp"
#include "davit/backends/onednn/fusion.hpp"
#include "davit/program/operators/folds.hpp"
#include "davit/program/operators/node_arguments.hpp"

/// Fuses dequantize, an operator and quantize, as PT2E writes them, to one operation on int8.
namespace davit::onednn_ops {

class Int8Fusion {
 public:
  /// Checked values (`checks`) stay unfused.
  Int8Fusion(GraphModuleView graph, std::vector<Operation>& operations, ConstantOf constant_of,
             std::span<const ValueCheck> checks)
      : graph_(graph),
        operations_(operations),
        calls_{graph, uses_of(graph, operations, checks)},
        patterns_(calls_, constant_of),
        producer_(graph.values.size(), no_id) {
    for (std::uint32_t i = 0; i < operations.size(); ++i)
      for (const ValueId v : operations[i].outputs) producer_[v] = i;
  }

  /// Fuses to int8 operations where there are fast ones; removes operations without users. O(operations).
  void run() {
    bool joined = false;
    for (Operation& op : operations_) joined = (op.kind == OpKind::convert && join(op)) || joined;
    if (joined) remove_unused();
  }

 private:
  /// The operation that makes a value with a single use.
  [[nodiscard]] Operation* inner_producer(ValueId v) const {
    return calls_.is_single(v) && producer_[v] != no_id ? &operations_[producer_[v]] : nullptr;
  }

  /// Fuses a quantize with the operation before it.
  [[nodiscard]] bool join(Operation& quantize) {
    const std::optional<Int8Result> to = patterns_.result_of(quantize.node);
    if (!to) return false;
    if (to->is_bounded())
      if (std::optional<Operation> by = narrower(*to)) return replace(quantize, *std::move(by));
    const Operation* const op = inner_producer(to->value);
    if (op == nullptr) return false;
    std::optional<Operation> joined;
    if (op->kind == OpKind::binary)
      joined = sum(*op, *to);
    else if (op->kind == OpKind::convolution || op->kind == OpKind::linear)
      joined = product(*op, *to);
    else if (!to->is_bounded())
      joined = on_bytes(*op, *to);
    return joined && replace(quantize, *std::move(joined));
  }
  static bool replace(Operation& quantize, Operation&& by) {
    by.outputs = quantize.outputs;
    quantize = std::move(by);
    return true;
  }
  /// The int8 operation whose result only passes through clamps, as floats: it takes over their bounds.
  [[nodiscard]] std::optional<Operation> narrower(const Int8Result& to) const {
    const auto x = patterns_.bytes_of(to.value);
    if (!x || !patterns_.is_same(*x, to) || !calls_.is_single(to.value)) return {};
    const Operation* const made = inner_producer(x->input);
    if (made == nullptr || made->int8 == nullptr) return {};
    Int8Parameters own = *made->int8;
    own.range.low = std::max(own.range.low, to.range.low);
    own.range.high = std::min(own.range.high, to.range.high);
    if (own.range.low > own.range.high) return {};
    Operation out = *made;
    out.int8 = std::make_shared<const Int8Parameters>(std::move(own));
    return out;
  }
  [[nodiscard]] std::optional<Operation> sum(const Operation& op, const Int8Result& to) const {
    if (op.algorithm != algorithm::binary_add) return {};
    std::optional<Int8Operation> on = patterns_.sum(to, op.inputs[0], op.inputs[1]);
    return on ? std::optional(operation(op, OpKind::int8_sum, {on->first, on->second}, std::move(on->parameters)))
              : std::nullopt;
  }
  /// The same operation on bytes, for data movement and maxima.
  [[nodiscard]] std::optional<Operation> on_bytes(const Operation& op, const Int8Result& to) const {
    if (op.kind != OpKind::view && (op.kind != OpKind::pool || op.algorithm != algorithm::pooling_max)) return {};
    const auto x = patterns_.bytes_of(op.inputs[0]);
    if (!x || !patterns_.is_same(*x, to)) return {};
    Operation out = op;
    out.inputs = {x->input};
    return out;
  }
  [[nodiscard]] std::optional<Operation> product(const Operation& op, const Int8Result& to) const {
    const ValueId bias = op.inputs[2];
    std::optional<Int8Operation> on =
        patterns_.product(to, op.inputs[0], op.inputs[1], op.kind == OpKind::linear && !op.transposed, bias);
    if (!on) return {};
    Operation out = operation(op, OpKind::int8_product, {on->first, on->second, bias}, std::move(on->parameters));
    out.transposed = op.kind == OpKind::linear;
    if (int8_product_descriptor(graph_, out)) return out;
    const std::optional<kernels::ByteConvolution> own = byte_convolution_of(graph_, out);
    return own && patterns_.sums_fit(*own, *out.int8, bias) ? std::optional(std::move(out)) : std::nullopt;
  }
  [[nodiscard]] static Operation operation(const Operation& of, OpKind kind, std::vector<ValueId> inputs,
                                           Int8Parameters&& parameters) {
    Operation out = of;
    out.kind = kind;
    out.inputs = std::move(inputs);
    out.int8 = std::make_shared<const Int8Parameters>(std::move(parameters));
    return out;
  }

  void remove_unused() {
    std::vector<std::uint8_t> needed(graph_.values.size(), 0);
    for (const Argument& a : graph_.args(graph_.root().outputs))
      graph_.for_each_value(a, [&](ValueId v) { needed[v] = 1; });
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
  operators::ProgramCalls calls_;
  Int8Patterns patterns_;
  std::vector<std::uint32_t> producer_;
};

}  // namespace davit::onednn_ops
