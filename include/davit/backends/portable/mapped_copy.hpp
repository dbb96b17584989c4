// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "davit/backends/portable/dispatch.hpp"

namespace davit::portable_kernels {

/// Calls `f` with the size of an element as a constant: for what moves elements whatever they are.
template <class F>
[[nodiscard]] ErrorCode dispatch_element_size(ScalarType type, F&& f) {
  switch (size_of(type)) {
    case 1: return f(std::integral_constant<std::size_t, 1>{});
    case 2: return f(std::integral_constant<std::size_t, 2>{});
    case 4: return f(std::integral_constant<std::size_t, 4>{});
    case 8: return f(std::integral_constant<std::size_t, 8>{});
    case 16: return f(std::integral_constant<std::size_t, 16>{});
    default: return ErrorCode::invalid_dtype;
  }
}

namespace detail {
template <std::size_t Bytes, class Source>
void copy_mapped_elements(const TensorView& x, const TensorView& out, const Source& source) {
  constexpr auto bytes = static_cast<std::int64_t>(Bytes);
  const std::int64_t count = out.numel();
  if (count == 0) return;
  const auto* from = static_cast<const std::byte*>(x.data);
  auto* to = static_cast<std::byte*>(out.data);
  if (out.rank == 0) {
    std::memcpy(to, from, Bytes);
    return;
  }
  const std::size_t last = out.rank - 1u;
  const std::int64_t inner = out.size(last);
  const std::int64_t step = x.stride(last) * bytes;
  std::array<std::int64_t, max_rank> index{};
  for (std::int64_t done = 0; done < count; done += inner) {
    std::int64_t start = 0;
    for (std::size_t d = 0; d < last; ++d) start += source(d, index[d]) * x.stride(d);
    const std::byte* row = from + start * bytes;
    for (std::int64_t i = 0; i < inner; ++i, to += bytes) std::memcpy(to, row + source(last, i) * step, Bytes);
    for (std::size_t d = last; d-- > 0;) {
      if (++index[d] < out.size(d)) break;
      index[d] = 0;
    }
  }
}
}  // namespace detail

/// Fills `out`, contiguous and of x's dtype and rank, with elements of `x`: index i of dimension d comes from index
/// `source(d, i)` of x, which must lie inside it. O(elements of out).
template <class Source>
[[nodiscard]] ErrorCode copy_mapped(const TensorView& x, const TensorView& out, const Source& source) {
  return dispatch_element_size(x.dtype, [&](auto bytes) {
    detail::copy_mapped_elements<bytes()>(x, out, source);
    return ErrorCode::ok;
  });
}

}  // namespace davit::portable_kernels
