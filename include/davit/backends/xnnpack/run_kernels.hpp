// SPDX-License-Identifier: MIT
#pragma once

#include <pthreadpool.h>
#include <xnnpack.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/backends/portable/run_time/products/multiply.hpp"
#include "davit/backends/xnnpack/create_operator.hpp"
#include "davit/backends/xnnpack/elementwise_kernels.hpp"
#include "davit/backends/xnnpack/setup_operator.hpp"
#include "davit/backends/xnnpack/workspace.hpp"
#include "davit/core/scratch.hpp"
#include "davit/core/walk.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/layer_norm.hpp"
#include "davit/kernels/move.hpp"
#include "davit/kernels/quantize.hpp"
#include "davit/kernels/reduce.hpp"
#include "davit/kernels/softmax.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/kernels/walk_in_parallel.hpp"

namespace davit::xnnpack_parts {

/// The walk over a tensor's sizes with element strides for each operand.
[[nodiscard]] inline Walk walk_of(const Extent& sizes, const auto&... strides) noexcept {
  Walk walk(std::span(sizes.sizes).first(sizes.rank));
  (walk.add(std::span(strides).first(sizes.rank), 1), ...);
  return walk;
}

/// Elements from one index of a dimension to the next, in row-major order.
[[nodiscard]] inline std::int64_t elements_behind(const Extent& x, std::size_t axis) noexcept {
  std::int64_t count = 1;
  for (std::size_t d = axis + 1; d < x.rank; ++d) count *= x.sizes[d];
  return count;
}

/// Calls f(first, count) for stretches of `count` things of so many elements each, on the threads of the run.
template <class F>
void share(std::int64_t count, std::int64_t elements, F&& f) noexcept {
  kernels::in_parallel(count, 1, kernels::operations(count, elements, 8),
                       [&](std::size_t, std::int64_t first, std::int64_t end) { f(first, end - first); });
}

inline void run_unary(const Plan& plan, const Workspace& ws, const Step& step) {
  const Extent x = extent_of(plan, ws, step.in[0]);
  const auto* from = reinterpret_cast<const float*>(address(plan, ws, step.in[0]));
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  if (is_flat(plan, step))
    return share(x.count, 1,
                 [&](std::int64_t first, std::int64_t count) { map_elements(step, from + first, to + first, count); });
  const auto from_pitch = static_cast<std::int64_t>(pitch(plan, step.in[0])),
             to_pitch = static_cast<std::int64_t>(pitch(plan, step.out));
  share(x.rows(), x.last(), [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t r = first; r < first + count; ++r)
      map_elements(step, from + r * from_pitch, to + r * to_pitch, x.last());
  });
}

/// The bytes of a quantized output.
[[nodiscard]] inline kernels::ByteRange bytes_of(const Step& step) noexcept {
  return {step.alpha, step.quantization[2].zero_point, step.low, step.high};
}

/// Calls f(walk, operands' addresses) for the result of a function of two tensors and both of these, in the order in
/// which the result lies.
template <class F>
void with_pair(const Plan& plan, const Workspace& ws, const Step& step, F&& f) {
  const Extent out = extent_of(plan, ws, step.out);
  std::array<std::array<std::int64_t, max_dims>, 2> own;  // strides, 0 where an operand repeats
  std::array<const std::byte*, 2> at{};
  for (std::size_t i = 0; i < 2; ++i) {
    const Extent e = extent_of(plan, ws, step.in[i]);
    const std::array<std::int64_t, max_dims> from = strides_of(plan, ws, step.in[i]);
    const std::size_t shift = step.axis != 0 && e.rank == 1 ? step.axis : out.rank - e.rank;
    for (std::size_t d = 0; d < out.rank; ++d) {
      const bool has = d >= shift && d < shift + e.rank;
      own[i][d] = has && e.sizes[d - shift] != 1 ? from[d - shift] : 0;
    }
    at[i] = address(plan, ws, step.in[i]);
  }
  Walk walk = walk_of(out, strides_of(plan, ws, step.out), own[0], own[1]);
  walk.sort_by(0);
  walk.collapse();
  f(walk, at);
}

