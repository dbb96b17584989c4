// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace davit::detail {

/// FNV-1a. O(size).
[[nodiscard]] constexpr std::uint32_t name_hash(std::string_view name) noexcept {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

}  // namespace davit::detail
