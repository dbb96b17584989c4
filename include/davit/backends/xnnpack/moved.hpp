// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/planner.hpp"

namespace davit::xnnpack_parts {

namespace detail {

/// Why a value cannot be passed on as it is, or nullptr: float32 or int8.
[[nodiscard]] constexpr const char* refuses_moved(const Call& call, std::string_view name = "self") noexcept {
  const ValueId x = call.value(name);
  const bool integers = call.is_tensor(x) && call.dtype(x) == ScalarType::int8;
  const ScalarType dtype = integers ? ScalarType::int8 : ScalarType::float32;
  if (const char* reason = refuses_tensor(call, x, dtype)) return reason;
  for (std::size_t i = 0; i < call.outputs(); ++i)
    if (const char* reason = refuses_tensor(call, call.output(i), dtype)) return reason;
  return call.outputs() == 0 ? "no output" : nullptr;
}

/// Passes the constant's or the dequantized value's nature on to what is only another view of it.
inline void inherit(Planner& p, ValueId from, ValueId to) {
  p.known(to).dequantized = p.known(from).dequantized;
  p.known(to).quantization = p.known(from).quantization;
}

}  // namespace detail

}  // namespace davit::xnnpack_parts
