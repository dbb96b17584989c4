// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/run_time/dispatch.hpp"
#include "davit/backends/portable/run_time/movement/accumulate.hpp"
#include "davit/backends/portable/run_time/movement/scatter.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/core/floor_divide.hpp"

namespace davit::portable_kernels {

namespace detail {

/// Divides each sum of a contiguous tensor, in compute type C, by its count; torch counts in the dtype, so the count is
/// rounded to it first.
template <class C>
void divide_by_counts(const TensorView& sums, const std::int64_t* counts) noexcept {
  const ScalarType type = sums.dtype;
  const std::size_t element = size_of(type);
  const kernels::Conversion load = kernels::Conversion::between(type, scalar_type_of<C>);
  const kernels::Conversion count_in = kernels::Conversion::into_compute(ScalarType::int64, type);
  const kernels::Conversion store = kernels::Conversion::between(scalar_type_of<C>, type);
  kernels::Block values;
  kernels::Block divisors;
  kernels::Block scratch;
  for (std::int64_t i = 0, n = 0; i < sums.numel(); i += n) {
    n = std::min(sums.numel() - i, kernels::block_length);
    std::byte* place = sums.as<std::byte>() + static_cast<std::size_t>(i) * element;
    load.run(place, values.bytes.data(), scratch.bytes.data(), n);
    count_in.run(counts + i, divisors.bytes.data(), scratch.bytes.data(), n);
    C* const sum = reinterpret_cast<C*>(load.count == 0 ? place : values.bytes.data());
    const auto* divisor = count_in.count == 0 ? reinterpret_cast<const C*>(counts + i)
                                              : reinterpret_cast<const C*>(divisors.bytes.data());
    for (std::int64_t k = 0; k < n; ++k) {
      if (divisor[k] == C{}) continue;
      if constexpr (std::is_integral_v<C>)
        sum[k] = floor_divide(sum[k], divisor[k]);
      else
        sum[k] = sum[k] / divisor[k];
    }
    store.run(sum, place, scratch.bytes.data(), n);
  }
}

/// Combines the source's elements into output 0, which holds a copy of argument 0. A dtype other than its compute type
/// C is combined in a buffer: 16-bit floats are rounded once. Source: at::native::scatter_impl and scatter_reduce_two.
template <class C>
[[nodiscard]] ErrorCode reduce_into(KernelCall& call, const IndexAlong& along, const TensorView& source, Reduction how,
                                    bool include_self) {
  const TensorView& out = call.output(0);
  const std::int64_t size = out.numel();
  const bool counted = how == Reduction::mean;
  const bool aside = out.dtype != scalar_type_of<C>;
  const auto places = static_cast<std::size_t>(size);
  const auto values = static_cast<std::size_t>(aside ? checked_numel(source) : 0);
  auto* memory = call.temporary<std::byte>(places * (counted ? sizeof(std::int64_t) : 0) +
                                           (aside ? places + values : 0) * sizeof(C));
  if (memory == nullptr) return call.refuse(ErrorCode::out_of_memory, "no memory for the partial results");
  auto* counts = reinterpret_cast<std::int64_t*>(memory);
  C* to = out.as<C>();
  TensorView from = source;
  Sizes dense(source.sizes());
  if (aside) {
    to = reinterpret_cast<C*>(memory + (counted ? places * sizeof(std::int64_t) : 0));
    contiguous_strides(source.sizes(), {dense.values.data(), dense.rank});
    from.data = to + places;
    from.strides_data = dense.values.data();
    (void)convert_elements(out, scalar_type_of<C>, to);
    (void)convert_elements(source, scalar_type_of<C>, from.data);
  }
  if (counted) std::fill_n(counts, size, include_self ? 1 : 0);
  if (!include_self) {
    const auto clear = [&](std::int64_t i, std::int64_t) { to[i] = identity<C>(how); };
    if (const ErrorCode code = along.for_each(call, out, from, clear); code != ErrorCode::ok) return code;
  }
  const C* terms = from.as<C>();
  const auto work_in = [&](std::int64_t i, std::int64_t k) {
    to[i] = accumulate(how, to[i], terms[k]);
    if (counted) ++counts[i];
  };
  if (const ErrorCode code = along.for_each(call, out, from, work_in); code != ErrorCode::ok) return code;
  if (aside) {
    TensorView result = out;
    result.data = to;
    result.dtype = scalar_type_of<C>;
    (void)convert_elements(result, out.dtype, out.data);
  }
  if (counted) divide_by_counts<C>(out, counts);
  return ErrorCode::ok;
}

/// scatter_add, and the other reductions of scatter_reduce.
[[nodiscard]] inline ErrorCode reduce_with(KernelCall& call, Reduction how, bool include_self) {
  const TensorView& x = call.tensor(0);
  const TensorView& source = call.tensor(3);
  IndexAlong along;
  if (const ErrorCode code = along.read(call, x); code != ErrorCode::ok) return code;
  if (source.dtype != x.dtype) return call.refuse(ErrorCode::invalid_dtype, "the source must have the tensor's dtype");
  if (how == Reduction::mean && x.dtype == ScalarType::bool_)
    return call.refuse(ErrorCode::invalid_dtype, "bool has no mean");
  if (const ErrorCode code = along.check_source(call, source); code != ErrorCode::ok) return code;
  if (const ErrorCode code = copy_out(call, 0, x); code != ErrorCode::ok) return code;
  switch (kernels::compute_of(x.dtype)) {
    case kernels::Compute::float32: return reduce_into<float>(call, along, source, how, include_self);
    case kernels::Compute::float64: return reduce_into<double>(call, along, source, how, include_self);
    case kernels::Compute::int64: return reduce_into<std::int64_t>(call, along, source, how, include_self);
    case kernels::Compute::none: break;
  }
  return ErrorCode::invalid_dtype;
}
[[nodiscard]] inline ErrorCode scatter_add(KernelCall& call) { return reduce_with(call, Reduction::sum, true); }
[[nodiscard]] inline ErrorCode scatter_reduce(KernelCall& call) {
  const Reduction how = reduction_named(call.string(4));
  if (how == Reduction::unknown)
    return call.refuse(ErrorCode::invalid_argument, "the reduction must be sum, prod, mean, amax or amin");
  return reduce_with(call, how, call.boolean(5, true));
}

}  // namespace detail

inline constexpr auto scatter_reduce_ops = std::to_array<OpRow>({
    {"aten.scatter_add.default", detail::scatter_add},
    {"aten.scatter_reduce.two", detail::scatter_reduce},
});

}  // namespace davit::portable_kernels
