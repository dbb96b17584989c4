// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string_view>

namespace davit::detail {

/// Operators for which PyTorch has kernels, and that are made of core operators here: windows, random numbers, order and indices.
inline constexpr auto primitive_rule_texts = [] {
  using namespace std::string_view_literals;
  return std::to_array<std::string_view>({
      // clang-format off
      "aten._embedding_bag_forward_only.default = aten._embedding_bag.default"sv,
      "aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default(self, scale, zero_point, fake_quant_enabled, quant_min, quant_max): q = round(self / scale) + zero_point; [fake_quantize_per_tensor_affine.tensor_qparams(self, scale, zero_point, fake_quant_enabled, quant_min, quant_max), logical_and(q >= quant_min, q <= quant_max)]"sv,
      "aten._int_mm.default(self, mat2): mm(cast(self, int32), cast(mat2, int32))"sv,
      "aten._is_all_true.default(self): logical_not(any(logical_not(self)))"sv,
      "aten._is_any_true.default(self): any(self)"sv,
      "aten.as_strided_scatter.default(self, src, size, stride, storage_offset=none): n = product(sizes(self)); i = as_strided(arange.start_step(0, n), size, stride, storage_offset == none ? 0 : storage_offset, sizes=size, as=int64); iscontiguous(self, contiguous_format) ? view(index_put(view(self, [n]), [i], src), sizes(self)) : fail(0)"sv,
      "aten.bartlett_window.default(window_length, dtype=none): $bartlett(window_length, true, outtype)"sv,
      "aten.bartlett_window.periodic(window_length, periodic, dtype=none): $bartlett(window_length, periodic, outtype)"sv,
      "aten.bernoulli.Tensor(self, p): $chance(self, p)"sv,
      "aten.bernoulli.default(self): $chance(self, self)"sv,
      "aten.bernoulli.float(self, p=0.5): $chance(self, p)"sv,
      "aten.bernoulli.p(self, p): $chance(self, p)"sv,
      "aten.bitwise_and.Scalar_Tensor(self, other): bitwise_and.Scalar(other, self)"sv,
      "aten.bitwise_or.Scalar_Tensor(self, other): bitwise_or.Scalar(other, self)"sv,
      "aten.bitwise_xor.Scalar_Tensor(self, other): bitwise_xor.Scalar(other, self)"sv,
      "aten.blackman_window.default(window_length, dtype=none): $cosines(window_length, true, 0.42, 0.5, 0.08, outtype)"sv,
      "aten.blackman_window.periodic(window_length, periodic, dtype=none): $cosines(window_length, periodic, 0.42, 0.5, 0.08, outtype)"sv,
      "aten.cauchy.default(self, median=0, sigma=1): tan((rand(sizes(self), dtype=dtype(self)) - 0.5) * 3.141592653589793) * sigma + median"sv,
      "aten.conv_tbc.default(self, weight, bias, pad=0): permute(convolution(permute(self, [1, 2, 0]), permute(weight, [2, 1, 0]), bias, [1], [pad], [1], false, [0], 1, sizes=[out[1], out[2], out[0]], as=outtype), [2, 0, 1])"sv,
      "aten.diagonal_scatter.default(self, src, offset=0, dim1=0, dim2=1): n = product(sizes(self)); i = view(arange.start_step(0, n), sizes(self)); view(index_put(reshape(self, [n]), [diagonal(i, offset, dim1, dim2, sizes=dims(src), as=int64)], src), sizes(self))"sv,
      "aten.embedding_renorm.default(self, indices, max_norm, norm_type): k = size(self, 0); n = linalg_vector_norm(self, norm_type, [1], true); t = index_put(full([k], false, dtype=bool), [reshape(indices, [product(sizes(indices))])], full([], true, dtype=bool)); where(logical_and(unsqueeze(t, 1), n > max_norm), self * (full([], max_norm, dtype=dtype(self)) / (n + 1e-07)), self)"sv,
      "aten.exponential.default(self, lambd=1): -log1p(-rand(sizes(self), dtype=dtype(self))) / lambd"sv,
      "aten.fake_quantize_per_channel_affine_cachemask.default(self, scale, zero_point, axis, quant_min, quant_max): n = [i in range(0, rank(self)): i == wrap(axis, rank(self)) ? size(self, i) : 1]; q = round(self / view(scale, n)) + view(zero_point, n); [fake_quantize_per_channel_affine(self, scale, zero_point, axis, quant_min, quant_max), logical_and(q >= quant_min, q <= quant_max)]"sv,
      "aten.fake_quantize_per_tensor_affine_cachemask.default(self, scale, zero_point, quant_min, quant_max): q = round(self * (1.0 / scale)) + zero_point; [fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max), logical_and(q >= quant_min, q <= quant_max)]"sv,
      "aten.geometric.default(self, p): r = ceil(log1p(-rand(sizes(self), dtype=float32)) / log_of(1 - p)); cast(clamp(r, 1), dtype(self))"sv,
      "aten.gradient.scalarint(self, spacing=none, dim=none, edge_order=1): h = spacing == none ? 1 : spacing; edge_order == 1 ? [d in wrap($dims(self, dim), rank(self)): $gradient(self, d, size(self, d), float(h))] : fail(0)"sv,
      "aten.hamming_window.default(window_length, dtype=none): $cosines(window_length, true, 0.54, 0.46, 0, outtype)"sv,
      "aten.hamming_window.periodic(window_length, periodic, dtype=none): $cosines(window_length, periodic, 0.54, 0.46, 0, outtype)"sv,
      "aten.hamming_window.periodic_alpha(window_length, periodic, alpha, dtype=none): $cosines(window_length, periodic, alpha, 0.46, 0, outtype)"sv,
      "aten.hamming_window.periodic_alpha_beta(window_length, periodic, alpha, beta, dtype=none): $cosines(window_length, periodic, alpha, beta, 0, outtype)"sv,
      "aten.hann_window.default(window_length, dtype=none): $cosines(window_length, true, 0.5, 0.5, 0, outtype)"sv,
      "aten.hann_window.periodic(window_length, periodic, dtype=none): $cosines(window_length, periodic, 0.5, 0.5, 0, outtype)"sv,
      "aten.histc.default(self, bins=100, min=0, max=0): x = reshape(self, [product(sizes(self))]); min == max ? $widened(x, amin(x, [0]), amax(x, [0]), bins) : $histogram(x, full([], min, dtype=dtype(x)), full([], max, dtype=dtype(x)), bins)"sv,
      "aten.kaiser_window.beta(window_length, periodic, beta, dtype=none): $kaiser(window_length, periodic, beta, outtype)"sv,
      "aten.kaiser_window.default(window_length, dtype=none): $kaiser(window_length, true, 12.0, outtype)"sv,
      "aten.kaiser_window.periodic(window_length, periodic, dtype=none): $kaiser(window_length, periodic, 12.0, outtype)"sv,
      "aten.lcm.default(self, other): t = promote(self, other); a = cast(self, t); b = cast(other, t); g = gcd(a, b); abs(div.Tensor_mode(a, where(g == 0, 1, g), 'trunc') * b)"sv,
      "aten.linalg_matrix_rank.atol_rtol_tensor(input, atol=none, rtol=none, hermitian=false): s = linalg_svdvals(input); sum.dim_IntList(s > $cutoff(input, s, atol, rtol), [-1])"sv,
      "aten.linalg_pinv.atol_rtol_tensor(self, atol=none, rtol=none, hermitian=false): r = $svd(self, false); i = where(r[1] > $cutoff(self, r[1], atol, rtol), reciprocal(r[1]), 0.0); matmul(transpose.int(r[2], -2, -1) * unsqueeze(i, -2), transpose.int(r[0], -2, -1))"sv,
      "aten.linalg_tensorinv.default(self, ind=2): s = sizes(self); n = product(s[:ind]); reshape(linalg_inv(reshape(self, [n, n])), s[ind:] + s[:ind])"sv,
      "aten.log_normal.default(self, mean=1, std=2): exp(randn(sizes(self), dtype=dtype(self)) * std + mean)"sv,
      "aten.mode.default(self, dim=-1, keepdim=false): rank(self) == 0 ? [self, full([], 0, dtype=int64)] : $mode(self, wrap(dim, rank(self)), keepdim)"sv,
      "aten.multinomial.default(self, num_samples, replacement=false): replacement ? $drawn(self, num_samples) : topk(self / -log1p(-rand(sizes(self), dtype=dtype(self))), num_samples, -1)[1]"sv,
      "aten.nanmedian.default(self): n = product(sizes(self)); $nanmiddle(reshape(self, [n]), 0, false)[0]"sv,
      "aten.nanmedian.dim(self, dim, keepdim=false): rank(self) == 0 ? [self, full([], 0, dtype=int64)] : $nanmiddle(self, wrap(dim, rank(self)), keepdim)"sv,
      "aten.nonzero_static.default(self, size, fill_value=-1): n = product(sizes(self)); m = reshape(self != 0, [n]); p = cumsum(cast(m, int64), 0) - 1; q = where(logical_and(m, p < size), p, size); f = slice.Tensor(index_put(full([size + 1], -1, dtype=int64), [q], arange.start_step(0, n)), 0, 0, size); stack([d in range(0, rank(self)): where(f < 0, fill_value, (f // product(sizes(self)[d + 1:])) % size(self, d))], 1)"sv,
      "aten.normal.Tensor_Tensor(mean, std): randn(out, dtype=outtype) * std + mean"sv,
      "aten.normal.Tensor_float(mean, std=1): randn(out, dtype=outtype) * std + mean"sv,
      "aten.normal.default(self, mean=0, std=1): randn(out, dtype=outtype) * std + mean"sv,
      "aten.normal.float_Tensor(mean, std): randn(out, dtype=outtype) * std + mean"sv,
      "aten.normal.float_float(mean, std, size, dtype=none): randn(out, dtype=outtype) * std + mean"sv,
      "aten.normal_functional.default(self, mean=0, std=1): randn(out, dtype=outtype) * std + mean"sv,
      "aten.pad_sequence.default(sequences, batch_first=false, padding_value=0.0, padding_side='right'): l = fold(a: 0; t in sequences: max(a, size(t, 0))); stack([t in sequences: $lengthened(t, l - size(t, 0), padding_side == 'left', padding_value)], batch_first ? 0 : 1)"sv,
      "aten.rand_like.default(self, dtype=none): rand(out, dtype=outtype)"sv,
      "aten.randint.default(high, size, dtype=none): $integers(0, high, out, outtype)"sv,
      "aten.randint.low(low, high, size, dtype=none): $integers(low, high, out, outtype)"sv,
      "aten.randint_like.default(self, high, dtype=none): $integers(0, high, out, outtype)"sv,
      "aten.randint_like.low_dtype(self, low, high, dtype=none): $integers(low, high, out, outtype)"sv,
      "aten.randn_like.default(self, dtype=none): randn(out, dtype=outtype)"sv,
      "aten.random.from(self, from, to): to == none ? fail(0) : $integers(from, to, out, outtype)"sv,
      "aten.random.to(self, to): $integers(0, to, out, outtype)"sv,
      "aten.range.default(start, end, dtype=none): cast(arange.start_step(0, out[0], 1, dtype=outtype) + start, outtype)"sv,
      "aten.range.step(start, end, step=1, dtype=none): cast(arange.start_step(0, out[0], 1, dtype=outtype) * step + start, outtype)"sv,
      "aten.remainder.Scalar_Tensor(self, other): remainder.Tensor(full(sizes(other), self, dtype=outtype), cast(other, outtype))"sv,
      "aten.round.decimals(self, decimals): p = fold(a: 1.0; i in range(0, max(decimals, -decimals)): a * 10); decimals < 0 ? round(self / p) * p : round(self * p) / p"sv,
      "aten.signbit.default(self): isfloat(self) ? copysign.Tensor(ones_like(self), self) < 0 : self < 0"sv,
      "aten.special_xlog1py.other_scalar(self, other): special_xlog1py.default(self, full([], other, dtype=isfloat(self) ? dtype(self) : float32))"sv,
      "aten.special_xlog1py.self_scalar(self, other): special_xlog1py.default(full([], self, dtype=isfloat(other) ? dtype(other) : float32), other)"sv,
      "aten.uniform.default(self, from=0, to=1): rand(out, dtype=outtype) * (to - from) + from"sv,
      "prims.scalar_tensor.default(s, dtype=none): full([], s, dtype=outtype)"sv,
      // clang-format on
  });
}();

/// The parts that these rules share.
inline constexpr auto primitive_helper_texts = [] {
  using namespace std::string_view_literals;
  return std::to_array<std::string_view>({
      // clang-format off
      "$bartlett(n, periodic, type): m = periodic ? n : max(n - 1, 1); n == 1 ? full([1], 1.0, dtype=type) : 1 - abs(arange.start_step(0, n, 1, dtype=type) * (2.0 / m) - 1)"sv,
      "$cells(x, n, o): r = [i in range(0, o): topk(slice.Tensor(x, -1, i * n // o, ((i + 1) * n + o - 1) // o), 1, -1)]; [cat([p in r: p[0]], -1), cat([i in range(0, o): r[i][1] + i * n // o], -1)]"sv,
      "$chance(x, p): cast(rand(sizes(x), dtype=float32) < p, dtype(x))"sv,
      "$cosines(n, periodic, a, b, c, type): m = periodic ? n : max(n - 1, 1); k = arange.start_step(0, n, 1, dtype=type) * (6.283185307179586 / m); w = cos(k) * -b + a; n == 1 ? full([1], 1.0, dtype=type) : c == 0 ? w : w + cos(k * 2) * c"sv,
      "$cutoff(a, s, atol, rtol): e = rtol == none ? (atol == none ? float(max(size(a, -1), size(a, -2))) * (dtype(a) == float64 ? 2.220446049250313e-16 : 1.1920928955078125e-07) : 0.0) : rtol; l = amax(s, [-1], true) * e; atol == none ? l : maximum(l, cast(atol, dtype(s)))"sv,
      "$drawn(p, n): c = cumsum(p, -1); u = rand(sizes(p)[:-1] + [n], dtype=dtype(p)) * slice.Tensor(c, -1, size(c, -1) - 1, size(c, -1)); clamp(searchsorted.Tensor(c, u, right=true, sizes=out, as=int64), 0, size(p, -1) - 1)"sv,
      "$gradient(x, d, n, h): a = (slice.Tensor(x, d, 1, 2) - slice.Tensor(x, d, 0, 1)) / h; b = (slice.Tensor(x, d, n - 1, n) - slice.Tensor(x, d, n - 2, n - 1)) / h; cat([a, (slice.Tensor(x, d, 2, n) - slice.Tensor(x, d, 0, n - 2)) / (h * 2), b], d)"sv,
      "$histogram(x, low, high, bins): p = floor((x - low) * bins / (high - low)); i = clamp(p, 0, bins - 1); m = unsqueeze(logical_and(x >= low, x <= high), 1); sum.dim_IntList(cast(logical_and(unsqueeze(i, 1) == arange.start_step(0, bins), m), outtype), [0], dtype=outtype)"sv,
      "$integers(low, high, s, type): cast(clamp(floor(rand(s, dtype=float64) * (high - low)) + low, low, high - 1), type)"sv,
      "$kaiser(n, periodic, beta, type): m = periodic ? n : max(n - 1, 1); k = arange.start_step(0, n, 1, dtype=type) * (2.0 / m) - 1; n == 1 ? full([1], 1.0, dtype=type) : i0(sqrt(clamp(1 - k * k, 0)) * beta, sizes=out, as=type) / i0(full([], beta, dtype=type), sizes=[], as=type)"sv,
      "$lengthened(x, n, left, value): constant_pad_nd(x, [i in range(0, 2 * (rank(x) - 1)): 0] + (left ? [n, 0] : [0, n]), value)"sv,
      "$mode(x, d, keep): n = size(x, d); c = sum.dim_IntList(unsqueeze(x, d) == unsqueeze(x, d + 1), [d + 1]); v = amin(where(c == amax(c, [d], true), x, amax(x, [d], true)), [d], true); p = view(arange.start_step(0, n), [i in range(0, rank(x)): i == d ? n : 1]); i = amax(where(x == v, p, -1), [d], true); keep ? [v, i] : [squeeze.dims(v, [d]), squeeze.dims(i, [d])]"sv,
      "$nanmiddle(x, d, keep): c = sum.dim_IntList(logical_not(isnan(x)), [d], true); k = clamp((c - 1) // 2, 0); s = sort(x, d, false); r = [gather(s[0], d, k), gather(s[1], d, k)]; keep ? r : [squeeze.dims(r[0], [d]), squeeze.dims(r[1], [d])]"sv,
      "$widened(x, low, high, bins): e = cast(low == high, dtype(x)); $histogram(x, low - e, high + e, bins)"sv,
      // clang-format on
  });
}();

}  // namespace davit::detail
