// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/movement/mapped_copy.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/resize_axis.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/kernels/vectors.hpp"
#include "davit/program/operators/resize.hpp"

namespace davit::portable_kernels {

namespace detail {

struct Resize {
  std::array<kernels::ResizeAxis, 3> axes;  ///< of the last dimensions of the input
  std::size_t dims = 2;
  std::int64_t planes = 0;
  [[nodiscard]] const kernels::ResizeAxis& y() const noexcept { return axes[0]; }
  [[nodiscard]] const kernels::ResizeAxis& x() const noexcept { return axes[1]; }
};

/// Reads a call and makes output 0.
[[nodiscard]] inline ErrorCode read_resize(KernelCall& call, const operators::ResizeOperator& op,
                                           operators::ResizeView& view, Resize& r) {
  if (const ErrorCode code = answer(call, operators::read_resize(KernelArguments(call), op, view));
      code != ErrorCode::ok)
    return code;
  const TensorView& input = call.tensor(0);
  r.dims = view.dims;
  Sizes sizes(std::array{input.size(0), input.size(1)});
  bool empty = input.size(1) == 0;
  for (std::size_t d = 0; d < view.dims; ++d) {
    r.axes[d] = {input.size(2 + d), view.out[d], view.factor[d]};
    empty = empty || r.axes[d].in == 0;
    (void)sizes.push(view.out[d]);
  }
  if (empty) return call.refuse(ErrorCode::invalid_shape, "upsample: only the batch dimension may be empty");
  if (checked_numel(input) < 0) return call.refuse(ErrorCode::out_of_memory, "upsample: the input is too large");
  r.planes = input.size(0) * input.size(1);
  return call.make(0, input.dtype, sizes);
}

/// out[i] = sum over k of weights[k] * rows[k][i].
struct WeighRows {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const C* const* rows, const C* weights, std::int64_t taps, C* out,
                                         std::int64_t n) {
    std::int64_t i = 0;
    for (; i + kernels::lanes<C, Bytes> <= n; i += kernels::lanes<C, Bytes>) {
      kernels::Vector<C, Bytes> sum = kernels::vector_at<Bytes>(rows[0] + i) * weights[0];
      for (std::int64_t k = 1; k < taps; ++k) sum += kernels::vector_at<Bytes>(rows[k] + i) * weights[k];
      kernels::vector_at<Bytes>(out + i) = sum;
    }
    for (; i < n; ++i) {
      C sum = rows[0][i] * weights[0];
      for (std::int64_t k = 1; k < taps; ++k) sum += rows[k][i] * weights[k];
      out[i] = sum;
    }
  }
};

/// WeighRows for bytes, with fixed-point weights of `bits` bits, rounded.
struct WeighByteRows {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const std::uint8_t* const* rows, const std::int32_t* weights,
                                         std::int64_t taps, int bits, std::uint8_t* out, std::int64_t n) {
    // modulo 2^32, as in torch: weights that nearly cancel out are large
    const std::uint32_t half = std::uint32_t{1} << bits >> 1;
    std::int64_t i = 0;
    if constexpr (kernels::walks_vectors<Bytes>) {
      using Sum = kernels::Vector<std::uint32_t, Bytes>;
      using Whole = kernels::Vector<std::int32_t, Bytes>;
      using Narrow = kernels::Vector<std::uint8_t, Bytes / 4>;
      for (; i + kernels::lanes<std::int32_t, Bytes> <= n; i += kernels::lanes<std::int32_t, Bytes>) {
        Sum sum = half - Sum{};
        for (std::int64_t k = 0; k < taps; ++k)
          sum += __builtin_convertvector(kernels::vector_at<Bytes / 4>(rows[k] + i), Sum) *
                 static_cast<std::uint32_t>(weights[k]);
        Whole whole = __builtin_bit_cast(Whole, sum) >> bits;
        whole = whole < 0 ? Whole{} : whole;
        whole = whole > 255 ? 255 - Whole{} : whole;
        kernels::vector_at<Bytes / 4>(out + i) = __builtin_convertvector(whole, Narrow);
      }
    }
    for (; i < n; ++i) {
      std::uint32_t sum = half;
      for (std::int64_t k = 0; k < taps; ++k) sum += static_cast<std::uint32_t>(weights[k]) * rows[k][i];
      out[i] = byte_of(sum, bits);
    }
  }
  [[nodiscard]] static std::uint8_t byte_of(std::uint32_t sum, int bits) noexcept {
    return static_cast<std::uint8_t>(std::clamp<std::int32_t>(static_cast<std::int32_t>(sum) >> bits, 0, 255));
  }
};

