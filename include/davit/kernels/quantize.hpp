// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "davit/kernels/convert.hpp"
#include "davit/kernels/multiply_add.hpp"
#include "davit/kernels/vectors.hpp"

/// Converts floats to bytes and back with one scale and one zero point. Byte: std::int8_t or std::uint8_t.
namespace davit::kernels {

/// The numbers of a quantization: 1 / scale (`inverse`), the zero point, and the range of bytes.
struct ByteRange {
  float inverse = 1;
  std::int32_t zero_point = 0;
  std::int32_t low = -128;
  std::int32_t high = 127;
};

/// True if a float holds all integers from low to high, and their differences.
[[nodiscard]] constexpr bool is_exact(std::int64_t low, std::int64_t high, std::int64_t zero_point) noexcept {
  constexpr std::int64_t most = 1 << 20;
  return low >= -most && high <= most && low <= high && zero_point >= -most && zero_point <= most;
}

/// round(x * inverse) + zero point, between low and high; a NaN becomes the byte 0.
/// Source: quantized_decomposed.quantize_per_tensor.
template <class Byte>
[[nodiscard, gnu::always_inline]] inline Byte quantized(float x, const ByteRange& range) noexcept {
  const float v = std::nearbyint(x * range.inverse) + static_cast<float>(range.zero_point);
  const auto low = static_cast<float>(range.low), high = static_cast<float>(range.high);
  return convert<Byte>(v < low ? low : v > high ? high : v);
}

/// quantized() for a vector. The bounds, whole numbers, come before the rounding, which they do not affect; that keeps
/// compilers from fusing the product with the sum, which would skip a rounding.
template <std::size_t Bytes, class Byte>
[[gnu::always_inline]] inline void quantize_vector(const Vector<float, Bytes>& x, Byte* out,
                                                   const ByteRange& range) noexcept {
  using Ints = Vector<std::int32_t, Bytes>;
  using Narrow = Vector<Byte, Bytes / sizeof(float)>;
  constexpr float round = 12582912.0f;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
  const Vector<float, Bytes> low = static_cast<float>(range.low - range.zero_point) + Vector<float, Bytes>{};
  const Vector<float, Bytes> high = static_cast<float>(range.high - range.zero_point) + Vector<float, Bytes>{};
  Vector<float, Bytes> v = x * range.inverse;
  v = v < low ? low : v;
  v = v > high ? high : v;
  const Ints whole = __builtin_bit_cast(Ints, v + round) - (std::bit_cast<std::int32_t>(round) - range.zero_point);
  vector_at<Bytes / sizeof(float)>(out) = __builtin_convertvector(whole & (v == v), Narrow);
}

/// out[i] = quantized(x[i]).
struct Quantize {
  template <std::size_t Bytes, class Byte>
  [[gnu::always_inline]] static void run(const float* x, Byte* out, std::int64_t n, const ByteRange* range) noexcept {
    std::int64_t i = 0;
    for (; i + lanes<float, Bytes> <= n; i += lanes<float, Bytes>) {
      const Vector<float, Bytes> v = vector_at<Bytes>(x + i);
      quantize_vector<Bytes>(v, out + i, *range);
    }
    for (; i < n; ++i) out[i] = quantized<Byte>(x[i], *range);
  }
};

/// The numbers of a quantization in float or double, of a row.
template <class T>
struct RowQuantization {
  T inverse, zero_point, low, high;  ///< whole numbers but for 1 / scale
  bool rounds_first;                 ///< round(x * inverse) + zero point, or round(x * inverse + zero point)
};
/// out[i] = x[i] in steps of T, between low and high; a NaN becomes 0.
/// Source: quantized_decomposed.quantize_per_token, torchao.quantize_affine.
struct QuantizeRow {
  template <std::size_t Bytes, class Byte, class T>
  [[gnu::always_inline]] static void run(const float* x, Byte* out, std::int64_t n, const RowQuantization<T>* row) {
    constexpr std::int64_t step = lanes<T, Bytes>;
    std::int64_t i = 0;
    for (; i + step <= n; i += step) some<Bytes>(x + i, out + i, *row);
    if (i == n) return;
    float rest[step] = {};
    Byte made[step];
    for (std::int64_t k = i; k < n; ++k) rest[k - i] = x[k];
    some<Bytes>(rest, made, *row);
    for (std::int64_t k = i; k < n; ++k) out[k] = made[k - i];
  }

