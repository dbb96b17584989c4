// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "davit/backends/xnnpack/plan.hpp"
#include "davit/core/walk.hpp"
#include "davit/kernels/arithmetic.hpp"
#include "davit/kernels/elementwise.hpp"
#include "davit/kernels/functions.hpp"
#include "davit/kernels/parameters.hpp"
#include "davit/kernels/walk_in_parallel.hpp"

namespace davit::xnnpack_parts {

namespace detail {

[[nodiscard]] inline kernels::BlockLoop loop_of(Op op) noexcept {
  using kernels::float32_loop;
  switch (op) {
    case Op::clamp: return float32_loop<kernels::Hardtanh, 1>;
    case Op::sigmoid: return float32_loop<kernels::Sigmoid, 1>;
    case Op::tanh: return float32_loop<kernels::Tanh, 1>;
    case Op::silu: return float32_loop<kernels::Silu, 1>;
    case Op::gelu: return float32_loop<kernels::Gelu, 1>;
    case Op::gelu_tanh: return float32_loop<kernels::GeluTanh, 1>;
    case Op::exp: return float32_loop<kernels::Exp, 1>;
    case Op::reciprocal: return float32_loop<kernels::Reciprocal, 1>;
    case Op::hardsigmoid: return float32_loop<kernels::Hardsigmoid, 1>;
    case Op::rsqrt: return float32_loop<kernels::Rsqrt, 1>;
    default: return nullptr;
  }
}

}  // namespace detail

/// The functions of one number that XNNPACK does not have, or that lose NaN there: clamp, sigmoid. `y` may be `x`.
/// O(n).
inline void map_elements(Op op, float low, float high, const float* x, float* y, std::int64_t n) noexcept {
  kernels::Parameters parameters{.reals = {low, high}};
  const void* in = x;
  if (const kernels::BlockLoop loop = detail::loop_of(op)) loop(&in, y, n, parameters);
}

namespace detail {

/// Calls run(functor) for a function of two numbers.
template <class Run>
void with_function(Op op, Run&& run) {
  switch (op) {
    case Op::add: return run(kernels::Add<float>{});
    case Op::subtract: return run(kernels::Subtract<float>{});
    case Op::multiply: return run(kernels::Multiply<float>{});
    case Op::divide: return run(kernels::Divide<float>{});
    case Op::maximum: return run(kernels::Maximum<float>{});
    case Op::minimum: return run(kernels::Minimum<float>{});
    default: return;
  }
}

}  // namespace detail

/// A function of two numbers along a row; an operand that does not step is one number. NaN on either side gives NaN. O(n).
inline void binary_row(Op op, const float* a, bool a_steps, const float* b, bool b_steps, float* y, std::int64_t n) noexcept {
  detail::with_function(op, [&](const auto& f) { kernels::map_pairs(f, a, a_steps, b, b_steps, y, n); });
}

/// y = op(a, b) along a walk of y, a and b, whose strides are in elements, 0 where an operand repeats. O(elements).
inline void binary_elements(Op op, const float* a, const float* b, float* y, Walk walk) noexcept {
  if (walk.count <= 0) return;
  walk.sort_by(0);
  walk.collapse();
  detail::with_function(op, [&](const auto& f) {
    kernels::walk_in_parallel(walk, 1, 8, [&](std::size_t, const kernels::WalkPart& part) {
      kernels::map_pairs(f, part.walk, a + part.at[1], b + part.at[2], y + part.at[0]);
    });
  });
}

}  // namespace davit::xnnpack_parts
