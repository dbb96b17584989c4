// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace davit {

/// How the weights of a linear layer lie in memory that davit.linear_packed reads: integers of 4 or 8 bits, in words of
/// 32 bits.
///
/// Words are an int32 tensor of sizes (blocks, depth / fields, 16): word (b, i, l) holds the weights of output 16 b + l
/// for the inputs fields * i, fields * i + 1, ..., the first in the lowest bits. Scales and offsets are float32 tensors
/// of sizes (blocks, groups, 16): a weight is `scale * integer + offset`. Outputs are padded to whole blocks, with
/// zeros.
struct PackedWeights {
  static constexpr std::int64_t block = 16;  ///< outputs side by side: 16 floats are the widest vector

  std::int64_t outputs = 0;
  std::int64_t depth = 0;   ///< inputs
  std::int64_t groups = 1;  ///< scales of an output
  std::int64_t bits = 8;

  [[nodiscard]] constexpr std::int64_t fields() const noexcept { return 32 / bits; }
  [[nodiscard]] constexpr std::int64_t blocks() const noexcept { return (outputs + block - 1) / block; }
  /// Words of an output.
  [[nodiscard]] constexpr std::int64_t words() const noexcept { return depth / fields(); }
  [[nodiscard]] constexpr std::int64_t group_size() const noexcept { return depth / groups; }
  /// True if no word holds weights of two groups.
  [[nodiscard]] constexpr bool is_valid() const noexcept {
    return outputs > 0 && depth > 0 && groups > 0 && (bits == 4 || bits == 8) && depth % groups == 0 &&
           group_size() % fields() == 0;
  }
  [[nodiscard]] constexpr std::int64_t place_of_word(std::int64_t output, std::int64_t input) const noexcept {
    return (output / block * words() + input / fields()) * block + output % block;
  }
  [[nodiscard]] constexpr std::int64_t place_of_scale(std::int64_t output, std::int64_t group) const noexcept {
    return (output / block * groups + group) * block + output % block;
  }
  /// Adds a weight to a word of zeros; integers below -2^(bits - 1) or above 2^(bits - 1) - 1 lose bits.
  constexpr void put(std::int32_t* all_words, std::int64_t output, std::int64_t input,
                     std::int32_t integer) const noexcept {
    const std::uint32_t field = static_cast<std::uint32_t>(integer) & ((1u << bits) - 1u);
    std::int32_t& word = all_words[place_of_word(output, input)];
    word = static_cast<std::int32_t>(static_cast<std::uint32_t>(word) | field << (bits * (input % fields())));
  }
  /// The integer of a weight.
  [[nodiscard]] constexpr std::int32_t integer(const std::int32_t* all_words, std::int64_t output,
                                               std::int64_t input) const noexcept {
    const auto word = static_cast<std::uint32_t>(all_words[place_of_word(output, input)]);
    return static_cast<std::int32_t>(word << (32 - bits * (input % fields() + 1))) >> (32 - bits);
  }
};

}  // namespace davit
