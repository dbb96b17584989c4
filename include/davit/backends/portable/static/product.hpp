// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/static/computed.hpp"
#include "davit/backends/portable/static/operands.hpp"
#include "davit/backends/portable/static/packs.hpp"
#include "davit/core/error.hpp"
#include "davit/core/target.hpp"
#include "davit/program/operators/matmul.hpp"
#include "davit/program/operators/movement.hpp"

/// Inverses of matrices.
namespace davit::static_kernels {

/// y = the inverse of each n x n matrix of x, and info = 0, or k if column k (from 1) has no pivot: then the elements
/// of y are unspecified. By Gauss-Jordan elimination with partial pivoting; `work` has n * n elements. Errors: with
/// `checks`, invalid_argument for a singular matrix. O(batch * n^3). Source: at::linalg_inv_ex.
struct inverse {
  struct Params {
    std::int32_t batch = 1, n = 1;
    std::int32_t checks = 0;  ///< nonzero: a singular matrix is an error
  };
  template <class P, class T>
  [[gnu::always_inline]] static constexpr ErrorCode run(const P& params, T* y, std::int32_t* info, T* work,
                                                        const T* x) noexcept {
    const Params& p = numbers_of(params);
    const Index n = p.n;
    const auto swap_rows = [&](T* a, T* b) __attribute__((always_inline)) {
      for (Index j = 0; j < n; ++j) {
        const T kept = a[j];
        a[j] = b[j];
        b[j] = kept;
      }
    };
    const auto magnitude = [](T v) { return v < 0 ? -v : v; };
    for (Index b = 0; b < p.batch; ++b, x += n * n, y += n * n) {
      for (Index i = 0; i < n * n; ++i) {
        work[i] = x[i];
        y[i] = i % (n + 1) == 0 ? T{1} : T{};
      }
      info[b] = 0;
      for (Index k = 0; k < n; ++k) {
        Index pivot = k;
        for (Index i = k + 1; i < n; ++i)
          if (magnitude(work[i * n + k]) > magnitude(work[pivot * n + k])) pivot = i;
        if (work[pivot * n + k] == 0) {
          info[b] = static_cast<std::int32_t>(k + 1);
          if (p.checks != 0) return ErrorCode::invalid_argument;
          break;
        }
        if (pivot != k) {
          swap_rows(work + pivot * n, work + k * n);
          swap_rows(y + pivot * n, y + k * n);
        }
        const T scale = T{1} / work[k * n + k];
        for (Index j = 0; j < n; ++j) {
          work[k * n + j] *= scale;
          y[k * n + j] *= scale;
        }
        for (Index i = 0; i < n; ++i) {
          const T factor = work[i * n + k];
          if (i == k || factor == 0) continue;
          for (Index j = 0; j < n; ++j) {
            work[i * n + j] -= factor * work[k * n + j];
            y[i * n + j] -= factor * y[k * n + j];
          }
        }
      }
    }
    return ErrorCode::ok;
  }
};

/// The layout of a weight.
enum class Layout : std::int32_t {
  contiguous,    ///< torch's: (out, in, kernel)
  output_inner,  ///< (in, kernel, out), padded with zeros to a multiple of 8 outputs
};

[[nodiscard]] constexpr std::int32_t padded_to_8(std::int32_t n) noexcept { return (n + 7) / 8 * 8; }

/// y (rows, out) = x (rows, in) times a weight, plus a bias: linear, addmm with alpha = beta = 1.
struct Linear {
  std::int32_t rows = 1, in = 0, out = 0;
  Layout layout = Layout::contiguous;
  std::int32_t bias = 1;  ///< 0: none; else one element per output
};

/// y = a (batch, rows, depth) times b (batch, depth, columns), both contiguous, per batch: mm, bmm, matmul.
struct Product {
  std::int32_t batch = 1, rows = 0, columns = 0, depth = 0;
};

namespace detail {

/// A right operand for tiles: element (k, j) is data[k * row + j]; `padded` if 8 columns may be read where fewer
/// remain.
struct Columns {
  const float* data;
  Index row, count;
  bool padded;
};

/// y[r][j] = the sum over k, in order, of x[r][k] * b(k, j), plus a bias: `Rows` x `Vectors` packs of N, in registers.
template <bool Unrolled, Index N, Index Rows, Index Vectors>
[[gnu::always_inline]] constexpr void product_tile(Index depth, const float* x, Index x_row, const float* b,
                                                   Index b_row, const float* bias, Index count, float* y,
                                                   Index y_row) noexcept {
  Pack<N> sum[Rows][Vectors]{};
  const auto add = [&](Index k) __attribute__((always_inline)) {
    float factors[Rows];
    unroll<Rows>([&]<Index R>() __attribute__((always_inline)) { factors[R] = load_once(x + R * x_row + k); });
    unroll<Vectors>([&]<Index V>() __attribute__((always_inline)) {
      const Pack<N> column = load<N>(b + k * b_row + V * N);
      unroll<Rows>([&]<Index R>()
                       __attribute__((always_inline)) { sum[R][V] = add_product(sum[R][V], column, factors[R]); });
    });
  };
  constexpr Index step = Unrolled && simd > 1 ? 4 : 1;
  const Index steps = depth / step;
  for (Index i = 0; i < steps; ++i) unroll<step>([&]<Index I>() __attribute__((always_inline)) { add(i * step + I); });
  for (Index i = 0; i < depth % step; ++i) add(steps * step + i);
  unroll<Vectors>([&]<Index V>() __attribute__((always_inline)) {
    const Index left = count - V * N;
    if (left <= 0) return;
    unroll<Rows>([&]<Index R>() __attribute__((always_inline)) {
      if (bias != nullptr) sum[R][V] += load_some<N>(bias + V * N, left);
      store_some<N>(y + R * y_row + V * N, sum[R][V], left);
    });
  });
}

/// Packs per tile, whose sums fit the registers.
inline constexpr Index tile_packs = simd == 8 ? 4 : 8;

/// Packs of the first tiles of shared code, 0 for none: Helium's loops gain a quarter from 16 columns.
#if DAVIT_TARGET_HELIUM
inline constexpr Index wide_packs = simd == 4 ? 4 : 0;
#else
inline constexpr Index wide_packs = 0;
#endif

/// Multiplies `Rows` rows with all columns. Shared code (not `Fixed`) has a tile of 8 columns, to which weights are
/// padded.
template <bool Fixed, Index Rows>
[[gnu::always_inline]] constexpr void product_rows(Index depth, const float* x, Index x_row, const Columns& b,
                                                   const float* bias, float* y, Index y_row) noexcept {
  const auto tile = [&]<Index N, Index Vectors>(Index j) __attribute__((always_inline)) {
    product_tile<Fixed, N, Rows, Vectors>(depth, x, x_row, b.data + j, b.row, bias == nullptr ? nullptr : bias + j,
                                          b.count - j, y + j, y_row);
  };
  Index done = 0;
  if !consteval {
    if constexpr (!Fixed && wide_packs > 0)
      for (; b.count - done >= wide_packs * simd; done += wide_packs * simd)
        tile.template operator()<simd, wide_packs>(done);
    const Index start = done;
    constexpr Index most = Fixed ? tile_packs / Rows : 8 / simd;
    const Index left = b.count - start;
    const Index packs = b.padded ? (left + simd - 1) / simd : left / simd;
    const Index tiles = !Fixed && b.padded ? (packs + most - 1) / most : packs / most;
    for (Index i = 0; i < tiles; ++i) tile.template operator()<simd, most>(start + i * most * simd);
    done = start + tiles * most * simd;
    if constexpr (Fixed) {
      unroll<most>([&]<Index Rest>() __attribute__((always_inline)) {
        if constexpr (Rest > 0)
          if (packs % most == Rest) tile.template operator()<simd, Rest>(start + tiles * most * simd);
      });
      done = start + packs * simd;
      if constexpr (simd > 4)
        if (b.count - done >= 4) {
          tile.template operator()<4, 1>(done);
          done += 4;
        }
    }
  }
  const Index rest = b.count - done;
  for (Index i = 0; i < rest; ++i) tile.template operator()<1, 1>(done + i);
}

template <bool Fixed>
[[gnu::always_inline]] constexpr void product(Index rows, Index depth, const float* x, const Columns& b,
                                              const float* bias, float* y) noexcept {
  constexpr Index step = Fixed ? 2 : 1;
  const auto take = [&]<Index Rows>(Index r) __attribute__((always_inline)) {
    product_rows<Fixed, Rows>(depth, x + r * depth, depth, b, bias, y + r * b.count, b.count);
  };
  const Index steps = rows / step;
  for (Index i = 0; i < steps; ++i) take.template operator()<step>(i * step);
  if (rows % step != 0) take.template operator()<1>(steps * step);
}

/// y[j] = the sum over k, in order, of x[k] * b[j * depth + k], plus a bias of float32.
template <class T>
[[gnu::always_inline]] constexpr void product_by_dots(Index depth, const T* x, const T* b, Index count,
                                                      const float* bias, T* y) noexcept {
  const auto dots = [&]<Index Count>(Index j) __attribute__((always_inline)) {
    Computed<T> sum[Count]{};
    for (Index k = 0; k < depth; ++k)
      unroll<Count>([&]<Index I>() __attribute__((always_inline)) {
        if constexpr (std::is_same_v<T, float>)
          sum[I] = add_product(sum[I], b[(j + I) * depth + k], x[k]);
        else
          sum[I] = SumOf{}(sum[I], ProductOf{}(loaded(x[k]), loaded(b[(j + I) * depth + k])));
      });
    unroll<Count>([&]<Index I>() __attribute__((always_inline)) {
      if constexpr (std::is_same_v<T, float>)
        if (bias != nullptr) sum[I] += bias[j + I];
      y[j + I] = kernels::convert<T>(sum[I]);
    });
  };
  const Index fours = count / 4, rest = count % 4;
  for (Index i = 0; i < fours; ++i) dots.template operator()<4>(4 * i);
  for (Index i = 0; i < rest; ++i) dots.template operator()<1>(4 * fours + i);
}

}  // namespace detail

/// @name linear: y = x @ weight.T + bias, each sum in order of the inputs, the bias added last; `bias` is read only if
/// Linear::bias says so. O(rows * in * out). Source: at::linear.
/// @{

/// For an output-inner weight.
struct linear_tiles {
  using Params = Linear;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& params, float* y, const float* x, const float* weight,
                                                   const float* bias) noexcept {
    const Linear& p = numbers_of(params);
    detail::product<is_constant<P>>(p.rows, p.in, x, {weight, padded_to_8(p.out), p.out, true},
                                    p.bias != 0 ? bias : nullptr, y);
  }
};
/// For a contiguous weight of any type; only float32 has a bias.
struct linear_dots {
  using Params = Linear;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* x, const T* weight,
                                                   const float* bias) noexcept {
    const Linear& p = numbers_of(params);
    for (Index r = 0; r < p.rows; ++r)
      detail::product_by_dots(p.in, x + r * p.in, weight, p.out, p.bias != 0 ? bias : nullptr, y + r * p.out);
  }
};
/// @}