inline void run_binary(const Plan& plan, const Workspace& ws, const Step& step) {
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  with_pair(plan, ws, step, [&](const Walk& walk, const std::array<const std::byte*, 2>& at) {
    binary_elements(step, reinterpret_cast<const float*>(at[0]), reinterpret_cast<const float*>(at[1]), to, walk);
  });
}

/// A function of two int8 tensors, as of the floats that they stand for: block by block. PyTorch's result.
inline void run_quantized_binary(const Plan& plan, const Workspace& ws, const Step& step) {
  constexpr std::int64_t block = 1024;
  const Step floats{.op = step.op == Op::add_s8 ? Op::add : step.op == Op::subtract_s8 ? Op::subtract : Op::multiply};
  const auto scale_of = [&](std::size_t i) {
    return kernels::ByteScale{step.quantization[i].scale, static_cast<float>(step.quantization[i].zero_point)};
  };
  const std::array scales{scale_of(0), scale_of(1)};
  const kernels::ByteRange range = bytes_of(step);
  auto* to = reinterpret_cast<std::int8_t*>(address(plan, ws, step.out));
  with_pair(plan, ws, step, [&](const Walk& walk, const std::array<const std::byte*, 2>& at) {
    kernels::walk_in_parallel(walk, 1, 8, [&](std::size_t, const kernels::WalkPart& part) {
      const std::int64_t to_step = walk.strides[0][0];
      std::array<std::array<float, block>, 2> x;
      std::array<std::int8_t, block> made;
      const auto take = [&](std::size_t i, const std::int8_t* from, std::int64_t from_step, std::int64_t n) {
        if (from_step == 1) return kernels::run_widest<kernels::Dequantize>(from, x[i].data(), n, &scales[i]);
        for (std::int64_t k = 0; k < n; ++k)
          x[i][static_cast<std::size_t>(k)] = kernels::dequantized(from[k * from_step], scales[i]);
      };
      part.walk.for_each_row([&](const auto& row) {
        for (std::int64_t first = 0, n = 0; first < part.walk.sizes[0]; first += n) {
          n = std::min(block, part.walk.sizes[0] - first);
          std::array<bool, 2> steps{};
          for (std::size_t i = 0; i < 2; ++i) {
            const std::int64_t from_step = walk.strides[i + 1][0];
            const auto* const from =
                reinterpret_cast<const std::int8_t*>(at[i]) + part.at[i + 1] + row[i + 1] + first * from_step;
            steps[i] = from_step != 0;
            take(i, from, from_step, steps[i] ? n : 1);
          }
          binary_row(floats, x[0].data(), steps[0], x[1].data(), steps[1], x[0].data(), n);
          std::int8_t* const out = to + part.at[0] + row[0] + first * to_step;
          if (to_step == 1) {
            kernels::run_widest<kernels::Quantize>(x[0].data(), out, n, &range);
            continue;
          }
          kernels::run_widest<kernels::Quantize>(x[0].data(), made.data(), n, &range);
          for (std::int64_t k = 0; k < n; ++k) out[k * to_step] = made[static_cast<std::size_t>(k)];
        }
      });
    });
  });
}

