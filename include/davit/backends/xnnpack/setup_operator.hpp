// SPDX-License-Identifier: MIT
#pragma once

#include <xnnpack.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/xnnpack/create_operator.hpp"
#include "davit/backends/xnnpack/library.hpp"
#include "davit/backends/xnnpack/workspace.hpp"

namespace davit::xnnpack_parts {

/// Sets the operands of an operator, for the sizes of this run; `resized`: the sizes have changed.
[[nodiscard]] inline xnn_status setup_operator(const Plan& plan, const Workspace& ws, const Step& step,
                                               OperatorPart& part, bool resized, const std::array<std::byte*, 2>& at,
                                               pthreadpool_t pool) {
  const Extent x = extent_of(plan, ws, step.in);
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  // image sizes: [batch, channels, (height,) width], or [batch, channels] as images of one pixel
  const std::size_t batch = size(x.sizes.empty() ? 1 : x.sizes[0]);
  const std::size_t height = x.rank == 4 ? size(x.sizes[2]) : 1;
  const std::size_t width = x.rank >= 3 ? size(x.sizes[x.rank - 1]) : 1;
  const library::Pixels pixels = detail::pixels_of(plan, step);
  const auto set_up = [&]<class Functions, class T>(Functions, const T*, auto... sizes) {
    return library::set_up<Functions>(part.op.get(), resized, pixels, part.work, pool,
                                      reinterpret_cast<const T*>(at[0]), reinterpret_cast<T*>(at[1] + part.offset),
                                      sizes...);
  };
  constexpr const float* floats = nullptr;
  constexpr const std::int8_t* bytes = nullptr;
  switch (step.op) {
    case Op::convolution:
      // elementwise: one long row instead of many images
      if (x.rank > 4) return set_up(library::Convolution{}, floats, std::size_t{1}, std::size_t{1}, size(x.rows()));
      return set_up(library::Convolution{}, floats, batch, height, width);
    case Op::transposed_convolution:
      return set_up(library::TransposedConvolution{}, floats, batch, height, width, step.window.output_padding[0],
                    step.window.output_padding[1]);
    case Op::quantized_convolution: return set_up(library::QuantizedConvolution{}, bytes, batch, height, width);
    case Op::fully_connected: return set_up(library::FullyConnected{}, floats, size(x.rows()));
    case Op::max_pool: return set_up(library::MaxPool{}, floats, batch, height, width);
    case Op::max_pool_s8: return set_up(library::MaxPoolOfBytes{}, bytes, batch, height, width);
    case Op::average_pool: return set_up(library::AveragePool{}, floats, batch, height, width);
    default: return xnn_status_invalid_state;
  }
}

}  // namespace davit::xnnpack_parts
