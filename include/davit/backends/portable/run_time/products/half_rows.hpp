// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/products/gemm.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/core/target.hpp"
#include "davit/kernels/half_vectors.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/kernels/vectors.hpp"

/// Linear layers on few rows whose weights stay floats of 16 bits in memory: reading these is most of the work.
namespace davit::portable_kernels::detail {

/// As many rows as this read the weights as they lie.
inline constexpr std::int64_t few_rows_of_halves = 4;

/// y (rows x outputs) = x (rows x depth) * w (outputs x depth) transposed, plus a bias per output.
template <class T>
struct HalfProduct {
  std::int64_t rows, outputs, depth;
  const float* x;
  const T* w;
  const float* bias;  ///< nullptr: zeros
  float* y;
};

/// Some outputs. Each sum has one part per lane.
struct MultiplyHalves {
  template <std::size_t Bytes, class T>
  [[gnu::always_inline]] static void run(const HalfProduct<T>* p, std::int64_t first, std::int64_t end) {
    std::int64_t row = 0;
    const auto take = [&]<std::size_t Rows>() __attribute__((always_inline)) {
      constexpr std::int64_t columns = Rows == 4 && Bytes < 64 ? 2 : 4;  // the number of registers
      for (; row + static_cast<std::int64_t>(Rows) <= p->rows; row += static_cast<std::int64_t>(Rows)) {
        std::int64_t n = first;
        for (; n + columns <= end; n += columns) tile<Bytes, Rows, columns>(*p, row, n);
        for (; n < end; ++n) tile<Bytes, Rows, 1>(*p, row, n);
      }
    };
    take.template operator()<4>();
    take.template operator()<2>();
    take.template operator()<1>();
  }

 private:
  template <std::size_t Bytes, std::size_t Rows, std::size_t Columns, class T>
  [[gnu::always_inline]] static void tile(const HalfProduct<T>& p, std::int64_t row, std::int64_t n) {
    using V = Vector<float, Bytes>;
    const T* const w = p.w + n * p.depth;
    const float* const x = p.x + row * p.depth;
    V sums[Rows][Columns];
    unroll<Rows * Columns>([&]<std::size_t I>()
                               __attribute__((always_inline)) { sums[I / Columns][I % Columns] = V{}; });
    std::int64_t k = 0;
    for (; k + lanes<float, Bytes> <= p.depth; k += lanes<float, Bytes>)
      unroll<Columns>([&]<std::size_t I>() __attribute__((always_inline)) {
        float weights[lanes<float, Bytes>];
        kernels::widen<Bytes>(w + static_cast<std::int64_t>(I) * p.depth + k, weights);
        unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
          sums[R][I] += kernels::vector_at<Bytes>(x + static_cast<std::int64_t>(R) * p.depth + k) *
                        kernels::vector_at<Bytes>(weights);
        });
      });
    unroll<Rows * Columns>([&]<std::size_t I>() __attribute__((always_inline)) {
      const std::int64_t r = row + static_cast<std::int64_t>(I / Columns),
                         output = n + static_cast<std::int64_t>(I % Columns);
      float sum = kernels::sum_of<float, Bytes>(sums[I / Columns][I % Columns]);
      for (std::int64_t i = k; i < p.depth; ++i)
        sum += p.x[r * p.depth + i] * static_cast<float>(p.w[output * p.depth + i]);
      p.y[r * p.outputs + output] = p.bias == nullptr ? sum : sum + p.bias[output];
    });
  }
};

/// True for weights (outputs, depth) of 16 bits that few rows of x multiply, with a bias per output or none.
[[nodiscard]] inline bool takes_halves(const TensorView& x, const TensorView& w, const TensorView* bias) noexcept {
  // elsewhere a conversion first is about as fast, and the code stays small (WebAssembly)
  if constexpr (!DAVIT_WIDER_VECTORS && !DAVIT_TARGET_NEON && kernels::vector_bytes <= 16) return false;
  return (w.dtype == ScalarType::float16 || w.dtype == ScalarType::bfloat16) && x.dtype == w.dtype && w.rank == 2 &&
         w.is_contiguous() && w.size(1) > 0 && x.numel() > 0 && x.numel() <= few_rows_of_halves * w.size(1) &&
         (bias == nullptr || (bias->dtype == w.dtype && bias->rank == 1 && bias->size(0) == w.size(0)));
}

/// The linear layer of such weights, into output 0 of the call.
[[nodiscard]] inline ErrorCode multiply_halves(KernelCall& call, const TensorView& x, const TensorView& w,
                                               const TensorView* bias) {
  ComputeBuffers<float> buffers(call);
  const auto x_id = buffers.read(x);
  const auto bias_id = bias == nullptr ? x_id : buffers.read(*bias);
  const auto y_id = buffers.write(0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  const auto compute = [&]<class T>(const T* weights) {
    const HalfProduct<T> product{x.numel() / w.size(1), w.size(0), w.size(1),
                                 buffers.in(x_id),      weights,   bias == nullptr ? nullptr : buffers.in(bias_id),
                                 buffers.out(y_id)};
    kernels::in_parallel(product.outputs, 4, kernels::operations(product.rows, product.outputs, product.depth),
                         [&](std::size_t, std::int64_t first, std::int64_t end) {
                           kernels::run_widest<MultiplyHalves>(&product, first, end);
                         });
  };
  if (w.dtype == ScalarType::float16)
    compute(w.as<Half>());
  else
    compute(w.as<BFloat16>());
  return buffers.finish();
}

}  // namespace davit::portable_kernels::detail
