// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/dispatch.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/products/half_rows.hpp"
#include "davit/backends/portable/run_time/products/multiply.hpp"
#include "davit/program/operators/matmul.hpp"

namespace davit::portable_kernels {

namespace detail {

/// A tensor as a stack of matrices: sizes and strides of its batch dimensions, then of the matrix.
struct MatrixStack {
  Sizes batch;
  Sizes batch_strides;
  std::int64_t rows = 1, columns = 1;
  std::int64_t row = 0, col = 0;

  /// A tensor of rank 1 is one row, as a left operand.
  MatrixStack(std::span<const std::int64_t> sizes, const Sizes& strides) noexcept {
    const std::size_t rank = sizes.size();
    for (std::size_t d = 0; d + 2 < rank; ++d) {
      batch.push(sizes[d]);
      batch_strides.push(strides[d]);
    }
    if (rank >= 2) {
      rows = sizes[rank - 2];
      row = strides[rank - 2];
    }
    if (rank >= 1) {
      columns = sizes[rank - 1];
      col = columns == 1 ? 1 : strides[rank - 1];
    }
  }
  void transpose() noexcept {
    std::swap(rows, columns);
    std::swap(row, col);
  }
  /// Merges the batch dimensions into the rows if their stride is even.
  void fold_batch() noexcept {
    std::int64_t step = row;
    std::int64_t count = rows;
    for (std::size_t d = batch.rank; d-- > 0;) {
      if (batch[d] == 1) continue;
      if (count == 1) step = batch_strides[d];
      if (count != 1 && batch_strides[d] != step * count) return;
      count *= batch[d];
    }
    row = step;
    rows = count;
    batch = batch_strides = Sizes();
  }
  /// The batch strides of the stack when broadcast to `to`.
  [[nodiscard]] Sizes broadcast_to(const Sizes& to) const noexcept {
    return broadcast_strides({nullptr, batch.values.data(), batch_strides.values.data(),
                              static_cast<std::uint8_t>(batch.rank), ScalarType::undefined},
                             to.span());
  }
};

/// The summand of a product: beta * tensor, broadcast to all its rows (batch dimensions count as rows).
struct Addend {
  const TensorView* tensor = nullptr;
  EValue beta{1};
  EValue alpha{1};  ///< factor of the product
};

/// Output 0 of these sizes = alpha * a @ b + beta * addend, with broadcast batch dimensions; `b_is_transposed`: b is
/// given by its columns, as in linear.
struct Product {
  const TensorView* a;
  const TensorView* b;
  bool b_is_transposed = false;
  Addend addend = {};
  bool pairs = false;          ///< the operands are those of PairedOperand
  std::int64_t pair_step = 0;  ///< between the two elements of a pair of b
};

/// True for a subnormal bfloat16.
[[nodiscard]] constexpr bool is_subnormal_bfloat16(std::uint16_t bits) noexcept {
  return ((bits & 0x7fffu) - 1u) < 0x7fu;
}
struct AnySubnormalBFloat16 {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static bool run(const std::uint16_t* x, std::int64_t n) noexcept {
    std::int64_t i = 0;
    if constexpr (kernels::walks_vectors<Bytes>) {
      using V = Vector<std::uint16_t, Bytes>;
      V any{};
      for (; i + lanes<std::uint16_t, Bytes> <= n; i += lanes<std::uint16_t, Bytes>) {
        const V v = kernels::vector_at<Bytes>(x + i);
        any |= __builtin_bit_cast(V, ((v & 0x7fff) - 1) < 0x7f);
      }
      if (kernels::sum_of<std::uint16_t, Bytes>(any & 1) != 0) return true;
    }
    for (; i < n; ++i)
      if (is_subnormal_bfloat16(x[i])) return true;
    return false;
  }
};

/// A bfloat16 operand as a tensor of pairs of neighbours along the summed dimension (gemm.hpp).
struct PairedOperand {
  Sizes sizes, strides;
  const void* data = nullptr;

