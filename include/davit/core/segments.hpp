// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
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

  /// Bytes that lie in another file, where they have a name. `number` is their segment, which is empty in this file, or
  /// `unused`.
  struct Outside {
    static constexpr std::uint32_t unused = 0xffffffffu;
    std::string_view name;
    std::span<const std::byte> bytes;
    std::uint32_t number = unused;
  };
  /// Sets the bytes that stay outside: add() knows them by their address. Names and bytes must outlive the writer.
  void keep_outside(std::vector<Outside> outside);
  [[nodiscard]] std::span<const Outside> outside() const noexcept { return outside_; }

  [[nodiscard]] std::span<const std::span<const std::byte>> segments() const noexcept;

 private:
  /// Makes the hash table twice as large as the number of segments, or more.
  void grow();

  std::vector<std::span<const std::byte>> segments_;
  std::vector<std::uint64_t> hashes_;   ///< hash of each segment
  std::vector<std::uint32_t> numbers_;  ///< hash table of segment numbers, with open addressing
  std::vector<std::vector<std::byte>> owned_;
  /// Returns the number of bytes that stay outside.
  [[nodiscard]] std::uint32_t number_outside(const std::byte* at, std::size_t size);

  std::vector<Outside> outside_;  ///< by address
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
  /// Gives a segment that is empty the bytes that lie in another file. Requires number < size().
  void set(std::uint32_t number, SharedBytes bytes) noexcept { segments_[number] = std::move(bytes); }

 private:
  std::vector<SharedBytes> segments_;
};

/// True if a tensor that a caller or a file made can be read: its dtype is known, it has as many strides as sizes, and
/// all of its elements lie in its storage. O(rank).
[[nodiscard]] bool is_stored(const Tensor& t) noexcept;
/// The sentence of an Error (invalid_argument) for a tensor that is not.
inline constexpr std::string_view not_stored =
    "its elements do not all lie in its storage, or it has not as many strides as sizes, or no dtype";

/// Returns the bytes of the storage that the tensor can reach; none if they are not all there.
[[nodiscard]] std::span<const std::byte> reachable_bytes(const Tensor& t) noexcept;

/// Appends a tensor and adds its elements to the segments: only the bytes that the tensor can reach.
void write_tensor(ByteWriter& out, const Tensor& t, SegmentWriter& segments);

/// Reads a tensor of write_tensor; it views its segment. Errors: corrupt_data.
[[nodiscard]] Result<Tensor> read_tensor(ByteReader& in, const SegmentReader& segments);

}  // namespace davit
