// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "davit/kernels/constant_math.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/row_moments.hpp"
#include "davit/kernels/vector_math.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::kernels {

namespace detail {

/// y[i * step] = f(x[i * step]), where f(v, to) takes vectors as well.
template <std::size_t Bytes, class C, class N, class F>
[[gnu::always_inline]] constexpr void map_line(const C* x, N count, N step, C* y, F f) noexcept {
  N i = 0;
  if !consteval {
    if constexpr (walks_vectors<Bytes>)
      if (step == 1)
        for (constexpr auto lane = static_cast<N>(lanes<C, Bytes>); i + lane <= count; i += lane) {
          Vector<C, Bytes> v = vector_at<Bytes>(x + i);
          f(v);
          vector_at<Bytes>(y + i) = v;
        }
  }
  for (; i < count; ++i) {
    C v = x[i * step];
    f(v);
    y[i * step] = v;
  }
}

}  // namespace detail

/// y = softmax(x) for `count` elements, `step` apart, summed in type Sum; `y` may be `x`. A NaN makes all of them NaN;
/// with `safe`, a line of minus infinities gives zeros. O(count). Source: at::_softmax and at::_safe_softmax.
template <class Sum>
struct SoftmaxLine {
  template <std::size_t Bytes, class C, class N>
  [[gnu::always_inline]] static constexpr void run(const C* x, N count, N step, C* y, bool safe) noexcept {
    const C largest = detail::extreme_of<true, Bytes>(x, count, step);
    if (safe && largest == -std::numeric_limits<C>::infinity()) {
      for (N i = 0; i < count; ++i) y[i * step] = C{};
      return;
    }
    const auto factor = static_cast<C>(Sum{1} / exp_shifted_on<Sum, Bytes>(x, largest, y, count, step));
    detail::map_line<Bytes>(static_cast<const C*>(y), count, step, y,
                            [=](auto& v) __attribute__((always_inline)) { v *= factor; });
  }
};

/// y = log(softmax(x)) = x - largest - log(sum of exp(x - largest)). Source: at::_log_softmax.
template <class Sum>
struct LogSoftmaxLine {
  template <std::size_t Bytes, class C, class N>
  [[gnu::always_inline]] static constexpr void run(const C* x, N count, N step, C* y) noexcept {
    const C largest = detail::extreme_of<true, Bytes>(x, count, step);
    Sum sum = 0;
    N i = 0;
    if !consteval {
      if constexpr (walks_vectors<Bytes> && std::is_same_v<C, float>)
        if (step == 1) {
          C part[256];
          for (N n; i < count; i += n) {
            n = std::min<N>(256, count - i);
            exp_shifted_on<Sum, Bytes>(x + i, largest, part, n, N{1});
            sum +=
                detail::sum_of_powers<1, Bytes, Sum>(part, n, Sum{});  // a double also counts small powers beside a 1
          }
        }
    }
    for (; i < count; ++i) sum += static_cast<Sum>(exp(x[i * step] - largest));
    const auto shift = static_cast<C>(log(sum));
    // in this order, which keeps -0
    detail::map_line<Bytes>(x, count, step, y,
                            [=](auto& v) __attribute__((always_inline)) { v = v - largest - shift; });
  }
};

/// Runs a line's kernel along the middle dimension of (outer, count, inner).
template <class Line>
struct MiddleLines {
  template <std::size_t Bytes, class C, class N, class... More>
  [[gnu::always_inline]] static constexpr void run(const C* x, N outer, N count, N inner, C* y, More... more) noexcept {
    for (; outer > 0; --outer, x += count * inner, y += count * inner)
      for (N i = 0; i < inner; ++i) Line::template run<Bytes>(x + i, count, inner, y + i, more...);
  }
};

