// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/backends/portable/run_time/kernel_call.hpp"

namespace davit::portable_kernels {

/// A number that stands for an operator's name in searches. Source: FNV-1a.
[[nodiscard]] constexpr std::uint64_t op_key(std::string_view name) noexcept {
  std::uint64_t key = 0xcbf29ce484222325u;
  for (const char c : name) key = (key ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return key;
}

/// Operators of several families that are compiled together: their rows, and the keys of their names in ascending
/// order.
struct OpGroup {
  std::span<const std::uint64_t> keys;
  std::span<const OpRow> rows;
};

/// The rows of some families in the order of their keys.
template <std::size_t N>
struct SortedOps {
  std::array<std::uint64_t, N> keys{};
  std::array<OpRow, N> rows{};

  [[nodiscard]] constexpr OpGroup group() const noexcept { return {keys, rows}; }
  [[nodiscard]] constexpr bool are_distinct() const noexcept {
    for (std::size_t i = 1; i < N; ++i)
      if (keys[i - 1] == keys[i]) return false;
    return true;
  }
};

/// Sorts the rows of families.
template <std::size_t... N>
[[nodiscard]] consteval auto sorted_ops(const std::array<OpRow, N>&... families) {
  SortedOps<(std::size_t{0} + ... + N)> sorted;
  std::size_t count = 0;
  const auto insert = [&](const auto& family) {
    for (const OpRow& row : family) {
      const std::uint64_t key = op_key(row.name);
      std::size_t at = count++;
      for (; at != 0 && sorted.keys[at - 1] > key; --at) {
        sorted.keys[at] = sorted.keys[at - 1];
        sorted.rows[at] = sorted.rows[at - 1];
      }
      sorted.keys[at] = key;
      sorted.rows[at] = row;
    }
  };
  (insert(families), ...);
  return sorted;
}

/// A family whose kernels take complex numbers.
template <std::size_t N>
[[nodiscard]] consteval std::array<OpRow, N> taking_complex(std::array<OpRow, N> family) {
  for (OpRow& row : family) row.takes_complex = true;
  return family;
}

}  // namespace davit::portable_kernels
