// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>

#include "davit/backends/portable/run_time/elementwise/unary.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/kernels/function_ref.hpp"

namespace davit::portable_kernels {

namespace detail {

[[nodiscard]] inline ErrorCode clone(KernelCall& call) { return copy_out(call, 0, call.tensor(0)); }

/// Makes output 0 from the elements of x in another dtype.
[[nodiscard]] inline ErrorCode cast(KernelCall& call, const TensorView& x, ScalarType type) {
  if (type == x.dtype) return copy_out(call, 0, x);
  if (const ErrorCode code = call.make(0, type, x.sizes()); code != ErrorCode::ok) return code;
  return convert_elements(x, type, call.output(0).data);
}
[[nodiscard]] inline ErrorCode to_copy(KernelCall& call) {
  return cast(call, call.tensor(0), call.dtype(1, call.tensor(0).dtype));
}

/// to(self, dtype, non_blocking, copy): returns self if it has that dtype and `copy` is false.
[[nodiscard]] inline ErrorCode to_dtype(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  return call.dtype(1, x.dtype) == x.dtype && !call.boolean(3) ? identity(call) : to_copy(call);
}

/// copy(self, src): src broadcast to self's sizes, in self's dtype.
[[nodiscard]] inline ErrorCode copy(KernelCall& call) {
  const TensorView& self = call.tensor(0);
  const TensorView& source = call.tensor(1);
  Sizes sizes;
  if (!broadcast(self.sizes(), source.sizes(), sizes) || !std::ranges::equal(sizes.span(), self.sizes()))
    return call.refuse(ErrorCode::invalid_shape, "the source does not broadcast to the destination");
  const Sizes strides = broadcast_strides(source, self.sizes());
  const TensorView spread{source.data, self.sizes_data, strides.values.data(), self.rank, source.dtype};
  return cast(call, spread, self.dtype);
}

/// Fills output 0 with a number.
[[nodiscard]] inline ErrorCode fill_with(KernelCall& call, const EValue& number) {
  const TensorView& out = call.output(0);
  std::uint64_t element = 0;
  const ScalarType part = real_of(out.dtype);
  if (!store_scalar(number, part, &element)) return ErrorCode::invalid_dtype;
  const std::int64_t count = out.numel();
  if (part == out.dtype) {
    kernels::fill_row(size_of(out.dtype), &element, out.data, count);
  } else if (count != 0) {  // complex: zero imaginary parts
    const std::size_t bytes = size_of(part);
    std::memset(out.data, 0, out.nbytes());
    for (std::int64_t i = 0; i < count; ++i)
      std::memcpy(out.as<std::byte>() + static_cast<std::size_t>(2 * i) * bytes, &element, bytes);
  }
  return ErrorCode::ok;
}
/// Fills output 0 block by block: `values(first, n, block)` writes n numbers of type `type`, double or int64, from
/// index `first` on.
[[nodiscard, gnu::noinline]] inline ErrorCode fill_blocks(
    KernelCall& call, ScalarType type, kernels::FunctionRef<void(std::int64_t, std::int64_t, void*)> values) {
  const TensorView& out = call.output(0);
  const kernels::Conversion store = kernels::Conversion::between(type, out.dtype);
  const std::int64_t count = out.numel();
  kernels::Block block;
  kernels::Block scratch;
  auto* to = out.as<std::byte>();
  for (std::int64_t i = 0, n = 0; i < count; i += n, to += static_cast<std::size_t>(n) * store.element) {
    n = std::min(count - i, kernels::block_length);
    values(i, n, store.count == 0 ? to : block.bytes.data());
    store.run(block.bytes.data(), to, scratch.bytes.data(), n);
  }
  return ErrorCode::ok;
}
/// Fills output 0 with value(0), value(1), ... of type C, converted.
template <class C, class F>
[[nodiscard]] ErrorCode fill_each(KernelCall& call, F&& value) {
  return fill_blocks(call, scalar_type_of<C>, [&](std::int64_t first, std::int64_t n, void* to) {
    for (std::int64_t k = 0; k < n; ++k) static_cast<C*>(to)[k] = value(first + k);
  });
}
/// True for the dtypes of numbers for arithmetic.
[[nodiscard]] constexpr bool is_number(ScalarType type) noexcept {
  return kernels::compute_of(type) != kernels::Compute::none && type != ScalarType::bool_;
}
[[nodiscard]] inline ErrorCode fill(KernelCall& call) {
  if (const ErrorCode code = call.make_like(0, call.tensor(0)); code != ErrorCode::ok) return code;
  return fill_with(call, call.arg(1));
}
[[nodiscard]] inline ScalarType type_of_number(const EValue& v) noexcept {
  return v.is_float() ? ScalarType::float32 : v.is_bool() ? ScalarType::bool_ : ScalarType::int64;
}
/// zeros_like and ones_like.
template <int Number>
[[nodiscard]] ErrorCode filled_like(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  if (const ErrorCode code = call.make(0, call.dtype(1, x.dtype), x.sizes()); code != ErrorCode::ok) return code;
  return fill_with(call, EValue(Number));
}
[[nodiscard]] inline ErrorCode full_like(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  if (const ErrorCode code = call.make(0, call.dtype(2, x.dtype), x.sizes()); code != ErrorCode::ok) return code;
  return fill_with(call, call.arg(1));
}
/// Makes a tensor of the sizes in argument 0.
[[nodiscard]] inline ErrorCode make_sized(KernelCall& call, ScalarType type) {
  Sizes sizes;
  if (!ints_of(call.list(0), sizes)) return call.refuse(ErrorCode::invalid_argument, "sizes must be integers");
  return call.make(0, type, sizes);
}
[[nodiscard]] inline ErrorCode full(KernelCall& call) {
  if (!call.arg(1).is_number()) return call.refuse(ErrorCode::invalid_argument, "the fill value must be a number");
  if (const ErrorCode code = make_sized(call, call.dtype(2, type_of_number(call.arg(1)))); code != ErrorCode::ok)
    return code;
  return fill_with(call, call.arg(1));
}
/// zeros, ones, and empty, whose elements are zero too.
template <std::size_t DtypeAt, int Number = 0>
[[nodiscard]] ErrorCode filled(KernelCall& call) {
  if (const ErrorCode code = make_sized(call, call.dtype(DtypeAt, ScalarType::float32)); code != ErrorCode::ok)
    return code;
  return fill_with(call, EValue(Number));
}
[[nodiscard]] inline ErrorCode scalar_tensor(KernelCall& call) {
  if (!call.arg(0).is_number()) return call.refuse(ErrorCode::invalid_argument, "the value must be a number");
  if (const ErrorCode code = call.make(0, call.dtype(1, ScalarType::float32), {}); code != ErrorCode::ok) return code;
  return fill_with(call, call.arg(0));
}
/// For an integer dtype start and step are truncated to it; for int64 the end is, too. Source: at::native::arange_out.
[[nodiscard]] inline ErrorCode arange(KernelCall& call) {
  const EValue& start = call.arg(0);
  const EValue& end = call.arg(1);
  const EValue& step = call.arg(2);
  if (!start.is_number() || !end.is_number() || !step.is_number())
    return call.refuse(ErrorCode::invalid_argument, "start, end and step must be numbers");
  const bool real = start.is_float() || end.is_float() || step.is_float();
  const ScalarType type = call.dtype(3, real ? ScalarType::float32 : ScalarType::int64);
  const bool whole = type == ScalarType::int64;  // int64 is counted in integers, which doubles cannot hold
  if (whole ? step.integer() == 0 : step.number() == 0)
    return call.refuse(ErrorCode::invalid_argument, "the step must not be zero");
  double steps = std::ceil((end.number() - start.number()) / step.number());
  if (whole) {
    const bool up = step.integer() > 0;
    const auto from = static_cast<std::uint64_t>(up ? start.integer() : end.integer());
    const auto to = static_cast<std::uint64_t>(up ? end.integer() : start.integer());
    const auto by = static_cast<std::uint64_t>(step.integer());
    const bool leads = static_cast<std::int64_t>(from) <= static_cast<std::int64_t>(to);
    const std::uint64_t taken = !leads || from == to ? 0 : (to - from - 1) / (up ? by : 0 - by) + 1;
    steps = leads ? static_cast<double>(taken) : -1;
  }
  if (!(steps >= 0) || steps > static_cast<double>(max_numel))
    return call.refuse(ErrorCode::out_of_range, "the range does not lead from start to end");
  const auto count = static_cast<std::int64_t>(steps);
  if (const ErrorCode code = call.make(0, type, {&count, 1}); code != ErrorCode::ok) return code;
  if (!is_number(type)) return ErrorCode::invalid_dtype;
  if (is_floating(type))
    return fill_each<double>(call, [first = start.number(), by = step.number()](std::int64_t i) {
      return first + static_cast<double>(i) * by;
    });
  return fill_each<std::int64_t>(
      call, [first = start.integer(), by = step.integer()](std::int64_t i) { return first + i * by; });
}

/// A small deterministic generator (splitmix64): PyTorch does not specify the values of random operators.
class Random {
 public:
  [[nodiscard]] std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  [[nodiscard]] double uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
  [[nodiscard]] double normal() noexcept {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::uint64_t state_ = 0x2545f4914f6cdd1du;
};
template <bool Normal>
[[nodiscard]] ErrorCode random_values(KernelCall& call) {
  if (const ErrorCode code = make_sized(call, call.dtype(1, ScalarType::float32)); code != ErrorCode::ok) return code;
  Random random;
  if (!is_floating(call.output(0).dtype) || !kernels::is_real(call.output(0).dtype)) return ErrorCode::invalid_dtype;
  return fill_each<double>(call, [&](std::int64_t) { return Normal ? random.normal() : random.uniform(); });
}
[[nodiscard]] inline ErrorCode randperm(KernelCall& call) {
  const std::int64_t n = call.integer(0);
  const ScalarType type = call.dtype(1, ScalarType::int64);
  if (const ErrorCode code = call.make(0, type, {&n, 1}); code != ErrorCode::ok) return code;
  if (!is_number(type)) return ErrorCode::invalid_dtype;
  auto* order = call.temporary<std::int64_t>(static_cast<std::size_t>(n));
  if (order == nullptr) return call.refuse(ErrorCode::out_of_memory, "no temporary memory");
  Random random;
  std::iota(order, order + n, std::int64_t{0});
  for (std::int64_t i = n - 1; i > 0; --i)
    std::swap(order[i], order[random.next() % static_cast<std::uint64_t>(i + 1)]);
  return fill_each<std::int64_t>(call, [&](std::int64_t i) { return order[i]; });
}
/// native_dropout: scaled input and mask; in evaluation the input and a mask of ones.
[[nodiscard]] inline ErrorCode native_dropout(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const double p = call.number(1);
  const bool train = call.boolean(2, true);
  if (!(p >= 0 && p <= 1)) return call.refuse(ErrorCode::out_of_range, "the probability must lie in [0, 1]");
  if (const ErrorCode code = copy_out(call, 0, x); code != ErrorCode::ok) return code;
  const bool wants_mask = call.wants(1);
  if (wants_mask)
    if (const ErrorCode code = call.make(1, ScalarType::bool_, x.sizes()); code != ErrorCode::ok) return code;
  if (!is_floating(x.dtype) || !kernels::is_real(x.dtype)) return ErrorCode::invalid_dtype;
  bool* mask = wants_mask ? call.output(1).as<bool>() : nullptr;
  const std::int64_t count = call.output(0).numel();
  if (!train) {
    if (mask != nullptr) std::fill_n(mask, count, true);
    return ErrorCode::ok;
  }
  Random random;
  const TensorView copy = call.output(0);
  return fill_each<double>(call, [&](std::int64_t i) {
    const bool keep = random.uniform() >= p;
    if (mask != nullptr) mask[i] = keep;
    return keep ? element_as<double>(copy, i) / (1 - p) : 0.0;
  });
}

}  // namespace detail

inline constexpr auto copy_ops = std::to_array<OpRow>({
    {"aten._to_copy.default", detail::to_copy},
    {"aten.arange.start_step", detail::arange},
    {"aten.clone.default", detail::clone},
    {"aten.copy.default", detail::copy},
    {"aten.dropout.default", detail::native_dropout},
    {"aten.empty.memory_format", detail::filled<1>},
    {"aten.empty_permuted.default", detail::filled<2>},
    {"aten.empty_strided.default", detail::filled<2>},
    {"aten.fill.Scalar", detail::fill},
    {"aten.full.default", detail::full},
    {"aten.full_like.default", detail::full_like},
    {"aten.lift_fresh_copy.default", detail::clone},
    {"aten.native_dropout.default", detail::native_dropout},
    {"aten.ones.default", detail::filled<1, 1>},
    {"aten.ones_like.default", detail::filled_like<1>},
    {"aten.rand.default", detail::random_values<false>},
    {"aten.randn.default", detail::random_values<true>},
    {"aten.randperm.default", detail::randperm},
    {"aten.scalar_tensor.default", detail::scalar_tensor},
    {"aten.to.dtype", detail::to_dtype, Aliasing::may_alias},
    {"aten.zeros.default", detail::filled<1>},
    {"aten.zeros_like.default", detail::filled_like<0>},
    {"dim_order_ops._clone_dim_order.default", detail::clone},
    {"dim_order_ops._to_dim_order_copy.default", detail::to_copy},
});

}  // namespace davit::portable_kernels
