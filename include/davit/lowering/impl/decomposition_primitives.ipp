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
      "aten._embedding_bag.default(weight, indices, offsets, scale_grad_by_freq=false, mode=0, sparse=false, per_sample_weights=none, include_last_offset=false, padding_idx=-1)!: n = size(indices, 0); e = size(offsets, 0) - (include_last_offset ? 1 : 0); b = sum.dim_IntList(unsqueeze(arange.start_step(0, n), 1) >= slice.Tensor(offsets, 0, 0, e), [1]) - 1; m = unsqueeze(indices != padding_idx, 1); r = embedding(weight, indices); x = per_sample_weights == none ? r : r * unsqueeze(per_sample_weights, 1); y = padding_idx < 0 ? x : where(m, x, 0.0); z = full([e, size(weight, 1)], 0.0, dtype=dtype(weight)); c = mode == 1 ? index_put(full([e], 0, dtype=int64), [b], cast(squeeze.dims(m, [1]), int64), true) : full([e], 0, dtype=int64); t = index_put(z, [b], y, true); mode == 2 ? fail(0) : [mode == 1 ? t / cast(unsqueeze(clamp(c, 1), 1), dtype(weight)) : t, mode == 0 && padding_idx < 0 ? full([0], 0, dtype=int64) : b, c, c]"sv,
      "aten._embedding_bag_forward_only.default = aten._embedding_bag.default"sv,
      "aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default(self, scale, zero_point, fake_quant_enabled, quant_min, quant_max): q = round(self / scale) + zero_point; [fake_quantize_per_tensor_affine.tensor_qparams(self, scale, zero_point, fake_quant_enabled, quant_min, quant_max), logical_and(q >= quant_min, q <= quant_max)]"sv,
      "aten._int_mm.default(self, mat2): mm(cast(self, int32), cast(mat2, int32))"sv,
      "aten._is_all_true.default(self): logical_not(any(logical_not(self)))"sv,
      "aten._is_any_true.default(self): any(self)"sv,
      "aten._native_batch_norm_legit_functional.default(input, weight, bias, running_mean, running_var, training, momentum, eps)^!: d = [0] + range(2, rank(input)); n = product(sizes(input)) // size(input, 1); k = [i in range(0, rank(input)): i == 1 ? size(input, 1) : 1]; m = mean.dim(input, d); x = input - view(m, k); v = mean.dim(x * x, d); i = rsqrt(v + eps); y = x * view(i, k); w = weight == none ? y : y * view(weight, k); training ? [bias == none ? w : w + view(bias, k), m, i, running_mean * (1 - momentum) + m * momentum, running_var * (1 - momentum) + v * (n * momentum / (n - 1.0))] : fail(0)"sv,
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
      "aten.bucketize.Tensor(self, boundaries, out_int32=false, right=false)!: $rank_in(boundaries, self, right)"sv,
      "aten.cauchy.default(self, median=0, sigma=1): tan((rand(sizes(self), dtype=dtype(self)) - 0.5) * 3.141592653589793) * sigma + median"sv,
      "aten.conv_tbc.default(self, weight, bias, pad=0): permute(convolution(permute(self, [1, 2, 0]), permute(weight, [2, 1, 0]), bias, [1], [pad], [1], false, [0], 1, sizes=[out[1], out[2], out[0]], as=outtype), [2, 0, 1])"sv,
      "aten.diagonal_scatter.default(self, src, offset=0, dim1=0, dim2=1): n = product(sizes(self)); i = view(arange.start_step(0, n), sizes(self)); view(index_put(reshape(self, [n]), [diagonal(i, offset, dim1, dim2, sizes=dims(src), as=int64)], src), sizes(self))"sv,
      "aten.embedding_renorm.default(self, indices, max_norm, norm_type): k = size(self, 0); n = linalg_vector_norm(self, norm_type, [1], true); t = index_put(full([k], false, dtype=bool), [reshape(indices, [product(sizes(indices))])], full([], true, dtype=bool)); where(logical_and(unsqueeze(t, 1), n > max_norm), self * (full([], max_norm, dtype=dtype(self)) / (n + 1e-07)), self)"sv,
      "aten.exponential.default(self, lambd=1): -log1p(-rand(sizes(self), dtype=dtype(self))) / lambd"sv,
      "aten.fake_quantize_per_channel_affine_cachemask.default(self, scale, zero_point, axis, quant_min, quant_max): n = [i in range(0, rank(self)): i == wrap(axis, rank(self)) ? size(self, i) : 1]; q = round(self / view(scale, n)) + view(zero_point, n); [fake_quantize_per_channel_affine(self, scale, zero_point, axis, quant_min, quant_max), logical_and(q >= quant_min, q <= quant_max)]"sv,
      "aten.fake_quantize_per_tensor_affine_cachemask.default(self, scale, zero_point, quant_min, quant_max): q = round(self * (1.0 / scale)) + zero_point; [fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max), logical_and(q >= quant_min, q <= quant_max)]"sv,
      "aten.geometric.default(self, p): r = ceil(log1p(-rand(sizes(self), dtype=float32)) / log_of(1 - p)); cast(clamp(r, 1), dtype(self))"sv,
      "aten.gradient.scalarint(self, spacing=none, dim=none, edge_order=1): h = spacing == none ? 1 : spacing; edge_order == 1 ? [d in wrap($dims(self, dim), rank(self)): $gradient(self, d, size(self, d), float(h))] : fail(0)"sv,
      "aten.grid_sampler_2d.default(input, grid, interpolation_mode, padding_mode, align_corners)!: h = size(input, 2); w = size(input, 3); x = $grid_place(select.int(grid, -1, 0), w, padding_mode, align_corners); y = $grid_place(select.int(grid, -1, 1), h, padding_mode, align_corners); a = floor(x); b = floor(y); p = x - a; q = y - b; interpolation_mode == 1 ? $grid_sample(input, round(x), round(y), none) : interpolation_mode == 0 ? $grid_sample(input, a, b, (1 - p) * (1 - q)) + $grid_sample(input, a + 1, b, p * (1 - q)) + $grid_sample(input, a, b + 1, (1 - p) * q) + $grid_sample(input, a + 1, b + 1, p * q) : fail(0)"sv,
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
      "aten.scatter_reduce.two(self, dim, index, src, reduce, include_self=true)!: reduce == 'mean' && isfloat(self) || reduce == 'sum' ? $scatter_sum(self, dim, index, src, reduce == 'mean', include_self) : fail(0)"sv,
      "aten.searchsorted.Tensor(sorted_sequence, self, out_int32=false, right=false, side=none, sorter=none)!: $rank_in(sorter == none ? sorted_sequence : gather(sorted_sequence, -1, sorter), self, side == none ? right : side == 'right')"sv,
      "aten.signbit.default(self): isfloat(self) ? copysign.Tensor(ones_like(self), self) < 0 : self < 0"sv,
      "aten.special_xlog1py.other_scalar(self, other): special_xlog1py.default(self, full([], other, dtype=isfloat(self) ? dtype(self) : float32))"sv,
      "aten.special_xlog1py.self_scalar(self, other): special_xlog1py.default(full([], self, dtype=isfloat(other) ? dtype(other) : float32), other)"sv,
      "aten.uniform.default(self, from=0, to=1): rand(out, dtype=outtype) * (to - from) + from"sv,
      "prims.scalar_tensor.default(s, dtype=none): full([], s, dtype=outtype)"sv,
      "quantized_decomposed.choose_qparams.tensor(input, quant_min, quant_max, eps, dtype)!: x = cast(input, float32); d = range(0, rank(x)); l = clamp(amin(x, d), none, 0.0); h = clamp(amax(x, d), 0.0); s = clamp((h - l) / float(quant_max - quant_min), eps); z = clamp(quant_min - round(l / s), quant_min, quant_max); [view(cast(s, float64), [1]), view(cast(z, int64), [1])]"sv,
      "quantized_decomposed.choose_qparams_symmetric.tensor(input, quant_min, quant_max, eps, dtype)!: x = cast(input, float32); s = clamp(amax(abs(x), range(0, rank(x))) / ((quant_max - quant_min) / 2.0), eps); [view(cast(s, float64), [1]), full([1], dtype == uint8 ? 128 : 0, dtype=int64)]"sv,
      "quantized_decomposed.dequantize_per_tensor.tensor(input, scale, zero_point, quant_min, quant_max, dtype, out_dtype=none)!: cast((cast(input, float32) - cast(view(zero_point, []), float32)) * cast(view(scale, []), float32), outtype)"sv,
      "quantized_decomposed.quantize_per_tensor.tensor(input, scale, zero_point, quant_min, quant_max, dtype)!: cast(clamp(round(cast(input, float32) * cast(reciprocal(view(scale, [])), float32)) + cast(view(zero_point, []), float32), quant_min, quant_max), outtype)"sv,
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
      "$grid_place(x, n, padding, align): u = align ? (x + 1) * ((n - 1) / 2.0) : ((x + 1) * n - 1) / 2.0; low = align ? 0.0 : -0.5; span = align ? n - 1.0 : float(n); v = abs(u - low); r = fmod.Scalar(v, span); e = remainder.Scalar(floor(v / span), 2.0) == 0; padding == 0 ? u : clamp(padding == 1 ? u : span == 0 ? u * 0 : where(e, r + low, span + low - r), 0, n - 1)"sv,
      "$grid_sample(input, x, y, share): c = size(input, 1); h = size(input, 2); w = size(input, 3); m = logical_and(logical_and(x >= 0, x <= w - 1), logical_and(y >= 0, y <= h - 1)); i = cast(where(m, y, 0.0), int64) * w + cast(where(m, x, 0.0), int64); n = size(x, 0); k = size(x, 1) * size(x, 2); g = gather(reshape(input, [n, c, h * w]), 2, expand(view(i, [n, 1, k]), [n, c, k])); v = view(g, [n, c, size(x, 1), size(x, 2)]); share == none ? where(unsqueeze(m, 1), v, 0.0) : where(unsqueeze(m, 1), v * unsqueeze(share, 1), 0.0)"sv,
      "$histogram(x, low, high, bins): p = floor((x - low) * bins / (high - low)); i = clamp(p, 0, bins - 1); m = unsqueeze(logical_and(x >= low, x <= high), 1); sum.dim_IntList(cast(logical_and(unsqueeze(i, 1) == arange.start_step(0, bins), m), outtype), [0], dtype=outtype)"sv,
      "$integers(low, high, s, type): cast(clamp(floor(rand(s, dtype=float64) * (high - low)) + low, low, high - 1), type)"sv,
      "$kaiser(n, periodic, beta, type): m = periodic ? n : max(n - 1, 1); k = arange.start_step(0, n, 1, dtype=type) * (2.0 / m) - 1; n == 1 ? full([1], 1.0, dtype=type) : i0(sqrt(clamp(1 - k * k, 0)) * beta, sizes=out, as=type) / i0(full([], beta, dtype=type), sizes=[], as=type)"sv,
      "$lengthened(x, n, left, value): constant_pad_nd(x, [i in range(0, 2 * (rank(x) - 1)): 0] + (left ? [n, 0] : [0, n]), value)"sv,
      "$mode(x, d, keep): n = size(x, d); c = sum.dim_IntList(unsqueeze(x, d) == unsqueeze(x, d + 1), [d + 1]); v = amin(where(c == amax(c, [d], true), x, amax(x, [d], true)), [d], true); p = view(arange.start_step(0, n), [i in range(0, rank(x)): i == d ? n : 1]); i = amax(where(x == v, p, -1), [d], true); keep ? [v, i] : [squeeze.dims(v, [d]), squeeze.dims(i, [d])]"sv,
      "$nanmiddle(x, d, keep): c = sum.dim_IntList(logical_not(isnan(x)), [d], true); k = clamp((c - 1) // 2, 0); s = sort(x, d, false); r = [gather(s[0], d, k), gather(s[1], d, k)]; keep ? r : [squeeze.dims(r[0], [d]), squeeze.dims(r[1], [d])]"sv,
      "$rank_in(s, x, right): v = unsqueeze(x, -1); q = rank(s) == 1 ? s : unsqueeze(s, -2); sum.dim_IntList(logical_not(right ? q > v : q >= v), [-1], dtype=outtype)"sv,
      "$scatter_sum(x, d, i, y, mean, all): c = scatter_add(full(sizes(x), all ? 1 : 0, dtype=dtype(x)), d, i, full(sizes(i), 1, dtype=dtype(x))); t = scatter_add(all ? x : where(c == 0, x, 0), d, i, y); mean ? t / clamp(c, 1) : t"sv,
      "$widened(x, low, high, bins): e = cast(low == high, dtype(x)); $histogram(x, low - e, high + e, bins)"sv,
      // clang-format on
  });
}();

}  // namespace davit::detail
