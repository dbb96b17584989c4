// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/softmax.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/program/operators/softmax.hpp"

namespace davit::portable_kernels {

namespace detail {

/// Rounds the input to 16 bits if that is the output's dtype.
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
  kernels::in_parallel(outer, 1, kernels::operations(outer, count, inner, 8),
                       [&](std::size_t, std::int64_t first, std::int64_t end) {
                         kernels::softmax_lines(x + first * count * inner, end - first, count, inner,
                                                out + first * count * inner, view.logarithm, view.masked);
                       });
  return buffers.finish();
}

[[nodiscard]] inline ErrorCode run_softmax(KernelCall& call, const operators::SoftmaxOperator& op) {
  operators::SoftmaxView view;
  if (const ErrorCode code = answer(call, operators::read_softmax(KernelArguments(call), op, view));
      code != ErrorCode::ok)
    return code;
  const TensorView& input = call.tensor(view.input);
  if (op.core && view.converts)
    return call.refuse(ErrorCode::unsupported_argument, "softmax: half_to_float is not supported on the CPU");
  const ScalarType type = op.core ? input.dtype : call.dtype(2, input.dtype);
  if (const ErrorCode code = call.make(0, type, input.sizes()); code != ErrorCode::ok) return code;
  if (call.output(0).numel() == 0) return ErrorCode::ok;
  return dispatch_floating(call, type, [&]<class C>() { return compute_softmax<C>(call, view); });
}

}  // namespace detail

/// _softmax and _log_softmax(self, dim, half_to_float), where half_to_float is refused as on torch's CPUs; softmax,
/// log_softmax and _safe_softmax(self, dim, dtype?) convert the input first, and _safe_softmax returns zeros for lines
/// of -inf alone. Source: at::softmax and the like.
inline constexpr auto softmax_ops = rows_of<operators::softmax_operators, detail::run_softmax>();

}  // namespace davit::portable_kernels