  /// Reads a left operand, whose pairs are adjacent: strides are in pairs. False if they are not, or if it has
  /// subnormal numbers. O(elements).
  [[nodiscard]] bool read_left(const TensorView& t) noexcept {
    const std::size_t summed = t.rank - 1u;
    if (!read(t, summed) || t.stride(summed) != 1 || !lies_in_pairs(t.data)) return false;
    strides[summed] = 1;
    for (std::size_t d = 0; d < summed; ++d) {
      if (sizes[d] != 1 && strides[d] % 2 != 0) return false;
      strides[d] /= 2;
    }
    return true;
  }
  /// Reads a right operand: strides are in bfloat16. False if it has subnormal numbers. O(elements).
  [[nodiscard]] bool read_right(const TensorView& t, std::size_t summed) noexcept {
    if (!read(t, summed)) return false;
    strides[summed] *= 2;
    return true;
  }
  [[nodiscard]] TensorView view() const noexcept {
    return {const_cast<void*>(data), sizes.values.data(), strides.values.data(), static_cast<std::uint8_t>(sizes.rank),
            ScalarType::float32};
  }
  [[nodiscard]] static bool lies_in_pairs(const void* at) noexcept {
    return reinterpret_cast<std::uintptr_t>(at) % alignof(float) == 0;
  }