/// Moves elements of so many bytes, in the order in which the target's lie; strides are in elements.
inline void move_along(const std::byte* from, const std::array<std::int64_t, max_dims>& from_strides, std::byte* to,
                       const std::array<std::int64_t, max_dims>& to_strides, std::size_t element,
                       const Extent& sizes) noexcept {
  Walk walk(std::span(sizes.sizes).first(sizes.rank));
  walk.add(std::span(from_strides).first(sizes.rank), element)
      .add(std::span(to_strides).first(sizes.rank), element)
      .sort_by(1);
  walk.collapse();
  kernels::move_in_parallel(element, walk, from, to);
}
inline void run_copy(const Plan& plan, const Workspace& ws, const Step& step) {
  const Slot& from = plan.slots[step.in[0]];
  const Extent x = extent_of(plan, ws, step.in[0]);
  const Extent out = extent_of(plan, ws, step.out);
  std::array<std::int64_t, max_dims> from_strides = strides_of(plan, ws, step.in[0]);
  if (const Buffer& b = plan.buffers[from.buffer]; b.place == Place::input && ws.input_strides.size() > b.number)
    for (std::size_t d = 0; d < x.rank; ++d) from_strides[d] = ws.input_strides[b.number][d];
  std::array<std::int64_t, max_dims> to_strides = strides_of(plan, ws, step.out);
  const Extent& walked = step.into ? x : out;
  std::array<std::int64_t, max_dims> walked_strides{};
  std::int64_t from_at = 0;
  std::int64_t to_at = 0;
  const std::size_t shift = out.rank - x.rank;  // an operand with fewer dimensions is repeated along the others
  for (std::size_t d = 0; d < walked.rank; ++d) {
    if (step.into) {
      walked_strides[d] = from_strides[d];
      continue;
    }
    if (d < shift) continue;
    const bool axis = d - shift == step.axis;
    walked_strides[d] = x.sizes[d - shift] == 1 ? 0 : from_strides[d - shift] * (axis ? step.step : 1);
    if (axis) from_at += from_strides[d - shift] * step.start;
  }
  if (step.into) to_at = to_strides[step.axis] * step.start;
  const std::size_t element = size_of(from.dtype);
  move_along(address(plan, ws, step.in[0]) + from_at * static_cast<std::int64_t>(element), walked_strides,
             address(plan, ws, step.out) + to_at * static_cast<std::int64_t>(element), to_strides, element, walked);
}
/// Means over neighbouring physical dimensions, summed in double.
inline void run_mean(const Plan& plan, const Workspace& ws, const Step& step) {
  const Extent x = extent_of(plan, ws, step.in[0]);
  std::int64_t outer = 1, averaged = 1;
  for (std::size_t p = 0; p < step.axis; ++p) outer *= x.physical[p];
  for (std::size_t p = step.axis; p < step.axis + step.axes; ++p) averaged *= x.physical[p];
  const bool inside = step.axis + step.axes == x.rank;
  const std::int64_t inner = inside ? 1 : x.last(),
                     row = inside ? 1 : static_cast<std::int64_t>(pitch(plan, step.in[0]));
  const std::array kept{outer, inner}, kept_strides{averaged * row, std::int64_t{1}};
  const std::array reduced{averaged}, reduced_strides{row};
  const TensorView view{address(plan, ws, step.in[0]), nullptr, nullptr, 0, ScalarType::float32};
  const kernels::Groups groups(view, kept, kept_strides, reduced, reduced_strides);
  auto* const to = reinterpret_cast<float*>(address(plan, ws, step.out));
  groups.in_parallel([&](const kernels::Groups& own, std::int64_t before) {
    float* at = to + before;
    kernels::AccumulatedColumns sums;
    own.for_each(kernels::sum_loops.float32, [&](const std::byte* first, std::size_t n) {
      sums.start(n, 0.0);
      own.reduce(first, {}, kernels::sum_loops.float32, sums);
      for (std::size_t i = 0; i < n; ++i)
        *at++ = kernels::nan_min(
            kernels::nan_max(static_cast<float>(sums.real[i] / static_cast<double>(averaged)), step.min), step.max);
    });
  });
}
inline void run_pad(const Plan& plan, const Workspace& ws, const Step& step) {
  const Extent x = extent_of(plan, ws, step.in[0]);
  const Extent out = extent_of(plan, ws, step.out);
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  std::fill_n(to, out.count, step.alpha);
  const std::array<std::int64_t, max_dims> strides = strides_of(plan, ws, step.out);
  for (std::size_t d = 0; d < x.rank; ++d) to += strides[d] * step.pads[2 * d];
  move_along(address(plan, ws, step.in[0]), strides_of(plan, ws, step.in[0]), reinterpret_cast<std::byte*>(to), strides,
             sizeof(float), x);
}

