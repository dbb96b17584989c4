// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>

#include "davit/backends/portable/result_type.hpp"
#include "davit/backends/portable/views.hpp"

namespace davit::portable_kernels {

namespace detail {

/// Scale and zero point of each element: one for all, or one per index of a dimension.
struct QuantizationParameters {
  double scale = 1;
  double zero_point = 0;
  const TensorView* scales = nullptr;       ///< per channel
  const TensorView* zero_points = nullptr;  ///< per channel, or absent (zeros)
  std::size_t axis = 0;
};

[[nodiscard]] inline ErrorCode read_number(KernelCall& call, const EValue& v, double& out) {
  if (v.is_number()) {
    out = v.number();
    return ErrorCode::ok;
  }
  if (!v.is_tensor() || v.tensor().numel() != 1) return call.refuse(ErrorCode::invalid_argument, "scale and zero point must be single numbers");
  Loader<double> load = nullptr;
  if (const ErrorCode code = find_loader<double>(v.tensor().dtype, load); code != ErrorCode::ok) return code;
  out = load(v.tensor().data, 0);
  return ErrorCode::ok;
}
[[nodiscard]] inline ErrorCode read_per_tensor(KernelCall& call, QuantizationParameters& out) {
  if (const ErrorCode code = read_number(call, call.arg(1), out.scale); code != ErrorCode::ok) return code;
  return read_number(call, call.arg(2), out.zero_point);
}
[[nodiscard]] inline ErrorCode read_per_channel(KernelCall& call, QuantizationParameters& out) {
  const TensorView& x = call.tensor(0);
  std::int64_t axis = call.integer(3);
  if (x.rank == 0 || !wrap_dim(axis, x.rank)) return bad_dim(call);
  out.axis = static_cast<std::size_t>(axis);
  out.scales = &call.tensor(1);
  if (call.is_tensor(2)) out.zero_points = &call.tensor(2);
  for (const TensorView* t : {out.scales, out.zero_points})
    if (t != nullptr && (t->rank != 1 || t->size(0) != x.size(out.axis)))
      return call.refuse(ErrorCode::invalid_shape, "one scale and one zero point per channel are needed");
  return ErrorCode::ok;
}

/// Calls f(offset in x, position in the output, scale, zero point) for every element.
template <class F>
[[nodiscard]] ErrorCode for_each_quantized(const TensorView& x, const QuantizationParameters& p, F&& f) {
  std::int64_t at = 0;
  if (p.scales == nullptr) {
    for_each_index<1>(x.sizes(), {strides_of(x)}, [&](std::int64_t i) { f(i, at++, p.scale, p.zero_point); });
    return ErrorCode::ok;
  }
  Loader<double> scale = nullptr;
  Loader<double> zero = nullptr;
  if (const ErrorCode code = find_loader<double>(p.scales->dtype, scale); code != ErrorCode::ok) return code;
  if (p.zero_points != nullptr)
    if (const ErrorCode code = find_loader<double>(p.zero_points->dtype, zero); code != ErrorCode::ok) return code;
  Sizes channel;
  for (std::size_t d = 0; d < x.rank; ++d) (void)channel.push(d == p.axis ? 1 : 0);
  for_each_index<2>(x.sizes(), {strides_of(x), channel}, [&](std::int64_t i, std::int64_t c) {
    f(i, at++, scale(p.scales->data, c * p.scales->stride(0)),
      p.zero_points == nullptr ? 0.0 : zero(p.zero_points->data, c * p.zero_points->stride(0)));
  });
  return ErrorCode::ok;
}

/// round(x / scale) + zero point, clamped. `at` is the index of quant_min among the arguments.
[[nodiscard]] inline ErrorCode quantize(KernelCall& call, const QuantizationParameters& p, std::size_t at) {
  const TensorView& x = call.tensor(0);
  const auto low = static_cast<float>(call.integer(at));
  const auto high = static_cast<float>(call.integer(at + 1));
  if (const ErrorCode code = call.make(0, call.dtype(at + 2, ScalarType::int8), x.sizes()); code != ErrorCode::ok) return code;
  return dispatch_float(x.dtype, [&]<class T>() {
    return dispatch_integral(call.output(0).dtype, [&]<class Q>() {
      const T* from = x.as<T>();
      Q* to = call.output(0).template as<Q>();
      return for_each_quantized(x, p, [&](std::int64_t i, std::int64_t k, double scale, double zero_point) {
        const float inverse = p.scales == nullptr ? static_cast<float>(1.0 / scale) : 1.0f / static_cast<float>(scale);
        const float v = std::nearbyint(static_cast<float>(from[i]) * inverse) + static_cast<float>(zero_point);
        to[k] = convert<Q>(v < low ? low : v > high ? high : v);
      });
    });
  });
}
/// (x - zero point) * scale. `at` is the index of quant_min among the arguments.
[[nodiscard]] inline ErrorCode dequantize(KernelCall& call, const QuantizationParameters& p, std::size_t at) {
  const TensorView& x = call.tensor(0);
  const ScalarType type = call.arg_count() > at + 3 ? call.dtype(at + 3, ScalarType::float32) : ScalarType::float32;
  if (const ErrorCode code = call.make(0, type, x.sizes()); code != ErrorCode::ok) return code;
  return dispatch_float(type, [&]<class T>() {
    return dispatch_integral(x.dtype, [&]<class Q>() {
      const Q* from = x.as<Q>();
      T* to = call.output(0).template as<T>();
      return for_each_quantized(x, p, [&](std::int64_t i, std::int64_t k, double scale, double zero_point) {
        to[k] = T((static_cast<float>(from[i]) - static_cast<float>(zero_point)) * static_cast<float>(scale));
      });
    });
  });
}

template <auto read, auto compute, std::size_t At>
[[nodiscard]] ErrorCode quantized_op(KernelCall& call) {
  QuantizationParameters p;
  if (const ErrorCode code = read(call, p); code != ErrorCode::ok) return code;
  return compute(call, p, At);
}

}  // namespace detail

inline constexpr auto quantized_ops = std::to_array<OpRow>({
    {"quantized_decomposed.dequantize_per_channel.default", detail::quantized_op<detail::read_per_channel, detail::dequantize, 4>},
    {"quantized_decomposed.dequantize_per_tensor.default", detail::quantized_op<detail::read_per_tensor, detail::dequantize, 3>},
    {"quantized_decomposed.dequantize_per_tensor.tensor", detail::quantized_op<detail::read_per_tensor, detail::dequantize, 3>},
    {"quantized_decomposed.quantize_per_channel.default", detail::quantized_op<detail::read_per_channel, detail::quantize, 4>},
    {"quantized_decomposed.quantize_per_tensor.default", detail::quantized_op<detail::read_per_tensor, detail::quantize, 3>},
    {"quantized_decomposed.quantize_per_tensor.tensor", detail::quantized_op<detail::read_per_tensor, detail::quantize, 3>},
});

}  // namespace davit::portable_kernels
