// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>

/// Factors of one dense matrix, row by row, of doubles or complex doubles.
namespace davit::portable_kernels::detail {

inline double conjugate(double x) noexcept { return x; }
inline std::complex<double> conjugate(std::complex<double> x) noexcept { return std::conj(x); }
/// How large a pivot is: of a complex one the sum of its parts. Source: BLAS's izamax.
inline double pivot_size(double x) noexcept { return std::abs(x); }
inline double pivot_size(std::complex<double> x) noexcept { return std::abs(x.real()) + std::abs(x.imag()); }

template <class T>
void transpose(const T* from, T* to, std::int64_t rows, std::int64_t columns) noexcept {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
}
template <class T>
void transpose_square(T* a, std::int64_t n) noexcept {
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t c = 0; c < r; ++c) std::swap(a[r * n + c], a[c * n + r]);
}
template <class T>
void conjugate_transpose(T* a, std::int64_t n) noexcept {
  transpose_square(a, n);
  for (std::int64_t i = 0; i < n * n; ++i) a[i] = conjugate(a[i]);
}

/// A (n, m) = P L U, in place, rows exchanged for the largest pivot of each column; pivots count from 1. Answers the number of
/// the first pivot that is 0, or 0. Source: LAPACK's getrf.
template <class T>
std::int32_t factor_lu(T* a, std::int64_t n, std::int64_t m, std::int32_t* pivots) noexcept {
  std::int32_t info = 0;
  for (std::int64_t k = 0; k < std::min(n, m); ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (pivot_size(a[i * m + k]) > pivot_size(a[pivot * m + k])) pivot = i;
    pivots[k] = static_cast<std::int32_t>(pivot + 1);
    for (std::int64_t j = 0; j < m && pivot != k; ++j) std::swap(a[k * m + j], a[pivot * m + j]);
    if (a[k * m + k] == T{}) {
      if (info == 0) info = static_cast<std::int32_t>(k + 1);
      continue;
    }
    for (std::int64_t i = k + 1; i < n; ++i) {
      const T factor = a[i * m + k] /= a[k * m + k];
      for (std::int64_t j = k + 1; j < m; ++j) a[i * m + j] -= factor * a[k * m + j];
    }
  }
  return info;
}
/// Solves A X = B in place of B (n, columns) for a triangular A.
template <class T>
void substitute(const T* a, std::int64_t n, T* b, std::int64_t columns, bool upper, bool unit) noexcept {
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = upper ? n - 1 - step : step;
    for (std::int64_t k = upper ? i + 1 : 0; k < (upper ? n : i); ++k)
      for (std::int64_t j = 0; j < columns; ++j) b[i * columns + j] -= a[i * n + k] * b[k * columns + j];
    for (std::int64_t j = 0; j < columns && !unit; ++j) b[i * columns + j] /= a[i * n + i];
  }
}
/// Solves A X = B in place of B, A as factor_lu has left it.
template <class T>
void solve_lu(const T* lu, const std::int32_t* pivots, std::int64_t n, T* b, std::int64_t columns) noexcept {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < columns && pivots[i] != i + 1; ++j) std::swap(b[i * columns + j], b[(pivots[i] - 1) * columns + j]);
  substitute(lu, n, b, columns, false, true);
  substitute(lu, n, b, columns, true, false);
}
/// Solves A^T X = B likewise.
template <class T>
void solve_transposed_lu(T* lu, const std::int32_t* pivots, std::int64_t n, T* b, std::int64_t columns) noexcept {
  transpose_square(lu, n);
  substitute(lu, n, b, columns, false, false);
  substitute(lu, n, b, columns, true, true);
  for (std::int64_t i = n; i-- > 0;)
    for (std::int64_t j = 0; j < columns && pivots[i] != i + 1; ++j) std::swap(b[i * columns + j], b[(pivots[i] - 1) * columns + j]);
  transpose_square(lu, n);
}
/// A = L L^H in place; the upper triangle becomes 0. Answers the order of the first minor that is not positive, or 0.
template <class T>
std::int32_t factor_cholesky(T* a, std::int64_t n) noexcept {
  std::int32_t info = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    double d = std::real(a[j * n + j]);
    for (std::int64_t k = 0; k < j; ++k) d -= std::norm(a[j * n + k]);
    if (!(d > 0) && info == 0) info = static_cast<std::int32_t>(j + 1);
    d = std::sqrt(d);
    a[j * n + j] = d;
    for (std::int64_t i = j + 1; i < n; ++i) {
      T sum = a[i * n + j];
      for (std::int64_t k = 0; k < j; ++k) sum -= a[i * n + k] * conjugate(a[j * n + k]);
      a[i * n + j] = sum / d;
      a[j * n + i] = T{};
    }
  }
  return info;
}
/// A (n, m) = Q R by reflections: R in place, Q (n, n); work: n. Source: LAPACK's geqrf and ungqr.
template <class T>
void factor_qr(T* a, std::int64_t n, std::int64_t m, T* q, T* work) noexcept {
  for (std::int64_t i = 0; i < n * n; ++i) q[i] = i / n == i % n ? T{1} : T{};
  for (std::int64_t k = 0; k < std::min(n, m); ++k) {
    double below = 0;
    for (std::int64_t i = k + 1; i < n; ++i) below += std::norm(a[i * m + k]);
    const T alpha = a[k * m + k];
    if (below == 0 && std::imag(alpha) == 0) continue;
    const double size = std::sqrt(below + std::norm(alpha));
    const double beta = std::real(alpha) >= 0 ? -size : size;
    const T tau = (T{beta} - alpha) / beta;
    for (std::int64_t i = k + 1; i < n; ++i) work[i] = a[i * m + k] / (alpha - beta);
    work[k] = T{1};
    for (std::int64_t j = k; j < m; ++j) {  // R = H^H R
      T sum{};
      for (std::int64_t i = k; i < n; ++i) sum += conjugate(work[i]) * a[i * m + j];
      for (std::int64_t i = k; i < n; ++i) a[i * m + j] -= conjugate(tau) * sum * work[i];
    }
    for (std::int64_t r = 0; r < n; ++r) {  // Q = Q H
      T sum{};
      for (std::int64_t i = k; i < n; ++i) sum += q[r * n + i] * work[i];
      for (std::int64_t i = k; i < n; ++i) q[r * n + i] -= tau * sum * conjugate(work[i]);
    }
    for (std::int64_t i = k + 1; i < n; ++i) a[i * m + k] = T{};
  }
}
/// exp(a) in work (n, n), of 3 n n; a is lost.
template <class T>
void exponential(T* a, std::int64_t n, T* work) noexcept {
  T* const sum = work;
  T* const term = work + n * n;
  T* const product = term + n * n;
  const auto multiply = [&](const T* x, const T* y) {
    std::fill_n(product, n * n, T{});
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t j = 0; j < n; ++j) product[i * n + j] += x[i * n + k] * y[k * n + j];
  };
  double size = 0;
  for (std::int64_t i = 0; i < n * n; ++i) size += std::norm(a[i]);
  int halvings = 0;
  for (size = std::sqrt(size); size > 0.5 && halvings < 1100; size /= 2) ++halvings;
  for (std::int64_t i = 0; i < n * n; ++i) {
    a[i] *= std::ldexp(1.0, -halvings);
    sum[i] = term[i] = i / n == i % n ? T{1} : T{};
  }
  for (int k = 1; k <= 16; ++k) {
    multiply(term, a);
    for (std::int64_t i = 0; i < n * n; ++i) sum[i] += term[i] = product[i] / static_cast<double>(k);
  }
  for (int k = 0; k < halvings; ++k) {
    multiply(sum, sum);
    std::copy_n(product, n * n, sum);
  }
}

