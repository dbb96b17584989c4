// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/products/multiply.hpp"
#include "davit/backends/portable/run_time/reductions/softmax.hpp"
#include "davit/kernels/thread_team.hpp"

namespace davit::portable_kernels {

namespace detail {

/// A checked call of scaled_dot_product_attention.
struct Attention {
  Sizes batch;
  std::int64_t queries = 0, keys = 0, depth = 0, values = 0;
  double scale = 1;
  bool causal = false;
  bool leaves_out = false;    ///< masked keys are skipped, not added as -infinity, which would keep a NaN
  bool shares_heads = false;  ///< enable_gqa: key and value heads serve several query heads each

  /// The offset of an operand's matrix of batch entry `index`.
  [[nodiscard]] std::int64_t offset(const TensorView& t, const Sizes& strides, std::int64_t index) const noexcept {
    std::int64_t result = 0;
    for (std::size_t d = batch.rank; d-- > 0;) {
      std::int64_t at = index % batch[d];
      index /= batch[d];
      if (d + t.rank < batch.rank + 2) continue;
      const std::size_t own = d + t.rank - batch.rank - 2;
      if (t.size(own) == 1) continue;
      if (t.size(own) != batch[d]) at /= batch[d] / t.size(own);
      result += at * strides[own];
    }
    return result;
  }
};

/// The keys [first, last).
struct KeyRange {
  std::int64_t first = 0, last = 0;
};

/// Returns a range of keys, of whole vectors, outside of which the mask leaves out all keys for all `rows` queries;
/// every key if it leaves out all keys of a query. O(rows * keys outside).
template <class C>
[[nodiscard]] KeyRange kept_keys(Matrix<C> mask, bool adds, std::int64_t rows, std::int64_t keys) noexcept {
  constexpr std::int64_t step = 16;
  // also the lowest finite number, which masks of language models add in place of -infinity
  constexpr C least = std::numeric_limits<C>::lowest() / 2;
  if (mask.row == 0) rows = 1;
  KeyRange kept{keys, 0};
  for (std::int64_t r = 0; r < rows; ++r) {
    const C* const row = mask.data + r * mask.row;
    const auto is_left_out = [&](std::int64_t j) {
      const C value = row[j * mask.col];
      return adds ? value < least : value == C{};
    };
    std::int64_t first = 0, last = keys;
    while (first < keys && is_left_out(first)) ++first;
    if (first == keys) return {0, keys};
    while (last > kept.last && is_left_out(last - 1)) --last;
    kept = {std::min(kept.first, first), std::max(kept.last, last)};
  }
  return {kept.first / step * step, std::min(keys, (kept.last + step - 1) / step * step)};
}

/// Scales a query's scores, then adds a mask's row to them, or -infinity where the row is false.
struct MaskScores {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(C* scores, std::int64_t keys, C scale, const C* mask, std::int64_t step,
                                         bool adds) noexcept {
    constexpr C masked = -std::numeric_limits<C>::infinity();
    const auto each = [&](auto added) __attribute__((always_inline)) {
      for (std::int64_t j = 0; j < keys; ++j) scores[j] = scores[j] * scale + added(j);
    };
    if (mask == nullptr)
      for (std::int64_t j = 0; j < keys; ++j) scores[j] *= scale;
    else if (adds && step == 1)
      each([=](std::int64_t j) { return mask[j]; });
    else if (adds)
      each([=](std::int64_t j) { return mask[j * step]; });
    else if (step == 1)
      each([=](std::int64_t j) { return mask[j] == C{} ? masked : C{}; });
    else
      each([=](std::int64_t j) { return mask[j * step] == C{} ? masked : C{}; });
  }
};

template <class C>
[[nodiscard]] ErrorCode compute_attention(KernelCall& call, const Attention& a) {
  constexpr std::int64_t block_rows = 64, longest_key = 256;
  if (call.output(0).numel() == 0) return ErrorCode::ok;
  ComputeBuffers<C> buffers(call);
  std::array<std::size_t, 4> ids{};
  for (std::size_t i = 0; i < 4; ++i) ids[i] = call.is_tensor(i) ? buffers.read_strided(call.tensor(i)) : 0;
  const auto out_id = buffers.write(0);
  const std::int64_t rows = std::min(block_rows, a.queries);
  const std::int64_t entries = call.output(0).numel() / (a.queries * a.values);
  const kernels::EntrySharing sharing(entries, kernels::operations(a.queries, a.keys, a.depth + a.values));
  const std::int64_t work = [&] {
    const kernels::TeamScope team = sharing.team_of_entry();
    return std::max(multiply_work<C>(rows, a.keys), multiply_work<C>(rows, a.values));
  }();
  const auto scores_id = buffers.buffer({sharing.spaces(), rows, a.keys});
  const auto work_id = buffers.buffer({sharing.spaces(), work});
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  const auto matrix = [&](std::size_t i, std::int64_t index) {
    const TensorView& t = call.tensor(i);
    const Sizes strides = buffers.strides(ids[i]);
    const std::int64_t row = t.size(t.rank - 2u) == 1 ? 0 : strides[t.rank - 2u];
    const std::int64_t col = t.size(t.rank - 1u) == 1 ? 0 : strides[t.rank - 1u];
    const C* data = buffers.in(ids[i]);
    return Matrix<C>{checked_numel(t) == 0 ? data : data + a.offset(t, strides, index), row, col};
  };
  const auto scale = static_cast<C>(a.scale);
  constexpr C masked = -std::numeric_limits<C>::infinity();
  const bool adds = call.is_tensor(3) && call.tensor(3).dtype != ScalarType::bool_;
  // most masks are the same for all heads
  const bool shares_mask =
      call.reads_state && call.is_tensor(3) && rows == a.queries &&
      std::ranges::all_of(call.tensor(3).sizes().first(call.tensor(3).rank - 2u), [](auto n) { return n == 1; });
  const KeyRange shared = shares_mask ? kept_keys(matrix(3, 0), adds, a.queries, a.keys) : KeyRange{};
  const auto compute_entry = [&](std::int64_t n, C* scores, C* products) {
    const Matrix<C> q = matrix(0, n);
    const Matrix<C> k = matrix(1, n);
    const Matrix<C> v = matrix(2, n);
    const Matrix<C> mask = call.is_tensor(3) ? matrix(3, n) : Matrix<C>{};
    for (std::int64_t first = 0; first < a.queries; first += rows) {
      const std::int64_t count = std::min(rows, a.queries - first);
      const Matrix<C> masks{mask.data == nullptr ? nullptr : mask.data + first * mask.row, mask.row, mask.col};
      KeyRange range{0, a.keys};
      if (shares_mask)
        range = shared;
      else if (call.reads_state && masks.data != nullptr)
        range = kept_keys(masks, adds, count, a.keys);
      else if (a.causal && a.leaves_out)
        range.last = std::min(a.keys, first + count);
      const std::int64_t keys = range.last - range.first;
      const C* const key = k.data == nullptr ? nullptr : k.data + range.first * k.row;
      const C* const value = v.data == nullptr ? nullptr : v.data + range.first * v.row;
      if (a.queries == 1 && q.col == 1 && k.col == 1 && a.depth <= longest_key) {  // a KV cache in main memory
        const Dots<C> dots{1, keys, a.depth, q.data, q.row, key, k.row, scores, keys};
        kernels::run_widest_for<C, MultiplyRow>(&dots);
      } else {
        multiply<C>(count, keys, a.depth, {a.depth == 0 ? q.data : q.data + first * q.row, q.row, q.col},
                    Matrix<C>{key, k.row, k.col}.transposed(), products, scores, keys);
      }
      for (std::int64_t r = 0; r < count; ++r) {
        C* const row = scores + r * keys;
        const C* const added = masks.data == nullptr ? nullptr : masks.data + r * masks.row + range.first * masks.col;
        kernels::run_widest_for<C, MaskScores>(row, keys, scale, added, masks.col, adds);
        for (std::int64_t j = first + r + 1; a.causal && j < keys; ++j)
          row[j] = a.leaves_out ? masked : row[j] + masked;
        kernels::run_widest_for<C, kernels::SoftmaxLine<double>>(static_cast<const C*>(row), keys, std::int64_t{1}, row,
                                                                 true);
      }
      C* out = buffers.out(out_id) + (n * a.queries + first) * a.values;
      multiply<C>(count, a.values, keys, {scores, keys, 1}, {value, v.row, v.col}, products, out, a.values);
    }
  };
  sharing.run([&](std::int64_t at, std::int64_t n) {
    compute_entry(n, buffers.out(scores_id) + at * rows * a.keys, buffers.out(work_id) + at * work);
  });
  return buffers.finish();
}

/// The broadcast batch dimensions of the operands; with shared heads, the last one of key and value divides the
/// query's.
[[nodiscard]] inline bool attention_batch(KernelCall& call, Attention& a) {
  for (std::size_t i = 0; i < 3; ++i) {
    const TensorView& t = call.tensor(i);
    Sizes own(t.sizes().first(t.rank - 2u));
    if (i > 0 && a.shares_heads) {
      if (t.rank < 3 || call.tensor(0).rank < 3) return false;
      const std::int64_t heads = call.tensor(0).size(call.tensor(0).rank - 3u);
      std::int64_t& shared = own[own.rank - 1];
      if (shared == 0 ? heads != 0 : heads % shared != 0) return false;
      shared = heads;
    }
    if (!broadcast(a.batch, own, a.batch)) return false;
  }
  return true;
}

}  // namespace detail

/// scaled_dot_product_attention(query (*, L, E), key (*, S, E), value (*, S, V), attn_mask?, dropout_p, is_causal,
/// scale?, enable_gqa) -> (*, L, V) = softmax(query key^T * scale + mask) value. Dropout is not supported. A mask adds
/// -infinity, so that NaN stays; only is_causal with four dimensions skips masked keys, as torch's flash kernel does.
/// Of a KV cache, keys in front of and behind all keys that the mask keeps are not read.
/// Source: at::scaled_dot_product_attention.
[[nodiscard]] inline ErrorCode scaled_dot_product_attention(KernelCall& call) {
  const TensorView& q = call.tensor(0);
  const TensorView& k = call.tensor(1);
  const TensorView& v = call.tensor(2);
  detail::Attention a;
  a.shares_heads = call.boolean(7);
  if (q.rank < 2 || k.rank < 2 || v.rank < 2 || q.size(q.rank - 1u) != k.size(k.rank - 1u) ||
      k.size(k.rank - 2u) != v.size(v.rank - 2u) || !detail::attention_batch(call, a))
    return call.refuse(ErrorCode::invalid_shape, "attention: the sizes of query, key and value do not fit");
  if (q.dtype != k.dtype || q.dtype != v.dtype)
    return call.refuse(ErrorCode::invalid_dtype, "attention: query, key and value must have the same dtype");
  if (call.number(4) != 0)
    return call.refuse(ErrorCode::unsupported_argument, "attention: dropout is not supported in inference");
  a.queries = q.size(q.rank - 2u);
  a.depth = q.size(q.rank - 1u);
  a.keys = k.size(k.rank - 2u);
  a.values = v.size(v.rank - 1u);
  a.causal = call.boolean(5);
  a.leaves_out = q.rank == 4;
  a.scale = call.number(6, 1 / std::sqrt(static_cast<double>(a.depth)));
  Sizes scores = a.batch;
  if (!scores.push(a.queries) || !scores.push(a.keys))
    return call.refuse(ErrorCode::invalid_shape, "attention: too many dimensions");
  if (call.is_tensor(3)) {
    const TensorView& mask = call.tensor(3);
    Sizes together;
    if (mask.rank < 2 || !broadcast(mask.sizes(), scores, together) ||
        !std::ranges::equal(together.span(), scores.span()))
      return call.refuse(ErrorCode::invalid_shape, "attention: the mask does not broadcast to the scores");
    if (mask.dtype != ScalarType::bool_ && mask.dtype != ScalarType::float32 && mask.dtype != q.dtype)
      return call.refuse(ErrorCode::invalid_dtype, "attention: the mask must be bool, float32 or of the query's dtype");
  }
  Sizes sizes = a.batch;
  sizes.push(a.queries);
  sizes.push(a.values);
  if (const ErrorCode code = call.make(0, q.dtype, sizes); code != ErrorCode::ok) return code;
  return dispatch_floating(call, q.dtype, [&]<class C>() { return detail::compute_attention<C>(call, a); });
}

inline constexpr auto attention_ops = std::to_array<OpRow>({
    {"aten.scaled_dot_product_attention.default", scaled_dot_product_attention},
});

}  // namespace davit::portable_kernels
