// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "davit/core/walk.hpp"
#include "davit/kernels/convert.hpp"
#include "davit/kernels/move.hpp"
#include "davit/kernels/walk_in_parallel.hpp"

namespace davit::kernels {

/// Elements of a block on the stack, and its bytes for elements of up to 8 bytes.
inline constexpr std::int64_t block_length = 512;
struct Block {
  alignas(64) std::array<std::byte, static_cast<std::size_t>(block_length) * 8> bytes;
};

/// Where to gather elements for a conversion into `own`, so that no step of it overwrites its own input.
[[nodiscard]] inline std::byte* block_before(const Conversion& conversion, Block& own, Block& scratch) noexcept {
  return (conversion.count % 2 == 0 ? own : scratch).bytes.data();
}

/// Reads an operand of a walk in order, as contiguous blocks in the target type of its conversion.
///
/// Contiguous elements without a conversion are used in place; a repeated element is converted once.
class BlockReader {
 public:
  /// `element`: the bytes of an element in memory.
  [[gnu::noinline]] void start(const Walk& walk, std::size_t operand, const void* data, std::size_t element,
                               const Conversion& conversion) noexcept {
    walk_ = &walk;
    strides_ = walk.strides[operand].data();
    row_ = static_cast<const std::byte*>(data);
    element_ = element;
    conversion_ = conversion;
    if (walk.is_dense(operand, element)) {
      inner_ = walk.count;
      step_ = static_cast<std::int64_t>(element);
    } else {
      step_ = strides_[0];
      inner_ = walk.is_repeated(operand) ? walk.count : walk.sizes[0];
    }
    at_ = 0;
    repeated_ = nullptr;
    for (std::size_t d = 1; d < walk.rank; ++d) index_[d] = 0;
  }
  /// True if blocks are used in place while they stay within a row.
  [[nodiscard]] bool in_place() const noexcept {
    return conversion_.count == 0 && step_ == static_cast<std::int64_t>(element_);
  }

  /// Returns the first element.
  [[nodiscard]] const void* first(Block& own, Block& scratch) const noexcept {
    return converted(row_, 1, own, scratch);
  }
  /// Returns the next n elements. More than block_length must be in one row, in place.
  [[nodiscard, gnu::noinline]] const void* next(std::int64_t n, Block& own, Block& scratch) noexcept {
    const std::byte* from = row_ + at_ * step_;
    if (n <= inner_ - at_) {
      at_ += n;
      if (at_ == inner_) next_row();
      if (step_ == static_cast<std::int64_t>(element_)) return converted(from, n, own, scratch);
      if (step_ == 0) return repeated(from, n, own, scratch);
      std::byte* gathered = block_before(conversion_, own, scratch);
      move_row(element_, from, step_, gathered, static_cast<std::int64_t>(element_), n);
      return converted(gathered, n, own, scratch);
    }
    repeated_ = nullptr;
    std::byte* const gathered = block_before(conversion_, own, scratch);
    gather(n, gathered);
    return converted(gathered, n, own, scratch);
  }

 private:
  const Walk* walk_;
  const std::int64_t* strides_;
  const std::byte* row_;
  std::size_t element_;
  Conversion conversion_;
  std::int64_t inner_;
  std::int64_t step_;
  std::int64_t at_;            ///< elements of the row read so far
  const std::byte* repeated_;  ///< the repeated element in the own block
  std::int64_t repeated_count_ = 0;
  std::array<std::int64_t, Walk::max_dims> index_;

  /// Gathers n elements, possibly of several rows.
  void gather(std::int64_t n, std::byte* to) noexcept {
    const auto element = static_cast<std::int64_t>(element_);
    while (n > 0) {
      const std::int64_t some = std::min(n, inner_ - at_);
      const std::byte* const from = row_ + at_ * step_;
      if (step_ == 0)
        fill_row(element_, from, to, some);
      else
        move_row(element_, from, step_, to, element, some);
      to += some * element;
      n -= some;
      at_ += some;
      if (at_ == inner_) next_row();
    }
  }
  void next_row() noexcept {
    at_ = 0;
    walk_->next(index_, 1, [this](std::size_t d, std::int64_t steps) { row_ += strides_[d] * steps; });
  }
  [[nodiscard]] const void* converted(const void* from, std::int64_t n, Block& own, Block& scratch) const noexcept {
    if (conversion_.count == 0) return from;
    conversion_.run(from, own.bytes.data(), scratch.bytes.data(), n);
    return own.bytes.data();
  }
  [[nodiscard]] const void* repeated(const std::byte* from, std::int64_t n, Block& own, Block& scratch) noexcept {
    if (repeated_ == from && repeated_count_ >= n) return own.bytes.data();
    const void* value = converted(from, 1, own, scratch);
    fill_row(conversion_.element, value, own.bytes.data(), n);
    repeated_ = from;
    repeated_count_ = n;
    return own.bytes.data();
  }
};

/// Converts the elements of one tensor into another of the same sizes; strides are in elements, and the two must not
/// overlap unless they are the same. False for dtypes that are not real. O(elements).
[[nodiscard, gnu::noinline]] inline bool convert_elements(std::span<const std::int64_t> sizes, const void* from,
                                                          ScalarType from_type,
                                                          std::span<const std::int64_t> from_strides, void* to,
                                                          ScalarType to_type,
                                                          std::span<const std::int64_t> to_strides) noexcept {
  const std::size_t element = size_of(to_type);
  if (from_type == to_type && is_movable(to_type))
    return move_in_parallel(element, sizes, from, from_strides, to, to_strides), true;
  const Conversion conversion = Conversion::between(from_type, to_type);
  if (!conversion.ok) return false;
  Walk walk(sizes);
  if (walk.count == 0) return true;
  walk.add(from_strides, size_of(from_type)).add(to_strides, element).collapse();
  const std::int64_t step = walk.strides[1][0];
  walk_in_parallel(walk, walk.rank == 1 ? block_length : 1, 8, [&](std::size_t, const WalkPart& part) {
    Block own;
    Block scratch;
    BlockReader reader;
    reader.start(part.walk, 0, static_cast<const std::byte*>(from) + part.at[0], size_of(from_type), conversion);
    part.walk.for_each_row([&](const auto& at) {
      std::byte* target = static_cast<std::byte*>(to) + part.at[1] + at[1];
      for (std::int64_t done = 0; done < part.walk.sizes[0];) {
        const std::int64_t n = std::min(part.walk.sizes[0] - done, block_length);
        const auto* block = static_cast<const std::byte*>(reader.next(n, own, scratch));
        move_row(element, block, static_cast<std::int64_t>(element), target + done * step, step, n);
        done += n;
      }
    });
  });
  return true;
}

}  // namespace davit::kernels
