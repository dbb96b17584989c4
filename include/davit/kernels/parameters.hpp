// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/core/error.hpp"

namespace davit::kernels {

/// The parameters of an operator's loop beside its blocks, and its result code. Numbers are stored in both forms.
struct Parameters {
  std::array<double, 4> reals{};
  std::array<std::int64_t, 4> integers{};
  ErrorCode code = ErrorCode::ok;
  bool second_is_number = false;  ///< the second operand is one element, for all of the first

  template <class T>
  [[nodiscard]] constexpr T number(std::size_t i) const noexcept {
    if constexpr (std::is_integral_v<T>)
      return integers[i];
    else
      return static_cast<T>(reals[i]);
  }
};

}  // namespace davit::kernels
