// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/static/convolution.hpp"
#include "davit/backends/portable/static/lowering/windows.hpp"
#include "davit/program/operators/convolution.hpp"

/// Static lowering of convolutions.
namespace davit::static_lowering {

constexpr const char* lower_convolution(const EmbedNode& n, StepWriter& steps) {
  operators::ConvolutionView v;
  if (const operators::Refusal wrong = operators::read_convolution(n, v)) return wrong.what;
  if (const char* why = not_of_one_type(n, v.input, v.weight)) return why;
  const ScalarType type = n.g.dtype(v.input);
  if (!is_floating(type)) return "it is of integers";
  const bool inner = is_output_inner(n, v.weight);
  sf::Convolution c{.batch = v.batched ? int32(n.g.size(v.input, 0)) : 1,
                    .channels = int32(n.g.size(v.input, v.batched ? 1 : 0)),
                    .filters = int32(n.g.size(n.output(), v.batched ? 1 : 0)),
                    .groups = int32(v.groups)};
  c.windows = windows_of<3>(n, v);
  c.bias = v.bias != no_id ? 1 : 0;
  const sf::Windows<3>& w = c.windows;
  const bool same_padding = v.padding[1] == v.padding_end[1] && v.padding[2] == v.padding_end[2];
  if (type == ScalarType::float32 && !v.transposed && v.dims < 3 && same_padding &&
      (v.bias == no_id || n.g.dtype(v.bias) == ScalarType::float32)) {
    const sf::Conv2d p{.batch = c.batch,
                       .channels = c.channels,
                       .filters = c.filters,
                       .groups = c.groups,
                       .in_h = w.in[1],
                       .in_w = w.in[2],
                       .out_h = w.out[1],
                       .out_w = w.out[2],
                       .kernel_h = w.kernel[1],
                       .kernel_w = w.kernel[2],
                       .stride_h = w.stride[1],
                       .stride_w = w.stride[2],
                       .pad_h = w.padding[1],
                       .pad_w = w.padding[2],
                       .dilation_h = w.dilation[1],
                       .dilation_w = w.dilation[2],
                       .layout = inner ? sf::Layout::output_inner : sf::Layout::contiguous,
                       .bias = c.bias};
    StepOperands step = p.has_tiles() ? steps.step<sf::conv2d_tiles>(p) : steps.step<sf::conv2d_filters>(p);
    step.out(n.output()).in(v.input).in(v.weight).in(v.bias);
    return nullptr;
  }
  const std::int64_t first = n.g.size(v.weight, 0);
  c.first_step = inner ? 1 : int32(n.g.numel(v.weight) / first);
  c.rest_step = inner ? sf::padded_to_8(int32(first)) : 1;
  StepOperands step = v.transposed ? steps.step<sf::convolve<true>>(c) : steps.step<sf::convolve<false>>(c);
  step.out(n.output()).in(v.input).in(v.weight).in(v.bias);
  return nullptr;
}

using convolution_kernels = kernel_list<sf::conv2d_tiles, sf::conv2d_filters, sf::convolve<true>, sf::convolve<false>>;

inline constexpr std::array convolution_rows{
    EmbedRow{"aten.convolution.default", lower_convolution},
    EmbedRow{"aten.conv1d.default", lower_convolution},
    EmbedRow{"aten.conv2d.default", lower_convolution},
    EmbedRow{"aten.conv3d.default", lower_convolution},
};

}  // namespace davit::static_lowering
