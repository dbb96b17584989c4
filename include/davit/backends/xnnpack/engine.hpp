// SPDX-License-Identifier: MIT
#pragma once

#include <xnnpack.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "davit/backends/xnnpack/geometry.hpp"
#include "davit/backends/xnnpack/kernels.hpp"
#include "davit/backends/xnnpack/threads.hpp"
#include "davit/backends/xnnpack/weights.hpp"

namespace davit::xnnpack_parts {

struct DeleteOperator {
  void operator()(xnn_operator* op) const noexcept { (void)xnn_delete_operator(op); }
};
using Operator = std::unique_ptr<xnn_operator, DeleteOperator>;

/// XNNPACK's operators for the steps of a plan, their weights packed, and what they were last set up for.
///
/// An operator keeps its weights and its pointers in one object: one run at a time may use an engine.
class Engine {
 public:
  /// Errors: unsupported_argument if XNNPACK refuses an operator, out_of_memory.
  [[nodiscard]] static Result<std::unique_ptr<Engine>> make(const Plan& plan, std::span<const DebugHandle> handles,
                                                            ThreadPool pool) {
    auto engine = std::make_unique<Engine>();
    engine->pool_ = std::move(pool);
    engine->states_.resize(plan.steps.size());
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const Step& step = plan.steps[i];
      if (is_own(step)) continue;
      const xnn_status status = create(plan, step, engine->states_[i]);
      if (status == xnn_status_success) continue;
      return std::unexpected(
          Error{.code = status == xnn_status_out_of_memory ? ErrorCode::out_of_memory : ErrorCode::unsupported_argument,
                .stage = Stage::compile,
                .debug_handle = step.node < handles.size() ? handles[step.node] : no_debug_handle,
                .backend = "xnnpack",
                .what = concat("XNNPACK does not make this operator: ", name_of(status)),
                .fix = "leave the node to another backend"});
    }
    return engine;
  }

  /// Runs one step of the plan; false if XNNPACK refuses it.
  [[nodiscard]] bool run(const Plan& plan, const Workspace& ws, std::size_t index) {
    const Step& step = plan.steps[index];
    if (extent_of(plan, ws, step.out).count == 0) return true;
    if (is_own(step)) return run_own(plan, ws, step);
    State& state = states_[index];
    const std::array<std::byte*, 3> at{address(plan, ws, step.in[0]), address(plan, ws, step.in[1]),
                                       address(plan, ws, step.out)};
    if (state.generation != ws.generation || state.at != at) {
      state.generation = 0;
      state.pool = pool_for(plan, ws, step);
      for (const Part& part : state.parts) {
        const std::array<std::byte*, 3> there{at[0], at[1], at[2] + part.offset};
        if (setup(plan, ws, step, part.op.get(), there, state.pool) != xnn_status_success) return false;
      }
      state.generation = ws.generation;
      state.at = at;
    }
    for (const Part& part : state.parts)
      if (xnn_run_operator(part.op.get(), state.pool) != xnn_status_success) return false;
    return true;
  }

  [[nodiscard]] static std::string_view name_of(xnn_status status) noexcept {
    switch (status) {
      case xnn_status_success: return "no operator";
      case xnn_status_uninitialized: return "the library is not initialized";
      case xnn_status_invalid_parameter: return "invalid parameter";
      case xnn_status_unsupported_parameter: return "unsupported parameter";
      case xnn_status_unsupported_hardware: return "unsupported hardware";
      case xnn_status_out_of_memory: return "out of memory";
      default: return "failed";
    }
  }

