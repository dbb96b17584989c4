// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/plan.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// Stride, dilation and so on of a convolution, as two dimensions; nothing if they are not literal numbers in range.
[[nodiscard]] constexpr std::optional<Window> window_of(const Call& call, std::size_t rank) noexcept {
  Window w;
  const auto pairs = [&](std::string_view name, std::int64_t otherwise, std::int64_t least, auto&& set) {
    std::array<std::int64_t, 2> v{otherwise, otherwise};
    if (rank == 3) {
      const auto one = call.ints<1>(name, otherwise);
      if (!one) return false;
      v = {name == "padding" ? 0 : 1, (*one)[0]};
    } else {
      const auto two = call.ints<2>(name, otherwise);
      if (!two) return false;
      v = *two;
    }
    if (v[0] < least || v[1] < least || v[0] > 65535 || v[1] > 65535) return false;
    set(static_cast<std::uint32_t>(v[0]), static_cast<std::uint32_t>(v[1]));
    return true;
  };
  const std::string_view word = call.string("padding");
  const bool good = pairs("stride", 1, 1, [&](auto h, auto v) { w.stride = {h, v}; }) &&
                    pairs("dilation", 1, 1, [&](auto h, auto v) { w.dilation = {h, v}; }) &&
                    (!word.empty() || pairs("padding", 0, 0, [&](auto h, auto v) { w.padding = {h, v, h, v}; }));
  if (!word.empty() && word != "valid" && word != "same") return std::nullopt;
  const std::int64_t groups = call.integer("groups", 1);
  if (!good || groups < 1 || groups > INT32_MAX) return std::nullopt;
  w.groups = static_cast<std::uint32_t>(groups);
  if (word == "same") {  // the odd one goes to the end, as in torch
    const ValueId kernel = call.value("weight");
    for (std::size_t d = 0; d < 2; ++d) {
      const std::int64_t size = rank == 3 && d == 0 ? 1 : call.fixed(kernel, rank - 2 + d);
      if (size < 1 || size > 65535) return std::nullopt;
      const auto total = w.dilation[d] * static_cast<std::uint32_t>(size - 1);
      w.padding[d == 0 ? 0 : 3] = total / 2;
      w.padding[d == 0 ? 2 : 1] = total - total / 2;
    }
  }
  return w;
}

}  // namespace detail

}  // namespace davit::xnnpack_parts
