// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Linear algebra: factorizations, solving, determinants, norms of matrices.
inline constexpr OperatorRow linear_algebra[] = {
    // clang-format off
    {.schema = "aten._linalg_check_errors.default(Tensor info, str api_name, *, bool is_matrix) -> ()"sv},
    {.schema = "aten._linalg_det.default(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)"sv},
    {.schema = "aten._linalg_eigh.default(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, "
               "Tensor eigenvectors)"sv},
    {.schema = "aten._linalg_slogdet.default(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)"sv},
    {.schema = "aten._linalg_solve_ex.default(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) "
               "-> (Tensor result, Tensor LU, Tensor pivots, Tensor info)"sv},
    {.schema = "aten._linalg_svd.default(Tensor A, bool full_matrices=False, bool compute_uv=True, *, "
               "str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)"sv},
    {.rule = R"(aten._lu_with_info.default(self, pivot=true, check_errors=true):
       linalg_lu_factor_ex(self, pivot=pivot, check_errors=check_errors))"sv},
    {.rule = R"(aten.adjoint.default(self): transpose.int(self, -2, -1))"sv,
     .complex_rule = R"(aten.adjoint.default(self): conj(transpose.int(self, -2, -1)))"sv},
    {.rule = R"(aten.block_diag.default(tensors):
       m = [t in tensors: atleast_2d(t)];
       w = fold(a: 0; t in m: a + size(t, 1));
       e = fold(a: [0]; t in m: a + [a[-1] + size(t, 1)]);
       cat([i in range(0, len(m)): constant_pad_nd(m[i], [e[i], w - e[i + 1]], 0)], 0))"sv},
    {.rule = R"(aten.cholesky.default = aten.linalg_cholesky.default)"sv},
    {.rule = R"(aten.cholesky_inverse.default(self, upper=false):
       cholesky_solve(expand(eye(size(self, -1), dtype=dtype(self)), sizes(self)), self, upper))"sv},
    {.rule = R"(aten.cholesky_solve.default(self, input2, upper=false):
       a = upper ? $adjoint(input2) : input2;
       y = linalg_solve_triangular(a, self, upper=false, sizes=out, as=dtype(self));
       linalg_solve_triangular($adjoint(a), y, upper=true, sizes=out, as=dtype(self)))"sv},
    {.rule = R"(aten.cross.default(self, other, dim=none):
       linalg_cross(self, other, dim == none ? compact([d in range(0, rank(self)): size(self, d) == 3 ? d : none])[0] :
           dim))"sv},
    {.rule = R"(aten.det.default(self): linalg_det(self))"sv},
    {.rule = R"(aten.frobenius_norm.dim(self, dim, keepdim=false): linalg_vector_norm(self, 2, dim, keepdim))"sv,
     .form = "aten.frobenius_norm.out = aten.frobenius_norm.dim"sv},
    {.rule = R"(aten.inverse.default(self): linalg_inv.default(self))"sv},
    {.rule = R"(aten.linalg_cholesky.default(self, upper=false):
       linalg_cholesky_ex(self, upper, true, sizes=[dims(self), dims(self)[:-2]], as=[dtype(self), int32])[0])"sv},
    {.schema = "aten.linalg_cholesky_ex.default(Tensor self, *, bool upper=False, bool check_errors=False) "
               "-> (Tensor L, Tensor info)"sv},
    {.rule = R"(aten.linalg_cond.default(self, p=none):
       s = linalg_svdvals(self);
       k = size(s, -1) - 1;
       p == none || p == 2 ? select.int(s, -1, 0) / select.int(s, -1, k) :
         p == -2 ? select.int(s, -1, k) / select.int(s, -1, 0) :
         fail(0))"sv},
    {.rule = R"(aten.linalg_cross.default(self, other, dim=-1):
       d = [wrap(dim, max(rank(self), rank(other)))];
       x = expand(self, joint([self, other], 0));
       y = expand(other, joint([self, other], 0));
       roll(x, [-1], d) * roll(y, [-2], d) - roll(x, [-2], d) * roll(y, [-1], d))"sv},
    {.rule = R"(aten.linalg_det.default(A):
       _linalg_det(A, sizes=[dims(A)[:-2], dims(A), dims(A)[:-1]], as=[dtype(A), dtype(A), int32])[0])"sv},
    {.rule = R"(aten.linalg_diagonal.default(A, offset=0, dim1=-2, dim2=-1): diagonal(A, offset, dim1, dim2))"sv},
    {.rule = R"(aten.linalg_eigh.default(self, UPLO='L'):
       _linalg_eigh(self, UPLO, true, sizes=[dims(self)[:-1], dims(self)], as=dtype(self)))"sv},
    {.rule = R"(aten.linalg_eigvalsh.default(self, UPLO='L'):
       _linalg_eigh(self, UPLO, false, sizes=[dims(self)[:-1], [0]], as=dtype(self))[0])"sv},
    {.rule = R"(aten.linalg_householder_product.default(input, tau):
       e = expand(cast(eye.m(size(input, -2), size(input, -1)), dtype(input)), sizes(input));
       $reflections(input, tau, e, reversed(range(0, size(tau, -1))), false))"sv},
    {.rule = R"(aten.linalg_inv.default(A):
       linalg_inv_ex(A, true, sizes=[dims(A), dims(A)[:-2]], as=[dtype(A), int32])[0])"sv},
    {.schema = "aten.linalg_inv_ex.default(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)"sv},
    {.rule = R"(aten.linalg_lu.default(A, pivot=true):
       d = dims(A);
       r = linalg_lu_factor_ex(A, pivot=pivot, sizes=[d, d[:-2] + [min(d[-2], d[-1])], d[:-2]],
           as=[dtype(A), int32, int32]);
       pivot ? [$lu_rows(r[0], r[1]), $lu_lower(r[0]), $lu_upper(r[0])] : fail(0))"sv},
    {.rule = R"(aten.linalg_lu_factor.default(A, pivot=true):
       linalg_lu_factor_ex(A, pivot, true,
           sizes=[dims(A), dims(A)[:-2] + [min(dims(A)[-2], dims(A)[-1])], dims(A)[:-2]],
           as=[dtype(A), int32, int32])[:2])"sv},
    {.schema = "aten.linalg_lu_factor_ex.default(Tensor A, *, bool pivot=True, bool check_errors=False) "
               "-> (Tensor LU, Tensor pivots, Tensor info)"sv},
    {.rule = R"(aten.linalg_lu_solve.default(LU, pivots, B, left=true, adjoint=false):
       p = $lu_rows(LU, pivots);
       left ? (adjoint ? matmul(p, $triangular($adjoint(LU), $triangular($adjoint(LU), B, false, false), true, true)) :
           $triangular(LU, $triangular(LU, matmul(transpose.int(p, -2, -1), B), false, true), true, false)) :
         fail(0))"sv},
    {.schema = "aten.linalg_matrix_exp.default(Tensor self) -> Tensor"sv},
    {.rule = R"(aten.linalg_matrix_norm.default(self, ord, dim=[-2, -1], keepdim=false, dtype=none)^:
       x = cast(self, dtype);
       d = wrap(dim, rank(self));
       ord == 2 ? $kept(amax($singular(x, d), [-1]), d, keepdim) :
         ord == -2 ? $kept(amin($singular(x, d), [-1]), d, keepdim) :
         $matrix_norm(abs(x), ord, d, keepdim))"sv},
    {.rule = R"(aten.linalg_matrix_norm.str_ord(self, ord='fro', dim=[-2, -1], keepdim=false, dtype=none):
       linalg_norm.ord_str(self, ord, dim, keepdim, dtype))"sv},
    {.rule = R"(aten.linalg_matrix_power.default = aten.matrix_power.default)"sv},
    {.rule = R"(aten.linalg_matrix_rank.atol_rtol_float(self, atol=none, rtol=none, hermitian=false):
       $matrix_rank(self, atol, rtol, hermitian))"sv},
    {.rule = R"(aten.linalg_matrix_rank.atol_rtol_tensor(input, atol=none, rtol=none, hermitian=false):
       s = linalg_svdvals(input);
       sum.dim_IntList(s > $cutoff(input, s, atol, rtol), [-1]))"sv},
    {.rule = R"(aten.linalg_matrix_rank.default(self, tol, hermitian=false):
       $matrix_rank(self, tol, 0.0, hermitian))"sv},
    {.rule = R"(aten.linalg_norm.default(self, ord=none, dim=none, keepdim=false, dtype=none):
       ord == none ? linalg_vector_norm(self, 2, dim, keepdim, dtype) :
         dim != none && islist(dim) && len(dim) == 2 ? linalg_matrix_norm(self, ord, dim, keepdim, dtype) :
         dim == none && rank(self) == 2 ? linalg_matrix_norm(self, ord, [-2, -1], keepdim, dtype) :
         linalg_vector_norm(self, ord, dim, keepdim, dtype))"sv},
    {.rule = R"(aten.linalg_norm.ord_str(self, ord, dim=none, keepdim=false, dtype=none):
       d = wrap(dim == none ? [-2, -1] : dim, rank(self));
       ord == 'fro' ? linalg_vector_norm(self, 2, d, keepdim, dtype) :
         $kept(sum.dim_IntList($singular(cast(self, dtype), d), [-1]), d, keepdim))"sv},
    {.rule = R"(aten.linalg_pinv.atol_rtol_float(self, atol=none, rtol=none, hermitian=false):
       $pinv(hermitian ? $mirrored(self) : self, atol, rtol))"sv},
    {.rule = R"(aten.linalg_pinv.atol_rtol_tensor(self, atol=none, rtol=none, hermitian=false):
       r = $svd(hermitian ? $mirrored(self) : self, false);
       i = where(r[1] > $cutoff(self, r[1], atol, rtol), reciprocal(r[1]), 0.0);
       matmul(transpose.int(r[2], -2, -1) * unsqueeze(i, -2), transpose.int(r[0], -2, -1)))"sv},
    {.rule = R"(aten.linalg_pinv.default(self, rcond=1e-15, hermitian=false):
       $pinv(hermitian ? $mirrored(self) : self, none, rcond))"sv},
    {.schema = "aten.linalg_qr.default(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)"sv},
    {.rule = R"(aten.linalg_slogdet.default(A): $slogdet(A))"sv},
    {.rule = R"(aten.linalg_solve.default(A, B, left=true):
       _linalg_solve_ex(A, B, left, true, sizes=[out, dims(A), dims(A)[:-1], dims(A)[:-2]],
           as=[dtype(A), dtype(A), int32, int32])[0])"sv},
    {.rule = R"(aten.linalg_solve_ex.default(A, B, left=true, check_errors=false):
       r = _linalg_solve_ex(A, B, left, check_errors, sizes=[out, dims(A), dims(A)[:-1], dims(A)[:-2]],
           as=[dtype(A), dtype(A), int32, int32]);
       [r[0], r[3]])"sv},
    {.schema = "aten.linalg_solve_triangular.default(Tensor self, Tensor B, *, bool upper, bool left=True, "
               "bool unitriangular=False) -> Tensor"sv},
    {.rule = R"(aten.linalg_svd.default(A, full_matrices=true, driver=none): $svd(A, full_matrices))"sv},
    {.rule = R"(aten.linalg_svdvals.default(A, driver=none):
       _linalg_svd(A, false, false, sizes=[[0], dims(A)[:-2] + [min(dims(A)[-2], dims(A)[-1])], [0]],
           as=dtype(A))[1])"sv},
    {.rule = R"(aten.linalg_tensorinv.default(self, ind=2):
       s = sizes(self);
       n = product(s[:ind]);
       reshape(linalg_inv(reshape(self, [n, n])), s[ind:] + s[:ind]))"sv},
    {.rule = R"(aten.linalg_tensorsolve.default(self, other, dims=none):
       k = rank(self);
       a = dims == none ? self : permute(self, moved(k, dims, range(k - len(dims), k)));
       n = product(sizes(other));
       r = _linalg_solve_ex(reshape(a, [n, n]), reshape(other, [n, 1]), true, true, sizes=[[n, 1], [n, n], [n], []],
           as=[dtype(self), dtype(self), int32, int32])[0];
       reshape(r, out))"sv},
    {.rule = R"(aten.linalg_vander.default(x, N=none):
       v = rank(x) == 0 ? reshape(x, [1]) : x;
       pow.Tensor_Tensor(unsqueeze(v, -1), arange.start_step(0, N == none ? size(v, -1) : N)))"sv},
    {.rule = R"(aten.linalg_vector_norm.default(self, ord=2, dim=none, keepdim=false, dtype=none)^:
       x = cast(self, dtype);
       d = $dims(x, dim);
       a = abs(x);
       ord == inf ? amax(a, d, keepdim) :
         ord == -inf ? amin(a, d, keepdim) :
         ord == 0 ? sum.dim_IntList(cast(x != 0, dtype(x)), d, keepdim) :
         ord == 1 ? sum.dim_IntList(a, d, keepdim) :
         ord == 2 ? sqrt(sum.dim_IntList(x * x, d, keepdim)) :
         pow.Tensor_Scalar(sum.dim_IntList(pow.Tensor_Scalar(a, ord), d, keepdim), 1.0 / ord))"sv,
     .complex_rule = R"(aten.linalg_vector_norm.default(self, ord=2, dim=none, keepdim=false, dtype=none):
       linalg_vector_norm(abs(self), ord, dim, keepdim, dtype))"sv},
    {.rule = R"(aten.logdet.default(self): r = $slogdet(self); where(r[0] == -1, nan, r[1]))"sv},
    {.rule = R"(aten.lu_solve.default(self, LU_data, LU_pivots): linalg_lu_solve(LU_data, LU_pivots, self))"sv},
    {.rule = R"(aten.lu_unpack.default(LU_data, LU_pivots, unpack_data=true, unpack_pivots=true):
       n = full([0], 0, dtype=dtype(LU_data));
       [unpack_pivots ? $lu_rows(LU_data, LU_pivots) : n, unpack_data ? $lu_lower(LU_data) : n,
           unpack_data ? $lu_upper(LU_data) : n])"sv},
    {.rule = R"(aten.mH.default(self): transpose.int(self, -2, -1))"sv,
     .complex_rule = R"(aten.mH.default = aten.adjoint.default)"sv},
    {.rule = R"(aten.mT.default(self): transpose.int(self, -2, -1))"sv},
    {.rule = R"(aten.matrix_H.default(self): permute(self, [1, 0]))"sv,
     .complex_rule = R"(aten.matrix_H.default = aten.adjoint.default)"sv},
    {.rule = R"(aten.matrix_exp.default = aten.linalg_matrix_exp.default)"sv},
    {.rule = R"(aten.matrix_power.default(self, n):
       n < -64 || n > 64 ? fail(0) :
         n < 0 ? matrix_power(linalg_inv(self), -n) :
         n == 0 ? expand(eye(size(self, -1), dtype=dtype(self)), sizes(self)) :
         fold(a: self; i in range(1, n): matmul(a, self)))"sv},
    {.rule = R"(aten.nuclear_norm.default(self, keepdim=false):
       reshape(sum.dim_IntList(linalg_svdvals(self), [-1]), out))"sv},
    {.rule = R"(aten.nuclear_norm.dim(self, dim, keepdim=false):
       reshape(sum.dim_IntList($singular(self, dim), [-1]), out))"sv},
    {.rule = R"(aten.numpy_T.default(self): permute(self, reversed(range(0, rank(self)))))"sv},
    {.rule = R"(aten.orgqr.default(self, input2): linalg_householder_product(self, input2))"sv},
    {.rule = R"(aten.ormqr.default(self, input2, input3, left=true, transpose=false):
       k = range(0, size(input2, -1));
       left ? $reflections(self, input2, input3, transpose ? k : reversed(k), transpose) :
         $adjoint($reflections(self, input2, $adjoint(input3), transpose ? reversed(k) : k, !transpose)))"sv},
    {.rule = R"(aten.pinverse.default(self, rcond=1e-15): $pinv(self, none, rcond))"sv},
    {.rule = R"(aten.qr.default(self, some=true): linalg_qr(self, some ? 'reduced' : 'complete'))"sv},
    {.rule = R"(aten.slogdet.default(self): $slogdet(self))"sv},
    {.rule = R"(aten.svd.default(self, some=true, compute_uv=true):
       r = $svd(self, some == false);
       compute_uv ? [r[0], r[1], transpose.int(r[2], -2, -1)] : fail(0))"sv},
    {.rule = R"(aten.trace.default(self):
       cast(sum(diagonal(self, sizes=[min(size(self, 0), size(self, 1))], as=dtype(self))), outtype))"sv},
    {.rule = R"(aten.triangular_solve.default(self, A, upper=true, transpose=false, unitriangular=false):
       [linalg_solve_triangular(transpose ? transpose.int(A, -2, -1) : A, self, upper=upper != transpose,
           unitriangular=unitriangular, sizes=out, as=dtype(A)), A])"sv},
    {.rule = R"(aten.vander.default(x, N=none, increasing=false):
       v = pow.Tensor_Tensor(unsqueeze(x, -1), arange.start_step(0, N == none ? size(x, 0) : N));
       increasing ? v : flip(v, [-1]))"sv},

    // shared sub-rules
    {.rule = R"($adjoint(x): conj(transpose.int(x, -2, -1)))"sv},
    {.rule = R"($cutoff(a, s, atol, rtol):
       e = rtol == none ? (atol == none ?
           float(max(size(a, -1), size(a, -2)))
           * (dtype(a) == float64 ? 2.220446049250313e-16 : 1.1920928955078125e-07) : 0.0) :
         rtol;
       l = amax(s, [-1], true) * e;
       atol == none ? l : maximum(l, cast(atol, dtype(s))))"sv},
    {.rule = R"($exchanged(q, i, j):
       a = arange.start_step(0, size(q, -1));
       where(a == i, gather(q, -1, j), where(a == j, narrow(q, -1, i, 1), q)))"sv},
    {.rule = R"($kept(x, dims, keepdim): keepdim ? $spread(x, dims) : x)"sv},
    {.rule = R"($lu_lower(x):
       k = min(size(x, -2), size(x, -1));
       where(unsqueeze(arange.start_step(0, size(x, -2)), 1) == arange.start_step(0, k), 1.0,
           tril(narrow(x, -1, 0, k), -1)))"sv},
    {.rule = R"($lu_rows(x, pivots):
       m = size(x, -2);
       q = fold(a: expand(arange.start_step(0, m), sizes(x)[:-2] + [m]);
           i in range(0, size(pivots, -1)): $exchanged(a, i, cast(narrow(pivots, -1, i, 1), int64) - 1));
       cast(unsqueeze(arange.start_step(0, m), 1) == unsqueeze(q, -2), dtype(x)))"sv},
    {.rule = R"($lu_upper(x): triu(narrow(x, -2, 0, min(size(x, -2), size(x, -1)))))"sv},
    {.rule = R"($matrix_norm(x, ord, d, keepdim):
       a = ord == inf || ord == -inf ? [d[1], d[0]] : [d[0], d[1]];
       s = sum.dim_IntList(x, [a[0]], true);
       r = ord == inf || ord == 1 ? amax(s, [a[1]], true) : ord == -inf || ord == -1 ? amin(s, [a[1]], true) : fail(0);
       keepdim ? r : squeeze.dims(r, d))"sv},
    {.rule = R"($matrix_rank(a, atol, rtol, hermitian):
       s = hermitian ? abs(linalg_eigvalsh(a)) : linalg_svdvals(a);
       e = rtol == none ? (atol == none || atol == 0 ?
           float(max(size(a, -1), size(a, -2)))
           * (dtype(a) == float64 ? 2.220446049250313e-16 : 1.1920928955078125e-07) : 0.0) :
         rtol;
       l = clamp(amax(s, [-1], true) * e, atol == none ? 0.0 : atol);
       sum.dim_IntList(s > l, [-1]))"sv},
    {.rule = R"($mirrored(a): tril(a) + transpose.int(tril(a, -1), -2, -1))"sv},
    {.rule = R"($pinv(a, atol, rtol):
       r = $svd(a, false);
       s = r[1];
       e = rtol == none ? (atol == none ?
           float(max(size(a, -1), size(a, -2)))
           * (dtype(a) == float64 ? 2.220446049250313e-16 : 1.1920928955078125e-07) : 0.0) :
         rtol;
       l = clamp(amax(s, [-1], true) * e, atol == none ? 0.0 : atol);
       i = where(s > l, reciprocal(s), 0.0);
       matmul(transpose.int(r[2], -2, -1) * unsqueeze(i, -2), transpose.int(r[0], -2, -1)))"sv},
    {.rule = R"($reflected(q, v, t):
       w = unsqueeze(v, -1);
       q - w * unsqueeze(unsqueeze(t, -1), -1) * sum.dim_IntList(conj(w) * q, [-2], true))"sv},
    {.rule = R"($reflections(x, t, q, order, adjoint):
       r = arange.start_step(0, size(x, -2));
       fold(a: q; i in order: $reflected(a, where(r == i, 1, where(r > i, select.int(x, -1, i), 0)),
           adjoint ? conj(select.int(t, -1, i)) : select.int(t, -1, i))))"sv},
    {.rule = R"($singular(x, dim): linalg_svdvals(permute(x, moved(rank(x), dim, [-2, -1]))))"sv},
    {.rule = R"($slogdet(a):
       r = _linalg_slogdet(a, sizes=[dims(a)[:-2], dims(a)[:-2], dims(a), dims(a)[:-1]],
           as=[dtype(a), $part(a), dtype(a), int32]);
       [r[0], r[1]])"sv},
    {.rule = R"($svd(a, full):
       d = dims(a);
       k = min(d[-2], d[-1]);
       r = _linalg_svd(a, full, true, sizes=[d[:-2] + [d[-2], full ? d[-2] : k], d[:-2] + [k],
           d[:-2] + [full ? d[-1] : k, d[-1]]], as=dtype(a));
       [r[0], r[1], r[2]])"sv},
    {.rule = R"($triangular(a, b, upper, unit):
       linalg_solve_triangular(a, b, upper=upper, unitriangular=unit,
           sizes=joint([a, b], 2) + [size(b, -2), size(b, -1)], as=dtype(b)))"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts linear_algebra_facts[] = {
    // clang-format off
    {.name = "aten.adjoint"sv, .view = ViewKind::transpose, .apart = true},
    {.name = "aten.cholesky"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.cholesky_inverse"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.cholesky_solve"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.inverse"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_cholesky"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_cholesky_ex"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_cond"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_diagonal"sv, .view = ViewKind::other},
    {.name = "aten.linalg_eig"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_eigh"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_eigvals"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_eigvalsh"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_householder_product"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_inv"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_inv_ex"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_lstsq"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_matrix_rank"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_qr"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_solve"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_svd"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_svdvals"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_tensorinv"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.linalg_tensorsolve"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.mH"sv, .view = ViewKind::transpose, .apart = true},
    {.name = "aten.mT"sv, .view = ViewKind::transpose},
    {.name = "aten.matrix_H"sv, .view = ViewKind::transpose, .apart = true},
    {.name = "aten.numpy_T"sv, .view = ViewKind::transpose},
    {.name = "aten.pinverse"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.qr"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.svd"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.trace"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.triangular_solve"sv, .autocast = AutocastPolicy::full},
    // clang-format on
};

}  // namespace davit::operator_families