 private:
  /// An operator for some of a step's output channels, and where those lie.
  struct Part {
    Operator op;
    std::size_t offset = 0;  ///< bytes
  };
  struct State {
    std::vector<Part> parts;  ///< mostly one
    std::array<std::byte*, 3> at{};
    std::uint64_t generation = 0;
    pthreadpool_t pool = nullptr;  ///< null where one thread is faster
  };
  /// Multiplications and other functions of elements that are worth waking threads for.
  static constexpr std::int64_t work_for_threads = 100'000;
  [[nodiscard]] pthreadpool_t pool_for(const Plan& plan, const Workspace& ws, const Step& step) const noexcept {
    const std::int64_t count = std::max(extent_of(plan, ws, step.out).count, extent_of(plan, ws, step.in[0]).count);
    std::int64_t each = 4;
    if (step.weights != no_id) {
      const Tensor& kernel = plan.weights[step.weights].kernel;
      each = kernel.numel() / std::max<std::int64_t>(kernel.sizes[plan.weights[step.weights].transposed ? 1 : 0], 1);
    }
    return count * std::max<std::int64_t>(each, 4) < work_for_threads ? nullptr : pool_.get();
  }

  [[nodiscard]] static std::byte* address(const Plan& plan, const Workspace& ws, std::uint32_t slot) noexcept {
    if (slot == no_id) return nullptr;
    const Slot& s = plan.slots[slot];
    std::byte* base = ws.base[s.buffer];
    return base == nullptr ? nullptr : base + static_cast<std::size_t>(s.offset) * size_of(s.dtype);
  }
  /// The size of the innermost dimension, which is known.
  [[nodiscard]] static std::size_t channels(const Plan& plan, std::uint32_t slot) noexcept {
    const Slot& s = plan.slots[slot];
    if (s.order.rank == 0) return 1;
    const Dim& d = plan.sizes(slot)[s.order.dim[s.order.rank - 1]];
    return static_cast<std::size_t>(std::max<std::int64_t>(d.value, 1));
  }
  /// Elements from one row of the innermost dimension to the next.
  [[nodiscard]] static std::size_t pitch(const Plan& plan, std::uint32_t slot) noexcept {
    return plan.slots[slot].pitch != 0 ? static_cast<std::size_t>(plan.slots[slot].pitch) : channels(plan, slot);
  }
  [[nodiscard]] static bool is_flat(const Plan& plan, const Step& step) noexcept {
    return plan.slots[step.in[0]].pitch == 0 && plan.slots[step.out].pitch == 0;
  }
  [[nodiscard]] static std::int8_t byte(std::int32_t v) noexcept { return static_cast<std::int8_t>(v); }

  /// XNNPACK goes through all weights for every few rows of the input: weights that do not stay in the cache are cut
  /// into parts that do, each for some output channels.
  static constexpr std::size_t cached_weights = 512 * 1024;

  [[nodiscard]] static xnn_status create(const Plan& plan, const Step& step, State& state);
  [[nodiscard]] static xnn_status create_one(const Plan& plan, const Step& step, xnn_operator_t* op);
  [[nodiscard]] static xnn_status create_float(const Plan& plan, const Step& step, State& state);
  [[nodiscard]] static xnn_status create_convolution(const Plan& plan, const Step& step, std::size_t out,
                                                     const float* kernel, const float* bias, xnn_operator_t* op);
  [[nodiscard]] static xnn_status create_convolution_qs8(const Plan& plan, const Step& step, const PackedWeights& w,
                                                         xnn_operator_t* op);
  [[nodiscard]] xnn_status setup(const Plan& plan, const Workspace& ws, const Step& step, xnn_operator_t op,
                                 const std::array<std::byte*, 3>& at, pthreadpool_t pool) const;
  [[nodiscard]] bool run_own(const Plan& plan, const Workspace& ws, const Step& step) const;
  static void run_copy(const Plan& plan, const Workspace& ws, const Step& step);
  static void run_combine(const Plan& plan, const Workspace& ws, const Step& step, pthreadpool_t pool);
  static void run_pad(const Plan& plan, const Workspace& ws, const Step& step);
  static void run_dequantize_channels(const Plan& plan, const Workspace& ws, const Step& step);
  [[nodiscard]] bool run_product(const Plan& plan, const Workspace& ws, const Step& step) const;
  [[nodiscard]] bool run_convolution(const Plan& plan, const Workspace& ws, const Step& step) const;

  ThreadPool pool_;
  std::vector<State> states_;
};

