// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/core/promote.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/kernels/convert.hpp"
#include "davit/kernels/shapes.hpp"

namespace davit::portable_kernels {

using kernels::broadcast;
using kernels::broadcast_strides;
using kernels::convert;
using kernels::for_each_index;
using kernels::is_reduced_float;
using kernels::Sizes;
using kernels::strides_of;

/// A Scalar argument as a value of type T (floats truncated towards zero for integers, non-zero for bool).
template <class T>
[[nodiscard]] constexpr T scalar_as(const EValue& value) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return value.number() != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value.integer());
  } else if constexpr (is_reduced_float<T>) {
    return T(static_cast<float>(value.number()));
  } else {
    return static_cast<T>(value.number());
  }
}

}  // namespace davit::portable_kernels