 private:
  [[nodiscard]] bool read(const TensorView& t, std::size_t summed) noexcept {
    sizes = Sizes(t.sizes());
    strides = strides_of(t);
    data = t.data;
    if (t.dtype != ScalarType::bfloat16 || sizes[summed] % 2 != 0) return false;
    Walk walk(sizes);
    walk.add(strides, 1).sort_by(0);
    if (walk.count == 0) return false;
    for (std::size_t d = 0; d < walk.rank; ++d)
      if (walk.strides[0][d] == 0) {  // an expanded dimension is checked once
        walk.count /= walk.sizes[d];
        walk.sizes[d] = 1;
      }
    walk.collapse();
    sizes[summed] /= 2;
    const auto* const first = static_cast<const std::uint16_t*>(data);
    const std::int64_t step = walk.strides[0][0];
    bool subnormal = false;
    walk.for_each_row([&](const auto& at) {
      if (step == 1)
        subnormal = subnormal || kernels::run_widest<AnySubnormalBFloat16>(first + at[0], walk.sizes[0]);
      else
        for (std::int64_t i = 0; i < walk.sizes[0]; ++i)
          subnormal = subnormal || is_subnormal_bfloat16(first[at[0] + i * step]);
    });
    return !subnormal;
  }
};

/// to[j] = the pair of low[j] and high[j].
struct JoinPairs {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const std::uint16_t* low, const std::uint16_t* high, std::int64_t step,
                                         float* to, std::int64_t n) noexcept {
    std::int64_t j = 0;
    if constexpr (kernels::walks_vectors<Bytes>) {
      using V = Vector<std::uint32_t, Bytes>;
      for (; step == 1 && j + lanes<float, Bytes> <= n; j += lanes<float, Bytes>) {
        const V a = __builtin_convertvector(kernels::vector_at<Bytes / 2>(low + j), V);
        const V b = __builtin_convertvector(kernels::vector_at<Bytes / 2>(high + j), V);
        kernels::vector_at<Bytes>(to + j) = __builtin_bit_cast(kernels::Vector<float, Bytes>, a | b << 16);
      }
    }
    for (; j < n; ++j) {
      const std::uint32_t bits = low[j * step] | static_cast<std::uint32_t>(high[j * step]) << 16;
      std::memcpy(to + j, &bits, sizeof bits);
    }
  }
};
/// Copies a part of a right operand, with strides in bfloat16, to a panel of pairs.
inline void pack_pairs(const std::uint16_t* b, std::int64_t step, std::int64_t col, const PanelRange& r, float* to) {
  const std::uint16_t* from = b + r.k * 2 * step + r.j * col;
  if (step == 1 && col % 2 == 0 && PairedOperand::lies_in_pairs(from))
    return pack_panel(Matrix<float>{reinterpret_cast<const float*>(from), 1, col / 2},
                      {0, r.depth, 0, r.count, r.width, r.packed_rows}, to);
  for (std::int64_t k = 0; k < r.depth; ++k, from += 2 * step)
    kernels::run_widest<JoinPairs>(from, from + step, col, to + k * r.width, r.count);
}

/// to[i] += factor * from[i * step].
struct AddScaledRow {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(C factor, const C* from, std::int64_t step, C* to, std::int64_t n) {
    std::int64_t i = 0;
    if constexpr (std::is_floating_point_v<C>)
      for (; step == 1 && i + lanes<C, Bytes> <= n; i += lanes<C, Bytes>)
        kernels::vector_at<Bytes>(to + i) =
            kernels::vector_at<Bytes>(to + i) + factor * kernels::vector_at<Bytes>(from + i);
    for (; i < n; ++i) to[i] += factor * from[i * step];
  }
};

template <class C>
[[nodiscard]] ErrorCode compute_product(KernelCall& call, const Product& p) {
  ComputeBuffers<C> buffers(call);
  const auto a_id = buffers.read_strided(*p.a);
  const auto b_id = buffers.read_strided(*p.b);
  const C alpha = scalar_as<C>(p.addend.alpha);
  const C beta = scalar_as<C>(p.addend.beta);
  const bool adds = p.addend.tensor != nullptr && beta != C{};
  const auto addend_id = adds ? buffers.read_strided(*p.addend.tensor) : a_id;
  const auto out_id = buffers.write(0);
  MatrixStack a(p.a->sizes(), strides_of(*p.a));
  MatrixStack b(p.b->sizes(), strides_of(*p.b));
  if (p.b->rank == 1 || p.b_is_transposed) b.transpose();
  Sizes batch;
  (void)broadcast(a.batch, b.batch, batch);
  const std::int64_t n = b.columns;
  const std::int64_t k = a.columns;
  const std::int64_t total = call.output(0).numel();
  if (total == 0) return ErrorCode::ok;
  const auto max_work = [&] { return std::max(multiply_work<C>(a.rows, n), multiply_work<C>(total / n, n)); };
  const std::int64_t work_of_thread = [&] {
    const kernels::TeamScope alone(nullptr);
    return max_work();
  }();
  const auto work_id = buffers.buffer(std::max(max_work(), kernels::team_size() * work_of_thread));
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;

  a = MatrixStack(p.a->sizes(), buffers.strides(a_id));
  b = MatrixStack(p.b->sizes(), buffers.strides(b_id));
  if (p.b->rank == 1 || p.b_is_transposed) b.transpose();
  if (b.batch.rank == 0) a.fold_batch();
  if (a.batch.rank == 0 && b.batch.rank == 0) batch = Sizes();
  const std::int64_t m = a.rows;
  const std::array<std::int64_t, 2> rows_by_columns{total / n, n};
  const Sizes addend_strides =
      adds ? broadcast_strides({nullptr, p.addend.tensor->sizes_data, buffers.strides(addend_id).values.data(),
                                p.addend.tensor->rank, ScalarType::undefined},
                               rows_by_columns)
           : Sizes();
  const C* addend = buffers.in(addend_id);
  C* out = buffers.out(out_id);
  const Sizes a_strides = a.broadcast_to(batch), b_strides = b.broadcast_to(batch);
  const kernels::EntrySharing sharing(total / (m * n), kernels::operations(m, n, k));
  sharing.run([&](std::int64_t space, std::int64_t entry) {
    std::int64_t a_offset = 0, b_offset = 0, rest = entry;
    for (std::size_t d = batch.rank; d-- > 0; rest /= batch[d]) {
      a_offset += rest % batch[d] * a_strides[d];
      b_offset += rest % batch[d] * b_strides[d];
    }
    const Matrix<C> left{k == 0 ? nullptr : buffers.in(a_id) + a_offset, a.row, a.col};
    const Matrix<C> right{k == 0 ? nullptr : buffers.in(b_id) + b_offset, b.row, b.col};
    const std::int64_t first_row = entry * m;
    C* const to = out + first_row * n;
    C* const work = buffers.out(work_id) + space * work_of_thread;
    if constexpr (std::is_same_v<C, float>)
      if (p.pairs)
        gemm<C>(
            m, n, k, {left.data, left.row, left.col, true}, work,
            [&](C* panel, const PanelRange& r) {
              pack_pairs(reinterpret_cast<const std::uint16_t*>(buffers.in(b_id)) + b_offset, p.pair_step, b.col, r,
                         panel);
              return Panel<C>{panel, r.packed_rows};
            },
            to, n);
    if (!p.pairs) multiply<C>(m, n, k, left, right, work, to, n);
    for (std::int64_t i = 0; i < m && alpha != C{1}; ++i)
      for (std::int64_t j = 0; j < n; ++j) to[i * n + j] *= alpha;
    for (std::int64_t i = 0; i < m && adds; ++i)
      kernels::run_widest_for<C, AddScaledRow>(beta, addend + (first_row + i) * addend_strides[0], addend_strides[1],
                                               to + i * n, n);
  });
  return buffers.finish();
}

/// The dimension of b that is summed, if b is no vector.
[[nodiscard]] inline std::size_t summed_of(const Product& p) noexcept {
  return p.b->rank - (p.b_is_transposed ? 1u : 2u);
}
/// True if a product of bfloat16 fills vectors of pairs.
[[nodiscard]] inline bool takes_pairs(const Product& p) noexcept {
  if (p.a->dtype != ScalarType::bfloat16 || p.a->rank < 2 || p.b->rank < 2 || !multiplies_pairs()) return false;
  const std::size_t columns = p.b->rank - (p.b_is_transposed ? 2u : 1u);
  return p.b->size(columns) >= kernels::widest_lanes<float>();
}

[[nodiscard]] inline ErrorCode product(KernelCall& call, const Product& p, const Sizes& sizes) {
  if (p.a->dtype != p.b->dtype || (p.addend.tensor != nullptr && p.addend.tensor->dtype != p.a->dtype))
    return call.refuse(ErrorCode::invalid_dtype, "the operands of a matrix product must have the same dtype");
  if (const ErrorCode code = call.make(0, p.a->dtype, sizes); code != ErrorCode::ok) return code;
  if (p.b_is_transposed && takes_halves(*p.a, *p.b, p.addend.tensor))
    return multiply_halves(call, *p.a, *p.b, p.addend.tensor);
  if (PairedOperand a, b; takes_pairs(p) && a.read_left(*p.a) && b.read_right(*p.b, summed_of(p))) {
    const TensorView pairs_of_a = a.view(), pairs_of_b = b.view();
    return compute_product<float>(
        call, {&pairs_of_a, &pairs_of_b, p.b_is_transposed, p.addend, true, p.b->stride(summed_of(p))});
  }
  return dispatch_product(call, p.a->dtype, [&]<class C>() { return compute_product<C>(call, p); });
}

/// True if a tensor of sizes `from` broadcasts to `to` without changing it.
[[nodiscard]] inline bool broadcasts_to(std::span<const std::int64_t> from, const Sizes& to) noexcept {
  Sizes together;
  return broadcast(from, to, together) && std::ranges::equal(together.span(), to.span());
}

[[nodiscard]] inline ErrorCode refuse_product_sizes(KernelCall& call) {
  return call.refuse(ErrorCode::invalid_shape, "the sizes of the operands do not fit a matrix product");
}

/// Reads a call, then calls compute(view, left, right).
template <class Compute>
[[nodiscard]] ErrorCode run_matmul(KernelCall& call, const operators::MatmulOperator& op, Compute&& compute) {
  operators::MatmulView view;
  if (const operators::Refusal wrong = operators::read_matmul(KernelArguments(call), op, view))
    return call.refuse(wrong.code, wrong.what);
  return compute(view, call.tensor(view.left), call.tensor(view.right));
}

}  // namespace detail

