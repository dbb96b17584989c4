// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/pattern_row.hpp"
#include "davit/ops/parameter.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Products of matrices and vectors.
inline constexpr OperatorRow matrix_products[] = {
    // clang-format off
    // as torch packs them on CPUs without KleidiAI: floats that are bytes of two weights, then scales
    {.rule = R"(aten._dyn_quant_matmul_4bit.default(inp, packed_weights, block_size, in_features, out_features):
       n = in_features * out_features // 2;
       g = in_features * out_features // block_size;
       p = dtype(packed_weights) == float32 && rank(packed_weights) == 1 && size(packed_weights, 0) == n + g ?
         packed_weights : fail('export the model before its weights are packed, or on x86: KleidiAI packed these');
       f = reshape(cast(slice.Tensor(p, 0, 0, n), uint8), [out_features, in_features // 2]);
       q = cast(reshape($fields(f, [0, 4], 15, 8), [g, block_size]), float32);
       w = reshape(q * reshape(slice.Tensor(p, 0, n, n + g), [g, 1]), [out_features, in_features]);
       x = cast(inp, float32);
       l = clamp(amin(x, [-1], true), none, 0.0);
       h = clamp(amax(x, [-1], true), 0.0);
       s = where(h - l == 0, 1.0, 255.0 / (h - l));
       a = l * s;
       b = h * s;
       z = round(clamp(where((a - 128) + (b + 127) > 0, -128 - a, 127 - b), -128, 127));
       y = abs(x * s);
       t = floor(y) + cast(y - floor(y) >= 0.5, float32);
       r = cast(clamp(t * sign(x) + z, -128, 127), int8);
       cast(linear((r - z) * reciprocal(s), w), dtype(inp)))"sv},
    {.rule = R"(aten._dyn_quant_pack_4bit_weight.default(weights, scales_zeros, bias, block_size, in_features,
           out_features):
       bias != none ? fail(0) :
         cat([cast(reshape(weights, [-1]), float32), cast(reshape(scales_zeros, [-1]), float32)], 0))"sv},
    {.rule = R"(aten._grouped_mm.default(self, mat2, offs=none, bias=none, out_dtype=none):
       r = bias != none ? fail(0) :
         offs == none ? bmm(self, mat2) :
         rank(self) == 2 && rank(mat2) == 2 ?
           stack([g in range(0, size(offs, 0)):
           mm(where($is_of(offs, g, size(self, 1)), self, 0.0),
           where(unsqueeze($is_of(offs, g, size(self, 1)), 1), mat2, 0.0))], 0) :
         rank(self) == 2 ? fold(a: 0.0; g in range(0, size(mat2, 0)):
           where(unsqueeze($is_of(offs, g, size(self, 0)), 1), mm(self, select.int(mat2, 0, g)), a)) :
         fold(a: 0.0; g in range(0, size(self, 0)):
           where($is_of(offs, g, size(mat2, 1)), mm(select.int(self, 0, g), mat2), a));
       cast(r, out_dtype))"sv},
    {.rule = R"(aten._int_mm.default(self, mat2):
       k = size(self, 1);
       !isfixed(k) ? cast(mm(cast(self, float64), cast(mat2, float64)), int32) :
         k <= 1024 ? $int_mm(self, mat2) :
         fold(a: $int_mm(slice.Tensor(self, 1, 0, 1024), slice.Tensor(mat2, 0, 0, 1024));
           i in range(1, (k + 1023) // 1024):
           a + $int_mm(slice.Tensor(self, 1, 1024 * i, min(k, 1024 * i + 1024)),
           slice.Tensor(mat2, 0, 1024 * i, min(k, 1024 * i + 1024)))))"sv},
    {.rule = R"(aten._scaled_mm.default(self, mat2, scale_a, scale_b, bias=none, scale_result=none, out_dtype=none,
           use_fast_accum=false):
       r = mm(cast(self, float32), cast(mat2, float32)) * scale_a * scale_b;
       cast(bias == none ? r : r + cast(bias, float32), out_dtype == none ? dtype(self) : out_dtype))"sv},
    {.rule = R"(aten._trilinear.default(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim=1):
       n = rank(i1) + len(expand1);
       expand1 == [1, 3] && expand2 == [0] && expand3 == [1, 2] && sumdim == [2, 3] ? bilinear(i1, i3, i2) :
         sum.dim_IntList($spread(i1, wrap(expand1, n)) * $spread(i3, wrap(expand3, n)) * $spread(i2, wrap(expand2, n)),
           sumdim))"sv},
    // the constants lie as torch packs them on CPUs with AVX-512: in blocks of 64 rows, low nibbles of 32 and high ones
    // of the other 32
    {.rule = R"(aten._weight_int4pack_mm_for_cpu.default(self, mat2, qGroupSize, qScaleAndZeros):
       n = size(mat2, 0);
       k = 2 * size(mat2, 1);
       p = n % 64 == 0 ? reshape(mat2, [n // 64, k, 32]) :
         fail('export the model before its weights are packed: 64 outputs at a time are read, and these are not');
       q = permute(cat([$field(p, 0, 15), $field(p, 4, 15)], 2), [0, 2, 1]);
       s = unsqueeze(permute(cast(qScaleAndZeros, float32), [1, 0, 2]), 2);
       g = cast(reshape(q, [n, k // qGroupSize, qGroupSize]), float32) - 8;
       w = g * select.int(s, 3, 0) + select.int(s, 3, 1);
       cast(linear(cast(self, float32), reshape(w, [n, k])), dtype(self)))"sv},
    {.rule = R"(aten._weight_int8pack_mm.default(self, mat2, scales):
       cast(linear(cast(self, float32), cast(mat2, float32)) * cast(scales, float32), dtype(self)))"sv},
    {.rule = R"(aten.addbmm.default(self, batch1, batch2, beta=1, alpha=1)^:
       r = sum.dim_IntList(bmm(batch1, batch2), [0]);
       $scaled(self, beta, r, alpha))"sv},
    {.schema = "aten.addmm.default(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) "
               "-> Tensor"sv,
     .complex_rule = R"(aten.addmm.default(self, mat1, mat2, beta=1, alpha=1):
       $scaled(self, beta, mm(mat1, mat2), alpha))"sv},
    {.rule = R"(aten.addmv.default(self, mat, vec, beta=1, alpha=1)^:
       b = rounded(beta, outtype);
       r = mv(mat, vec);
       x = cast(alpha == 1 ? r : r * rounded(alpha, outtype), outtype);
       beta == 0 ? x : cast(beta == 1 ? self : self * b, outtype) + x)"sv},
    {.rule = R"(aten.addr.default(self, vec1, vec2, beta=1, alpha=1)^:
       t = outtype;
       u = alpha == 1 ? vec1 : $stepwise(vec1 * rounded(alpha, t), t);
       x = $stepwise(outer(u, vec2), t);
       beta == 0 ? x : (beta == 1 ? self : $stepwise(self * rounded(beta, t), t)) + x)"sv},
    {.rule = R"(aten.baddbmm.default(self, batch1, batch2, beta=1, alpha=1)^:
       $scaled(self, beta, bmm(batch1, batch2), alpha))"sv},
    {.rule = R"(aten.bilinear.default(input1, input2, weight, bias=none):
       s = sizes(input1)[:-1];
       r = view(einsum('ni,oij,nj->no', [reshape(input1, [product(s), size(input1, -1)]), weight,
           reshape(input2, [product(s), size(input2, -1)])]), s + [size(weight, 0)]);
       bias == none ? r : r + bias)"sv},
    {.schema = "aten.bmm.default(Tensor self, Tensor mat2) -> Tensor"sv,
     .complex_rule = R"(aten.bmm.default(self, mat2):
       a = $re(self);
       b = $im(self);
       c = $re(mat2);
       d = $im(mat2);
       $z(bmm(a, c) - bmm(b, d), bmm(a, d) + bmm(b, c)))"sv},
    {.rule = R"(aten.chain_matmul.default(matrices): fold(a: matrices[0]; m in matrices[1:]: mm(a, m)))"sv},
    {.rule = R"(aten.dot.default(self, tensor)^: cast(sum(self * tensor), dtype(self)))"sv},
    {.rule = R"(aten.einsum.default(equation, tensors, path=none): einsum(equation, tensors))"sv},
    {.rule = R"(aten.ger.default = aten.outer.default)"sv},
    {.rule = R"(aten.inner.default(self, other):
       rank(self) == 0 || rank(other) == 0 ? self * other : tensordot(self, other, [-1], [-1]))"sv},
    {.rule = R"(aten.kron.default(self, other):
       n = max(rank(self), rank(other));
       a = $lead(sizes(self), n);
       b = $lead(sizes(other), n);
       x = reshape(self, flat([i in range(0, n): [a[i], 1]])) * reshape(other, flat([i in range(0, n): [1, b[i]]]));
       reshape(x, [i in range(0, n): a[i] * b[i]]))"sv},
    {.rule = R"(aten.linalg_matmul.default = aten.matmul.default)"sv},
    {.rule = R"(aten.linalg_multi_dot.default(tensors): fold(a: tensors[0]; m in tensors[1:]: matmul(a, m)))"sv},
    {.rule = R"(aten.linalg_vecdot.default(x, y, dim=-1)^: cast(sum.dim_IntList(x * y, [dim]), promote(x, y)))"sv,
     .complex_rule = R"(aten.linalg_vecdot.default(x, y, dim=-1): sum.dim_IntList(conj(x) * y, [dim]))"sv},
    {.schema = "aten.linear.default(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"sv,
     .rule = R"(aten.linear.default(input, weight, bias=none):
       rank(weight) == 1 ? (bias == none ? matmul(input, weight) : matmul(input, weight) + bias) :
         rank(input) == 1 ? squeeze.dims($affine(unsqueeze(input, 0), weight, bias), [0]) :
         rank(input) == 2 ? $affine(input, weight, bias) :
         view($affine(reshape(input, [product(sizes(input)[:-1]), size(input, -1)]), weight, bias),
           sizes(input)[:-1] + [size(weight, 0)]))"sv},
    {.schema = "aten.matmul.default(Tensor self, Tensor other) -> Tensor"sv,
     .rule = R"(aten.matmul.default(self, other):
       a = rank(self);
       b = rank(other);
       a == 1 && b == 1 ? dot(self, other) :
         a == 1 && b == 2 ? squeeze.dims(mm(unsqueeze(self, 0), other), [0]) :
         b == 1 && a == 2 ? mv(self, other) :
         a == 2 && b == 2 ? mm(self, other) :
         a == 1 ? squeeze.dims(matmul(unsqueeze(self, 0), other), [-2]) :
         b == 1 ? squeeze.dims(matmul(self, unsqueeze(other, 1)), [-1]) :
         b == 2 ? view(mm(reshape(self, [product(sizes(self)[:-1]), size(self, -1)]), other),
           sizes(self)[:-1] + [size(other, 1)]) :
         $batched(self, other))"sv},
    {.schema = "aten.mm.default(Tensor self, Tensor mat2) -> Tensor"sv,
     .complex_rule = R"(aten.mm.default(self, mat2):
       a = $re(self);
       b = $im(self);
       c = $re(mat2);
       d = $im(mat2);
       $z(mm(a, c) - mm(b, d), mm(a, d) + mm(b, c)))"sv},
    {.rule = R"(aten.mv.default(self, vec): squeeze.dims(mm(self, unsqueeze(vec, 1)), [1]))"sv},
    {.rule = R"(aten.outer.default(self, vec2): unsqueeze(self, 1) * vec2)"sv},
    {.rule = R"(aten.tensordot.default(self, other, dims_self, dims_other):
       a = wrap(dims_self, rank(self));
       b = wrap(dims_other, rank(other));
       m = compact([d in range(0, rank(self)): has(a, d) ? none : d]);
       n = compact([d in range(0, rank(other)): has(b, d) ? none : d]);
       k = product([d in a: size(self, d)]);
       x = reshape(permute(self, m + a), [product([d in m: size(self, d)]), k]);
       y = reshape(permute(other, b + n), [k, product([d in n: size(other, d)])]);
       view(mm(x, y), [d in m: size(self, d)] + [d in n: size(other, d)]))"sv},
    {.rule = R"(aten.vdot.default(self, other)^: iscomplex(self) ? fail(0) : cast(sum(self * other), dtype(self)))"sv,
     .complex_rule = R"(aten.vdot.default(self, other): sum(conj(self) * other))"sv},

    // shared sub-rules
    {.rule = R"($affine(x, w, b): t = permute(w, [1, 0]); b == none ? mm(x, t) : addmm(b, x, t))"sv},
    {.rule = R"($batched(x, y):
       s = joint([x, y], 2);
       n = product(s);
       p = size(x, -2);
       k = size(x, -1);
       q = size(y, -1);
       view(bmm(reshape(expand(x, s + [p, k]), [n, p, k]), reshape(expand(y, s + [k, q]), [n, k, q])), s + [p, q]))"sv},
    {.rule = R"($int_mm(x, w): cast(mm(cast(x, float32), cast(w, float32)), int32))"sv},
    {.rule = R"($is_of(offs, g, n):
       i = arange.start_step(0, n);
       g == 0 ? i < select.int(offs, 0, 0) :
         logical_and(i >= select.int(offs, 0, g - 1), i < select.int(offs, 0, g)))"sv},
    {.rule = R"($scaled(a, s, b, t): x = t == 1 ? b : b * t; s == 0 ? x : (s == 1 ? a : a * s) + x)"sv},
    {.rule = R"($stepwise(x, t):
       dtype(x) == float32 && (t == float16 || t == bfloat16) ? cast(cast(x, t), float32) : x)"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts matrix_products_facts[] = {
    // clang-format off
    {.name = "aten.addbmm"sv, .autocast = AutocastPolicy::lower},
    {.name = "aten.addmm"sv, .shape = ShapeRule::product_added, .range = RangeBound::bias_first,
     .keeps_nonfinite = true, .autocast = AutocastPolicy::lower},
    {.name = "aten.baddbmm"sv, .autocast = AutocastPolicy::lower},
    {.name = "aten.bmm"sv, .shape = ShapeRule::batched_product, .range = RangeBound::dot_product,
     .keeps_nonfinite = true,
     .autocast = AutocastPolicy::lower},
    {.name = "aten.chain_matmul"sv, .autocast = AutocastPolicy::lower},
    {.name = "aten.einsum"sv, .view = ViewKind::unknown, .apart = true,
     .autocast = AutocastPolicy::lower, .computes = true},
    {.name = "aten.linalg_multi_dot"sv, .autocast = AutocastPolicy::lower},
    {.name = "aten.linalg_vecdot"sv, .autocast = AutocastPolicy::lower},
    {.name = "aten.linear"sv, .shape = ShapeRule::linear, .range = RangeBound::linear, .keeps_nonfinite = true,
     .autocast = AutocastPolicy::lower},
    {.name = "aten.matmul"sv, .shape = ShapeRule::product, .range = RangeBound::dot_product, .keeps_nonfinite = true,
     .autocast = AutocastPolicy::lower},
    {.name = "aten.mm"sv, .shape = ShapeRule::matrix_product, .range = RangeBound::dot_product, .keeps_nonfinite = true,
     .autocast = AutocastPolicy::lower},
    // clang-format on
};

/// Forms in which programs write these operators, and others that become simpler.
inline constexpr PatternRow matrix_products_patterns[] = {
    // clang-format off
    {.example = "(x: [2, 3], w: constant[4, 3], b: constant[4]) linear(x, w) + b"sv,
     .pattern = R"(add.Tensor(y: once linear(x, w), bias) => linear(x, w, bias)
       if constant(bias) && vector(bias, y) && dtype(bias) == dtype(y) && same(y, out))"sv},
    {.example = "(x: [2, 3], w: [4, 3], b: [4]) addmm(b, x, t(w))"sv,
     .pattern = R"(addmm(bias, x, transposed(w)) => linear(x, w, bias) if vector(bias, out))"sv, .worth_a_pass = true},
    {.example = "(x: [5, 2, 3], w: [4, 3]) matmul(x, t(w))"sv,
     .pattern = R"(matmul(x, transposed(w)) => linear(x, w) if rank(x) == rank(out) && rank(x) > 1)"sv},
    {.example = "(x: [2, 3], w: [4, 3]) mm(x, t(w))"sv,
     .pattern = R"(mm(x, transposed(w)) => linear(x, w))"sv, .worth_a_pass = true},
    // clang-format on
};

}  // namespace davit::operator_families

// how calls are read
namespace davit::operators {

/// One of ATen's matrix products and the names of its operands, in the order of their positions.
struct MatmulOperator {
  const char* target;
  Parameter left, right;
  Parameter addend{nullptr, 0};  ///< no name: there is none
  std::uint8_t rank = 0;
  bool transposed = false;
  bool scaled = false;  ///< has beta and alpha, behind the operands
};

inline constexpr std::array matmul_operators{
    MatmulOperator{"aten.linear.default", {"input", 0}, {"weight", 1}, {"bias", 2}, 0, true},
    MatmulOperator{"aten.addmm.default", {"mat1", 1}, {"mat2", 2}, {"self", 0}, 2, false, true},
    MatmulOperator{"aten.mm.default", {"self", 0}, {"mat2", 1}, {nullptr, 0}, 2},
    MatmulOperator{"aten.bmm.default", {"self", 0}, {"mat2", 1}, {nullptr, 0}, 3},
    MatmulOperator{"aten.matmul.default", {"self", 0}, {"other", 1}},
};

}  // namespace davit::operators
