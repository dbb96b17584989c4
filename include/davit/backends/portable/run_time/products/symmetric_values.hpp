// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/vectors.hpp"

/// Eigenvalues without eigenvectors, in a tenth of the time of rotations.
namespace davit::portable_kernels::detail {

/// The stride between rows of a symmetric matrix: whole vectors, so that loops have no remainder.
[[nodiscard]] constexpr std::int64_t symmetric_stride(std::int64_t n) noexcept { return (n + 7) / 8 * 8; }
/// Numbers of work for `symmetric_values` and `add_gram`.
[[nodiscard]] constexpr std::int64_t symmetric_work(std::int64_t n) noexcept { return 4 * symmetric_stride(n); }

/// Reduces a symmetric matrix to tridiagonal form by Householder's reflections; a is destroyed. Its rows are
/// `symmetric_stride(n)` apart, padded with zeros. v and w are a row of work each.
struct Tridiagonalize {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(double* a, std::int64_t n, double* diagonal, double* beside, double* v,
                                         double* w) noexcept {
    constexpr std::int64_t step = kernels::lanes<double, Bytes>;
    const std::int64_t stride = symmetric_stride(n);
    std::fill_n(v, stride, 0.0);
    for (std::int64_t k = 0; k + 1 < n; ++k) {
      const double* row = a + k * stride;
      diagonal[k] = row[k];
      double rest = 0;
      for (std::int64_t j = k + 2; j < n; ++j) rest += row[j] * row[j];
      const double first = row[k + 1];
      if (rest == 0) {
        beside[k] = first;
        continue;
      }
      const double alpha = first > 0 ? -std::sqrt(first * first + rest) : std::sqrt(first * first + rest);
      const double tau = 1 / (alpha * alpha - alpha * first);
      beside[k] = alpha;
      // v and w are 0 up to k, so that vectors may begin before it
      const std::int64_t begin = (k + 1) / step * step;
      std::copy(row + k + 1, row + n, v + k + 1);
      v[k] = 0;
      v[k + 1] = first - alpha;
      std::fill(w + begin, w + stride, 0.0);
      std::int64_t i = k + 1;
      for (; i + 4 <= n; i += 4) add_rows<Bytes, 4>(a + i * stride, stride, v + i, w, begin);
      for (; i < n; ++i) add_rows<Bytes, 1>(a + i * stride, stride, v + i, w, begin);
      std::fill(w + begin, w + k + 1, 0.0);
      double both = 0;
      for (std::int64_t j = k + 1; j < n; ++j) both += w[j] * v[j];
      const double less = tau * tau * both / 2;
      for (std::int64_t j = k + 1; j < n; ++j) w[j] = tau * w[j] - less * v[j];
      for (i = k + 1; i < n; ++i) {
        double* to = a + i * stride;
        const kernels::Vector<double, Bytes> zeros{}, vi = v[i] - zeros, wi = w[i] - zeros;
        for (std::int64_t j = begin; j < stride; j += step)
          kernels::vector_at<Bytes>(to + j) -=
              vi * kernels::vector_at<Bytes>(w + j) + wi * kernels::vector_at<Bytes>(v + j);
      }
    }
    diagonal[n - 1] = a[(n - 1) * stride + n - 1];
    beside[n - 1] = 0;
  }

