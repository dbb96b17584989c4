// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "davit/core/copy_tensor.hpp"
#include "davit/core/move_row.hpp"
#include "davit/core/next_index.hpp"

namespace davit {

DAVIT_INLINE void copy_tensor(const TensorView& from, const TensorView& to) noexcept {
  const std::int64_t count = from.numel();
  if (count == 0) return;
  const std::size_t element = size_of(from.dtype);
  const auto* source = static_cast<const std::byte*>(from.data);
  auto* destination = static_cast<std::byte*>(to.data);
  if (from.is_contiguous() && to.is_contiguous()) {
    std::memcpy(destination, source, static_cast<std::size_t>(count) * element);
    return;
  }
  const auto bytes = static_cast<std::int64_t>(element);
  const std::size_t rows = from.rank - std::size_t{1};  // the dimensions but the last; a tensor without any is contiguous
  const std::int64_t row = from.size(rows);
  std::array<std::int64_t, max_rank> index{};
  for (std::int64_t done = 0; done < count; done += row) {
    move_row(element, source, from.stride(rows) * bytes, destination, to.stride(rows) * bytes, row);
    next_index(rows, index, from.sizes(), [&](std::size_t d, std::ptrdiff_t steps) {
      source += from.stride(d) * steps * static_cast<std::ptrdiff_t>(element);
      destination += to.stride(d) * steps * static_cast<std::ptrdiff_t>(element);
    });
  }
}

DAVIT_INLINE bool copy_if_same(const TensorView& from, const TensorView& to) noexcept {
  if (from.dtype != to.dtype || !std::ranges::equal(from.sizes(), to.sizes())) return false;
  copy_tensor(from, to);
  return true;
}

DAVIT_INLINE Footprint footprint(const TensorView& t) noexcept {
  if (t.numel() == 0) return {};
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::size_t d = 0; d < t.rank; ++d) (t.stride(d) < 0 ? low : high) += t.stride(d) * (t.size(d) - 1);
  const auto element = static_cast<std::int64_t>(size_of(t.dtype));
  const auto* data = static_cast<const std::byte*>(t.data);
  return {data + low * element, data + (high + 1) * element};
}

}  // namespace davit