inline constexpr int most_sweeps = 60;

/// Jacobi's rotation, of two rows or columns; what `p`, `q` and `pq` say of them is what they are with themselves and each other.
struct Rotation {
  double c, s;

  Rotation(double p, double q, double pq) noexcept {
    const double theta = (q - p) / (2 * pq);
    const double t = (theta >= 0 ? 1.0 : -1.0) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
    c = 1 / std::sqrt(t * t + 1);
    s = t * c;
  }
  void operator()(double& x, double& y) const noexcept {
    const double old = x;
    x = c * old - s * y;
    y = s * old + c * y;
  }
};

/// Eigenvalues of a symmetric matrix, ascending, and its eigenvectors as columns of v, by Jacobi's rotations; a is lost.
inline void eigen(double* a, std::int64_t n, double* v, double* values) noexcept {
  for (std::int64_t i = 0; i < n * n; ++i) v[i] = i / n == i % n;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double off = 0, all = 0;
    for (std::int64_t i = 0; i < n * n; ++i) (i / n == i % n ? all : off) += a[i] * a[i];
    if (!(off > 1e-28 * all)) break;  // rounding leaves about n times 1e-32
    for (std::int64_t p = 0; p < n; ++p)
      for (std::int64_t q = p + 1; q < n; ++q) {
        if (a[p * n + q] == 0) continue;
        const Rotation rotate(a[p * n + p], a[q * n + q], a[p * n + q]);
        for (std::int64_t k = 0; k < n; ++k) rotate(a[p * n + k], a[q * n + k]);
        for (const std::int64_t row : {p, q}) rotate(a[row * n + p], a[row * n + q]);
        for (std::int64_t k = 0; k < n; ++k) {  // the other columns are these rows
          a[k * n + p] = a[p * n + k];
          a[k * n + q] = a[q * n + k];
        }
        for (std::int64_t k = 0; k < n; ++k) rotate(v[p * n + k], v[q * n + k]);  // as rows, until all is done
      }
  }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = i + 1; k < n; ++k) std::swap(v[i * n + k], v[k * n + i]);
  for (std::int64_t i = 0; i < n; ++i) values[i] = a[i * n + i];
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t least = std::min_element(values + i, values + n) - values;
    if (least == i) continue;
    std::swap(values[i], values[least]);
    for (std::int64_t k = 0; k < n; ++k) std::swap(v[k * n + i], v[k * n + least]);
  }
}
/// A (n, m), n >= m, = U S V^T with U (n, n) and V (m, m), by rotations of pairs of columns; a is lost. work: n * m + n.
inline void singular_values(double* a, std::int64_t n, std::int64_t m, double* u, double* s, double* v, double* work) noexcept {
  for (std::int64_t i = 0; i < m * m; ++i) v[i] = i / m == i % m;
  bool turned = true;
  for (int sweep = 0; sweep < most_sweeps && turned; ++sweep) {
    turned = false;
    for (std::int64_t p = 0; p < m; ++p)
      for (std::int64_t q = p + 1; q < m; ++q) {
        double pp = 0, qq = 0, pq = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          pp += a[i * m + p] * a[i * m + p];
          qq += a[i * m + q] * a[i * m + q];
          pq += a[i * m + p] * a[i * m + q];
        }
        if (!(std::fabs(pq) > 1e-14 * std::sqrt(pp * qq))) continue;  // rounding leaves some 1e-15
        turned = true;
        const Rotation rotate(pp, qq, pq);
        for (std::int64_t i = 0; i < n; ++i) rotate(a[i * m + p], a[i * m + q]);
        for (std::int64_t i = 0; i < m; ++i) rotate(v[i * m + p], v[i * m + q]);
      }
  }
  for (std::int64_t j = 0; j < m; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += a[i * m + j] * a[i * m + j];
    s[j] = std::sqrt(sum);
  }
  for (std::int64_t j = 0; j < m; ++j) {
    const std::int64_t most = std::max_element(s + j, s + m) - s;
    if (most == j) continue;
    std::swap(s[j], s[most]);
    for (std::int64_t i = 0; i < n; ++i) std::swap(a[i * m + j], a[i * m + most]);
    for (std::int64_t i = 0; i < m; ++i) std::swap(v[i * m + j], v[i * m + most]);
  }
  // U: the columns over their sizes, and what completes them, as the Q of A's columns, with signs that make R's diagonal positive.
  std::copy_n(a, n * m, work);
  factor_qr(work, n, m, u, work + n * m);
  for (std::int64_t j = 0; j < m; ++j)
    for (std::int64_t i = 0; i < n && work[j * m + j] < 0; ++i) u[i * n + j] = -u[i * n + j];
}

}  // namespace davit::portable_kernels::detail
