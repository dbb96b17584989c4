// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "davit/core/content_hash.hpp"

namespace davit {

std::uint64_t content_hash(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
  std::uint64_t hash = seed ^ (bytes.size() * odd);
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * odd;
    hash ^= hash >> 29;
  };
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    mix(word);
  }
  std::uint64_t tail = 0;
  if (at != bytes.size()) std::memcpy(&tail, bytes.data() + at, bytes.size() - at);
  mix(tail);
  mix(hash >> 32);
  return hash;
}

}  // namespace davit
