// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/backends/portable/run_time/products/byte_products.hpp"
#include "davit/core/config.hpp"
#include "davit/core/tensor_view.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/shapes.hpp"
#include "davit/kernels/thread_team.hpp"

namespace davit::portable_kernels {

namespace detail {

[[nodiscard]] inline kernels::ByteRange range_at(const KernelCall& call, std::size_t first) {
  const auto integer = [&](std::size_t i) { return static_cast<std::int32_t>(call.integer(first + i)); };
  return {static_cast<float>(call.number(first)), integer(1), integer(2), integer(3)};
}
[[nodiscard]] inline bool is_byte(ScalarType type) noexcept {
  return type == ScalarType::int8 || type == ScalarType::uint8;
}

inline void strides_in(ByteLayout layout, std::span<const std::int64_t> sizes,
                       std::span<std::int64_t> strides) noexcept {
  if (layout == ByteLayout::channels_last)
    channels_last_strides(sizes, strides);
  else
    contiguous_strides(sizes, strides);
}
[[nodiscard]] inline bool lies_in(ByteLayout layout, const TensorView& x) noexcept {
  std::array<std::int64_t, max_rank> strides{};
  strides_in(layout, x.sizes(), {strides.data(), x.rank});
  for (std::size_t d = 0; d < x.rank; ++d)
    if (x.size(d) > 1 && x.stride(d) != strides[d]) return false;
  return true;
}
/// (rows, columns) -> (columns, rows) for some matrices, in stretches of columns whose lines stay in the cache.
inline void transpose_bytes(const std::byte* from, std::int64_t matrices, std::int64_t rows, std::int64_t columns,
                            std::byte* to) noexcept {
  constexpr std::int64_t stretch = 64;
  for (std::int64_t m = 0; m < matrices; ++m, from += rows * columns, to += rows * columns)
    for (std::int64_t c = 0; c < columns; c += stretch)
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t i = c; i < std::min(c + stretch, columns); ++i) to[i * rows + r] = from[r * columns + i];
}
/// The bytes of `x` in a layout, copied to `copy` from the other layout; nullptr for any third layout.
[[nodiscard]] inline const std::byte* bytes_in(ByteLayout layout, const TensorView& x, std::byte* copy) noexcept {
  if (lies_in(layout, x)) return x.as<std::byte>();
  const bool last = lies_in(ByteLayout::channels_last, x);
  if (!last && !lies_in(ByteLayout::row_major, x)) return nullptr;
  const std::int64_t spatial = x.numel() / (x.size(0) * x.size(1));
  transpose_bytes(x.as<std::byte>(), x.size(0), last ? spatial : x.size(1), last ? x.size(1) : spatial, copy);
  return copy;
}
/// Makes output 0 in a layout.
[[nodiscard]] inline ErrorCode make_bytes(KernelCall& call, ScalarType type, std::span<const std::int64_t> sizes,
                                          ByteLayout layout) {
  if (const ErrorCode code = call.make(0, type, sizes); code != ErrorCode::ok || layout == ByteLayout::row_major)
    return code;
  const TensorView made = call.output(0);
  std::array<std::int64_t, max_rank> strides{};
  strides_in(layout, sizes, {strides.data(), sizes.size()});
  return call.alias(0, made, sizes, {strides.data(), sizes.size()});
}

template <class Byte>
void add_bytes(const std::byte* a, const std::byte* b, std::byte* to, std::int64_t n, const kernels::ByteScale& first,
               const kernels::ByteScale& second, const kernels::ByteRange& range) {
  const auto *const x = reinterpret_cast<const Byte*>(a), *const y = reinterpret_cast<const Byte*>(b);
  auto* const out = reinterpret_cast<Byte*>(to);
  kernels::in_parallel(n, 1024, kernels::operations(n, 8), [&](std::size_t, std::int64_t from, std::int64_t end) {
    kernels::run_widest<kernels::AddQuantized>(x + from, y + from, out + from, end - from, &first, &second, &range);
  });
}

}  // namespace detail

ErrorCode byte_sum(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const TensorView& y = call.tensor(1);
  const auto layout = static_cast<ByteLayout>(call.integer(10));
  if (!std::ranges::equal(x.sizes(), y.sizes()))
    return call.refuse(ErrorCode::invalid_shape, "the operands of a sum of bytes have different sizes");
  if (x.dtype != y.dtype || !detail::is_byte(x.dtype)) return ErrorCode::invalid_dtype;
  if (const ErrorCode code = detail::make_bytes(call, x.dtype, x.sizes(), layout); code != ErrorCode::ok) return code;
  const std::int64_t n = x.numel();
  if (n == 0) return ErrorCode::ok;
  const bool lie = detail::lies_in(layout, x) && detail::lies_in(layout, y);
  auto* const copies = call.temporary<std::byte>(lie ? 0 : static_cast<std::size_t>(2 * n));
  if (copies == nullptr) return ErrorCode::out_of_memory;
  const std::byte* const a = detail::bytes_in(layout, x, copies);
  const std::byte* const b = detail::bytes_in(layout, y, lie ? nullptr : copies + n);
  if (a == nullptr || b == nullptr)
    return call.refuse(ErrorCode::invalid_shape, "the operands of a sum of bytes have gaps");
  const auto number = [&](std::size_t i) { return static_cast<float>(call.number(i)); };
  const auto add = x.dtype == ScalarType::int8 ? detail::add_bytes<std::int8_t> : detail::add_bytes<std::uint8_t>;
  add(a, b, call.output(0).as<std::byte>(), n, {number(2), number(3)}, {number(4), number(5)},
      detail::range_at(call, 6));
  return ErrorCode::ok;
}