inline xnn_status Engine::create(const Plan& plan, const Step& step, State& state) {
  if (step.op == Op::convolution || step.op == Op::fully_connected) return create_float(plan, step, state);
  xnn_operator_t made = nullptr;
  const xnn_status status = create_one(plan, step, &made);
  state.parts.emplace_back(Operator(made));
  return made == nullptr && status == xnn_status_success ? xnn_status_invalid_state : status;
}

inline xnn_status Engine::create_float(const Plan& plan, const Step& step, State& state) {
  const PackedWeights p = pack_float(plan.weights[step.weights]);
  const bool dense = step.op == Op::fully_connected;
  const std::size_t out = channels(plan, step.out);
  const std::size_t each = p.kernel.size() / out;
  std::size_t count = out;
  const std::span<const Dim> sizes = plan.sizes(step.out);
  const bool few_rows =
      dense && (sizes.size() < 2 || (sizes.size() == 2 && sizes[0].is_static() && sizes[0].value <= 8));
  if (step.window.groups == 1 && !few_rows && out * each * sizeof(float) > 2 * cached_weights)
    count = std::max<std::size_t>(cached_weights / (each * sizeof(float)) / 16 * 16, 16);
  for (std::size_t first = 0; first < out; first += count) {
    const std::size_t some = std::min(count, out - first);
    const float* kernel = p.kernel.data() + first * each;
    const float* bias = p.bias.empty() ? nullptr : p.bias.data() + first;
    xnn_operator_t made = nullptr;
    const xnn_status status =
        dense ? xnn_create_fully_connected_nc_f32(channels(plan, step.in[0]), some, pitch(plan, step.in[0]),
                                                  pitch(plan, step.out), kernel, bias, step.min, step.max, 0, &made)
              : create_convolution(plan, step, some, kernel, bias, &made);
    if (status != xnn_status_success) return status;
    state.parts.push_back({Operator(made), first * sizeof(float)});
  }
  return xnn_status_success;
}

inline xnn_status Engine::create_convolution(const Plan& plan, const Step& step, std::size_t out, const float* kernel,
                                             const float* bias, xnn_operator_t* op) {
  const Window& w = step.window;
  const std::size_t in = channels(plan, step.in[0]);
  return xnn_create_convolution2d_nhwc_f32(w.padding[0], w.padding[1], w.padding[2], w.padding[3], w.kernel[0],
                                           w.kernel[1], w.stride[0], w.stride[1], w.dilation[0], w.dilation[1],
                                           w.groups, in / w.groups, out / w.groups, pitch(plan, step.in[0]),
                                           pitch(plan, step.out), kernel, bias, step.min, step.max, 0, op);
}

inline xnn_status Engine::create_convolution_qs8(const Plan& plan, const Step& step, const PackedWeights& p,
                                                 xnn_operator_t* op) {
  const Window& w = step.window;
  const std::size_t in = channels(plan, step.in[0]);
  const std::size_t out = channels(plan, step.out);
  const auto& q = step.quantization;
  return xnn_create_convolution2d_nhwc_qc8(
      w.padding[0], w.padding[1], w.padding[2], w.padding[3], w.kernel[0], w.kernel[1], w.stride[0], w.stride[1],
      w.dilation[0], w.dilation[1], w.groups, in / w.groups, out / w.groups, pitch(plan, step.in[0]),
      pitch(plan, step.out), byte(q[0].zero_point), q[0].scale, p.scales.data(), p.integers.data(),
      p.integer_bias.data(), byte(q[2].zero_point), q[2].scale, byte(step.low), byte(step.high), 0, op);
}

