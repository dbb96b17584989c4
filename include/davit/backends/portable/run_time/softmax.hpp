// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/kernels/vector_math.hpp"
#include "davit/program/operators/softmax.hpp"

namespace davit::portable_kernels {

namespace detail {

/// Softmax of contiguous elements; `out` may be `x`. A NaN makes all of them NaN; with `safe` set, minus infinities alone
/// give zeros. Source: at::_softmax and at::_safe_softmax.
struct SoftmaxRow {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const C* x, std::int64_t n, bool safe, C* out) {
    using V = kernels::Vector<C, Bytes>;
    constexpr std::int64_t step = kernels::lanes<C, Bytes>;
    C largest = x[0];
    const auto take = [&](C value) __attribute__((always_inline)) {
      if (value > largest || value != value) largest = value;
    };
    std::int64_t i = 0;
    if (n >= step) {
      V most = kernels::vector_at<Bytes>(x);
      for (i = step; i + step <= n; i += step) {
        const V v = kernels::vector_at<Bytes>(x + i);
        const V more = v > most ? v : most;
        kernels::take_nan<V>(v, more, most);
      }
      C parts[static_cast<std::size_t>(step)];
      kernels::vector_at<Bytes>(parts) = most;
      for (const C part : parts) take(part);
    }
    for (; i < n; ++i) take(x[i]);
    if (safe && largest == -std::numeric_limits<C>::infinity()) {
      for (i = 0; i < n; ++i) out[i] = C{};
      return;
    }
    const auto factor = static_cast<C>(1.0 / kernels::exp_shifted_on<double, Bytes>(x, largest, out, n));
    for (i = 0; i + step <= n; i += step) kernels::vector_at<Bytes>(out + i) = kernels::vector_at<Bytes>(out + i) * factor;
    for (; i < n; ++i) out[i] *= factor;
  }
};

/// Softmax of `count` elements that lie `step` apart; `out` may be `x`. A NaN makes all of them NaN.
template <class C>
void softmax_line(const C* x, std::int64_t count, std::int64_t step, bool logarithm, C* out) {
  if (step == 1 && !logarithm) return kernels::run_widest_for<C, SoftmaxRow>(x, count, false, out);
  C largest = x[0];
  for (std::int64_t i = 1; i < count; ++i) {
    const C value = x[i * step];
    if (value > largest || value != value) largest = value;
  }
  double sum = 0;
  if (logarithm) {
    for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(std::exp(x[i * step] - largest));
    const auto shift = static_cast<C>(std::log(sum));
    for (std::int64_t i = 0; i < count; ++i) out[i * step] = x[i * step] - largest - shift;
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    out[i * step] = kernels::detail::exp_of_small(x[i * step] - largest);
    sum += static_cast<double>(out[i * step]);
  }
  const auto factor = static_cast<C>(1.0 / sum);
  for (std::int64_t i = 0; i < count; ++i) out[i * step] *= factor;
}

/// The input as the operator's dtype would hold it: elements rounded to 16 bits if that is the output's dtype.
template <class C>
void round_elements(const C* x, ScalarType type, std::int64_t count, C* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (type == ScalarType::float16) {
      out[i] = static_cast<C>(Half(static_cast<float>(x[i])));
    } else {
      out[i] = static_cast<C>(BFloat16(static_cast<float>(x[i])));
    }
  }
}

template <class C>
[[nodiscard]] ErrorCode compute_softmax(KernelCall& call, const operators::SoftmaxView& view) {
  const TensorView& input = call.tensor(0);
  const ScalarType type = call.output(0).dtype;
  ComputeBuffers<C> buffers(call);
  const auto x_id = buffers.read(input);
  const auto out_id = buffers.write(0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  const C* x = buffers.in(x_id);
  C* out = buffers.out(out_id);
  const std::int64_t count = input.rank == 0 ? 1 : input.size(view.dim);
  std::int64_t inner = 1;
  for (std::size_t d = view.dim + 1; d < input.rank; ++d) inner *= input.size(d);
  const std::int64_t outer = input.numel() / (count * inner);
  if (size_of(type) == 2 && input.dtype != type) {
    round_elements(x, type, input.numel(), out);
    x = out;
  }
  const auto compute_line = [&](std::int64_t at) {
    const C* const from = x + at;
    C* const to = out + at;
    std::int64_t left = view.masked ? 0 : 1;
    for (std::int64_t k = 0; k < count && left == 0; ++k) left = from[k * inner] == -std::numeric_limits<C>::infinity() ? 0 : 1;
    if (left != 0) {
      softmax_line(from, count, inner, view.logarithm, to);
    } else {
      for (std::int64_t k = 0; k < count; ++k) to[k * inner] = 0;
    }
  };
  kernels::in_parallel(outer, 1, kernels::operations(outer, count, inner, 8), [&](std::size_t, std::int64_t first, std::int64_t end) {
    for (std::int64_t o = first; o < end; ++o)
      for (std::int64_t i = 0; i < inner; ++i) compute_line(o * count * inner + i);
  });
  return buffers.finish();
}

[[nodiscard]] inline ErrorCode run_softmax(KernelCall& call, const operators::SoftmaxOperator& op) {
  operators::SoftmaxView view;
  if (const ErrorCode code = answer(call, operators::read_softmax(KernelArguments(call), op, view)); code != ErrorCode::ok) return code;
  const TensorView& input = call.tensor(view.input);
  if (op.core && view.converts)
    return call.refuse(ErrorCode::unsupported_argument, "softmax: half_to_float is not supported on the CPU");
  const ScalarType type = op.core ? input.dtype : call.dtype(2, input.dtype);
  if (const ErrorCode code = call.make(0, type, input.sizes()); code != ErrorCode::ok) return code;
  if (call.output(0).numel() == 0) return ErrorCode::ok;
  return dispatch_floating(call, type, [&]<class C>() { return compute_softmax<C>(call, view); });
}

}  // namespace detail

/// _softmax and _log_softmax(self, dim, half_to_float), which CPUs do not have; softmax, log_softmax and _safe_softmax(self, dim,
/// dtype?) convert the input first, and the last gives zeros for lines of nothing but -inf. Source: at::softmax and its like.
inline constexpr auto softmax_ops = rows_of<operators::softmax_operators, detail::run_softmax>();

}  // namespace davit::portable_kernels
