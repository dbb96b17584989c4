// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "davit/backends/onednn/descriptors.hpp"

/// Convolutions on the correct implementations of oneDNN: some, found in version 2.6, write behind their destination,
/// or read uninitialized memory. The faulty sizes were found by comparison with the reference implementation
/// (tests/backends/onednn/sound_convolution.cpp).
namespace davit::onednn_ops {

/// The sizes of a convolution for the library: dimensions of images behind batch, channels and, for weights, groups.
struct ConvolutionSizes {
  Dims source, weight, destination;
  Dims strides, dilates, pad_left;  ///< dilates: skipped elements
  bool source_zero_point = false;   ///< the source's zero is not 0
  bool whole_operand = false;       ///< its epilogue reads a tensor of the destination's sizes

  [[nodiscard]] std::size_t spatial() const noexcept { return strides.size(); }
  /// The elements that a window spans, with dilation.
  [[nodiscard]] std::int64_t extent(std::size_t d) const noexcept {
    return (weight[weight.size() - spatial() + d] - 1) * (dilates[d] + 1) + 1;
  }
  /// True if a window reaches over an edge.
  [[nodiscard]] bool is_padded(std::size_t d) const noexcept {
    return pad_left[d] > 0 || (destination[d + 2] - 1) * strides[d] + extent(d) - pad_left[d] > source[d + 2];
  }
  /// True if `holds(d)` for a dimension before the last.
  template <class Holds>
  [[nodiscard]] bool any_but_last(Holds&& holds) const {
    for (std::size_t d = 0; d + 1 < spatial(); ++d)
      if (holds(d)) return true;
    return false;
  }
};

/// False for an implementation that is wrong for a convolution of these sizes. O(dimensions). `jit_bf16_1x1` misreads
/// odd channels. The other known faults are in implementations with AMX tiles:
/// - for volumes, bytes and `brgconv_1x1` are wrong in many sizes;
/// - `jit_1x1` of bytes, or with a whole operand behind it, writes a fourth tile of pixels where an image is three of
///   them;
/// - `jit` of bytes loses count of its rows where a zero point pads them, and nothing pads their ends;
/// - `brgconv`, `brg_conv_fwd` in version 3, reads too few source rows if rows between windows are skipped.
[[nodiscard]] inline bool is_sound(std::string_view implementation, const ConvolutionSizes& c) {
  if (c.spatial() == 0) return true;
  if (implementation.starts_with("jit_bf16_1x1:")) return c.weight[c.weight.size() - c.spatial() - 1] % 2 == 0;
  if (implementation.find("amx") == implementation.npos) return true;
  const bool bytes = implementation.ends_with("int8");
  if (c.spatial() == 3 && (bytes || implementation.starts_with("brgconv_1x1:"))) return false;
  if ((bytes || c.whole_operand) && implementation.starts_with("jit_1x1:")) {
    constexpr std::int64_t most = 3 * 16;  // a tile has at most 16 rows
    std::int64_t pixels = 1;
    for (std::size_t d = 0; d < c.spatial(); ++d) pixels *= c.destination[d + 2];
    return pixels > most || pixels % 3 != 0;
  }
  if (bytes && implementation.starts_with("jit:"))
    return !c.source_zero_point || c.is_padded(c.spatial() - 1) ||
           !c.any_but_last([&](std::size_t d) { return c.is_padded(d); });
  if (implementation.starts_with("brgconv:") || implementation.starts_with("brg_conv_fwd:"))
    return !c.any_but_last([&](std::size_t d) { return c.strides[d] > c.extent(d); });
  return true;
}

/// True if a post-op reads a tensor of the destination's sizes.
[[nodiscard]] inline bool takes_whole_operand(const primitive_attr& attributes, const MemoryDesc& destination) {
  const dnnl::post_ops ops = attributes.get_post_ops();
  for (int i = 0; i < ops.len(); ++i) {
    if (ops.kind(i) != dnnl::primitive::kind::binary) continue;
    algorithm how{};
    MemoryDesc operand;
    ops.get_params_binary(i, how, operand);
    if (dims_of(operand) == dims_of(destination)) return true;
  }
  return false;
}

/// The library's first correct implementation of a convolution; empty if there is none. `zero_point`: the source's zero
/// point is not 0. O(implementations).
[[nodiscard]] inline dnnl::convolution_forward::primitive_desc sound_convolution_descriptor(
    algorithm how, const primitive_attr& attributes, bool zero_point, const MemoryDesc& source,
    const MemoryDesc& weight, const MemoryDesc& bias, const MemoryDesc& destination, const Dims& strides,
    const Dims& dilates, const Dims& pad_left, const Dims& pad_right) {
  const ConvolutionSizes sizes{
      dims_of(source), dims_of(weight), dims_of(destination), strides,
      dilates,         pad_left,        zero_point,           takes_whole_operand(attributes, destination)};
  return make_descriptor_if<dnnl::convolution_forward>(
      [&](std::string_view implementation) { return is_sound(implementation, sizes); }, attributes,
      dnnl::prop_kind::forward_inference, how, source, weight, bias, destination, strides, dilates, pad_left,
      pad_right);
}

}  // namespace davit::onednn_ops
