// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include "davit/program/graph.hpp"

namespace davit::xnnpack_parts {

[[nodiscard]] constexpr bool same_dim(const Dim& a, const Dim& b) noexcept {
  return a.is_static() || b.is_static() ? a.is_static() && b.is_static() && a.value == b.value : a.expr == b.expr;
}
[[nodiscard]] constexpr bool same_dims(std::span<const Dim> a, std::span<const Dim> b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t d = 0; d < a.size(); ++d)
    if (!same_dim(a[d], b[d])) return false;
  return true;
}

}  // namespace davit::xnnpack_parts
