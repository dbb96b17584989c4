// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/elementwise/binary.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/quantize.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/program/operators/quantization.hpp"

namespace davit::portable_kernels {

namespace detail {

/// The numbers of a call, or the tensors of its scales and zero points.
struct QuantizationParameters : operators::QuantizationView {
  double zero = 0;                       ///< the zero point of all elements
  const TensorView* scale_of = nullptr;  ///< per channel
  const TensorView* zero_of = nullptr;   ///< per channel, or absent (zeros)
};

[[nodiscard]] inline ErrorCode read_element(KernelCall& call, const TensorView& t, double& out) {
  if (t.numel() != 1) return call.refuse(ErrorCode::invalid_argument, "scale and zero point must be single numbers");
  return kernels::load_element(t.data, t.dtype, out) ? ErrorCode::ok : ErrorCode::invalid_dtype;
}
[[nodiscard]] inline ErrorCode read_parameters(KernelCall& call, const operators::QuantizationOperator& op,
                                               QuantizationParameters& out) {
  if (const ErrorCode code = answer(call, operators::read_quantization(KernelArguments(call), op, out));
      code != ErrorCode::ok)
    return code;
  out.zero = static_cast<double>(out.zero_point);
  if (out.scales == no_id) return ErrorCode::ok;
  if (op.by_tensors) {
    const ErrorCode code = read_element(call, call.tensor(out.scales), out.scale);
    return code == ErrorCode::ok ? read_element(call, call.tensor(out.zero_points), out.zero) : code;
  }
  out.scale_of = &call.tensor(out.scales);
  if (out.zero_points != no_id) out.zero_of = &call.tensor(out.zero_points);
  for (const TensorView* t : {out.scale_of, out.zero_of})
    if (t != nullptr && (t->rank != 1 || t->size(0) != call.tensor(0).size(out.axis)))
      return call.refuse(ErrorCode::invalid_shape, "one scale and one zero point per channel are needed");
  return ErrorCode::ok;
}

/// round(x / scale) + zero point, clamped between numbers 0 and 1. Numbers 2 and 3: 1 / scale and the zero point of all
/// elements; per channel, operands 1 and 2 are scales and zero points.
template <bool PerChannel>
void quantize_loop(const void* const* in, void* out, std::int64_t n, Parameters& p) {
  const auto* x = static_cast<const float*>(in[0]);
  const auto* scale = static_cast<const float*>(PerChannel ? in[1] : nullptr);
  const auto* zero_point = static_cast<const float*>(PerChannel ? in[2] : nullptr);
  const auto low = p.number<float>(0);
  const auto high = p.number<float>(1);
  auto* to = static_cast<float*>(out);
  for (std::int64_t i = 0; i < n; ++i) {
    const float inverse = PerChannel ? 1.0f / scale[i] : p.number<float>(2);
    const float v = std::nearbyint(x[i] * inverse) + (PerChannel ? zero_point[i] : p.number<float>(3));
    to[i] = v < low ? low : v > high ? high : v;
  }
}
/// (x - zero point) * scale.
inline void dequantize_loop(const void* const* in, void* out, std::int64_t n, Parameters&) {
  const auto* x = static_cast<const float*>(in[0]);
  const auto* scale = static_cast<const float*>(in[1]);
  const auto* zero_point = static_cast<const float*>(in[2]);
  auto* to = static_cast<float*>(out);
  for (std::int64_t i = 0; i < n; ++i) to[i] = (x[i] - zero_point[i]) * scale[i];
}

/// Computes output 0 with the loop over x, its scales and its zero points, all as floats.
[[nodiscard]] inline ErrorCode run_quantized(KernelCall& call, const QuantizationParameters& p, kernels::BlockLoop loop,
                                             Parameters& parameters) {
  const TensorView& x = call.tensor(0);
  const TensorView& out = call.output(0);
  // a value per channel has x's dimensions from the axis on, with size 1 in all but the first
  std::array<std::int64_t, max_rank> sizes;
  sizes.fill(1);
  std::array<std::array<std::int64_t, max_rank>, 2> strides{};
  std::array<double, 2> single{p.scale, p.zero};
  std::array<TensorView, 2> of;
  for (std::size_t i = 0; i < 2; ++i) {
    const TensorView* channels = i == 0 ? p.scale_of : p.zero_of;
    of[i] = {&single[i], sizes.data(), strides[i].data(), 0, ScalarType::float64};
    if (channels == nullptr) continue;
    sizes[0] = channels->size(0);
    strides[i][0] = channels->stride(0);
    of[i] = {channels->data, sizes.data(), strides[i].data(), static_cast<std::uint8_t>(x.rank - p.axis),
             channels->dtype};
  }
  const std::array<const TensorView*, 3> tensors{&x, &of[0], &of[1]};
  std::array<kernels::Operand, 3> operands;
  for (std::size_t i = 0; i < 3; ++i) {
    operands[i] = {tensors[i], kernels::Conversion::between(tensors[i]->dtype, ScalarType::float32)};
    if (!operands[i].conversion.ok) return ErrorCode::invalid_dtype;
  }
  kernels::map_blocks(operands, out, kernels::Conversion::between(ScalarType::float32, out.dtype), loop, parameters);
  return ErrorCode::ok;
}
[[nodiscard]] constexpr bool is_integer(ScalarType type) noexcept {
  return kernels::compute_of(type) == kernels::Compute::int64 && type != ScalarType::bool_;
}
[[nodiscard]] constexpr bool is_real_float(ScalarType type) noexcept {
  return is_floating(type) && kernels::is_real(type);
}

/// Calls f(pointer, count) for the elements of a contiguous tensor of bytes; false for other tensors.
template <class F>
[[nodiscard]] bool with_bytes(const TensorView& t, F&& f) {
  if (t.dtype != ScalarType::int8 && t.dtype != ScalarType::uint8) return false;
  std::int64_t count = 1;
  for (std::size_t d = t.rank; d-- > 0; count *= t.size(d))
    if (t.size(d) != 1 && t.stride(d) != count) return false;
  if (t.dtype == ScalarType::int8)
    f(t.as<std::int8_t>(), count);
  else
    f(t.as<std::uint8_t>(), count);
  return true;
}

[[nodiscard]] inline ErrorCode quantize(KernelCall& call, const operators::QuantizationOperator& op,
                                        const QuantizationParameters& p) {
  const TensorView& x = call.tensor(0);
  Parameters parameters{.reals = {static_cast<double>(p.low), static_cast<double>(p.high), 1.0 / p.scale, p.zero}};
  if (const ErrorCode code = call.make(0, call.dtype(op.dtype().position, ScalarType::int8), x.sizes());
      code != ErrorCode::ok)
    return code;
  if (!is_real_float(x.dtype) || !is_integer(call.output(0).dtype)) return ErrorCode::invalid_dtype;
  const std::int64_t zero_point = std::fabs(p.zero) < 0x1p30 ? static_cast<std::int64_t>(p.zero) : INT64_MAX;
  if (p.scale_of == nullptr && x.dtype == ScalarType::float32 && x.is_contiguous() &&
      static_cast<double>(zero_point) == p.zero && kernels::is_exact(p.low, p.high, zero_point)) {
    const kernels::ByteRange range{static_cast<float>(1.0 / p.scale), static_cast<std::int32_t>(zero_point),
                                   static_cast<std::int32_t>(p.low), static_cast<std::int32_t>(p.high)};
    if (with_bytes(call.output(0), [&](auto* out, std::int64_t count) {
          kernels::run_widest<kernels::Quantize>(x.as<float>(), out, count, &range);
        }))
      return ErrorCode::ok;
  }
  return run_quantized(call, p, p.scale_of == nullptr ? quantize_loop<false> : quantize_loop<true>, parameters);
}
/// Dequantizes bytes with a scale per channel, row by row; false for other layouts.
[[nodiscard]] inline bool dequantize_rows(const TensorView& x, const QuantizationParameters& p, float* out) {
  std::int64_t inner = 1;
  for (std::size_t d = p.axis + 1; d < x.rank; ++d) inner *= x.size(d);
  const std::int64_t channels = x.size(p.axis);
  const auto number = [](const TensorView* t, std::int64_t c, float otherwise) {
    double value = static_cast<double>(otherwise);
    if (t != nullptr)
      (void)kernels::load_element(
          static_cast<const std::byte*>(t->data) + c * t->stride(0) * static_cast<std::int64_t>(size_of(t->dtype)),
          t->dtype, value);
    return static_cast<float>(value);
  };
  return with_bytes(x, [&](const auto* from, std::int64_t count) {
    for (std::int64_t row = 0; row < count / std::max<std::int64_t>(inner, 1); ++row) {
      const std::int64_t c = row % channels;
      const kernels::ByteScale scale{number(p.scale_of, c, 1), number(p.zero_of, c, 0)};
      kernels::run_widest<kernels::Dequantize>(from + row * inner, out + row * inner, inner, &scale);
    }
  });
}

[[nodiscard]] inline ErrorCode dequantize(KernelCall& call, const operators::QuantizationOperator& op,
                                          const QuantizationParameters& p) {
  const TensorView& x = call.tensor(0);
  const ScalarType type = call.dtype(op.out_dtype().position, ScalarType::float32);
  if (const ErrorCode code = call.make(0, type, x.sizes()); code != ErrorCode::ok) return code;
  if (const kernels::ByteScale scale{static_cast<float>(p.scale), static_cast<float>(p.zero)};
      p.scale_of == nullptr && type == ScalarType::float32 && with_bytes(x, [&](const auto* from, std::int64_t count) {
        kernels::run_widest<kernels::Dequantize>(from, call.output(0).as<float>(), count, &scale);
      }))
    return ErrorCode::ok;
  if (!is_real_float(type) || !is_integer(x.dtype)) return ErrorCode::invalid_dtype;
  if (p.scale_of != nullptr && type == ScalarType::float32 && dequantize_rows(x, p, call.output(0).as<float>()))
    return ErrorCode::ok;
  Parameters none;
  return run_quantized(call, p, dequantize_loop, none);
}

/// choose_qparams(input, quant_min, quant_max, eps, dtype) -> (scale, zero_point), in float32 as in torch; for halves
/// the range and the steps are rounded to halves. Source: torch.ao.quantization.utils.determine_qparams.
template <bool Symmetric>
[[nodiscard]] ErrorCode choose_parameters(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const std::int64_t one = 1;
  if (const ErrorCode code = call.make(0, ScalarType::float64, {&one, 1}); code != ErrorCode::ok) return code;
  if (call.wants(1))
    if (const ErrorCode code = call.make(1, ScalarType::int64, {&one, 1}); code != ErrorCode::ok) return code;
  if (!is_real_float(x.dtype)) return ErrorCode::invalid_dtype;
  if (x.numel() == 0) return call.refuse(ErrorCode::invalid_shape, "an empty tensor has no range");
  float low = 0;
  float high = 0;
  bool ordered = true;
  if (x.dtype == ScalarType::float32 && x.is_contiguous()) {
    kernels::run_widest<kernels::RangeOf>(x.as<float>(), x.numel(), &low, &high);
    ordered = low == low;
  } else {
    for_each_index<1>(x.sizes(), {strides_of(x)}, [&](std::int64_t at) {
      const auto v = element_as<float>(x, at);
      ordered = ordered && v == v;
      low = std::min(low, v);
      high = std::max(high, v);
    });
  }
  if (!ordered) return call.refuse(ErrorCode::invalid_argument, "a tensor with NaN has no range");
  const std::int64_t first = call.integer(1);
  const std::int64_t last = call.integer(2);
  if (first >= last) return call.refuse(ErrorCode::invalid_argument, "quant_min has to be less than quant_max");
  const auto steps = static_cast<float>(last - first);
  const auto least = static_cast<float>(call.number(3));
  const auto rounded = [&](float v) {
    return x.dtype == ScalarType::float16 ? float(Half(v)) : x.dtype == ScalarType::bfloat16 ? float(BFloat16(v)) : v;
  };
  const float scale =
      std::max(rounded(Symmetric ? std::max(-low, high) / (steps / 2) : rounded(high - low) / steps), least);
  std::int64_t zero = Symmetric ? (call.dtype(4, ScalarType::int8) == ScalarType::uint8 ? 128 : 0) : 0;
  if (!Symmetric) zero = std::clamp(first - static_cast<std::int64_t>(std::nearbyint(low / scale)), first, last);
  *call.output(0).template as<double>() = static_cast<double>(scale);
  if (call.wants(1)) *call.output(1).template as<std::int64_t>() = zero;
  return ErrorCode::ok;
}

/// Numbers of rows, or one for all, as doubles; false for another count or dtype.
[[nodiscard]] inline bool numbers_of_rows(const TensorView& t, std::int64_t rows, double* to) {
  const std::int64_t count = checked_numel(t);
  if (count != rows && count != 1) return false;
  bool good = true;
  double* out = to;
  for_each_index<1>(t.sizes(), {strides_of(t)}, [&](std::int64_t at) {
    const auto offset = at * static_cast<std::int64_t>(size_of(t.dtype));
    good = kernels::load_element(static_cast<const std::byte*>(t.data) + offset, t.dtype, *out++) && good;
  });
  if (count == 1) std::fill_n(to, rows, *to);
  return good;
}

/// davit.quantize_rows(input (*, n), scales, zero_points, quant_min, quant_max, dtype, rounds_first): bytes of float32,
/// with one scale and zero point for all or one per row. In double where the scales are, else in float. Errors:
/// invalid_shape, invalid_dtype, invalid_argument. O(input).
[[nodiscard]] inline ErrorCode quantize_rows(KernelCall& call) {
  const TensorView &x = call.tensor(0), &scales = call.tensor(1);
  const ScalarType type = call.dtype(5, ScalarType::int8);
  const std::int64_t low = call.integer(3), high = call.integer(4);
  if (x.dtype != ScalarType::float32 || (type != ScalarType::int8 && type != ScalarType::uint8))
    return call.refuse(ErrorCode::invalid_dtype, "rows of float32 become bytes");
  if (x.rank == 0) return call.refuse(ErrorCode::invalid_shape, "a number has no rows");
  if (!kernels::is_exact(low, high, 0))
    return call.refuse(ErrorCode::invalid_argument, "quant_min and quant_max cross, or no byte has them");
  if (const ErrorCode code = call.make(0, type, x.sizes()); code != ErrorCode::ok) return code;
  if (call.output(0).numel() == 0) return ErrorCode::ok;
  const std::int64_t size = x.size(x.rank - 1u), rows = x.numel() / size;
  ComputeBuffers<float> buffers(call);
  const auto from = buffers.read(x);
  const auto numbers = buffers.buffer_of<double>(2 * rows);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  auto* const scale = buffers.at<double>(numbers);
  if (!numbers_of_rows(scales, rows, scale) || !numbers_of_rows(call.tensor(2), rows, scale + rows))
    return call.refuse(ErrorCode::invalid_shape, "one scale and one zero point are needed, or one of each row");
  const auto run = [&]<class T, class Byte>(T, Byte* to) {
    kernels::in_parallel(
        rows, 1, kernels::operations(rows, size), [&](std::size_t, std::int64_t first, std::int64_t end) {
          for (std::int64_t i = first; i < end; ++i) {
            const kernels::RowQuantization<T> row{T{1} / static_cast<T>(scale[i]), static_cast<T>(scale[rows + i]),
                                                  static_cast<T>(low), static_cast<T>(high), call.boolean(6)};
            kernels::run_widest<kernels::QuantizeRow>(buffers.in(from) + i * size, to + i * size, size, &row);
          }
        });
  };
  const auto with = [&](auto number) {
    if (type == ScalarType::int8)
      run(number, call.output(0).as<std::int8_t>());
    else
      run(number, call.output(0).as<std::uint8_t>());
  };
  if (scales.dtype == ScalarType::float64)
    with(1.0);
  else
    with(1.0f);
  return ErrorCode::ok;
}

[[nodiscard]] inline ErrorCode convert_quantized(KernelCall& call, const operators::QuantizationOperator& op) {
  QuantizationParameters p;
  if (const ErrorCode code = read_parameters(call, op, p); code != ErrorCode::ok) return code;
  return op.quantizes ? quantize(call, op, p) : dequantize(call, op, p);
}

}  // namespace detail

inline constexpr auto quantized_ops =
    joined_rows(rows_of<operators::quantization_operators, detail::convert_quantized>(),
                std::to_array<OpRow>({
                    {"davit.quantize_rows.default", detail::quantize_rows},
                    {"quantized_decomposed.choose_qparams.tensor", detail::choose_parameters<false>},
                    {"quantized_decomposed.choose_qparams_symmetric.tensor", detail::choose_parameters<true>},
                }));

}  // namespace davit::portable_kernels
