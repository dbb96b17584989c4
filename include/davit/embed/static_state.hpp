// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/backend/static_constant.hpp"
#include "davit/embed/planned_program.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// A graph input of a static program that is state.
struct StaticStateRow {
  std::uint32_t input = no_id;
  std::uint32_t first = 0;  ///< element in the state of its type
  std::uint32_t count = 0;
  ScalarType dtype = ScalarType::undefined;
  ConstantData data{};  ///< its initial value
};

namespace detail {

/// True if both have no data, or the same place in the blob, or the same array.
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

/// Constants, each once.
class DistinctConstants {
 public:
  /// Returns the bytes that it adds: 0 if it was added before. O(constants).
  constexpr std::size_t add(const ConstantData& data) {
    for (const ConstantData& other : seen_)
      if (same_data(data, other)) return 0;
    seen_.push_back(data);
    return data.bytes();
  }

 private:
  std::vector<ConstantData> seen_;
};

/// True if two rows are the same state, or have no element in common.
[[nodiscard]] constexpr bool agree(const StaticStateRow& a, const StaticStateRow& b) noexcept {
  if (a.dtype != b.dtype || a.count == 0 || b.count == 0 || a.first + a.count <= b.first ||
      b.first + b.count <= a.first)
    return true;
  return a.first == b.first && a.count == b.count && same_data(a.data, b.data);
}
/// True if all pairs of rows agree. O(rows^2).
[[nodiscard]] constexpr bool agree(const StaticStateRow* rows, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!agree(rows[i], rows[j])) return false;
  return true;
}
[[nodiscard]] constexpr bool have_initial_value(const StaticStateRow* rows, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    if (rows[i].data.place != ConstantData::Place::none) return true;
  return false;
}

/// True if an earlier row is the same state as this one.
[[nodiscard]] constexpr bool is_repeated(const StaticStateRow* rows, std::size_t row) noexcept {
  for (std::size_t i = 0; i < row; ++i)
    if (rows[i].dtype == rows[row].dtype && rows[i].first == rows[row].first && rows[i].count != 0) return true;
  return false;
}

/// The joint state of static methods (static_method<...>), and its rows in their order. Code that does not depend on
/// the methods is outside, which compiles faster.
template <class... Methods>
struct SharedStaticState {
  static constexpr StatePools pools = [] {
    StatePools all{};
    for (const StatePools& own : {Methods::state_pools...})
      for (std::size_t i = 0; i < all.counts.size(); ++i) all.counts[i] = std::max(all.counts[i], own.counts[i]);
    return all;
  }();
  static constexpr auto rows = [] {
    std::array<StaticStateRow, (std::size_t{0} + ... + Methods::state_count)> all{};
    StaticStateRow* to = all.data();
    ((to = std::copy_n(Methods::state_rows.data(), Methods::state_count, to)), ...);
    return all;
  }();
};
template <class Method>
struct SharedStaticState<Method> {
  static constexpr const StatePools& pools = Method::state_pools;
  static constexpr const auto& rows = Method::state_rows;
};

}  // namespace detail

}  // namespace davit
