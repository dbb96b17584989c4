// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

/// Arithmetic on sixteen floats at a time, for the functions that XNNPACK does not have or that lose NaN there: in kernels for
/// kernels::run_widest. They go in and out by reference: how such a vector is returned depends on the instruction set.
namespace davit::xnnpack_parts::vectors {

typedef float Floats __attribute__((vector_size(64)));
inline constexpr std::int64_t lanes = 16;

[[gnu::always_inline]] inline void load(Floats& v, const float* from) noexcept {
  std::memcpy(&v, from, sizeof v);
}
[[gnu::always_inline]] inline void store(float* to, const Floats& v) noexcept {
  std::memcpy(to, &v, sizeof v);
}

/// y[i] = f(x[i]); `f` changes a vector. What is left goes through one more vector.
template <class F>
[[gnu::always_inline]] inline void map(const float* x, float* y, std::int64_t n, F f) noexcept {
  std::int64_t i = 0;
  Floats v;
  for (; i + lanes <= n; i += lanes) {
    load(v, x + i);
    f(v);
    store(y + i, v);
  }
  if (i == n) return;
  v = Floats{};
  std::memcpy(&v, x + i, static_cast<std::size_t>(n - i) * sizeof(float));
  f(v);
  std::memcpy(y + i, &v, static_cast<std::size_t>(n - i) * sizeof(float));
}
/// y[i] = f(a[i], b[i]), where `f` changes its first argument; a step of 0 repeats a[0] or b[0].
template <class F>
[[gnu::always_inline]] inline void binary(const float* a, bool a_steps, const float* b, bool b_steps, float* y,
                                           std::int64_t n, F f) noexcept {
  Floats v = a[0] - Floats{};  // which keeps the sign of a zero
  Floats w = b[0] - Floats{};
  const auto part = [&](std::int64_t i, std::size_t bytes) __attribute__((always_inline)) {
    if (a_steps)
      std::memcpy(&v, a + i, bytes);
    else
      v = a[0] - Floats{};
    if (b_steps) std::memcpy(&w, b + i, bytes);
    f(v, w);
    std::memcpy(y + i, &v, bytes);
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) part(i, sizeof v);
  if (i < n) part(i, static_cast<std::size_t>(n - i) * sizeof(float));
}

/// out[3 i + k] = the i-th of x, y and z.
[[gnu::always_inline]] inline void store_interleaved(float* out, const float* x, const float* y,
                                                     const float* z) noexcept {
  Floats a;
  Floats b;
  Floats c;
  load(a, x);
  load(b, y);
  load(c, z);
  const auto part = [&]<int First, std::size_t... I>(std::integral_constant<int, First>,
                                                     std::index_sequence<I...>) __attribute__((always_inline)) {
    constexpr auto at = [](std::size_t i) { return First + static_cast<int>(i); };
    // first x and y at their places, then z into the gaps
    const Floats ab = __builtin_shufflevector(a, b, (at(I) % 3 == 2 ? 0 : at(I) / 3 + 16 * (at(I) % 3))...);
    const Floats all = __builtin_shufflevector(ab, c, (at(I) % 3 == 2 ? at(I) / 3 + 16 : static_cast<int>(I))...);
    store(out + First, all);
  };
  part(std::integral_constant<int, 0>{}, std::make_index_sequence<16>{});
  part(std::integral_constant<int, 16>{}, std::make_index_sequence<16>{});
  part(std::integral_constant<int, 32>{}, std::make_index_sequence<16>{});
}

}  // namespace davit::xnnpack_parts::vectors
