// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/parameter.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Quantization: quantized_decomposed, and fake quantization of training.
inline constexpr OperatorRow quantization[] = {
    // clang-format off
    {.rule = R"(aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default(self, scale, zero_point,
           fake_quant_enabled, quant_min, quant_max):
       on = reshape(fake_quant_enabled, []) == 1;
       q = $fake_steps(self, reshape(scale, []), reshape(zero_point, []));
       [where(on, fake_quantize_per_tensor_affine.tensor_qparams(self, scale, zero_point, quant_min, quant_max), self),
           logical_or(logical_not(on), $between(q, quant_min, quant_max))])"sv},
    {.rule = R"(aten.fake_quantize_per_channel_affine.default(self, scale, zero_point, axis, quant_min, quant_max)^:
       s = $per_channel(self, scale, axis);
       z = $per_channel(self, zero_point, axis);
       $fake_values($fake_steps(self, s, z), s, z, quant_min, quant_max))"sv},
    {.rule = R"(aten.fake_quantize_per_channel_affine_cachemask.default(self, scale, zero_point, axis, quant_min,
           quant_max):
       q = $fake_steps(self, $per_channel(self, scale, axis), $per_channel(self, zero_point, axis));
       [fake_quantize_per_channel_affine(self, scale, zero_point, axis, quant_min, quant_max),
           $between(q, quant_min, quant_max)])"sv},
    {.rule = R"(aten.fake_quantize_per_tensor_affine.default(self, scale, zero_point, quant_min, quant_max):
       fake_quantize_per_tensor_affine.tensor_qparams(self, full([], scale, dtype=float32),
           full([], zero_point, dtype=int32), quant_min, quant_max))"sv},
    {.rule = R"(aten.fake_quantize_per_tensor_affine.tensor_qparams(self, scale, zero_point, quant_min, quant_max)^:
       s = reshape(scale, []);
       z = reshape(zero_point, []);
       $fake_values($fake_steps(self, s, z), s, z, quant_min, quant_max))"sv},
    {.rule = R"(aten.fake_quantize_per_tensor_affine_cachemask.default(self, scale, zero_point, quant_min, quant_max):
       q = $fake_steps(self, full([], scale, dtype=float32), full([], zero_point, dtype=int32));
       [fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max),
           $between(q, quant_min, quant_max)])"sv},
    {.schema = "davit.embedding_packed.default(Tensor weight, Tensor scales, Tensor? offsets, Tensor indices, "
               "int num_embeddings, int embedding_dim, ScalarType dtype) -> Tensor"sv},
    {.schema = "davit.linear_packed.default(Tensor input, Tensor weight, Tensor scales, Tensor? offsets, Tensor? bias, "
               "int out_features) -> Tensor"sv},
    {.schema = "davit.linear_packed_bytes.default(Tensor input, Tensor? input_scales, Tensor? input_zero_points, "
               "Tensor weight, Tensor scales, Tensor? offsets, Tensor sums, Tensor? bias, int out_features, "
               "ScalarType dtype) -> Tensor"sv},
    {.schema = "davit.quantize_rows.default(Tensor input, Tensor scales, Tensor zero_points, int quant_min, "
               "int quant_max, ScalarType dtype, bool rounds_first) -> Tensor"sv,
     .rule = R"(davit.quantize_rows.default(input, scales, zero_points, quant_min, quant_max, dtype, rounds_first)!:
       s = input * reciprocal(scales);
       q = rounds_first ? round(s) + zero_points : round(s + zero_points);
       cast(clamp(q, quant_min, quant_max), dtype))"sv},
    {.schema = "davit.linear_packed.rows(Tensor input, Tensor weight, Tensor scales, Tensor? offsets, Tensor? bias) -> "
               "Tensor"sv},
    {.schema = "quantized_decomposed.choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps, "
               "ScalarType dtype) -> (Tensor, Tensor)"sv,
     .rule = R"(quantized_decomposed.choose_qparams.tensor(input, quant_min, quant_max, eps, dtype)!:
       d = range(0, rank(input));
       l = clamp(amin(input, d), none, 0.0);
       h = clamp(amax(input, d), 0.0);
       s = clamp(cast((h - l) / float(quant_max - quant_min), float32), eps);
       z = clamp(quant_min - round(l / s), quant_min, quant_max);
       [view(cast(s, float64), [1]), view(cast(z, int64), [1])])"sv},
    {.rule = R"(quantized_decomposed.choose_qparams_per_token.default(input, dtype):
       s = amax(abs(input), [-1], true);
       t = dtype(s) == float16 ? cast(s, float32) : s;
       r = dtype == int8 ? clamp(t, 1e-05) / 127 : fail(0);
       [cast(r, outtype), full(sizes(r), 0, dtype=int64)])"sv},
    {.rule = R"(quantized_decomposed.choose_qparams_per_token_asymmetric.default(input, dtype):
       l = clamp(amin(input, [-1], true), none, 0);
       h = clamp(amax(input, [-1], true), 0);
       s = clamp((h - l) / 255.0, 1.1920928955078125e-07);
       a = l / s;
       b = h / s;
       z = where((a - 128) + (b + 127) > 0, -128 - a, 127 - b);
       [cast(s, float64), cast(round(clamp(z, -128, 127)), int64)])"sv},
    {.schema = "quantized_decomposed.choose_qparams_symmetric.tensor(Tensor input, int quant_min, int quant_max, "
               "float eps, ScalarType dtype) -> (Tensor, Tensor)"sv,
     .rule = R"(quantized_decomposed.choose_qparams_symmetric.tensor(input, quant_min, quant_max, eps, dtype)!:
       s = clamp(cast(amax(abs(input), range(0, rank(input))) / ((quant_max - quant_min) / 2.0), float32), eps);
       [view(cast(s, float64), [1]), full([1], dtype == uint8 ? 128 : 0, dtype=int64)])"sv},
    {.schema = "quantized_decomposed.dequantize_per_channel.default(Tensor input, Tensor scales, Tensor? zero_points, "
               "int axis, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"sv},
    {.rule = R"(quantized_decomposed.dequantize_per_channel_group.default(input, scales, zero_points, quant_min,
           quant_max, dtype, group_size=128, output_dtype=float32):
       $group_values(input, scales, zero_points,
           size(scales, -1) == 1 && group_size > size(input, -1) ? size(input, -1) : group_size, output_dtype))"sv},
    {.schema = "quantized_decomposed.dequantize_per_tensor.default(Tensor input, float scale, int zero_point, "
               "int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"sv},
    {.schema = "quantized_decomposed.dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, "
               "int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"sv,
     .rule = R"(quantized_decomposed.dequantize_per_tensor.tensor(input, scale, zero_point, quant_min, quant_max, dtype,
           out_dtype=none)!:
       cast((cast(input, float32) - cast(view(zero_point, []), float32)) * cast(view(scale, []), float32),
           outtype))"sv},
    {.rule = R"(quantized_decomposed.dequantize_per_token.default(input, scales, zero_points, quant_min, quant_max,
           dtype, output_dtype=float32):
       cast((input - zero_points) * scales, output_dtype))"sv},
    {.rule = R"(quantized_decomposed.embedding_2bit.default(weight, weight_scales, weight_zero_points,
           weight_quant_min, weight_quant_max, indices):
       $embedded($fields(weight, [0, 2, 4, 6], 3, 2), weight_scales, weight_zero_points, indices, none))"sv},
    {.rule = R"(quantized_decomposed.embedding_2bit.dtype(weight, weight_scales, weight_zero_points,
           weight_quant_min, weight_quant_max, indices, dtype=none):
       $embedded($fields(weight, [0, 2, 4, 6], 3, 2), weight_scales, weight_zero_points, indices, dtype))"sv},
    {.rule = R"(quantized_decomposed.embedding_4bit.default(weight, weight_scales, weight_zero_points,
           weight_quant_min, weight_quant_max, indices):
       $embedded($fields(weight, [4, 0], 15, 8), weight_scales, weight_zero_points, indices, none))"sv},
    {.rule = R"(quantized_decomposed.embedding_4bit.dtype(weight, weight_scales, weight_zero_points,
           weight_quant_min, weight_quant_max, indices, dtype=none):
       $embedded($fields(weight, [4, 0], 15, 8), weight_scales, weight_zero_points, indices, dtype))"sv},
    {.rule = R"(quantized_decomposed.embedding_byte.default(weight, weight_scales, weight_zero_points,
           weight_quant_min, weight_quant_max, indices):
       $embedded(weight, weight_scales, weight_zero_points, indices, none))"sv},
    {.rule = R"(quantized_decomposed.embedding_byte.dtype(weight, weight_scales, weight_zero_points,
           weight_quant_min, weight_quant_max, indices, dtype=none):
       $embedded(weight, weight_scales, weight_zero_points, indices, dtype))"sv},
    {.rule = R"(quantized_decomposed.fake_quant_per_channel.default(input, scales, zero_points, axis, quant_min,
           quant_max):
       fake_quantize_per_channel_affine(input, scales, zero_points, axis, quant_min, quant_max))"sv},
    {.schema = "quantized_decomposed.quantize_per_channel.default(Tensor input, Tensor scales, Tensor zero_points, "
               "int axis, int quant_min, int quant_max, ScalarType dtype) -> Tensor"sv,
     .rule = R"(quantized_decomposed.quantize_per_channel.default(input, scales, zero_points, axis, quant_min,
           quant_max, dtype)!:
       cast(clamp(round(input * $per_channel(input, cast(reciprocal(scales), float32), axis))
           + $per_channel(input, cast(zero_points, float32), axis), quant_min, quant_max), outtype))"sv},
    {.rule = R"(quantized_decomposed.quantize_per_channel_group.default(input, scales, zero_points, quant_min,
           quant_max, dtype, group_size=128):
       g = size(scales, -1) == 1 && group_size > size(input, -1) ? size(input, -1) : group_size;
       n = product(sizes(scales));
       x = reshape(input, [product(sizes(input)) // g, g]);
       q = round(x * reciprocal(reshape(scales, [n, 1])) + reshape(zero_points, [n, 1]));
       cast(reshape(clamp(q, quant_min, quant_max), sizes(input)), dtype))"sv},
    {.schema = "quantized_decomposed.quantize_per_tensor.default(Tensor input, float scale, int zero_point, "
               "int quant_min, int quant_max, ScalarType dtype) -> Tensor"sv},
    {.schema = "quantized_decomposed.quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, "
               "int quant_min, int quant_max, ScalarType dtype) -> Tensor"sv,
     .rule = R"(quantized_decomposed.quantize_per_tensor.tensor(input, scale, zero_point, quant_min, quant_max, dtype)!:
       cast(clamp(round(cast(input, float32) * cast(reciprocal(view(scale, [])), float32))
           + cast(view(zero_point, []), float32), quant_min, quant_max), outtype))"sv},
    {.rule = R"(quantized_decomposed.quantize_per_token.default(input, scales, zero_points, quant_min, quant_max,
           dtype):
       $is_of_rows(input, scales) && $is_of_rows(input, zero_points)
           && $makes_bytes(input, scales, zero_points, dtype) ?
         davit.quantize_rows.default(cast(input, float32), scales, zero_points, quant_min, quant_max, dtype, false) :
         cast(clamp(round(input * reciprocal(scales) + zero_points), quant_min, quant_max), dtype))"sv},
    {.rule = R"(torchao.choose_qparams_affine.default(input, mapping_type, block_size, target_dtype, quant_min=none,
           quant_max=none, eps=none, scale_dtype=none, zero_point_dtype=none, preserve_zero=true,
           zero_point_domain='INT'):
       a = quant_min == none ? (target_dtype == uint8 ? 0 : target_dtype == int8 ? -128 : fail(0)) : quant_min;
       b = quant_max == none ? (target_dtype == uint8 ? 255 : target_dtype == int8 ? 127 : fail(0)) : quant_max;
       x = reshape(input, $blocks(input, block_size, false));
       d = [i in range(0, rank(input)): 2 * i + 1];
       l = clamp(amin(x, d), none, 0.0);
       h = clamp(amax(x, d), 0.0);
       r = mapping_type == 'ASYMMETRIC' ? (h - l) / float(b - a) :
         mapping_type == 'SYMMETRIC' ? maximum(neg(l), h) / (float(b - a) / 2) :
         mapping_type == 'SYMMETRIC_NO_CLIPPING_ERR' ? maximum(l / float(a), h / float(b)) : fail(0);
       s = clamp(r, eps == none ? epsilon(input) : eps);
       z = mapping_type != 'ASYMMETRIC' ? full(sizes(s), (b + a + 1) // 2, dtype=dtype(s)) :
         preserve_zero && zero_point_domain != 'FLOAT' ? clamp(a - round(l / s), a, b) : fail(0);
       [cast(view(s, out), scale_dtype == none ? dtype(input) : scale_dtype),
           cast(view(z, out), zero_point_dtype == none ? int32 : zero_point_dtype)])"sv},
    {.rule = R"(torchao.dequantize_affine.default(input, block_size, scale, zero_point, input_dtype, quant_min=none,
           quant_max=none, zero_point_domain='INT', output_dtype=float32):
       p = $blocks(input, block_size, true);
       x = cast(reshape(input, $blocks(input, block_size, false)), output_dtype);
       s = reshape(scale, p);
       r = zero_point == none || zero_point_domain == 'NONE' ? x * s :
         zero_point_domain == 'FLOAT' ? (x - (quant_max + quant_min + 1) // 2) * s + reshape(zero_point, p) :
           (x - cast(reshape(zero_point, p), output_dtype)) * s;
       cast(reshape(r, sizes(input)), output_dtype))"sv},
    {.rule = R"(torchao.quantize_affine.default(input, block_size, scale, zero_point, output_dtype, quant_min=none,
           quant_max=none, zero_point_domain='INT'):
       a = quant_min == none ? (output_dtype == uint8 ? 0 : output_dtype == int8 ? -128 : fail(0)) : quant_min;
       b = quant_max == none ? (output_dtype == uint8 ? 255 : output_dtype == int8 ? 127 : fail(0)) : quant_max;
       zero_point == none || zero_point_domain != 'INT' || product(block_size) != size(input, -1)
           || block_size[-1] != size(input, -1) || !$makes_bytes(input, scale, zero_point, output_dtype) ?
         $quantized_blocks(input, block_size, scale, zero_point, output_dtype, a, b, zero_point_domain) :
         davit.quantize_rows.default(cast(input, float32), reshape(scale, sizes(input)[:-1] + [1]),
           reshape(zero_point, sizes(input)[:-1] + [1]), a, b, output_dtype, true))"sv},

    // shared sub-rules
    {.rule = R"($is_of_rows(x, y): rank(x) > 0 && sizes(y) == sizes(x)[:-1] + [1])"sv},
    {.rule = R"($makes_bytes(x, scales, zeros, type): (type == int8 || type == uint8)
           && (dtype(x) == float32 || dtype(x) == float16 || dtype(x) == bfloat16)
           && (dtype(scales) == float64 || (dtype(scales) == float32 && dtype(zeros) != float64)))"sv},
    {.rule = R"($quantized_blocks(x, sizes, scale, zero, type, low, high, domain):
       p = $blocks(x, sizes, true);
       q = round(reshape(x, $blocks(x, sizes, false)) * reciprocal(reshape(scale, p)));
       r = zero == none || domain == 'NONE' ? q : domain == 'FLOAT' ? fail(0) : q + reshape(zero, p);
       cast(reshape(clamp(r, low, high), sizes(x)), type))"sv},
    {.rule = R"($blocks(x, sizes, counts):
       flat([i in range(0, rank(x)): [size(x, i) // sizes[i], counts ? 1 : sizes[i]]]))"sv},
    {.rule = R"($embedded(w, scales, zeros, indices, type):
       g = rank(scales) == 2 ? size(w, 1) // size(scales, 1) : size(w, 1);
       cast(embedding($group_values(w, scales, zeros, g, dtype(scales)), indices), type))"sv},
    {.rule = R"($field(x, shift, mask):
       y = shift == 0 ? x : bitwise_right_shift.Tensor_Scalar(x, shift, sizes=sizes(x), as=dtype(x));
       bitwise_and.Scalar(y, mask, sizes=sizes(x), as=dtype(x)))"sv},
    {.rule = R"($fields(x, shifts, mask, zero):
       b = [s in shifts: $field(x, s, mask)];
       cast(reshape(stack(b, 2), [size(x, 0), size(x, 1) * len(shifts)]), int8) - zero)"sv},
    {.rule = R"($group_values(q, scales, zeros, size, type):
       n = product(sizes(scales));
       x = reshape(q, [product(sizes(q)) // size, size]);
       c = zeros == none ? x : x - reshape(zeros, [n, 1]);
       cast(reshape(c * reshape(scales, [n, 1]), sizes(q)), type))"sv},
    {.rule = R"($fake_steps(x, scale, zero):
       s = x * reciprocal(scale);
       isfloat(zero) ? round(s + zero) : round(s) + zero)"sv},
    {.rule = R"($fake_values(q, scale, zero, low, high): (clamp(q, low, high) - zero) * scale)"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts quantization_facts[] = {
    // clang-format off
    {.name = "aten.fake_quantize_per_tensor_affine"sv, .autocast = AutocastPolicy::full},
    {.name = "davit.embedding_packed"sv, .keeps_nonfinite = true},
    {.name = "davit.linear_packed"sv, .keeps_nonfinite = true},
    {.name = "davit.linear_packed_bytes"sv, .keeps_nonfinite = true},
    {.name = "davit.quantize_rows"sv, .pure = true},
    {.name = "quantized_decomposed.dequantize_per_channel"sv, .range = RangeBound::scaled, .keeps_nonfinite = true,
     .pure = true},
    {.name = "quantized_decomposed.dequantize_per_tensor"sv, .range = RangeBound::scaled, .keeps_nonfinite = true,
     .pure = true},
    {.name = "quantized_decomposed.quantize_per_channel"sv, .pure = true},
    {.name = "quantized_decomposed.quantize_per_tensor"sv, .range = RangeBound::maximum, .pure = true},
    // clang-format on
};

}  // namespace davit::operator_families

// how calls are read
namespace davit::operators {

/// One of quantized_decomposed's: input, scale and zero point or scales, zero points and axis, quant_min, quant_max,
/// dtype, out_dtype.
struct QuantizationOperator {
  const char* target;
  bool quantizes = false;
  bool per_channel = false;
  bool by_tensors = false;  ///< scale and zero point of all elements are tensors
  [[nodiscard]] constexpr Parameter at(const char* name, std::uint32_t position) const noexcept {
    return {name, position + (per_channel ? 1 : 0)};
  }
  [[nodiscard]] constexpr Parameter dtype() const noexcept { return at("dtype", 5); }
  [[nodiscard]] constexpr Parameter out_dtype() const noexcept { return at("out_dtype", 6); }
};

inline constexpr std::array quantization_operators{
    QuantizationOperator{"quantized_decomposed.dequantize_per_tensor.default"},
    QuantizationOperator{"quantized_decomposed.quantize_per_tensor.default", true},
    QuantizationOperator{"quantized_decomposed.dequantize_per_channel.default", false, true},
    QuantizationOperator{"quantized_decomposed.quantize_per_channel.default", true, true},
    QuantizationOperator{"quantized_decomposed.dequantize_per_tensor.tensor", false, false, true},
    QuantizationOperator{"quantized_decomposed.quantize_per_tensor.tensor", true, false, true},
};

}  // namespace davit::operators
