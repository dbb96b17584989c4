// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "davit/backends/portable/run_time/elementwise/copies.hpp"
#include "davit/backends/portable/run_time/elementwise/binary.hpp"
#include "davit/backends/portable/run_time/elementwise/unary.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/program/graph.hpp"

namespace davit::portable_kernels {

namespace detail {

/// Whether a result of one dtype may be stored in a tensor of another. Source: c10::canCast.
[[nodiscard]] constexpr bool can_cast(ScalarType from, ScalarType to) noexcept {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating(from) && is_integral(to)) return false;
  return to != ScalarType::bool_ || from == ScalarType::bool_;
}

/// Writes output 0 over the elements of `to`, which must have its sizes.
[[nodiscard]] inline ErrorCode overwrite_with_output(KernelCall& call, const TensorView& to) {
  const TensorView& result = call.output(0);
  if (!std::ranges::equal(result.sizes(), to.sizes()))
    return call.refuse(ErrorCode::invalid_shape, "the tensor to write does not have the sizes of the result");
  if (!can_cast(result.dtype, to.dtype))
    return call.refuse(ErrorCode::invalid_dtype, "the result does not fit the dtype of the tensor to write");
  if (repeats_elements(to))
    return call.refuse(ErrorCode::invalid_argument, "an expanded tensor cannot be written in place");
  const bool real = kernels::convert_elements(to.sizes(), result.data, result.dtype, result.strides(), to.data, to.dtype,
                                              to.strides());
  return real ? ErrorCode::ok : ErrorCode::invalid_dtype;
}

}  // namespace detail

[[nodiscard, gnu::noinline]] inline ErrorCode in_place(KernelCall& call, Kernel make) {
  if (!call.is_tensor(0)) return call.refuse(ErrorCode::invalid_argument, "only a tensor can be written in place");
  if (const ErrorCode code = make(call); code != ErrorCode::ok) return code;
  const TensorView& self = call.tensor(0);
  if (const ErrorCode code = detail::overwrite_with_output(call, self); code != ErrorCode::ok) return code;
  return call.alias(0, self, self.sizes(), self.strides());
}
/// An operator that stores its result in its first argument and answers that: `F` makes the result.
template <Kernel F>
[[nodiscard]] ErrorCode in_place(KernelCall& call) {
  return in_place(call, F);
}

namespace detail {

/// Converts output 0, which is contiguous, to another dtype.
[[nodiscard]] inline ErrorCode convert_output(KernelCall& call, ScalarType to) {
  const TensorView result = call.output(0);
  if (result.dtype == to) return ErrorCode::ok;
  if (!can_cast(result.dtype, to))
    return call.refuse(ErrorCode::invalid_dtype, "the result does not fit the dtype of the tensor to write");
  const Sizes sizes(result.sizes());
  const std::size_t bytes = result.nbytes();
  auto* copy = call.temporary<std::byte>(bytes);
  if (copy == nullptr) return call.refuse(ErrorCode::out_of_memory, "no temporary memory");
  if (bytes != 0) std::memcpy(copy, result.data, bytes);
  if (const ErrorCode code = call.make(0, to, sizes); code != ErrorCode::ok) return code;
  TensorView source = call.output(0);
  source.data = copy;
  source.dtype = result.dtype;
  return convert_elements(source, to, call.output(0).data);
}

}  // namespace detail

/// An operator that stores its result in argument `Out`, too; an empty `out` of other sizes is left alone (torch would
/// resize it). Source: at::native::resize_output.
template <Kernel F, std::size_t Out>
[[nodiscard]] ErrorCode with_out(KernelCall& call) {
  if (!call.is_tensor(Out)) return call.refuse(ErrorCode::invalid_argument, "out must be a tensor");
  if (const ErrorCode code = F(call); code != ErrorCode::ok) return code;
  const TensorView& out = call.tensor(Out);
  if (const ErrorCode code = detail::convert_output(call, out.dtype); code != ErrorCode::ok) return code;
  if (out.numel() == 0) return ErrorCode::ok;
  return detail::overwrite_with_output(call, out);
}

namespace detail {

/// The strides of a tensor laid out anew in a memory format; false if its rank does not have that format.
/// Source: c10::TensorImpl::empty_tensor_restride.
[[nodiscard]] inline bool format_strides(MemoryFormat format, const Sizes& sizes, Sizes& strides) noexcept {
  strides = sizes;
  contiguous_strides(sizes, {strides.values.data(), sizes.rank});
  if (format == MemoryFormat::contiguous) return true;
  if (format != (sizes.rank == 4 ? MemoryFormat::channels_last : MemoryFormat::channels_last_3d)) return false;
  if (sizes.rank != 4 && sizes.rank != 5) return false;
  std::int64_t step = 1;
  const auto place = [&](std::size_t d) {
    strides[d] = step;
    step *= std::max<std::int64_t>(sizes[d], 1);
  };
  place(1);
  for (std::size_t d = sizes.rank; d-- > 2;) place(d);
  place(0);
  return true;
}

}  // namespace detail

