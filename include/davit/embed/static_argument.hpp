// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "davit/core/scalar_type.hpp"
#include "davit/core/static_tensor.hpp"

namespace davit {

inline constexpr std::size_t max_static_rank = 8;

/// The shape in the type of an argument of a static module's forward: element type, and a flat count or sizes.
struct ArgumentShape {
  ScalarType dtype = ScalarType::undefined;
  bool writable = false;
  bool known = false;   ///< the type is one that can be passed, and its extents are fixed (a span's may not be: a flat
                        ///< one, not known)
  bool is_flat = true;  ///< only the number of elements is known: a span or a plain array
  std::size_t rank = 0;
  std::array<std::int64_t, max_static_rank> sizes{};
};

namespace detail {

template <class T>
concept HasScalarType = TensorElement<std::remove_const_t<T>>;

/// True for a type with elements elsewhere, which outlive it.
template <class A>
inline constexpr bool is_view = false;
template <class T, std::size_t N>
inline constexpr bool is_view<std::span<T, N>> = true;

/// Walks nested arrays down to the elements.
template <class T>
struct ArrayShape {
  static constexpr ArgumentShape shape = [] {
    ArgumentShape s;
    if constexpr (HasScalarType<T>) {
      s.dtype = scalar_type_of<std::remove_const_t<T>>;
      s.known = true;
    }
    s.writable = !std::is_const_v<T>;
    return s;
  }();
};
constexpr ArgumentShape with_extent(ArgumentShape inner, std::size_t extent) {
  if (inner.rank == max_static_rank) return {};
  for (std::size_t i = inner.rank; i > 0; --i) inner.sizes[i] = inner.sizes[i - 1];
  inner.sizes[0] = static_cast<std::int64_t>(extent);
  ++inner.rank;
  inner.is_flat = inner.rank == 1;
  return inner;
}
template <class T, std::size_t N>
struct ArrayShape<T[N]> {
  static constexpr ArgumentShape shape = with_extent(ArrayShape<T>::shape, N);
};
template <class T, std::size_t N>
struct ArrayShape<std::array<T, N>> {
  static constexpr ArgumentShape shape = with_extent(ArrayShape<T>::shape, N);
};
template <class T, std::size_t N>
struct ArrayShape<const std::array<T, N>> {
  static constexpr ArgumentShape shape = with_extent(ArrayShape<const T>::shape, N);
};
template <class T, std::size_t N>
struct ArrayShape<std::span<T, N>> {
  static constexpr ArgumentShape shape = [] {
    ArgumentShape s = with_extent(ArrayShape<T>::shape, N == std::dynamic_extent ? 0 : N);
    s.known = s.known && N != std::dynamic_extent;
    return s;
  }();
};
template <class T, std::size_t N>
struct ArrayShape<const std::span<T, N>> : ArrayShape<std::span<T, N>> {};
template <class T, std::int64_t... Sizes>
struct ArrayShape<StaticTensor<T, Sizes...>> {
  static constexpr ArgumentShape shape = [] {
    ArgumentShape s = ArrayShape<T>::shape;
    s.is_flat = false;
    s.rank = sizeof...(Sizes);
    std::size_t i = 0;
    ((s.sizes[i++] = Sizes), ...);
    return s;
  }();
};
template <class T, std::int64_t... Sizes>
struct ArrayShape<const StaticTensor<T, Sizes...>> : ArrayShape<StaticTensor<T, Sizes...>> {};

/// The first element of a flat or nested array, a span or a StaticTensor.
template <class A>
[[nodiscard]] constexpr auto* first_element(A& argument) noexcept {
  if constexpr (requires { *argument.data; }) {
    return argument.data;
  } else if constexpr (HasScalarType<std::remove_cvref_t<decltype(argument[0])>>) {
    return argument.data();
  } else {
    return first_element(argument[0]);
  }
}
template <class T, std::size_t N>
[[nodiscard]] constexpr auto* first_element(T (&argument)[N]) noexcept {
  if constexpr (HasScalarType<std::remove_const_t<T>>) {
    return &argument[0];
  } else {
    return first_element(argument[0]);
  }
}

}  // namespace detail

/// The shape of an argument of type A: a std::span of fixed extent, an array, nested arrays, or a StaticTensor.
template <class A>
inline constexpr ArgumentShape argument_shape = [] {
  ArgumentShape shape = detail::ArrayShape<std::remove_reference_t<A>>::shape;
  if (shape.is_flat && shape.rank == 0) shape.known = false;  // a number is not a tensor
  return shape;
}();

}  // namespace davit
