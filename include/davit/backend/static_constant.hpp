// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/core/scalar_type.hpp"

namespace davit {

/// Memory layout of a constant's elements.
enum class WeightLayout : std::uint8_t {
  contiguous,    ///< row-major, as in the program
  output_inner,  ///< dimension 0 (the output channel) innermost and padded with zeros to a multiple of 8: [in...,
                 ///< padded out]; only for float32 weights of rank 2 or more whose readers are all convolutions and
                 ///< linears
};

/// The elements of a constant: a typed array that constant evaluation can read, an offset in the program's weight blob,
/// which only a running program can read, or none (zeros).
struct ConstantData {
  enum class Place : std::uint8_t { none, array, blob };

  Place place = Place::none;
  ScalarType dtype = ScalarType::undefined;
  std::uint32_t count = 0;   ///< elements, with padding
  std::uint32_t offset = 0;  ///< offset in the blob, in bytes
  union Pointer {
    const float* f32;
    const double* f64;
    const std::int8_t* i8;
    const std::uint8_t* u8;
    const std::int16_t* i16;
    const std::int32_t* i32;
    const std::int64_t* i64;
    const bool* b8;
    const Half* f16;
    const BFloat16* bf16;
    constexpr Pointer() noexcept : f32(nullptr) {}
    constexpr Pointer(const float* p) noexcept : f32(p) {}
    constexpr Pointer(const double* p) noexcept : f64(p) {}
    constexpr Pointer(const std::int8_t* p) noexcept : i8(p) {}
    constexpr Pointer(const std::uint8_t* p) noexcept : u8(p) {}
    constexpr Pointer(const std::int16_t* p) noexcept : i16(p) {}
    constexpr Pointer(const std::int32_t* p) noexcept : i32(p) {}
    constexpr Pointer(const std::int64_t* p) noexcept : i64(p) {}
    constexpr Pointer(const bool* p) noexcept : b8(p) {}
    constexpr Pointer(const Half* p) noexcept : f16(p) {}
    constexpr Pointer(const BFloat16* p) noexcept : bf16(p) {}

    template <class T>
    [[nodiscard]] constexpr const T* as() const noexcept {
      if constexpr (scalar_type_of<T> == ScalarType::float32)
        return f32;
      else if constexpr (scalar_type_of<T> == ScalarType::float64)
        return f64;
      else if constexpr (scalar_type_of<T> == ScalarType::int8)
        return i8;
      else if constexpr (scalar_type_of<T> == ScalarType::uint8)
        return u8;
      else if constexpr (scalar_type_of<T> == ScalarType::int16)
        return i16;
      else if constexpr (scalar_type_of<T> == ScalarType::int32)
        return i32;
      else if constexpr (scalar_type_of<T> == ScalarType::int64)
        return i64;
      else if constexpr (scalar_type_of<T> == ScalarType::float16)
        return f16;
      else if constexpr (scalar_type_of<T> == ScalarType::bfloat16)
        return bf16;
      else
        return b8;
    }
  } pointer{};

  [[nodiscard]] constexpr std::size_t bytes() const noexcept { return count * size_of(dtype); }
  /// True if constant evaluation can read the elements.
  [[nodiscard]] constexpr bool is_array() const noexcept { return place == Place::array; }
  /// The elements of an array; T must be its dtype.
  template <class T>
  [[nodiscard]] constexpr const T* as() const noexcept {
    return pointer.template as<T>();
  }

  /// A constant in the weight blob.
  [[nodiscard]] static constexpr ConstantData in_blob(ScalarType dtype, std::uint32_t count,
                                                      std::uint32_t offset) noexcept {
    ConstantData data;
    data.place = Place::blob;
    data.dtype = dtype;
    data.count = count;
    data.offset = offset;
    return data;
  }
  /// A constant in an array of static storage duration.
  template <class T, std::size_t N>
  [[nodiscard]] static constexpr ConstantData in_array(const std::array<T, N>& array) noexcept {
    ConstantData data;
    data.place = Place::array;
    data.dtype = scalar_type_of<T>;
    data.count = static_cast<std::uint32_t>(N);
    data.pointer = array.data();
    return data;
  }
};

/// Role of a graph input of a static program.
enum class StaticRole : std::uint8_t {
  user,      ///< an argument of forward
  constant,  ///< a parameter, a buffer that is never mutated, or a lifted constant
  state,     ///< a mutated buffer: `data` is its initial value
  unused,    ///< has no reader
};

/// One graph input of a static program.
struct StaticInput {
  StaticRole role = StaticRole::user;
  WeightLayout layout = WeightLayout::contiguous;
  std::uint32_t sum_count = 0;
  ConstantData data{};
  /// For an int8 constant of rank 2 or more, if known: the sum of the elements for each index of dimension 0.
  const std::int32_t* sums = nullptr;
  /// For a state shared by methods: index of its first element in the state of its type. Defaults to the end of the
  /// previous state.
  std::uint32_t state_at = 0xffffffffu;
};

enum class StaticOutputRole : std::uint8_t {
  user,      ///< an argument of forward
  mutation,  ///< the new value of graph input `target` (state, or a user input that forward writes back)
  unused,
};

/// One graph output of a static program.
struct StaticOutput {
  StaticOutputRole role = StaticOutputRole::user;
  std::uint32_t target = 0;
};

/// @name Inputs of hand-written programs.
[[nodiscard]] constexpr StaticInput user_input() noexcept { return {}; }
template <class T, std::size_t N>
[[nodiscard]] constexpr StaticInput constant_input(const std::array<T, N>& array,
                                                   WeightLayout layout = WeightLayout::contiguous) noexcept {
  return {.role = StaticRole::constant, .layout = layout, .data = ConstantData::in_array(array)};
}
/// A buffer that starts as zeros.
[[nodiscard]] constexpr StaticInput state_input() noexcept { return {.role = StaticRole::state}; }
template <class T, std::size_t N>
[[nodiscard]] constexpr StaticInput state_input(const std::array<T, N>& initial) noexcept {
  return {.role = StaticRole::state, .data = ConstantData::in_array(initial)};
}
/// A state that methods share: it starts at that element of the state of its type.
[[nodiscard]] constexpr StaticInput shared_state(std::uint32_t at, StaticInput state = state_input()) noexcept {
  state.state_at = at;
  return state;
}
[[nodiscard]] constexpr StaticOutput user_output() noexcept { return {}; }
[[nodiscard]] constexpr StaticOutput mutation_of(std::uint32_t input) noexcept {
  return {.role = StaticOutputRole::mutation, .target = input};
}

}  // namespace davit