/// The taps of an axis in a kernel's form, with elements of type E and weights of type W: for bytes the weights are
/// fixed-point with up to 15 bits, as torch resizes bytes.
template <class E>
struct TapTable {
  using W = std::conditional_t<std::is_same_v<E, std::uint8_t>, std::int32_t, E>;
  std::int64_t most = 0;
  std::int64_t* counts = nullptr;    ///< per output element
  std::int64_t* elements = nullptr;  ///< `most` per output element
  W* weights = nullptr;
  int bits = 0;
  bool adjacent = false;  ///< the elements of a sum are adjacent

  /// Writes the sums of all `n` output elements of some rows, `step` apart; reads weights once for all rows.
  template <std::size_t Rows>
  void byte_sums(const std::array<const E*, Rows>& rows, std::int64_t n, E* out, std::int64_t step) const noexcept {
    const TapTable t = *this;  // a local copy: bytes of `out` cannot alias it
    for (std::int64_t i = 0; i < n; ++i) {
      std::array<std::uint32_t, Rows> totals;
      totals.fill(std::uint32_t{1} << t.bits >> 1);
      for (std::int64_t k = i * t.most, end = k + t.counts[i]; k < end; ++k)
        for (std::size_t r = 0; r < Rows; ++r)
          totals[r] += static_cast<std::uint32_t>(t.weights[k]) * rows[r][t.elements[k]];
      for (std::size_t r = 0; r < Rows; ++r)
        out[static_cast<std::int64_t>(r) * step + i] = WeighByteRows::byte_of(totals[r], t.bits);
    }
  }
  /// The sum of the taps of output element i.
  [[nodiscard]] E sum(std::int64_t i, const E* values) const noexcept {
    const W* const w = weights + i * most;
    const std::int64_t* const e = elements + i * most;
    const std::int64_t count = counts[i];
    if (count == 0) return {};
    if (count == 4) return (w[0] * values[e[0]] + w[1] * values[e[1]]) + (w[2] * values[e[2]] + w[3] * values[e[3]]);
    E total{};
    if (adjacent) {
      const E* const first = values + e[0];
      for (std::int64_t k = 0; k < count; ++k) total += w[k] * first[k];
    } else {
      for (std::int64_t k = 0; k < count; ++k) total += w[k] * values[e[k]];
    }
    return total;
  }
};

