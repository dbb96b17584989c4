// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/products/convolve.hpp"
#include "davit/program/operators/convolution.hpp"

namespace davit::portable_kernels {

namespace detail {

template <class C>
[[nodiscard]] ErrorCode compute_convolution(KernelCall& call, const ConvolutionCall& c) {
  if (call.output(0).numel() == 0) return ErrorCode::ok;
  ComputeBuffers<C> buffers(call);
  const auto input = buffers.read(call.tensor(0));
  const auto weight = buffers.read(call.tensor(1));
  const auto bias = call.has(2) ? buffers.read(call.tensor(2)) : input;
  const auto out = buffers.write(0);
  const auto work = buffers.buffer(convolution_work<C>(c.map));
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  const C* added = call.has(2) ? buffers.in(bias) : nullptr;
  if (c.transposed) {
    convolve_adjoint<C>(c.map, buffers.in(input), buffers.in(weight), added, buffers.out(work), buffers.out(out));
  } else {
    convolve<C>(c.map, buffers.in(input), buffers.in(weight), added, buffers.out(work), buffers.out(out),
                call.epilogue == nullptr ? RowEpilogue() : *call.epilogue);
  }
  return buffers.finish();
}

[[nodiscard]] inline ErrorCode run_convolution(KernelCall& call, const operators::ConvolutionOperator& op) {
  ConvolutionCall c;
  if (const ErrorCode code = read_convolution(call, op, c); code != ErrorCode::ok) return code;
  const ScalarType dtype = call.tensor(0).dtype;
  if (call.epilogue != nullptr && (dtype != ScalarType::float32 || c.transposed ||
                                   (call.epilogue->factors != nullptr && call.epilogue->rows != c.out_channels())))
    return call.refuse(ErrorCode::invalid_program,
                       "convolution: it is not what the program declares, and what follows it does not fit");
  if (const ErrorCode code = call.make(0, dtype, c.out_sizes()); code != ErrorCode::ok) return code;
  return dispatch_product(call, dtype, [&]<class C>() { return compute_convolution<C>(call, c); });
}

[[nodiscard]] constexpr bool is_no_gradient(const operators::ConvolutionOperator& op) noexcept { return !op.gradient; }

/// grad_bias: the sum of grad_output over the batch and space.
template <class C>
void sum_per_channel(const C* grad, std::int64_t batch, std::int64_t channels, std::int64_t size, C* out) {
  for (std::int64_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (std::int64_t n = 0; n < batch; ++n)
      for (std::int64_t i = 0; i < size; ++i) sum += static_cast<double>(grad[(n * channels + c) * size + i]);
    out[c] = static_cast<C>(sum);
  }
}

template <class C>
[[nodiscard]] ErrorCode compute_convolution_backward(KernelCall& call, const ConvolutionCall& c,
                                                     const std::array<bool, 3>& wanted) {
  ComputeBuffers<C> buffers(call);
  const auto grad_id = buffers.read(call.tensor(0));
  const auto input_id = buffers.read(call.tensor(1));
  const auto weight_id = buffers.read(call.tensor(2));
  std::array<std::size_t, 3> out{};
  for (std::size_t i = 0; i < 3; ++i)
    if (wanted[i]) out[i] = buffers.write(i);
  const auto work_id = buffers.buffer(convolution_work<C>(c.map));
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  const C* grad = buffers.in(grad_id);
  const C* input = buffers.in(input_id);
  C* work = buffers.out(work_id);
  const ConvolutionMap& m = c.map;
  if (wanted[0] && c.transposed) convolve<C>(m, grad, buffers.in(weight_id), nullptr, work, buffers.out(out[0]));
  if (wanted[0] && !c.transposed)
    convolve_adjoint<C>(m, grad, buffers.in(weight_id), nullptr, work, buffers.out(out[0]));
  if (wanted[1])
    convolve_weights<C>(m, c.transposed ? grad : input, c.transposed ? input : grad, work, buffers.out(out[1]));
  if (wanted[2]) sum_per_channel(grad, m.batch, c.out_channels(), volume(c.out_spatial()), buffers.out(out[2]));
  return buffers.finish();
}

}  // namespace detail

/// convolution_backward(grad_output, input, weight, bias_sizes?, ..., output_mask) -> (grad_input, grad_weight,
/// grad_bias); outputs that output_mask excludes are None. Source: at::convolution_backward.
[[nodiscard]] inline ErrorCode convolution_backward(KernelCall& call) {
  const TensorView& grad = call.tensor(0);
  const TensorView& input = call.tensor(1);
  const TensorView& weight = call.tensor(2);
  ConvolutionCall c;
  const auto& op = operators::row_of(operators::convolution_operators, "aten.convolution_backward.default");
  if (const ErrorCode code = read_convolution(call, op, c); code != ErrorCode::ok) return code;
  const std::span<const EValue> mask = call.list(10);
  if (mask.size() != 3)
    return call.refuse(ErrorCode::invalid_argument, "convolution_backward: output_mask needs three elements");
  if (grad.dtype != input.dtype)
    return call.refuse(ErrorCode::invalid_dtype,
                       "convolution_backward: grad_output and input must have the same dtype");
  if (!std::ranges::equal(grad.sizes(), c.out_sizes().span()))
    return call.refuse(ErrorCode::invalid_shape,
                       "convolution_backward: grad_output does not have the sizes of the convolution's output");
  std::array<bool, 3> wanted{};
  const Sizes bias_sizes(std::array{c.out_channels()});
  const std::array<std::span<const std::int64_t>, 3> sizes{input.sizes(), weight.sizes(), bias_sizes.span()};
  for (std::size_t i = 0; i < 3; ++i) {
    wanted[i] = call.wants(i) && mask[i].is_number() && mask[i].number() != 0;
    call.set(i, EValue());
    if (!wanted[i]) continue;
    if (const ErrorCode code = call.make(i, input.dtype, sizes[i]); code != ErrorCode::ok) return code;
  }
  return dispatch_floating(call, input.dtype,
                           [&]<class C>() { return detail::compute_convolution_backward<C>(call, c, wanted); });
}

/// convolution(input (N, C, *), weight, bias?, stride, padding, dilation, transposed, output_padding, groups); conv1d,
/// conv2d and conv3d, with inputs without a batch dimension and padding="same" or "valid"; and the gradient. Source:
/// at::convolution, at::conv2d.
inline constexpr auto convolution_ops =
    joined_rows(rows_of<operators::convolution_operators, detail::run_convolution, detail::is_no_gradient>(
                    {.takes_epilogue = true}),
                std::to_array<OpRow>({{"aten.convolution_backward.default", convolution_backward}}));

}  // namespace davit::portable_kernels
