// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/products/gemm.hpp"
#include "davit/backends/portable/run_time/products/split_floats.hpp"
#include "davit/core/packed_weights.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/kernels/vectors.hpp"

/// Linear layers whose weights are integers of 4 or 8 bits in memory and floats in registers.
namespace davit::portable_kernels {

namespace detail {

/// y (rows x outputs) = x (rows x depth) * the weights, plus a bias per output.
struct PackedProduct {
  PackedWeights weights;
  const std::int32_t* words;
  const float* scales;
  const float* offsets;  ///< nullptr: zeros
  const float* bias;     ///< nullptr: zeros
  const float* x;
  const float*
      turned;         ///< x in groups of turned_rows rows, (depth x turned_rows) each, as many as are whole; or nullptr
  const float* sums;  ///< where there are offsets: of the inputs of each group, (rows x groups)
  float* y;
  std::int64_t rows;
};

/// Rows for which a vector of 64 bytes of weights is unpacked once. They lie side by side: as rows of x, whose distance
/// is often a power of two, they would share few lines of the cache.
inline constexpr std::int64_t turned_rows = 16;

/// The weights in field `Field` of some words, as floats.
template <std::size_t Field, int Bits, class Words, class V>
[[gnu::always_inline]] inline void take_field(const Words& words, V& to) noexcept {
#if !defined(__clang__)  // which has no such builtin
  if constexpr (Bits == 4 &&
                sizeof(V) == 64) {  // one instruction of AVX-512, which reads the lowest 4 bits of each word
    constexpr V values = {0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1};
    to = __builtin_shuffle(values, words >> (4 * static_cast<int>(Field)));
    return;
  }
#endif
  constexpr int above = 32 - Bits * (static_cast<int>(Field) + 1);
  to = __builtin_convertvector((words << above) >> (32 - Bits), V);
}

/// Some blocks of outputs. Words are read once for `most_rows` rows of inputs.
template <int Bits>
struct MultiplyPacked {
  static constexpr std::int64_t fields = 32 / Bits;

  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const PackedProduct* p, std::int64_t first, std::int64_t end) {
    for (std::int64_t b = first; b < end; ++b) {
      std::int64_t row = 0;
      const auto take = [&]<std::size_t Rows>() __attribute__((always_inline)) {
        for (; row + static_cast<std::int64_t>(Rows) <= p->rows; row += static_cast<std::int64_t>(Rows))
          multiply<Bytes, Rows>(*p, b, row);
      };
      if constexpr (Bytes == 64) {
        if (p->turned != nullptr) take.template operator()<turned_rows>();
        take.template operator()<8>();
      }
      take.template operator()<4>();
      take.template operator()<2>();
      take.template operator()<1>();
    }
  }