/// Resizes the planes by taps: first along rows, for the rows that the columns need, then along columns; bytes are
/// rounded in between. Floats with a shrinking height go along columns first. Source: upsample_generic_Nd_kernel_impl
/// and separable_upsample_generic_Nd_kernel_impl of ATen's UpSampleKernel.cpp.
template <class E>
[[nodiscard]] ErrorCode resize_by_taps(KernelCall& call, const Resize& r, kernels::ResizeFilter filter,
                                       bool align_corners) {
  using W = typename TapTable<E>::W;
  using R = std::conditional_t<std::is_same_v<E, std::uint8_t>, double, E>;
  constexpr std::int64_t limit = 1 << 20;
  const std::array axes{r.y(), r.x()};
  const std::array taps{kernels::ResizeTaps<R>(axes[0], filter, align_corners),
                        kernels::ResizeTaps<R>(axes[1], filter, align_corners)};
  std::array<TapTable<E>, 2> tables;
  for (std::size_t d = 0; d < 2; ++d) {
    tables[d].most = taps[d].most(limit);
    tables[d].adjacent = filter.smooth;
  }
  ComputeBuffers<E> buffers(call);
  const auto in_id = buffers.read(call.tensor(0));
  const auto out_id = buffers.write(0);
  std::array<std::size_t, 2> counts, elements, weights;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t all = axes[d].out > max_numel / tables[d].most ? max_numel + 1 : axes[d].out * tables[d].most;
    counts[d] = buffers.template buffer_of<std::int64_t>(axes[d].out);
    elements[d] = buffers.template buffer_of<std::int64_t>(all);
    weights[d] = buffers.template buffer_of<W>(all);
  }
  const auto reals_id = buffers.template buffer_of<R>(std::max(tables[0].most, tables[1].most));
  const auto needed_id = buffers.template buffer_of<std::uint8_t>(r.y().in);
  const auto pointers_id = buffers.template buffer_of<const E*>(tables[0].most * kernels::team_size());
  const bool columns_first = !std::is_same_v<E, std::uint8_t> && r.y().out < r.y().in;
  const auto rows_id = columns_first ? buffers.buffer({r.x().in, kernels::team_size()})
                                     : buffers.buffer({r.y().in, r.x().out, kernels::team_size()});
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  R* const reals = buffers.template at<R>(reals_id);
  for (std::size_t d = 0; d < 2; ++d) {
    TapTable<E>& table = tables[d];
    table.counts = buffers.template at<std::int64_t>(counts[d]);
    table.elements = buffers.template at<std::int64_t>(elements[d]);
    table.weights = buffers.template at<W>(weights[d]);
    // bytes: the largest weight determines the number of bits
    const auto write = [&](std::int64_t i) {
      std::int64_t* const own = table.elements + i * table.most;
      std::int64_t n = taps[d].write(i, table.most, own, reals);
      if constexpr (std::is_same_v<E, std::uint8_t>) {
        std::int64_t kept = 0;
        for (std::int64_t k = 0; k < n; ++k) {
          if (kept > 0 && own[kept - 1] == own[k]) {
            reals[kept - 1] += reals[k];
          } else {
            own[kept] = own[k];
            reals[kept++] = reals[k];
          }
        }
        n = kept;
      }
      return table.counts[i] = n;
    };
    if constexpr (std::is_same_v<E, std::uint8_t>) {
      double largest = 0;
      for (std::int64_t i = 0; i < axes[d].out; ++i)
        for (std::int64_t k = write(i); k-- > 0;) largest = std::max(largest, reals[k]);
      while (table.bits < 22 && 0.5 + largest * static_cast<double>(std::int64_t{1} << (table.bits + 1)) < 32768.0)
        ++table.bits;
    }
    for (std::int64_t i = 0; i < axes[d].out; ++i)
      for (std::int64_t k = write(i); k-- > 0;) {
        W& weight = table.weights[i * table.most + k];
        if constexpr (std::is_same_v<E, std::uint8_t>) {
          const double scaled = reals[k] * static_cast<double>(std::int64_t{1} << table.bits);
          weight = static_cast<std::int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
        } else {
          weight = static_cast<W>(rounded_to(call.tensor(0).dtype, static_cast<double>(reals[k])));
        }
      }
  }
  auto* const needed = buffers.template at<std::uint8_t>(needed_id);
  std::fill_n(needed, r.y().in, std::uint8_t{});
  for (std::int64_t i = 0; i < r.y().out; ++i)
    for (std::int64_t k = 0; k < tables[0].counts[i]; ++k) needed[tables[0].elements[i * tables[0].most + k]] = 1;
  const std::int64_t width = r.x().out;
  const std::int64_t work = (r.y().in * width * tables[1].most + r.y().out * width * tables[0].most);
  kernels::in_parallel(
      r.planes, 1, kernels::operations(r.planes, work, 1), [&](std::size_t part, std::int64_t begin, std::int64_t end) {
        E* const rows =
            buffers.out(rows_id) + static_cast<std::int64_t>(part) * (columns_first ? r.x().in : r.y().in * width);
        const E** const pointers =
            buffers.template at<const E*>(pointers_id) + static_cast<std::int64_t>(part) * tables[0].most;
        for (std::int64_t p = begin; p < end; ++p) {
          const E* from = buffers.in(in_id) + p * r.y().in * r.x().in;
          E* out = buffers.out(out_id) + p * r.y().out * width;
          const auto along_row = [&](const E* row, E* to) {
            if constexpr (std::is_same_v<E, std::uint8_t>)
              tables[1].byte_sums(std::array{row}, width, to, 0);
            else
              for (std::int64_t x = 0; x < width; ++x) to[x] = tables[1].sum(x, row);
          };
          const auto weigh = [&](const E* first, std::int64_t n, std::int64_t y, E* to) {
            const std::int64_t count = tables[0].counts[y];
            const W* const own = tables[0].weights + y * tables[0].most;
            for (std::int64_t k = 0; k < count; ++k)
              pointers[k] = first + tables[0].elements[y * tables[0].most + k] * n;
            if (count == 0)
              std::fill_n(to, n, E{});
            else if constexpr (std::is_same_v<E, std::uint8_t>)
              kernels::run_widest<WeighByteRows>(static_cast<const E* const*>(pointers), own, count, tables[0].bits, to,
                                                 n);
            else
              kernels::run_widest_for<E, WeighRows>(static_cast<const E* const*>(pointers), own, count, to, n);
          };
          for (std::int64_t y = 0; y < (columns_first ? r.y().out : 0); ++y, out += width) {
            weigh(from, r.x().in, y, rows);
            along_row(rows, out);
          }
          if (columns_first) continue;
          for (std::int64_t y = 0; y < r.y().in; ++y, from += r.x().in) {
            if constexpr (std::is_same_v<E, std::uint8_t>)
              if (y + 4 <= r.y().in && std::count(needed + y, needed + y + 4, 1) == 4) {
                const std::array<const E*, 4> four{from, from + r.x().in, from + 2 * r.x().in, from + 3 * r.x().in};
                tables[1].byte_sums(four, width, rows + y * width, width);
                y += 3;
                from += 3 * r.x().in;
                continue;
              }
            if (needed[y] != 0) along_row(from, rows + y * width);
          }
          for (std::int64_t y = 0; y < r.y().out; ++y, out += width) weigh(rows, width, y, out);
        }
      });
  return buffers.finish();
}

