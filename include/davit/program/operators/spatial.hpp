// SPDX-License-Identifier: MIT
#pragma once

#include "davit/program/operators/arguments.hpp"

namespace davit::operators {

/// Limit of kernel sizes, strides, paddings and dilations, so that sums of them cannot overflow.
inline constexpr std::int64_t max_window = std::int64_t{1} << 20;

/// Three spatial numbers: depth, height, width. With fewer spatial dimensions the first entries have a neutral value.
using Spatial = std::array<std::int64_t, 3>;

[[nodiscard]] constexpr std::int64_t volume(const Spatial& s) noexcept { return s[0] * s[1] * s[2]; }

/// Reads a list of `dims` integers in [least, max_window], or of one that is repeated, into the last `dims` entries;
/// the others become `neutral`, as do all if the argument is omitted. Errors: invalid_argument, out_of_range.
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

/// Returns the last `dims` sizes of a tensor in the last entries; the others become 1, an unknown size -1.
template <CallArguments Call>
[[nodiscard]] constexpr Spatial spatial_sizes(const Call& call, ValueId v, std::size_t dims) noexcept {
  Spatial s{1, 1, 1};
  const std::size_t rank = call.rank(v);
  for (std::size_t d = 0; d < dims; ++d) s[3 - dims + d] = call.size(v, rank - dims + d);
  return s;
}

}  // namespace davit::operators
