// SPDX-License-Identifier: MIT
#pragma once

#include "davit/program/operators/arguments.hpp"

namespace davit::operators {

/// Kernel sizes, strides, paddings and dilations above this are refused, so that sums of them cannot overflow.
inline constexpr std::int64_t max_window = std::int64_t{1} << 20;

/// Three spatial numbers: depth, height, width. Problems of fewer spatial dimensions fill the front with a neutral
/// value.
using Spatial = std::array<std::int64_t, 3>;

[[nodiscard]] constexpr std::int64_t volume(const Spatial& s) noexcept { return s[0] * s[1] * s[2]; }

/// Reads a list of `dims` integers, or of one that stands for all, in [least, max_window] into the last `dims` places;
/// the others become `neutral`, and all do where the argument is left out. Errors: invalid_argument, out_of_range.
template <CallArguments Call>
constexpr Refusal read_spatial(const Call& call, Parameter p, std::size_t dims, std::int64_t least,
                               std::int64_t neutral, Spatial& out) noexcept {
  out = {neutral, neutral, neutral};
  const auto* const a = call.find(p);
  if (a == nullptr) return {};
  std::int64_t* const last = out.data() + (3 - dims);
  const auto items = call.items(*a);
  const std::size_t count = items.size();
  if (count == 0) {
    std::int64_t all = 0;
    if (!call.read_integer(*a, all))
      return {"a list of window sizes, strides, paddings or dilations has the wrong length"};
    for (std::size_t d = 0; d < dims; ++d) last[d] = all;
  } else {
    if (count != 1 && count != dims)
      return {"a list of window sizes, strides, paddings or dilations has the wrong length"};
    const auto* const numbers = items.data();
    for (std::size_t d = 0; d < dims; ++d)
      if (!call.read_integer(numbers[count == 1 ? 0 : d], last[d])) return {"a window argument is not an int"};
  }
  for (std::size_t d = 0; d < dims; ++d)
    if (last[d] < least || last[d] > max_window)
      return {"a window size, stride, padding or dilation is negative, zero or too large", ErrorCode::out_of_range};
  return {};
}

/// The last `dims` sizes of a tensor in the last places; the others become 1, and a size that is not known -1.
template <CallArguments Call>
[[nodiscard]] constexpr Spatial spatial_sizes(const Call& call, ValueId v, std::size_t dims) noexcept {
  Spatial s{1, 1, 1};
  const std::size_t rank = call.rank(v);
  for (std::size_t d = 0; d < dims; ++d) s[3 - dims + d] = call.size(v, rank - dims + d);
  return s;
}

}  // namespace davit::operators
