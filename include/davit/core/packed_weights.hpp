// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace davit {

/// How packed weights lie in memory.
enum class PackedLayout : std::uint8_t {
  words,  ///< in words of 32 bits, 16 outputs side by side: for vectors of many outputs
  rows,   ///< row after row, in bytes: for microcontrollers
};

/// How the weights of a linear layer lie in memory that davit.linear_packed reads: integers of 4 or 8 bits.
///
/// PackedLayout::words: words are an int32 tensor of sizes (blocks, depth / fields, 16): word (b, i, l) holds the
/// weights of output 16 b + l for the inputs fields * i, fields * i + 1, ..., the first in the lowest bits. Scales and
/// offsets are float32 tensors of sizes (blocks, groups, 16): a weight is `scale * integer + offset`. Outputs are
/// padded to whole blocks, with zeros.
///
/// PackedLayout::rows: an int8 tensor of sizes (outputs, depth); or for 4 bits a uint8 tensor of sizes (outputs, depth
/// / 2), in which byte i of a group of n inputs holds the weight of input i in its low bits, and that of input n / 2 +
/// i in its high bits. Scales and offsets are float32 tensors of sizes (groups, outputs), or (outputs) for one group.
struct PackedWeights {
  static constexpr std::int64_t block = 16;  ///< outputs side by side: 16 floats are the widest vector

  std::int64_t outputs = 0;
  std::int64_t depth = 0;   ///< inputs
  std::int64_t groups = 1;  ///< scales of an output
  std::int64_t bits = 8;
  PackedLayout layout = PackedLayout::words;

  [[nodiscard]] constexpr std::int64_t fields() const noexcept { return 32 / bits; }
  [[nodiscard]] constexpr std::int64_t blocks() const noexcept { return (outputs + block - 1) / block; }
  /// Words of an output.
  [[nodiscard]] constexpr std::int64_t words() const noexcept { return depth / fields(); }
  [[nodiscard]] constexpr std::int64_t group_size() const noexcept { return depth / groups; }
  /// Bytes of an output's row, and of its part for one group.
  [[nodiscard]] constexpr std::int64_t row_bytes() const noexcept { return depth * bits / 8; }
  [[nodiscard]] constexpr std::int64_t group_bytes() const noexcept { return group_size() * bits / 8; }
  /// True if no word or byte holds weights of two groups.
  [[nodiscard]] constexpr bool is_valid() const noexcept {
    return outputs > 0 && depth > 0 && groups > 0 && (bits == 4 || bits == 8) && depth % groups == 0 &&
           group_size() % (layout == PackedLayout::words ? fields() : 8 / bits) == 0;
  }
  [[nodiscard]] constexpr std::int64_t place_of_word(std::int64_t output, std::int64_t input) const noexcept {
    return (output / block * words() + input / fields()) * block + output % block;
  }
  [[nodiscard]] constexpr std::int64_t place_of_byte(std::int64_t output, std::int64_t input) const noexcept {
    return output * row_bytes() + input / group_size() * group_bytes() + input % group_size() % group_bytes();
  }
  [[nodiscard]] constexpr std::int64_t place_of_scale(std::int64_t output, std::int64_t group) const noexcept {
    return layout == PackedLayout::rows ? group * outputs + output
                                        : (output / block * groups + group) * block + output % block;
  }
  /// Adds a weight to a word of zeros; integers below -2^(bits - 1) or above 2^(bits - 1) - 1 lose bits.
  constexpr void put(std::int32_t* all_words, std::int64_t output, std::int64_t input,
                     std::int32_t integer) const noexcept {
    const std::uint32_t field = static_cast<std::uint32_t>(integer) & ((1u << bits) - 1u);
    std::int32_t& word = all_words[place_of_word(output, input)];
    word = static_cast<std::int32_t>(static_cast<std::uint32_t>(word) | field << (bits * (input % fields())));
  }
  /// The integer in field `index` of a word.
  [[nodiscard]] constexpr std::int32_t field(std::int32_t word, std::int64_t index) const noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(word) << (32 - bits * (index + 1))) >> (32 - bits);
  }
  /// The integer of a weight.
  [[nodiscard]] constexpr std::int32_t integer(const std::int32_t* all_words, std::int64_t output,
                                               std::int64_t input) const noexcept {
    return field(all_words[place_of_word(output, input)], input % fields());
  }
  /// Likewise, to a byte of zeros, in rows.
  constexpr void put(std::uint8_t* all_bytes, std::int64_t output, std::int64_t input,
                     std::int32_t integer) const noexcept {
    const std::uint32_t field = static_cast<std::uint32_t>(integer) & ((1u << bits) - 1u);
    std::uint8_t& byte = all_bytes[place_of_byte(output, input)];
    byte = static_cast<std::uint8_t>(byte | field << (input % group_size() < group_bytes() ? 0 : 4));
  }
};

}  // namespace davit
