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

/// Collects the large byte strings of a file that is being written; equal ones are kept once.
///
/// It views what it is given: that must live until the file is written.
class SegmentWriter {
 public:
  /// The number of a segment with these bytes. O(size).
  [[nodiscard]] std::uint32_t add(std::span<const std::byte> bytes);
  /// The same for bytes that nobody else keeps.
  [[nodiscard]] std::uint32_t add_owned(std::vector<std::byte> bytes);
  [[nodiscard]] std::span<const std::span<const std::byte>> segments() const noexcept;

 private:
  /// Doubles the table of numbers.
  void grow();

  std::vector<std::span<const std::byte>> segments_;
  std::vector<std::uint64_t> hashes_;   ///< of the segments
  std::vector<std::uint32_t> numbers_;  ///< segments by hash, in open addressing
  std::vector<std::vector<std::byte>> owned_;
};

/// The segments of a file that was read, shared with its mapping.
class SegmentReader {
 public:
  SegmentReader() = default;
  explicit SegmentReader(std::vector<SharedBytes> segments) noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return segments_.size(); }
  /// nullptr if there is no segment of that number.
  [[nodiscard]] const SharedBytes* find(std::uint32_t number) const noexcept {
    return number < segments_.size() ? &segments_[number] : nullptr;
  }

 private:
  std::vector<SharedBytes> segments_;
};

/// Appends a tensor whose elements go to a segment: only the bytes that it can see.
void write_tensor(ByteWriter& out, const Tensor& t, SegmentWriter& segments);

/// Reads what write_tensor wrote; the tensor views its segment. Errors: corrupt_data.
[[nodiscard]] Result<Tensor> read_tensor(ByteReader& in, const SegmentReader& segments);

}  // namespace davit
