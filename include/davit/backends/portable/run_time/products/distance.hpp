// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::portable_kernels {

namespace detail {

/// The p-norm of x - y over n elements; p = 0 counts the elements that differ.
template <class C>
[[nodiscard]] C distance(const C* x, const C* y, std::int64_t n, double p) noexcept {
  double sum = 0;
  const auto away = [&](std::int64_t i) { return static_cast<double>(std::abs(x[i] - y[i])); };
  if (p == 0) {
    for (std::int64_t i = 0; i < n; ++i) sum += away(i) > 0 ? 1.0 : away(i);
  } else if (p == 1) {
    for (std::int64_t i = 0; i < n; ++i) sum += away(i);
  } else if (p == 2) {
    for (std::int64_t i = 0; i < n; ++i) sum += away(i) * away(i);
    sum = std::sqrt(sum);
  } else if (std::isinf(p)) {
    for (std::int64_t i = 0; i < n; ++i)
      if (!(away(i) <= sum) && sum == sum) sum = away(i);  // keeps a NaN
  } else {
    for (std::int64_t i = 0; i < n; ++i) sum += std::pow(away(i), p);
    sum = std::pow(sum, 1.0 / p);
  }
  return static_cast<C>(sum);
}

/// The distances of x from `count` rows of n numbers for p = 0, 1, 2 and infinity, in vectors of C as in torch.
struct Distances {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const C* x, const C* rows, std::int64_t n, std::int64_t count, C* to,
                                         double p) {
    if (p == 1) return each<Bytes, 1>(x, rows, n, count, to);
    if (p == 2) return each<Bytes, 2>(x, rows, n, count, to);
    if (p == 0) return each<Bytes, 0>(x, rows, n, count, to);
    each<Bytes, 3>(x, rows, n, count, to);
  }

 private:
  template <std::size_t Bytes, int Kind, class C>
  [[gnu::always_inline]] static void each(const C* x, const C* rows, std::int64_t n, std::int64_t count, C* to) {
    using V = kernels::Vector<C, Bytes>;
    constexpr std::int64_t step = kernels::lanes<C, Bytes>;
    for (std::int64_t j = 0; j < count; ++j, rows += n) {
      V sums{};
      std::int64_t i = 0;
      for (; i + step <= n; i += step) {
        const V away = kernels::vector_at<Bytes>(x + i) - kernels::vector_at<Bytes>(rows + i);
        const V size = away < 0 ? -away : away;
        if constexpr (Kind == 1) sums += size;
        if constexpr (Kind == 2) sums += size * size;
        if constexpr (Kind == 0) sums += size > 0 ? V{} + 1 : size;
        if constexpr (Kind == 3) {  // keeps a NaN
          auto least = size <= sums, unordered = sums != sums;
          kernels::keep_bits(least);
          kernels::keep_bits(unordered);
          const V old = sums;
          kernels::take_where(least | unordered, old, size, sums);
        }
      }
      C sum{};
      const auto add = [&](C size) __attribute__((always_inline)) {
        if constexpr (Kind == 1) sum += size;
        if constexpr (Kind == 2) sum += size * size;
        if constexpr (Kind == 0) sum += size > 0 ? C{1} : size;
        if constexpr (Kind == 3) sum = size <= sum || sum != sum ? sum : size;
      };
      for (; i < n; ++i) add(x[i] < rows[i] ? rows[i] - x[i] : x[i] - rows[i]);
      if constexpr (Kind == 3) {
        C each_lane[static_cast<std::size_t>(step)];
        kernels::vector_at<Bytes>(each_lane) = sums;
        for (std::int64_t l = 0; l < step && n >= step; ++l) add(each_lane[l]);
      } else if (n >= step) {
        sum += kernels::sum_of<C, Bytes>(sums);
      }
      to[j] = Kind == 2 ? std::sqrt(sum) : sum;
    }
  }
};
[[nodiscard]] inline bool has_vectors_of(double p) noexcept { return p == 0 || p == 1 || p == 2 || std::isinf(p); }

