// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "davit/backends/portable/run_time/dispatch.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/kernels/move.hpp"
#include "davit/program/operators/movement.hpp"

namespace davit::portable_kernels {

namespace detail {

/// The ints of a list argument.
[[nodiscard, gnu::noinline]] inline bool ints_of(std::span<const EValue> list, Sizes& out) noexcept {
  for (const EValue& v : list)
    if (!v.is_number() || !out.push(v.integer())) return false;
  return true;
}
[[nodiscard, gnu::cold, gnu::noinline]] inline ErrorCode bad_dim(KernelCall& call) {
  return call.refuse(ErrorCode::out_of_range, "a dimension is outside the tensor's rank");
}

/// Makes output i a contiguous copy of `from`.
[[nodiscard, gnu::noinline]] inline ErrorCode copy_out(KernelCall& call, std::size_t i, const TensorView& from) {
  if (const ErrorCode code = call.make(i, from.dtype, from.sizes()); code != ErrorCode::ok) return code;
  if (call.output(i).data != from.data) kernels::move_in_parallel(from, call.output(i));
  return ErrorCode::ok;
}

[[nodiscard]] inline ErrorCode identity(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  return call.alias(0, x, x.sizes(), x.strides());
}

/// Returns the tensor itself if it is contiguous, else a copy.
[[nodiscard]] inline ErrorCode contiguous(KernelCall& call) {
  return call.tensor(0).is_contiguous() ? identity(call) : copy_out(call, 0, call.tensor(0));
}

/// Views a tensor's bytes as elements of another dtype, and computes sizes and strides; false if the last dimension
/// does not hold whole elements side by side.
[[nodiscard]] inline bool in_other_dtype(TensorView& x, ScalarType to, Sizes& sizes, Sizes& strides) noexcept {
  const auto from_size = static_cast<std::int64_t>(size_of(x.dtype)), to_size = static_cast<std::int64_t>(size_of(to));
  sizes = Sizes(x.sizes());
  strides = Sizes(x.strides());
  bool fits = from_size == to_size || (x.rank != 0 && x.stride(x.rank - 1u) == 1);
  const auto scale = [&](std::int64_t& number) {
    fits = fits && number * from_size % to_size == 0;
    number = number * from_size / to_size;
  };
  if (fits && from_size != to_size) {
    for (std::size_t d = 0; d + 1 < x.rank; ++d)
      if (sizes[d] > 1) scale(strides[d]);
    scale(sizes[x.rank - 1u]);
    std::int64_t offset = x.storage_offset;
    scale(offset);
    x.storage_offset = static_cast<std::uint32_t>(offset);
  }
  x.dtype = to;
  return fits && reinterpret_cast<std::uintptr_t>(x.data) %
                         static_cast<std::uintptr_t>(is_complex(to) ? to_size / 2 : to_size) ==
                     0;
}
/// view.dtype: the same bytes as elements of another dtype; a dtype of another size changes the last dimension. A
/// tensor that is contiguous in torch, but not here, is copied. Source: at::native::view_dtype.
[[nodiscard]] inline ErrorCode view_dtype(KernelCall& call) {
  TensorView x = call.tensor(0);
  const ScalarType to = call.dtype(1, ScalarType::undefined);
  if (size_of(to) == 0 || to == ScalarType::bool_)
    return call.refuse(ErrorCode::invalid_dtype, "the bytes cannot be elements of that dtype");
  Sizes sizes, strides;
  if (!in_other_dtype(x, to, sizes, strides)) {
    if (call.tensor(0).is_contiguous())
      return call.refuse(ErrorCode::invalid_shape, "the bytes of the last dimension are not whole elements");
    if (const ErrorCode code = copy_out(call, 0, call.tensor(0)); code != ErrorCode::ok) return code;
    x = call.output(0);
    if (!in_other_dtype(x, to, sizes, strides))
      return call.refuse(ErrorCode::invalid_shape, "the bytes of the last dimension are not whole elements");
  }
  return call.alias(0, x, sizes, strides);
}

/// The strides of a view in other sizes of as many elements; false if it needs a copy. Source:
/// at::detail::computeStride.
[[nodiscard, gnu::noinline]] inline bool view_strides(const TensorView& x, std::span<const std::int64_t> sizes,
                                                      Sizes& out) noexcept {
  Sizes strides(sizes);
  if (x.numel() == 0 || x.is_contiguous()) {
    contiguous_strides(sizes, {strides.values.data(), sizes.size()});
    out = strides;
    return true;
  }
  std::size_t view = sizes.size();
  std::int64_t base = x.stride(x.rank - 1u);
  std::int64_t chunk = 1;
  std::int64_t taken = 1;
  for (std::size_t d = x.rank; d-- > 0;) {
    chunk *= x.size(d);
    if (d != 0 && (x.size(d - 1) == 1 || x.stride(d - 1) == chunk * base)) continue;
    while (view > 0 && (taken < chunk || sizes[view - 1] == 1)) {
      --view;
      strides[view] = taken * base;
      taken *= sizes[view];
    }
    if (taken != chunk) return false;
    if (d > 0) {
      base = x.stride(d - 1);
      chunk = 1;
      taken = 1;
    }
  }
  if (view != 0) return false;
  out = strides;
  return true;
}

/// Reshapes x, as a view if its strides allow it, else as a copy.
[[nodiscard]] inline ErrorCode with_sizes(KernelCall& call, const TensorView& x, const Sizes& sizes) {
  Sizes strides;
  if (view_strides(x, sizes, strides)) return call.alias(0, x, sizes, strides);
  if (const ErrorCode code = call.make(0, x.dtype, sizes); code != ErrorCode::ok) return code;
  TensorView flat = call.output(0);
  Sizes dense(x.sizes());
  contiguous_strides(x.sizes(), {dense.values.data(), x.rank});
  flat.sizes_data = x.sizes_data;
  flat.strides_data = dense.values.data();
  flat.rank = x.rank;
  kernels::move_in_parallel(x, flat);
  return ErrorCode::ok;
}

[[nodiscard]] inline ErrorCode view(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  Sizes sizes;
  if (!ints_of(call.list(1), sizes)) return call.refuse(ErrorCode::invalid_argument, "sizes must be integers");
  std::int64_t known = 1;
  std::size_t inferred = max_rank;
  for (std::size_t d = 0; d < sizes.rank; ++d) {
    if (sizes[d] == -1 && inferred == max_rank) {
      inferred = d;
    } else if (sizes[d] < 0) {
      return call.refuse(ErrorCode::invalid_shape, "a size is negative");
    } else if (__builtin_mul_overflow(known, sizes[d], &known)) {
      return call.refuse(ErrorCode::invalid_shape, "the sizes overflow");
    }
  }
  const std::int64_t count = x.numel();
  if (inferred != max_rank) {
    if (known == 0 || count % known != 0)
      return call.refuse(ErrorCode::invalid_shape, "the sizes do not hold the tensor's elements");
    sizes[inferred] = count / known;
    known = count;
  }
  if (known != count) return call.refuse(ErrorCode::invalid_shape, "the sizes do not hold the tensor's elements");
  return with_sizes(call, x, sizes);
}

[[nodiscard]] inline ErrorCode flatten(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  std::int64_t first = call.integer(1);
  std::int64_t last = call.integer(2, -1);
  if (!wrap_dim(first, x.rank) || !wrap_dim(last, x.rank) || first > last) return bad_dim(call);
  Sizes sizes;
  std::int64_t folded = 1;
  for (std::size_t d = 0; d < x.rank; ++d) {
    const auto at = static_cast<std::int64_t>(d);
    if (at >= first && at <= last) folded *= x.size(d);
    if (at < first || at > last) (void)sizes.push(x.size(d));
    if (at == last) (void)sizes.push(folded);
  }
  if (x.rank == 0) (void)sizes.push(1);
  return with_sizes(call, x, sizes);
}

[[nodiscard]] inline ErrorCode permute(KernelCall& call, const operators::PermutationOperator& op) {
  operators::PermutationView view;
  if (const ErrorCode code = answer(call, operators::read_permutation(KernelArguments(call), op, view));
      code != ErrorCode::ok)
    return code;
  const TensorView& x = call.tensor(0);
  Sizes sizes;
  Sizes strides;
  for (std::size_t d = 0; d < view.rank; ++d) {
    (void)sizes.push(x.size(view.from[d]));
    (void)strides.push(x.stride(view.from[d]));
  }
  return call.alias(0, x, sizes, strides);
}

[[nodiscard]] inline ErrorCode expand(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  Sizes sizes;
  if (!ints_of(call.list(1), sizes) || sizes.rank < x.rank)
    return call.refuse(ErrorCode::invalid_shape, "expand needs at least as many sizes as the tensor has");
  Sizes strides(sizes);
  for (std::size_t d = 0; d < sizes.rank; ++d) {
    const bool fresh = d + x.rank < sizes.rank;
    const std::size_t own = fresh ? 0 : d + x.rank - sizes.rank;
    if (sizes[d] == -1 && !fresh) sizes[d] = x.size(own);
    if (sizes[d] < 0) return call.refuse(ErrorCode::invalid_shape, "a size is negative");
    if (!fresh && x.size(own) != sizes[d] && x.size(own) != 1)
      return call.refuse(ErrorCode::invalid_shape, "only dimensions of size 1 can be expanded");
    strides[d] = fresh || (x.size(own) == 1 && sizes[d] != 1) ? 0 : x.stride(own);
  }
  return call.alias(0, x, sizes, strides);
}

[[nodiscard]] inline ErrorCode squeezed(KernelCall& call, std::uint32_t dims) {
  const TensorView& x = call.tensor(0);
  Sizes sizes;
  Sizes strides;
  for (std::size_t d = 0; d < x.rank; ++d) {
    if ((dims >> d & 1u) != 0 && x.size(d) == 1) continue;
    (void)sizes.push(x.size(d));
    (void)strides.push(x.stride(d));
  }
  return call.alias(0, x, sizes, strides);
}
[[nodiscard]] inline ErrorCode squeeze(KernelCall& call) {
  std::uint32_t dims = 0;
  for (const EValue& v : call.list(1)) {
    std::int64_t dim = v.integer();
    if (!wrap_dim(dim, call.tensor(0).rank)) return bad_dim(call);
    dims |= 1u << dim;
  }
  return squeezed(call, dims);
}
[[nodiscard]] inline ErrorCode unsqueeze(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  std::int64_t dim = call.integer(1);
  if (!wrap_dim(dim, x.rank + 1u)) return bad_dim(call);
  if (x.rank == max_rank) return call.refuse(ErrorCode::invalid_shape, "too many dimensions");
  const auto at = static_cast<std::size_t>(dim);
  Sizes sizes;
  Sizes strides;
  for (std::size_t d = 0; d <= x.rank; ++d) {
    if (d == at) {
      (void)sizes.push(1);
      (void)strides.push(d < x.rank ? x.size(d) * x.stride(d) : 1);
    }
    if (d == x.rank) break;
    (void)sizes.push(x.size(d));
    (void)strides.push(x.stride(d));
  }
  return call.alias(0, x, sizes, strides);
}

/// as_strided over the elements of the input alone: a program may not reach beyond them.
[[nodiscard]] inline ErrorCode as_strided(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  Sizes sizes;
  Sizes strides;
  const std::int64_t offset = call.integer(3, 0);
  if (!ints_of(call.list(1), sizes) || !ints_of(call.list(2), strides) || sizes.rank != strides.rank)
    return call.refuse(ErrorCode::invalid_argument, "as many sizes as strides are needed");
  const MemoryRange seen = memory_range(x);
  const auto element = static_cast<std::int64_t>(size_of(x.dtype));
  std::int64_t last = offset;
  bool empty = false;
  for (std::size_t d = 0; d < sizes.rank; ++d) {
    if (sizes[d] < 0 || strides[d] < 0 || strides[d] > max_numel || sizes[d] > max_numel)
      return call.refuse(ErrorCode::invalid_shape, "sizes and strides must not be negative");
    if (sizes[d] == 0) empty = true;
    std::int64_t reach = 0;
    if (sizes[d] > 0 &&
        (__builtin_mul_overflow(sizes[d] - 1, strides[d], &reach) || __builtin_add_overflow(last, reach, &last)))
      return call.refuse(ErrorCode::invalid_shape, "the strides overflow");
  }
  const auto* data = static_cast<const std::byte*>(x.data);
  if (!empty && (offset < 0 || seen.end == nullptr || last >= (seen.end - data) / element))
    return call.refuse(ErrorCode::out_of_range, "as_strided reaches outside the tensor's storage");
  return call.alias(0, x, sizes, strides, empty ? 0 : offset);
}

/// unfold(self, dimension, size, step): windows along a dimension, which become a new last dimension. Source:
/// at::unfold.
[[nodiscard]] inline ErrorCode unfold(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  std::int64_t dim = call.integer(1);
  const std::int64_t size = call.integer(2);
  const std::int64_t step = call.integer(3);
  if (!wrap_dim(dim, x.rank)) return bad_dim(call);
  const auto d = static_cast<std::size_t>(dim);
  const std::int64_t length = x.rank == 0 ? 1 : x.size(d);
  if (size < 0 || size > length || step < 1)
    return call.refuse(ErrorCode::invalid_argument,
                       "unfold: a window has to fit the dimension, and a step is at least 1");
  Sizes sizes(x.sizes());
  Sizes strides = strides_of(x);
  const std::int64_t stride = x.rank == 0 ? 1 : x.stride(d);
  if (x.rank != 0) {
    sizes[d] = (length - size) / step + 1;
    if (__builtin_mul_overflow(stride, step, &strides[d])) strides[d] = 0;  // there is one window
  }
  if (!sizes.push(size) || !strides.push(stride))
    return call.refuse(ErrorCode::invalid_shape, "unfold: the tensor has too many dimensions");
  return call.alias(0, x, sizes, strides);
}

}  // namespace detail

inline constexpr auto view_ops =
    joined_rows(rows_of<operators::permutation_operators, detail::permute>({.aliasing = Aliasing::always}),
                std::to_array<OpRow>({
                    {"aten._unsafe_view.default", detail::view, Aliasing::may_alias},
                    {"aten.alias.default", detail::identity, Aliasing::always},
                    {"aten.as_strided.default", detail::as_strided, Aliasing::always},
                    {"aten.contiguous.default", detail::contiguous, Aliasing::may_alias},
                    {"aten.detach.default", detail::identity, Aliasing::always},
                    {"aten.expand.default", detail::expand, Aliasing::always},
                    {"aten.flatten.using_ints", detail::flatten, Aliasing::may_alias},
                    {"aten.reshape.default", detail::view, Aliasing::may_alias},
                    {"aten.squeeze.dim", detail::squeeze, Aliasing::always},
                    {"aten.squeeze.dims", detail::squeeze, Aliasing::always},
                    {"aten.unfold.default", detail::unfold, Aliasing::always},
                    {"aten.unsqueeze.default", detail::unsqueeze, Aliasing::always},
                    {"aten.view.default", detail::view, Aliasing::may_alias},
                    {"aten.view.dtype", detail::view_dtype, Aliasing::may_alias},
                }));

}  // namespace davit::portable_kernels
