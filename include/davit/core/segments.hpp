// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "davit/core/bytes.hpp"
#include "davit/core/error.hpp"
#include "davit/core/tensor.hpp"

namespace davit {

/// Collects the large byte strings of a file that is being written; stores equal ones once.
///
/// The bytes are viewed, not copied: they must live until the file is written.
class SegmentWriter {
 public:
  /// Returns the number of a segment with these bytes. O(size).
  [[nodiscard]] std::uint32_t add(std::span<const std::byte> bytes);
  /// Returns the number of a segment with these bytes, and takes ownership of them.
  [[nodiscard]] std::uint32_t add_owned(std::vector<std::byte> bytes);
  [[nodiscard]] std::span<const std::span<const std::byte>> segments() const noexcept;

 private:
  /// Doubles the hash table.
  void grow();

  std::vector<std::span<const std::byte>> segments_;
  std::vector<std::uint64_t> hashes_;   ///< hash of each segment
  std::vector<std::uint32_t> numbers_;  ///< hash table of segment numbers, with open addressing
  std::vector<std::vector<std::byte>> owned_;
};

/// The segments of a file, which share its mapping.
class SegmentReader {
 public:
  SegmentReader() = default;
  explicit SegmentReader(std::vector<SharedBytes> segments) noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return segments_.size(); }
  /// Returns the segment of that number; nullptr if there is none.
  [[nodiscard]] const SharedBytes* find(std::uint32_t number) const noexcept {
    return number < segments_.size() ? &segments_[number] : nullptr;
  }

 private:
  std::vector<SharedBytes> segments_;
};

/// Appends a tensor and adds its elements to the segments: only the bytes that the tensor can reach.
void write_tensor(ByteWriter& out, const Tensor& t, SegmentWriter& segments);

/// Reads a tensor of write_tensor; it views its segment. Errors: corrupt_data.
[[nodiscard]] Result<Tensor> read_tensor(ByteReader& in, const SegmentReader& segments);

}  // namespace davit