inline xnn_status Engine::create_one(const Plan& plan, const Step& step, xnn_operator_t* op) {
  const Window& w = step.window;
  const auto& q = step.quantization;
  const bool flat = is_flat(plan, step);
  const std::size_t c = flat ? 1 : channels(plan, step.in[0]);
  const std::size_t is = flat ? 1 : pitch(plan, step.in[0]);
  const std::size_t os = flat ? 1 : pitch(plan, step.out);
  switch (step.op) {
    case Op::quantized_convolution:
      return create_convolution_qs8(plan, step, pack_integers(plan.weights[step.weights], step), op);
    case Op::max_pool:
      return xnn_create_max_pooling2d_nhwc_f32(w.padding[0], w.padding[1], w.padding[2], w.padding[3], w.kernel[0],
                                               w.kernel[1], w.stride[0], w.stride[1], w.dilation[0], w.dilation[1],
                                               channels(plan, step.in[0]), pitch(plan, step.in[0]),
                                               pitch(plan, step.out), step.min, step.max, 0, op);
    case Op::max_pool_s8:
      return xnn_create_max_pooling2d_nhwc_s8(w.padding[0], w.padding[1], w.padding[2], w.padding[3], w.kernel[0],
                                              w.kernel[1], w.stride[0], w.stride[1], w.dilation[0], w.dilation[1],
                                              channels(plan, step.in[0]), pitch(plan, step.in[0]),
                                              pitch(plan, step.out), -128, 127, 0, op);
    case Op::average_pool:
      return xnn_create_average_pooling2d_nhwc_f32(
          w.padding[0], w.padding[1], w.padding[2], w.padding[3], w.kernel[0], w.kernel[1], w.stride[0], w.stride[1],
          channels(plan, step.in[0]), pitch(plan, step.in[0]), pitch(plan, step.out), step.min, step.max, 0, op);
    case Op::global_average_pool: {
      const bool inner = step.axis + step.axes == plan.slots[step.in[0]].order.rank;
      const std::size_t ch = inner ? 1 : channels(plan, step.in[0]);
      return xnn_create_global_average_pooling_nwc_f32(ch, inner ? 1 : pitch(plan, step.in[0]), ch, step.min, step.max,
                                                       0, op);
    }
    case Op::global_average_pool_s8: {
      const std::size_t ch = channels(plan, step.in[0]);
      return xnn_create_global_average_pooling_nwc_qs8(ch, ch, ch, byte(q[0].zero_point), q[0].scale,
                                                       byte(q[2].zero_point), q[2].scale, byte(step.low),
                                                       byte(step.high), 0, op);
    }
    case Op::abs: return xnn_create_abs_nc_f32(c, is, os, 0, op);
    case Op::ceil: return xnn_create_ceiling_nc_f32(c, is, os, 0, op);
    case Op::floor: return xnn_create_floor_nc_f32(c, is, os, 0, op);
    case Op::negate: return xnn_create_negate_nc_f32(c, is, os, 0, op);
    case Op::round: return xnn_create_bankers_rounding_nc_f32(c, is, os, 0, op);
    case Op::trunc: return xnn_create_truncation_nc_f32(c, is, os, 0, op);
    case Op::square: return xnn_create_square_nc_f32(c, is, os, 0, op);
    case Op::square_root: return xnn_create_square_root_nc_f32(c, is, os, 0, op);
    case Op::hardswish: return xnn_create_hardswish_nc_f32(c, is, os, 0, op);
    case Op::leaky_relu: return xnn_create_leaky_relu_nc_f32(c, is, os, step.alpha, 0, op);
    case Op::elu: return xnn_create_elu_nc_f32(c, is, os, step.alpha, 0, op);
    case Op::softmax: {
      const std::size_t ch = channels(plan, step.in[0]);
      return xnn_create_softmax_nc_f32(ch, pitch(plan, step.in[0]), pitch(plan, step.out), 0, op);
    }
    case Op::add: return xnn_create_add_nd_f32(step.min, step.max, 0, op);
    case Op::subtract: return xnn_create_subtract_nd_f32(step.min, step.max, 0, op);
    case Op::multiply: return xnn_create_multiply_nd_f32(step.min, step.max, 0, op);
    case Op::divide: return xnn_create_divide_nd_f32(step.min, step.max, 0, op);
    case Op::add_s8:
    case Op::subtract_s8:
    case Op::multiply_s8: {
      const auto make = step.op == Op::add_s8        ? xnn_create_add_nd_qs8
                        : step.op == Op::subtract_s8 ? xnn_create_subtract_nd_qs8
                                                     : xnn_create_multiply_nd_qs8;
      return make(byte(q[0].zero_point), q[0].scale, byte(q[1].zero_point), q[1].scale, byte(q[2].zero_point),
                  q[2].scale, byte(step.low), byte(step.high), 0, op);
    }
    case Op::quantize:
      return xnn_create_convert_nc_f32_qs8(c, is, os, q[2].scale, byte(q[2].zero_point), byte(step.low),
                                           byte(step.high), 0, op);
    case Op::dequantize: return xnn_create_convert_nc_qs8_f32(c, is, os, q[0].scale, byte(q[0].zero_point), 0, op);
    default: return xnn_status_invalid_state;
  }
}

