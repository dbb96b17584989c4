// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "davit/backends/onednn/code.hpp"
#include "davit/backends/onednn/descriptors.hpp"

/// Changes of a tensor's sizes without a copy.
namespace davit::onednn_ops {

/// The same elements in other sizes, if the layout allows it without moving any. Throws dnnl::error for another number
/// of elements, which only an inconsistent graph has.
[[nodiscard]] inline std::optional<Place> reshaped(const Place& place, const Dims& dims) {
  const Dims own = dims_of(place.md);
  if (count_of(own) != count_of(dims))
    throw dnnl::error(dnnl_invalid_arguments, "a result has other sizes than the graph says");
  if (is_row_major(place.md)) return Place{plain(dims, type_of(place.md)), place.storage, place.offset};
  if (own == dims) return place;
  const Blocking blocking = blocking_of(place.md);
  for (std::size_t d = 0; d < own.size(); ++d)
    if (own[d] == 1 && blocking.block_of(static_cast<std::int64_t>(d)) > 1)
      return std::nullopt;  // 2.6 loses the padding
  const MemoryDesc md = place.md.reshape(dims, true);
  if (!md) return std::nullopt;
  return Place{md, place.storage, place.offset};
}

/// Dimension d of the result is dimension permutation[d] of `place`.
[[nodiscard]] inline Place permuted(const Place& place, const std::vector<int>& permutation) {
  std::vector<int> inverse(permutation.size());  // the library's permutation maps source to destination dimensions
  for (std::size_t d = 0; d < permutation.size(); ++d)
    inverse[static_cast<std::size_t>(permutation[d])] = static_cast<int>(d);
  return {place.md.permute_axes(inverse), place.storage, place.offset};
}

/// Elements first, first + step... of one dimension of a place without blocks. For oneDNN a dimension must hold a whole
/// step after its last element: with several elements, count * step must not exceed its size.
[[nodiscard]] inline Place sliced(const Place& place, std::size_t axis, std::int64_t first, std::int64_t count,
                                  std::int64_t step) {
  Dims dims = dims_of(place.md);
  Dims strides = blocking_of(place.md).strides;
  const auto offset = static_cast<std::size_t>(first * strides[axis]) * size_of(type_of(place.md));
  dims[axis] = count;
  if (count > 1) strides[axis] *= step;
  return {strided(dims, strides, type_of(place.md)), place.storage, place.offset + offset};
}
/// Drops a dimension of size 1 of a place without blocks.
[[nodiscard]] inline Place without_dimension(const Place& place, std::size_t axis) {
  Dims dims = dims_of(place.md);
  Dims strides = blocking_of(place.md).strides;
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis));
  if (dims.empty()) {
    dims.push_back(1);
    strides.push_back(1);
  }
  return {strided(dims, strides, type_of(place.md)), place.storage, place.offset};
}

/// The offset in bytes of part `first` of a concatenation along `axis`, if the part is contiguous in it, in the part's
/// own layout.
[[nodiscard]] inline std::optional<std::size_t> part_offset(const MemoryDesc& whole, const MemoryDesc& part,
                                                            std::size_t axis, std::int64_t first) {
  const Blocking w = blocking_of(whole);
  const Blocking p = blocking_of(part);
  const auto element = static_cast<std::int64_t>(size_of(type_of(whole)));
  if (!w.known || !p.known || type_of(part) != type_of(whole) || w.blocks != p.blocks || w.axes != p.axes)
    return std::nullopt;
  const Dims whole_dims = dims_of(whole);
  const Dims dims = dims_of(part);
  const std::int64_t block = w.block_of(static_cast<std::int64_t>(axis));
  if (first % block != 0 || dims[axis] % block != 0) return std::nullopt;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::int64_t b = w.block_of(static_cast<std::int64_t>(d));
    if (d == axis || (dims[d] + b - 1) / b == 1) continue;
    if (w.strides[d] != p.strides[d] || w.strides[d] > w.strides[axis]) return std::nullopt;
  }
  if (dims[axis] != block && p.strides[axis] != w.strides[axis]) return std::nullopt;
  if (static_cast<std::int64_t>(part.get_size()) != dims[axis] / block * w.strides[axis] * element) return std::nullopt;
  if (static_cast<std::int64_t>(whole.get_size()) != whole_dims[axis] / block * w.strides[axis] * element)
    return std::nullopt;
  return static_cast<std::size_t>(first / block * w.strides[axis] * element);
}

}  // namespace davit::onednn_ops
