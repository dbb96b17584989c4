// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backend/static_constant.hpp"
#include "davit/embed/planned_program.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// A graph input of a static program that is state.
struct StaticStateRow {
  std::uint32_t input = no_id;
  std::uint32_t first = 0;  ///< element of the state of its type
  std::uint32_t count = 0;
  ScalarType dtype = ScalarType::undefined;
  ConstantData data{};  ///< its initial value
};

namespace detail {

/// True if both are nothing, the same place in the blob or the same array.
[[nodiscard]] constexpr bool same_data(const ConstantData& a, const ConstantData& b) noexcept {
  if (a.place != b.place) return false;
  if (a.place == ConstantData::Place::none) return true;
  if (a.dtype != b.dtype || a.count != b.count || a.offset != b.offset) return false;
  if (a.place == ConstantData::Place::blob) return true;
  switch (a.dtype) {
    case ScalarType::float64: return a.pointer.f64 == b.pointer.f64;
    case ScalarType::int8: return a.pointer.i8 == b.pointer.i8;
    case ScalarType::uint8: return a.pointer.u8 == b.pointer.u8;
    case ScalarType::int16: return a.pointer.i16 == b.pointer.i16;
    case ScalarType::int32: return a.pointer.i32 == b.pointer.i32;
    case ScalarType::int64: return a.pointer.i64 == b.pointer.i64;
    case ScalarType::bool_: return a.pointer.b8 == b.pointer.b8;
    default: return a.pointer.f32 == b.pointer.f32;
  }
}

/// The state of static methods (static_method<...>) that share it.
template <class... Methods>
struct SharedStaticState {
  static constexpr StatePools pools = [] {
    StatePools all{};
    const auto add = [&](const StatePools& own) {
      for (std::size_t i = 0; i < all.counts.size(); ++i) all.counts[i] = std::max(all.counts[i], own.counts[i]);
    };
    (add(Methods::state_pools), ...);
    return all;
  }();
  static constexpr auto rows = [] {
    std::array<StaticStateRow, (std::size_t{0} + ... + Methods::state_count)> all{};
    std::size_t n = 0;
    const auto add = [&](const auto& own) {
      for (const StaticStateRow& row : own) all[n++] = row;
    };
    (add(Methods::state_rows), ...);
    return all;
  }();
  /// Whether rows are the same state or have no element in common. O(rows^2).
  static constexpr bool agrees = [] {
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const StaticStateRow &a = rows[i], &b = rows[j];
        const bool apart = a.dtype != b.dtype || a.count == 0 || b.count == 0 || a.first + a.count <= b.first || b.first + b.count <= a.first;
        if (!apart && (a.first != b.first || a.count != b.count || !same_data(a.data, b.data))) return false;
      }
    return true;
  }();
  /// Whether an earlier row is the same state.
  [[nodiscard]] static consteval bool is_repeated(std::size_t row) {
    for (std::size_t i = 0; i < row; ++i)
      if (rows[i].dtype == rows[row].dtype && rows[i].first == rows[row].first && rows[i].count != 0) return true;
    return false;
  }
  static constexpr bool has_initial = [] {
    for (const StaticStateRow& row : rows)
      if (row.data.place != ConstantData::Place::none) return true;
    return false;
  }();
};

}  // namespace detail

}  // namespace davit
