// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"

namespace davit::portable_kernels {

namespace detail {

enum class BagMode : std::uint8_t { sum, mean, max };

/// A checked call of _embedding_bag: the rows of the weight in each bag.
struct EmbeddingBag {
  const TensorView* weight = nullptr;
  const TensorView* indices = nullptr;
  const TensorView* offsets = nullptr;
  const TensorView* scales = nullptr;  ///< per sample, or nullptr
  BagMode mode = BagMode::sum;
  std::int64_t bags = 0;
  std::int64_t width = 0;
  std::int64_t padding_idx = -1;

  [[nodiscard]] std::int64_t index(std::int64_t i) const noexcept {
    return element_as<std::int64_t>(*indices, i * indices->stride(0));
  }
  [[nodiscard]] std::int64_t offset(std::int64_t b) const noexcept {
    return element_as<std::int64_t>(*offsets, b * offsets->stride(0));
  }
  /// One past the last index of a bag. In torch the last bag extends to the end, whatever the last offset says.
  [[nodiscard]] std::int64_t end(std::int64_t b) const noexcept {
    return b + 1 < bags ? offset(b + 1) : indices->size(0);
  }
  [[nodiscard]] bool is_padding(std::int64_t i) const noexcept { return padding_idx >= 0 && index(i) == padding_idx; }
  /// True for sums for which torch does not record the bag of each index.
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
  return check_bag_values(call, bag);
}

/// Makes the outputs: bags, the bag of each index, the bags' sizes, and, for max, the row of each maximum.
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

/// Gathers one bag into `values`; `rows`, if given, receives the row of each maximum; `line` is work space for a row of
/// the weight. Returns the bag's size.
template <class C, class I>
[[nodiscard]] std::int64_t gather_bag(const EmbeddingBag& bag, std::int64_t b, C* values, C* line, I* rows) {
  const TensorView& weight = *bag.weight;
  const bool in_place = weight.dtype == scalar_type_of<C> && weight.stride(1) == 1;
  std::int64_t size = 0;
  std::fill_n(values, bag.width, C{});
  for (std::int64_t i = bag.offset(b); i < bag.end(b); ++i) {
    if (bag.is_padding(i)) continue;
    const std::int64_t row = bag.index(i);
    const C* from = in_place ? weight.as<C>() + row * weight.stride(0) : line;
    if (!in_place) {
      TensorView source = weight;
      source.data = weight.element_at(row * weight.stride(0));
      source.sizes_data = &weight.sizes_data[1];
      source.strides_data = &weight.strides_data[1];
      source.rank = 1;
      (void)convert_elements(source, scalar_type_of<C>, line);
    }
    const C scale = bag.scales == nullptr ? C{1} : element_as<C>(*bag.scales, i * bag.scales->stride(0));
    for (std::int64_t j = 0; j < bag.width; ++j) {
      const C v = from[j];
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

template <class C, class I>
[[nodiscard]] ErrorCode gather_bags(KernelCall& call, const EmbeddingBag& bag) {
  note_bags<I>(call, bag);
  const auto width = static_cast<std::size_t>(bag.width);
  C* values = call.temporary<C>(2 * width);
  if (values == nullptr) return call.refuse(ErrorCode::out_of_memory, "no memory for a bag");
  I* rows = bag.mode == BagMode::max && call.wants(3) ? call.output(3).template as<I>() : nullptr;
  const kernels::Conversion store = kernels::Conversion::between(scalar_type_of<C>, bag.weight->dtype);
  auto* to = call.output(0).as<std::byte>();
  for (std::int64_t b = 0; b < bag.bags; ++b, to += width * store.element) {
    const std::int64_t size =
        gather_bag(bag, b, values, values + width, rows == nullptr ? nullptr : rows + b * bag.width);
    const C divisor = bag.mode == BagMode::mean && size != 0 ? static_cast<C>(size) : C{1};
    for (std::int64_t j = 0; j < bag.width; ++j) values[j] /= divisor;
    if (store.count == 0) {
      std::copy_n(values, width, reinterpret_cast<C*>(to));
    } else {
      store.run(values, to, values + width, bag.width);
    }
  }
  return ErrorCode::ok;
}

}  // namespace detail

/// _embedding_bag(weight (rows, width), indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights?,
/// include_last_offset, padding_idx) -> (bags, bag of each index, bag sizes, rows of the maxima). torch keeps the last
/// three for its backward; for sums the sizes are 0. Source: at::_embedding_bag on CPU.
[[nodiscard]] inline ErrorCode embedding_bag(KernelCall& call) {
  detail::EmbeddingBag bag;
  if (const ErrorCode code = detail::read_embedding_bag(call, bag); code != ErrorCode::ok) return code;
  if (!is_floating(bag.weight->dtype)) return call.refuse(ErrorCode::invalid_dtype, "embedding_bag takes floats only");
  if (const ErrorCode code = detail::make_bag_outputs(call, bag); code != ErrorCode::ok) return code;
  const bool wide = promote(bag.indices->dtype, bag.offsets->dtype) == ScalarType::int64;
  return dispatch_floating(call, bag.weight->dtype, [&]<class C>() {
    return wide ? detail::gather_bags<C, std::int64_t>(call, bag) : detail::gather_bags<C, std::int32_t>(call, bag);
  });
}

inline constexpr auto embedding_bag_ops = std::to_array<OpRow>({{"aten._embedding_bag.default", embedding_bag}});

}  // namespace davit::portable_kernels
