// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/kit/kernel_nodes.hpp"
#include "davit/backends/portable/run_time/int8_plan.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/kernel_step.hpp"
#include "davit/backends/portable/run_time/node_kernel.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/portable/run_time/products/byte_products.hpp"
#include "davit/backends/xnnpack/rule.hpp"
#include "davit/kernels/arithmetic.hpp"
#include "davit/kernels/elementwise.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/operators/binary.hpp"

/// Steps that call portable's kernels.
namespace davit::xnnpack_parts {

/// The order of dimensions in memory of a kernel's operands and results.
enum class KernelOrder : std::uint8_t {
  rows,         ///< row-major
  as_they_lie,  ///< operands in any order, results in row-major
  elementwise,  ///< all in one order, seen by the kernel as dense
};

/// The best order for an elementwise operator: that of one of its operands, preferably not row-major.
[[nodiscard]] inline DimOrder best_order(Planner& p, std::span<const ValueId> operands, ValueId result) {
  const DimOrder plain = DimOrder::row_major(p.rank(result));
  DimOrder best = plain;
  for (const ValueId v : operands) {
    if (p.state(v).constant || !same_dims(p.dims(v), p.dims(result))) continue;
    const DimOrder& order = p.plan.slots[p.raw(v)].order;
    if (same_order(p.dims(v), best, plain)) best = order;
  }
  return best;
}
/// The order of an operand's dimensions for a result in `order`.
[[nodiscard]] constexpr DimOrder order_of_operand(const DimOrder& order, std::size_t rank) noexcept {
  DimOrder out;
  const std::size_t missing = order.rank - rank;
  for (std::size_t p = 0; p < order.rank; ++p)
    if (order.dim[p] >= missing) out.dim[out.rank++] = static_cast<std::uint8_t>(order.dim[p] - missing);
  return out;
}

/// Adds a call of the node's kernel. Results beyond the first are made only if they are used.
inline void emit_kernel(Planner& p, const Call& call, KernelOrder how) {
  const GraphModuleView graph = p.graph();
  std::vector<ValueId> operands, results;
  const OperatorCall node = operator_call(graph, graph.nodes[call.id()]);
  for (const Argument& a : node.inputs)
    graph.for_each_value(a, [&](ValueId v) {
      if (std::ranges::find(operands, v) == operands.end()) operands.push_back(v);
    });
  for (std::size_t i = 0; i < call.outputs(); ++i) results.push_back(call.output(i));
  while (results.size() > 1 && !p.used(results.back())) results.pop_back();
  KernelRow row{.elementwise = how == KernelOrder::elementwise};
  if (row.elementwise && std::ranges::any_of(operands, [&](ValueId v) { return p.rank(v) > p.rank(results[0]); }))
    return p.refuse(call.id());
  if (!portable_kernels::bind_node(graph, call.id(), node.target, p.numbered(operands), row.step).empty())
    return p.refuse(call.id());
  const DimOrder order =
      how == KernelOrder::elementwise ? best_order(p, operands, results[0]) : DimOrder::row_major(p.rank(results[0]));
  for (const ValueId v : operands) {
    row.step.dtypes.push_back(graph.values[v].dtype);
    row.slots.push_back(how == KernelOrder::as_they_lie ? p.need(v)
                        : how == KernelOrder::rows      ? p.need(v, DimOrder::row_major(p.rank(v)))
                                                        : p.need(v, order_of_operand(order, p.rank(v)), true));
  }
  for (const ValueId v : results) {
    row.step.dtypes.push_back(graph.values[v].dtype);
    row.slots.push_back(p.define(v, v == results[0] ? order : DimOrder::row_major(p.rank(v))));
  }
  row.step.results = results.size();
  p.add_kernel(std::move(row), call.id());
}

/// The order of operands for a node that only portable's kernel computes.
[[nodiscard]] inline KernelOrder kernel_order(GraphModuleView graph, NodeId node) {
  if (is_elementwise(graph, node)) return KernelOrder::elementwise;
  return is_reduction(operator_call(graph, graph.nodes[node]).target) ? KernelOrder::as_they_lie : KernelOrder::rows;
}

namespace detail {

/// clamp(x (n) + y (n), low, high) -> (n), where a NaN stays NaN.
struct BoundedSum {
  float low, high;
  [[gnu::always_inline]] float operator()(float a, float b) const noexcept {
    return kernels::nan_min(kernels::nan_max(a + b, low), high);
  }
  template <kernels::FloatVector V>
  [[gnu::always_inline]] void operator()(const V& a, const V& b, V& to) const noexcept {
    kernels::nan_clamp(a + b, low, high, to);
  }
};
[[nodiscard]] inline ErrorCode bounded_sum(portable_kernels::KernelCall& call) {
  const TensorView &a = call.tensor(0), &b = call.tensor(1);
  if (const ErrorCode code = call.make_like(0, a); code != ErrorCode::ok) return code;
  const BoundedSum f{static_cast<float>(call.number(2)), static_cast<float>(call.number(3))};
  auto* const to = call.output(0).as<float>();
  kernels::in_parallel(
      a.numel(), 1, kernels::operations(a.numel(), 1, 8), [&](std::size_t, std::int64_t first, std::int64_t end) {
        kernels::map_pairs(f, a.as<float>() + first, true, b.as<float>() + first, true, to + first, end - first);
      });
  return ErrorCode::ok;
}

}  // namespace detail

/// Fuses the sum and the clamp of a residual block to one pass, of float32. Returns false for other nodes.
[[nodiscard]] inline bool emit_bounded_sum(Planner& p, const Call& call) {
  operators::BinaryView view;
  if (operators::read_binary(call.arguments(), view) || view.function != operators::BinaryFunction::add ||
      view.alpha != 1 || view.left == no_id || view.right == no_id)
    return false;
  for (const ValueId v : {view.left, view.right, call.output()})
    if (p.graph().values[v].dtype != ScalarType::float32 || !same_dims(p.dims(v), p.dims(call.output()))) return false;
  const Clamped out = take_clamp(p, call.output());
  if (out.value == call.output()) return false;
  const DimOrder order = best_order(p, std::array{view.left, view.right}, call.output());
  const std::array tensors{portable_kernels::KernelTensor{}, portable_kernels::KernelTensor{}};
  const std::array numbers{EValue(double{out.bounds.low}), EValue(double{out.bounds.high})};
  p.add_kernel({.step = own_kernel_step(detail::bounded_sum, tensors, numbers, {}),
                .slots = {p.need(view.left, order), p.need(view.right, order), p.define(out.value, order)},
                .elementwise = true},
               call.id());
  return true;
}

/// Adds an int8 step, of fixed sizes, in place of a quantize and its operand.
inline void emit_bytes(Planner& p, portable_kernels::Int8Step& joined) {
  using namespace portable_kernels;
  const ValueId made = p.calls().call(joined.quantize).output();
  const std::size_t rank = p.rank(made);
  const DimOrder last = DimOrder::channels_last(rank);
  const bool images =
      rank > 2 && (joined.is_sum() ? p.plan.slots[p.raw(joined.first)].order == last : !joined.product.of_rows);
  const DimOrder order = images ? last : DimOrder::row_major(rank);
  joined.layout = images ? ByteLayout::channels_last : ByteLayout::row_major;
  KernelRow row{.slots = {p.need_raw(joined.first, order)}};
  std::vector<KernelTensor> tensors{{{}, p.graph().values[joined.first].dtype}};
  if (joined.is_sum()) {
    row.slots.push_back(p.need_raw(joined.second, order));
    tensors.push_back({{}, p.graph().values[joined.second].dtype});
  } else {
    for (Tensor& constant : joined.constants) {
      const Dim count{.value = constant.numel()};
      tensors.push_back({{}, constant.dtype});
      row.slots.push_back(p.constant_slot(std::move(constant), {&count, 1}, DimOrder::row_major(1)));
    }
  }
  row.step = own_kernel_step(joined.is_sum() ? byte_sum : byte_product, tensors, joined.numbers(),
                             {{}, p.graph().values[made].dtype});
  row.slots.push_back(p.define(made, order));
  p.add_kernel(std::move(row), joined.node);
}

}  // namespace davit::xnnpack_parts
