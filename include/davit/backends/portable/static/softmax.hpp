// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backends/portable/static/packs.hpp"
#include "davit/kernels/softmax.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::static_float {

/// Softmax over the middle of (outer, count, inner).
struct Softmax {
  std::int32_t outer = 1, count = 1, inner = 1;
};

namespace detail {

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
  detail::each_line(p, [&](Index at) __attribute__((always_inline)) {
    kernels::SoftmaxLine<Wide>::run<kernels::vector_bytes>(x + at, Index{p.count}, Index{p.inner}, false, y + at);
  });
}

/// y = log(softmax(x)); `y` may be `x`. O(numel). Source: at::_log_softmax.
template <class P>
[[gnu::always_inline]] constexpr void log_softmax(const P& params, const float* x, float* y) noexcept {
  const Softmax& p = numbers_of(params);
  detail::each_line(p, [&](Index at) __attribute__((always_inline)) {
    kernels::LogSoftmaxLine<Wide>::run<kernels::vector_bytes>(x + at, Index{p.count}, Index{p.inner}, y + at);
  });
}

}  // namespace davit::static_float
