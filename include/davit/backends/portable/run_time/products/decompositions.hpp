// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/products/matmul.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"

/// Operands and results of kernels on batches of matrices: real and complex, computed in double.
namespace davit::portable_kernels::detail {

[[nodiscard]] inline bool is_matrix_type(ScalarType type) noexcept {
  return type == ScalarType::float32 || type == ScalarType::float64 || is_whole_complex(type);
}
/// Calls f.template operator()<T>() with double or complex<double>.
template <class F>
[[nodiscard]] ErrorCode dispatch_algebra(KernelCall& call, ScalarType type, F&& f) {
  if (!is_matrix_type(type))
    return call.refuse(ErrorCode::invalid_dtype, "the operator takes float32, float64 and complex matrices");
  return is_whole_complex(type) ? f.template operator()<std::complex<double>>() : f.template operator()<double>();
}
template <class T>
[[nodiscard]] T number_at(const TensorView& t, std::int64_t at) noexcept {
  if constexpr (std::is_same_v<T, double>)
    return element_as<double>(t, at);
  else
    return complex_at(t, at);
}

/// A batch of matrices in a tensor; or of vectors along its last dimension, each a matrix of one column.
class Matrices {
 public:
  Matrices(const TensorView& t, bool columns) noexcept : t_(&t), stack_(t.sizes(), strides_of(t)) {
    if (!columns) return;
    Sizes sizes(t.sizes());
    Sizes strides = strides_of(t);
    (void)sizes.push(1);
    (void)strides.push(1);
    stack_ = MatrixStack(sizes.span(), strides);
  }
  [[nodiscard]] std::int64_t rows() const noexcept { return stack_.rows; }
  [[nodiscard]] std::int64_t columns() const noexcept { return stack_.columns; }
  [[nodiscard]] const Sizes& batch() const noexcept { return stack_.batch; }
  [[nodiscard]] Sizes over(const Sizes& batch) const noexcept { return stack_.broadcast_to(batch); }
  /// Reads the matrix at an offset, row by row.
  template <class T>
  void load(std::int64_t offset, T* to) const noexcept {
    for (std::int64_t r = 0; r < rows(); ++r)
      for (std::int64_t c = 0; c < columns(); ++c) *to++ = number_at<T>(*t_, offset + r * stack_.row + c * stack_.col);
  }

