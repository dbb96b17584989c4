// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "davit/backends/portable/result_type.hpp"
#include "davit/backends/portable/views.hpp"

namespace davit::portable_kernels {

namespace detail {

enum class BagMode : std::uint8_t { sum, mean, max };

/// A checked call of _embedding_bag: which rows of the weight make which bag.
struct EmbeddingBag {
  const TensorView* weight = nullptr;
  const TensorView* indices = nullptr;
  const TensorView* offsets = nullptr;
  const TensorView* scales = nullptr;  ///< per sample, or nullptr
  Loader<std::int64_t> load_index = nullptr;
  Loader<std::int64_t> load_offset = nullptr;
  BagMode mode = BagMode::sum;
  std::int64_t bags = 0;
  std::int64_t width = 0;
  std::int64_t padding_idx = -1;

  [[nodiscard]] std::int64_t index(std::int64_t i) const noexcept {
    return load_index(indices->data, i * indices->stride(0));
  }
  [[nodiscard]] std::int64_t offset(std::int64_t b) const noexcept {
    return load_offset(offsets->data, b * offsets->stride(0));
  }
  /// One past the last index of a bag. torch lets the last bag reach to the end, whatever a last offset says.
  [[nodiscard]] std::int64_t end(std::int64_t b) const noexcept {
    return b + 1 < bags ? offset(b + 1) : indices->size(0);
  }
  [[nodiscard]] bool is_padding(std::int64_t i) const noexcept { return padding_idx >= 0 && index(i) == padding_idx; }
  /// Sums that torch computes without noting the bag of each index.
  [[nodiscard]] bool leaves_bags_out() const noexcept {
    const bool dense_scales = scales == nullptr || scales->stride(0) == 1;
    return mode == BagMode::sum && padding_idx < 0 && weight->stride(1) == 1 && weight->dtype != ScalarType::float64 &&
           dense_scales;
  }
};

[[nodiscard]] inline ErrorCode check_bag_values(KernelCall& call, const EmbeddingBag& bag) {
  const std::int64_t count = bag.indices->size(0);
  std::int64_t last = 0;
  for (std::int64_t b = 0; b < bag.offsets->size(0); ++b) {
    const std::int64_t offset = bag.offset(b);
    if (offset < last || offset > count || (b == 0 && offset != 0))
      return call.refuse(ErrorCode::out_of_range, "offsets must rise from 0 to at most the number of indices");
    last = offset;
  }
  for (std::int64_t i = 0; i < count; ++i)
    if (const std::int64_t row = bag.index(i); row < 0 || row >= bag.weight->size(0))
      return call.refuse(ErrorCode::out_of_range, "an index is outside the weight");
  return ErrorCode::ok;
}

[[nodiscard]] inline ErrorCode read_embedding_bag(KernelCall& call, EmbeddingBag& bag) {
  bag.weight = &call.tensor(0);
  bag.indices = &call.tensor(1);
  bag.offsets = &call.tensor(2);
  bag.scales = call.is_tensor(6) ? &call.tensor(6) : nullptr;
  const std::int64_t mode = call.integer(4);
  const bool include_last = call.boolean(7);
  bag.padding_idx = call.integer(8, -1);
  if (mode < 0 || mode > 2)
    return call.refuse(ErrorCode::invalid_argument, "mode must be 0 (sum), 1 (mean) or 2 (max)");
  bag.mode = static_cast<BagMode>(mode);
  if (bag.weight->rank != 2 || bag.indices->rank != 1 || bag.offsets->rank != 1)
    return call.refuse(ErrorCode::invalid_shape, "the weight must have two dimensions, indices and offsets one");
  for (const TensorView* t : {bag.indices, bag.offsets})
    if (t->dtype != ScalarType::int64 && t->dtype != ScalarType::int32)
      return call.refuse(ErrorCode::invalid_dtype, "indices and offsets must be int64 or int32");
  if (bag.scales != nullptr) {
    if (bag.mode != BagMode::sum)
      return call.refuse(ErrorCode::invalid_argument, "per_sample_weights are for sums only");
    if (bag.scales->dtype != bag.weight->dtype)
      return call.refuse(ErrorCode::invalid_dtype, "per_sample_weights must have the weight's dtype");
    if (bag.scales->rank != 1 || bag.scales->size(0) != bag.indices->size(0))
      return call.refuse(ErrorCode::invalid_shape, "there must be as many per_sample_weights as indices");
  }
  if (include_last && bag.offsets->size(0) == 0)
    return call.refuse(ErrorCode::invalid_shape, "offsets must hold the last offset");
  bag.bags = bag.offsets->size(0) - (include_last ? 1 : 0);
  bag.width = bag.weight->size(1);
  if (const ErrorCode code = find_loader<std::int64_t>(bag.indices->dtype, bag.load_index); code != ErrorCode::ok)
    return code;
  if (const ErrorCode code = find_loader<std::int64_t>(bag.offsets->dtype, bag.load_offset); code != ErrorCode::ok)
    return code;
  return check_bag_values(call, bag);
}

/// Makes the outputs: bags, the bag of each index, the bags' sizes, and for max the row each value came from.
[[nodiscard]] inline ErrorCode make_bag_outputs(KernelCall& call, const EmbeddingBag& bag) {
  const ScalarType index_type = promote(bag.indices->dtype, bag.offsets->dtype);
  const std::array values{bag.bags, bag.width};
  const std::array bag_of{bag.leaves_bags_out() ? std::int64_t{0} : bag.indices->size(0)};
  if (const ErrorCode code = call.make(0, bag.weight->dtype, values); code != ErrorCode::ok) return code;
  const std::array<std::span<const std::int64_t>, 3> sizes{bag_of, std::span(values).first(1),
                                                           std::span(values).first(bag.mode == BagMode::max ? 2 : 1)};
  for (std::size_t i = 1; i < 4 && call.wants(i); ++i)
    if (const ErrorCode code = call.make(i, index_type, sizes[i - 1]); code != ErrorCode::ok) return code;
  return ErrorCode::ok;
}

/// Fills the bag of each index (-1 if there are no bags) and, unless it is max, the sizes and their copy.
template <class I>
void note_bags(KernelCall& call, const EmbeddingBag& bag) {
  if (call.wants(1) && call.output(1).numel() != 0) {
    I* bag_of = call.output(1).as<I>();
    std::fill_n(bag_of, bag.indices->size(0), I(-1));
    for (std::int64_t b = 0; b < bag.bags; ++b)
      std::fill(bag_of + bag.offset(b), bag_of + bag.end(b), static_cast<I>(b));
  }
  for (std::size_t i = 2; i < 4 && call.wants(i); ++i) {
    I* sizes = call.output(i).as<I>();
    std::fill_n(sizes, call.output(i).numel(), I(0));
    if (bag.mode == BagMode::sum || (i == 3 && bag.mode == BagMode::max)) continue;
    for (std::int64_t b = 0; b < bag.bags; ++b)
      for (std::int64_t k = bag.offset(b); k < bag.end(b); ++k) sizes[b] += bag.is_padding(k) ? 0 : 1;
  }
}

/// Gathers one bag into `values`; `rows`, if given, gets the row each maximum came from. Answers the bag's size.
template <class T, class C, class I>
[[nodiscard]] std::int64_t gather_bag(const EmbeddingBag& bag, std::int64_t b, C* values, I* rows) {
  const TensorView& weight = *bag.weight;
  std::int64_t size = 0;
  std::fill_n(values, bag.width, C{});
  for (std::int64_t i = bag.offset(b); i < bag.end(b); ++i) {
    if (bag.is_padding(i)) continue;
    const std::int64_t row = bag.index(i);
    const T* from = weight.as<T>() + row * weight.stride(0);
    const C scale = bag.scales == nullptr ? C{1} : static_cast<C>(bag.scales->as<T>()[i * bag.scales->stride(0)]);
    for (std::int64_t j = 0; j < bag.width; ++j) {
      const C v = static_cast<C>(from[j * weight.stride(1)]);
      if (bag.mode != BagMode::max) {
        values[j] += scale * v;
      } else if (size == 0 || v > values[j]) {
        values[j] = v;
        if (rows != nullptr) rows[j] = static_cast<I>(row);
      }
    }
    ++size;
  }
  return size;
}

}  // namespace detail

/// _embedding_bag(weight (rows, width), indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights?,
/// include_last_offset, padding_idx) -> (bags, bag of each index, bag sizes, rows of the maxima).
/// The last three are what torch keeps for its backward: sums leave the sizes 0. Source: at::_embedding_bag on CPU.
[[nodiscard]] inline ErrorCode embedding_bag(KernelCall& call) {
  detail::EmbeddingBag bag;
  if (const ErrorCode code = detail::read_embedding_bag(call, bag); code != ErrorCode::ok) return code;
  if (!is_floating(bag.weight->dtype)) return call.refuse(ErrorCode::invalid_dtype, "embedding_bag takes floats only");
  if (const ErrorCode code = detail::make_bag_outputs(call, bag); code != ErrorCode::ok) return code;
  return dispatch_float(bag.weight->dtype, [&]<class T>() {
    return dispatch<std::int64_t, std::int32_t>(promote(bag.indices->dtype, bag.offsets->dtype), [&]<class I>() {
      using C = compute_type<T>;
      detail::note_bags<I>(call, bag);
      C* values = call.temporary<C>(static_cast<std::size_t>(bag.width));
      if (values == nullptr) return call.refuse(ErrorCode::out_of_memory, "no memory for a bag");
      I* rows = bag.mode == detail::BagMode::max && call.wants(3) ? call.output(3).template as<I>() : nullptr;
      T* to = call.output(0).template as<T>();
      for (std::int64_t b = 0; b < bag.bags; ++b) {
        const std::int64_t size =
            detail::gather_bag<T>(bag, b, values, rows == nullptr ? nullptr : rows + b * bag.width);
        const C divisor = bag.mode == detail::BagMode::mean && size != 0 ? static_cast<C>(size) : C{1};
        for (std::int64_t j = 0; j < bag.width; ++j) *to++ = static_cast<T>(values[j] / divisor);
      }
      return ErrorCode::ok;
    });
  });
}

inline constexpr auto embedding_bag_ops = std::to_array<OpRow>({{"aten._embedding_bag.default", embedding_bag}});

}  // namespace davit::portable_kernels
