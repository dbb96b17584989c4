// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/products/byte_dots.hpp"
#include "davit/backends/portable/run_time/products/packed_linear.hpp"
#include "davit/core/packed_weights.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/multiply_add.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/kernels/vectors.hpp"

/// Linear layers of bytes with weights that are integers of 4 or 8 bits: sums of integers, exact, and one scale per
/// group.
namespace davit::portable_kernels {

namespace detail {

/// y (rows x outputs) = row scale * (x - row zero) (rows x depth) * the weights, plus a bias per output.
struct PackedBytes {
  PackedProduct of;  ///< weights, bias, y and rows
  DotSet set;
  const std::byte* tiles;      ///< x, tile after tile (ByteDots)
  const std::int32_t* starts;  ///< ByteDots::starts of each tile
  const float* x_sums;         ///< where there are offsets: of the bytes of each group, as `starts`
  const float *row_scales, *row_zeros;
  const float* weight_sums;  ///< of the inputs of each output, (blocks, 16)
};

/// The sums of a tile in some groups, and what they are multiplied with.
struct GroupSums {
  std::int64_t rows, groups;
  const std::int32_t* sums;       // (groups, rows, 16)
  const float *scales, *offsets;  // (groups, 16)
  const float* x_sums;            // (groups, rows)
  float* totals;                  // (rows, 16)
};
struct AddGroupSums {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const GroupSums* s) {
    constexpr std::int64_t together = Bytes == 64 ? 4 : 1;  // rows whose sums do not wait for each other
    std::int64_t row = 0;
    for (; row + together <= s->rows; row += together) some<Bytes, together>(*s, row);
    for (; row < s->rows; ++row) some<Bytes, 1>(*s, row);
  }

 private:
  template <std::size_t Bytes, std::size_t Rows>
  [[gnu::always_inline]] static void some(const GroupSums& s, std::int64_t row) {
    using V = Vector<float, Bytes>;
    constexpr std::size_t step = Bytes / sizeof(float), parts = PackedWeights::block / step;
    V totals[Rows * parts];
    float* const to = s.totals + row * PackedWeights::block;
    unroll<Rows * parts>([&]<std::size_t I>()
                             __attribute__((always_inline)) { totals[I] = kernels::vector_at<Bytes>(to + I * step); });
    for (std::int64_t g = 0; g < s.groups; ++g) {
      const std::int32_t* const sums = s.sums + (g * s.rows + row) * PackedWeights::block;
      unroll<Rows * parts>([&]<std::size_t I>() __attribute__((always_inline)) {
        const std::int64_t at = g * PackedWeights::block + static_cast<std::int64_t>(I % parts * step);
        const V sum = __builtin_convertvector(kernels::vector_at<Bytes>(sums + I * step), V);
        const V scale = kernels::vector_at<Bytes>(s.scales + at);
        kernels::add_product(sum, scale, totals[I]);
        if (s.offsets == nullptr) return;
        const V offset = kernels::vector_at<Bytes>(s.offsets + at);
        kernels::add_product(offset, s.x_sums[g * s.rows + row + static_cast<std::int64_t>(I / parts)], totals[I]);
      });
    }
    unroll<Rows * parts>([&]<std::size_t I>()
                             __attribute__((always_inline)) { kernels::vector_at<Bytes>(to + I * step) = totals[I]; });
  }
};
/// Writes a tile of block `b` from its totals.
struct FinishTile {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const PackedBytes* p, std::int64_t b, std::int64_t row, std::int64_t rows,
                                         const float* totals) {
    using V = Vector<float, Bytes>;
    constexpr std::int64_t step = Bytes / sizeof(float), block = PackedWeights::block;
    const std::int64_t outputs = p->of.weights.outputs, first = b * block, count = std::min(block, outputs - first);
    for (std::int64_t r = 0; r < rows; ++r) {
      float made[block];
      float* const y = p->of.y + (row + r) * outputs + first;
      float* const to = count == block ? y : made;
      for (std::int64_t i = 0; i < block; i += step) {
        V total = kernels::vector_at<Bytes>(totals + r * block + i);
        const V weights = kernels::vector_at<Bytes>(p->weight_sums + first + i);
        kernels::add_product(weights, -p->row_zeros[row + r], total);
        V sum{};
        if (p->of.bias != nullptr && to == y) sum = kernels::vector_at<Bytes>(p->of.bias + first + i);
        kernels::add_product(total, p->row_scales[row + r], sum);
        kernels::vector_at<Bytes>(to + i) = sum;
      }
      if (to == made)
        for (std::int64_t i = 0; i < count; ++i)
          y[i] = p->of.bias == nullptr ? made[i] : p->of.bias[first + i] + made[i];
    }
  }
};

