// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "davit/backends/portable/run_time/products/byte_arguments.hpp"
#include "davit/core/config.hpp"

namespace davit::portable_kernels {

namespace detail {

inline void add_numbers(std::vector<EValue>& to, std::initializer_list<std::int64_t> numbers) {
  for (const std::int64_t x : numbers) to.emplace_back(x);
}
/// Appends the numbers of a range.
inline void add_range(std::vector<EValue>& to, const kernels::ByteRange& range) {
  to.emplace_back(static_cast<double>(range.inverse));
  add_numbers(to, {range.zero_point, range.low, range.high});
}

}  // namespace detail

std::vector<EValue> byte_sum_numbers(const kernels::ByteScale& first, const kernels::ByteScale& second,
                                     const kernels::ByteRange& range, ByteLayout layout) {
  std::vector<EValue> numbers;
  for (const float x : {first.scale, first.zero_point, second.scale, second.zero_point})
    numbers.emplace_back(static_cast<double>(x));
  detail::add_range(numbers, range);
  detail::add_numbers(numbers, {static_cast<std::int64_t>(layout)});
  return numbers;
}
void pack_weights(const kernels::ByteConvolution& c, const std::int8_t* weights, std::int16_t* to) noexcept {
  kernels::pack_bytes(c, weights, to);
}
std::vector<EValue> byte_product_numbers(const ByteProduct& p, std::int32_t zero_point, const kernels::ByteRange& range,
                                         ByteLayout layout) {
  const kernels::ByteConvolution& c = p.convolution;
  std::vector<EValue> numbers;
  detail::add_numbers(numbers, {c.channels, c.out_channels, c.kernel_height, c.kernel_width, c.stride_height,
                                c.stride_width, c.dilation_height, c.dilation_width, c.top, c.left,
                                std::int64_t{c.depthwise}, p.bottom, p.right, std::int64_t{p.of_rows},
                                static_cast<std::int64_t>(p.made), zero_point, static_cast<std::int64_t>(layout)});
  detail::add_range(numbers, range);
  return numbers;
}

}  // namespace davit::portable_kernels
