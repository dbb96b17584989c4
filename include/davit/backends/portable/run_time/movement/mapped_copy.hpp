// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/run_time/dispatch.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/core/next_index.hpp"
#include "davit/kernels/function_ref.hpp"
#include "davit/kernels/move.hpp"
#include "davit/kernels/thread_team.hpp"

namespace davit::portable_kernels {

/// Fills `out`, contiguous and of x's dtype and rank, with elements of `x`: index i of dimension d is index `source(d,
/// i)` of x, which must lie inside it. Takes the call's temporary memory. O(elements of out).
[[nodiscard]] inline ErrorCode copy_mapped(KernelCall& call, const TensorView& x, const TensorView& out,
                                           kernels::FunctionRef<std::int64_t(std::size_t, std::int64_t)> source) {
  const std::size_t element = size_of(x.dtype);
  if (element == 0) return ErrorCode::invalid_dtype;
  if (out.numel() == 0) return ErrorCode::ok;
  // byte offsets in x per index of each dimension; the outermost dimension first
  std::array<const std::int64_t*, max_rank> tables{};
  std::int64_t total = 1;
  for (const std::int64_t size : out.sizes()) total += size;
  auto* offset = call.temporary<std::int64_t>(static_cast<std::size_t>(total));
  if (offset == nullptr) return call.refuse(ErrorCode::out_of_memory, "no temporary memory");
  for (std::size_t d = 0; d < out.rank; ++d) {
    tables[d] = offset;
    for (std::int64_t i = 0; i < out.size(d); ++i)
      *offset++ = source(d, i) * x.stride(d) * static_cast<std::int64_t>(element);
  }
  *offset = 0;
  if (out.rank == 0) tables[0] = offset;
  const std::size_t last = out.rank == 0 ? 0 : out.rank - 1u;
  const std::int64_t inner = out.rank == 0 ? 1 : out.size(last);
  const kernels::IndexedRow row{reinterpret_cast<const std::byte*>(tables[last]), sizeof(std::int64_t), INT64_MAX, 1,
                                0};
  kernels::in_parallel(out.numel() / inner, 1, kernels::operations(out.numel(), 8),
                       [&](std::size_t, std::int64_t first, std::int64_t end) {
                         auto* to = out.as<std::byte>() + static_cast<std::size_t>(first * inner) * element;
                         std::array<std::int64_t, max_rank> index{};
                         for (std::size_t d = last, rest = static_cast<std::size_t>(first); d-- > 0;) {
                           const auto size = static_cast<std::size_t>(out.size(d));
                           index[d] = static_cast<std::int64_t>(rest % size);
                           rest /= size;
                         }
                         for (std::int64_t r = first; r < end; ++r, to += static_cast<std::size_t>(inner) * element) {
                           std::byte* from = x.as<std::byte>();
                           for (std::size_t d = 0; d < last; ++d) from += tables[d][index[d]];
                           (void)kernels::move_indexed(element, true, row, from, to, static_cast<std::int64_t>(element),
                                                       inner);
                           next_index(last, index, out.sizes());
                         }
                       });
  return ErrorCode::ok;
}

}  // namespace davit::portable_kernels
