// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "davit/backends/portable/vector_exp.hpp"
#include "davit/backends/xnnpack/plan.hpp"
#include "davit/backends/xnnpack/vectors.hpp"

namespace davit::xnnpack_parts {

/// Sizes and element strides of a tensor that kernels walk through.
struct Walk {
  std::array<std::int64_t, max_dims> size{};
  std::array<std::int64_t, max_dims> from{};
  std::array<std::int64_t, max_dims> to{};
  std::size_t rank = 0;
};

namespace detail {

/// Sorts the dimensions by the destination's strides, the largest first, and joins those that both sides step through
/// alike.
inline void simplify(Walk& w) noexcept {
  std::size_t kept = 0;
  for (std::size_t d = 0; d < w.rank; ++d) {
    if (w.size[d] == 1) continue;
    w.size[kept] = w.size[d], w.from[kept] = w.from[d], w.to[kept] = w.to[d];
    ++kept;
  }
  w.rank = kept;
  for (std::size_t i = 1; i < w.rank; ++i)
    for (std::size_t k = i; k > 0 && w.to[k] > w.to[k - 1]; --k) {
      std::swap(w.size[k], w.size[k - 1]);
      std::swap(w.from[k], w.from[k - 1]);
      std::swap(w.to[k], w.to[k - 1]);
    }
  for (std::size_t d = 0; d + 1 < w.rank;) {
    if (w.to[d] == w.to[d + 1] * w.size[d + 1] && w.from[d] == w.from[d + 1] * w.size[d + 1]) {
      w.size[d] *= w.size[d + 1];
      w.from[d] = w.from[d + 1];
      w.to[d] = w.to[d + 1];
      for (std::size_t k = d + 1; k + 1 < w.rank; ++k)
        w.size[k] = w.size[k + 1], w.from[k] = w.from[k + 1], w.to[k] = w.to[k + 1];
      --w.rank;
    } else {
      ++d;
    }
  }
}

/// to[3 a + b] = from[b * from_step + a] for three b: the colours of an image come together.
DAVIT_CLONES inline void interleave_three(const std::uint32_t* from, std::int64_t from_step, std::uint32_t* to,
                                          std::int64_t as) noexcept {
  const auto* x = reinterpret_cast<const float*>(from);
  const float* y = x + from_step;
  const float* z = y + from_step;
  auto* out = reinterpret_cast<float*>(to);
  std::int64_t a = 0;
  for (; a + vectors::lanes <= as; a += vectors::lanes, out += 3 * vectors::lanes)
    vectors::store_interleaved(out, x + a, y + a, z + a);
  for (; a < as; ++a, out += 3)
    std::memcpy(out, x + a, 4), std::memcpy(out + 1, y + a, 4), std::memcpy(out + 2, z + a, 4);
}

/// to[a * to_step + b] = from[b * from_step + a], in blocks that stay in the cache.
template <class T>
void transpose(const T* from, std::int64_t from_step, T* to, std::int64_t to_step, std::int64_t as,
               std::int64_t bs) noexcept {
  if constexpr (sizeof(T) == 4)
    if (bs == 3 && to_step == 3) return interleave_three(from, from_step, to, as);
  constexpr std::int64_t block = 16;
  for (std::int64_t a0 = 0; a0 < as; a0 += block)
    for (std::int64_t b0 = 0; b0 < bs; b0 += block) {
      const std::int64_t a1 = std::min(a0 + block, as);
      const std::int64_t b1 = std::min(b0 + block, bs);
      for (std::int64_t a = a0; a < a1; ++a)
        for (std::int64_t b = b0; b < b1; ++b) to[a * to_step + b] = from[b * from_step + a];
    }
}

template <class T>
void copy_walk(const T* from, T* to, const Walk& w) noexcept {
  // the two innermost dimensions by hand, the others by counting
  const std::size_t outer = w.rank > 2 ? w.rank - 2 : 0;
  const std::size_t in = w.rank - 1;
  const std::int64_t rows = w.rank > 1 ? w.size[in - 1] : 1;
  const std::int64_t row_from = w.rank > 1 ? w.from[in - 1] : 0;
  const std::int64_t row_to = w.rank > 1 ? w.to[in - 1] : 0;
  std::array<std::int64_t, max_dims> index{};
  while (true) {
    if (w.from[in] == 1 && w.to[in] == 1) {
      for (std::int64_t r = 0; r < rows; ++r)
        std::memcpy(to + r * row_to, from + r * row_from, static_cast<std::size_t>(w.size[in]) * sizeof(T));
    } else if (row_from == 1 && w.to[in] == 1) {
      transpose(from, w.from[in], to, row_to, rows, w.size[in]);
    } else {
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t i = 0; i < w.size[in]; ++i)
          to[r * row_to + i * w.to[in]] = from[r * row_from + i * w.from[in]];
    }
    std::size_t d = outer;
    for (; d-- > 0;) {
      from += w.from[d];
      to += w.to[d];
      if (++index[d] < w.size[d]) break;
      from -= w.from[d] * w.size[d];
      to -= w.to[d] * w.size[d];
      index[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

}  // namespace detail

/// Copies elements of `element` bytes. O(elements).
inline void copy_elements(const std::byte* from, std::byte* to, std::size_t element, Walk w) noexcept {
  for (std::size_t d = 0; d < w.rank; ++d)
    if (w.size[d] <= 0) return;
  detail::simplify(w);
  if (w.rank == 0) {
    std::memcpy(to, from, element);
    return;
  }
  const auto run = [&]<class T>(T) {
    detail::copy_walk(reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to), w);
  };
  if (element == 4)
    run(std::uint32_t{});
  else if (element == 1)
    run(std::uint8_t{});
  else if (element == 8)
    run(std::uint64_t{});
  else if (element == 2)
    run(std::uint16_t{});
}

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

/// A function of two numbers along a row; a step of 0 repeats the first one. NaN on either side gives NaN. O(n).
DAVIT_CLONES inline void combine_row(Op op, const float* a, bool a_steps, const float* b, bool b_steps, float* y,
                                     std::int64_t n) noexcept {
  using namespace vectors;
  switch (op) {
    case Op::add:
      return combine(a, a_steps, b, b_steps, y, n,
                     [](Floats& v, const Floats& w) __attribute__((always_inline)) { v += w; });
    case Op::subtract:
      return combine(a, a_steps, b, b_steps, y, n,
                     [](Floats& v, const Floats& w) __attribute__((always_inline)) { v -= w; });
    case Op::multiply:
      return combine(a, a_steps, b, b_steps, y, n,
                     [](Floats& v, const Floats& w) __attribute__((always_inline)) { v *= w; });
    case Op::divide:
      return combine(a, a_steps, b, b_steps, y, n,
                     [](Floats& v, const Floats& w) __attribute__((always_inline)) { v /= w; });
    case Op::maximum:
      return combine(a, a_steps, b, b_steps, y, n, [](Floats& v, const Floats& w) __attribute__((always_inline)) {
        const Floats larger = v > w ? v : w;
        v = v != v ? v : larger;
      });
    case Op::minimum:
      return combine(a, a_steps, b, b_steps, y, n, [](Floats& v, const Floats& w) __attribute__((always_inline)) {
        const Floats smaller = v < w ? v : w;
        v = v != v ? v : smaller;
      });
    default: return;
  }
}

/// y = op(a, b) for operands that repeat along dimensions where their stride is 0. O(elements).
inline void combine_elements(Op op, const float* a, const float* b, float* y, Walk wa, Walk wb) noexcept {
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
      combine_row(op, a, fa[outer] == 1, b, fb[outer] == 1, y, size[outer]);
    else
      combine_row(op, a, false, b, false, y, 1);
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

/// x - max - log(sum(exp(x - max))) of every row. O(rows * columns).
inline void log_softmax_rows(const float* x, float* y, std::int64_t rows, std::int64_t columns) noexcept {
  for (std::int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float top = x[0];
    for (std::int64_t i = 1; i < columns; ++i) top = x[i] > top || x[i] != x[i] ? x[i] : top;
    const double sum = portable_kernels::exp_shifted(x, top, y, columns);
    const float shift = top + static_cast<float>(std::log(sum));
    for (std::int64_t i = 0; i < columns; ++i) y[i] = x[i] - shift;
  }
}

/// (x - mean) / sqrt(variance + eps) * weight + bias of every row; weight and bias may be null. O(rows * columns).
/// Source: torch.nn.functional.layer_norm.
DAVIT_CLONES inline void layer_norm_rows(const float* x, const float* weight, const float* bias, float eps, float* y,
                                         std::int64_t rows, std::int64_t columns) noexcept {
  using namespace vectors;
  for (std::int64_t r = 0; r < rows; ++r, x += columns, y += columns) {
    Floats v;
    Floats total{};
    std::int64_t i = 0;
    for (; i + lanes <= columns; i += lanes) {
      load(v, x + i);
      total += v;
    }
    double sum = 0;
    for (std::int64_t k = 0; k < lanes; ++k) sum += static_cast<double>(total[k]);
    for (; i < columns; ++i) sum += static_cast<double>(x[i]);
    const auto mean = static_cast<float>(sum / static_cast<double>(columns));
    total = Floats{};
    for (i = 0; i + lanes <= columns; i += lanes) {
      load(v, x + i);
      v -= mean;
      total += v * v;
    }
    sum = 0;
    for (std::int64_t k = 0; k < lanes; ++k) sum += static_cast<double>(total[k]);
    for (; i < columns; ++i) sum += static_cast<double>((x[i] - mean) * (x[i] - mean));
    const auto factor =
        static_cast<float>(1 / std::sqrt(sum / static_cast<double>(columns) + static_cast<double>(eps)));
    for (i = 0; i + lanes <= columns; i += lanes) {
      load(v, x + i);
      v = (v - mean) * factor;
      Floats w;
      if (weight != nullptr) load(w, weight + i), v *= w;
      if (bias != nullptr) load(w, bias + i), v += w;
      store(y + i, v);
    }
    for (; i < columns; ++i)
      y[i] = (x[i] - mean) * factor * (weight != nullptr ? weight[i] : 1.0f) + (bias != nullptr ? bias[i] : 0.0f);
  }
}

}  // namespace davit::xnnpack_parts