 private:
  const TensorView* t_;
  MatrixStack stack_;
};

/// Writes n numbers to output i, from its element `first` on.
template <class T>
void store_numbers(KernelCall& call, std::size_t i, std::int64_t first, const T* from, std::int64_t n) noexcept {
  if (!call.wants(i)) return;
  const TensorView& out = call.output(i);
  for (std::int64_t k = 0; k < n; ++k) store_complex(out, first + k, from[k]);
}
[[nodiscard]] inline Sizes batch_of(const TensorView& a, std::initializer_list<std::int64_t> more = {}) noexcept {
  Sizes out(a.sizes().first(a.rank - 2u));
  for (const std::int64_t n : more) (void)out.push(n);
  return out;
}
[[nodiscard]] inline ErrorCode make_wanted(KernelCall& call, std::size_t i, ScalarType type, const Sizes& sizes) {
  return call.wants(i) ? call.make(i, type, sizes) : ErrorCode::ok;
}
/// Checks that argument i is a tensor of matrices, square ones if `square`.
[[nodiscard]] inline ErrorCode check_matrices(KernelCall& call, std::size_t i, bool square) {
  const TensorView& a = call.tensor(i);
  if (a.rank < 2 || (square && a.size(a.rank - 1u) != a.size(a.rank - 2u)))
    return call.refuse(ErrorCode::invalid_shape,
                       square ? "the matrices must be square" : "a tensor of matrices is needed");
  for (const std::int64_t n : a.sizes())
    if (n > (std::int64_t{1} << 20)) return call.refuse(ErrorCode::out_of_memory, "a matrix is too large");
  return ErrorCode::ok;
}
/// Calls each(offset, number) for every matrix of a tensor.
template <class Each>
void for_each_matrix(const Matrices& m, Each&& each) {
  std::int64_t at = 0;
  for_each_index<1>(m.batch(), {m.over(m.batch())}, [&](std::int64_t offset) { each(offset, at++); });
}

// Factorizations of one dense row-major matrix of doubles or complex doubles.

inline double conjugate(double x) noexcept { return x; }
inline std::complex<double> conjugate(std::complex<double> x) noexcept { return std::conj(x); }
/// The size of a pivot: |x|, and |re| + |im| for a complex one. Source: BLAS's izamax.
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

/// A (n, m) = P L U, in place, with the largest pivot of each column; pivots count from 1. Returns the number of the
/// first zero pivot, or 0. Source: LAPACK's getrf.
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
/// Solves A X = B in place of B, with A factored by factor_lu.
template <class T>
void solve_lu(const T* lu, const std::int32_t* pivots, std::int64_t n, T* b, std::int64_t columns) noexcept {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < columns && pivots[i] != i + 1; ++j)
      std::swap(b[i * columns + j], b[(pivots[i] - 1) * columns + j]);
  substitute(lu, n, b, columns, false, true);
  substitute(lu, n, b, columns, true, false);
}
/// Solves A^T X = B in place of B, with A factored by factor_lu.
template <class T>
void solve_transposed_lu(T* lu, const std::int32_t* pivots, std::int64_t n, T* b, std::int64_t columns) noexcept {
  transpose_square(lu, n);
  substitute(lu, n, b, columns, false, false);
  substitute(lu, n, b, columns, true, true);
  for (std::int64_t i = n; i-- > 0;)
    for (std::int64_t j = 0; j < columns && pivots[i] != i + 1; ++j)
      std::swap(b[i * columns + j], b[(pivots[i] - 1) * columns + j]);
  transpose_square(lu, n);
}
/// A = L L^H in place; the upper triangle becomes 0. Returns the order of the first minor that is not positive, or 0.
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
/// x -= factor * v (v^H x) for rows `first` to n of x, which are `row` numbers apart; only `columns` columns are
/// changed. sums: `columns` numbers of work.
template <class T>
void reflect(T factor, const T* v, std::int64_t first, std::int64_t n, T* x, std::int64_t row, std::int64_t columns,
             T* sums) noexcept {
  std::fill_n(sums, columns, T{});
  for (std::int64_t i = first; i < n; ++i)
    for (std::int64_t j = 0; j < columns; ++j) sums[j] += conjugate(v[i]) * x[i * row + j];
  for (std::int64_t i = first; i < n; ++i)
    for (std::int64_t j = 0; j < columns; ++j) x[i * row + j] -= factor * v[i] * sums[j];
}
/// Numbers of work for a QR factorization with so many columns of Q.
[[nodiscard]] constexpr std::int64_t qr_work(std::int64_t n, std::int64_t m, std::int64_t columns) noexcept {
  return std::min(n, m) * (n + 1) + std::max(m, columns);
}
/// A (n, m) = Q R by reflections: R in place, the first `columns` of Q (n, n). Source: LAPACK's geqrf and ungqr.
template <class T>
void factor_qr(T* a, std::int64_t n, std::int64_t m, T* q, std::int64_t columns, T* work) noexcept {
  const std::int64_t count = std::min(n, m);
  T* const reflections = work;
  T* const tau = reflections + count * n;
  T* const sums = tau + count;
  for (std::int64_t k = 0; k < count; ++k) {
    T* const v = reflections + k * n;
    double below = 0;
    for (std::int64_t i = k + 1; i < n; ++i) below += std::norm(a[i * m + k]);
    const T alpha = a[k * m + k];
    tau[k] = T{};
    if (below == 0 && std::imag(alpha) == 0) continue;
    const double size = std::sqrt(below + std::norm(alpha));
    const double beta = std::real(alpha) >= 0 ? -size : size;
    tau[k] = (T{beta} - alpha) / beta;
    for (std::int64_t i = k + 1; i < n; ++i) v[i] = a[i * m + k] / (alpha - beta);
    v[k] = T{1};
    reflect(conjugate(tau[k]), v, k, n, a + k, m, m - k, sums);  // R = H^H R
    for (std::int64_t i = k + 1; i < n; ++i) a[i * m + k] = T{};
  }
  for (std::int64_t i = 0; i < n * columns; ++i) q[i] = i / columns == i % columns ? T{1} : T{};
  for (std::int64_t k = count; k-- > 0;)  // Q = H_1 (H_2 ( ... ))
    if (tau[k] != T{}) reflect(tau[k], reflections + k * n, k, n, q, columns, columns, sums);
}

/// Writes exp(a) to work (n, n) of 3 n n numbers; a is destroyed.
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

inline constexpr int max_sweeps = 60;

/// Jacobi's rotation of two rows or columns p and q, from their inner products `p`, `q` and `pq`.
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