 private:
  template <std::size_t Bytes, std::size_t Rows>
  [[gnu::always_inline]] static void multiply(const PackedProduct& p, std::int64_t b, std::int64_t row) {
    using V = Vector<float, Bytes>;
    using Words = Vector<std::int32_t, Bytes>;
    constexpr std::size_t parts = PackedWeights::block * sizeof(float) / Bytes, step = Bytes / sizeof(float);
    constexpr std::size_t chains = Rows == 1 ? (Bytes == 64 ? 4 : 2) : 1;  // sums that do not wait for each other
    const std::int64_t depth = p.weights.depth, groups = p.weights.groups, group = depth / groups;
    const std::int32_t* word = p.words + b * p.weights.words() * PackedWeights::block;
    constexpr bool turned = Rows == turned_rows;
    const float* const x = (turned ? p.turned : p.x) + row * depth;
    const std::int64_t x_row = turned ? 1 : depth;
    constexpr std::int64_t x_step = turned ? turned_rows : 1;
    V total[Rows][parts];
    for (auto& of_row : total)
      for (V& part : of_row) part = V{};
    for (std::int64_t g = 0; g < groups; ++g) {
      V sums[Rows][parts][chains];
      unroll<Rows * parts * chains>([&]<std::size_t I>() __attribute__((always_inline)) {
        sums[I / (parts * chains)][I / chains % parts][I % chains] = V{};
      });
      for (std::int64_t k = g * group; k < (g + 1) * group; k += fields, word += PackedWeights::block)
        unroll<parts>([&]<std::size_t P>() __attribute__((always_inline)) {
          const Words words = kernels::vector_at<Bytes>(word + P * step);
          unroll<static_cast<std::size_t>(fields)>([&]<std::size_t F>() __attribute__((always_inline)) {
            V weights;
            take_field<F, Bits>(words, weights);
            unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
              sums[R][P][F % chains] +=
                  weights * x[static_cast<std::int64_t>(R) * x_row + (k + static_cast<std::int64_t>(F)) * x_step];
            });
          });
        });
      const std::int64_t of_group = (b * groups + g) * PackedWeights::block;
      unroll<Rows * parts>([&]<std::size_t I>() __attribute__((always_inline)) {
        constexpr std::size_t r = I / parts, part = I % parts;
        V sum = sums[r][part][0];
        unroll<chains - 1>([&]<std::size_t C>() __attribute__((always_inline)) { sum += sums[r][part][C + 1]; });
        total[r][part] += sum * kernels::vector_at<Bytes>(p.scales + of_group + part * step);
        if (p.offsets != nullptr)
          total[r][part] += kernels::vector_at<Bytes>(p.offsets + of_group + part * step) *
                            p.sums[(row + static_cast<std::int64_t>(r)) * groups + g];
      });
    }
    const std::int64_t first = b * PackedWeights::block;
    const std::int64_t count = std::min(PackedWeights::block, p.weights.outputs - first);
    unroll<Rows>([&]<std::size_t R>() __attribute__((always_inline)) {
      float made[PackedWeights::block];
      float* const y = p.y + (row + static_cast<std::int64_t>(R)) * p.weights.outputs + first;
      float* const to = count == PackedWeights::block ? y : made;
      unroll<parts>([&]<std::size_t P>() __attribute__((always_inline)) {
        V sum = total[R][P];
        if (p.bias != nullptr && to == y) sum += kernels::vector_at<Bytes>(p.bias + first + P * step);
        kernels::vector_at<Bytes>(to + P * step) = sum;
      });
      if (to == made)
        for (std::int64_t i = 0; i < count; ++i) y[i] = p.bias == nullptr ? made[i] : made[i] + p.bias[first + i];
    });
  }
};

/// Writes a panel of the weights, as floats.
template <int Bits>
struct UnpackPanel {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const PackedProduct* p, const PanelRange* range, float* to) {
    using V = Vector<float, Bytes>;
    using Words = Vector<std::int32_t, Bytes>;
    constexpr std::int64_t block = PackedWeights::block, fields = 32 / Bits;
    constexpr std::size_t parts = block * sizeof(float) / Bytes, step = Bytes / sizeof(float);
    const PanelRange r = *range;
    const std::int64_t groups = p->weights.groups, group = p->weights.group_size();
    for (std::int64_t j = r.j; j < r.j + r.count;) {
      const std::int64_t b = j / block, from = j % block, count = std::min(block - from, r.j + r.count - j);
      for (std::int64_t k = r.k; k < r.k + r.depth; k += fields) {
        const std::int32_t* const word = p->words + (b * p->weights.words() + k / fields) * block;
        const std::int64_t of_group = (b * groups + k / group) * block;
        unroll<static_cast<std::size_t>(fields)>([&]<std::size_t F>() __attribute__((always_inline)) {
          float made[block];
          float* const out = to + (k - r.k + static_cast<std::int64_t>(F)) * r.width + (j - r.j);
          float* const whole = count == block ? out : made;
          unroll<parts>([&]<std::size_t P>() __attribute__((always_inline)) {
            V weights;
            const Words words = kernels::vector_at<Bytes>(word + P * step);
            take_field<F, Bits>(words, weights);
            weights *= kernels::vector_at<Bytes>(p->scales + of_group + P * step);
            if (p->offsets != nullptr) weights += kernels::vector_at<Bytes>(p->offsets + of_group + P * step);
            kernels::vector_at<Bytes>(whole + P * step) = weights;
          });
          if (count < block)
            for (std::int64_t i = 0; i < count; ++i) out[i] = made[from + i];
        });
      }
      j += count;
    }
  }
};

/// As many rows as this are multiplied with weights that are unpacked into panels first, where vectors are narrower.
inline constexpr std::int64_t rows_worth_panels = 16;

