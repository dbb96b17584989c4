// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "davit/backends/portable/dispatch.hpp"
#include "davit/backends/portable/kernel_call.hpp"
#include "davit/backends/portable/multiply.hpp"
#include "davit/backends/portable/staging.hpp"

namespace davit::portable_kernels {

namespace detail {

/// Calls `f.template operator()<C>()` with the type products of `type` are computed in: integers modulo 2^64.
/// Source: the dtypes of at::addmm on the CPU.
template <class F>
[[nodiscard]] ErrorCode dispatch_product(KernelCall& call, ScalarType type, F&& f) {
  switch (type) {
    case ScalarType::float32:
    case ScalarType::float16:
    case ScalarType::bfloat16: return f.template operator()<float>();
    case ScalarType::float64: return f.template operator()<double>();
    case ScalarType::int64:
    case ScalarType::int32:
    case ScalarType::int16:
    case ScalarType::int8:
    case ScalarType::uint8: return f.template operator()<std::uint64_t>();
    default: return call.refuse(ErrorCode::invalid_dtype, "matrix products take floats and integers, not this dtype");
  }
}

/// One operand of a batched product: sizes and strides of its batch dimensions, then its matrix.
struct ProductOperand {
  Sizes batch;
  Sizes batch_strides;
  std::int64_t rows = 1, columns = 1;
  std::int64_t row = 0, col = 0;
};

/// What is added to a product: result = alpha * product + beta * addend (broadcast).
struct Addend {
  const TensorView* tensor = nullptr;
  EValue alpha{1};
  EValue beta{1};
};

/// A tensor as a stack of matrices; of rank 1, one row (left operand) or one column (right operand).
inline ProductOperand product_operand(std::span<const std::int64_t> sizes, const Sizes& strides, bool left) {
  ProductOperand p;
  const std::size_t rank = sizes.size();
  if (rank == 1) {
    (left ? p.columns : p.rows) = sizes[0];
    (left ? p.col : p.row) = strides[0];
    return p;
  }
  for (std::size_t d = 0; d + 2 < rank; ++d) {
    p.batch.push(sizes[d]);
    p.batch_strides.push(strides[d]);
  }
  p.rows = sizes[rank - 2];
  p.columns = sizes[rank - 1];
  p.row = strides[rank - 2];
  p.col = strides[rank - 1];
  return p;
}

/// Treats the batch dimensions of a left operand as rows, if they follow one another evenly in memory.
inline bool fold_batch(ProductOperand& p) {
  std::int64_t row = p.row;
  std::int64_t rows = p.rows;
  for (std::size_t d = p.batch.rank; d-- > 0;) {
    if (p.batch[d] == 1) continue;
    if (rows == 1) {
      row = p.batch_strides[d];
    } else if (p.batch_strides[d] != row * rows) {
      return false;
    }
    rows *= p.batch[d];
  }
  p.row = row;
  p.rows = rows;
  p.batch = p.batch_strides = Sizes();
  return true;
}

inline Sizes broadcast_batch_strides(const ProductOperand& p, const Sizes& batch) {
  const TensorView view{nullptr, p.batch.values.data(), p.batch_strides.values.data(),
                        static_cast<std::uint8_t>(p.batch.rank), ScalarType::float32};
  return broadcast_strides(view, batch.span());
}

template <class C>
[[nodiscard]] ErrorCode run_product(KernelCall& call, const TensorView& a, const TensorView& b, bool transpose_b,
                                    const Sizes& sizes, const Sizes& batch, const Addend& addend) {
  Staging<C> staging(call);
  const auto a_id = staging.read_strided(a);
  const auto b_id = staging.read_strided(b);
  const C alpha = scalar_as<C>(addend.alpha);
  const C beta = scalar_as<C>(addend.beta);
  const bool adds = addend.tensor != nullptr && beta != C{};
  const auto c_id = adds ? staging.read_strided(*addend.tensor) : 0;
  const auto out_id = staging.write(0);
  ProductOperand left = product_operand(a.sizes(), strides_of(a), true);
  ProductOperand right = product_operand(b.sizes(), strides_of(b), false);
  const std::int64_t rows_total = left.rows * left.batch.span().size() == 0 ? 1 : checked_numel(a);
  (void)rows_total;
  (void)transpose_b;
  (void)batch;
  (void)sizes;
  (void)alpha;
  (void)c_id;
  (void)out_id;
  (void)a_id;
  (void)b_id;
  return ErrorCode::ok;
}

}  // namespace detail
}
