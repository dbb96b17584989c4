// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"
#include "davit/kernels/arithmetic.hpp"
#include "davit/kernels/thread_team.hpp"

/// Operators that scan a dimension, with one result per element, in O(elements).
namespace davit::portable_kernels {

namespace detail {

/// A tensor as (outer, length, inner) elements around dimension `dim`.
struct Scan {
  std::int64_t outer = 1, length = 1, inner = 1;
};
[[nodiscard]] inline ErrorCode read_scan(KernelCall& call, Scan& s) {
  const TensorView& x = call.tensor(0);
  std::int64_t dim = call.integer(1);
  if (!wrap_dim(dim, x.rank)) return call.refuse(ErrorCode::out_of_range, "a dimension is outside the tensor's rank");
  for (std::size_t d = 0; d < x.rank; ++d) {
    const auto at = static_cast<std::int64_t>(d);
    (at < dim ? s.outer : at == dim ? s.length : s.inner) *= x.size(d);
  }
  return ErrorCode::ok;
}
/// Calls f(first element) for each line, on the threads of the team.
template <class F>
void for_each_line(const Scan& s, F&& f) {
  const std::int64_t lines = s.length == 0 ? 0 : s.outer * s.inner;
  kernels::in_parallel(lines, 1, kernels::operations(lines, s.length, 8),
                       [&](std::size_t, std::int64_t begin, std::int64_t end) {
                         for (std::int64_t line = begin; line < end; ++line)
                           f(line / s.inner * s.length * s.inner + line % s.inner);
                       });
}
/// Calls `f.template operator()<C>()` with float, double or int64.
template <class F>
[[nodiscard]] ErrorCode dispatch_number(KernelCall& call, ScalarType type, F&& f) {
  switch (kernels::compute_of(type)) {
    case kernels::Compute::float32: return f.template operator()<float>();
    case kernels::Compute::float64: return f.template operator()<double>();
    case kernels::Compute::int64: return f.template operator()<std::int64_t>();
    default: return call.refuse(ErrorCode::invalid_dtype, "the operator takes real numbers only");
  }
}
/// Makes output 0 of that dtype: result = step(previous result, element) along the dimension. The running result is
/// double or int64.
template <class Step>
[[nodiscard]] ErrorCode run_scan(KernelCall& call, ScalarType type, double start, Step step) {
  Scan s;
  if (const ErrorCode code = read_scan(call, s); code != ErrorCode::ok) return code;
  if (const ErrorCode code = call.make(0, type, call.tensor(0).sizes()); code != ErrorCode::ok) return code;
  return dispatch_number(call, type, [&]<class C>() {
    using Wide = std::conditional_t<std::is_integral_v<C>, std::int64_t, double>;
    ComputeBuffers<C> buffers(call);
    const auto from_id = buffers.read(call.tensor(0));
    const auto to_id = buffers.write(0);
    if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
    for_each_line(s, [&](std::int64_t first) {
      auto so_far = static_cast<Wide>(start);
      for (std::int64_t i = 0; i < s.length; ++i) {
        so_far = step(so_far, static_cast<Wide>(buffers.in(from_id)[first + i * s.inner]));
        buffers.out(to_id)[first + i * s.inner] = static_cast<C>(so_far);
      }
    });
    return buffers.finish();
  });
}

[[nodiscard]] inline ErrorCode cumprod(KernelCall& call) {
  const ScalarType own = call.tensor(0).dtype;
  return run_scan(call, call.dtype(2, is_integral(own) ? ScalarType::int64 : own), 1,
                  []<class T>(T a, T b) -> T { return kernels::wrap_mul(a, b); });
}
/// Source: _log_add_exp_helper of ATen's LogAddExp.h.
[[nodiscard]] inline ErrorCode logcumsumexp(KernelCall& call) {
  const ScalarType type = call.tensor(0).dtype;
  if (!is_floating(type)) return call.refuse(ErrorCode::invalid_dtype, "logcumsumexp takes floats only");
  return run_scan(call, type, -std::numeric_limits<double>::infinity(), []<class T>(T a, T b) -> T {
    if constexpr (std::is_integral_v<T>) {
      return b;
    } else {
      const T low = kernels::nan_min(a, b);
      const T high = kernels::nan_max(a, b);
      return low != high || std::isfinite(low) ? std::log1p(std::exp(low - high)) + high : b;
    }
  });
}

/// The largest or smallest element so far, the last of equal ones, and its index; NaN stays. Source: at::cummax.
template <bool Largest>
[[nodiscard]] ErrorCode cumulative_extreme(KernelCall& call) {
  Scan s;
  if (const ErrorCode code = read_scan(call, s); code != ErrorCode::ok) return code;
  const TensorView& x = call.tensor(0);
  if (const ErrorCode code = call.make(0, x.dtype, x.sizes()); code != ErrorCode::ok) return code;
  if (call.wants(1))
    if (const ErrorCode code = call.make(1, ScalarType::int64, x.sizes()); code != ErrorCode::ok) return code;
  return dispatch_number(call, x.dtype, [&]<class C>() {
    ComputeBuffers<C> buffers(call);
    const auto from_id = buffers.read(x);
    const auto to_id = buffers.write(0);
    if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
    auto* const indices = call.wants(1) ? call.output(1).template as<std::int64_t>() : nullptr;
    for_each_line(s, [&](std::int64_t first) {
      C best = buffers.in(from_id)[first];
      std::int64_t where = 0;
      for (std::int64_t i = 0; i < s.length; ++i) {
        const C v = buffers.in(from_id)[first + i * s.inner];
        if (v != v || (best == best && (Largest ? v >= best : v <= best))) {
          best = v;
          where = i;
        }
        buffers.out(to_id)[first + i * s.inner] = best;
        if (indices != nullptr) indices[first + i * s.inner] = where;
      }
    });
    return buffers.finish();
  });
}

/// The insertion points of `values` in the ascending `sequence`, which is one line for all of them, or a line for each
/// of theirs. `right`: behind equal elements. Source: at::searchsorted, whose bounds treat NaN as the largest.
[[nodiscard]] inline ErrorCode search(KernelCall& call, const TensorView& sequence, const EValue& values, bool small,
                                      bool right, const TensorView* sorter) {
  const Operand operand(values);
  const TensorView& v = operand.view();
  if (!operand.present() || sequence.rank == 0)
    return call.refuse(ErrorCode::invalid_argument, "the sequence needs a dimension, and there must be values");
  const std::int64_t length = sequence.size(sequence.rank - 1);
  const bool shared = sequence.rank == 1;
  bool fits = shared || sequence.rank == v.rank;
  for (std::size_t d = 0; !shared && fits && d + 1 < sequence.rank; ++d) fits = sequence.size(d) == v.size(d);
  if (!fits) return call.refuse(ErrorCode::invalid_shape, "the sequence's lines do not fit the values'");
  if (sorter != nullptr &&
      (sorter->dtype != ScalarType::int64 || !std::ranges::equal(sorter->sizes(), sequence.sizes())))
    return call.refuse(ErrorCode::invalid_argument,
                       "the sorter needs int64 indices, one for each element of the sequence");
  if (const ErrorCode code = call.make(0, small ? ScalarType::int32 : ScalarType::int64, v.sizes());
      code != ErrorCode::ok)
    return code;
  const bool whole = is_integral(sequence.dtype) && is_integral(v.dtype);
  const ScalarType type = whole ? ScalarType::int64 : ScalarType::float64;
  return dispatch_number(call, type, [&]<class C>() {
    ComputeBuffers<C> buffers(call);
    const auto sequence_id = buffers.read(sequence);
    const auto values_id = buffers.read(v);
    if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
    if (sorter != nullptr && !sorter->is_contiguous())
      return call.refuse(ErrorCode::invalid_argument, "the sorter must be contiguous");
    const std::int64_t each = shared || v.rank == 0 ? 0 : v.size(v.rank - 1);
    const TensorView& out = call.output(0);
    bool inside = true;
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      const std::int64_t line = shared ? 0 : i / each * length;
      const C value = buffers.in(values_id)[i];
      std::int64_t low = 0;
      for (std::int64_t high = length; low < high;) {
        const std::int64_t middle = low + (high - low) / 2;
        std::int64_t at = middle;
        if (sorter != nullptr) at = sorter->as<std::int64_t>()[line + middle];
        inside = inside && at >= 0 && at < length;
        if (!inside) return call.refuse(ErrorCode::out_of_range, "the sorter's indices are outside the sequence");
        const C there = buffers.in(sequence_id)[line + at];
        if (right ? !(there > value) : !(there >= value)) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      (void)kernels::store_element(low, out.dtype, out.element_at(i));
    }
    return ErrorCode::ok;
  });
}
/// searchsorted(sorted_sequence, self, out_int32, right, side?, sorter?).
[[nodiscard]] inline ErrorCode searchsorted(KernelCall& call) {
  const bool right = call.boolean(3) || call.string(4) == "right";
  return search(call, call.tensor(0), call.arg(1), call.boolean(2), right, call.has(5) ? &call.tensor(5) : nullptr);
}
/// bucketize(self, boundaries, out_int32, right).
[[nodiscard]] inline ErrorCode bucketize(KernelCall& call) {
  if (call.tensor(1).rank != 1)
    return call.refuse(ErrorCode::invalid_shape, "bucketize: the boundaries are not 1-dimensional");
  return search(call, call.tensor(1), call.arg(0), call.boolean(2), call.boolean(3), nullptr);
}

}  // namespace detail

inline constexpr auto scan_ops = std::to_array<OpRow>({
    {"aten.bucketize.Scalar", detail::bucketize, Aliasing::none, true},
    {"aten.bucketize.Tensor", detail::bucketize},
    {"aten.cummax.default", detail::cumulative_extreme<true>},
    {"aten.cummin.default", detail::cumulative_extreme<false>},
    {"aten.cumprod.default", detail::cumprod},
    {"aten.logcumsumexp.default", detail::logcumsumexp},
    {"aten.searchsorted.Scalar", detail::searchsorted, Aliasing::none, true},
    {"aten.searchsorted.Tensor", detail::searchsorted},
});

}  // namespace davit::portable_kernels