/// Products with a matrix that is not constant, by portable's kernel: XNNPACK would pack the matrix at every call.
/// False if there is no memory.
[[nodiscard]] inline bool run_product(const Plan& plan, const Workspace& ws, const Step& step, Scratch& scratch) {
  using Matrix = portable_kernels::Matrix<float>;
  const Extent x = extent_of(plan, ws, step.in[0]);
  const Extent out = extent_of(plan, ws, step.out);
  const std::int64_t in = x.last(), columns = out.last(), batches = step.op == Op::batch_matmul ? x.sizes[0] : 1,
                     rows = out.count / (columns * batches);
  const auto* a = reinterpret_cast<const float*>(address(plan, ws, step.in[0]));
  const auto* b = reinterpret_cast<const float*>(address(plan, ws, step.in[1]));
  const auto* bias = reinterpret_cast<const float*>(address(plan, ws, step.in[2]));
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  if (!scratch.reserve(static_cast<std::size_t>(portable_kernels::multiply_work<float>(rows, columns)) * sizeof(float)))
    return false;
  for (std::int64_t i = 0; i < batches; ++i) {
    const float* const own = b + i * in * columns;
    portable_kernels::multiply<float>(rows, columns, in, Matrix{a + i * rows * in, in, 1},
                                      step.transposed ? Matrix{own, columns, 1} : Matrix{own, 1, in},
                                      reinterpret_cast<float*>(scratch.span().data()), to + i * rows * columns,
                                      columns);
  }
  if (bias != nullptr)
    for (std::int64_t r = 0; r < rows * batches; ++r)
      binary_row(Step{.op = Op::add}, to + r * columns, true, bias, true, to + r * columns, columns);
  if (step.min != -infinity || step.max != infinity)
    map_elements(Step{.op = Op::clamp, .min = step.min, .max = step.max}, to, to, out.count);
  return true;
}

[[nodiscard]] inline bool run_convolution(const Plan& plan, const Workspace& ws, const Step& step, pthreadpool_t pool) {
  Step once = step;
  once.op = step.transposed ? Op::transposed_convolution : Op::convolution;
  const auto* kernel = reinterpret_cast<const float*>(address(plan, ws, step.in[1]));
  std::vector<float> turned;
  if (step.transposed) {
    const auto in = static_cast<std::size_t>(channels(plan, step.in[0])) / step.window.groups;
    const auto out = static_cast<std::size_t>(channels(plan, step.out)) / step.window.groups;
    const std::size_t taps = std::size_t{step.window.kernel[0]} * step.window.kernel[1];
    turned.resize(step.window.groups * in * out * taps);
    turn_transposed_kernel(kernel, step.window.groups, in, out, taps, turned.data());
    kernel = turned.data();
  }
  xnn_operator_t made = nullptr;
  const xnn_status status =
      detail::create_convolution(plan, once, channels(plan, step.out), kernel,
                                 reinterpret_cast<const float*>(address(plan, ws, step.in[2])), &made);
  OperatorPart part{.op = Operator(made)};
  if (status != xnn_status_success) return false;
  return setup_operator(plan, ws, once, part, true,
                        {address(plan, ws, step.in[0]), nullptr, address(plan, ws, step.out)},
                        pool) == xnn_status_success &&
         xnn_run_operator(made, pool) == xnn_status_success;
}