/// The rows of the tile that begins where `rows` are left.
[[nodiscard]] inline std::int64_t tile_of(const DotForm& form, std::int64_t rows) noexcept {
  std::int64_t tile = form.most_rows;
  while (tile > rows) tile /= 2;
  return tile;
}

template <int Bits>
void multiply_bytes(const PackedBytes& p) {
  const PackedWeights& w = p.of.weights;
  const DotForm form = dot_form(p.set, Bits);
  constexpr std::int64_t block = PackedWeights::block, most_sums = 128;  // rows * groups at a time: stay in the cache
  kernels::in_parallel(
      w.blocks(), 1, kernels::operations(p.of.rows, w.outputs, w.depth),
      [&](std::size_t, std::int64_t first, std::int64_t end) {
        alignas(64) std::int32_t sums[most_sums * block];
        alignas(64) float totals[16 * block];
        for (std::int64_t b = first; b < end; ++b)
          for (std::int64_t row = 0, rows = 0; row < p.of.rows; row += rows) {
            rows = tile_of(form, p.of.rows - row);
            std::fill_n(totals, rows * block, 0.0f);
            for (std::int64_t g = 0, groups = 0; g < w.groups; g += groups) {
              groups = std::min(most_sums / rows, w.groups - g);
              const std::int64_t of_group = (b * w.groups + g) * block, of_tile = row * w.groups + g * rows;
              const std::int64_t at = row * w.depth + g * w.group_size() * rows;
              compute_dots<Bits>(p.set, rows,
                                 {p.of.words + (b * w.words() + g * w.group_size() / w.fields()) * block,
                                  p.tiles + at * (form.is_wide ? 2 : 1), p.starts + of_tile, groups,
                                  w.group_size() / w.fields(), sums});
              const bool has_offsets = p.of.offsets != nullptr;
              const GroupSums all{rows,
                                  groups,
                                  sums,
                                  p.of.scales + of_group,
                                  has_offsets ? p.of.offsets + of_group : nullptr,
                                  has_offsets ? p.x_sums + of_tile : nullptr,
                                  totals};
              kernels::run_widest<AddGroupSums>(&all);
            }
            kernels::run_widest<FinishTile>(&p, b, row, rows, totals);
          }
      });
}

/// Writes a tile of rows in the order of `form`, and sums of their bytes. `flip` makes unsigned bytes signed.
template <class T>
void arrange_tile(const PackedWeights& w, const DotForm& form, const std::uint8_t* x, std::int64_t rows,
                  std::uint8_t flip, T* to, std::int32_t* starts, float* sums) {
  const std::int64_t fields = w.fields(), group_words = w.group_size() / fields;
  for (std::int64_t g = 0; g < w.groups; ++g)
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::uint8_t* from = x + r * w.depth + g * w.group_size();
      T* out = to + (g * group_words * rows + r) * fields;
      std::int32_t sum = 0;
      for (std::int64_t i = 0; i < group_words; ++i, from += fields, out += rows * fields)
        for (std::int64_t f = 0; f < fields; ++f) {
          const std::int32_t byte = (from[form.order[static_cast<std::size_t>(f)]] ^ flip ^ 0x80) - 128;  // as signed
          out[f] = static_cast<T>(byte);
          sum += byte;
        }
      starts[g * rows + r] = form.start(sum);
      if (sums != nullptr) sums[g * rows + r] = static_cast<float>(sum);
    }
}

/// True for one number, or one per row; floats or integers.
[[nodiscard]] inline bool is_of_rows(const TensorView& t, std::int64_t rows) noexcept {
  const kernels::Compute compute = kernels::compute_of(t.dtype);
  return (checked_numel(t) == 1 || checked_numel(t) == rows) && kernels::is_real(t.dtype) &&
         compute != kernels::Compute::none;
}

}  // namespace detail