/// `by_difference`: a + (b - a) * w along each axis whose size changes, else a * (1 - w) + b * w.
template <class C, bool by_difference>
[[nodiscard]] ErrorCode compute_bilinear(KernelCall& call, const Resize& r, bool align_corners) {
  ComputeBuffers<C> buffers(call);
  const auto in_id = buffers.read(call.tensor(0));
  const auto out_id = buffers.write(0);
  const auto taps_id = buffers.template buffer_of<kernels::LinearTap<C>>(r.x().out);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  kernels::LinearTap<C>* taps = buffers.template at<kernels::LinearTap<C>>(taps_id);
  const C step_x = r.x().step<C>(align_corners);
  const C step_y = r.y().step<C>(align_corners);
  for (std::int64_t x = 0; x < r.x().out; ++x) taps[x] = kernels::LinearTap<C>(r.x(), step_x, x, align_corners);
  const bool is_line =
      by_difference ? r.y().in == r.y().out : r.y().in == 1 && r.y().out == 1;  // infinities do not become NaN
  const bool is_column = by_difference && r.x().in == r.x().out;
  const std::int64_t rows = r.planes * r.y().out;
  kernels::in_parallel(
      rows, 1, kernels::operations(rows, r.x().out, 8), [&](std::size_t, std::int64_t begin, std::int64_t end) {
        C* out = buffers.out(out_id) + begin * r.x().out;
        for (std::int64_t number = begin; number < end; ++number, out += r.x().out) {
          const C* plane = buffers.in(in_id) + number / r.y().out * r.y().in * r.x().in;
          const kernels::LinearTap<C> row(r.y(), step_y, number % r.y().out, align_corners);
          const C* above = plane + row.first * r.x().in;
          const C* below = plane + row.second * r.x().in;
          for (std::int64_t x = 0; x < r.x().out; ++x) {
            const kernels::LinearTap<C>& t = taps[x];
            const auto across = [&](const C* line) __attribute__((always_inline)) {
              if constexpr (by_difference)
                return is_column ? line[t.first] : line[t.first] + (line[t.second] - line[t.first]) * t.of_second;
              else
                return t.of_first * line[t.first] + t.of_second * line[t.second];
            };
            const C value = across(above);
            if (is_line) {
              out[x] = value;
            } else {
              if constexpr (by_difference)
                out[x] = value + (across(below) - value) * row.of_second;
              else
                out[x] = row.of_first * value + row.of_second * across(below);
            }
          }
        }
      });
  return buffers.finish();
}

