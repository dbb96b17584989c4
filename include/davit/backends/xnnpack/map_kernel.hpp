// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>

#include "davit/backends/xnnpack/step.hpp"
#include "davit/backends/xnnpack/vectors.hpp"

namespace davit::xnnpack_parts {

/// The functions of one number that XNNPACK does not have, or that lose NaN there: clamp, sigmoid. `y` may be `x`.
/// O(n).
DAVIT_CLONES inline void map_elements(Op op, float low, float high, const float* x, float* y, std::int64_t n) noexcept {
  using namespace vectors;
  switch (op) {
    case Op::clamp:
      return map(x, y, n, [=](Floats& v) __attribute__((always_inline)) {
        v = v < low ? Floats{} + low : v;
        v = v > high ? Floats{} + high : v;
      });
    case Op::sigmoid: return map(x, y, n, [](Floats& v) __attribute__((always_inline)) { to_sigmoid(v); });
    case Op::tanh: return map(x, y, n, [](Floats& v) __attribute__((always_inline)) { to_tanh(v); });
    case Op::silu:
      return map(x, y, n, [](Floats& v) __attribute__((always_inline)) {
        Floats s = v;
        to_sigmoid(s);
        v = v * s;
      });
    case Op::gelu:  // torch runs it through oneDNN, whose formula overflows at the end of the range and has no value at
                    // infinity
      return map(x, y, n, [](Floats& v) __attribute__((always_inline)) {
        Floats e = v * 0.70710678f;
        to_erf(e);
        v = 0.5f * (v * (1.0f + e)) + (v - v);
      });
    case Op::gelu_tanh:
      return map(x, y, n, [](Floats& v) __attribute__((always_inline)) {
        Floats t = 0.79788456f * (v + 0.044715f * v * v * v);
        to_tanh(t);
        v = 0.5f * v * (1.0f + t);
      });
    case Op::exp: return map(x, y, n, [](Floats& v) __attribute__((always_inline)) { to_exp(v); });
    case Op::reciprocal: return map(x, y, n, [](Floats& v) __attribute__((always_inline)) { v = 1.0f / v; });
    case Op::hardsigmoid:
      return map(x, y, n, [](Floats& v) __attribute__((always_inline)) {
        v = v + 3.0f;
        v = v < 0.0f ? Floats{} : v;
        v = (v > 6.0f ? Floats{} + 6.0f : v) / 6.0f;
      });
    case Op::rsqrt:
      for (std::int64_t i = 0; i < n; ++i) y[i] = 1.0f / std::sqrt(x[i]);
      return;
    default: return;
  }
}

}  // namespace davit::xnnpack_parts