/// davit.linear_packed_bytes(input (*, in), input_scales?, input_zero_points?, weight, scales, offsets?, sums, bias
/// (out)?, out_features, dtype) -> (*, out): davit.linear_packed of (input - zero point) * scale, with one scale and
/// zero point (1 and 0 if left out) or one per row; input is int8 or uint8. Sums of products are integers, exact in
/// each group; `sums` are those of each output's weights, (blocks, 16). Results are the same bits on every CPU. Errors:
/// invalid_shape, invalid_dtype. O(rows * in * out).
[[nodiscard]] inline ErrorCode linear_packed_bytes(KernelCall& call) {
  const TensorView& input = call.tensor(0);
  const TensorView& weight_sums = call.tensor(6);
  const ScalarType type = call.dtype(9, ScalarType::float32);
  const auto refuse = [&] {
    return call.refuse(ErrorCode::invalid_shape, "the sizes of the operands do not fit a product with packed weights");
  };
  if (input.dtype != ScalarType::int8 && input.dtype != ScalarType::uint8)
    return call.refuse(ErrorCode::invalid_dtype, "the product takes bytes");
  if (!detail::is_packed_float(type))
    return call.refuse(ErrorCode::invalid_dtype, "products with packed weights are floats of 32 or 16 bits");
  if (input.rank == 0) return refuse();
  detail::PackedBytes p{};
  if (!detail::read_packed(call, 3, call.integer(8), input.size(input.rank - 1u), p.of)) return refuse();
  const PackedWeights& w = p.of.weights;
  if (w.group_size() > detail::most_of_group || weight_sums.dtype != ScalarType::float32 ||
      checked_numel(weight_sums) != w.blocks() * PackedWeights::block || !weight_sums.is_contiguous() ||
      (call.has(7) && (call.tensor(7).rank != 1 || call.tensor(7).size(0) != w.outputs)))
    return refuse();
  Sizes sizes(input.sizes().first(input.rank - 1u));
  if (!sizes.push(w.outputs)) return refuse();
  if (const ErrorCode code = call.make(0, type, sizes); code != ErrorCode::ok) return code;
  const std::int64_t rows = p.of.rows = call.output(0).numel() / w.outputs;
  if (rows == 0) return ErrorCode::ok;
  if ((call.has(1) && !detail::is_of_rows(call.tensor(1), rows)) ||
      (call.has(2) && !detail::is_of_rows(call.tensor(2), rows)))
    return call.refuse(ErrorCode::invalid_shape, "one scale and one zero point are needed, or one of each row");
  p.set = detail::dot_set();
  const detail::DotForm form = detail::dot_form(p.set, w.bits);
  ComputeBuffers<float> buffers(call);
  const auto y = buffers.write(0);
  const auto given = [&](std::size_t i) { return call.has(i) ? buffers.read(call.tensor(i)) : y; };
  const auto scales = given(1), zeros = given(2), bias = given(7);
  const bool copies = !input.is_contiguous(), has_offsets = p.of.offsets != nullptr;
  const auto row_scales = buffers.buffer(rows), row_zeros = buffers.buffer(rows);
  const auto bytes = buffers.buffer_of<std::uint8_t>(copies ? input.numel() : 0);
  const auto tiles = buffers.buffer_of<std::int16_t>(form.is_wide ? input.numel() : input.numel() / 2);
  const auto starts = buffers.buffer_of<std::int32_t>(rows * w.groups);
  const auto sums = buffers.buffer(has_offsets ? rows * w.groups : 0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;

  const auto* x = input.as<std::uint8_t>();
  if (copies) {
    auto* to = buffers.at<std::uint8_t>(bytes);
    for_each_index<1>(input.sizes(), {strides_of(input)}, [&](std::int64_t at) { *to++ = x[at]; });
    x = buffers.at<std::uint8_t>(bytes);
  }
  const bool flips = input.dtype == ScalarType::uint8;
  for (std::int64_t i = 0; i < rows; ++i) {
    const float zero = call.has(2) ? buffers.in(zeros)[call.tensor(2).numel() == 1 ? 0 : i] : 0;
    buffers.out(row_scales)[i] = call.has(1) ? buffers.in(scales)[call.tensor(1).numel() == 1 ? 0 : i] : 1;
    buffers.out(row_zeros)[i] = flips ? zero - 128 : zero;
  }
  const std::int64_t whole = (rows + form.most_rows - 1) / form.most_rows;
  kernels::in_parallel(whole, 1, kernels::operations(rows, w.depth),
                       [&](std::size_t, std::int64_t first, std::int64_t end) {
                         const std::int64_t last = std::min(rows, end * form.most_rows);
                         for (std::int64_t row = first * form.most_rows, count = 0; row < last; row += count) {
                           count = detail::tile_of(form, rows - row);
                           const auto arrange = [&](auto* to) {
                             detail::arrange_tile(w, form, x + row * w.depth, count, flips ? 0x80 : 0,
                                                  to + row * w.depth, buffers.at<std::int32_t>(starts) + row * w.groups,
                                                  has_offsets ? buffers.out(sums) + row * w.groups : nullptr);
                           };
                           if (form.is_wide)
                             arrange(buffers.at<std::int16_t>(tiles));
                           else
                             arrange(buffers.at<std::int8_t>(tiles));
                         }
                       });
  p.tiles = buffers.at<std::byte>(tiles);
  p.starts = buffers.at<std::int32_t>(starts);
  p.x_sums = buffers.in(sums);
  p.row_scales = buffers.in(row_scales);
  p.row_zeros = buffers.in(row_zeros);
  p.weight_sums = weight_sums.as<float>();
  p.of.bias = call.has(7) ? buffers.in(bias) : nullptr;
  p.of.y = buffers.out(y);
  if (w.bits == 4)
    detail::multiply_bytes<4>(p);
  else
    detail::multiply_bytes<8>(p);
  return buffers.finish();
}

}  // namespace davit::portable_kernels