 private:
  template <std::size_t Bytes, class Byte, class T>
  [[gnu::always_inline]] static void some(const float* x, Byte* out, const RowQuantization<T>& row) {
    using V = Vector<T, Bytes>;
    using Narrow = Vector<Byte, Bytes / sizeof(T)>;
    using Ints = Vector<std::int32_t, Bytes / sizeof(T) * sizeof(std::int32_t)>;
    constexpr T round = sizeof(T) == 4 ? T{12582912} : T{6755399441055744};  // 1.5 * 2^23 and 2^52
    constexpr std::size_t of_floats = Bytes / sizeof(T) * sizeof(float);
    const T zero = row.rounds_first ? row.zero_point : T{0};
    const V low = row.low - zero + V{}, high = row.high - zero + V{};
    V v = row.zero_point - zero + V{};
    add_product(V(__builtin_convertvector(vector_at<of_floats>(x), V)), row.inverse, v);
    v = v == v ? v : -zero + V{};
    v = v < low ? low : v;  // before the rounding, which does not change whole numbers
    v = v > high ? high : v;
    v = v + round;
    v = v - round + zero;
    vector_at<Bytes / sizeof(T)>(out) = __builtin_convertvector(__builtin_convertvector(v, Ints), Narrow);
  }
};

/// The least and the greatest of x and 0; both NaN if a number is.
struct RangeOf {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const float* x, std::int64_t n, float* low, float* high) {
    using V = Vector<float, Bytes>;
    V least{}, greatest{}, strange{};
    float rest[lanes<float, Bytes>] = {};
    for (std::int64_t i = 0; i < n; i += lanes<float, Bytes>) {
      const float* from = x + i;
      if (i + lanes<float, Bytes> > n) {
        for (std::int64_t k = i; k < n; ++k) rest[k - i] = x[k];
        from = rest;
      }
      const V v = vector_at<Bytes>(from);
      least = v < least ? v : least;
      greatest = v > greatest ? v : greatest;
      strange = v == v ? strange : v;
    }
    *low = *high = 0;
    for (std::size_t l = 0; l < Bytes / sizeof(float); ++l) {
      *low = !(least[l] >= *low) ? least[l] : *low;
      *high = !(greatest[l] <= *high) ? greatest[l] : *high;
    }
    for (std::size_t l = 0; l < Bytes / sizeof(float); ++l)
      if (strange[l] != strange[l]) *low = *high = strange[l];
  }
};

/// Bytes as floats: (x - zero point) * scale.
/// Source: quantized_decomposed.dequantize_per_tensor.
struct ByteScale {
  float scale = 1;
  float zero_point = 0;
};
template <std::size_t Bytes, class Byte>
[[gnu::always_inline]] inline void dequantize_vector(const Byte* x, const ByteScale& s,
                                                     Vector<float, Bytes>& out) noexcept {
  using Narrow = Vector<Byte, Bytes / sizeof(float)>;
  using Shorts = Vector<std::int16_t, Bytes / 2>;  // in two steps, for which g++ 12 has instructions
  using Ints = Vector<std::int32_t, Bytes>;
  Narrow bytes;
  std::memcpy(&bytes, x, sizeof bytes);
  out = (__builtin_convertvector(__builtin_convertvector(__builtin_convertvector(bytes, Shorts), Ints),
                                 Vector<float, Bytes>) -
         s.zero_point) *
        s.scale;
}
template <class Byte>
[[nodiscard, gnu::always_inline]] inline float dequantized(Byte x, const ByteScale& s) noexcept {
  return (static_cast<float>(x) - s.zero_point) * s.scale;
}

/// out[i] = dequantized(x[i]).
struct Dequantize {
  template <std::size_t Bytes, class Byte>
  [[gnu::always_inline]] static void run(const Byte* x, float* out, std::int64_t n, const ByteScale* s) noexcept {
    std::int64_t i = 0;
    for (; i + lanes<float, Bytes> <= n; i += lanes<float, Bytes>) {
      Vector<float, Bytes> v;
      dequantize_vector<Bytes>(x + i, *s, v);
      vector_at<Bytes>(out + i) = v;
    }
    for (; i < n; ++i) out[i] = dequantized(x[i], *s);
  }
};

/// out[i] = quantized(dequantized(a[i]) + dequantized(b[i])): the sum of two quantized tensors. Blocks go through
/// memory, or compilers would fuse a product with the sum and skip a rounding of PyTorch's.
struct AddQuantized {
  template <std::size_t Bytes, class Byte>
  [[gnu::always_inline]] static void run(const Byte* a, const Byte* b, Byte* out, std::int64_t n, const ByteScale* sa,
                                         const ByteScale* sb, const ByteRange* range) noexcept {
    constexpr std::int64_t block = 1024;
    float x[block], y[block];
    for (std::int64_t first = 0; first < n; first += block) {
      const std::int64_t count = n - first < block ? n - first : block;
      Dequantize::run<Bytes>(a + first, x, count, sa);
      Dequantize::run<Bytes>(b + first, y, count, sb);
      for (std::int64_t i = 0; i < count; ++i) x[i] += y[i];
      Quantize::run<Bytes>(x, out + first, count, range);
    }
  }
};

}  // namespace davit::kernels
