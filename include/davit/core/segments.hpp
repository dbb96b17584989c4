// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "davit/core/bytes.hpp"
#include "davit/core/content_hash.hpp"
#include "davit/core/error.hpp"
#include "davit/core/tensor.hpp"

namespace davit {

/// Collects the large byte strings of a file that is being written; equal ones are kept once.
///
/// It views what it is given: that must live until the file is written.
class SegmentWriter {
 public:
  /// The number of a segment with these bytes. O(size).
  [[nodiscard]] std::uint32_t add(std::span<const std::byte> bytes) {
    const std::uint64_t hash = content_hash(bytes);
    const auto [first, last] = known_.equal_range(hash);
    for (auto at = first; at != last; ++at)
      if (std::ranges::equal(segments_[at->second], bytes)) return at->second;
    const auto number = static_cast<std::uint32_t>(segments_.size());
    known_.emplace(hash, number);
    segments_.push_back(bytes);
    return number;
  }
  /// The same for bytes that nobody else keeps.
  [[nodiscard]] std::uint32_t add_owned(std::vector<std::byte> bytes) {
    owned_.push_back(std::move(bytes));
    const std::size_t before = segments_.size();
    const std::uint32_t number = add(owned_.back());
    if (segments_.size() == before) owned_.pop_back();
    return number;
  }
  [[nodiscard]] std::span<const std::span<const std::byte>> segments() const noexcept { return segments_; }

 private:
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_;
  std::vector<std::span<const std::byte>> segments_;
  std::vector<std::vector<std::byte>> owned_;
};

/// The segments of a file that was read, shared with its mapping.
class SegmentReader {
 public:
  SegmentReader() = default;
  explicit SegmentReader(std::vector<SharedBytes> segments) noexcept : segments_(std::move(segments)) {}
  [[nodiscard]] std::size_t size() const noexcept { return segments_.size(); }
  /// nullptr if there is no segment of that number.
  [[nodiscard]] const SharedBytes* find(std::uint32_t number) const noexcept {
    return number < segments_.size() ? &segments_[number] : nullptr;
  }

 private:
  std::vector<SharedBytes> segments_;
};

/// Appends a tensor whose elements go to a segment: only the bytes that it can see.
inline void write_tensor(ByteWriter& out, const Tensor& t, SegmentWriter& segments) {
  const std::int64_t extent = storage_extent(t.sizes, t.strides, t.storage_offset, size_of(t.dtype));
  const std::size_t begin = static_cast<std::size_t>(t.storage_offset) * size_of(t.dtype);
  const bool empty = extent <= 0 || static_cast<std::size_t>(extent) > t.storage.size();
  out.number(t.dtype);
  out.array(std::span<const std::int64_t>(t.sizes));
  out.array(std::span<const std::int64_t>(t.strides));
  out.number(static_cast<std::uint8_t>(t.requires_grad));
  out.number(segments.add(empty ? std::span<const std::byte>{}
                                : t.storage.bytes().subspan(begin, static_cast<std::size_t>(extent) - begin)));
}

/// Reads what write_tensor wrote; the tensor views its segment. Errors: corrupt_data.
[[nodiscard]] inline Result<Tensor> read_tensor(ByteReader& in, const SegmentReader& segments) {
  Tensor t;
  t.dtype = in.number<ScalarType>();
  t.sizes = in.array<std::int64_t>();
  t.strides = in.array<std::int64_t>();
  t.requires_grad = in.number<std::uint8_t>() != 0;
  const SharedBytes* segment = segments.find(in.number<std::uint32_t>());
  const std::int64_t extent =
      t.sizes.size() == t.strides.size() ? storage_extent(t.sizes, t.strides, 0, size_of(t.dtype)) : -1;
  if (!in.ok() || size_of(t.dtype) == 0 || t.sizes.size() > max_rank || extent < 0 || segment == nullptr ||
      static_cast<std::size_t>(extent) > segment->size())
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .where = concat("tensor, byte ", in.position()),
                                 .what = "its sizes and strides reach outside its segment, or its dtype is unknown",
                                 .fix = "save the program again"});
  t.storage = *segment;
  return t;
}

}  // namespace davit
