// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/program_body.hpp"
#include "davit/core/contiguous.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/vectors.hpp"
#include "davit/ops/facts.hpp"
#include "davit/ops/operator_facts.hpp"
#include "davit/program/operators/bounds.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/operators/normalization.hpp"
#include "davit/program/operators/pooling.hpp"
#include "davit/program/uses.hpp"

/// Finds the values to check where a library of primitives loses NaN and infinities.
///
/// Libraries compute relu as a maximum that drops a NaN, mix neighbours in Winograd's algorithm, and so on. That
/// matters only for numbers that are not finite, which are rare. So a backend checks few values while it runs a
/// partition: inputs, and results that may be infinite though their operands are not. If a check fails, it repeats the
/// partition on exact kernels (ExactRun). The bounds on the checked magnitudes prove that all other values are finite.
namespace davit {

enum class ValueCheck : std::uint8_t {
  none,
  finite,  ///< no magnitude above largest_checked
};

/// The largest magnitude that passes a check: products and sums of some such numbers do not overflow.
inline constexpr float largest_checked = 1e9f;

namespace detail {
struct AllPassGuard {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static bool run(const float* x, std::int64_t n) noexcept {
    using Bits = kernels::Vector<std::int32_t, Bytes>;
    constexpr auto limit = std::bit_cast<std::int32_t>(largest_checked);
    constexpr std::int64_t width = kernels::lanes<float, Bytes>;
    const auto excess = [x](std::int64_t at, Bits& to)
                            __attribute__((always_inline)) {  // sets the sign bit of each excess
                              const kernels::Vector<float, Bytes> v = kernels::vector_at<Bytes>(x + at);
                              to |= limit - (__builtin_bit_cast(Bits, v) & INT32_MAX);
                            };
    Bits above{}, more{};
    std::int64_t i = 0;
    for (; i + 2 * width <= n; i += 2 * width) {
      excess(i, above);
      excess(i + width, more);
    }
    above |= more;
    std::int32_t any = 0;
    for (std::int64_t k = 0; k < width; ++k) any |= above[k];
    for (; i < n; ++i) any |= limit - (std::bit_cast<std::int32_t>(x[i]) & INT32_MAX);
    return any >= 0;
  }
};
}  // namespace detail

/// True if no magnitude is above largest_checked, and there is no NaN. O(n).
[[nodiscard]] inline bool all_pass_guard(const float* x, std::int64_t n) noexcept {
  return kernels::run_widest<detail::AllPassGuard>(x, n);
}

/// all_pass_guard for bfloat16.
[[nodiscard, gnu::noinline]] inline bool all_pass_guard(const BFloat16* x, std::int64_t n) noexcept {
  constexpr std::uint16_t limit = BFloat16(largest_checked).bits;
  std::uint16_t most = 0;
  for (std::int64_t i = 0; i < n; ++i) most = std::max(most, static_cast<std::uint16_t>(x[i].bits & INT16_MAX));
  return most <= limit;
}

namespace detail {

/// Converts a float32 or bfloat16 tensor to row-major float32; without storage if there is no memory. O(elements).
[[nodiscard]] inline Tensor dense_floats(const Tensor& tensor) {
  Tensor copy = contiguous(tensor.view());
  if (copy.storage.empty() || tensor.dtype == ScalarType::float32) return copy;
  Tensor floats = Tensor::zeros(ScalarType::float32, tensor.sizes);
  if (!floats.storage.empty()) std::copy_n(copy.view().as<BFloat16>(), copy.numel(), floats.view().as<float>());
  return floats;
}

/// The largest sum of magnitudes of a row; a row spans all dimensions but the first. O(elements).
[[nodiscard]] inline double largest_row(const Tensor& weight) noexcept {
  const std::int64_t rows = weight.sizes.empty() ? 1 : std::max<std::int64_t>(weight.sizes[0], 1);
  const std::int64_t width = weight.numel() / rows;
  const auto* x = weight.view().as<float>();
  float most = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    float sum = 0;
    for (std::int64_t k = 0; k < width; ++k) sum += std::fabs(*x++);
    most = sum <= most ? most : sum;
  }
  return static_cast<double>(most);
}

/// True for a padding with -infinity whose only user is a max pool without a window inside the padding. O(1).
[[nodiscard]] inline bool only_bounds_pool(const GraphModuleView g, const Uses& uses, NodeId n) {
  operators::PadView pad;
  if (operators::read_pad(operators::NodeArguments(g, n), pad) || pad.value != -std::numeric_limits<double>::infinity())
    return false;
  const ValueId padded = operators::NodeArguments(g, n).output();
  const NodeId user = padded == no_id ? no_id : uses.only_user(padded);
  operators::PoolView pool;
  if (user == no_id || operators::read_pool(operators::NodeArguments(g, user), pool) || !pool.maximum ||
      pool.input != padded || pool.ceil_mode || pool.dims > pad.rank)
    return false;
  for (std::size_t d = 0; d < pool.dims; ++d) {
    const std::size_t at = pad.rank - 1 - d, spatial = 2 - d;
    if (pool.dilation[spatial] != 1 ||
        std::max(pad.before[at], pad.after[at]) + pool.padding[spatial] >= pool.kernel[spatial])
      return false;
  }
  for (std::size_t d = 0; d < pad.rank - pool.dims; ++d)
    if (pad.before[d] > 0 || pad.after[d] > 0) return false;
  return true;
}

}  // namespace detail