template <class C>
[[nodiscard]] ErrorCode compute_cdist(KernelCall& call, const Sizes& batch, double p) {
  const TensorView& x1 = call.tensor(0);
  const TensorView& x2 = call.tensor(1);
  if (call.output(0).numel() == 0) return ErrorCode::ok;
  ComputeBuffers<C> buffers(call);
  const auto a_id = buffers.read(x1);
  const auto b_id = buffers.read(x2);
  const auto out_id = buffers.write(0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  const std::int64_t rows = x1.size(x1.rank - 2u);
  const std::int64_t columns = x2.size(x2.rank - 2u);
  const std::int64_t length = x1.size(x1.rank - 1u);
  const auto strides = [&](const TensorView& t) {  // strides of the copy's batch dimensions, broadcast
    Sizes own(t.sizes());
    contiguous_strides(t.sizes(), {own.values.data(), own.rank});
    return broadcast_strides({nullptr, t.sizes_data, own.values.data(), static_cast<std::uint8_t>(t.rank - 2), t.dtype},
                             batch.span());
  };
  C* out = buffers.out(out_id);
  if (length == 0) {
    std::fill_n(out, call.output(0).numel(), C{});
    return buffers.finish();
  }
  for_each_index(batch.span(), std::array{strides(x1), strides(x2)}, [&](std::int64_t a, std::int64_t b) {
    kernels::in_parallel(
        rows, 1, kernels::operations(rows, columns, length, 8), [&](std::size_t, std::int64_t first, std::int64_t end) {
          for (std::int64_t i = first; i < end; ++i)
            if (has_vectors_of(p))
              kernels::run_widest_for<C, Distances>(static_cast<const C*>(buffers.in(a_id)) + a + i * length,
                                                    static_cast<const C*>(buffers.in(b_id)) + b, length, columns,
                                                    out + i * columns, p);
            else
              for (std::int64_t j = 0; j < columns; ++j)
                out[i * columns + j] =
                    distance(buffers.in(a_id) + a + i * length, buffers.in(b_id) + b + j * length, length, p);
        });
    out += rows * columns;
  });
  return buffers.finish();
}

template <class C>
[[nodiscard]] ErrorCode compute_pdist(KernelCall& call, double p) {
  const TensorView& x = call.tensor(0);
  if (call.output(0).numel() == 0) return ErrorCode::ok;
  ComputeBuffers<C> buffers(call);
  const auto in_id = buffers.read(x);
  const auto out_id = buffers.write(0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  C* out = buffers.out(out_id);
  const C* in = buffers.in(in_id);
  const std::int64_t length = x.size(1);
  for (std::int64_t i = 0; i < x.size(0); ++i)
    for (std::int64_t j = i + 1; j < x.size(0); ++j) *out++ = distance(in + i * length, in + j * length, length, p);
  return buffers.finish();
}

}  // namespace detail

/// _cdist_forward(x1 (*, P, M), x2 (*, R, M), p, compute_mode?) -> (*, P, R): p-norm distances of rows, batch
/// dimensions broadcast; compute_mode, a hint, is ignored. Source: at::_cdist_forward.
[[nodiscard]] inline ErrorCode cdist_forward(KernelCall& call) {
  const TensorView& x1 = call.tensor(0);
  const TensorView& x2 = call.tensor(1);
  const double p = call.number(2);
  Sizes batch;
  if (x1.rank < 2 || x2.rank < 2 || x1.size(x1.rank - 1u) != x2.size(x2.rank - 1u) ||
      !broadcast(x1.sizes().first(x1.rank - 2u), x2.sizes().first(x2.rank - 2u), batch))
    return call.refuse(ErrorCode::invalid_shape, "cdist: the sizes of the operands do not fit");
  if (x1.dtype != x2.dtype)
    return call.refuse(ErrorCode::invalid_dtype, "cdist: the operands must have the same dtype");
  if (!(p >= 0)) return call.refuse(ErrorCode::out_of_range, "cdist: p must not be negative");
  if (call.has(3) && (call.integer(3) < 0 || call.integer(3) > 2))
    return call.refuse(ErrorCode::out_of_range, "cdist: unknown compute_mode");
  Sizes sizes = batch;
  if (!sizes.push(x1.size(x1.rank - 2u)) || !sizes.push(x2.size(x2.rank - 2u)))
    return call.refuse(ErrorCode::invalid_shape, "cdist: too many dimensions");
  if (const ErrorCode code = call.make(0, x1.dtype, sizes); code != ErrorCode::ok) return code;
  return dispatch_floating(call, x1.dtype, [&]<class C>() { return detail::compute_cdist<C>(call, batch, p); });
}

/// _pdist_forward(self (N, M), p=2) -> (N * (N - 1) / 2): distances of each row to the rows after it. Source:
/// at::_pdist_forward.
[[nodiscard]] inline ErrorCode pdist_forward(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const double p = call.number(1, 2);
  if (x.rank != 2) return call.refuse(ErrorCode::invalid_shape, "pdist: the input must have two dimensions");
  if (!(p >= 0)) return call.refuse(ErrorCode::out_of_range, "pdist: p must not be negative");
  const std::int64_t n = x.size(0);
  if (n > (std::int64_t{1} << 30)) return call.refuse(ErrorCode::out_of_memory, "pdist: the output is too large");
  const Sizes sizes(std::array{n < 2 ? 0 : n * (n - 1) / 2});
  if (const ErrorCode code = call.make(0, x.dtype, sizes); code != ErrorCode::ok) return code;
  return dispatch_floating(call, x.dtype, [&]<class C>() { return detail::compute_pdist<C>(call, p); });
}

inline constexpr auto distance_ops = std::to_array<OpRow>({
    {"aten._cdist_forward.default", cdist_forward},
    {"aten._pdist_forward.default", pdist_forward},
});

}  // namespace davit::portable_kernels