 private:
  /// w += the sum of `Rows` rows, each times its number of v.
  template <std::size_t Bytes, int Rows>
  [[gnu::always_inline]] static void add_rows(const double* rows, std::int64_t stride, const double* v, double* w,
                                              std::int64_t begin) noexcept {
    constexpr std::int64_t step = kernels::lanes<double, Bytes>;
    const kernels::Vector<double, Bytes> zeros{};
    kernels::Vector<double, Bytes> times[Rows];
    for (int r = 0; r < Rows; ++r) times[r] = v[r] - zeros;
    for (std::int64_t j = begin; j < stride; j += step) {
      kernels::Vector<double, Bytes> sum = kernels::vector_at<Bytes>(w + j);
      for (int r = 0; r < Rows; ++r) sum += times[r] * kernels::vector_at<Bytes>(rows + r * stride + j);
      kernels::vector_at<Bytes>(w + j) = sum;
    }
  }
};

/// The eigenvalues, unordered, of a symmetric tridiagonal matrix with elements of order 1, by QL steps with implicit
/// shifts. beside[i] is the element between i and i + 1; `beside` is destroyed.
inline void tridiagonal_values(double* diagonal, double* beside, std::int64_t n) noexcept {
  constexpr double tiny = std::numeric_limits<double>::epsilon() / 4;
  constexpr int max_steps = 60;
  for (std::int64_t first = 0; first < n; ++first)
    for (int step = 0; step < max_steps; ++step) {
      std::int64_t last = first;
      while (last + 1 < n &&
             std::fabs(beside[last]) > tiny * std::fmax(1.0, std::fabs(diagonal[last]) + std::fabs(diagonal[last + 1])))
        ++last;
      if (last == first) break;
      // Wilkinson's shift: the eigenvalue of the corner nearer to its first element
      const double half = (diagonal[first + 1] - diagonal[first]) / (2 * beside[first]);
      const double root = std::sqrt(half * half + 1);
      double g = diagonal[last] - diagonal[first] + beside[first] / (half + (half < 0 ? -root : root));
      double sine = 1, cosine = 1, shift = 0;
      std::int64_t i = last - 1;
      for (; i >= first; --i) {
        const double f = sine * beside[i], b = cosine * beside[i];
        const double r = std::sqrt(f * f + g * g);
        beside[i + 1] = r;
        if (r == 0) {
          diagonal[i + 1] -= shift;
          beside[last] = 0;
          break;
        }
        sine = f / r;
        cosine = g / r;
        g = diagonal[i + 1] - shift;
        const double t = (diagonal[i] - g) * sine + 2 * cosine * b;
        shift = sine * t;
        diagonal[i + 1] = g + shift;
        g = cosine * t - b;
      }
      if (i >= first) continue;
      diagonal[first] -= shift;
      beside[first] = g;
      beside[last] = 0;
    }
}

/// The eigenvalues of a symmetric matrix, ascending; a is destroyed. Its rows are `symmetric_stride(n)` apart, padded
/// with zeros. O(n^3). Errors are of the order of 1e-16 times the largest eigenvalue.
inline void symmetric_values(double* a, std::int64_t n, double* values, double* work) noexcept {
  const std::int64_t stride = symmetric_stride(n);
  double most = 0;
  for (std::int64_t i = 0; i < n * stride; ++i) most = std::fmax(most, std::fabs(a[i]));
  std::fill_n(values, n, 0.0);
  if (n == 0 || most == 0) return;
  int exponent = 0;
  (void)std::frexp(most, &exponent);
  exponent = std::min(exponent, 1000);  // keeps the scale finite
  const double scale = std::ldexp(1.0, -exponent);
  for (std::int64_t i = 0; i < n * stride; ++i) a[i] *= scale;
  double* const beside = work + 2 * stride;
  kernels::run_widest<Tridiagonalize>(a, n, values, beside, work, work + stride);
  tridiagonal_values(values, beside, n);
  for (std::int64_t i = 0; i < n; ++i) values[i] = std::ldexp(values[i], exponent);
  std::sort(values, values + n);
}

/// gram += A^T A for four rows of n numbers at a time; only the upper half is updated.
struct AddGram {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const double* rows, std::int64_t count, std::int64_t n, double* gram,
                                         double* work) noexcept {
    constexpr std::int64_t step = kernels::lanes<double, Bytes>;
    const std::int64_t stride = symmetric_stride(n);
    std::fill_n(work, 4 * stride, 0.0);
    for (std::int64_t r = 0; r < count; r += 4) {
      for (std::int64_t k = 0; k < 4; ++k)
        if (r + k < count)
          std::copy_n(rows + (r + k) * n, n, work + k * stride);
        else
          std::fill_n(work + k * stride, n, 0.0);
      for (std::int64_t i = 0; i < n; ++i) {
        const double times[] = {work[i], work[stride + i], work[2 * stride + i], work[3 * stride + i]};
        double* const to = gram + i * stride;
        for (std::int64_t j = i / step * step; j < stride; j += step) {
          kernels::Vector<double, Bytes> sum = kernels::vector_at<Bytes>(to + j);
          for (std::int64_t k = 0; k < 4; ++k) sum += times[k] * kernels::vector_at<Bytes>(work + k * stride + j);
          kernels::vector_at<Bytes>(to + j) = sum;
        }
      }
    }
  }
};
/// The singular values of `count` rows of n numbers, descending, as roots of the eigenvalues of A^T A: errors are of
/// the order of 1e-8 times the largest, below float32's. `gram` is n rows of `symmetric_stride(n)`.
inline void singular_values_of_rows(const double* rows, std::int64_t count, std::int64_t n, double* values,
                                    double* gram, double* work) noexcept {
  const std::int64_t stride = symmetric_stride(n);
  std::fill_n(gram, n * stride, 0.0);
  kernels::run_widest<AddGram>(rows, count, n, gram, work);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) gram[i * stride + j] = gram[j * stride + i];
  symmetric_values(gram, n, values, work);
  for (std::int64_t i = 0; i < n; ++i) values[i] = std::sqrt(std::fmax(values[i], 0.0));
  std::reverse(values, values + n);
}

}  // namespace davit::portable_kernels::detail
