// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "davit/embed/static_plan.hpp"

namespace davit {

namespace detail {

template <ScalarType type>
struct ElementOf;
template <>
struct ElementOf<ScalarType::float32> {
  using type = float;
};
template <>
struct ElementOf<ScalarType::float64> {
  using type = double;
};
template <>
struct ElementOf<ScalarType::int8> {
  using type = std::int8_t;
};
template <>
struct ElementOf<ScalarType::uint8> {
  using type = std::uint8_t;
};
template <>
struct ElementOf<ScalarType::int16> {
  using type = std::int16_t;
};
template <>
struct ElementOf<ScalarType::int32> {
  using type = std::int32_t;
};
template <>
struct ElementOf<ScalarType::int64> {
  using type = std::int64_t;
};
template <>
struct ElementOf<ScalarType::bool_> {
  using type = bool;
};
template <>
struct ElementOf<ScalarType::float16> {
  using type = Half;
};
template <>
struct ElementOf<ScalarType::bfloat16> {
  using type = BFloat16;
};

}  // namespace detail

/// The C++ type of a scalar type's elements.
template <ScalarType type>
using element_of = typename detail::ElementOf<type>::type;

/// Elements of a state, of one type; takes no room if there are none.
template <class T, std::uint32_t N>
struct StatePool {
  std::array<T, N> elements{};
  [[nodiscard]] constexpr T* data() noexcept { return elements.data(); }
};
template <class T>
struct StatePool<T, 0> {
  [[nodiscard]] constexpr T* data() noexcept { return nullptr; }
};

/// A static module's state: one array per element type.
template <StatePools pools>
struct StaticState {
  [[no_unique_address]] StatePool<double, pools.counts[1]> f64{};
  [[no_unique_address]] StatePool<std::int64_t, pools.counts[6]> i64{};
  [[no_unique_address]] StatePool<float, pools.counts[0]> f32{};
  [[no_unique_address]] StatePool<std::int32_t, pools.counts[5]> i32{};
  [[no_unique_address]] StatePool<std::int16_t, pools.counts[4]> i16{};
  [[no_unique_address]] StatePool<std::int8_t, pools.counts[2]> i8{};
  [[no_unique_address]] StatePool<std::uint8_t, pools.counts[3]> u8{};
  [[no_unique_address]] StatePool<bool, pools.counts[7]> b8{};

  template <class T>
  [[nodiscard]] constexpr T* of() noexcept {
    constexpr std::size_t pool = state_pool(scalar_type_of<T>);
    if constexpr (pool == 0)
      return f32.data();
    else if constexpr (pool == 1)
      return f64.data();
    else if constexpr (pool == 2)
      return i8.data();
    else if constexpr (pool == 3)
      return u8.data();
    else if constexpr (pool == 4)
      return i16.data();
    else if constexpr (pool == 5)
      return i32.data();
    else if constexpr (pool == 6)
      return i64.data();
    else
      return b8.data();
  }
};

/// The memory of one run: bytes, and the caller's pointers.
template <class State, std::size_t Ports>
struct RunningMemory {
  static constexpr bool is_bytes = true;
  std::byte* arena;
  State* state;
  std::array<const void*, Ports> arguments;

  template <class T>
  [[nodiscard]] T* argument(std::uint32_t index) const noexcept {
    return static_cast<T*>(const_cast<void*>(arguments[index]));
  }
};

/// The memory of one run in constant evaluation, where bytes have no other type than their own: an arena per element
/// type, all laid out alike.
template <class State, std::size_t Ports>
struct ConstantMemory {
  static constexpr bool is_bytes = false;
  std::uint32_t arena_bytes;
  State* state;
  std::array<ConstantData::Pointer, Ports> arguments;
  std::vector<float> f32{};
  std::vector<double> f64{};
  std::vector<std::int8_t> i8{};
  std::vector<std::uint8_t> u8{};
  std::vector<std::int16_t> i16{};
  std::vector<std::int32_t> i32{};
  std::vector<std::int64_t> i64{};
  std::vector<std::uint8_t> b8{};

  template <class T>
  [[nodiscard]] constexpr T* in_arena(std::uint32_t offset) {
    constexpr ScalarType type = scalar_type_of<T>;
    if constexpr (type == ScalarType::float32)
      return grown(f32, offset);
    else if constexpr (type == ScalarType::float64)
      return grown(f64, offset);
    else if constexpr (type == ScalarType::int8)
      return grown(i8, offset);
    else if constexpr (type == ScalarType::uint8)
      return grown(u8, offset);
    else if constexpr (type == ScalarType::int16)
      return grown(i16, offset);
    else if constexpr (type == ScalarType::int32)
      return grown(i32, offset);
    else
      return grown(i64, offset);
  }
  template <class T>
  [[nodiscard]] constexpr T* argument(std::uint32_t index) const noexcept {
    ConstantData data;
    data.pointer = arguments[index];
    return const_cast<T*>(data.template as<T>());
  }

 private:
  template <class T>
  [[nodiscard]] constexpr T* grown(std::vector<T>& pool, std::uint32_t offset) {
    if (pool.empty()) pool.resize(arena_bytes / sizeof(T) + 1, T{});
    return pool.data() + offset / sizeof(T);
  }
};

}  // namespace davit
