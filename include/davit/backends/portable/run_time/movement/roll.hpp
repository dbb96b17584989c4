// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "davit/backends/portable/run_time/movement/mapped_copy.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/kernels/blocks.hpp"

namespace davit::portable_kernels {

namespace detail {

/// `shift` as an equivalent forward shift below `size`.
[[nodiscard]] constexpr std::int64_t forward_shift(std::int64_t shift, std::int64_t size) noexcept {
  const std::int64_t rest = shift % size;
  return rest < 0 ? rest + size : rest;
}

/// Rolls the tensor as if it had one dimension.
[[nodiscard]] inline ErrorCode roll_flat(KernelCall& call, const TensorView& x, std::int64_t shift) {
  const std::size_t element = size_of(x.dtype);
  if (element == 0) return ErrorCode::invalid_dtype;
  // the last elements first, then the others: the flat tensor, cut in two
  auto* to = static_cast<std::byte*>(call.output(0).data);
  const std::int64_t count = x.numel();
  const std::int64_t moved = forward_shift(shift, count);
  kernels::Conversion none;
  none.element = element;
  Walk walk(x.sizes());
  walk.add(x.strides(), element).collapse();
  kernels::BlockReader reader;
  kernels::Block own;
  kernels::Block scratch;
  reader.start(walk, 0, x.data, element, none);
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t at = done < count - moved ? done + moved : done - (count - moved);
    const std::int64_t end = done < count - moved ? count - moved : count;
    const std::int64_t n = std::min(end - done, kernels::block_length / 2);
    std::memcpy(to + static_cast<std::size_t>(at) * element, reader.next(n, own, scratch),
                static_cast<std::size_t>(n) * element);
    done += n;
  }
  return ErrorCode::ok;
}

}  // namespace detail

/// roll(self, shifts, dims): elements move forward along each named dimension, and the last ones wrap around to the
/// front; without dims along the flattened tensor. Source: at::roll.
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
  return copy_mapped(call, x, call.output(0), [&](std::size_t d, std::int64_t i) {
    return i < shift[d] ? i - shift[d] + x.size(d) : i - shift[d];
  });
}

inline constexpr auto roll_ops = std::to_array<OpRow>({{"aten.roll.default", roll}});

}  // namespace davit::portable_kernels
