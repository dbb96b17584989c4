// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/windows/pool_rows.hpp"
#include "davit/backends/portable/run_time/windows/pool_window.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/program/operators/pooling.hpp"

namespace davit::portable_kernels {

namespace detail {

/// The divisor of a window's sum.
struct AverageRule {
  bool count_include_pad = true;
  std::int64_t divisor = 0;  ///< 0: the number of elements

  [[nodiscard]] std::int64_t divisor_of(const Box& box) const noexcept {
    if (divisor != 0) return divisor;
    return count_include_pad ? volume(box.padded) : box.count();
  }
};

/// a / b rounded towards zero, for b != 0; INT64_MIN / -1 wraps around.
[[nodiscard]] inline std::uint64_t divide_wrapping(std::uint64_t a, std::int64_t b) noexcept {
  return b == -1 ? 0 - a : static_cast<std::uint64_t>(static_cast<std::int64_t>(a) / b);
}

/// The averages of a plane, row by row: each window's elements are added in row-major order, as in sum_box. `counts`:
/// the counted elements of a window along the row; `apart` and `sums`: work space for a row of the input and of the
/// output.
template <class C>
void avg_pool_by_rows(const PoolWindow& w, const PoolRow& row, const AverageRule& rule, const C* plane,
                      const std::int64_t* offsets, const C* counts, C* apart, C* sums, C* out) {
  for_each_row_of_windows(w, [&](const PoolSpan& depth, const PoolSpan& height) {
    std::fill_n(sums, w.out[2], C{});
    for_each_covered_row(w, depth, height, [&](std::int64_t at) {
      row.split(plane + at, apart);
      kernels::run_widest_for<C, AddTaps>(offsets, w.kernel[2], static_cast<const C*>(apart), sums, w.out[2]);
    });
    const bool empty = depth.begin >= depth.end || height.begin >= height.end;
    const std::int64_t rows =
        rule.count_include_pad ? depth.padded * height.padded : (depth.end - depth.begin) * (height.end - height.begin);
    if (!empty)
      kernels::run_widest_for<C, DivideByCounts>(counts, static_cast<C>(rule.divisor != 0 ? rule.divisor : rows), sums,
                                                 w.out[2]);
    out = std::copy_n(sums, w.out[2], out);
  });
}

/// Averages of floats by rows.
template <class C>
[[nodiscard]] ErrorCode compute_row_averages(KernelCall& call, const PoolWindow& w, const AverageRule& rule) {
  const PoolRow row(w);
  ComputeBuffers<C> buffers(call);
  const auto input = buffers.read(call.tensor(0));
  const auto out = buffers.write(0);
  const auto offsets = buffers.template buffer_of<std::int64_t>(w.kernel[2]);
  const std::int64_t places = w.out[2] + beyond, own = row.count() + places;  // per thread
  const auto rows = buffers.buffer({places + own * kernels::team_size()});
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  std::int64_t* const taps = buffers.template at<std::int64_t>(offsets);
  for (std::int64_t k = 0; k < w.kernel[2]; ++k) taps[k] = row.offset(k);
  C* const counts = buffers.out(rows);
  std::fill_n(counts, places, C{1});
  std::fill_n(counts + places, own * kernels::team_size(), C{});
  for (std::int64_t x = 0; x < w.out[2]; ++x)
    if (const PoolSpan span = sliding_span(w, 2, x); rule.divisor == 0 && span.begin < span.end)
      counts[x] = static_cast<C>(rule.count_include_pad ? span.padded : span.end - span.begin);
  share_planes(w, (volume(w.in) + volume(w.out) * volume(w.kernel)) / 8, [&](std::size_t part, std::int64_t p) {
    C* const apart = counts + places + static_cast<std::int64_t>(part) * own;
    avg_pool_by_rows<C>(w, row, rule, buffers.in(input) + p * volume(w.in), taps, counts, apart, apart + row.count(),
                        buffers.out(out) + p * volume(w.out));
  });
  return buffers.finish();
}

template <class C>
[[nodiscard]] ErrorCode compute_avg_pool(KernelCall& call, const PoolWindow& w, const AverageRule& rule) {
  if constexpr (std::is_floating_point_v<C>) {
    constexpr std::int64_t most = 1 << 7;  // elements of a window: their number is a float
    if (volume(w.out) > 0 && PoolRow::pays(w) &&
        std::ranges::all_of(w.kernel, [](std::int64_t k) { return k <= most; }))
      return compute_row_averages<C>(call, w, rule);
  }
  return pool_planes<C>(call, w, sliding_span, [&](const C* plane, std::int64_t, const Box& box) {
    if (box.empty()) return C{};
    if constexpr (std::is_integral_v<C>)
      return divide_wrapping(sum_box(plane, w.in, box), rule.divisor_of(box));
    else
      return sum_box(plane, w.in, box) / static_cast<C>(rule.divisor_of(box));
  });
}

template <class C>
[[nodiscard]] ErrorCode compute_avg_pool_backward(KernelCall& call, const PoolWindow& w, const AverageRule& rule) {
  return spread_over_planes<C>(call, w, sliding_span, [&](C grad, const Box& box) {
    if constexpr (std::is_integral_v<C>)
      return divide_wrapping(grad, rule.divisor_of(box));
    else
      return grad / static_cast<C>(rule.divisor_of(box));
  });
}

/// Calls f with the compute type: uint64 for int64, so that sums wrap around, floats as usual.
template <class F>
[[nodiscard]] ErrorCode dispatch_average(KernelCall& call, ScalarType type, F&& f) {
  if (type == ScalarType::int64) return f.template operator()<std::uint64_t>();
  return dispatch_floating(call, type, f);
}

[[nodiscard]] inline ErrorCode run_avg_pool(KernelCall& call, const operators::PoolOperator& op) {
  const TensorView& input = call.tensor(0);
  operators::PoolView view;
  PoolWindow w;
  if (const ErrorCode code = read_pool(call, op, view, w); code != ErrorCode::ok) return code;
  const AverageRule rule{view.count_include_pad, view.divisor};
  if (const ErrorCode code = call.make(0, input.dtype, w.out_sizes(input)); code != ErrorCode::ok) return code;
  return dispatch_average(call, input.dtype, [&]<class C>() { return compute_avg_pool<C>(call, w, rule); });
}

[[nodiscard]] constexpr bool is_average(const operators::PoolOperator& op) noexcept {
  return !op.maximum && !op.gradient;
}

}  // namespace detail

/// The gradient of avg_pool2d's input. Source: at::avg_pool2d_backward.
[[nodiscard]] inline ErrorCode avg_pool2d_backward(KernelCall& call) {
  const TensorView& grad = call.tensor(0);
  const TensorView& input = call.tensor(1);
  operators::PoolView view;
  PoolWindow w;
  const auto& op = operators::row_of(operators::pool_operators, "aten.avg_pool2d_backward.default");
  if (const ErrorCode code = read_pool(call, op, view, w); code != ErrorCode::ok) return code;
  const detail::AverageRule rule{view.count_include_pad, view.divisor};
  if (!std::ranges::equal(grad.sizes(), w.out_sizes(input).span()))
    return call.refuse(ErrorCode::invalid_shape,
                       "avg_pool2d backward: grad_output must have the sizes of the pooled tensor");
  if (grad.dtype != input.dtype)
    return call.refuse(ErrorCode::invalid_dtype, "avg_pool2d backward: the operands must have the same dtype");
  if (const ErrorCode code = call.make_like(0, input); code != ErrorCode::ok) return code;
  return detail::dispatch_average(call, input.dtype,
                                  [&]<class C>() { return detail::compute_avg_pool_backward<C>(call, w, rule); });
}

/// Averages: (self (N?, C, spatial), kernel_size, stride=[] (the kernel size), padding, ceil_mode, count_include_pad,
/// over two and three dimensions divisor_override), and the gradient. Source: at::avg_pool1d, at::avg_pool2d,
/// at::avg_pool3d.
inline constexpr auto avg_pool_ops =
    joined_rows(rows_of<operators::pool_operators, detail::run_avg_pool, detail::is_average>(),
                std::to_array<OpRow>({{"aten.avg_pool2d_backward.default", avg_pool2d_backward}}));

}  // namespace davit::portable_kernels
