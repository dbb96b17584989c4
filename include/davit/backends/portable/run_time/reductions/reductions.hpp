// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/backends/portable/run_time/element_bits.hpp"
#include "davit/backends/portable/run_time/elementwise/binary.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/kernels/reduce.hpp"
#include "davit/kernels/running_sum.hpp"
#include "davit/program/operators/reduction.hpp"

namespace davit::portable_kernels {

namespace detail {

/// A tensor's dimensions, split into kept and reduced ones.
struct SplitDims {
  Sizes kept_sizes, kept_strides;        ///< in order
  Sizes reduced_sizes, reduced_strides;  ///< in order
  Sizes out_sizes;                       ///< without the reduced dimensions, or with size 1

  [[nodiscard]] std::int64_t count() const noexcept {
    std::int64_t n = 1;
    for (const std::int64_t size : reduced_sizes.span()) n *= size;
    return n;
  }
};

/// Splits x by a bit mask of the reduced dimensions.
[[nodiscard, gnu::noinline]] inline SplitDims split(const TensorView& x, std::uint32_t dims, bool keepdim) noexcept {
  SplitDims out;
  for (std::size_t d = 0; d < x.rank; ++d) {
    const bool reduced = (dims >> d & 1u) != 0;
    (void)(reduced ? out.reduced_sizes : out.kept_sizes).push(x.size(d));
    (void)(reduced ? out.reduced_strides : out.kept_strides).push(x.stride(d));
    if (!reduced || keepdim) (void)out.out_sizes.push(reduced ? 1 : x.size(d));
  }
  return out;
}

[[nodiscard]] inline kernels::Groups groups_of(const TensorView& x, const SplitDims& r, bool in_order) noexcept {
  return kernels::Groups(x, r.kept_sizes, r.kept_strides, r.reduced_sizes, r.reduced_strides, in_order);
}

/// The loop that converts the elements of a dtype and accumulates them in `wide`, double or int64.
[[nodiscard]] inline const kernels::ReduceLoop& loop_of(const kernels::ReduceLoops& loops, ScalarType type,
                                                        ScalarType wide, kernels::Conversion& load) noexcept {
  const bool floats = kernels::compute_of(type) == kernels::Compute::float32 && wide == ScalarType::float64;
  load = kernels::Conversion::between(type, floats ? ScalarType::float32 : wide);
  return floats ? loops.float32 : wide == ScalarType::float64 ? loops.float64 : loops.int64;
}

/// Reduces x into output 0 of dtype `type`: `start`, then the loops, then divided by `divisor` if that is not 0. Floats
/// are accumulated in double, integers in wrapping 64-bit.
[[nodiscard, gnu::noinline]] inline ErrorCode accumulate(KernelCall& call, const TensorView& x, const SplitDims& r,
                                                         ScalarType type, std::int64_t start,
                                                         const kernels::ReduceLoops& loops, bool mean = false) {
  if (const ErrorCode code = call.make(0, type, r.out_sizes); code != ErrorCode::ok) return code;
  if (kernels::compute_of(x.dtype) == kernels::Compute::none) return ErrorCode::invalid_dtype;
  const bool integral = is_integral(type);
  kernels::Conversion load;
  const kernels::ReduceLoop& loop = loop_of(loops, x.dtype, integral ? ScalarType::int64 : ScalarType::float64, load);
  const kernels::Groups groups = groups_of(x, r, start != 0);
  const auto count = static_cast<double>(r.count());
  groups.in_parallel([&](const kernels::Groups& some, std::int64_t before) {
    kernels::ResultWriter results(call.output(0), integral, before);
    kernels::AccumulatedColumns so_far;
    some.for_each(loop, [&](const std::byte* first, std::size_t n) {
      if (integral)
        so_far.start(n, start);
      else
        so_far.start(n, static_cast<double>(start));
      some.reduce(first, load, loop, so_far);
      if (mean) so_far.divide(count, type == ScalarType::float64);
      results.push(so_far);
    });
  });
  return ErrorCode::ok;
}

[[nodiscard]] inline ScalarType sum_type(ScalarType type) noexcept {
  return is_integral(type) ? ScalarType::int64 : type;
}

[[nodiscard, gnu::noinline]] inline ErrorCode any(KernelCall& call, const TensorView& x, const SplitDims& r) {
  if (const ErrorCode code =
          call.make(0, x.dtype == ScalarType::uint8 ? ScalarType::uint8 : ScalarType::bool_, r.out_sizes);
      code != ErrorCode::ok)
    return code;
  if (kernels::compute_of(x.dtype) == kernels::Compute::none) return ErrorCode::invalid_dtype;
  using namespace kernels::detail;
  constexpr std::array<kernels::ReduceLoop, 4> by_width{{{any_row<std::uint8_t>, any_columns<std::uint8_t>},
                                                         {any_row<std::uint16_t>, any_columns<std::uint16_t>},
                                                         {any_row<std::uint32_t>, any_columns<std::uint32_t>},
                                                         {any_row<std::uint64_t>, any_columns<std::uint64_t>}}};
  const kernels::ReduceLoop& loop = by_width[static_cast<std::size_t>(std::countr_zero(size_of(x.dtype)))];
  const kernels::Groups groups = groups_of(x, r, false);
  groups.in_parallel([&](const kernels::Groups& some, std::int64_t before) {
    auto* to = call.output(0).as<std::uint8_t>() + before;
    kernels::AccumulatedColumns so_far;
    some.for_each(loop, [&](const std::byte* first, std::size_t n) {
      so_far.start(n, static_cast<std::int64_t>(sign_bit(x.dtype)));
      std::fill_n(so_far.found_at.begin(), n, 0);
      some.reduce(first, {}, loop, so_far);
      for (std::size_t i = 0; i < n; ++i) *to++ = static_cast<std::uint8_t>(so_far.found_at[i]);
    });
  });
  return ErrorCode::ok;
}

/// Writes the largest (or smallest) element of each group to `values`, if given, and its index to `indices`; NaN wins,
/// and of equal elements the first counts.
[[nodiscard, gnu::noinline]] inline ErrorCode extremes(KernelCall& call, const TensorView& x, const SplitDims& r,
                                                       const kernels::ReduceLoops& loops, const TensorView* values,
                                                       std::int64_t* indices) {
  if (r.count() == 0 && !r.reduced_sizes.span().empty())
    for (const std::int64_t size : r.kept_sizes.span())
      if (size == 0) return ErrorCode::ok;
  if (r.count() == 0) return call.refuse(ErrorCode::invalid_shape, "there is nothing to find a maximum or minimum of");
  const kernels::Compute compute = kernels::compute_of(x.dtype);
  if (compute == kernels::Compute::none) return ErrorCode::invalid_dtype;
  const bool integral = compute == kernels::Compute::int64;
  kernels::Conversion load;
  const kernels::ReduceLoop& loop = loop_of(loops, x.dtype, integral ? ScalarType::int64 : ScalarType::float64, load);
  const kernels::Groups groups = groups_of(x, r, indices != nullptr);
  const TensorView none{nullptr, nullptr, nullptr, 0, ScalarType::float64};
  groups.in_parallel([&](const kernels::Groups& some, std::int64_t before) {
    kernels::ResultWriter results(values != nullptr ? *values : none, integral && values != nullptr,
                                  values != nullptr ? before : 0);
    std::int64_t* place = indices == nullptr ? nullptr : indices + before;
    kernels::AccumulatedColumns so_far;
    some.for_each(loop, [&](const std::byte* first, std::size_t n) {
      so_far.start(n);
      some.reduce(first, load, loop, so_far);
      if (values != nullptr) results.push(so_far);
      if (place != nullptr) place = std::copy_n(so_far.found_at.begin(), n, place);
    });
  });
  return ErrorCode::ok;
}
/// An operator with one result returns the extremes, one with two also their indices.
template <bool Largest>
[[nodiscard]] ErrorCode extreme(KernelCall& call, const TensorView& x, const SplitDims& r) {
  if (const ErrorCode code = call.make(0, x.dtype, r.out_sizes); code != ErrorCode::ok) return code;
  const bool wants_indices = call.wants(1);
  if (wants_indices)
    if (const ErrorCode code = call.make(1, ScalarType::int64, r.out_sizes); code != ErrorCode::ok) return code;
  return extremes(call, x, r, wants_indices ? kernels::extreme_loops<Largest> : kernels::extreme_loops<Largest, false>,
                  &call.output(0), wants_indices ? call.output(1).as<std::int64_t>() : nullptr);
}
[[nodiscard, gnu::noinline]] inline ErrorCode arg_extreme(KernelCall& call, const TensorView& x, const SplitDims& r,
                                                          const kernels::ReduceLoops& loops) {
  if (const ErrorCode code = call.make(0, ScalarType::int64, r.out_sizes); code != ErrorCode::ok) return code;
  return extremes(call, x, r, loops, nullptr, call.output(0).as<std::int64_t>());
}

[[nodiscard]] inline ErrorCode reduce(KernelCall& call, const operators::ReductionOperator& op) {
  using operators::ReductionFunction;
  operators::ReductionView view;
  if (const ErrorCode code = answer(call, operators::read_reduction(KernelArguments(call), op, view));
      code != ErrorCode::ok)
    return code;
  const TensorView& x = call.tensor(view.input);
  const SplitDims r = split(x, view.dims, view.keepdim);
  const auto type = [&](ScalarType otherwise) {
    return view.converts ? call.dtype(op.dtype().position, otherwise) : otherwise;
  };
  const ScalarType sum_type = is_integral(x.dtype) ? ScalarType::int64 : x.dtype;
  switch (op.function) {
    case ReductionFunction::sum: return accumulate(call, x, r, type(sum_type), 0, kernels::sum_loops);
    case ReductionFunction::product: return accumulate(call, x, r, type(sum_type), 1, kernels::product_loops);
    case ReductionFunction::mean:
      if (!is_floating(type(x.dtype))) return call.refuse(ErrorCode::invalid_dtype, "mean takes floats only");
      return accumulate(call, x, r, type(x.dtype), 0, kernels::sum_loops, true);
    case ReductionFunction::any: return any(call, x, r);
    case ReductionFunction::maximum: return extreme<true>(call, x, r);
    case ReductionFunction::minimum: return extreme<false>(call, x, r);
    case ReductionFunction::argument_of_maximum: return arg_extreme(call, x, r, kernels::extreme_loops<true>);
    case ReductionFunction::argument_of_minimum: return arg_extreme(call, x, r, kernels::extreme_loops<false>);
  }
  return ErrorCode::unsupported_operator;
}

/// The arguments of a variance: (self, dim?, correction or unbiased, keepdim), or (self, unbiased).
enum class Spread : std::uint8_t { correction, dim, all };
/// Variance in two passes, or its square root, taken in double because a float32 cannot hold the square of 1e-25; and
/// the mean, if required.
[[nodiscard, gnu::noinline]] inline ErrorCode variance(KernelCall& call, Spread form, bool root) {
  const TensorView& x = call.tensor(0);
  const bool over_all = form == Spread::all;
  const double correction = form == Spread::correction ? call.number(2, 1)
                            : call.boolean(over_all ? 1 : 2, true) ? 1
                                                                   : 0;
  std::uint32_t dims = (std::uint32_t{1} << x.rank) - 1;
  if (!is_floating(x.dtype)) return call.refuse(ErrorCode::invalid_dtype, "var and std take floats only");
  if (!over_all)
    if (const ErrorCode code = answer(call, operators::read_dims(KernelArguments(call), {"dim", 1}, x.rank, dims));
        code != ErrorCode::ok)
      return code;
  const SplitDims r = split(x, dims, !over_all && call.boolean(3));
  const bool with_mean = call.wants(1);
  for (std::size_t i = 0; i < (with_mean ? 2u : 1u); ++i)
    if (const ErrorCode code = call.make(i, x.dtype, r.out_sizes); code != ErrorCode::ok) return code;
  if (!kernels::is_real(x.dtype)) return ErrorCode::invalid_dtype;
  const auto count = static_cast<double>(r.count());
  const double divisor = count - correction;
  const bool exact = x.dtype == ScalarType::float64;
  kernels::Conversion load;
  const kernels::ReduceLoop& total = loop_of(kernels::sum_loops, x.dtype, ScalarType::float64, load);
  const kernels::ReduceLoop& squares = loop_of(kernels::squared_deviation_loops, x.dtype, ScalarType::float64, load);
  const kernels::Groups groups = groups_of(x, r, false);
  groups.in_parallel([&](const kernels::Groups& some, std::int64_t before) {
    kernels::ResultWriter results(call.output(0), false, before);
    kernels::ResultWriter means(call.output(with_mean ? 1 : 0), false, before);
    kernels::AccumulatedColumns so_far;
    some.for_each(total, [&](const std::byte* first, std::size_t n) {
      so_far.start(n, 0.0);
      some.reduce(first, load, total, so_far);
      so_far.divide(count, exact);
      std::copy_n(so_far.real.begin(), n, so_far.center.begin());
      if (with_mean) means.push(so_far.center.data(), n);
      so_far.start(n, 0.0);
      some.reduce(first, load, squares, so_far);
      so_far.divide(divisor > 0 ? divisor : 0.0, exact);
      if (root)
        for (std::size_t i = 0; i < n; ++i) so_far.real[i] = std::sqrt(so_far.real[i]);
      results.push(so_far);
    });
  });
  return ErrorCode::ok;
}
template <Spread form, bool root>
[[nodiscard]] ErrorCode spread(KernelCall& call) {
  return variance(call, form, root);
}

[[nodiscard]] inline ErrorCode cumsum(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const ScalarType type = call.dtype(2, is_integral(x.dtype) ? ScalarType::int64 : x.dtype);
  std::uint32_t dims = 0;
  if (const ErrorCode code = answer(call, operators::read_dims(KernelArguments(call), {"dim", 1}, x.rank, dims));
      code != ErrorCode::ok)
    return code;
  if (const ErrorCode code = call.make(0, type, x.sizes()); code != ErrorCode::ok) return code;
  const SplitDims r = split(x, dims, true);
  const SplitDims o = split(call.output(0), dims, true);
  if (kernels::compute_of(x.dtype) == kernels::Compute::none) return ErrorCode::invalid_dtype;
  Walk lines(r.kept_sizes);
  lines.add(r.kept_strides, size_of(x.dtype)).add(o.kept_strides, size_of(type)).collapse();
  const bool scalar = r.reduced_sizes.rank == 0;
  const bool ok = kernels::running_sums(lines, scalar ? 1 : r.reduced_sizes[0], x, scalar ? 0 : r.reduced_strides[0],
                                        call.output(0), scalar ? 0 : o.reduced_strides[0]);
  return ok ? ErrorCode::ok : ErrorCode::invalid_dtype;
}

}  // namespace detail

inline constexpr auto reduction_ops =
    joined_rows(rows_of<operators::reduction_operators, detail::reduce>(),
                std::to_array<OpRow>({
                    {"aten.cumsum.default", detail::cumsum},
                    {"aten.std.correction", detail::spread<detail::Spread::correction, true>},
                    {"aten.std.default", detail::spread<detail::Spread::all, true>},
                    {"aten.std.dim", detail::spread<detail::Spread::dim, true>},
                    {"aten.std_mean.correction", detail::spread<detail::Spread::correction, true>},
                    {"aten.std_mean.default", detail::spread<detail::Spread::all, true>},
                    {"aten.std_mean.dim", detail::spread<detail::Spread::dim, true>},
                    {"aten.var.correction", detail::spread<detail::Spread::correction, false>},
                    {"aten.var.dim", detail::spread<detail::Spread::dim, false>},
                }));

}  // namespace davit::portable_kernels