#if DAVIT_BYTE_CONVOLUTION
namespace detail {

/// Reads the numbers of a call.
[[nodiscard]] inline ByteProduct read_product(const KernelCall& call) {
  const auto number = [&](std::size_t i) { return call.integer(3 + i); };
  return {.convolution = {.channels = number(0),
                          .out_channels = number(1),
                          .kernel_height = number(2),
                          .kernel_width = number(3),
                          .stride_height = number(4),
                          .stride_width = number(5),
                          .dilation_height = number(6),
                          .dilation_width = number(7),
                          .top = number(8),
                          .left = number(9),
                          .depthwise = number(10) != 0},
          .bottom = number(11),
          .right = number(12),
          .of_rows = number(13) != 0,
          .made = static_cast<ScalarType>(number(14))};
}
/// Sets the sizes of source and result for this source. False if they do not fit, or overflow.
[[nodiscard]] inline bool set_sizes(const TensorView& x, ByteProduct& p, kernels::Sizes& sizes) noexcept {
  kernels::ByteConvolution& c = p.convolution;
  const auto made = [](std::int64_t size, std::int64_t padding, std::int64_t window, std::int64_t dilation,
                       std::int64_t stride) { return (size + padding - (window - 1) * dilation - 1) / stride + 1; };
  const std::size_t channels = p.of_rows ? x.rank - std::size_t{1} : 1;
  if (channels >= x.rank || x.size(channels) != c.channels || (!p.of_rows && x.rank != 3 && x.rank != 4)) return false;
  if (p.of_rows) {
    c.images = x.numel() / c.channels;
  } else {
    c.images = x.size(0);
    c.height = x.rank == 4 ? x.size(2) : 1;
    c.width = x.size(x.rank - std::size_t{1});
    c.out_height = made(c.height, c.top + p.bottom, c.kernel_height, c.dilation_height, c.stride_height);
    c.out_width = made(c.width, c.left + p.right, c.kernel_width, c.dilation_width, c.stride_width);
  }
  for (std::size_t d = 0; d < x.rank; ++d)
    if (!sizes.push(d == channels        ? c.out_channels
                    : d < 2 || p.of_rows ? x.size(d)
                    : d + 1 == x.rank    ? c.out_width
                                         : c.out_height))
      return false;
  kernels::ByteConvolution one = c;
  one.images = 1;
  return is_countable(one) && (p.of_rows || x.rank == 4 || c.out_height == 1);
}

}  // namespace detail

ErrorCode byte_product(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  ByteProduct p = detail::read_product(call);
  kernels::ByteConvolution& c = p.convolution;
  kernels::Sizes sizes;
  if (!detail::is_byte(x.dtype)) return ErrorCode::invalid_dtype;
  if (!detail::set_sizes(x, p, sizes))
    return call.refuse(ErrorCode::invalid_shape, "the bytes do not have sizes that fit the product");
  if (const ErrorCode code = detail::make_bytes(call, p.made, sizes, static_cast<ByteLayout>(call.integer(19)));
      code != ErrorCode::ok)
    return code;
  if (c.images == 0) return ErrorCode::ok;
  // limits the images per pass so that their pixels can be counted
  const std::int64_t images = c.images, most = std::max<std::int64_t>((1 << 24) / (c.height * c.width), 1);
  c.images = std::min(images, most);
  const ByteLayout inner = p.of_rows ? ByteLayout::row_major : ByteLayout::channels_last;
  const std::int64_t work_size = kernels::convolve_bytes_work(c), made_size = call.output(0).numel();
  const bool moves_source = !detail::lies_in(inner, x), moves_result = !detail::lies_in(inner, call.output(0));
  const std::int64_t bytes = work_size + (moves_source ? x.numel() : 0) + (moves_result ? made_size : 0);
  auto* const work = call.temporary<std::byte>(static_cast<std::size_t>(bytes));
  if (work == nullptr) return ErrorCode::out_of_memory;
  const std::byte* from = detail::bytes_in(inner, x, work + work_size);
  if (from == nullptr) return call.refuse(ErrorCode::invalid_shape, "the bytes of a product have gaps");
  std::byte* const made = moves_result ? work + bytes - made_size : call.output(0).as<std::byte>();
  const auto* const channels = call.tensor(2).as<float>();
  const kernels::ByteResult result{channels, channels + kernels::padded_channels(c), detail::range_at(call, 20)};
  const auto zero_point = static_cast<std::int32_t>(call.integer(18));
  const auto* const weights = call.tensor(1).as<std::int16_t>();
  for (std::int64_t first = 0; first < images; first += most) {
    c.images = std::min(images - first, most);
    const std::byte* const source = from + first * c.height * c.width * c.channels;
    auto* const to = reinterpret_cast<std::uint8_t*>(made + first * c.out_height * c.out_width * c.out_channels);
    if (x.dtype == ScalarType::int8)
      kernels::convolve_bytes(c, reinterpret_cast<const std::int8_t*>(source), zero_point, weights, result, work, to);
    else
      kernels::convolve_bytes(c, reinterpret_cast<const std::uint8_t*>(source), zero_point, weights, result, work, to);
  }
  if (moves_result)
    detail::transpose_bytes(made, images, c.out_height * c.out_width, c.out_channels, call.output(0).as<std::byte>());
  return ErrorCode::ok;
}
#else
ErrorCode byte_product(KernelCall& call) {
  return call.refuse(ErrorCode::unsupported_argument, "this CPU has no products of bytes");
}
#endif

}  // namespace davit::portable_kernels
