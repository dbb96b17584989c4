// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/plan.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// The window of a pool over two dimensions, rounding up of the output size turned into padding at the end; nothing if
/// it is not made of literal numbers in range.
[[nodiscard]] constexpr std::optional<Window> pool_window(const Call& call) noexcept {
  const ValueId x = call.value("self");
  const auto kernel = call.ints<2>("kernel_size", 0);
  if (!kernel) return std::nullopt;
  const bool given = call.has("stride") && !(call.list("stride").empty() && call.arg("stride")->is_list());
  const auto stride = given ? call.ints<2>("stride", 1) : kernel;
  const auto padding = call.ints<2>("padding", 0);
  const auto dilation = call.ints<2>("dilation", 1);
  if (!stride || !padding || !dilation) return std::nullopt;
  Window w;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t k = (*kernel)[d];
    if (k < 1 || k > 4096 || (*stride)[d] < 1 || (*stride)[d] > 65535 || (*padding)[d] < 0 || (*padding)[d] > k / 2 ||
        (*dilation)[d] < 1 || (*dilation)[d] > 65535)
      return std::nullopt;
    w.kernel[d] = static_cast<std::uint32_t>(k);
    w.stride[d] = static_cast<std::uint32_t>((*stride)[d]);
    w.dilation[d] = static_cast<std::uint32_t>((*dilation)[d]);
    const auto side = static_cast<std::uint32_t>((*padding)[d]);
    w.padding[d == 0 ? 0 : 3] = w.padding[d == 0 ? 2 : 1] = side;
    if (!call.flag("ceil_mode", false)) continue;
    const std::int64_t in = call.fixed(x, 2 + d);
    const std::int64_t out = call.fixed(call.output(), 2 + d);
    if (in < 0 || out < 1) return std::nullopt;
    const std::int64_t reach = (out - 1) * (*stride)[d] + (k - 1) * (*dilation)[d] + 1;
    const std::int64_t end = reach - in - (*padding)[d];
    if (end > 65535) return std::nullopt;
    if (end > side) w.padding[d == 0 ? 2 : 1] = static_cast<std::uint32_t>(end);
  }
  return w.kernel[0] * w.kernel[1] > 1 ? std::optional(w) : std::nullopt;
}

[[nodiscard]] constexpr const char* refuses_image(const Call& call) noexcept {
  const ValueId x = call.value("self");
  if (const char* reason = refuses_tensor(call, x)) return reason;
  if (const char* reason = refuses_tensor(call, call.output())) return reason;
  if (call.rank(x) != 4 || call.rank(call.output()) != 4) return "not a batch of images";
  return call.fixed(x, 1) < 0 ? "a symbolic number of channels" : nullptr;
}

}  // namespace detail

}  // namespace davit::xnnpack_parts