inline xnn_status Engine::setup(const Plan& plan, const Workspace& ws, const Step& step, xnn_operator_t op,
                                const std::array<std::byte*, 3>& at, pthreadpool_t pool) const {
  const Extent x = extent_of(plan, ws, step.in[0]);
  const Extent out = extent_of(plan, ws, step.out);
  const auto* in = reinterpret_cast<const float*>(at[0]);
  auto* to = reinterpret_cast<float*>(at[2]);
  const auto* in8 = reinterpret_cast<const std::int8_t*>(at[0]);
  auto* to8 = reinterpret_cast<std::int8_t*>(at[2]);
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  // an image from its logical sizes: [batch, channels, (height,) width], or [batch, channels] as images of one element
  const std::size_t batch = size(x.sizes.empty() ? 1 : x.sizes[0]);
  const std::size_t height = x.rank == 4 ? size(x.sizes[2]) : 1;
  const std::size_t width = x.rank >= 3 ? size(x.sizes[x.rank - 1]) : 1;
  const std::size_t rows = is_flat(plan, step) ? size(x.count) : size(x.rows());
  switch (step.op) {
    case Op::convolution:
      // one long row instead of many images where every element is on its own
      if (x.rank > 4) return xnn_setup_convolution2d_nhwc_f32(op, 1, 1, size(x.rows()), in, to, pool);
      return xnn_setup_convolution2d_nhwc_f32(op, batch, height, width, in, to, pool);
    case Op::quantized_convolution: return xnn_setup_convolution2d_nhwc_qc8(op, batch, height, width, in8, to8, pool);
    case Op::fully_connected: return xnn_setup_fully_connected_nc_f32(op, size(x.rows()), in, to, pool);
    case Op::max_pool: return xnn_setup_max_pooling2d_nhwc_f32(op, batch, height, width, in, to, pool);
    case Op::max_pool_s8: return xnn_setup_max_pooling2d_nhwc_s8(op, batch, height, width, in8, to8, pool);
    case Op::average_pool: return xnn_setup_average_pooling2d_nhwc_f32(op, batch, height, width, in, to, pool);
    case Op::global_average_pool:
    case Op::global_average_pool_s8: {
      std::size_t outer = 1;
      std::size_t averaged = 1;
      for (std::size_t p = 0; p < step.axis; ++p) outer *= size(x.physical[p]);
      for (std::size_t p = step.axis; p < step.axis + step.axes; ++p) averaged *= size(x.physical[p]);
      if (step.op == Op::global_average_pool)
        return xnn_setup_global_average_pooling_nwc_f32(op, outer, averaged, in, to, pool);
      return xnn_setup_global_average_pooling_nwc_qs8(op, outer, averaged, in8, to8, pool);
    }
    case Op::abs: return xnn_setup_abs_nc_f32(op, rows, in, to, pool);
    case Op::ceil: return xnn_setup_ceiling_nc_f32(op, rows, in, to, pool);
    case Op::floor: return xnn_setup_floor_nc_f32(op, rows, in, to, pool);
    case Op::negate: return xnn_setup_negate_nc_f32(op, rows, in, to, pool);
    case Op::round: return xnn_setup_bankers_rounding_nc_f32(op, rows, in, to, pool);
    case Op::trunc: return xnn_setup_truncation_nc_f32(op, rows, in, to, pool);
    case Op::square: return xnn_setup_square_nc_f32(op, rows, in, to, pool);
    case Op::square_root: return xnn_setup_square_root_nc_f32(op, rows, in, to, pool);
    case Op::hardswish: return xnn_setup_hardswish_nc_f32(op, rows, in, to, pool);
    case Op::leaky_relu: return xnn_setup_leaky_relu_nc_f32(op, rows, in, to, pool);
    case Op::elu: return xnn_setup_elu_nc_f32(op, rows, in, to, pool);
    case Op::softmax: return xnn_setup_softmax_nc_f32(op, size(x.rows()), in, to, pool);
    case Op::quantize: return xnn_setup_convert_nc_f32_qs8(op, rows, in, to8, pool);
    case Op::dequantize: return xnn_setup_convert_nc_qs8_f32(op, rows, in8, to, pool);
    default: break;
  }
  // two operands, in the result's order
  std::array<std::array<std::size_t, max_dims>, 2> shape{};
  const Order& order = plan.slots[step.out].order;
  for (std::size_t i = 0; i < 2; ++i) {
    const Extent e = extent_of(plan, ws, step.in[i]);
    const std::size_t shift = step.axis != 0 && e.rank == 1 ? step.axis : out.rank - e.rank;
    for (std::size_t p = 0; p < out.rank; ++p) {
      const std::size_t d = order.dim[p];
      shape[i][p] = d < shift || d >= shift + e.rank ? 1 : size(e.sizes[d - shift]);
    }
  }
  const auto* other = reinterpret_cast<const float*>(at[1]);
  const auto* other8 = reinterpret_cast<const std::int8_t*>(at[1]);
  const std::size_t n = out.rank;
  switch (step.op) {
    case Op::add: return xnn_setup_add_nd_f32(op, n, shape[0].data(), n, shape[1].data(), in, other, to, pool);
    case Op::subtract:
      return xnn_setup_subtract_nd_f32(op, n, shape[0].data(), n, shape[1].data(), in, other, to, pool);
    case Op::multiply:
      return xnn_setup_multiply_nd_f32(op, n, shape[0].data(), n, shape[1].data(), in, other, to, pool);
    case Op::divide: return xnn_setup_divide_nd_f32(op, n, shape[0].data(), n, shape[1].data(), in, other, to, pool);
    case Op::add_s8: return xnn_setup_add_nd_qs8(op, n, shape[0].data(), n, shape[1].data(), in8, other8, to8, pool);
    case Op::subtract_s8:
      return xnn_setup_subtract_nd_qs8(op, n, shape[0].data(), n, shape[1].data(), in8, other8, to8, pool);
    case Op::multiply_s8:
      return xnn_setup_multiply_nd_qs8(op, n, shape[0].data(), n, shape[1].data(), in8, other8, to8, pool);
    default: return xnn_status_invalid_state;
  }
}

