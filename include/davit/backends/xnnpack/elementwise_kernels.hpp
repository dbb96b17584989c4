// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "davit/backends/xnnpack/copy_kernel.hpp"
#include "davit/backends/xnnpack/plan.hpp"
#include "davit/backends/xnnpack/vectors.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/vector_math.hpp"

namespace davit::xnnpack_parts {

struct MapElements {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(Op op, float low, float high, const float* x, float* y, std::int64_t n) noexcept {
    using namespace vectors;
    switch (op) {
      case Op::clamp:
        return map(x, y, n, [=](Floats& v) __attribute__((always_inline)) {
          v = v < low ? low - Floats{} : v;
          v = v > high ? high - Floats{} : v;
        });
      case Op::sigmoid: return map(x, y, n, [](Floats& v) __attribute__((always_inline)) { kernels::vector_sigmoid(v, v); });
      case Op::tanh: return map(x, y, n, [](Floats& v) __attribute__((always_inline)) { kernels::vector_tanh(v, v); });
      case Op::silu:
        return map(x, y, n, [](Floats& v) __attribute__((always_inline)) {
          Floats s;
          kernels::vector_sigmoid(v, s);
          v = v * s;
        });
      case Op::gelu:  // torch runs it through oneDNN, whose formula overflows at the end of the range and has no value at
                      // infinity
        return map(x, y, n, [](Floats& v) __attribute__((always_inline)) {
          Floats e = v * 0.70710678f;
          kernels::vector_erf(e, e);
          v = 0.5f * (v * (1.0f + e)) + (v - v);
        });
      case Op::gelu_tanh:
        return map(x, y, n, [](Floats& v) __attribute__((always_inline)) {
          Floats t = 0.79788456f * (v + 0.044715f * v * v * v);
          kernels::vector_tanh(t, t);
          v = 0.5f * v * (1.0f + t);
        });
      case Op::exp: return map(x, y, n, [](Floats& v) __attribute__((always_inline)) { kernels::vector_exp(v, v); });
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
};
/// The functions of one number that XNNPACK does not have, or that lose NaN there: clamp, sigmoid. `y` may be `x`.
/// O(n).
inline void map_elements(Op op, float low, float high, const float* x, float* y, std::int64_t n) noexcept {
  kernels::run_widest<MapElements>(op, low, high, x, y, n);
}

struct BinaryRow {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(Op op, const float* a, bool a_steps, const float* b, bool b_steps, float* y, std::int64_t n) noexcept {
    using namespace vectors;
    switch (op) {
      case Op::add:
        return binary(a, a_steps, b, b_steps, y, n,
                       [](Floats& v, const Floats& w) __attribute__((always_inline)) { v += w; });
      case Op::subtract:
        return binary(a, a_steps, b, b_steps, y, n,
                       [](Floats& v, const Floats& w) __attribute__((always_inline)) { v -= w; });
      case Op::multiply:
        return binary(a, a_steps, b, b_steps, y, n,
                       [](Floats& v, const Floats& w) __attribute__((always_inline)) { v *= w; });
      case Op::divide:
        return binary(a, a_steps, b, b_steps, y, n,
                       [](Floats& v, const Floats& w) __attribute__((always_inline)) { v /= w; });
      case Op::maximum:
        return binary(a, a_steps, b, b_steps, y, n, [](Floats& v, const Floats& w) __attribute__((always_inline)) {
          const Floats larger = v > w ? v : w;
          kernels::take_nan<Floats>(v, larger, v);
        });
      case Op::minimum:
        return binary(a, a_steps, b, b_steps, y, n, [](Floats& v, const Floats& w) __attribute__((always_inline)) {
          const Floats smaller = v < w ? v : w;
          kernels::take_nan<Floats>(v, smaller, v);
        });
      default: return;
    }
  }
};
/// A function of two numbers along a row; a step of 0 repeats the first one. NaN on either side gives NaN. O(n).
inline void binary_row(Op op, const float* a, bool a_steps, const float* b, bool b_steps, float* y, std::int64_t n) noexcept {
  kernels::run_widest<BinaryRow>(op, a, a_steps, b, b_steps, y, n);
}

/// y = op(a, b) for operands that repeat along dimensions where their stride is 0. O(elements).
inline void binary_elements(Op op, const float* a, const float* b, float* y, Walk wa, Walk wb) noexcept {
  // dimensions by the result's strides, the innermost last; neighbours are joined where both operands allow it
  std::size_t rank = 0;
  std::array<std::int64_t, max_dims> size{}, to{}, fa{}, fb{};
  for (std::size_t d = 0; d < wa.rank; ++d) {
    if (wa.size[d] == 1) continue;
    std::size_t k = rank++;
    for (; k > 0 && to[k - 1] < wa.to[d]; --k)
      size[k] = size[k - 1], to[k] = to[k - 1], fa[k] = fa[k - 1], fb[k] = fb[k - 1];
    size[k] = wa.size[d], to[k] = wa.to[d], fa[k] = wa.from[d], fb[k] = wb.from[d];
  }
  for (std::size_t d = 0; d + 1 < rank;) {
    if (to[d] == to[d + 1] * size[d + 1] && fa[d] == fa[d + 1] * size[d + 1] && fb[d] == fb[d + 1] * size[d + 1]) {
      size[d] *= size[d + 1];
      to[d] = to[d + 1], fa[d] = fa[d + 1], fb[d] = fb[d + 1];
      for (std::size_t k = d + 1; k + 1 < rank; ++k)
        size[k] = size[k + 1], to[k] = to[k + 1], fa[k] = fa[k + 1], fb[k] = fb[k + 1];
      --rank;
    } else {
      ++d;
    }
  }
  const bool row = rank != 0 && to[rank - 1] == 1 && (fa[rank - 1] == 0 || fa[rank - 1] == 1) &&
                   (fb[rank - 1] == 0 || fb[rank - 1] == 1);
  const std::size_t outer = row ? rank - 1 : rank;
  std::array<std::int64_t, max_dims> index{};
  while (true) {
    if (row)
      binary_row(op, a, fa[outer] == 1, b, fb[outer] == 1, y, size[outer]);
    else
      binary_row(op, a, false, b, false, y, 1);
    std::size_t d = outer;
    for (; d-- > 0;) {
      a += fa[d], b += fb[d], y += to[d];
      if (++index[d] < size[d]) break;
      a -= fa[d] * size[d], b -= fb[d] * size[d], y -= to[d] * size[d];
      index[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

}  // namespace davit::xnnpack_parts
