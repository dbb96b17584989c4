// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"

namespace davit::portable_kernels {

namespace detail {

/// Adds each row of `grad` to the row of output 0 with its index, rounding after each addition as torch does.
template <class C>
[[nodiscard]] ErrorCode add_rows(KernelCall& call, const TensorView& grad, const std::int64_t* index,
                                 const std::int64_t* uses, std::int64_t skipped) {
  const std::size_t last = grad.rank - 1u;
  const std::int64_t width = grad.size(last);
  const std::size_t element = size_of(grad.dtype);
  const kernels::Conversion load = kernels::Conversion::between(grad.dtype, scalar_type_of<C>);
  const kernels::Conversion store = kernels::Conversion::between(scalar_type_of<C>, grad.dtype);
  auto* out = call.output(0).as<std::byte>();
  std::memset(out, 0, call.output(0).nbytes());
  kernels::Block sums;
  kernels::Block terms;
  kernels::Block scratch;
  const auto step = grad.stride(last) * static_cast<std::int64_t>(element);
  for_each_index<1>(grad.sizes().first(last), {strides_of(grad)}, [&](std::int64_t at) {
    const std::int64_t row = *index++;
    if (row == skipped) return;
    const C scale = uses == nullptr ? C{1} : static_cast<C>(1.0 / static_cast<double>(uses[row]));
    const std::byte* from = grad.as<std::byte>() + at * static_cast<std::int64_t>(element);
    std::byte* to = out + static_cast<std::size_t>(row * width) * element;
    for (std::int64_t j = 0; j < width; j += kernels::block_length) {
      const std::int64_t n = std::min(width - j, kernels::block_length);
      std::byte* place = to + static_cast<std::size_t>(j) * element;
      std::byte* gathered = (load.count == 0 ? terms : scratch).bytes.data();
      kernels::move_row(element, from + j * step, step, gathered, static_cast<std::int64_t>(element), n);
      load.run(gathered, terms.bytes.data(), nullptr, n);
      load.run(place, sums.bytes.data(), nullptr, n);
      C* sum = load.count == 0 ? reinterpret_cast<C*>(place) : reinterpret_cast<C*>(sums.bytes.data());
      const C* term = reinterpret_cast<const C*>(terms.bytes.data());
      for (std::int64_t i = 0; i < n; ++i) sum[i] = sum[i] + scale * term[i];
      store.run(sum, place, nullptr, n);
    }
  });
  return ErrorCode::ok;
}

}  // namespace detail

/// embedding_dense_backward(grad_output (*, width), indices (*), num_weights, padding_idx, scale_grad_by_freq) ->
/// (num_weights, width): the gradient of embedding by its weight. Other indices outside the weight than padding_idx are
/// refused. Source: at::embedding_dense_backward on CPU.
[[nodiscard]] inline ErrorCode embedding_dense_backward(KernelCall& call) {
  const TensorView& grad = call.tensor(0);
  const TensorView& indices = call.tensor(1);
  const std::int64_t rows = call.integer(2);
  const std::int64_t padding_idx = call.integer(3, -1);
  const bool by_frequency = call.boolean(4);
  if (indices.dtype != ScalarType::int64 && indices.dtype != ScalarType::int32)
    return call.refuse(ErrorCode::invalid_dtype, "indices must be int64 or int32");
  if (grad.rank == 0) return call.refuse(ErrorCode::invalid_shape, "the gradient must have the embedding's dimension");
  std::int64_t given = 1;
  for (std::size_t d = 0; d + 1 < grad.rank; ++d) given *= grad.size(d);
  const std::int64_t count = indices.numel();
  if (given != count) return call.refuse(ErrorCode::invalid_shape, "the gradient must have a row for each index");
  const std::int64_t width = grad.size(grad.rank - 1u);
  if (const ErrorCode code = call.make(0, grad.dtype, std::array{rows, width}); code != ErrorCode::ok) return code;
  if (call.output(0).numel() == 0 && count == 0) return ErrorCode::ok;
  const std::int64_t counters = by_frequency && width != 0 ? rows : 0;
  auto* index = call.temporary<std::int64_t>(static_cast<std::size_t>(count + counters));
  if (index == nullptr) return call.refuse(ErrorCode::out_of_memory, "no memory for the indices");
  if (const ErrorCode code = convert_elements(indices, ScalarType::int64, index); code != ErrorCode::ok) return code;
  for (std::int64_t i = 0; i < count; ++i)
    if (index[i] != padding_idx && (index[i] < 0 || index[i] >= rows))
      return call.refuse(ErrorCode::out_of_range, "an index is outside the weight");
  std::int64_t* uses = counters == 0 ? nullptr : index + count;
  std::fill_n(index + count, counters, std::int64_t{0});
  for (std::int64_t i = 0; uses != nullptr && i < count; ++i)
    if (index[i] != padding_idx) ++uses[index[i]];
  return dispatch_floating(call, grad.dtype,
                           [&]<class C>() { return detail::add_rows<C>(call, grad, index, uses, padding_idx); });
}

inline constexpr auto embedding_backward_ops =
    std::to_array<OpRow>({{"aten.embedding_dense_backward.default", embedding_dense_backward}});

}  // namespace davit::portable_kernels
