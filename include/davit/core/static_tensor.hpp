// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/core/tensor_view.hpp"

namespace davit {

/// A pointer to the elements of a contiguous tensor with compile-time dtype and sizes.
template <class T, std::int64_t... Sizes>
struct StaticTensor {
  static constexpr ScalarType dtype = scalar_type_of<T>;
  static constexpr std::size_t rank = sizeof...(Sizes);
  static constexpr std::array<std::int64_t, rank> sizes{Sizes...};
  static constexpr std::array<std::int64_t, rank> strides = [] {
    std::array<std::int64_t, rank> out{};
    contiguous_strides(sizes, out);
    return out;
  }();
  static constexpr std::size_t numel = static_cast<std::size_t>((std::int64_t{1} * ... * Sizes));

  T* data = nullptr;

  [[nodiscard]] constexpr TensorView view() const noexcept {
    return {data, sizes.data(), strides.data(), static_cast<std::uint8_t>(rank), dtype};
  }
};

}  // namespace davit
