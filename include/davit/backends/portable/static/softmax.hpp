// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/static/packs.hpp"
#include "davit/kernels/softmax.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::static_kernels {

/// Softmax over the middle dimension of (outer, count, inner).
struct Softmax {
  std::int32_t outer = 1, count = 1, inner = 1;
};

/// y = softmax(x), or its logarithm; `y` may be `x`. A NaN makes its line NaN. O(numel). Source: at::_softmax,
/// at::_log_softmax.
template <bool Logarithm>
struct softmax {
  using Params = Softmax;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& params, float* y, const float* x) noexcept {
    const Params& p = numbers_of(params);
    constexpr std::size_t bytes = kernels::vector_bytes;
    if constexpr (Logarithm)
      kernels::MiddleLines<kernels::LogSoftmaxLine<Wide>>::run<bytes>(x, Index{p.outer}, Index{p.count}, Index{p.inner},
                                                                      y);
    else
      kernels::MiddleLines<kernels::SoftmaxLine<Wide>>::run<bytes>(x, Index{p.outer}, Index{p.count}, Index{p.inner}, y,
                                                                   false);
  }
};

}  // namespace davit::static_kernels
