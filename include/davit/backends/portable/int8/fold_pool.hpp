// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backend/embed_contract.hpp"
#include "davit/backends/portable/int8/fold_requantize.hpp"
#include "davit/backends/portable/int8/pool.hpp"

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

/// Windows as a pooling node lists them, over the last two dimensions.
[[nodiscard]] constexpr int8_kernels::PoolShape window_of(const EmbedNode& n) noexcept {
  const EmbedGraph& g = n.g;
  const ValueId x = n.value("self");
  int8_kernels::PoolShape s;
  s.in_h = static_cast<std::int32_t>(g.size(x, -2));
  s.in_w = static_cast<std::int32_t>(g.size(x, -1));
  s.out_h = static_cast<std::int32_t>(g.size(n.output(), -2));
  s.out_w = static_cast<std::int32_t>(g.size(n.output(), -1));
  s.planes = static_cast<std::int32_t>(g.numel(x) / (std::int64_t{s.in_h} * s.in_w));
  const auto pair = [&](const char* name, std::int64_t fallback, std::int32_t& h, std::int32_t& w) {
    const auto both = n.integers<2>(name, fallback);
    h = static_cast<std::int32_t>(both[0]);
    w = static_cast<std::int32_t>(both[1]);
  };
  pair("kernel_size", 1, s.kernel_h, s.kernel_w);
  s.stride_h = s.kernel_h;
  s.stride_w = s.kernel_w;
  if (n.count("stride") != 0) pair("stride", 1, s.stride_h, s.stride_w);
  pair("padding", 0, s.pad_h, s.pad_w);
  pair("dilation", 1, s.dilation_h, s.dilation_w);
  return s;
}
/// Windows that divide the planes evenly.
[[nodiscard]] constexpr bool divide_evenly(int8_kernels::PoolShape& s) noexcept {
  if (s.out_h == 0 || s.out_w == 0 || s.in_h % s.out_h != 0 || s.in_w % s.out_w != 0) return false;
  s.kernel_h = s.stride_h = s.in_h / s.out_h;
  s.kernel_w = s.stride_w = s.in_w / s.out_w;
  return true;
}
[[nodiscard]] constexpr bool is_mean_of_planes(const EmbedNode& n) noexcept {
  if (!n.is("aten.mean.dim") || n.count("dim") != 2) return false;
  const auto dims = n.integers<2>("dim", 0);
  const std::int64_t rank = n.g.rank(n.value("self"));
  const std::int64_t a = dims[0] < 0 ? dims[0] + rank : dims[0];
  const std::int64_t b = dims[1] < 0 ? dims[1] + rank : dims[1];
  return a + b == 2 * rank - 3 && (a - b == 1 || b - a == 1);
}
/// Averages whose windows all have `divisor` elements. A divisor of 0 means that it is none this header computes.
[[nodiscard]] constexpr int8_kernels::PoolShape average_of(const EmbedNode& n, std::int64_t& divisor) noexcept {
  int8_kernels::PoolShape s;
  if (n.is("aten.avg_pool2d.default")) {
    s = window_of(n);
    const bool padded = s.pad_h != 0 || s.pad_w != 0;
    if (n.flag("ceil_mode") || (padded && !n.flag("count_include_pad", true))) return s;
    divisor = n.integer("divisor_override", std::int64_t{s.kernel_h} * s.kernel_w);
    return s;
  }
  const bool mean = is_mean_of_planes(n);
  if (!mean && !n.is("aten._adaptive_avg_pool2d.default") && !n.is("aten.adaptive_avg_pool2d.default")) return s;
  const ValueId x = n.value("self");
  s.in_h = static_cast<std::int32_t>(n.g.size(x, -2));
  s.in_w = static_cast<std::int32_t>(n.g.size(x, -1));
  if (!mean) {
    s.out_h = static_cast<std::int32_t>(n.g.size(n.output(), -2));
    s.out_w = static_cast<std::int32_t>(n.g.size(n.output(), -1));
  }
  if (s.in_h == 0 || s.in_w == 0 || !divide_evenly(s)) return s;
  s.planes = static_cast<std::int32_t>(n.g.numel(x) / (std::int64_t{s.in_h} * s.in_w));
  divisor = std::int64_t{s.kernel_h} * s.kernel_w;
  return s;
}

}  // namespace detail

/// dequantize -> pooling or a mean of planes -> [bounds] -> quantize. False if `n` is none that fits.
[[nodiscard]] constexpr bool fold_pool(const EmbedNode& n, const Quantized& out, StepWriter& steps) {
  const ValueId x = n.value("self");
  if (x == no_id || n.g.rank(x) < 2 || n.g.numel(x) == 0) return false;
  const Quantized in = source_of(n.g, x);
  if (!in.found() || in.dtype != out.dtype) return false;
  if (n.is("aten.max_pool2d_with_indices.default") || n.is("aten.max_pool2d.default")) {
    if (n.uses_output(1) || !in.same_numbers(out) || out.low > in.low || out.high < in.high) return false;
    steps.step<int8_max_pool2d>(detail::window_of(n)).out(out.value).in(in.value);
    return true;
  }
  std::int64_t divisor = 0;
  int8_kernels::AvgPool p{.shape = detail::average_of(n, divisor)};
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
