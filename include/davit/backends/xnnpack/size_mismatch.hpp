// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/xnnpack/workspace.hpp"

namespace davit::xnnpack_parts {

/// Returns the reason why the sizes of a step's operands are inconsistent, or nullptr. Only inconsistent graphs fail
/// this check.
[[nodiscard]] inline const char* size_mismatch(const Plan& plan, const Workspace& ws, const Step& step) noexcept {
  const auto extent = [&](std::uint32_t s) { return extent_of(plan, ws, s); };
  if (step.op == Op::kernel) return nullptr;  // the kernel checks them itself
  const Extent out = extent(step.out);
  const Extent x = extent(step.in);
  const auto same = [](const Extent& a, const Extent& b) { return std::ranges::equal(a.sizes, b.sizes); };
  const auto window = [&](bool channels, bool transposed) {
    const auto& w = step.window;
    const std::size_t spatial = x.rank - 2;
    if (spatial > 2) return same(x, out) ? nullptr : "images that do not fit";  // a batch norm: one element per channel
    if (x.rank != out.rank || x.sizes[0] != out.sizes[0] || (channels && x.sizes[1] != out.sizes[1]))
      return "images that do not fit";
    for (std::size_t d = 0; d < spatial; ++d) {
      const std::size_t k = d + 2 - spatial;
      const std::int64_t before = w.padding[k == 0 ? 0 : 3];
      const std::int64_t after = w.padding[k == 0 ? 2 : 1];
      const std::int64_t reach = static_cast<std::int64_t>(w.kernel[k] - 1) * w.dilation[k] + 1;
      if (transposed) {
        const std::int64_t made = (x.sizes[2 + d] - 1) * w.stride[k] + reach + w.output_padding[k] - before - after;
        if (made < 1 || out.sizes[2 + d] != made) return "a window that does not fit its image";
        continue;
      }
      const std::int64_t room = x.sizes[2 + d] + before + after - reach;
      if (room < 0 || out.sizes[2 + d] != room / w.stride[k] + 1) return "a window that does not fit its image";
    }
    return static_cast<const char*>(nullptr);
  };
  switch (step.op) {
    case Op::convolution: return window(false, false);
    case Op::transposed_convolution: return window(false, true);
    case Op::quantized_convolution:
      if (x.rank > 2) return window(false, false);
      return x.sizes[0] != out.sizes[0] ? "matrices that do not fit" : nullptr;
    case Op::max_pool:
    case Op::max_pool_s8:
    case Op::average_pool: return window(true, false);
    case Op::fully_connected: return out.rows() != x.rows() ? "matrices that do not fit" : nullptr;
    case Op::copy: {
      const bool part = step.into;
      const Extent& small = part ? x : out;
      const Extent& large = part ? out : x;
      if (small.rank < large.rank) return "sizes that do not fit";
      const std::size_t shift = small.rank - large.rank;
      for (std::size_t d = 0; d < large.rank; ++d) {
        const std::int64_t n = small.sizes[d + shift];
        const bool axis = d == step.axis && (part || step.start != 0 || step.step != 1 || n < large.sizes[d]);
        if (axis ? n > 0 && step.start + (n - 1) * step.step >= large.sizes[d]
                 : n != large.sizes[d] && large.sizes[d] != 1)
          return "sizes that do not fit";
      }
      return nullptr;
    }
    default: return same(x, out) ? nullptr : "sizes that do not fit";
  }
}

}  // namespace davit::xnnpack_parts
