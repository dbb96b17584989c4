// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "davit/core/table.hpp"
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

/// Elements of a state, of one type; empty for N = 0.
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

/// An arena in constant evaluation, where bytes cannot be reinterpreted: one per element type, all with the same
/// offsets.
class TypedArena {
 public:
  constexpr explicit TypedArena(std::size_t bytes) noexcept : bytes_(bytes) {}

  /// Returns the elements from that byte on.
  template <class T>
  [[nodiscard]] constexpr T* at(std::uint32_t offset) {
    Table<T>& pool = std::get<Table<T>>(pools_);
    if (pool.empty()) pool = Table<T>(bytes_ / sizeof(T) + 1);
    return pool.begin() + offset / sizeof(T);
  }

 private:
  std::size_t bytes_;
  std::tuple<Table<float>, Table<double>, Table<std::int8_t>, Table<std::uint8_t>, Table<std::int16_t>,
             Table<std::int32_t>, Table<std::int64_t>, Table<bool>, Table<Half>, Table<BFloat16>>
      pools_;
};

/// The memory of one run: the arena (bytes, or a TypedArena in constant evaluation), the state and the caller's
/// tensors. One type for both, so that a program's code is instantiated once.
template <class State, std::size_t Ports>
struct RunMemory {
  union Arena {
    std::byte* bytes;
    TypedArena* typed;
    constexpr Arena(std::byte* memory) noexcept : bytes(memory) {}
    constexpr Arena(TypedArena* memory) noexcept : typed(memory) {}
  } arena;
  State* state;
  std::array<ConstantData::Pointer, Ports> arguments;

  template <class T>
  [[nodiscard, gnu::always_inline]] constexpr T* in_arena(std::uint32_t offset) const {
    if consteval {
      return arena.typed->template at<T>(offset);
    } else {
      return reinterpret_cast<T*>(arena.bytes + offset);
    }
  }
  template <class T>
  [[nodiscard, gnu::always_inline]] constexpr T* argument(std::uint32_t index) const noexcept {
    return const_cast<T*>(arguments.data()[index].template as<std::remove_const_t<T>>());
  }
};

}  // namespace davit
