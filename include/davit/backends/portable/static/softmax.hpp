// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backends/portable/static/math.hpp"
#include "davit/backends/portable/static/packs.hpp"
#include "davit/kernels/vector_math.hpp"

namespace davit::static_float {

/// Softmax over the middle of (outer, count, inner).
struct Softmax {
  std::int32_t outer = 1, count = 1, inner = 1;
};

namespace detail {

[[nodiscard, gnu::always_inline]] constexpr float largest_of(const float* x, Index count, Index step) noexcept {
  float largest = x[0];
  for (Index i = 1; i < count; ++i) {
    const float v = x[i * step];
    if (v > largest || v != v) largest = v;
  }
  return largest;
}

/// y[i * step] = exp(x[i * step] - shift), 0 where that is subnormal, and their sum.
[[nodiscard, gnu::always_inline]] constexpr Wide exp_line(const float* x, float shift, Index count, Index step,
                                                          float* y) noexcept {
  if !consteval {
    if (step == 1) return kernels::exp_shifted<Wide>(x, shift, y, count);
  }
  Wide sum = 0;
  for (Index i = 0; i < count; ++i) {
    const float v = x[i * step] - shift;
    y[i * step] = v < kernels::exp_floor ? 0 : exp(v);
    sum += static_cast<Wide>(y[i * step]);
  }
  return sum;
}

/// Calls line(first element) for each line of a softmax.
template <class F>
[[gnu::always_inline]] constexpr void each_line(const Softmax& p, F&& line) noexcept {
  for (Index o = 0; o < p.outer; ++o)
    for (Index i = 0; i < p.inner; ++i) line(o * p.count * p.inner + i);
}

}  // namespace detail

/// y = softmax(x); `y` may be `x`. A NaN makes its line NaN. O(numel). Source: at::_softmax.
template <class P>
[[gnu::always_inline]] constexpr void softmax(const P& params, const float* x, float* y) noexcept {
  const Softmax& p = numbers_of(params);
  const Index step = p.inner;
  detail::each_line(p, [&](Index at) __attribute__((always_inline)) {
    const Wide sum = detail::exp_line(x + at, detail::largest_of(x + at, p.count, step), p.count, step, y + at);
    const auto factor = static_cast<float>(Wide{1} / sum);
    for (Index i = 0; i < p.count; ++i) y[at + i * step] *= factor;
  });
}

/// y = log(softmax(x)); `y` may be `x`. O(numel). Source: at::_log_softmax.
template <class P>
[[gnu::always_inline]] constexpr void log_softmax(const P& params, const float* x, float* y) noexcept {
  const Softmax& p = numbers_of(params);
  const Index step = p.inner;
  detail::each_line(p, [&](Index at) __attribute__((always_inline)) {
    const float largest = detail::largest_of(x + at, p.count, step);
    Wide sum = 0;
    for (Index i = 0; i < p.count; ++i) sum += static_cast<Wide>(exp(x[at + i * step] - largest));
    const auto shift = static_cast<float>(log(sum));
    for (Index i = 0; i < p.count; ++i) y[at + i * step] = x[at + i * step] - largest - shift;
  });
}

}  // namespace davit::static_float