/// By davit's kernel: XNNPACK's multiplies with the reciprocal of a scale that was rounded to a float, which gives
/// another byte near the middle of two.
inline void run_quantize(const Plan& plan, const Workspace& ws, const Step& step) {
  const kernels::ByteRange range = bytes_of(step);
  const auto* from = reinterpret_cast<const float*>(address(plan, ws, step.in[0]));
  auto* to = reinterpret_cast<std::int8_t*>(address(plan, ws, step.out));
  share(extent_of(plan, ws, step.out).count, 1, [&](std::int64_t first, std::int64_t count) {
    kernels::run_widest<kernels::Quantize>(from + first, to + first, count, &range);
  });
}
inline void run_dequantize(const Plan& plan, const Workspace& ws, const Step& step) {
  const kernels::ByteScale scale{step.quantization[0].scale, static_cast<float>(step.quantization[0].zero_point)};
  const auto* from = reinterpret_cast<const std::int8_t*>(address(plan, ws, step.in[0]));
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  share(extent_of(plan, ws, step.out).count, 1, [&](std::int64_t first, std::int64_t count) {
    kernels::run_widest<kernels::Dequantize>(from + first, to + first, count, &scale);
  });
}
inline void run_dequantize_channels(const Plan& plan, const Workspace& ws, const Step& step) {
  const Extent x = extent_of(plan, ws, step.in[0]);
  const auto* from = reinterpret_cast<const std::int8_t*>(address(plan, ws, step.in[0]));
  const auto* scales = reinterpret_cast<const float*>(address(plan, ws, step.in[1]));
  const auto* zeros = reinterpret_cast<const std::int64_t*>(address(plan, ws, step.in[2]));
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  const std::int64_t inner = elements_behind(x, step.axis);
  for (std::int64_t i = 0; i < x.count; ++i) {
    const std::int64_t c = i / inner % x.sizes[step.axis];
    to[i] = static_cast<float>(from[i] - zeros[c]) * scales[c];
  }
}
/// A step of a result that is not empty, which davit computes itself; false if XNNPACK refuses a part of it, or for
/// want of memory.
[[nodiscard]] inline bool run_own(const Plan& plan, const Workspace& ws, const Step& step, pthreadpool_t pool,
                                  Scratch& scratch) {
  const Extent x = extent_of(plan, ws, step.in[0]);
  const auto* from = reinterpret_cast<const float*>(address(plan, ws, step.in[0]));
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  switch (step.op) {
    case Op::copy: run_copy(plan, ws, step); return true;
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::maximum:
    case Op::minimum: run_binary(plan, ws, step); return true;
    case Op::add_s8:
    case Op::subtract_s8:
    case Op::multiply_s8: run_quantized_binary(plan, ws, step); return true;
    case Op::mean: run_mean(plan, ws, step); return true;
    case Op::pad: run_pad(plan, ws, step); return true;
    case Op::quantize: run_quantize(plan, ws, step); return true;
    case Op::dequantize: run_dequantize(plan, ws, step); return true;
    case Op::dequantize_channels: run_dequantize_channels(plan, ws, step); return true;
    case Op::batch_matmul:
    case Op::dynamic_fully_connected: return run_product(plan, ws, step, scratch);
    case Op::dynamic_convolution: return run_convolution(plan, ws, step, pool);
    case Op::softmax:
    case Op::log_softmax: {
      const std::int64_t lines = x.sizes[step.axis];
      const std::int64_t inner = elements_behind(x, step.axis);
      share(x.count / (lines * inner), lines * inner, [&](std::int64_t first, std::int64_t count) {
        const std::int64_t at = first * lines * inner;
        kernels::softmax_lines(from + at, count, lines, inner, to + at, step.op == Op::log_softmax, step.axes != 0);
      });
      return true;
    }
    case Op::layer_norm: {
      std::int64_t columns = 1;
      for (std::size_t d = x.rank - step.axes; d < x.rank; ++d) columns *= x.sizes[d];
      const auto* weight = reinterpret_cast<const float*>(address(plan, ws, step.in[1]));
      const auto* bias = reinterpret_cast<const float*>(address(plan, ws, step.in[2]));
      share(x.count / columns, columns, [&](std::int64_t first, std::int64_t count) {
        const std::int64_t at = first * columns;
        kernels::run_widest<kernels::LayerNormRows<float>>(count, columns, step.alpha, from + at, weight, bias, to + at,
                                                           static_cast<float*>(nullptr), static_cast<float*>(nullptr));
      });
      return true;
    }
    case Op::group_norm: {
      const auto channels = x.sizes[1], groups = std::int64_t{step.window.groups}, width = channels / groups,
                 plane = x.count / (x.sizes[0] * channels);
      const auto* weight = reinterpret_cast<const float*>(address(plan, ws, step.in[1]));
      const auto* bias = reinterpret_cast<const float*>(address(plan, ws, step.in[2]));
      share(x.sizes[0] * groups, width * plane, [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t i = first; i < first + count; ++i) {
          const std::int64_t c = i % groups * width, at = i * width * plane;
          kernels::run_widest<kernels::GroupNorm>(width, plane, double{step.alpha}, from + at,
                                                  weight == nullptr ? nullptr : weight + c,
                                                  bias == nullptr ? nullptr : bias + c, to + at,
                                                  static_cast<float*>(nullptr), static_cast<float*>(nullptr));
        }
      });
      return true;
    }
    default: run_unary(plan, ws, step); return true;
  }
}

}  // namespace davit::xnnpack_parts
