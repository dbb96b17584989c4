// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Fourier transforms, whole and short-time, and window functions.
inline constexpr OperatorRow fourier[] = {
    // clang-format off
    {.schema = "aten._fft_c2c.default(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor"sv},
    {.schema = "aten._fft_c2r.default(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor"sv},
    {.schema = "aten._fft_r2c.default(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor"sv},
    {.rule = R"(aten.bartlett_window.default(window_length, dtype=none): $bartlett(window_length, true, outtype))"sv},
    {.rule = R"(aten.bartlett_window.periodic(window_length, periodic, dtype=none):
       $bartlett(window_length, periodic, outtype))"sv},
    {.rule = R"(aten.blackman_window.default(window_length, dtype=none):
       $cosines(window_length, true, 0.42, 0.5, 0.08, outtype))"sv},
    {.rule = R"(aten.blackman_window.periodic(window_length, periodic, dtype=none):
       $cosines(window_length, periodic, 0.42, 0.5, 0.08, outtype))"sv},
    {.rule = R"(aten.fft_fft.default(self, n=none, dim=-1, norm=none):
       $fft_complex($fft_sized(self, n, dim), [wrap(dim, rank(self))], norm, true))"sv},
    {.rule = R"(aten.fft_fft2.default(self, s=none, dim=[-2, -1], norm=none):
       d = $fft_dims(self, s, dim);
       $fft_complex($fft_cut(self, s, d), d, norm, true))"sv},
    {.rule = R"(aten.fft_fftfreq.default(n, d=1.0, dtype=none):
       i = arange.start_step(0, n, 1);
       cast(where(i < (n + 1) // 2, i, i - n), outtype) * (1.0 / (float(n) * d)))"sv},
    {.rule = R"(aten.fft_fftn.default(self, s=none, dim=none, norm=none):
       d = $fft_dims(self, s, dim);
       $fft_complex($fft_cut(self, s, d), d, norm, true))"sv},
    {.rule = R"(aten.fft_fftshift.default(self, dim=none):
       d = $dims(self, dim);
       roll(self, [i in d: size(self, i) // 2], d))"sv},
    {.rule = R"(aten.fft_hfft.default(self, n=none, dim=-1, norm=none):
       $hermitian(self, n == none ? none : [n], [dim], norm))"sv},
    {.rule = R"(aten.fft_hfft2.default(self, s=none, dim=[-2, -1], norm=none): $hermitian(self, s, dim, norm))"sv},
    {.rule = R"(aten.fft_hfftn.default(self, s=none, dim=none, norm=none): $hermitian(self, s, dim, norm))"sv},
    {.rule = R"(aten.fft_ifft.default(self, n=none, dim=-1, norm=none):
       $fft_complex($fft_sized(self, n, dim), [wrap(dim, rank(self))], norm, false))"sv},
    {.rule = R"(aten.fft_ifft2.default(self, s=none, dim=[-2, -1], norm=none):
       d = $fft_dims(self, s, dim);
       $fft_complex($fft_cut(self, s, d), d, norm, false))"sv},
    {.rule = R"(aten.fft_ifftn.default(self, s=none, dim=none, norm=none):
       d = $fft_dims(self, s, dim);
       $fft_complex($fft_cut(self, s, d), d, norm, false))"sv},
    {.rule = R"(aten.fft_ifftshift.default(self, dim=none):
       d = $dims(self, dim);
       roll(self, [i in d: -(size(self, i) // 2)], d))"sv},
    {.rule = R"(aten.fft_ihfft.default(self, n=none, dim=-1, norm=none):
       $unhermitian(self, n == none ? none : [n], [dim], norm))"sv},
    {.rule = R"(aten.fft_ihfft2.default(self, s=none, dim=[-2, -1], norm=none): $unhermitian(self, s, dim, norm))"sv},
    {.rule = R"(aten.fft_ihfftn.default(self, s=none, dim=none, norm=none): $unhermitian(self, s, dim, norm))"sv},
    {.rule = R"(aten.fft_irfft.default(self, n=none, dim=-1, norm=none):
       k = n == none ? 2 * (size(self, dim) - 1) : n;
       $fft_back($fft_sized(self, k // 2 + 1, dim), [wrap(dim, rank(self))], norm, k))"sv},
    {.rule = R"(aten.fft_irfft2.default(self, s=none, dim=[-2, -1], norm=none): $fft_inverse(self, s, dim, norm))"sv},
    {.rule = R"(aten.fft_irfftn.default(self, s=none, dim=none, norm=none): $fft_inverse(self, s, dim, norm))"sv},
    {.rule = R"(aten.fft_rfft.default(self, n=none, dim=-1, norm=none):
       $fft_real($fft_sized(self, n, dim), [wrap(dim, rank(self))], norm))"sv},
    {.rule = R"(aten.fft_rfft2.default(self, s=none, dim=[-2, -1], norm=none):
       d = $fft_dims(self, s, dim);
       $fft_real($fft_cut(self, s, d), d, norm))"sv},
    {.rule = R"(aten.fft_rfftfreq.default(n, d=1.0, dtype=none):
       cast(arange.start_step(0, n // 2 + 1, 1), outtype) * (1.0 / (float(n) * d)))"sv},
    {.rule = R"(aten.fft_rfftn.default(self, s=none, dim=none, norm=none):
       d = $fft_dims(self, s, dim);
       $fft_real($fft_cut(self, s, d), d, norm))"sv},
    {.rule = R"(aten.hamming_window.default(window_length, dtype=none):
       $cosines(window_length, true, 0.54, 0.46, 0, outtype))"sv},
    {.rule = R"(aten.hamming_window.periodic(window_length, periodic, dtype=none):
       $cosines(window_length, periodic, 0.54, 0.46, 0, outtype))"sv},
    {.rule = R"(aten.hamming_window.periodic_alpha(window_length, periodic, alpha, dtype=none):
       $cosines(window_length, periodic, alpha, 0.46, 0, outtype))"sv},
    {.rule = R"(aten.hamming_window.periodic_alpha_beta(window_length, periodic, alpha, beta, dtype=none):
       $cosines(window_length, periodic, alpha, beta, 0, outtype))"sv},
    {.rule = R"(aten.hann_window.default(window_length, dtype=none):
       $cosines(window_length, true, 0.5, 0.5, 0, outtype))"sv},
    {.rule = R"(aten.hann_window.periodic(window_length, periodic, dtype=none):
       $cosines(window_length, periodic, 0.5, 0.5, 0, outtype))"sv},
    {.rule = R"(aten.istft.default(self, n_fft, hop_length=none, win_length=none, window=none, center=true,
           normalized=false, onesided=none, length=none, return_complex=false):
       x = rank(self) == 2 ? unsqueeze(self, 0) : self;
       one = onesided == none ? size(x, 1) != n_fft : onesided;
       t = size(x, 2);
       p = $part(x);
       c = one && !return_complex ? permute(x, [0, 2, 1]) : fail(0);
       f = _fft_c2r(c, [2], normalized ? 1 : 2, n_fft, sizes=[size(x, 0), t, n_fft], as=p);
       w = window == none ? full([n_fft], 1.0, dtype=p) :
         size(window, 0) == n_fft ? window :
         constant_pad_nd(window, [(n_fft - size(window, 0)) // 2,
           n_fft - size(window, 0) - (n_fft - size(window, 0)) // 2], 0);
       h = hop_length == none ? n_fft // 4 : hop_length;
       y = $overlap(permute(f * w, [0, 2, 1]), n_fft, t, h);
       e = $overlap(expand(view(w * w, [1, n_fft, 1]), [1, n_fft, t]), n_fft, t, h);
       s = center ? n_fft // 2 : 0;
       l = n_fft + h * (t - 1);
       q = length != none ? s + length : center ? l - n_fft // 2 : l;
       r = q > l ? constant_pad_nd(slice.Tensor(y / e, 1, s, l), [0, q - l], 0) : slice.Tensor(y / e, 1, s, q);
       rank(self) == 2 ? squeeze.dims(r, [0]) : r)"sv},
    {.rule = R"(aten.kaiser_window.beta(window_length, periodic, beta, dtype=none):
       $kaiser(window_length, periodic, beta, outtype))"sv},
    {.rule = R"(aten.kaiser_window.default(window_length, dtype=none): $kaiser(window_length, true, 12.0, outtype))"sv},
    {.rule = R"(aten.kaiser_window.periodic(window_length, periodic, dtype=none):
       $kaiser(window_length, periodic, 12.0, outtype))"sv},
    {.rule = R"(aten.stft.default(self, n_fft, hop_length=none, win_length=none, window=none, normalized=false,
           onesided=none, return_complex=none):
       x = rank(self) == 1 ? unsqueeze(self, 0) : self;
       h = hop_length == none ? n_fft // 4 : hop_length;
       w = window == none || size(window, 0) == n_fft ? window :
         constant_pad_nd(window, [(n_fft - size(window, 0)) // 2,
           n_fft - size(window, 0) - (n_fft - size(window, 0)) // 2], 0);
       t = (size(x, 1) - n_fft) // h + 1;
       f = unfold(x, 1, n_fft, h, sizes=[size(x, 0), t, n_fft], as=dtype(x));
       g = w == none ? f : f * w;
       o = onesided == none || onesided;
       c = _fft_r2c(g, [2], normalized ? 1 : 0, o, sizes=[size(x, 0), t, o ? n_fft // 2 + 1 : n_fft],
           as=dtype(x) == float64 ? complex128 : complex64);
       r = permute(c, [0, 2, 1]);
       v = rank(self) == 1 ? squeeze.dims(r, [0]) : r;
       return_complex ? v : view_as_real(v, sizes=dims(v) + [2], as=dtype(x)))"sv},

    // shared sub-rules
    {.rule = R"($bartlett(n, periodic, type):
       m = periodic ? n : max(n - 1, 1);
       n == 1 ? full([1], 1.0, dtype=type) : 1 - abs(arange.start_step(0, n, 1, dtype=type) * (2.0 / m) - 1))"sv},
    {.rule = R"($cosines(n, periodic, a, b, c, type):
       m = periodic ? n : max(n - 1, 1);
       k = arange.start_step(0, n, 1, dtype=type) * (6.283185307179586 / m);
       w = cos(k) * -b + a;
       n == 1 ? full([1], 1.0, dtype=type) : c == 0 ? w : w + cos(k * 2) * c)"sv},
    {.rule = R"($fft_back(x, dims, norm, n):
       _fft_c2r($of_complex(x), dims, $fft_mode(norm, false), n, sizes=out, as=outtype))"sv},
    {.rule = R"($fft_complex(x, dims, norm, forward):
       forward && !iscomplex(x) ? _fft_r2c($of_floats(x), dims, $fft_mode(norm, true), false, sizes=out, as=outtype) :
         _fft_c2c($of_complex(x), dims, $fft_mode(norm, forward), forward, sizes=out, as=outtype))"sv},
    {.rule = R"($fft_cut(x, s, d):
       s == none ? x : fold(a: x; i in range(0, len(d)): $fft_sized(a, s[i] < 0 ? none : s[i], d[i])))"sv},
    {.rule = R"($fft_dims(x, s, dim):
       dim == none && s != none ? range(rank(x) - len(s), rank(x)) : wrap($dims(x, dim), rank(x)))"sv},
    {.rule = R"($fft_inverse(x, s, dim, norm):
       d = $fft_dims(x, s, dim);
       k = s == none || s[-1] < 0 ? 2 * (size(x, d[-1]) - 1) : s[-1];
       $fft_back($fft_cut(x, s == none ? none : s[:-1] + [k // 2 + 1], d), d, norm, k))"sv},
    {.rule = R"($fft_mode(norm, forward): norm == 'ortho' ? 1 : (norm == 'forward') == forward ? 2 : 0)"sv},
    {.rule = R"($fft_real(x, dims, norm):
       _fft_r2c($of_floats(x), dims, $fft_mode(norm, true), true, sizes=out, as=outtype))"sv},
    {.rule = R"($fft_sized(x, n, dim):
       d = wrap(dim, rank(x));
       k = size(x, d);
       n == none || n == k ? x :
         isfixed(n) && isfixed(k) && n < k ? slice.Tensor(x, d, 0, n) :
         constant_pad_nd(x, [i in range(0, 2 * (rank(x) - 1 - d)): 0] + [0, n - k], 0))"sv},
    {.rule = R"($hermitian(x, s, dim, norm):
       d = $fft_dims(x, s, dim);
       k = s == none || s[-1] < 0 ? 2 * (size(x, d[-1]) - 1) : s[-1];
       c = $of_complex($fft_cut(x, s == none ? none : s[:-1] + [k // 2 + 1], d));
       m = $fft_mode(norm, true);
       t = len(d) == 1 ? c : _fft_c2c(c, d[:-1], m, true, sizes=dims(c), as=dtype(c));
       _fft_c2r(conj(t), [d[-1]], m, k, sizes=out, as=outtype))"sv},
    {.rule = R"($kaiser(n, periodic, beta, type):
       m = periodic ? n : max(n - 1, 1);
       k = arange.start_step(0, n, 1, dtype=type) * (2.0 / m) - 1;
       n == 1 ? full([1], 1.0, dtype=type) :
         i0(sqrt(clamp(1 - k * k, 0)) * beta, sizes=out, as=type)
           / i0(full([], beta, dtype=type), sizes=[], as=type))"sv},
    {.rule = R"($of_complex(x): y = $of_floats(x); iscomplex(y) ? y : complex(y, zeros_like(y)))"sv},
    {.rule = R"($overlap(x, k, t, h):
       l = k + h * (t - 1);
       reshape(col2im(x, [1, l], [1, k], [1, 1], [0, 0], [1, h], sizes=[size(x, 0), 1, 1, l], as=dtype(x)),
           [size(x, 0), l]))"sv},
    {.rule = R"($unhermitian(x, s, dim, norm):
       d = $fft_dims(x, s, dim);
       y = $of_floats($fft_cut(x, s, d));
       m = $fft_mode(norm, false);
       t = conj(_fft_r2c(y, [d[-1]], m, true, sizes=set(dims(y), d[-1], size(y, d[-1]) // 2 + 1), as=outtype));
       len(d) == 1 ? t : _fft_c2c(t, d[:-1], m, false, sizes=out, as=outtype))"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts fourier_facts[] = {
    // clang-format off
    {.name = "aten.fft_fft"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.fft_fft2"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.fft_fftn"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.fft_hfft"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.fft_ifft"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.fft_ifft2"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.fft_ifftn"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.fft_ihfft"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.fft_irfft"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.fft_irfft2"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.fft_irfftn"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.fft_rfft"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.fft_rfft2"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.fft_rfftn"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.stft"sv, .autocast = AutocastPolicy::full},
    // clang-format on
};

}  // namespace davit::operator_families