[[nodiscard]] inline bool uses_panels(std::int64_t rows) noexcept {
  return rows >= rows_worth_panels && kernels::widest_vectors() < 64;
}
[[nodiscard]] inline bool turns_rows(std::int64_t rows) noexcept {
  return rows >= turned_rows && kernels::widest_vectors() == 64;
}
inline void turn_rows(const PackedProduct& p, float* to) {
  const std::int64_t depth = p.weights.depth;
  constexpr std::int64_t step = 16;  // so many lines of the cache are written in turns
  for (std::int64_t row = 0; row + turned_rows <= p.rows; row += turned_rows, to += turned_rows * depth)
    for (std::int64_t k = 0; k < depth; k += step)
      for (std::int64_t r = 0; r < turned_rows; ++r) {
        const float* const from = p.x + (row + r) * depth;
        for (std::int64_t i = k; i < std::min(k + step, depth); ++i) to[i * turned_rows + r] = from[i];
      }
}

template <int Bits>
void multiply_packed(const PackedProduct& p, float* work) {
  const PackedWeights& w = p.weights;
  if (!uses_panels(p.rows))
    return kernels::in_parallel(w.blocks(), 1, kernels::operations(p.rows, w.outputs, w.depth),
                                [&](std::size_t, std::int64_t first, std::int64_t end) {
                                  kernels::run_widest<MultiplyPacked<Bits>>(&p, first, end);
                                });
  gemm<float>(
      p.rows, w.outputs, w.depth, {p.x, w.depth, 1}, work,
      [&](float* panel, const PanelRange& r) {
        kernels::run_widest<UnpackPanel<Bits>>(&p, &r, panel);
        return Panel<float>{panel, r.packed_rows};
      },
      p.y, w.outputs);
  for (std::int64_t i = 0; i < p.rows && p.bias != nullptr; ++i)
    for (std::int64_t j = 0; j < w.outputs; ++j) p.y[i * w.outputs + j] += p.bias[j];
}

/// True if rows are cut into bytes, which `set` multiplies four at a time.
[[nodiscard]] inline bool splits_floats(DotSet set, const PackedWeights& w, std::int64_t rows) noexcept {
  return takes_split_floats(set) && rows <= most_split_rows && w.group_size() <= most_of_group;
}
/// The rows of a product, cut into bytes.
struct SplitRows {
  DotSet set;
  std::int8_t* tiles;    ///< 3 * depth per row
  std::int32_t* starts;  ///< 3 * groups per row
  float* scales;         ///< groups per row
};
/// Computes a row of a block of outputs by sums of bytes.
template <int Bits>
void multiply_split(const PackedProduct& p, const SplitRows& split, std::int64_t b, std::int64_t row) {
  const PackedWeights& w = p.weights;
  constexpr std::int64_t block = PackedWeights::block, most_groups = 32;  // whose sums stay in the cache
  alignas(64) std::int32_t sums[most_groups * 3 * block];
  const std::int64_t group_words = w.group_size() / w.fields();
  const std::int64_t first = b * block, count = std::min(block, w.outputs - first);
  float rest[block];
  float* const y = p.y + row * w.outputs + first;
  float* const to = count == block ? y : rest;
  std::fill_n(to, block, 0.0f);
  if (p.bias != nullptr) std::copy_n(p.bias + first, count, to);
  for (std::int64_t g = 0, groups = 0; g < w.groups; g += groups) {
    groups = std::min(most_groups, w.groups - g);
    const std::int64_t of_row = row * w.groups + g, of_block = (b * w.groups + g) * block;
    compute_dots<Bits>(
        split.set, 3,
        {p.words + (b * w.words() + g * group_words) * block, split.tiles + 3 * (row * w.depth + g * w.group_size()),
         split.starts + 3 * of_row, groups, group_words, sums});
    const SplitSums all{groups,
                        sums,
                        p.scales + of_block,
                        p.offsets == nullptr ? nullptr : p.offsets + of_block,
                        split.scales + of_row,
                        p.sums + of_row};
    kernels::run_widest<AddSplitSums>(&all, to);
  }
  if (to == rest) std::copy_n(rest, count, y);
}
/// Computes the product by sums of bytes; false if a row cannot be cut.
template <int Bits>
[[nodiscard]] bool multiply_split(const PackedProduct& p, const SplitRows& split) {
  const PackedWeights& w = p.weights;
  for (std::int64_t r = 0; r < p.rows; ++r) {
    const SplitRow row{p.x + r * w.depth,
                       w,
                       dot_form(split.set, Bits),
                       split.tiles + r * 3 * w.depth,
                       split.starts + r * 3 * w.groups,
                       split.scales + r * w.groups};
    if (!kernels::run_widest<SplitFloats<Bits>>(&row)) return false;
  }
  kernels::in_parallel(w.blocks(), 1, kernels::operations(p.rows, w.outputs, w.depth),
                       [&](std::size_t, std::int64_t first, std::int64_t end) {
                         for (std::int64_t b = first; b < end; ++b)
                           for (std::int64_t r = 0; r < p.rows; ++r) multiply_split<Bits>(p, split, b, r);
                       });
  return true;
}

