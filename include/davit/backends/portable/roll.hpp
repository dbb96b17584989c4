// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "davit/backends/portable/mapped_copy.hpp"
#include "davit/backends/portable/views.hpp"

namespace davit::portable_kernels {

namespace detail {

/// `shift` as a move forward by less than `size`.
[[nodiscard]] constexpr std::int64_t forward_shift(std::int64_t shift, std::int64_t size) noexcept {
  const std::int64_t rest = shift % size;
  return rest < 0 ? rest + size : rest;
}

/// Rolls the tensor as if it had one dimension.
[[nodiscard]] inline ErrorCode roll_flat(KernelCall& call, const TensorView& x, std::int64_t shift) {
  const std::int64_t count = x.numel();
  return dispatch_element_size(x.dtype, [&](auto bytes) {
    constexpr auto element = static_cast<std::int64_t>(bytes());
    const auto* from = static_cast<const std::byte*>(x.data);
    auto* to = static_cast<std::byte*>(call.output(0).data);
    std::int64_t k = forward_shift(shift, count);
    for_each_index<1>(x.sizes(), {strides_of(x)}, [&](std::int64_t i) {
      std::memcpy(to + k * element, from + i * element, bytes());
      if (++k == count) k = 0;
    });
    return ErrorCode::ok;
  });
}

}  // namespace detail

/// roll(self, shifts, dims): elements move on along each dimension named, those from the end come first; without dims
/// along the flattened tensor. Source: at::roll.
[[nodiscard]] inline ErrorCode roll(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  const std::span<const EValue> shifts = call.list(1);
  const std::span<const EValue> dims = call.list(2);
  if (shifts.empty()) return call.refuse(ErrorCode::invalid_argument, "roll needs a shift");
  if (dims.size() != shifts.size() && !(dims.empty() && shifts.size() == 1))
    return call.refuse(ErrorCode::invalid_argument, "roll needs as many dims as shifts");
  for (const std::span<const EValue> list : {shifts, dims})
    for (const EValue& v : list)
      if (!v.is_number()) return call.refuse(ErrorCode::invalid_argument, "shifts and dims must be integers");
  if (const ErrorCode code = call.make_like(0, x); code != ErrorCode::ok) return code;
  if (x.numel() == 0) return ErrorCode::ok;
  if (dims.empty()) return detail::roll_flat(call, x, shifts[0].integer());
  Sizes shift;
  for (std::size_t d = 0; d < x.rank; ++d) (void)shift.push(0);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    std::int64_t dim = dims[i].integer();
    if (x.rank == 0 || !wrap_dim(dim, x.rank)) return detail::bad_dim(call);
    const auto d = static_cast<std::size_t>(dim);
    shift[d] = detail::forward_shift(shift[d] + detail::forward_shift(shifts[i].integer(), x.size(d)), x.size(d));
  }
  return copy_mapped(x, call.output(0), [&](std::size_t d, std::int64_t i) {
    return i < shift[d] ? i - shift[d] + x.size(d) : i - shift[d];
  });
}

inline constexpr auto roll_ops = std::to_array<OpRow>({{"aten.roll.default", roll}});

}  // namespace davit::portable_kernels