/// y = a @ b per batch, of any type, each sum in order of the depth. O(batch * rows * columns * depth). Source:
/// at::bmm.
struct product {
  using Params = Product;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* a, const T* b) noexcept {
    const Params& p = numbers_of(params);
    const Index n = p.columns;
    for (Index i = 0; i < p.batch; ++i, a += Index{p.rows} * p.depth, b += n * p.depth, y += p.rows * n) {
      if constexpr (std::is_same_v<T, float>) {
        detail::product<is_constant<P>>(p.rows, p.depth, a, {b, n, n, false}, nullptr, y);
      } else {
        for (Index r = 0; r < p.rows; ++r)
          for (Index j = 0; j < n; ++j) {
            Computed<T> sum{};
            for (Index k = 0; k < p.depth; ++k)
              sum = SumOf{}(sum, ProductOf{}(loaded(a[r * p.depth + k]), loaded(b[k * n + j])));
            y[r * n + j] = kernels::convert<T>(sum);
          }
      }
    }
  }
};

/// y = alpha * y + beta * added, where `added` is (rows, n), (1, n), (rows, 1) or one element, by its steps of 0 or 1.
/// Only float32 has factors. Source: at::addmm.
struct add_scaled {
  struct Params {
    std::int32_t rows = 1, n = 0;
    std::int32_t row_step = 0, step = 1;  ///< between rows and elements of `added`
    float alpha = 1, beta = 1;
  };
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* added) noexcept {
    const Params& p = numbers_of(params);
    if constexpr (std::is_same_v<T, float>) {
      const Index count = Index{p.rows} * p.n;
      if (p.alpha != 1)
        for (Index i = 0; i < count; ++i) y[i] = p.alpha * y[i];
      if (p.beta == 0) return;
    }
    for (Index r = 0; r < p.rows; ++r, y += p.n)
      for (Index j = 0; j < p.n; ++j) {
        const T v = added[r * p.row_step + j * p.step];
        if constexpr (std::is_same_v<T, float>)
          y[j] += p.beta * v;
        else
          y[j] = kernels::convert<T>(SumOf{}(loaded(y[j]), loaded(v)));
      }
  }
};

}  // namespace davit::static_kernels