[[nodiscard]] inline ErrorCode resize_images(KernelCall& call, const operators::ResizeOperator& op) {
  using operators::ResizeFunction;
  operators::ResizeView view;
  Resize r;
  if (const ErrorCode code = read_resize(call, op, view, r); code != ErrorCode::ok) return code;
  const TensorView& input = call.tensor(0);
  const bool bytes = input.dtype == ScalarType::uint8;
  switch (op.function) {
    case ResizeFunction::linear:
      if (bytes) return resize_by_taps<std::uint8_t>(call, r, {}, view.aligned);
      return dispatch_floating(call, input.dtype,
                               [&]<class C>() { return compute_bilinear<C, false>(call, r, view.aligned); });
    case ResizeFunction::linear_by_difference:
      return dispatch_floating(call, input.dtype,
                               [&]<class C>() { return compute_bilinear<C, true>(call, r, view.aligned); });
    case ResizeFunction::cubic:
    case ResizeFunction::smooth_linear:
    case ResizeFunction::smooth_cubic: {
      const kernels::ResizeFilter filter{op.function != ResizeFunction::smooth_linear,
                                         op.function != ResizeFunction::cubic};
      if (bytes) return resize_by_taps<std::uint8_t>(call, r, filter, view.aligned);
      return dispatch_floating(call, input.dtype,
                               [&]<class C>() { return resize_by_taps<C>(call, r, filter, view.aligned); });
    }
    case ResizeFunction::nearest:
    case ResizeFunction::nearest_exact: break;
  }
  if (!(is_floating(input.dtype) && kernels::is_real(input.dtype)) && !bytes) return ErrorCode::invalid_dtype;
  const bool wide = input.dtype == ScalarType::float64, exact = op.function == ResizeFunction::nearest_exact;
  return copy_mapped(call, input, call.output(0), [&](std::size_t d, std::int64_t i) {
    if (d < 2) return i;
    const kernels::ResizeAxis& axis = r.axes[d - 2];
    if (exact) return wide ? axis.template nearest_exact<double>(i) : axis.template nearest_exact<float>(i);
    return wide ? axis.template nearest<double>(i) : axis.template nearest<float>(i);
  });
}

}  // namespace detail

/// Resizes of images, lines and volumes (N, C, sizes...) of floats or bytes to output_size, or by scale_factors: the
/// nearest element, or sums of neighbours. Source: at::upsample_bilinear2d.vec, at::upsample_nearest2d.vec,
/// at::upsample_bicubic2d, at::_upsample_bilinear2d_aa, at::_upsample_bicubic2d_aa, at::_upsample_nearest_exact1d and
/// its like.
inline constexpr auto upsample_ops = rows_of<operators::resize_operators, detail::resize_images>();

}  // namespace davit::portable_kernels
