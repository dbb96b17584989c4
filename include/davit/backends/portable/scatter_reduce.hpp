// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/combine.hpp"
#include "davit/backends/portable/dispatch.hpp"
#include "davit/backends/portable/scatter.hpp"
#include "davit/backends/portable/views.hpp"

namespace davit::portable_kernels {

namespace detail {

/// Divides sums by how many values each is of; a count is rounded to the dtype first, as torch counts in it.
template <class T>
void divide_by_counts(T* sums, const std::int64_t* counts, std::int64_t size) noexcept {
  for (std::int64_t i = 0; i < size; ++i) {
    const T count = convert<T>(counts[i]);
    if (count == convert<T>(0)) continue;
    if constexpr (std::is_integral_v<T>) {
      sums[i] = divide_down(sums[i], count);
    } else {
      sums[i] = convert<T>(static_cast<compute_type<T>>(sums[i]) / static_cast<compute_type<T>>(count));
    }
  }
}

/// Combines the source's elements into output 0, which holds a copy of argument 0. 16-bit floats are combined in float
/// and rounded once.
/// Source: at::native::scatter_impl and scatter_reduce_two.
template <class T>
[[nodiscard]] ErrorCode reduce_into(KernelCall& call, const IndexAlong& along, const TensorView& source, Combine how,
                                    bool include_self) {
  using C = compute_type<T>;
  const TensorView& out = call.output(0);
  const std::int64_t size = out.numel();
  const bool counted = how == Combine::mean;
  constexpr bool staged = !std::is_same_v<T, C>;
  const auto places = static_cast<std::size_t>(size);
  auto* memory = call.temporary<std::byte>(places * ((counted ? sizeof(std::int64_t) : 0) + (staged ? sizeof(C) : 0)));
  if (memory == nullptr) return call.refuse(ErrorCode::out_of_memory, "no memory for the partial results");
  auto* counts = reinterpret_cast<std::int64_t*>(memory);
  C* to = nullptr;
  if constexpr (staged) {
    to = reinterpret_cast<C*>(memory + (counted ? places * sizeof(std::int64_t) : 0));
    std::copy_n(out.as<T>(), size, to);
  } else {
    to = out.as<T>();
  }
  if (counted) std::fill_n(counts, size, include_self ? 1 : 0);
  if (!include_self) {
    const auto clear = [&](std::int64_t i, std::int64_t) { to[i] = neutral<C>(how); };
    if (const ErrorCode code = along.for_each(call, out, source, clear); code != ErrorCode::ok) return code;
  }
  const T* from = source.as<T>();
  const auto work_in = [&](std::int64_t i, std::int64_t k) {
    to[i] = combine(how, to[i], static_cast<C>(from[k]));
    if (counted) ++counts[i];
  };
  if (const ErrorCode code = along.for_each(call, out, source, work_in); code != ErrorCode::ok) return code;
  if constexpr (staged) std::transform(to, to + size, out.as<T>(), [](C value) { return T(value); });
  if (counted) divide_by_counts(out.as<T>(), counts, size);
  return ErrorCode::ok;
}

/// scatter_add, and scatter_reduce's other reductions.
[[nodiscard]] inline ErrorCode reduce_with(KernelCall& call, Combine how, bool include_self) {
  const TensorView& x = call.tensor(0);
  const TensorView& source = call.tensor(3);
  IndexAlong along;
  if (const ErrorCode code = along.read(call, x); code != ErrorCode::ok) return code;
  if (source.dtype != x.dtype) return call.refuse(ErrorCode::invalid_dtype, "the source must have the tensor's dtype");
  if (how == Combine::mean && x.dtype == ScalarType::bool_)
    return call.refuse(ErrorCode::invalid_dtype, "bool has no mean");
  if (const ErrorCode code = along.check_source(call, source); code != ErrorCode::ok) return code;
  if (const ErrorCode code = copy_out(call, 0, x); code != ErrorCode::ok) return code;
  return dispatch_all(x.dtype, [&]<class T>() { return reduce_into<T>(call, along, source, how, include_self); });
}
[[nodiscard]] inline ErrorCode scatter_add(KernelCall& call) {
  return reduce_with(call, Combine::sum, true);
}
[[nodiscard]] inline ErrorCode scatter_reduce(KernelCall& call) {
  const Combine how = combine_named(call.string(4));
  if (how == Combine::unknown)
    return call.refuse(ErrorCode::invalid_argument, "the reduction must be sum, prod, mean, amax or amin");
  return reduce_with(call, how, call.boolean(5, true));
}

}  // namespace detail

inline constexpr auto scatter_reduce_ops = std::to_array<OpRow>({
    {"aten.scatter_add.default", detail::scatter_add},
    {"aten.scatter_reduce.two", detail::scatter_reduce},
});

}  // namespace davit::portable_kernels