/// Finds the values of a graph to check, so that no operator that loses NaN or infinities meets any. Of softmax the
/// result is checked: its operand may hold infinities, as masks do. `products_lose`: products of matrices and batch
/// norms lose them, too. Operators for which `runs_as_kernel` is true run on portable's kernels, which lose none.
/// O(nodes + elements of constants).
[[nodiscard]] inline std::vector<ValueCheck> find_value_checks(
    const ProgramBody& body, bool products_lose, bool (*runs_as_kernel)(std::string_view target) = nullptr) {
  const GraphModuleView g = body.graph.view();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double largest = 1e37;  // the bound of unchecked values
  constexpr double room = 1e31;     // the bound of a product with an epilogue
  std::vector<const Tensor*> constant_of(g.values.size(), nullptr);
  std::vector<double> limit(g.values.size(), largest_checked);
  std::vector<std::uint8_t> grown(g.values.size(), 0);
  std::vector<std::uint8_t> not_negative(g.values.size(), 0);
  const Uses uses(g);
  std::vector<std::uint8_t> convolved(g.values.size(),
                                      0);  // fused batch norms: in the weights they would hide infinities
  std::deque<Tensor> dense;                // row-major float32 copies of other constants
  constexpr double largest_byte = 256;
  const auto is_byte = [&](ValueId v) {
    return g.values[v].dtype == ScalarType::int8 || g.values[v].dtype == ScalarType::uint8;
  };
  const auto is_float = [&](ValueId v) {
    return g.values[v].kind == ValueKind::tensor &&
           (g.values[v].dtype == ScalarType::float32 || g.values[v].dtype == ScalarType::bfloat16);
  };
  const auto is_whole = [&](ValueId v) {
    return g.values[v].kind == ValueKind::tensor && is_integral(g.values[v].dtype) && !is_byte(v);
  };
  const auto largest_whole = [&](ValueId v) { return g.values[v].dtype == ScalarType::bool_ ? 1 : 0x1p63; };
  for (ValueId v = 0; v < g.values.size(); ++v)
    if (is_whole(v)) limit[v] = largest_whole(v);
  std::size_t i = 0;
  std::size_t constants = 0;
  for (const Argument& input : g.args(g.root().inputs)) {
    const bool constant = body.roles[i++] == InputRole::constant;
    const Tensor* tensor = constant ? &body.constants[constants++] : nullptr;
    if (tensor == nullptr || !input.is_value()) continue;
    const bool is_half = tensor->dtype == ScalarType::bfloat16;
    if ((is_half || (tensor->dtype == ScalarType::float32 && !tensor->view().is_contiguous())) &&
        tensor->view().nbytes() <= tensor->storage.size())
      if (Tensor copy = detail::dense_floats(*tensor); !copy.storage.empty())
        tensor = &dense.emplace_back(std::move(copy));
    constant_of[input.value()] = tensor;
    double& most = limit[input.value()] = 0;
    const TensorView view = tensor->view();
    if (tensor->dtype == ScalarType::int64 && view.is_contiguous()) {
      for (const std::int64_t *x = view.as<std::int64_t>(), *end = x + tensor->numel(); x != end; ++x)
        most = std::max(most, std::fabs(static_cast<double>(*x)));
      constant_of[input.value()] = nullptr;
    } else if (tensor->dtype != ScalarType::float32 || !view.is_contiguous()) {
      most = is_byte(input.value()) ? largest_byte : infinity;
      constant_of[input.value()] = nullptr;
    } else {
      for (const float *x = view.as<float>(), *end = x + tensor->numel(); x != end; ++x)
        most = std::fabs(*x) <= most ? most : std::isfinite(*x) ? std::fabs(*x) : infinity;
    }
    grown[input.value()] = most > largest;
  }
  const auto size = [&](ValueId v, std::size_t from_end) {  // symbolic sizes count as large
    const std::span<const Dim> dims = g.dims_of(g.values[v].sizes);
    if (dims.size() <= from_end) return 1.0;
    const Dim& dim = dims[dims.size() - 1 - from_end];
    return dim.is_static() ? static_cast<double>(dim.value) : 0x1p24;
  };
  const auto count = [&](ValueId v) {
    double n = 1;
    for (std::size_t d = 0; d < g.values[v].sizes.count; ++d) n *= size(v, d);
    return n;
  };
  for (NodeId n = 0; n < g.nodes.size(); ++n) {
    const Node& node = g.nodes[n];
    const OperatorFacts& facts = functional_facts_of(g.target(node));
    std::vector<ValueId> operands;
    double most = 0;  // the bound of operands and numbers
    double sum = 0;
    double product = 1;
    double numbers = 1;
    double exponent = 2;
    bool flag = false;
    bool infinite = false;  // some number is not finite
    const auto add = [&](double x) { most = std::max(most, x), sum += x, product *= x; };
    for (const Argument& a : g.inputs(node)) {
      if (a.kind == ArgumentKind::float_ || a.kind == ArgumentKind::int_) {
        const double number =
            std::fabs(a.kind == ArgumentKind::int_ ? static_cast<double>(a.payload) : a.float_value());
        if (a.kind == ArgumentKind::float_ && std::isfinite(number)) numbers *= number;
        exponent = number;
        if (std::isfinite(number)) add(std::max(number, 1.0));
        infinite = infinite || !std::isfinite(number);
      }
      flag = flag || (a.kind == ArgumentKind::bool_ && a.payload != 0);
      g.for_each_value(a, [&](ValueId v) {
        operands.push_back(v);
        if (facts.range != RangeBound::embedding || !is_whole(v)) add(limit[v]);
      });
    }
    const auto of = [&](std::size_t k) { return k < operands.size() ? limit[operands[k]] : 0.0; };
    double made = infinity;
    ValueId out = no_id;
    for (const Argument& a : g.outputs(node)) g.for_each_value(a, [&](ValueId v) { out = out == no_id ? v : out; });
    if (operands.empty() && facts.range != RangeBound::maximum) continue;
    switch (facts.range) {
      case RangeBound::unknown: break;
      case RangeBound::maximum:
      case RangeBound::embedding: made = most; break;
      case RangeBound::maximum_scaled: made = std::max(most, most * numbers); break;
      case RangeBound::sum: made = sum; break;
      case RangeBound::product: made = product; break;
      case RangeBound::product_or_first: made = std::max(product, of(0)); break;
      case RangeBound::power: made = exponent == 2 ? of(0) * of(0) : infinity; break;
      case RangeBound::quotient: made = operands.size() == 1 && exponent > 0 ? of(0) / exponent : infinity; break;
      case RangeBound::reduced_sum: made = of(0) * std::max(1.0, count(operands[0]) / std::max(1.0, count(out))); break;
      case RangeBound::unit:
      case RangeBound::unit_interval:
      case RangeBound::softmax: made = 1; break;
      case RangeBound::scaled:
        made = (largest_byte + (operands.size() > 2 ? of(2) : largest_byte)) * (operands.size() > 1 ? of(1) : numbers);
        break;
      case RangeBound::dot_product:
      case RangeBound::convolution:
      case RangeBound::linear:
      case RangeBound::bias_first: {
        const std::size_t first = facts.range == RangeBound::bias_first ? 1 : 0;
        if (operands.size() < first + 2) break;
        const bool convolves = facts.range == RangeBound::convolution;
        const bool by_rows = (convolves && !flag) || facts.range == RangeBound::linear;
        const double terms = convolves ? count(operands[1]) : size(operands[first], 0);
        const double weight = by_rows && constant_of[operands[1]] != nullptr
                                  ? detail::largest_row(*constant_of[operands[1]])
                                  : of(first + 1) * terms;
        const double bias = of(first == 1 ? 0 : 2);
        made = of(first) * weight + bias;
        const double otherwise = largest_checked * weight + bias;
        if (made > room && otherwise <= largest && limit[operands[first]] > largest_checked &&
            g.values[operands[first]].producer != no_id &&
            count(operands[first]) <=
                2 * count(out)) {  // checks its operands instead of its result, which stays inside a primitive
          grown[operands[first]] = 1;
          limit[operands[first]] = largest_checked;
          made = otherwise;
        }
        break;
      }
      case RangeBound::layer_norm:
      case RangeBound::group_norm: {
        double eps = 0;
        const operators::Parameter where{"eps", facts.range == RangeBound::group_norm ? 7u : 4u};
        const bool divides = operators::read_number(operators::NodeArguments(g, n), where, 1e-5, eps) &&
                             eps >= double{std::numeric_limits<float>::min()};
        made = of(0) > 1e15 || !divides ? infinity
                                        : std::sqrt(count(operands[0])) * (operands.size() > 1 ? of(1) : 1) + of(2);
        break;
      }
      case RangeBound::batch_norm: {
        operators::BatchNormView norm;
        if (operators::read_batch_norm(operators::NodeArguments(g, n), norm)) break;
        if (norm.training || constant_of[norm.variance] == nullptr) break;
        const TensorView variance = constant_of[norm.variance]->view();
        double least = infinity;
        for (std::int64_t k = 0; k < variance.numel(); ++k) least = std::min<double>(least, variance.as<float>()[k]);
        if (!(least + norm.eps > 0)) break;
        const double factor = (norm.weight == no_id ? 1 : limit[norm.weight]) / std::sqrt(least + norm.eps);
        made = (limit[norm.input] + limit[norm.mean]) * factor + (norm.bias == no_id ? 0 : limit[norm.bias]);
        break;
      }
    }
    bool positive = facts.range == RangeBound::unit_interval || facts.range == RangeBound::softmax;
    operators::ClampView bounds;
    const bool bounded = !operators::read_clamp(operators::NodeArguments(g, n), bounds);
    if (infinite && detail::only_bounds_pool(g, uses, n)) infinite = false;
    if (infinite && !(bounded && bounds.low < infinity && bounds.high > -infinity)) made = infinity;
    if (bounded) {
      positive = bounds.low >= 0 || not_negative[operands[0]] != 0;
      made = std::min(made, std::max(positive ? 0 : std::fabs(bounds.low), std::fabs(bounds.high)));
    }
    for (const Argument& a : g.outputs(node))
      g.for_each_value(a, [&](ValueId v) {
        not_negative[v] = positive;
        convolved[v] = facts.range == RangeBound::convolution;
        if (is_byte(v)) {
          limit[v] = largest_byte;
          return;
        }
        if (is_whole(v)) {
          limit[v] = made <= largest_whole(v) ? made : largest_whole(v);
          return;
        }
        grown[v] = !(made <= largest);
        limit[v] = grown[v] != 0 ? largest_checked : made;
      });
  }
  std::vector<ValueCheck> checks(g.values.size(), ValueCheck::none);
  std::vector<std::uint8_t> needed(g.values.size(), 0);
  for (NodeId n = static_cast<NodeId>(g.nodes.size()); n-- > 0;) {
    const Node& node = g.nodes[n];
    const OperatorFacts& facts = functional_facts_of(g.target(node));
    const bool softmax = facts.range == RangeBound::softmax;
    const bool product = facts.range == RangeBound::dot_product || facts.range == RangeBound::convolution ||
                         facts.range == RangeBound::linear || facts.range == RangeBound::bias_first ||
                         facts.range == RangeBound::batch_norm;
    const bool by_kernel = runs_as_kernel != nullptr && runs_as_kernel(operator_call(g, node).target);
    bool needs = !by_kernel && (!facts.keeps_nonfinite || (products_lose && product));
    bool exact = true;  // portable's kernels make its results: all integers or bools
    for (const Argument& a : g.outputs(node))
      g.for_each_value(a, [&](ValueId v) { exact = exact && !is_float(v) && !is_byte(v); });
    if (exact) continue;
    for (const Argument& a : g.outputs(node))
      g.for_each_value(a, [&](ValueId v) {
        if (needed[v] == 0) return;
        if (grown[v] != 0 || softmax)
          checks[v] = ValueCheck::finite;
        else
          needs = true;
      });
    for (const Argument& a : g.inputs(node))
      g.for_each_value(a, [&](ValueId v) {
        if (needs || (facts.range == RangeBound::batch_norm && convolved[v] != 0)) needed[v] = 1;
      });
  }
  i = 0;
  for (const Argument& input : g.args(g.root().inputs)) {
    const bool constant = body.roles[i++] == InputRole::constant;
    if (!input.is_value() || needed[input.value()] == 0) continue;
    if (!constant || grown[input.value()] != 0) checks[input.value()] = ValueCheck::finite;
  }
  for (ValueId v = 0; v < g.values.size(); ++v)
    if (!is_float(v)) checks[v] = ValueCheck::none;
  return checks;
}

/// True if the numbers of a constant float32 tensor, and all numbers between them, pass the check.
[[nodiscard]] inline bool passes_guard(const Tensor& constant) {
  const MemoryRange all = memory_range(constant.view());
  return all_pass_guard(reinterpret_cast<const float*>(all.begin),
                        (all.end - all.begin) / static_cast<std::ptrdiff_t>(sizeof(float)));
}

/// True if a constant fails its check: then every run does.
[[nodiscard]] inline bool constants_are_lost(const ProgramBody& body, const std::vector<ValueCheck>& checks) {
  const GraphModuleView g = body.graph.view();
  std::size_t i = 0;
  for (const Argument& input : g.args(g.root().inputs))
    if (body.roles[i++] == InputRole::constant && input.is_value() && checks[input.value()] != ValueCheck::none)
      return true;
  return false;
}

}  // namespace davit
