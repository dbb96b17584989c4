// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/kernels/arithmetic.hpp"
#include "davit/kernels/blocks.hpp"
#include "davit/kernels/walk.hpp"

namespace davit::kernels {

namespace detail {
template <class T, class A, class R>
[[nodiscard]] A running_sum(A sum, const std::byte* from, std::int64_t from_step, std::byte* to, std::int64_t to_step,
                            std::int64_t n) noexcept {
  for (; n > 0; --n, from += from_step, to += to_step) {
    sum = wrap_add(sum, static_cast<A>(*reinterpret_cast<const T*>(from)));
    *reinterpret_cast<R*>(to) = static_cast<R>(sum);
  }
  return sum;
}
}  // namespace detail

/// Sums of all elements so far along the one dimension `line`, for each index of the dimensions `kept`, added in A: double
/// or int64. False if a dtype is no real number's. O(elements).
template <class A>
[[nodiscard]] bool running_sums(const TensorView& x, std::span<const std::int64_t> kept,
                                std::span<const std::int64_t> kept_strides, std::span<const std::int64_t> line,
                                std::span<const std::int64_t> line_strides, const TensorView& out,
                                std::span<const std::int64_t> out_kept_strides,
                                std::span<const std::int64_t> out_line_strides) noexcept {
  const Conversion load = Conversion::between(x.dtype, scalar_type_of<A>);
  const Conversion store = Conversion::between(scalar_type_of<A>, out.dtype);
  if (!load.ok || !store.ok) return false;
  const std::size_t from_element = size_of(x.dtype);
  const std::size_t to_element = size_of(out.dtype);
  Walk outer(kept);
  outer.add(kept_strides, from_element).add(out_kept_strides, to_element).collapse();
  if (outer.count == 0) return true;
  const std::int64_t length = line.empty() ? 1 : line[0];
  const std::int64_t from_step = line.empty() ? 0 : line_strides[0] * static_cast<std::int64_t>(from_element);
  const std::int64_t to_step = line.empty() ? 0 : out_line_strides[0] * static_cast<std::int64_t>(to_element);
  const bool floats = x.dtype == ScalarType::float32 && out.dtype == ScalarType::float32;
  const bool direct = floats || (load.count == 0 && store.count == 0);
  Block loaded;
  Block summed;
  Block scratch;
  const auto run = [&](const std::byte* from, std::byte* to) {
    if (floats) return (void)detail::running_sum<float, A, float>(A{}, from, from_step, to, to_step, length);
    if (direct) return (void)detail::running_sum<A, A, A>(A{}, from, from_step, to, to_step, length);
    A sum{};
    for (std::int64_t done = 0; done < length;) {
      const std::int64_t n = std::min(length - done, block_length);
      std::byte* gathered = (load.count % 2 == 0 ? loaded : scratch).bytes.data();
      move_row(from_element, from + done * from_step, from_step, gathered, static_cast<std::int64_t>(from_element), n);
      load.run(gathered, loaded.bytes.data(), scratch.bytes.data(), n);
      sum = detail::running_sum<A, A, A>(sum, loaded.bytes.data(), sizeof(A), summed.bytes.data(), sizeof(A), n);
      const std::byte* stored = summed.bytes.data();
      if (store.count != 0) {
        store.run(stored, loaded.bytes.data(), scratch.bytes.data(), n);
        stored = loaded.bytes.data();
      }
      move_row(to_element, stored, static_cast<std::int64_t>(to_element), to + done * to_step, to_step, n);
      done += n;
    }
  };
  outer.for_each_row([&](const auto& at) {
    for (std::int64_t i = 0; i < outer.sizes[0]; ++i)
      run(static_cast<const std::byte*>(x.data) + at[0] + i * outer.strides[0][0],
          static_cast<std::byte*>(out.data) + at[1] + i * outer.strides[1][0]);
  });
  return true;
}

}  // namespace davit::kernels
