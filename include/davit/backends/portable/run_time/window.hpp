// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/run_time/dispatch.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/staging.hpp"

namespace davit::portable_kernels {

/// Kernel sizes, strides, paddings and dilations above this are refused, so that sums of them cannot overflow.
inline constexpr std::int64_t max_window = std::int64_t{1} << 20;

/// Three spatial numbers: depth, height, width. Problems of fewer spatial dimensions fill the front with a neutral value.
using Spatial = std::array<std::int64_t, 3>;

[[nodiscard]] constexpr std::int64_t volume(const Spatial& s) noexcept { return s[0] * s[1] * s[2]; }

/// Reads argument `i`, a list of `dims` ints (or of one that stands for all) in [low, max_window], into the last `dims`
/// places; the others become `neutral`. Errors: invalid_argument, out_of_range.
[[nodiscard]] inline ErrorCode read_spatial(KernelCall& call, std::size_t i, std::size_t dims, std::int64_t low,
                                            std::int64_t neutral, Spatial& out) {
  const std::span<const EValue> list = call.list(i);
  out = {neutral, neutral, neutral};
  if (list.size() != 1 && list.size() != dims)
    return call.refuse(ErrorCode::invalid_argument,
                       "a list of window sizes, strides, paddings or dilations has the wrong length");
  for (std::size_t d = 0; d < dims; ++d) {
    const EValue& value = list[list.size() == 1 ? 0 : d];
    if (!value.is_int()) return call.refuse(ErrorCode::invalid_argument, "a window argument is not an int");
    const std::int64_t number = value.as_int();
    if (number < low || number > max_window)
      return call.refuse(ErrorCode::out_of_range,
                         "a window size, stride, padding or dilation is negative, zero or too large");
    out[3 - dims + d] = number;
  }
  return ErrorCode::ok;
}

/// The last `dims` sizes of a tensor in the last places; the others become 1.
[[nodiscard]] inline Spatial spatial_sizes(const TensorView& t, std::size_t dims) noexcept {
  Spatial s{1, 1, 1};
  for (std::size_t d = 0; d < dims; ++d) s[3 - dims + d] = t.size(t.rank - dims + d);
  return s;
}

/// Indices i in [begin, end) of `count` output places for which place * stride + offset lies in [0, size).
struct Inside {
  std::int64_t begin, end;

  constexpr Inside(std::int64_t count, std::int64_t stride, std::int64_t offset, std::int64_t size) noexcept
      : begin(std::clamp<std::int64_t>(offset < 0 ? (-offset + stride - 1) / stride : 0, 0, count)),
        end(std::clamp<std::int64_t>(size > offset ? (size - offset - 1) / stride + 1 : 0, begin, count)) {}
};

}  // namespace davit::portable_kernels
