// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "davit/backends/portable/static/lowering/windows.hpp"
#include "davit/backends/portable/static/pooling.hpp"
#include "davit/program/operators/pooling.hpp"

/// Static lowering of pooling.
namespace davit::static_lowering {

template <std::size_t Dims>
constexpr void write_pool(const EmbedNode& n, StepWriter& steps, const operators::PoolView& v) {
  sf::Pool<Dims> p{
      .windows = windows_of<Dims>(n, v), .count_include_pad = v.count_include_pad ? 1 : 0, .divisor = int32(v.divisor)};
  p.planes = int32(n.g.numel(v.input) / p.windows.in_plane());
  if (!v.maximum)
    steps.step<sf::avg_pool<Dims>>(p).out(n.output()).in(v.input);
  else if (n.uses_output(1))
    steps.step<sf::max_pool_places<Dims>>(p).out(n.output()).out(n.output(1)).in(v.input);
  else
    steps.step<sf::max_pool<Dims>>(p).out(n.output()).in(v.input);
}
constexpr const char* lower_pool(const EmbedNode& n, StepWriter& steps) {
  operators::PoolView v;
  if (const operators::Refusal wrong = operators::read_pool(n, v)) return wrong.what;
  if (const char* why = not_of_one_type(n, v.input, v.input)) return why;
  v.dims < 3 ? write_pool<2>(n, steps, v) : write_pool<3>(n, steps, v);
  return nullptr;
}
constexpr const char* lower_adaptive_pool(const EmbedNode& n, StepWriter& steps) {
  operators::AdaptivePoolView v;
  if (const operators::Refusal wrong = operators::read_adaptive_pool(n, v)) return wrong.what;
  if (const char* why = not_float(n, v.input)) return why;
  if (v.dims != 2) return "it is over other than two dimensions";
  const int32 h = int32(n.g.size(v.input, -2)), w = int32(n.g.size(v.input, -1));
  steps.step<sf::adaptive_avg_pool2d>({int32(n.g.numel(v.input)) / (h * w), h, w, int32(v.out[1]), int32(v.out[2])})
      .out(n.output())
      .in(v.input);
  return nullptr;
}

using pooling_kernels = kernel_list<sf::max_pool<2>, sf::max_pool<3>, sf::max_pool_places<2>, sf::max_pool_places<3>,
                                    sf::avg_pool<2>, sf::avg_pool<3>, sf::adaptive_avg_pool2d>;

inline constexpr std::array pooling_rows{
    EmbedRow{"aten.max_pool1d.default", lower_pool},
    EmbedRow{"aten.max_pool2d.default", lower_pool},
    EmbedRow{"aten.max_pool3d.default", lower_pool},
    EmbedRow{"aten.max_pool2d_with_indices.default", lower_pool},
    EmbedRow{"aten.max_pool3d_with_indices.default", lower_pool},
    EmbedRow{"aten.avg_pool1d.default", lower_pool},
    EmbedRow{"aten.avg_pool2d.default", lower_pool},
    EmbedRow{"aten.avg_pool3d.default", lower_pool},
    EmbedRow{"aten._adaptive_avg_pool2d.default", lower_adaptive_pool},
    EmbedRow{"aten.adaptive_avg_pool2d.default", lower_adaptive_pool},
};

}  // namespace davit::static_lowering
