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
    case Op::abs: return float32_loop<kernels::Absolute, 1>;
    case Op::ceil: return float32_loop<kernels::Ceil, 1>;
    case Op::floor: return float32_loop<kernels::Floor, 1>;
    case Op::negate: return float32_loop<kernels::Negate, 1>;
    case Op::round: return float32_loop<kernels::Round, 1>;
    case Op::trunc: return float32_loop<kernels::Trunc, 1>;
    case Op::square: return float32_loop<kernels::Square, 1>;
    case Op::square_root: return float32_loop<kernels::Sqrt, 1>;
    case Op::hardswish: return float32_loop<kernels::Hardswish, 1>;
    case Op::leaky_relu: return float32_loop<kernels::LeakyRelu, 1>;
    case Op::elu: return float32_loop<kernels::Elu, 1>;
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

/// The functions of one number: clamp, sigmoid. `y` may be `x`. O(n).
inline void map_elements(const Step& step, const float* x, float* y, std::int64_t n) noexcept {
  kernels::Parameters parameters{.integers = {1}};  // gelu overflows as torch's does, which is oneDNN's
  if (step.op == Op::leaky_relu || step.op == Op::elu)
    parameters.reals = {step.alpha, 1, 1};
  else
    parameters.reals = {step.min, step.max};
  const void* in = x;
  if (const kernels::BlockLoop loop = detail::loop_of(step.op)) loop(&in, y, n, parameters);
}

namespace detail {

/// A function of two numbers between bounds.
template <class F>
struct Bounded {
  float low, high;
  [[gnu::always_inline]] float operator()(float a, float b) const noexcept {
    return kernels::nan_min(kernels::nan_max(F{}(a, b), low), high);
  }
  template <kernels::FloatVector V>
  [[gnu::always_inline]] void operator()(const V& a, const V& b, V& to) const noexcept {
    V v;
    F{}(a, b, v);
    kernels::nan_clamp(v, low, high, to);
  }
};

/// Calls run(functor) for a function of two numbers.
template <class Run>
void with_function(const Step& step, Run&& run) {
  const auto choose = [&]<class F>(F f) {
    step.min == -infinity&& step.max == infinity ? run(f) : run(Bounded<F>{step.min, step.max});
  };
  switch (step.op) {
    case Op::add: return choose(kernels::Add<float>{});
    case Op::subtract: return choose(kernels::Subtract<float>{});
    case Op::multiply: return choose(kernels::Multiply<float>{});
    case Op::divide: return choose(kernels::Divide<float>{});
    case Op::maximum: return run(kernels::Maximum<float>{});
    case Op::minimum: return run(kernels::Minimum<float>{});
    default: return;
  }
}

}  // namespace detail

/// A function of two numbers along a row; an operand that does not step is one number. NaN on either side gives NaN.
/// O(n).
inline void binary_row(const Step& step, const float* a, bool a_steps, const float* b, bool b_steps, float* y,
                       std::int64_t n) noexcept {
  detail::with_function(step, [&](const auto& f) { kernels::map_pairs(f, a, a_steps, b, b_steps, y, n); });
}

/// y = op(a, b) along a collapsed walk of y, a and b, whose strides are in elements, 0 where an operand repeats.
/// O(elements).
inline void binary_elements(const Step& step, const float* a, const float* b, float* y, const Walk& walk) noexcept {
  detail::with_function(step, [&](const auto& f) {
    kernels::walk_in_parallel(walk, 1, 8, [&](std::size_t, const kernels::WalkPart& part) {
      kernels::map_pairs(f, part.walk, a + part.at[1], b + part.at[2], y + part.at[0]);
    });
  });
}

}  // namespace davit::xnnpack_parts
