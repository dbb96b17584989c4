// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::detail {

/// Returns the FNV-1a hash of a name. O(size).
[[nodiscard]] constexpr std::uint32_t name_hash(std::string_view name) noexcept {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

/// Returns the name of a table entry: a schema, a rule, or facts. Empty for a free place.
[[nodiscard]] constexpr std::string_view entry_name(std::string_view text) noexcept { return operator_name(text); }
[[nodiscard]] constexpr std::string_view entry_name(const OperatorFacts* facts) noexcept {
  return facts == nullptr ? std::string_view{} : facts->name;
}

template <class Entry>
  requires requires(const Entry& entry) { entry.schema; }
[[nodiscard]] constexpr std::string_view entry_name(const Entry& entry) noexcept {
  return operator_name(entry.schema);
}

/// A hash table of entries by name with linear probing, filled at compile time. A sorted table would double the compile
/// time.
template <class Entry, std::size_t Places>
struct NameTable {
  std::array<Entry, Places> places{};

  /// Adds an entry; at least one place must stay free.
  constexpr void add(const Entry& entry) noexcept { places[place_of(entry_name(entry), false)] = entry; }
  /// Returns the entry of that name; an empty one if there is none. O(size of the name).
  [[nodiscard]] constexpr const Entry& find(std::string_view name) const noexcept {
    return places[place_of(name, true)];
  }

 private:
  [[nodiscard]] constexpr std::size_t place_of(std::string_view name, bool stops_at_name) const noexcept {
    std::size_t at = name_hash(name) % Places;
    while (places[at] != Entry{} && !(stops_at_name && entry_name(places[at]) == name)) at = (at + 1) % Places;
    return at;
  }
};

}  // namespace davit::detail
