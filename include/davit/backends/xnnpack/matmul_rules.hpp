// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "davit/backends/xnnpack/convolution_rules.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// x times a matrix, plus a bias: the operands of linear, addmm, mm and bmm.
struct Product {
  ValueId x = no_id;
  ValueId w = no_id;
  ValueId bias = no_id;
  bool transposed = false;  ///< w is [in, out]
};
[[nodiscard]] constexpr Product product_of(const Call& call) noexcept {
  const std::string_view target = call.target();
  if (target == "aten.linear.default") return {call.value("input"), call.value("weight"), call.value("bias"), false};
  if (target == "aten.addmm.default") return {call.value("mat1"), call.value("mat2"), call.value("self"), true};
  return {call.value("self"), call.value("mat2"), no_id, true};
}

[[nodiscard]] constexpr const char* refuses_product(const Call& call) noexcept {
  const Product m = product_of(call);
  for (const ValueId v : {m.x, m.w, call.output()})
    if (const char* reason = refuses_tensor(call, v)) return reason;
  const bool batched = call.target() == "aten.bmm.default";
  const std::size_t rank = batched ? 3 : 2;
  if (call.rank(m.w) != rank) return "weights that are not a matrix";
  const std::size_t x_rank = call.rank(m.x);
  if (m.transposed ? x_rank != rank : x_rank < 2) return "an operand that is not a matrix";
  if (call.rank(call.output()) != x_rank) return "a result of another rank";
  const Dim& in = call.dims(m.x)[x_rank - 1];
  if (!same_dim(in, call.dims(m.w)[m.transposed ? rank - 2 : 1])) return "dimensions that may or may not fit";
  if (call.number("alpha", 1) != 1 || call.number("beta", 1) != 1) return "an alpha or beta other than 1";
  if (m.bias == no_id) return call.has("bias") ? "a bias that is not a tensor" : nullptr;
  if (const char* reason = refuses_tensor(call, m.bias)) return reason;
  const std::span<const Dim> bias = call.dims(m.bias);
  const std::span<const Dim> out = call.dims(call.output());
  if (bias.size() > out.size()) return "a bias that does not broadcast";
  for (std::size_t d = 0; d < bias.size(); ++d) {
    const Dim& b = bias[d];
    if (!same_dim(b, out[out.size() - bias.size() + d]) && !(b.is_static() && b.value == 1))
      return "a bias that may or may not broadcast";
  }
  return nullptr;
}

/// True if the bias is a vector with a number per column.
[[nodiscard]] inline bool is_column_bias(Planner& p, ValueId bias, const Dim& columns) {
  return p.rank(bias) == 1 && same_dim(p.dims(bias)[0], columns);
}

inline void emit_product(Planner& p, const Call& call) {
  const Product m = product_of(call);
  const bool batched = call.target() == "aten.bmm.default";
  const Order order = Order::row_major(p.rank(m.x));
  const Dim columns = p.dims(call.output()).back();
  const bool fused_bias = m.bias != no_id && is_column_bias(p, m.bias, columns);
  const Tensor* bias = fused_bias ? p.constant(m.bias) : nullptr;
  if (!batched && (m.bias == no_id || bias != nullptr) && p.rank(m.x) == 2 &&
      emit_quantized_weights(p, call, m.x, m.w, m.bias, {}, order, m.transposed))
    return;
  const Tensor* kernel = batched ? nullptr : p.constant(m.w);
  const bool separate = m.bias != no_id && !(fused_bias && (bias != nullptr || kernel == nullptr));
  const Clamped out = take_clamp(p, call.output());
  Step step{.op = Op::fully_connected};
  if (!separate) {
    step.min = out.bounds.low;
    step.max = out.bounds.high;
  }
  if (kernel != nullptr) {
    step.in[0] = p.need(m.x, order, p.rank(m.x) == 2);
    step.weights =
        p.add_weights({.kernel = *kernel, .transposed = m.transposed, .bias = bias == nullptr ? Tensor{} : *bias});
  } else {
    const std::size_t rank = p.rank(m.w);
    Order swapped = Order::row_major(rank);
    std::swap(swapped.dim[rank - 2], swapped.dim[rank - 1]);
    step.op = batched ? Op::batch_matmul : Op::dynamic_fully_connected;
    step.in[0] = p.need(m.x, order);
    const std::uint32_t any = p.need_dense(m.w);
    const bool is_swapped = same_order(p.dims(m.w), p.plan.slots[any].order, swapped);
    step.in[1] = p.need(m.w, is_swapped ? swapped : Order::row_major(rank));
    step.transposed = m.transposed != is_swapped;
    if (m.bias != no_id && !separate) step.in[2] = p.need(m.bias, Order::row_major(1));
  }
  if (!separate) {
    step.out = p.define(out.value, order);
    return p.add(step, call.id());
  }
  step.out = p.temporary(p.dims(out.value), order);
  p.add(step, call.id());
  Step sum{.op = Op::add, .min = out.bounds.low, .max = out.bounds.high};
  sum.in = {step.out, p.need(m.bias, Order::row_major(p.rank(m.bias))), no_id};
  sum.out = p.define(out.value, order);
  p.add(sum, call.id());
}