/// mm(self (n, m), mat2 (m, p)) -> (n, p). Source: at::mm.
[[nodiscard]] inline ErrorCode mm(KernelCall& call) {
  return detail::run_matmul(call, operators::row_of(operators::matmul_operators, "aten.mm.default"),
                            [&](const auto&, const TensorView& a, const TensorView& b) {
                              return detail::product(call, {&a, &b}, Sizes(std::array{a.size(0), b.size(1)}));
                            });
}

/// bmm(self (b, n, m), mat2 (b, m, p)) -> (b, n, p). Source: at::bmm.
[[nodiscard]] inline ErrorCode bmm(KernelCall& call) {
  return detail::run_matmul(call, operators::row_of(operators::matmul_operators, "aten.bmm.default"),
                            [&](const auto&, const TensorView& a, const TensorView& b) {
                              if (a.size(0) != b.size(0)) return detail::refuse_product_sizes(call);
                              return detail::product(call, {&a, &b},
                                                     Sizes(std::array{a.size(0), a.size(1), b.size(2)}));
                            });
}

/// addmm(self, mat1 (n, m), mat2 (m, p)) = beta * self + alpha * mat1 @ mat2; self broadcasts to (n, p) and is not read
/// if beta is 0. Source: at::addmm.
[[nodiscard]] inline ErrorCode addmm(KernelCall& call) {
  return detail::run_matmul(call, operators::row_of(operators::matmul_operators, "aten.addmm.default"),
                            [&](const auto& view, const TensorView& a, const TensorView& b) {
                              const TensorView& self = call.tensor(view.addend);
                              const Sizes sizes(std::array{a.size(0), b.size(1)});
                              if (!detail::broadcasts_to(self.sizes(), sizes))
                                return call.refuse(ErrorCode::invalid_shape,
                                                   "addmm: self does not broadcast to the sizes of the product");
                              // the factors unchanged: a double cannot hold every int64
                              return detail::product(call, {&a, &b, false, {&self, call.arg(3), call.arg(4)}}, sizes);
                            });
}