/// resize_(self, size, memory_format?): the first elements of the storage with other sizes. A storage that is too small
/// is copied into a larger one, whose further elements are 0. Source: at::native::resize_.
[[nodiscard]] inline ErrorCode resize(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  Sizes sizes;
  if (!detail::ints_of(call.list(1), sizes)) return call.refuse(ErrorCode::invalid_argument, "sizes must be integers");
  if (!call.has(2) && std::ranges::equal(sizes.span(), x.sizes())) return call.alias(0, x, x.sizes(), x.strides());
  const std::int64_t count = davit::checked_numel(sizes, max_numel);
  for (const std::int64_t size : sizes.span())
    if (size < 0) return call.refuse(ErrorCode::invalid_shape, "a size is negative");
  if (count < 0) return call.refuse(ErrorCode::out_of_memory, "the sizes are too large");
  Sizes strides;
  const auto format = static_cast<MemoryFormat>(call.integer(2, static_cast<std::int64_t>(MemoryFormat::contiguous)));
  if (!detail::format_strides(format, sizes, strides))
    return call.refuse(ErrorCode::invalid_argument, "the sizes do not have this memory format");
  const auto* data = static_cast<const std::byte*>(x.data);
  const Footprint own = footprint(x);
  const std::size_t wanted = static_cast<std::size_t>(count) * size_of(x.dtype);
  const std::size_t available = own.end == nullptr ? 0 : static_cast<std::size_t>(own.end - data);
  if (wanted <= available) return call.alias(0, x, sizes, strides);
  if (const ErrorCode code = call.make(0, x.dtype, sizes); code != ErrorCode::ok) return code;
  auto* to = static_cast<std::byte*>(call.output(0).data);
  if (available != 0) std::memcpy(to, data, available);
  std::memset(to + available, 0, wanted - available);
  const TensorView whole = call.output(0);
  return call.alias(0, whole, sizes, strides);
}

inline constexpr auto in_place_ops = std::to_array<OpRow>({
    {"aten.add_.Tensor", in_place<detail::add_scaled<false>>, Aliasing::may_alias, true},
    {"aten.clamp_.default", in_place<detail::clamp>, Aliasing::may_alias, true},
    {"aten.copy_.default", in_place<detail::copy>, Aliasing::may_alias, true},
    {"aten.div_.Tensor", in_place<detail::divide>, Aliasing::may_alias, true},
    {"aten.dropout_.default", in_place<detail::native_dropout>, Aliasing::may_alias, true},
    {"aten.fill_.Scalar", in_place<detail::fill>, Aliasing::may_alias, true},
    {"aten.fill_.Tensor", in_place<detail::copy>, Aliasing::may_alias, true},
    {"aten.hardsigmoid_.default", in_place<detail::real_op<kernels::Hardsigmoid>>, Aliasing::may_alias, true},
    {"aten.hardswish_.default", in_place<detail::real_op<kernels::Hardswish>>, Aliasing::may_alias, true},
    {"aten.hardtanh_.default", in_place<detail::hardtanh>, Aliasing::may_alias, true},
    {"aten.leaky_relu_.default", in_place<detail::leaky_relu>, Aliasing::may_alias, true},
    {"aten.mul_.Tensor", in_place<detail::mul>, Aliasing::may_alias, true},
    {"aten.relu6_.default", in_place<detail::relu6>, Aliasing::may_alias, true},
    {"aten.relu_.default", in_place<detail::same_type_op<kernels::Relu>>, Aliasing::may_alias, true},
    {"aten.sigmoid_.default", in_place<detail::real_op<kernels::Sigmoid>>, Aliasing::may_alias, true},
    {"aten.silu_.default", in_place<detail::real_op<kernels::Silu>>, Aliasing::may_alias, true},
    {"aten.sub_.Tensor", in_place<detail::add_scaled<true>>, Aliasing::may_alias, true},
    {"aten.tanh_.default", in_place<detail::real_op<kernels::Tanh>>, Aliasing::may_alias, true},
    {"aten.atan2.out", with_out<detail::real_pair<kernels::Atan2>, 2>, Aliasing::none, true},
    {"aten.resize_.default", resize, Aliasing::may_alias},
});

}  // namespace davit::portable_kernels
