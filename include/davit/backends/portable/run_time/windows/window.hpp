// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/dispatch.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/program/operators/spatial.hpp"

namespace davit::portable_kernels {

using operators::Spatial;
using operators::volume;

/// The indices i in [begin, end) of `count` outputs for which i * stride + offset is in [0, size).
struct Inside {
  std::int64_t begin, end;

  constexpr Inside(std::int64_t count, std::int64_t stride, std::int64_t offset, std::int64_t size) noexcept
      : begin(std::clamp<std::int64_t>(offset < 0 ? (-offset + stride - 1) / stride : 0, 0, count)),
        end(std::clamp<std::int64_t>(size > offset ? (size - offset - 1) / stride + 1 : 0, begin, count)) {}
};

}  // namespace davit::portable_kernels