/// SoftmaxLine, or with `Log` LogSoftmaxLine, along the middle dimension of (outer, count, inner) with inner > 1: for
/// float, on as many lines at once as vectors have lanes.
template <class Sum, bool Log = false>
struct SoftmaxAcross {
  template <std::size_t Bytes, class C, class N>
  [[gnu::always_inline]] static void run(const C* x, N outer, N count, N inner, C* y, bool safe) noexcept {
    for (; outer > 0; --outer, x += count * inner, y += count * inner) {
      N i = 0;
      if constexpr (walks_vectors<Bytes> && std::is_same_v<C, float>) {
        constexpr auto lane = static_cast<N>(lanes<C, Bytes>);
        for (; i + 4 * lane <= inner; i += 4 * lane)
          columns<Bytes, 4>(x + i, count, inner, y + i, safe);  // 64 bytes per row would waste the caches
        for (; i + lane <= inner; i += lane) columns<Bytes, 1>(x + i, count, inner, y + i, safe);
      }
      for (; i < inner; ++i) {
        if constexpr (Log)
          LogSoftmaxLine<Sum>::template run<Bytes>(x + i, count, inner, y + i);
        else
          SoftmaxLine<Sum>::template run<Bytes>(x + i, count, inner, y + i, safe);
      }
    }
  }

 private:
  template <std::size_t Bytes, int K, class C, class N>
  [[gnu::always_inline]] static void columns(const C* x, N count, N step, C* y, bool safe) noexcept {
    using V = Vector<C, Bytes>;
    constexpr auto lane = static_cast<N>(lanes<C, Bytes>);
    V most[K];
    for (int k = 0; k < K; ++k) most[k] = vector_at<Bytes>(x + k * lane);
    for (N r = 1; r < count; ++r)
      for (int k = 0; k < K; ++k) {
        const V v = vector_at<Bytes>(x + r * step + k * lane);
        const V more = v > most[k] ? v : most[k];
        take_nan<V>(v, more, most[k]);
      }
    const V none = V{} - std::numeric_limits<C>::infinity();
    if (safe)
      for (V& each : most) each = each == none ? V{} : each;  // makes their powers 0
    Sum sums[K * lane] = {};
    V partial[K] = {};
    for (N r = 0; r < count; ++r) {
      for (int k = 0; k < K; ++k) {
        V e;
        detail::exp_of_small<V>(vector_at<Bytes>(x + r * step + k * lane) - most[k], e);
        if constexpr (!Log) vector_at<Bytes>(y + r * step + k * lane) = e;
        partial[k] += e;
      }
      if (!Log && r % 256 != 255 && r + 1 != count) continue;  // the logarithm needs small powers beside a 1
      for (int k = 0; k < K; ++k) {
        for (N j = 0; j < lane; ++j) sums[k * lane + j] += static_cast<Sum>(partial[k][j]);
        partial[k] = V{};
      }
    }
    V last[K] = {};  // subtrahends, or factors
    for (int k = 0; k < K; ++k)
      for (N j = 0; j < lane; ++j) {
        const Sum sum = sums[k * lane + j];
        last[k][j] = static_cast<C>(Log ? log(sum) : safe && sum == 0 ? Sum{} : Sum{1} / sum);
      }
    for (N r = 0; r < count; ++r)
      for (int k = 0; k < K; ++k) {
        auto& to = vector_at<Bytes>(y + r * step + k * lane);
        if constexpr (Log)
          to = vector_at<Bytes>(x + r * step + k * lane) - most[k] - last[k];
        else
          to = to * last[k];
      }
  }
};

/// Softmax, or its logarithm, along the middle dimension of (outer, count, inner), with the CPU's widest vectors;
/// `safe` as in SoftmaxLine. O(elements).
template <class C>
void softmax_lines(const C* x, std::int64_t outer, std::int64_t count, std::int64_t inner, C* y, bool logarithm,
                   bool safe) {
  if (logarithm && inner != 1)
    run_widest_for<C, SoftmaxAcross<double, true>>(x, outer, count, inner, y, false);
  else if (logarithm)
    run_widest_for<C, MiddleLines<LogSoftmaxLine<double>>>(x, outer, count, inner, y);
  else if (inner != 1)
    run_widest_for<C, SoftmaxAcross<double>>(x, outer, count, inner, y, safe);
  else
    run_widest_for<C, MiddleLines<SoftmaxLine<double>>>(x, outer, count, inner, y, safe);
}

}  // namespace davit::kernels
