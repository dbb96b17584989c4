// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/pattern_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Attention.
inline constexpr OperatorRow attention[] = {
    // clang-format off
    {.rule = R"(aten._scaled_dot_product_flash_attention_for_cpu.default(query, key, value, dropout_p=0.0,
           is_causal=false, attn_mask=none, scale=none)^:
       s = $scores(query, key, is_causal, attn_mask, scale);
       dropout_p == 0 ? [scaled_dot_product_attention(query, key, value, attn_mask, 0.0, is_causal, scale),
           cast(logsumexp(s, [-1]), dtype(query) == float64 ? float64 : float32)] :
         fail(0))"sv},
    // torch 2.6 takes the forward pass apart with the probabilities as its second result: they are no logsumexp
    {.rule = R"(aten._scaled_dot_product_flash_attention_for_cpu_backward.default(grad_out, query, key, value, out,
           logsumexp, dropout_p, is_causal, attn_mask=none, scale=none)^:
       f = scale == none ? 1.0 / sqrt_of(size(query, -1)) : scale;
       p = rank(logsumexp) == rank(query) ? logsumexp :
           exp($scores(query, key, is_causal, attn_mask, scale) - unsqueeze(logsumexp, -1));
       s = p * (matmul(grad_out, transpose.int(value, -2, -1)) - sum.dim_IntList(grad_out * out, [-1], true)) * f;
       dropout_p == 0 ? [matmul(s, key), matmul(transpose.int(s, -2, -1), query),
           matmul(transpose.int(p, -2, -1), grad_out)] :
         fail(0))"sv},
    {.schema = "aten.scaled_dot_product_attention.default(Tensor query, Tensor key, Tensor value, "
               "Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, *, float? scale=None, "
               "bool enable_gqa=False) -> Tensor"sv,
     .rule = R"(aten.scaled_dot_product_attention.default(query, key, value, attn_mask=none, dropout_p=0.0,
           is_causal=false, scale=none, enable_gqa=false)^:
       g = enable_gqa ? size(query, -3) // size(key, -3) : 1;
       k = g == 1 ? key : repeat_interleave.self_int(key, g, -3);
       v = g == 1 ? value : repeat_interleave.self_int(value, g, -3);
       b = $scores(query, k, is_causal, attn_mask, scale);
       p = attn_mask == none ? _softmax(b, -1, false) : _safe_softmax(b, -1);
       dropout_p == 0 ? matmul(p, v) : fail(0))"sv},

    // shared sub-rules
    {.rule = R"($causal(l, s): arange.start_step(0, s) - unsqueeze(arange.start_step(0, l), 1) <= 0)"sv},
    {.rule = R"($flex_end(s, changed, seen, q, v):
       r = expand(changed, sizes(s));
       x = seen == none ? r : where(seen, r, -inf);
       [matmul(cast(_safe_softmax(x, -1), dtype(q)), $flex_heads(v, q)), logsumexp(x, [-1]) / 0.6931471805599453,
           amax(x, [-1]) / 0.6931471805599453])"sv},
    {.rule = R"($flex_heads(x, q):
       h = size(q, 1);
       g = size(x, 1);
       n = size(x, 2);
       e = size(x, 3);
       y = g == h ? x : reshape(expand(unsqueeze(x, 2), [size(x, 0), g, h // g, n, e]), [size(x, 0), h, n, e]);
       size(y, 0) == size(q, 0) ? y : expand(y, [size(q, 0), h, n, e]))"sv},
    {.rule = R"($flex_place(s, d):
       n = size(s, d);
       view(arange.start_step(0, n, 1, dtype=int32), [i in range(0, 4): i == d ? n : 1]))"sv},
    {.rule = R"($flex_scores(q, k, scale):
       cast(matmul(q, transpose.int($flex_heads(k, q), -2, -1)), dtype(q) == float64 ? float64 : float32) * scale)"sv},
    {.rule = R"($scores(q, k, causal, mask, scale):
       f = scale == none ? 1.0 / sqrt_of(size(q, -1)) : scale;
       m = mask != none ? mask : causal ? $causal(size(q, -2), size(k, -2)) : none;
       a = matmul(q * f, transpose.int(k, -2, -1));
       m == none ? a : a + (dtype(m) == bool ? cast(where(m, 0.0, -inf), dtype(a)) : m))"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts attention_facts[] = {
    // clang-format off
    {.name = "aten._native_multi_head_attention"sv, .autocast = AutocastPolicy::lower},
    {.name = "aten.scaled_dot_product_attention"sv, .keeps_nonfinite = true, .autocast = AutocastPolicy::lower},
    // clang-format on
};

/// Scores of an attention, as _scaled_dot_product_attention_math leaves them: softmax(q f (k g)^T + mask).
inline constexpr PatternRow attention_scores[] = {
    // clang-format off
    {.pattern = R"(_safe_softmax(x: add.Tensor(matmul(mul.Scalar(q, #f), mul.Scalar(k, #g)), mask), @d)
       if dtype(x) == dtype(out) && dtype(mask) == dtype(x))"sv},
    {.pattern = R"(_safe_softmax(x: matmul(mul.Scalar(q, #f), mul.Scalar(k, #g)), @d) if dtype(x) == dtype(out))"sv},
    {.pattern = R"(_safe_softmax(x: add.Tensor(bmm(mul.Scalar(q, #f), mul.Scalar(k, #g)), mask), @d)
       if dtype(x) == dtype(out) && dtype(mask) == dtype(x))"sv},
    {.pattern = R"(_safe_softmax(x: bmm(mul.Scalar(q, #f), mul.Scalar(k, #g)), @d) if dtype(x) == dtype(out))"sv},
    // clang-format on
};

}  // namespace davit::operator_families
