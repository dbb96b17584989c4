// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "davit/core/copy_tensor.hpp"
#include "davit/core/move_elements.hpp"

namespace davit {

void copy_tensor(const TensorView& from, const TensorView& to) noexcept {
  const std::int64_t count = from.numel();
  if (count == 0) return;
  if (from.is_contiguous() && to.is_contiguous())
    std::memcpy(to.data, from.data, static_cast<std::size_t>(count) * size_of(from.dtype));
  else
    move_elements(from, to);
}

bool copy_if_same(const TensorView& from, const TensorView& to) noexcept {
  if (from.dtype != to.dtype || !std::ranges::equal(from.sizes(), to.sizes())) return false;
  copy_tensor(from, to);
  return true;
}

MemoryRange memory_range(const TensorView& t) noexcept {
  if (t.numel() == 0) return {};
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::size_t d = 0; d < t.rank; ++d) (t.stride(d) < 0 ? low : high) += t.stride(d) * (t.size(d) - 1);
  const auto element = static_cast<std::int64_t>(size_of(t.dtype));
  const auto* data = static_cast<const std::byte*>(t.data);
  return {data + low * element, data + (high + 1) * element};
}

}  // namespace davit
