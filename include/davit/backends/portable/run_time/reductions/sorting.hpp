// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/kernels/convert.hpp"
#include "davit/kernels/function_ref.hpp"
#include "davit/kernels/walk_in_parallel.hpp"

namespace davit::portable_kernels {

namespace detail {

/// An element of a line: its key and its index in the line.
struct Ranked {
  std::uint64_t key;
  std::int64_t index;
};
/// Orders by key; equal elements stay in the order of their indices.
[[nodiscard]] inline bool comes_before(const Ranked& a, const Ranked& b) noexcept {
  return a.key != b.key ? a.key < b.key : a.index < b.index;
}

/// A number that orders elements as torch does: NaN above all others, both zeros equal.
[[nodiscard]] inline std::uint64_t order_key(double v) noexcept {
  constexpr std::uint64_t top = std::uint64_t{1} << 63;
  if (v != v) return ~std::uint64_t{0};
  const auto bits = std::bit_cast<std::uint64_t>(v + 0.0);
  return (bits & top) != 0 ? ~bits : bits | top;
}
[[nodiscard]] inline std::uint64_t order_key(std::int64_t v) noexcept {
  return static_cast<std::uint64_t>(v) ^ std::uint64_t{1} << 63;
}

template <class T>
void rank_as(const std::byte* from, std::int64_t step, std::int64_t n, std::uint64_t flip, Ranked* to) noexcept {
  using Wide = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
  for (std::int64_t i = 0; i < n; ++i, from += step)
    to[i] = {order_key(static_cast<Wide>(*reinterpret_cast<const T*>(from))) ^ flip, i};
}
/// Computes the keys of n elements of a real dtype, `step` bytes apart.
inline void rank_line(ScalarType type, const std::byte* from, std::int64_t step, std::int64_t n, std::uint64_t flip,
                      Ranked* to) noexcept {
  if (type == ScalarType::float32) return rank_as<float>(from, step, n, flip, to);
  if (type == ScalarType::int64) return rank_as<std::int64_t>(from, step, n, flip, to);
  // uint64 is ordered as int64 with its top bit flipped
  const std::uint64_t sign = type == ScalarType::uint64 ? std::uint64_t{1} << 63 : 0;
  for (std::int64_t i = 0; i < n; ++i, from += step) {
    double real = 0;
    std::int64_t integer = 0;
    if (is_floating(type))
      (void)kernels::load_element(from, type, real);
    else
      (void)kernels::load_element(from, type, integer);
    to[i] = {(is_floating(type) ? order_key(real) : order_key(integer) ^ sign) ^ flip, i};
  }
}

/// Makes outputs 0 (values) and 1 (indices) from the first `count` elements of each line of dimension `dim`, after
/// `order(entries, n)` has ordered it. Without `keeps`, `count` is 1 and the dimension is dropped.
[[nodiscard]] inline ErrorCode order_lines(KernelCall& call, std::size_t dim, std::int64_t count, bool descending,
                                           bool keeps, kernels::FunctionRef<void(Ranked*, std::int64_t)> order) {
  const TensorView& x = call.tensor(0);
  const bool scalar = x.rank == 0;
  const std::int64_t length = scalar ? 1 : x.size(dim);
  Sizes sizes(x.sizes());
  if (!scalar) sizes[dim] = count;
  Sizes made;
  for (std::size_t d = 0; d < sizes.rank; ++d)
    if (keeps || scalar || d != dim) (void)made.push(sizes[d]);
  if (const ErrorCode code = call.make(0, x.dtype, made); code != ErrorCode::ok) return code;
  if (call.wants(1))
    if (const ErrorCode code = call.make(1, ScalarType::int64, made); code != ErrorCode::ok) return code;
  const TensorView& out = call.output(0);
  if (!kernels::is_real(x.dtype)) return ErrorCode::invalid_dtype;
  if (out.numel() == 0) return ErrorCode::ok;
  Ranked* const all_entries = call.temporary<Ranked>(static_cast<std::size_t>(length * kernels::team_size()));
  if (all_entries == nullptr) return call.refuse(ErrorCode::out_of_memory, "no memory to sort a line in");
  const std::int64_t step = scalar ? 0 : x.stride(dim);
  const std::int64_t out_step = scalar || !keeps ? 0 : out.stride(dim);
  Sizes out_strides(x.sizes());
  for (std::size_t d = 0, own = 0; d < out_strides.rank; ++d)
    out_strides[d] = keeps || d != dim ? out.stride(own++) : 0;
  const std::size_t element = size_of(x.dtype);
  const auto* from = static_cast<const std::byte*>(x.data);
  auto* to = static_cast<std::byte*>(out.data);
  auto* indices = call.wants(1) ? call.output(1).as<std::int64_t>() : nullptr;
  const std::uint64_t flip = descending ? ~std::uint64_t{0} : 0;
  if (!scalar) sizes[dim] = 1;
  const auto order_line = [&](Ranked* entries, std::int64_t line, std::int64_t out_line) {
    rank_line(x.dtype, from + line * static_cast<std::int64_t>(element), step * static_cast<std::int64_t>(element),
              length, flip, entries);
    order(entries, length);
    const auto write = [&]<std::size_t Bytes>() {
      for (std::int64_t i = 0; i < (scalar ? 1 : count); ++i) {
        const std::int64_t at = out_line + i * out_step;
        std::memcpy(to + static_cast<std::size_t>(at) * Bytes,
                    from + (line + entries[i].index * step) * static_cast<std::int64_t>(Bytes), Bytes);
        if (indices != nullptr) indices[at] = entries[i].index;
      }
    };
    switch (element) {
      case 1: return write.template operator()<1>();
      case 2: return write.template operator()<2>();
      case 4: return write.template operator()<4>();
      default: return write.template operator()<8>();  // the widest real elements
    }
  };
  const std::array strides{strides_of(x), out_strides};
  kernels::walk_in_parallel(kernels::walk_over(sizes, strides), 1, kernels::operations(length, 64),
                            [&](std::size_t number, const kernels::WalkPart& part) {
                              for_each_index<2>(part.walk, [&](std::int64_t line, std::int64_t out_line) {
                                order_line(all_entries + static_cast<std::int64_t>(number) * length, part.at[0] + line,
                                           part.at[1] + out_line);
                              });
                            });
  return ErrorCode::ok;
}

}  // namespace detail

/// sort(self, dim, descending) -> (values, indices). Equal elements keep their order; NaN counts as the largest.
/// O(n log n) a line. Source: at::sort.
[[nodiscard]] inline ErrorCode sort(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  std::int64_t dim = call.integer(1, -1);
  if (!wrap_dim(dim, x.rank)) return detail::bad_dim(call);
  const auto d = static_cast<std::size_t>(dim);
  return detail::order_lines(
      call, d, x.rank == 0 ? 1 : x.size(d), call.boolean(2), true,
      [](detail::Ranked* entries, std::int64_t n) { std::sort(entries, entries + n, detail::comes_before); });
}

/// topk(self, k, dim, largest, sorted) -> (values, indices); NaN counts as the largest. The order of equal elements is
/// torch's, because the selection is: a partial sort if k is small, else nth_element. Source:
/// at::native::topk_impl_loop.
[[nodiscard]] inline ErrorCode topk(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const std::int64_t k = call.integer(1);
  std::int64_t dim = call.integer(2, -1);
  if (!wrap_dim(dim, x.rank)) return detail::bad_dim(call);
  if (x.dtype == ScalarType::bool_) return call.refuse(ErrorCode::invalid_dtype, "topk does not take bools");
  const auto d = static_cast<std::size_t>(dim);
  if (k < 0 || k > (x.rank == 0 ? 1 : x.size(d)))
    return call.refuse(ErrorCode::out_of_range, "k is outside the dimension");
  const bool sorted = call.boolean(4, true);
  return detail::order_lines(call, d, k, call.boolean(3, true), true, [=](detail::Ranked* entries, std::int64_t n) {
    const auto before = [](const detail::Ranked& a, const detail::Ranked& b) { return a.key < b.key; };
    if (k <= n / 64) {
      std::partial_sort(entries, entries + k, entries + n, before);
    } else if (k > 0) {
      std::nth_element(entries, entries + (k - 1), entries + n, before);
      if (sorted) std::sort(entries, entries + (k - 1), before);
    }
  });
}

/// kthvalue(self, k, dim, keepdim) -> (value, index): of equal elements the earlier one is smaller; NaN counts as the
/// largest. O(n) a line. Source: at::kthvalue.
[[nodiscard]] inline ErrorCode kthvalue(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const std::int64_t k = call.integer(1);
  std::int64_t dim = call.integer(2, -1);
  if (!wrap_dim(dim, x.rank)) return detail::bad_dim(call);
  const auto d = static_cast<std::size_t>(dim);
  if (k < 1 || k > (x.rank == 0 ? 1 : x.size(d)))
    return call.refuse(ErrorCode::out_of_range, "k is outside the dimension");
  return detail::order_lines(call, d, 1, false, call.boolean(3), [=](detail::Ranked* entries, std::int64_t n) {
    std::nth_element(entries, entries + (k - 1), entries + n, detail::comes_before);
    std::swap(entries[0], entries[k - 1]);
  });
}

inline constexpr auto sorting_ops = std::to_array<OpRow>({
    {"aten.kthvalue.default", kthvalue},
    {"aten.sort.default", sort},
    {"aten.topk.default", topk},
});

}  // namespace davit::portable_kernels
