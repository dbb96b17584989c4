// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backend/embed_contract.hpp"
#include "davit/backends/portable/int8/fold_requantize.hpp"
#include "davit/backends/portable/int8/pool.hpp"
#include "davit/program/operators/pooling.hpp"
#include "davit/program/operators/reduction.hpp"

namespace davit::int8_fold {

struct int8_max_pool2d {
  using Params = int8_kernels::PoolShape;
  template <class T>
  [[gnu::always_inline]] static constexpr void run(const Params& p, T* y, const T* x) noexcept {
    int8_kernels::max_pool2d(x, y, p);
  }
};
struct int8_avg_pool2d {
  using Params = int8_kernels::AvgPool;
  template <class T>
  [[gnu::always_inline]] static constexpr void run(const Params& p, T* y, const T* x) noexcept {
    int8_kernels::avg_pool2d(x, y, p);
  }
};

using int8_pool_kernels = kernel_list<int8_max_pool2d, int8_avg_pool2d>;

namespace detail {

/// The shape of a node's pooling over the last two dimensions.
[[nodiscard]] constexpr int8_kernels::PoolShape planes_of(const EmbedGraph& g, ValueId x) noexcept {
  int8_kernels::PoolShape s;
  s.in_h = static_cast<std::int32_t>(g.size(x, -2));
  s.in_w = static_cast<std::int32_t>(g.size(x, -1));
  s.planes = static_cast<std::int32_t>(g.numel(x) / (std::int64_t{s.in_h} * s.in_w));
  return s;
}
[[nodiscard]] constexpr int8_kernels::PoolShape shape_of(const EmbedNode& n, const operators::PoolView& v) noexcept {
  int8_kernels::PoolShape s = planes_of(n.g, v.input);
  s.out_h = static_cast<std::int32_t>(n.g.size(n.output(), -2));
  s.out_w = static_cast<std::int32_t>(n.g.size(n.output(), -1));
  s.kernel_h = static_cast<std::int32_t>(v.kernel[1]);
  s.kernel_w = static_cast<std::int32_t>(v.kernel[2]);
  s.stride_h = static_cast<std::int32_t>(v.stride[1]);
  s.stride_w = static_cast<std::int32_t>(v.stride[2]);
  s.pad_h = static_cast<std::int32_t>(v.padding[1]);
  s.pad_w = static_cast<std::int32_t>(v.padding[2]);
  s.dilation_h = static_cast<std::int32_t>(v.dilation[1]);
  s.dilation_w = static_cast<std::int32_t>(v.dilation[2]);
  return s;
}
/// Adaptive averages and means of planes, if their windows divide the planes evenly; a divisor of 0 otherwise.
[[nodiscard]] constexpr int8_kernels::PoolShape even_average(const EmbedNode& n, std::int64_t& divisor) noexcept {
  divisor = 0;
  operators::AdaptivePoolView adaptive;
  if (operators::read_adaptive_pool(n, adaptive)) {
    operators::ReductionView mean;
    if (operators::read_reduction(n, mean) || mean.function != operators::ReductionFunction::mean) return {};
    if (mean.dims != std::uint32_t{3} << (n.g.rank(mean.input) - 2)) return {};
    adaptive = {.input = mean.input, .dims = 2};
  }
  if (adaptive.dims != 2) return {};
  int8_kernels::PoolShape s = planes_of(n.g, adaptive.input);
  s.out_h = static_cast<std::int32_t>(adaptive.out[1]);
  s.out_w = static_cast<std::int32_t>(adaptive.out[2]);
  if (s.out_h == 0 || s.out_w == 0 || s.in_h % s.out_h != 0 || s.in_w % s.out_w != 0) return {};
  s.kernel_h = s.stride_h = s.in_h / s.out_h;
  s.kernel_w = s.stride_w = s.in_w / s.out_w;
  divisor = std::int64_t{s.kernel_h} * s.kernel_w;
  return s;
}

}  // namespace detail

/// dequantize -> pooling or a mean of planes -> [bounds] -> quantize. False if `n` is no such pooling.
[[nodiscard]] constexpr bool fold_pool(const EmbedNode& n, const Quantized& out, StepWriter& steps) {
  const ValueId x = n.value("self");
  if (x == no_id || n.g.rank(x) < 2 || n.g.numel(x) == 0) return false;
  const Quantized in = source_of(n.g, x);
  if (!in.found() || in.dtype != out.dtype) return false;
  operators::PoolView pool;
  const bool slides = !operators::read_pool(n, pool);
  if (slides && pool.dims != 2) return false;
  if (slides && pool.maximum) {
    if (n.uses_output(1) || !in.same_numbers(out) || out.low > in.low || out.high < in.high) return false;
    steps.step<int8_max_pool2d>(detail::shape_of(n, pool)).out(out.value).in(in.value);
    return true;
  }
  if (slides && (pool.ceil_mode || (pool.is_padded() && !pool.count_include_pad))) return false;
  std::int64_t divisor =
      pool.divisor != 0 ? pool.divisor : pool.kernel[1] * pool.kernel[2];  // the number of elements of a window
  int8_kernels::AvgPool p{.shape = slides ? detail::shape_of(n, pool) : detail::even_average(n, divisor)};
  if (divisor <= 0 || !(out.scale > 0)) return false;
  const std::int64_t area = std::int64_t{p.shape.kernel_h} * p.shape.kernel_w;
  const int8_kernels::Multiplier m =
      int8_kernels::multiplier_of(in.scale / (out.scale * static_cast<double>(divisor)), 8);
  if (m.shift < 0 || (area * 256) >= (std::int64_t{1} << (31 - m.shift))) return false;
  p.multiplier = m.multiplier;
  p.shift = m.shift;
  p.input_zero_point = in.zero_point;
  p.output_zero_point = out.zero_point;
  p.low = out.low;
  p.high = out.high;
  steps.step<int8_avg_pool2d>(p).out(out.value).in(in.value);
  return true;
}

}  // namespace davit::int8_fold