/// linear(input (*, in), weight (out, in) or (in), bias?) -> (*, out) or (*). Source: at::linear.
[[nodiscard]] inline ErrorCode linear(KernelCall& call) {
  return detail::run_matmul(
      call, operators::row_of(operators::matmul_operators, "aten.linear.default"),
      [&](const auto& view, const TensorView& input, const TensorView& weight) {
        Sizes sizes(input.sizes().first(input.rank - 1u));
        if (weight.rank == 2) sizes.push(weight.size(0));
        detail::Product p{&input, &weight, weight.rank == 2, {}};
        if (view.addend != no_id) {
          const TensorView& bias = call.tensor(view.addend);
          const TensorView rows{nullptr, input.sizes_data, nullptr, static_cast<std::uint8_t>(input.rank - 1),
                                input.dtype};
          const Sizes product(std::array{checked_numel(rows), weight.rank == 1 ? 1 : weight.size(0)});
          const bool fits = weight.rank == 1 ? input.rank == 1 && bias.rank == 0 : bias.rank <= input.rank;
          if (!fits || !detail::broadcasts_to(bias.sizes(), product))
            return call.refuse(ErrorCode::invalid_shape, "linear: the bias does not fit the number of output features");
          p.addend.tensor = &bias;
        }
        return detail::product(call, p, sizes);
      });
}

/// matmul: dot, matrix-vector, matrix-matrix or batched product, by rank, with broadcast batch dimensions. Source:
/// at::matmul.
[[nodiscard]] inline ErrorCode matmul(KernelCall& call) {
  return detail::run_matmul(
      call, operators::row_of(operators::matmul_operators, "aten.matmul.default"),
      [&](const auto&, const TensorView& a, const TensorView& b) {
        Sizes sizes;
        if (!broadcast(a.sizes().first(a.rank < 2 ? 0 : a.rank - 2u), b.sizes().first(b.rank < 2 ? 0 : b.rank - 2u),
                       sizes))
          return call.refuse(ErrorCode::invalid_shape, "matmul: the batch dimensions do not broadcast");
        const bool fits =
            (a.rank < 2 || sizes.push(a.size(a.rank - 2u))) && (b.rank < 2 || sizes.push(b.size(b.rank - 1u)));
        if (!fits) return call.refuse(ErrorCode::invalid_shape, "matmul: too many dimensions");
        return detail::product(call, {&a, &b}, sizes);
      });
}

inline constexpr auto matmul_ops = std::to_array<OpRow>({
    {"aten.addmm.default", addmm},
    {"aten.bmm.default", bmm},
    {"aten.linear.default", linear},
    {"aten.matmul.default", matmul},
    {"aten.mm.default", mm},
});

}  // namespace davit::portable_kernels