/// Eigenvalues of a symmetric matrix, ascending, and its eigenvectors as columns of v, by Jacobi's rotations; a is
/// destroyed.
inline void eigen(double* a, std::int64_t n, double* v, double* values) noexcept {
  for (std::int64_t i = 0; i < n * n; ++i) v[i] = i / n == i % n;
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    double off = 0, all = 0;
    for (std::int64_t i = 0; i < n * n; ++i) (i / n == i % n ? all : off) += a[i] * a[i];
    if (!(off > 1e-28 * all)) break;  // rounding leaves about n * 1e-32
    for (std::int64_t p = 0; p < n; ++p)
      for (std::int64_t q = p + 1; q < n; ++q) {
        if (a[p * n + q] == 0) continue;
        const Rotation rotate(a[p * n + p], a[q * n + q], a[p * n + q]);
        for (std::int64_t k = 0; k < n; ++k) rotate(a[p * n + k], a[q * n + k]);
        for (const std::int64_t row : {p, q}) rotate(a[row * n + p], a[row * n + q]);
        for (std::int64_t k = 0; k < n; ++k) {  // columns equal rows
          a[k * n + p] = a[p * n + k];
          a[k * n + q] = a[q * n + k];
        }
        for (std::int64_t k = 0; k < n; ++k) rotate(v[p * n + k], v[q * n + k]);  // as rows until the end
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
/// The inner products of two columns of n numbers.
struct ColumnProducts {
  double pp = 0, qq = 0, pq = 0;

  ColumnProducts(const double* p, const double* q, std::int64_t n) noexcept {
    constexpr std::int64_t lanes = 4;
    std::array<double, lanes> p2{}, q2{}, both{};
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (std::size_t l = 0; l < lanes; ++l) {
        const double x = p[i + static_cast<std::int64_t>(l)], y = q[i + static_cast<std::int64_t>(l)];
        p2[l] += x * x, q2[l] += y * y, both[l] += x * y;
      }
    for (; i < n; ++i) p2[0] += p[i] * p[i], q2[0] += q[i] * q[i], both[0] += p[i] * q[i];
    for (std::size_t l = 0; l < lanes; ++l) pp += p2[l], qq += q2[l], pq += both[l];
  }
};
/// Numbers of work for singular values.
[[nodiscard]] constexpr std::int64_t singular_work(std::int64_t n, std::int64_t m, std::int64_t u_columns) noexcept {
  return m * m + n * m + qr_work(n, m, u_columns);
}
/// A (n, m), n >= m, = U S V^T; U has `u_columns` columns up to a complete basis of n, or none, and V is (m, m). By
/// rotations of pairs of columns, which are stored one after the other and destroyed.
inline void singular_values(double* columns, std::int64_t n, std::int64_t m, double* u, std::int64_t u_columns,
                            double* s, double* v, double* work) noexcept {
  double* const turned = work;  // V's columns, also in order
  double* const rows = turned + m * m;
  for (std::int64_t i = 0; i < m * m; ++i) turned[i] = i / m == i % m;
  bool moved = true;
  for (int sweep = 0; sweep < max_sweeps && moved; ++sweep) {
    moved = false;
    for (std::int64_t p = 0; p < m; ++p)
      for (std::int64_t q = p + 1; q < m; ++q) {
        double* const first = columns + p * n;
        double* const second = columns + q * n;
        const ColumnProducts are(first, second, n);
        if (!(std::fabs(are.pq) > 1e-14 * std::sqrt(are.pp * are.qq))) continue;  // rounding leaves some 1e-15
        moved = true;
        const Rotation rotate(are.pp, are.qq, are.pq);
        for (std::int64_t i = 0; i < n; ++i) rotate(first[i], second[i]);
        for (std::int64_t i = 0; i < m; ++i) rotate(turned[p * m + i], turned[q * m + i]);
      }
  }
  for (std::int64_t j = 0; j < m; ++j) s[j] = std::sqrt(ColumnProducts(columns + j * n, columns + j * n, n).pp);
  for (std::int64_t j = 0; j < m; ++j) {
    const std::int64_t most = std::max_element(s + j, s + m) - s;
    if (most == j) continue;
    std::swap(s[j], s[most]);
    std::swap_ranges(columns + j * n, columns + (j + 1) * n, columns + most * n);
    std::swap_ranges(turned + j * m, turned + (j + 1) * m, turned + most * m);
  }
  transpose(turned, v, m, m);
  if (u_columns == 0) return;
  // U: the columns divided by their norms, completed by the Q of A's columns, with signs for a positive diagonal of R
  transpose(columns, rows, m, n);
  factor_qr(rows, n, m, u, u_columns, rows + n * m);
  for (std::int64_t j = 0; j < m; ++j)
    for (std::int64_t i = 0; i < n && rows[j * m + j] < 0; ++i) u[i * u_columns + j] = -u[i * u_columns + j];
}

}  // namespace davit::portable_kernels::detail
