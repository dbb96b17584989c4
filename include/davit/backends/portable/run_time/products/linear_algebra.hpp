// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <span>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/products/decompositions.hpp"
#include "davit/backends/portable/run_time/products/symmetric_values.hpp"

/// Systems of equations, determinants and factors of (batches of) matrices; real and complex, computed in double.
namespace davit::portable_kernels {

namespace detail {

/// The result of each matrix's factors.
enum class FromLu : std::uint8_t { factors, determinant, log_determinant };

/// linalg_lu_factor_ex(A, *, pivot, check_errors) -> (LU, pivots, info); _linalg_det(A) -> (result, LU, pivots);
/// _linalg_slogdet(A) -> (sign, logabsdet, LU, pivots). Source: the at:: functions of these names.
template <FromLu kind>
[[nodiscard]] ErrorCode lu_factors(KernelCall& call) {
  const TensorView& a = call.tensor(0);
  constexpr std::size_t first = kind == FromLu::factors ? 0 : kind == FromLu::determinant ? 1 : 2;
  if (const ErrorCode code = check_matrices(call, 0, kind != FromLu::factors); code != ErrorCode::ok) return code;
  if (kind == FromLu::factors && !call.boolean(1, true))
    return call.refuse(ErrorCode::invalid_argument, "factors without pivots are not supported");
  const Matrices all(a, false);
  const std::int64_t n = all.rows(), m = all.columns(), least = std::min(n, m);
  const Sizes batch = batch_of(a);
  const ScalarType real = real_of(a.dtype);
  std::array<ErrorCode, 5> made{make_wanted(call, first, a.dtype, a.sizes()),
                                make_wanted(call, first + 1, ScalarType::int32, batch_of(a, {least}))};
  if (kind == FromLu::factors) made[2] = make_wanted(call, 2, ScalarType::int32, batch);
  if (kind != FromLu::factors) made[3] = make_wanted(call, 0, a.dtype, batch);
  if (kind == FromLu::log_determinant) made[4] = make_wanted(call, 1, real, batch);
  for (const ErrorCode code : made)
    if (code != ErrorCode::ok) return code;
  return dispatch_algebra(call, a.dtype, [&]<class T>() {
    T* const work = call.temporary<T>(static_cast<std::size_t>(n * m + least));
    if (work == nullptr) return call.refuse(ErrorCode::out_of_memory, "no memory for a matrix");
    auto* const pivots = reinterpret_cast<std::int32_t*>(work + n * m);
    bool failed = false;
    for_each_matrix(all, [&](std::int64_t offset, std::int64_t at) {
      all.load(offset, work);
      const std::int32_t info = factor_lu(work, n, m, pivots);
      store_numbers(call, first, at * n * m, work, n * m);
      if (call.wants(first + 1))
        std::copy_n(pivots, least, call.output(first + 1).template as<std::int32_t>() + at * least);
      if constexpr (kind == FromLu::factors) {
        if (call.wants(2)) call.output(2).template as<std::int32_t>()[at] = info;
        failed = failed || (info != 0 && call.boolean(2));
      } else {
        T sign = 1;
        T product = 1;
        double log_size = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          const T d = work[i * n + i];
          const T turn = pivots[i] == i + 1 ? 1 : -1;
          product *= turn * d;
          sign *= std::abs(d) == 0 ? T{} : turn * d / std::abs(d);
          log_size += std::log(std::abs(d));
        }
        store_numbers(call, 0, at, kind == FromLu::determinant ? &product : &sign, 1);
        if (kind == FromLu::log_determinant) store_numbers(call, 1, at, &log_size, 1);
      }
    });
    return failed ? call.refuse(ErrorCode::failed, "a matrix is singular") : ErrorCode::ok;
  });
}

/// A system of equations: the matrices A, the right sides B, and their broadcast batch.
struct System {
  Matrices a, b;
  Sizes batch;
  Sizes result;  ///< the solution's
};
/// Reads A (*, n, n) and B (*, n, k), or (*, k, n) if X A = B; `vector`: B is (*, n).
[[nodiscard]] inline ErrorCode read_system(KernelCall& call, std::size_t a_at, std::size_t b_at, bool left, bool vector,
                                           System& s) {
  const TensorView& b = call.tensor(b_at);
  if (const ErrorCode code = check_matrices(call, a_at, true); code != ErrorCode::ok) return code;
  if (!vector)
    if (const ErrorCode code = check_matrices(call, b_at, false); code != ErrorCode::ok) return code;
  if (b.dtype != call.tensor(a_at).dtype)
    return call.refuse(ErrorCode::invalid_dtype, "both operands must have the same dtype");
  s.a = Matrices(call.tensor(a_at), false);
  s.b = Matrices(b, vector);
  if ((left ? s.b.rows() : s.b.columns()) != s.a.rows() || !broadcast(s.a.batch(), s.b.batch(), s.batch))
    return call.refuse(ErrorCode::invalid_shape, "the sizes of the operands do not fit");
  s.result = s.batch;
  if (!s.result.push(s.b.rows()) || (!vector && !s.result.push(s.b.columns())))
    return call.refuse(ErrorCode::invalid_shape, "too many dimensions");
  return ErrorCode::ok;
}
/// Calls each(a, b, columns of b, pivots, index of a) for the matrices of a system; it leaves the solution in b, or
/// returns an error. For `left == false` b is transposed: X A = B is A^T X^T = B^T.
template <class T, class Each>
[[nodiscard]] ErrorCode solve_each(KernelCall& call, const System& s, bool left, Each&& each) {
  const std::int64_t n = s.a.rows(), rows = s.b.rows(), columns = s.b.columns();
  T* const a = call.temporary<T>(static_cast<std::size_t>(n * n + n + 2 * rows * columns));
  if (a == nullptr) return call.refuse(ErrorCode::out_of_memory, "no memory for a matrix");
  T* const b = a + n * n;
  T* const turned = b + rows * columns;
  auto* const pivots = reinterpret_cast<std::int32_t*>(turned + rows * columns);
  std::int64_t at = 0;
  ErrorCode result = ErrorCode::ok;
  Sizes dense(s.a.batch());
  contiguous_strides(s.a.batch(), {dense.values.data(), dense.rank});
  const Sizes numbers = broadcast_strides({nullptr, s.a.batch().values.data(), dense.values.data(),
                                           static_cast<std::uint8_t>(dense.rank), ScalarType::undefined},
                                          s.batch);
  for_each_index<3>(s.batch, {s.a.over(s.batch), s.b.over(s.batch), numbers},
                    [&](std::int64_t a_offset, std::int64_t b_offset, std::int64_t number) {
                      s.a.load(a_offset, a);
                      s.b.load(b_offset, left ? b : turned);
                      if (!left) transpose(turned, b, rows, columns);
                      const ErrorCode code = each(a, b, left ? columns : rows, pivots, number);
                      if (result == ErrorCode::ok) result = code;
                      if (!left) transpose(b, turned, columns, rows);
                      store_numbers(call, 0, at++ * rows * columns, left ? b : turned, rows * columns);
                    });
  return result;
}

/// _linalg_solve_ex(A, B, *, left, check_errors) -> (result, LU, pivots, info). O(n^3). Source: at::_linalg_solve_ex.
[[nodiscard]] inline ErrorCode solve(KernelCall& call) {
  const TensorView& a = call.tensor(0);
  const TensorView& b = call.tensor(1);
  const bool left = call.boolean(2, true);
  const bool vector = a.rank >= 2 && left &&
                      (b.rank == 1 || (b.rank + 1 == a.rank && std::ranges::equal(b.sizes(), a.sizes().first(b.rank))));
  System s{{a, false}, {b, false}, {}, {}};
  if (const ErrorCode code = read_system(call, 0, 1, left, vector, s); code != ErrorCode::ok) return code;
  const std::int64_t n = s.a.rows();
  for (const ErrorCode code : {call.make(0, a.dtype, s.result), make_wanted(call, 1, a.dtype, a.sizes()),
                               make_wanted(call, 2, ScalarType::int32, batch_of(a, {n})),
                               make_wanted(call, 3, ScalarType::int32, batch_of(a))})
    if (code != ErrorCode::ok) return code;
  return dispatch_algebra(call, a.dtype, [&]<class T>() {
    return solve_each<T>(
        call, s, left, [&](T* m, T* right, std::int64_t columns, std::int32_t* pivots, std::int64_t at) {
          const std::int32_t info = factor_lu(m, n, n, pivots);
          if (left)
            solve_lu(m, pivots, n, right, columns);
          else
            solve_transposed_lu(m, pivots, n, right, columns);
          store_numbers(call, 1, at * n * n, m, n * n);
          if (call.wants(2)) std::copy_n(pivots, n, call.output(2).template as<std::int32_t>() + at * n);
          if (call.wants(3)) call.output(3).template as<std::int32_t>()[at] = info;
          return info != 0 && call.boolean(3) ? call.refuse(ErrorCode::failed, "a matrix is singular") : ErrorCode::ok;
        });
  });
}
/// linalg_inv_ex(A, *, check_errors) -> (inverse, info). O(n^3). Source: at::linalg_inv_ex.
[[nodiscard]] inline ErrorCode inverse(KernelCall& call) {
  const TensorView& a = call.tensor(0);
  if (const ErrorCode code = check_matrices(call, 0, true); code != ErrorCode::ok) return code;
  for (const ErrorCode code : {call.make_like(0, a), make_wanted(call, 1, ScalarType::int32, batch_of(a))})
    if (code != ErrorCode::ok) return code;
  System s{{a, false}, {a, false}, batch_of(a), {}};
  const std::int64_t n = s.a.rows();
  return dispatch_algebra(call, a.dtype, [&]<class T>() {
    return solve_each<T>(call, s, true, [&](T* m, T* right, std::int64_t, std::int32_t* pivots, std::int64_t at) {
      const std::int32_t info = factor_lu(m, n, n, pivots);
      for (std::int64_t i = 0; i < n * n; ++i) right[i] = i / n == i % n ? T{1} : T{};
      solve_lu(m, pivots, n, right, n);
      if (call.wants(1)) call.output(1).template as<std::int32_t>()[at] = info;
      return info != 0 && call.boolean(1) ? call.refuse(ErrorCode::failed, "a matrix is singular") : ErrorCode::ok;
    });
  });
}
/// linalg_solve_triangular(A, B, *, upper, left, unitriangular). O(n^2) for each column. Source:
/// at::linalg_solve_triangular.
[[nodiscard]] inline ErrorCode solve_triangular(KernelCall& call) {
  const bool left = call.boolean(3, true);
  System s{{call.tensor(0), false}, {call.tensor(1), false}, {}, {}};
  if (const ErrorCode code = read_system(call, 0, 1, left, false, s); code != ErrorCode::ok) return code;
  if (const ErrorCode code = call.make(0, call.tensor(0).dtype, s.result); code != ErrorCode::ok) return code;
  return dispatch_algebra(call, call.tensor(0).dtype, [&]<class T>() {
    return solve_each<T>(call, s, left, [&](T* m, T* right, std::int64_t columns, std::int32_t*, std::int64_t) {
      if (!left) transpose_square(m, s.a.rows());
      substitute(m, s.a.rows(), right, columns, call.boolean(2) == left, call.boolean(4));
      return ErrorCode::ok;
    });
  });
}
/// linalg_cholesky_ex(self, *, upper, check_errors) -> (L, info): reads one triangle. info is the order of the first
/// minor that is not positive. O(n^3). Source: at::linalg_cholesky_ex.
[[nodiscard]] inline ErrorCode cholesky(KernelCall& call) {
  const TensorView& a = call.tensor(0);
  if (const ErrorCode code = check_matrices(call, 0, true); code != ErrorCode::ok) return code;
  for (const ErrorCode code : {call.make_like(0, a), make_wanted(call, 1, ScalarType::int32, batch_of(a))})
    if (code != ErrorCode::ok) return code;
  const Matrices all(a, false);
  const std::int64_t n = all.rows();
  return dispatch_algebra(call, a.dtype, [&]<class T>() {
    T* const m = call.temporary<T>(static_cast<std::size_t>(n * n));
    if (m == nullptr) return call.refuse(ErrorCode::out_of_memory, "no memory for a matrix");
    bool failed = false;
    for_each_matrix(all, [&](std::int64_t offset, std::int64_t at) {
      all.load(offset, m);
      if (call.boolean(1)) conjugate_transpose(m, n);
      const std::int32_t info = factor_cholesky(m, n);
      if (call.boolean(1)) conjugate_transpose(m, n);
      store_numbers(call, 0, at * n * n, m, n * n);
      if (call.wants(1)) call.output(1).template as<std::int32_t>()[at] = info;
      failed = failed || (info != 0 && call.boolean(2));
    });
    return failed ? call.refuse(ErrorCode::invalid_argument, "a matrix is not positive-definite") : ErrorCode::ok;
  });
}
/// linalg_qr(A, mode) -> (Q, R) by reflections, with LAPACK's signs. O(n m^2). Source: at::linalg_qr.
[[nodiscard]] inline ErrorCode qr(KernelCall& call) {
  const TensorView& a = call.tensor(0);
  if (const ErrorCode code = check_matrices(call, 0, false); code != ErrorCode::ok) return code;
  const Matrices all(a, false);
  const std::int64_t n = all.rows(), m = all.columns();
  const bool complete = call.string(1) == "complete", no_q = call.string(1) == "r";
  const std::int64_t k = complete ? n : std::min(n, m);
  for (const ErrorCode code : {no_q ? make_wanted(call, 0, a.dtype, Sizes(std::array<std::int64_t, 1>{0}))
                                    : make_wanted(call, 0, a.dtype, batch_of(a, {n, k})),
                               make_wanted(call, 1, a.dtype, batch_of(a, {k, m}))})
    if (code != ErrorCode::ok) return code;
  return dispatch_algebra(call, a.dtype, [&]<class T>() {
    T* const r = call.temporary<T>(static_cast<std::size_t>(n * m + n * k + qr_work(n, m, k)));
    if (r == nullptr) return call.refuse(ErrorCode::out_of_memory, "no memory for a matrix");
    T* const q = r + n * m;
    for_each_matrix(all, [&](std::int64_t offset, std::int64_t at) {
      all.load(offset, r);
      factor_qr(r, n, m, q, k, q + n * k);
      if (!no_q) store_numbers(call, 0, at * n * k, q, n * k);
      store_numbers(call, 1, at * k * m, r, k * m);
    });
    return ErrorCode::ok;
  });
}
/// False for NaN and infinities, for which LAPACK's algorithms do not end and torch reports an error.
[[nodiscard]] inline bool are_finite(const double* numbers, std::int64_t count) noexcept {
  return std::all_of(numbers, numbers + count, [](double x) { return std::isfinite(x); });
}
/// _linalg_eigh(A, UPLO, compute_v) -> (eigenvalues, eigenvectors), ascending; the signs of vectors are not LAPACK's.
/// O(n^3). Source: at::_linalg_eigh.
[[nodiscard]] inline ErrorCode eigh(KernelCall& call) {
  const TensorView& a = call.tensor(0);
  if (const ErrorCode code = check_matrices(call, 0, true); code != ErrorCode::ok) return code;
  if (a.dtype != ScalarType::float32 && a.dtype != ScalarType::float64)
    return call.refuse(ErrorCode::invalid_dtype, "eigenvalues need a float32 or float64 matrix");
  const Matrices all(a, false);
  const std::int64_t n = all.rows();
  const bool vectors = call.boolean(2, true);
  for (const ErrorCode code :
       {make_wanted(call, 0, a.dtype, batch_of(a, {n})),
        make_wanted(call, 1, a.dtype, vectors ? Sizes(a.sizes()) : Sizes(std::array<std::int64_t, 1>{0}))})
    if (code != ErrorCode::ok) return code;
  const std::int64_t stride = symmetric_stride(n);
  double* const m = call.temporary<double>(static_cast<std::size_t>(n * n + n * stride + n + symmetric_work(n)));
  if (m == nullptr) return call.refuse(ErrorCode::out_of_memory, "no memory for a matrix");
  double *const second = m + n * n, *const values = second + n * stride, *const work = values + n;
  const bool upper = call.string(1).starts_with('U') || call.string(1).starts_with('u');
  bool finite = true;
  for_each_matrix(all, [&](std::int64_t offset, std::int64_t at) {
    all.load(offset, m);
    if (!(finite = finite && are_finite(m, n * n))) return;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < i; ++j) (upper ? m[i * n + j] : m[j * n + i]) = upper ? m[j * n + i] : m[i * n + j];
    if (vectors) {
      eigen(m, n, second, values);
      store_numbers(call, 1, at * n * n, second, n * n);
    } else {
      for (std::int64_t i = 0; i < n; ++i)
        std::fill(std::copy_n(m + i * n, n, second + i * stride), second + (i + 1) * stride, 0.0);
      symmetric_values(second, n, values, work);
    }
    store_numbers(call, 0, at * n, values, n);
  });
  return finite ? ErrorCode::ok
                : call.refuse(ErrorCode::failed, "eigenvalues: a matrix has a number that is not finite");
}
/// _linalg_svd(A, full_matrices, compute_uv, *, driver) -> (U, S, Vh), descending; the signs of vectors are not
/// LAPACK's. O(n m^2). Source: at::_linalg_svd.
[[nodiscard]] inline ErrorCode svd(KernelCall& call) {
  const TensorView& a = call.tensor(0);
  if (const ErrorCode code = check_matrices(call, 0, false); code != ErrorCode::ok) return code;
  if (a.dtype != ScalarType::float32 && a.dtype != ScalarType::float64)
    return call.refuse(ErrorCode::invalid_dtype, "singular values need a float32 or float64 matrix");
  const Matrices all(a, false);
  const std::int64_t n = all.rows(), m = all.columns(), k = std::min(n, m), larger = std::max(n, m);
  const bool full = call.boolean(1), vectors = call.boolean(2, true);
  const std::int64_t u_columns = full ? n : k, v_rows = full ? m : k;
  const Sizes none(std::array<std::int64_t, 1>{0});
  for (const ErrorCode code : {make_wanted(call, 0, a.dtype, vectors ? batch_of(a, {n, u_columns}) : none),
                               make_wanted(call, 1, a.dtype, batch_of(a, {k})),
                               make_wanted(call, 2, a.dtype, vectors ? batch_of(a, {v_rows, m}) : none)})
    if (code != ErrorCode::ok) return code;
  const std::int64_t u_wanted = !vectors ? 0
                                : full   ? larger
                                         : k;  // of the tall matrix A or its transpose: larger x k = u s v^T
  const bool from_gram = !vectors && a.dtype == ScalarType::float32;
  const std::int64_t work_size =
      from_gram ? k * symmetric_stride(k) + symmetric_work(k) : singular_work(larger, k, u_wanted);
  const std::int64_t numbers = larger * u_wanted + k * k + k + 2 * larger * k + work_size;
  double* const u = call.temporary<double>(static_cast<std::size_t>(numbers));
  if (u == nullptr) return call.refuse(ErrorCode::out_of_memory, "no memory for a matrix");
  double* const v = u + larger * u_wanted;
  double* const s = v + k * k;
  double* const columns = s + k;  // of a wide matrix those of its transpose
  double* const work = columns + larger * k;
  double* const rows = work + work_size;
  bool finite = true;
  for_each_matrix(all, [&](std::int64_t offset, std::int64_t at) {
    double* const loaded = n >= m ? rows : columns;
    all.load(offset, loaded);
    if (!(finite = finite && are_finite(loaded, n * m))) return;
    if (n >= m && !from_gram) transpose(rows, columns, n, m);
    if (from_gram) {  // the columns of a wide matrix are its rows here
      if (n < m) transpose(columns, rows, n, m);
      singular_values_of_rows(rows, larger, k, s, work, work + k * symmetric_stride(k));
      return store_numbers(call, 1, at * k, s, k);
    }
    singular_values(columns, larger, k, u, u_wanted, s, v, work);
    store_numbers(call, 1, at * k, s, k);
    if (!vectors) return;
    // the columns of u and v are orthogonal; a wide matrix is v s u^T
    const double* const left = n >= m ? u : v;
    store_numbers(call, 0, at * n * u_columns, left, n * u_columns);
    const double* const right = n >= m ? v : u;
    for (std::int64_t i = 0; i < v_rows; ++i)
      for (std::int64_t j = 0; j < m; ++j) store_numbers(call, 2, (at * v_rows + i) * m + j, right + j * v_rows + i, 1);
  });
  return finite ? ErrorCode::ok
                : call.refuse(ErrorCode::failed, "singular values: a matrix has a number that is not finite");
}