/// The dimension that a softmax runs over, if its size is known; else -1.
[[nodiscard]] constexpr std::int64_t softmax_axis(const Call& call) noexcept {
  const std::size_t rank = call.rank(call.value("self"));
  const std::int64_t axis = call.axis(call.integer("dim", INT64_MIN), rank);
  return axis < 0 || call.fixed(call.value("self"), static_cast<std::size_t>(axis)) < 0 ? -1 : axis;
}
[[nodiscard]] constexpr const char* refuses_softmax(const Call& call) noexcept {
  if (const char* reason = refuses_unary(call)) return reason;
  if (call.flag("half_to_float", false) || call.has("dtype")) return "a change of dtype";
  return softmax_axis(call) < 0 ? "a dimension of symbolic size" : nullptr;
}
/// The order with `axis` innermost and the others row-major.
[[nodiscard]] constexpr Order innermost(std::size_t rank, std::size_t axis) noexcept {
  Order o;
  for (std::size_t d = 0; d < rank; ++d)
    if (d != axis) o.dim[o.rank++] = static_cast<std::uint8_t>(d);
  o.dim[o.rank++] = static_cast<std::uint8_t>(axis);
  return o;
}
template <Op op>
void emit_softmax(Planner& p, const Call& call) {
  const ValueId x = call.value("self");
  const Order order = innermost(p.rank(x), static_cast<std::size_t>(softmax_axis(call)));
  const std::uint32_t in = p.need(x, order);
  p.add({.op = op, .in = {in, no_id, no_id}, .out = p.define(call.output(), order)}, call.id());
}

[[nodiscard]] constexpr const char* refuses_layer_norm(const Call& call) noexcept {
  const ValueId x = call.value("input");
  for (const ValueId v : {x, call.output()})
    if (const char* reason = refuses_tensor(call, v)) return reason;
  const std::span<const Argument> sizes = call.list("normalized_shape");
  const std::size_t rank = call.rank(x);
  if (sizes.empty() || sizes.size() > rank || call.rank(call.output()) != rank) return "no dimensions to normalize";
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i].kind != ArgumentKind::int_ || call.fixed(x, rank - sizes.size() + i) != sizes[i].payload)
      return "dimensions of symbolic size";
  for (const std::string_view name : {"weight", "bias"}) {
    if (!call.has(name)) continue;
    const ValueId v = call.value(name);
    if (const char* reason = refuses_tensor(call, v)) return reason;
    if (!same_dims(call.dims(v), call.dims(x).subspan(rank - sizes.size()))) return "parameters of another shape";
  }
  if (!call.is_literal("eps")) return "eps is not a literal number";
  for (std::size_t i = 1; i < call.outputs(); ++i)
    if (is_used(call.graph(), call.output(i))) return "its saved statistics are used";
  return nullptr;
}
inline void emit_layer_norm(Planner& p, const Call& call) {
  const ValueId x = call.value("input");
  const Order order = Order::row_major(p.rank(x));
  Step step{.op = Op::layer_norm,
            .alpha = static_cast<float>(call.number("eps", 1e-5)),
            .axes = static_cast<std::uint32_t>(call.list("normalized_shape").size())};
  step.in[0] = p.need(x, order);
  for (std::size_t i = 1; i < 3; ++i)
    if (const std::string_view name = i == 1 ? "weight" : "bias"; call.has(name))
      step.in[i] = p.need(call.value(name), Order::row_major(step.axes));
  step.out = p.define(call.output(), order);
  p.add(step, call.id());
}

}  // namespace detail

inline constexpr auto matmul_rules = std::to_array<Rule>({
    {"aten._log_softmax.default", detail::refuses_softmax, detail::emit_softmax<Op::log_softmax>},
    {"aten._softmax.default", detail::refuses_softmax, detail::emit_softmax<Op::softmax>},
    {"aten.addmm.default", detail::refuses_product, detail::emit_product},
    {"aten.bmm.default", detail::refuses_product, detail::emit_product},
    {"aten.layer_norm.default", detail::refuses_layer_norm, detail::emit_layer_norm},
    {"aten.linear.default", detail::refuses_product, detail::emit_product},
    {"aten.log_softmax.int", detail::refuses_softmax, detail::emit_softmax<Op::log_softmax>},
    {"aten.mm.default", detail::refuses_product, detail::emit_product},
    {"aten.native_layer_norm.default", detail::refuses_layer_norm, detail::emit_layer_norm},
    {"aten.softmax.int", detail::refuses_softmax, detail::emit_softmax<Op::softmax>},
});

}  // namespace davit::xnnpack_parts