inline void Engine::run_copy(const Plan& plan, const Workspace& ws, const Step& step) {
  const Slot& from = plan.slots[step.in[0]];
  const Extent x = extent_of(plan, ws, step.in[0]);
  const Extent out = extent_of(plan, ws, step.out);
  std::array<std::int64_t, max_dims> from_strides = strides_of(plan, ws, step.in[0]);
  if (const Buffer& b = plan.buffers[from.buffer]; b.place == Place::input && ws.input_strides.size() > b.number)
    for (std::size_t d = 0; d < x.rank; ++d) from_strides[d] = ws.input_strides[b.number][d];
  std::array<std::int64_t, max_dims> to_strides = strides_of(plan, ws, step.out);
  Walk w{.size = {}, .from = {}, .to = {}, .rank = step.into ? x.rank : out.rank};
  std::int64_t from_at = 0;
  std::int64_t to_at = 0;
  const std::size_t shift = out.rank - x.rank;  // an operand with fewer dimensions is repeated along the others
  for (std::size_t d = 0; d < w.rank; ++d) {
    w.to[d] = to_strides[d];
    w.size[d] = step.into ? x.sizes[d] : out.sizes[d];
    if (step.into) {
      w.from[d] = from_strides[d];
      continue;
    }
    if (d < shift) continue;
    const bool axis = d - shift == step.axis;
    w.from[d] = x.sizes[d - shift] == 1 ? 0 : from_strides[d - shift] * (axis ? step.step : 1);
    if (axis) from_at += from_strides[d - shift] * step.start;
  }
  if (step.into) to_at = to_strides[step.axis] * step.start;
  const std::size_t element = size_of(from.dtype);
  copy_elements(address(plan, ws, step.in[0]) + from_at * static_cast<std::int64_t>(element),
                address(plan, ws, step.out) + to_at * static_cast<std::int64_t>(element), element, w);
}

