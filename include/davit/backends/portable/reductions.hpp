// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "davit/backends/portable/elementwise_binary.hpp"
#include "davit/backends/portable/views.hpp"

namespace davit::portable_kernels {

namespace detail {

/// A tensor's dimensions split into those that stay and those that are reduced.
struct Reduction {
  Sizes kept_sizes, kept_strides;        ///< in order
  Sizes reduced_sizes, reduced_strides;  ///< in order
  Sizes out_sizes;                       ///< with or without the reduced dimensions as 1

  [[nodiscard]] std::int64_t count() const noexcept {
    std::int64_t n = 1;
    for (const std::int64_t size : reduced_sizes.span()) n *= size;
    return n;
  }
};

/// Splits x by a list of dimensions; an empty list means all.
[[nodiscard]] inline ErrorCode reduce_over(KernelCall& call, const TensorView& x, std::span<const EValue> dims, bool keepdim,
                                           Reduction& out) {
  std::uint32_t mask = 0;
  for (const EValue& v : dims) {
    std::int64_t dim = v.is_number() ? v.integer() : max_rank;
    if (!wrap_dim(dim, x.rank)) return bad_dim(call);
    if ((mask >> dim & 1u) != 0) return call.refuse(ErrorCode::invalid_argument, "a dimension is named twice");
    mask |= 1u << dim;
  }
  if (dims.empty()) mask = ~0u;
  for (std::size_t d = 0; d < x.rank; ++d) {
    const bool reduced = (mask >> d & 1u) != 0;
    (void)(reduced ? out.reduced_sizes : out.kept_sizes).push(x.size(d));
    (void)(reduced ? out.reduced_strides : out.kept_strides).push(x.stride(d));
    if (!reduced || keepdim) (void)out.out_sizes.push(reduced ? 1 : x.size(d));
  }
  return ErrorCode::ok;
}

/// Calls each(first element of a group, its index in the output), for every group of x that is reduced to one.
template <class F>
void for_each_group(const Reduction& r, F&& each) {
  std::int64_t index = 0;
  for_each_index<1>(r.kept_sizes, {r.kept_strides}, [&](std::int64_t base) { each(base, index++); });
}
/// Calls each(offset) for every element of a group.
template <class F>
void for_each_element(const Reduction& r, std::int64_t base, F&& each) {
  for_each_index<1>(r.reduced_sizes, {r.reduced_strides}, [&](std::int64_t i) { each(base + i); });
}

/// Stores a number as an element of a contiguous tensor.
template <class A>
void store_number(const TensorView& to, std::int64_t at, A value) noexcept {
  (void)dispatch_all(to.dtype, [&]<class R>() {
    to.as<R>()[at] = convert<R>(value);
    return ErrorCode::ok;
  });
}

/// Reduces x into output 0 of dtype `type`: `start`, then step(accumulated, element), then finish(accumulated). Floats
/// are accumulated in double, integers in wrapping 64-bit.
template <class Step, class Finish>
[[nodiscard]] ErrorCode accumulate(KernelCall& call, const TensorView& x, const Reduction& r, ScalarType type, double start,
                                   Step step, Finish finish) {
  if (const ErrorCode code = call.make(0, type, r.out_sizes); code != ErrorCode::ok) return code;
  const auto run = [&]<class A>() {
    return dispatch_all(x.dtype, [&]<class T>() {
      const T* from = x.as<T>();
      for_each_group(r, [&](std::int64_t base, std::int64_t index) {
        A sum = static_cast<A>(start);
        for_each_element(r, base, [&](std::int64_t i) { sum = step(sum, convert<A>(from[i])); });
        store_number(call.output(0), index, finish(sum));
      });
      return ErrorCode::ok;
    });
  };
  return is_integral(type) ? run.template operator()<std::int64_t>() : run.template operator()<double>();
}
inline constexpr auto plain = [](auto v) { return v; };

[[nodiscard]] inline ScalarType sum_type(ScalarType type) noexcept { return is_integral(type) ? ScalarType::int64 : type; }

[[nodiscard]] inline ErrorCode sum(KernelCall& call) {
  Reduction r;
  const TensorView& x = call.tensor(0);
  if (const ErrorCode code = reduce_over(call, x, call.list(1), call.boolean(2), r); code != ErrorCode::ok) return code;
  return accumulate(call, x, r, call.dtype(3, sum_type(x.dtype)), 0, [](auto a, auto b) { return wrap_add(a, b); }, plain);
}
[[nodiscard]] inline ErrorCode sum_all(KernelCall& call) {
  Reduction r;
  const TensorView& x = call.tensor(0);
  if (const ErrorCode code = reduce_over(call, x, {}, false, r); code != ErrorCode::ok) return code;
  return accumulate(call, x, r, call.dtype(1, sum_type(x.dtype)), 0, [](auto a, auto b) { return wrap_add(a, b); }, plain);
}
[[nodiscard]] inline ErrorCode mean_over(KernelCall& call, std::span<const EValue> dims, bool keepdim, ScalarType type) {
  Reduction r;
  const TensorView& x = call.tensor(0);
  if (!is_floating(type)) return call.refuse(ErrorCode::invalid_dtype, "mean takes floats only");
  if (const ErrorCode code = reduce_over(call, x, dims, keepdim, r); code != ErrorCode::ok) return code;
  const auto count = static_cast<double>(r.count());
  return accumulate(call, x, r, type, 0, [](auto a, auto b) { return a + b; },
                    [=](auto v) { return static_cast<double>(v) / count; });
}
[[nodiscard]] inline ErrorCode mean(KernelCall& call) { return mean_over(call, {}, false, call.dtype(1, call.tensor(0).dtype)); }
[[nodiscard]] inline ErrorCode mean_dim(KernelCall& call) {
  return mean_over(call, call.list(1), call.boolean(2), call.dtype(3, call.tensor(0).dtype));
}
[[nodiscard]] inline ErrorCode prod_over(KernelCall& call, std::span<const EValue> dims, bool keepdim, ScalarType type) {
  Reduction r;
  if (const ErrorCode code = reduce_over(call, call.tensor(0), dims, keepdim, r); code != ErrorCode::ok) return code;
  return accumulate(call, call.tensor(0), r, type, 1, [](auto a, auto b) { return wrap_mul(a, b); }, plain);
}
[[nodiscard]] inline ErrorCode prod(KernelCall& call) { return prod_over(call, {}, false, call.dtype(1, sum_type(call.tensor(0).dtype))); }
[[nodiscard]] inline ErrorCode prod_dim(KernelCall& call) {
  return prod_over(call, call.list(1), call.boolean(2), call.dtype(3, sum_type(call.tensor(0).dtype)));
}
[[nodiscard]] inline ErrorCode any_over(KernelCall& call, std::span<const EValue> dims, bool keepdim) {
  Reduction r;
  const TensorView& x = call.tensor(0);
  if (const ErrorCode code = reduce_over(call, x, dims, keepdim, r); code != ErrorCode::ok) return code;
  if (const ErrorCode code = call.make(0, x.dtype == ScalarType::uint8 ? ScalarType::uint8 : ScalarType::bool_, r.out_sizes); code != ErrorCode::ok) return code;
  return dispatch_all(x.dtype, [&]<class T>() {
    const T* from = x.as<T>();
    auto* to = call.output(0).template as<std::uint8_t>();
    for_each_group(r, [&](std::int64_t base, std::int64_t index) {
      bool found = false;
      for_each_element(r, base, [&](std::int64_t i) { found = found || convert<bool>(from[i]); });
      to[index] = found ? 1 : 0;
    });
    return ErrorCode::ok;
  });
}
[[nodiscard]] inline ErrorCode any(KernelCall& call) { return any_over(call, {}, false); }
[[nodiscard]] inline ErrorCode any_dim(KernelCall& call) { return any_over(call, call.list(1), call.boolean(2)); }

/// The largest (or smallest) element of each group and where it is; NaN wins, the first of equals counts.
template <bool Largest, class Store>
[[nodiscard]] ErrorCode extremes(KernelCall& call, const TensorView& x, const Reduction& r, Store store) {
  if (r.count() == 0 && !r.reduced_sizes.span().empty())
    for (const std::int64_t size : r.kept_sizes.span())
      if (size == 0) return ErrorCode::ok;
  if (r.count() == 0) return call.refuse(ErrorCode::invalid_shape, "there is nothing to find a maximum or minimum of");
  return dispatch_all(x.dtype, [&]<class T>() {
    using C = compute_type<T>;
    const T* from = x.as<T>();
    for_each_group(r, [&](std::int64_t base, std::int64_t index) {
      std::int64_t best_at = -1;
      std::int64_t at = 0;
      C best{};
      for_each_element(r, base, [&](std::int64_t i) {
        const C v = static_cast<C>(from[i]);
        const bool better = best_at < 0 || (best == best && (v != v || (Largest ? v > best : v < best)));
        if (better) {
          best = v;
          best_at = at;
        }
        ++at;
      });
      store.template operator()<T>(index, static_cast<T>(best), best_at);
    });
    return ErrorCode::ok;
  });
}
template <bool Largest>
[[nodiscard]] ErrorCode extreme_over(KernelCall& call, std::span<const EValue> dims, bool keepdim) {
  Reduction r;
  const TensorView& x = call.tensor(0);
  if (const ErrorCode code = reduce_over(call, x, dims, keepdim, r); code != ErrorCode::ok) return code;
  if (const ErrorCode code = call.make(0, x.dtype, r.out_sizes); code != ErrorCode::ok) return code;
  return extremes<Largest>(call, x, r, [&]<class T>(std::int64_t i, T v, std::int64_t) { call.output(0).template as<T>()[i] = v; });
}
template <bool Largest>
[[nodiscard]] ErrorCode extreme(KernelCall& call) { return extreme_over<Largest>(call, call.list(1), call.boolean(2)); }
template <bool Largest>
[[nodiscard]] ErrorCode extreme_all(KernelCall& call) {
  return extreme_over<Largest>(call, {}, false);
}

/// max.dim and min.dim: values and indices.
template <bool Largest>
[[nodiscard]] ErrorCode extreme_dim(KernelCall& call) {
  Reduction r;
  const TensorView& x = call.tensor(0);
  if (const ErrorCode code = reduce_over(call, x, call.list(1), call.boolean(2), r); code != ErrorCode::ok) return code;
  if (const ErrorCode code = call.make(0, x.dtype, r.out_sizes); code != ErrorCode::ok) return code;
  const bool wants_indices = call.wants(1);
  if (wants_indices)
    if (const ErrorCode code = call.make(1, ScalarType::int64, r.out_sizes); code != ErrorCode::ok) return code;
  std::int64_t* indices = wants_indices ? call.output(1).as<std::int64_t>() : nullptr;
  return extremes<Largest>(call, x, r, [&]<class T>(std::int64_t i, T v, std::int64_t at) {
    call.output(0).template as<T>()[i] = v;
    if (indices != nullptr) indices[i] = at;
  });
}
template <bool Largest>
[[nodiscard]] ErrorCode arg_extreme(KernelCall& call) {
  Reduction r;
  const TensorView& x = call.tensor(0);
  if (const ErrorCode code = reduce_over(call, x, call.list(1), call.boolean(2), r); code != ErrorCode::ok) return code;
  if (const ErrorCode code = call.make(0, ScalarType::int64, r.out_sizes); code != ErrorCode::ok) return code;
  std::int64_t* to = call.output(0).as<std::int64_t>();
  return extremes<Largest>(call, x, r, [&]<class T>(std::int64_t i, T, std::int64_t at) { to[i] = at; });
}

/// Variance in two passes.
[[nodiscard]] inline ErrorCode variance(KernelCall& call, std::span<const EValue> dims, double correction, bool keepdim) {
  Reduction r;
  const TensorView& x = call.tensor(0);
  if (!is_floating(x.dtype)) return call.refuse(ErrorCode::invalid_dtype, "var takes floats only");
  if (const ErrorCode code = reduce_over(call, x, dims, keepdim, r); code != ErrorCode::ok) return code;
  if (const ErrorCode code = call.make(0, x.dtype, r.out_sizes); code != ErrorCode::ok) return code;
  const auto count = static_cast<double>(r.count());
  return dispatch_float(x.dtype, [&]<class T>() {
    const T* from = x.as<T>();
    T* to = call.output(0).template as<T>();
    for_each_group(r, [&](std::int64_t base, std::int64_t index) {
      double total = 0;
      for_each_element(r, base, [&](std::int64_t i) { total += static_cast<double>(from[i]); });
      const double average = total / count;
      double squares = 0;
      for_each_element(r, base, [&](std::int64_t i) {
        const double d = static_cast<double>(from[i]) - average;
        squares += d * d;
      });
      const double divisor = count - correction;
      to[index] = convert<T>(squares / (divisor > 0 ? divisor : 0.0));
    });
    return ErrorCode::ok;
  });
}
[[nodiscard]] inline ErrorCode var_correction(KernelCall& call) { return variance(call, call.list(1), call.number(2, 1), call.boolean(3)); }
[[nodiscard]] inline ErrorCode var_dim(KernelCall& call) { return variance(call, call.list(1), call.boolean(2, true) ? 1 : 0, call.boolean(3)); }

[[nodiscard]] inline ErrorCode cumsum(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const ScalarType type = call.dtype(2, sum_type(x.dtype));
  Reduction r;
  if (const ErrorCode code = reduce_over(call, x, call.list(1), true, r); code != ErrorCode::ok) return code;
  if (const ErrorCode code = call.make(0, type, x.sizes()); code != ErrorCode::ok) return code;
  Reduction o;
  if (const ErrorCode code = reduce_over(call, call.output(0), call.list(1), true, o); code != ErrorCode::ok) return code;
  const auto run = [&]<class A>() {
    return dispatch_all(x.dtype, [&]<class T>() {
      const T* from = x.as<T>();
      for_each_index<2>(r.kept_sizes, {r.kept_strides, o.kept_strides}, [&](std::int64_t base, std::int64_t out) {
        A sum = 0;
        for_each_index<2>(r.reduced_sizes, {r.reduced_strides, o.reduced_strides}, [&](std::int64_t i, std::int64_t k) {
          sum = wrap_add(sum, convert<A>(from[base + i]));
          store_number(call.output(0), out + k, sum);
        });
      });
      return ErrorCode::ok;
    });
  };
  return is_integral(type) ? run.template operator()<std::int64_t>() : run.template operator()<double>();
}

}  // namespace detail

inline constexpr auto reduction_ops = std::to_array<OpRow>({
    {"aten.amax.default", detail::extreme<true>},
    {"aten.amin.default", detail::extreme<false>},
    {"aten.any.default", detail::any},
    {"aten.any.dim", detail::any_dim},
    {"aten.any.dims", detail::any_dim},
    {"aten.argmax.default", detail::arg_extreme<true>},
    {"aten.argmin.default", detail::arg_extreme<false>},
    {"aten.cumsum.default", detail::cumsum},
    {"aten.max.default", detail::extreme_all<true>},
    {"aten.max.dim", detail::extreme_dim<true>},
    {"aten.mean.default", detail::mean},
    {"aten.mean.dim", detail::mean_dim},
    {"aten.min.default", detail::extreme_all<false>},
    {"aten.min.dim", detail::extreme_dim<false>},
    {"aten.prod.default", detail::prod},
    {"aten.prod.dim_int", detail::prod_dim},
    {"aten.sum.default", detail::sum_all},
    {"aten.sum.dim_IntList", detail::sum},
    {"aten.var.correction", detail::var_correction},
    {"aten.var.dim", detail::var_dim},
});

}  // namespace davit::portable_kernels
