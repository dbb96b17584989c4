// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backends/portable/static/packs.hpp"
#include "davit/kernels/softmax.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::static_kernels {

/// Softmax over the middle of (outer, count, inner).
struct Softmax {
  std::int32_t outer = 1, count = 1, inner = 1;
};

/// y = softmax(x); `y` may be `x`. A NaN makes its line NaN. O(numel). Source: at::_softmax.
template <class P>
[[gnu::always_inline]] constexpr void softmax(const P& params, const float* x, float* y) noexcept {
  const Softmax& p = numbers_of(params);
  kernels::MiddleLines<kernels::SoftmaxLine<Wide>>::run<kernels::vector_bytes>(x, Index{p.outer}, Index{p.count},
                                                                               Index{p.inner}, y, false);
}

/// y = log(softmax(x)); `y` may be `x`. O(numel). Source: at::_log_softmax.
template <class P>
[[gnu::always_inline]] constexpr void log_softmax(const P& params, const float* x, float* y) noexcept {
  const Softmax& p = numbers_of(params);
  kernels::MiddleLines<kernels::LogSoftmaxLine<Wide>>::run<kernels::vector_bytes>(x, Index{p.outer}, Index{p.count},
                                                                                  Index{p.inner}, y);
}

}  // namespace davit::static_kernels