inline void Engine::run_combine(const Plan& plan, const Workspace& ws, const Step& step, pthreadpool_t pool) {
  const Extent out = extent_of(plan, ws, step.out);
  const std::array<std::int64_t, max_dims> strides = strides_of(plan, ws, step.out);
  std::array<Walk, 2> walk{};  // to: the result's strides; from: the operand's, 0 where it repeats
  const float* at[2]{};
  for (std::size_t i = 0; i < 2; ++i) {
    const Extent e = extent_of(plan, ws, step.in[i]);
    const std::array<std::int64_t, max_dims> own = strides_of(plan, ws, step.in[i]);
    const std::size_t shift = step.axis != 0 && e.rank == 1 ? step.axis : out.rank - e.rank;
    walk[i].rank = out.rank;
    for (std::size_t d = 0; d < out.rank; ++d) {
      walk[i].size[d] = out.sizes[d];
      walk[i].to[d] = strides[d];
      const bool has = d >= shift && d < shift + e.rank;
      walk[i].from[d] = has && e.sizes[d - shift] != 1 ? own[d - shift] : 0;
    }
    at[i] = reinterpret_cast<const float*>(address(plan, ws, step.in[i]));
  }
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  const bool alike = plan.slots[step.in[0]].order == plan.slots[step.out].order &&
                     plan.slots[step.in[1]].order == plan.slots[step.out].order &&
                     std::ranges::equal(extent_of(plan, ws, step.in[0]).sizes, out.sizes) &&
                     std::ranges::equal(extent_of(plan, ws, step.in[1]).sizes, out.sizes);
  if (!alike) return combine_elements(step.op, at[0], at[1], to, walk[0], walk[1]);
  for_stretches(pool, static_cast<std::size_t>(out.count), 4096, [&](std::size_t first, std::size_t count) {
    combine_row(step.op, at[0] + first, true, at[1] + first, true, to + first, static_cast<std::int64_t>(count));
  });
}

inline void Engine::run_pad(const Plan& plan, const Workspace& ws, const Step& step) {
  const Extent x = extent_of(plan, ws, step.in[0]);
  const Extent out = extent_of(plan, ws, step.out);
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  std::fill_n(to, out.count, step.alpha);
  Walk w{.size = {}, .from = strides_of(plan, ws, step.in[0]), .to = strides_of(plan, ws, step.out), .rank = x.rank};
  for (std::size_t d = 0; d < x.rank; ++d) {
    w.size[d] = x.sizes[d];
    to += w.to[d] * step.pads[2 * d];
  }
  copy_elements(address(plan, ws, step.in[0]), reinterpret_cast<std::byte*>(to), sizeof(float), w);
}

inline void Engine::run_dequantize_channels(const Plan& plan, const Workspace& ws, const Step& step) {
  const Extent x = extent_of(plan, ws, step.in[0]);
  const auto* from = reinterpret_cast<const std::int8_t*>(address(plan, ws, step.in[0]));
  const auto* scales = reinterpret_cast<const float*>(address(plan, ws, step.in[1]));
  const auto* zeros = reinterpret_cast<const std::int64_t*>(address(plan, ws, step.in[2]));
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  std::int64_t inner = 1;
  for (std::size_t d = step.axis + 1; d < x.rank; ++d) inner *= x.sizes[d];
  for (std::int64_t i = 0; i < x.count; ++i) {
    const std::int64_t c = i / inner % x.sizes[step.axis];
    to[i] = static_cast<float>(from[i] - zeros[c]) * scales[c];
  }
}