/// Static lowering of matrix products and inverses.
namespace davit::static_lowering {

/// The matrix whose transpose is `v`, if the backend may read through the transposing node; else no_id.
[[nodiscard]] constexpr ValueId transposed_from(const EmbedNode& n, ValueId v) noexcept {
  const NodeId producer = n.g.producer(v);
  if (!n.g.is_assigned(producer)) return no_id;
  const EmbedNode p{n.g, producer};
  operators::PermutationView order;
  if (p.is("aten.transpose.int") || operators::read_permutation(p, order))
    return no_id;  // keeps the order of a product's sums
  return order.rank == 2 && order.from[0] == 1 ? order.input : no_id;
}

/// x @ weight.T + bias; the weight is a matrix.
constexpr void write_linear(const EmbedNode& n, StepWriter& steps, ValueId x, ValueId weight, ValueId bias) {
  const std::int64_t out = n.g.size(weight, 0), in = n.g.size(weight, 1);
  const bool inner = is_output_inner(n, weight);
  const sf::Linear p{int32(n.g.numel(x) / in), int32(in), int32(out),
                     inner ? sf::Layout::output_inner : sf::Layout::contiguous, bias != no_id ? 1 : 0};
  StepOperands step = inner ? steps.step<sf::linear_tiles>(p) : steps.step<sf::linear_dots>(p);
  step.out(n.output()).in(x).in(weight).in(bias);
}
/// a @ b for matrices or stacks with equal batch dimensions; a stack times one matrix is one larger matrix product.
constexpr const char* write_product(const EmbedNode& n, StepWriter& steps, ValueId a, ValueId b) {
  const std::uint32_t left = n.g.rank(a), right = n.g.rank(b);
  if (left < 2 || right < 2 || (right > 2 && left != right)) return "its operands are no matrices";
  if (is_output_inner(n, b)) return "its weight is laid out for a linear";
  sf::Product p{.columns = int32(n.g.size(b, -1)), .depth = int32(n.g.size(b, -2))};
  for (std::uint32_t d = 0; d + 2 < right; ++d) {
    if (n.g.size(a, d) != n.g.size(b, d)) return "its batch dimensions differ";
    p.batch *= int32(n.g.size(b, d));
  }
  p.rows = int32(n.g.numel(a) / (std::int64_t{p.batch} * p.depth));
  steps.step<sf::product>(p).out(n.output()).in(a).in(b);
  return nullptr;
}
constexpr const char* lower_matmul(const EmbedNode& n, StepWriter& steps) {
  operators::MatmulView v;
  if (const operators::Refusal wrong = operators::read_matmul(n, v)) return wrong.what;
  if (const char* why = not_of_one_type(n, v.left, v.right)) return why;
  const ScalarType type = n.g.dtype(v.left);
  const bool is_float = type == ScalarType::float32;
  if (!v.is_plain() && !is_float) return "it has factors";
  const ValueId weight = v.transposed                             ? v.right
                         : n.g.rank(v.right) == 2 && v.is_plain() ? transposed_from(n, v.right)
                                                                  : no_id;
  if (weight != no_id && (n.g.rank(weight) != 2 || n.g.rank(v.left) < 1)) return "its weight is no matrix";
  if (v.addend != no_id && n.g.dtype(v.addend) != type) return "its tensors have different element types";
  const std::int64_t columns = n.g.rank(n.output()) == 0 ? 1 : n.g.size(n.output(), -1);
  const bool has_bias =
      v.addend != no_id && n.g.numel(v.addend) == columns && (v.transposed || n.g.rank(v.addend) == 1);
  if (weight != no_id && is_float && has_bias) {
    write_linear(n, steps, v.left, weight, v.addend);
    return nullptr;
  }
  if (weight != no_id)
    write_linear(n, steps, v.left, weight, no_id);
  else if (const char* why = write_product(n, steps, v.left, v.right))
    return why;
  if (v.addend == no_id) return nullptr;
  const std::uint32_t rank = n.g.rank(v.addend);
  if (rank > 2) return "its addend has more than two dimensions";
  const std::int64_t across = rank == 0 ? 1 : n.g.size(v.addend, -1), down = rank == 2 ? n.g.size(v.addend, 0) : 1;
  steps
      .step<sf::add_scaled>({int32(n.g.numel(n.output()) / columns), int32(columns), down == 1 ? 0 : int32(across),
                             across == 1 ? 0 : 1, static_cast<float>(v.alpha), static_cast<float>(v.beta)})
      .out(n.output())
      .in(v.addend);
  return nullptr;
}

constexpr const char* lower_inverse(const EmbedNode& n, StepWriter& steps) {
  const ValueId x = n.value({"A", 0});
  if (x == no_id || n.output() == no_id || n.output(1) == no_id) return "an operand is missing";
  const ScalarType type = n.g.dtype(x);
  if (type != ScalarType::float32 && type != ScalarType::float64)
    return "its matrices are of neither float32 nor float64";
  const std::uint32_t rank = n.g.rank(x);
  if (rank < 2 || n.g.size(x, rank - 1) != n.g.size(x, rank - 2)) return "its matrices are not square";
  if (n.g.numel(x) == 0) return "a tensor has no elements";
  bool checks = false;
  if (!operators::read_flag(n, {"check_errors", 1}, false, checks)) return "an argument is not known";
  const std::int64_t size = n.g.size(x, rank - 1);
  const std::uint32_t work = steps.temporary(type, size * size);
  steps.step<sf::inverse>({int32(n.g.numel(x) / (size * size)), int32(size), checks ? 1 : 0})
      .out(n.output())
      .out(n.output(1))
      .scratch(work)
      .in(x);
  return nullptr;
}

using product_kernels = kernel_list<sf::linear_tiles, sf::linear_dots, sf::product, sf::add_scaled, sf::inverse>;

inline constexpr std::array product_rows{
    EmbedRow{"aten.linear.default", lower_matmul}, EmbedRow{"aten.mm.default", lower_matmul},
    EmbedRow{"aten.bmm.default", lower_matmul},    EmbedRow{"aten.matmul.default", lower_matmul},
    EmbedRow{"aten.addmm.default", lower_matmul},  EmbedRow{"aten.linalg_inv_ex.default", lower_inverse},
};

}  // namespace davit::static_lowering