/// Row `index` of the weights, as floats.
inline void unpack_row(const PackedProduct& p, std::int64_t index, float* to) {
  const PackedWeights& w = p.weights;
  for (std::int64_t k = 0; k < w.depth; k += w.fields()) {
    const std::int32_t word = p.words[w.place_of_word(index, k)];
    const std::int64_t of_group = w.place_of_scale(index, k / w.group_size());
    const float scale = p.scales[of_group], offset = p.offsets == nullptr ? 0 : p.offsets[of_group];
    for (std::int64_t f = 0; f < w.fields(); ++f) to[k + f] = static_cast<float>(w.field(word, f)) * scale + offset;
  }
}

[[nodiscard]] inline bool is_float_table(const TensorView& t, const PackedWeights& w) noexcept {
  return t.dtype == ScalarType::float32 && t.rank == 3 && t.size(0) == w.blocks() && t.size(1) == w.groups &&
         t.size(2) == PackedWeights::block && t.is_contiguous();
}
/// Reads words, scales and offsets from argument `first` on; false if they do not fit so many outputs and inputs.
[[nodiscard]] inline bool read_packed(const KernelCall& call, std::size_t first, std::int64_t outputs,
                                      std::int64_t depth, PackedProduct& to) {
  const TensorView &words = call.tensor(first), &scales = call.tensor(first + 1);
  if (words.dtype != ScalarType::int32 || words.rank != 3 || words.size(1) < 1 || !words.is_contiguous() ||
      scales.rank != 3 || outputs < 1 || outputs > max_numel || depth < 1 || depth > max_numel)
    return false;
  PackedWeights& w = to.weights;
  w.outputs = outputs;
  w.depth = depth;
  w.groups = scales.size(1);
  w.bits = depth == 8 * words.size(1) ? 4 : 8;
  if (!w.is_valid() || words.size(0) != w.blocks() || words.size(1) != w.words() ||
      words.size(2) != PackedWeights::block || !is_float_table(scales, w) ||
      (call.has(first + 2) && !is_float_table(call.tensor(first + 2), w)))
    return false;
  to.words = words.as<std::int32_t>();
  to.scales = scales.as<float>();
  to.offsets = call.has(first + 2) ? call.tensor(first + 2).as<float>() : nullptr;
  return true;
}
[[nodiscard]] constexpr bool is_packed_float(ScalarType type) noexcept {
  return type == ScalarType::float32 || type == ScalarType::float16 || type == ScalarType::bfloat16;
}

}  // namespace detail