/// Products with a matrix that is not constant: it is packed at every call.
inline bool Engine::run_product(const Plan& plan, const Workspace& ws, const Step& step) const {
  const Extent x = extent_of(plan, ws, step.in[0]);
  const Extent out = extent_of(plan, ws, step.out);
  const std::size_t in = static_cast<std::size_t>(x.last());
  const std::size_t columns = static_cast<std::size_t>(out.last());
  const auto batches = static_cast<std::size_t>(step.op == Op::batch_matmul ? x.sizes[0] : 1);
  const std::size_t rows = static_cast<std::size_t>(x.rows()) / std::max<std::size_t>(batches, 1);
  const auto* a = reinterpret_cast<const float*>(address(plan, ws, step.in[0]));
  const auto* b = reinterpret_cast<const float*>(address(plan, ws, step.in[1]));
  const auto* bias = reinterpret_cast<const float*>(address(plan, ws, step.in[2]));
  auto* to = reinterpret_cast<float*>(address(plan, ws, step.out));
  if (in == 0) return false;
  for (std::size_t i = 0; i < batches; ++i) {
    xnn_operator_t made = nullptr;
    const xnn_status status =
        xnn_create_fully_connected_nc_f32(in, columns, in, columns, b + i * in * columns, bias, step.min, step.max,
                                          step.transposed ? XNN_FLAG_TRANSPOSE_WEIGHTS : 0, &made);
    const Operator op(made);
    if (status != xnn_status_success ||
        xnn_setup_fully_connected_nc_f32(made, rows, a + i * rows * in, to + i * rows * columns, pool_.get()) !=
            xnn_status_success ||
        xnn_run_operator(made, pool_.get()) != xnn_status_success)
      return false;
  }
  return true;
}

inline bool Engine::run_convolution(const Plan& plan, const Workspace& ws, const Step& step) const {
  xnn_operator_t made = nullptr;
  const xnn_status status = create_convolution(plan, step, channels(plan, step.out),
                                               reinterpret_cast<const float*>(address(plan, ws, step.in[1])),
                                               reinterpret_cast<const float*>(address(plan, ws, step.in[2])), &made);
  const Operator op(made);
  if (status != xnn_status_success) return false;
  Step once = step;
  once.op = Op::convolution;
  return setup(plan, ws, once, made, {address(plan, ws, step.in[0]), nullptr, address(plan, ws, step.out)},
               pool_.get()) == xnn_status_success &&
         xnn_run_operator(made, pool_.get()) == xnn_status_success;
}

inline bool Engine::run_own(const Plan& plan, const Workspace& ws, const Step& step) const {
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
    case Op::minimum: run_combine(plan, ws, step, pool_.get()); return true;
    case Op::pad: run_pad(plan, ws, step); return true;
    case Op::dequantize_channels: run_dequantize_channels(plan, ws, step); return true;
    case Op::batch_matmul:
    case Op::dynamic_fully_connected: return run_product(plan, ws, step);
    case Op::dynamic_convolution: return run_convolution(plan, ws, step);
    case Op::log_softmax: log_softmax_rows(from, to, x.rows(), x.last()); return true;
    case Op::layer_norm: {
      std::int64_t columns = 1;
      for (std::size_t d = x.rank - step.axes; d < x.rank; ++d) columns *= x.sizes[d];
      const auto* weight = reinterpret_cast<const float*>(address(plan, ws, step.in[1]));
      const auto* bias = reinterpret_cast<const float*>(address(plan, ws, step.in[2]));
      for_stretches(pool_.get(), static_cast<std::size_t>(x.count / columns),
                    static_cast<std::size_t>(4096 / columns + 1), [&](std::size_t first, std::size_t count) {
                      const std::int64_t at = static_cast<std::int64_t>(first) * columns;
                      layer_norm_rows(from + at, weight, bias, step.alpha, to + at, static_cast<std::int64_t>(count),
                                      columns);
                    });
      return true;
    }
    default:
      for_stretches(pool_.get(), static_cast<std::size_t>(x.count), 4096, [&](std::size_t first, std::size_t count) {
        map_elements(step.op, step.min, step.max, from + first, to + first, static_cast<std::int64_t>(count));
      });
      return true;
  }
}

}  // namespace davit::xnnpack_parts