/// linalg_matrix_exp(self) by the series of matrix / 2^k, squared k times. Source: at::linalg_matrix_exp.
[[nodiscard]] inline ErrorCode matrix_exp(KernelCall& call) {
  const TensorView& a = call.tensor(0);
  if (const ErrorCode code = check_matrices(call, 0, true); code != ErrorCode::ok) return code;
  if (const ErrorCode code = call.make_like(0, a); code != ErrorCode::ok) return code;
  const Matrices all(a, false);
  const std::int64_t n = all.rows(), count = n * n;
  return dispatch_algebra(call, a.dtype, [&]<class T>() {
    T* const x = call.temporary<T>(static_cast<std::size_t>(4 * count));
    if (x == nullptr) return call.refuse(ErrorCode::out_of_memory, "no memory for a matrix");
    for_each_matrix(all, [&](std::int64_t offset, std::int64_t at) {
      all.load(offset, x);
      exponential(x, n, x + count);
      store_numbers(call, 0, at * count, x + count, count);
    });
    return ErrorCode::ok;
  });
}
/// _linalg_check_errors(info, api_name, *, is_matrix): returns an error if a factorization failed. Source:
/// at::_linalg_check_errors.
[[nodiscard]] inline ErrorCode check_errors(KernelCall& call) {
  const TensorView& info = call.tensor(0);
  if (info.dtype != ScalarType::int32) return call.refuse(ErrorCode::invalid_dtype, "infos are int32");
  bool failed = false;
  if (info.numel() != 0)
    for_each_index<1>(info.sizes(), {strides_of(info)},
                      [&](std::int64_t at) { failed = failed || info.as<std::int32_t>()[at] != 0; });
  return failed ? call.refuse(ErrorCode::invalid_argument, "a matrix is singular, or not positive-definite")
                : ErrorCode::ok;
}

}  // namespace detail

inline constexpr auto linear_algebra_ops = std::to_array<OpRow>({
    {"aten._linalg_check_errors.default", detail::check_errors},
    {"aten._linalg_det.default", detail::lu_factors<detail::FromLu::determinant>},
    {"aten._linalg_eigh.default", detail::eigh},
    {"aten._linalg_slogdet.default", detail::lu_factors<detail::FromLu::log_determinant>},
    {"aten._linalg_solve_ex.default", detail::solve},
    {"aten._linalg_svd.default", detail::svd},
    {"aten.linalg_cholesky_ex.default", detail::cholesky},
    {"aten.linalg_inv_ex.default", detail::inverse},
    {"aten.linalg_lu_factor_ex.default", detail::lu_factors<detail::FromLu::factors>},
    {"aten.linalg_matrix_exp.default", detail::matrix_exp},
    {"aten.linalg_qr.default", detail::qr},
    {"aten.linalg_solve_triangular.default", detail::solve_triangular},
});

}  // namespace davit::portable_kernels
