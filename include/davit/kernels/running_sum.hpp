// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/kernels/reduce.hpp"
#include "davit/kernels/walk_in_parallel.hpp"

namespace davit::kernels {

namespace detail {
/// Adds n numbers to `sum`, one after another, and writes each intermediate sum.
using RunningSumLoop = void (*)(Accumulated& sum, const std::byte* from, std::int64_t from_step, std::byte* to,
                                std::int64_t to_step, std::int64_t n);
template <class T>
void running_sum_loop(Accumulated& so_far, const std::byte* from, std::int64_t from_step, std::byte* to,
                      std::int64_t to_step, std::int64_t n) {
  using A = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
  A sum = so_far.of<T>();
  for (; n > 0; --n, from += from_step, to += to_step) {
    sum = wrap_add(sum, static_cast<A>(*reinterpret_cast<const T*>(from)));
    *reinterpret_cast<T*>(to) = static_cast<T>(sum);
  }
  so_far.of<T>() = sum;
}
}  // namespace detail

/// Running sums along one dimension: `lines` walks over the first elements of lines of `length` elements in x and in
/// `out`. Floats are added in double, integers modulo 2^64, by the result's dtype. False for dtypes that are not real.
/// O(elements).
[[nodiscard]] inline bool running_sums(const Walk& lines, std::int64_t length, const TensorView& x,
                                       std::int64_t from_stride, const TensorView& out,
                                       std::int64_t to_stride) noexcept {
  const ScalarType wide = is_integral(out.dtype) ? ScalarType::int64 : ScalarType::float64;
  const Conversion load = Conversion::between(x.dtype, wide);
  const Conversion store = Conversion::between(wide, out.dtype);
  if (!load.ok || !store.ok) return false;
  if (lines.count == 0) return true;
  const bool floats = x.dtype == ScalarType::float32 && out.dtype == ScalarType::float32;
  const bool direct = floats || (load.count == 0 && store.count == 0);
  const detail::RunningSumLoop loop = floats                        ? detail::running_sum_loop<float>
                                      : wide == ScalarType::float64 ? detail::running_sum_loop<double>
                                                                    : detail::running_sum_loop<std::int64_t>;
  const auto from_element = static_cast<std::int64_t>(size_of(x.dtype));
  const auto to_element = static_cast<std::int64_t>(size_of(out.dtype));
  const std::int64_t from_step = from_stride * from_element;
  const std::int64_t to_step = to_stride * to_element;
  constexpr std::int64_t width = 8;
  const auto run = [&](const std::byte* from, std::byte* to) {
    Accumulated sum;
    if (direct) return loop(sum, from, from_step, to, to_step, length);
    Block loaded;
    Block summed;
    Block scratch;
    for (std::int64_t done = 0, n = 0; done < length; done += n) {
      n = std::min(length - done, block_length);
      std::byte* gathered = block_before(load, loaded, scratch);
      move_row(size_of(x.dtype), from + done * from_step, from_step, gathered, from_element, n);
      load.run(gathered, loaded.bytes.data(), scratch.bytes.data(), n);
      loop(sum, loaded.bytes.data(), width, summed.bytes.data(), width, n);
      store.run(summed.bytes.data(), loaded.bytes.data(), scratch.bytes.data(), n);
      const std::byte* stored = (store.count == 0 ? summed : loaded).bytes.data();
      move_row(size_of(out.dtype), stored, to_element, to + done * to_step, to_step, n);
    }
  };
  walk_in_parallel(lines, 1, operations(length, 8), [&](std::size_t, const WalkPart& part) {
    const auto* const first = static_cast<const std::byte*>(x.data) + part.at[0];
    auto* const first_sum = static_cast<std::byte*>(out.data) + part.at[1];
    part.walk.for_each_row([&](const auto& at) {
      for (std::int64_t i = 0; i < part.walk.sizes[0]; ++i)
        run(first + at[0] + i * lines.strides[0][0], first_sum + at[1] + i * lines.strides[1][0]);
    });
  });
  return true;
}

}  // namespace davit::kernels