/// davit.linear_packed(input (*, in), weight, scales, offsets?, bias (out)?, out_features) -> (*, out): aten.linear
/// with weights as PackedWeights says, which become floats in registers. Sums are float32, in groups. Errors:
/// invalid_shape, invalid_dtype. O(rows * in * out).
[[nodiscard]] inline ErrorCode linear_packed(KernelCall& call) {
  const TensorView& input = call.tensor(0);
  const auto refuse = [&] {
    return call.refuse(ErrorCode::invalid_shape, "the sizes of the operands do not fit a product with packed weights");
  };
  if (!detail::is_packed_float(input.dtype))
    return call.refuse(ErrorCode::invalid_dtype, "packed weights are multiplied with floats of 32 or 16 bits");
  if (input.rank == 0) return refuse();
  detail::PackedProduct product{};
  if (!detail::read_packed(call, 1, call.integer(5), input.size(input.rank - 1u), product)) return refuse();
  const PackedWeights& w = product.weights;
  if (call.has(4) && (call.tensor(4).rank != 1 || call.tensor(4).size(0) != w.outputs)) return refuse();
  Sizes sizes(input.sizes().first(input.rank - 1u));
  if (!sizes.push(w.outputs)) return refuse();
  if (const ErrorCode code = call.make(0, input.dtype, sizes); code != ErrorCode::ok) return code;
  product.rows = call.output(0).numel() / w.outputs;
  if (product.rows == 0) return ErrorCode::ok;
  ComputeBuffers<float> buffers(call);
  const auto x = buffers.read(input);
  const auto bias = call.has(4) ? buffers.read(call.tensor(4)) : x;
  const auto y = buffers.write(0);
  const auto work = buffers.buffer(detail::uses_panels(product.rows)  ? gemm_work<float>(product.rows)
                                   : detail::turns_rows(product.rows) ? product.rows * w.depth
                                                                      : 0);
  const std::int64_t sum_count = product.offsets == nullptr ? 0 : product.rows * w.groups;
  const auto sums = buffers.buffer(sum_count);
  const detail::DotSet set = detail::dot_set();
  const bool splits = detail::splits_floats(set, w, product.rows);
  const std::int64_t split_rows = splits ? 3 * product.rows : 0;
  const auto tiles = buffers.buffer_of<std::int8_t>(split_rows * w.depth);
  const auto starts = buffers.buffer_of<std::int32_t>(split_rows * w.groups);
  const auto scales = buffers.buffer(split_rows * w.groups / 3);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  for (std::int64_t i = 0; i < sum_count; ++i) {
    const float* const from = buffers.in(x) + i * w.group_size();
    float sum = 0;
    for (std::int64_t k = 0; k < w.group_size(); ++k) sum += from[k];
    buffers.out(sums)[i] = sum;
  }
  product.bias = call.has(4) ? buffers.in(bias) : nullptr;
  product.x = buffers.in(x);
  product.sums = buffers.in(sums);
  if (detail::turns_rows(product.rows)) {
    detail::turn_rows(product, buffers.out(work));
    product.turned = buffers.out(work);
  }
  product.y = buffers.out(y);
  const detail::SplitRows split{set, buffers.at<std::int8_t>(tiles), buffers.at<std::int32_t>(starts),
                                buffers.out(scales)};
  if (splits && (w.bits == 4 ? detail::multiply_split<4>(product, split) : detail::multiply_split<8>(product, split)))
    return buffers.finish();
  if (w.bits == 4)
    detail::multiply_packed<4>(product, buffers.out(work));
  else
    detail::multiply_packed<8>(product, buffers.out(work));
  return buffers.finish();
}

/// davit.embedding_packed(weight, scales, offsets?, indices (*), num_embeddings, embedding_dim, dtype) -> (*,
/// embedding_dim): aten.embedding with weights as PackedWeights says. Errors: invalid_shape, invalid_dtype,
/// out_of_range. O(indices * embedding_dim).
[[nodiscard]] inline ErrorCode embedding_packed(KernelCall& call) {
  const TensorView& indices = call.tensor(3);
  const ScalarType type = call.dtype(6, ScalarType::float32);
  detail::PackedProduct packed{};
  if (!detail::read_packed(call, 0, call.integer(4), call.integer(5), packed))
    return call.refuse(ErrorCode::invalid_shape, "the sizes of the operands do not fit packed weights");
  if (indices.dtype != ScalarType::int64 && indices.dtype != ScalarType::int32)
    return call.refuse(ErrorCode::invalid_dtype, "indices are int64 or int32");
  if (!detail::is_packed_float(type))
    return call.refuse(ErrorCode::invalid_dtype, "packed weights become floats of 32 or 16 bits");
  Sizes sizes(indices.sizes());
  if (!sizes.push(packed.weights.depth)) return call.refuse(ErrorCode::invalid_shape, "too many dimensions");
  if (const ErrorCode code = call.make(0, type, sizes); code != ErrorCode::ok) return code;
  ComputeBuffers<float> buffers(call);
  const auto y = buffers.write(0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  float* to = buffers.out(y);
  bool inside = true;
  for_each_index<1>(indices.sizes(), {strides_of(indices)}, [&](std::int64_t at) {
    const std::int64_t index =
        indices.dtype == ScalarType::int64 ? indices.as<std::int64_t>()[at] : indices.as<std::int32_t>()[at];
    inside = inside && index >= 0 && index < packed.weights.outputs;
    if (inside) detail::unpack_row(packed, index, to);
    to += packed.weights.depth;
  });
  if (!inside) return call.refuse(ErrorCode::out_of_range, "an index is not below the number of embeddings");
  return buffers.finish();
}

}  // namespace davit::portable_kernels
