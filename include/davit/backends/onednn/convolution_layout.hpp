// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "davit/backends/onednn/code.hpp"
#include "davit/backends/onednn/operation.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/winograd_weights.hpp"

namespace davit::onednn_ops {

/// True for the convolutions that Winograd's algorithm computes with fewer products: 3 x 3 on every pixel, no groups,
/// on images larger than 8 x 8 (below that, the tiles' margins and the larger weights cost more than it saves), with
/// enough channels.
///
/// oneDNN 2.6 has it for 512-bit vectors, on tiles of 2 x 2 and of 4 x 4 outputs; oneDNN 3 has it not. Where the
/// library lacks it, davit's own kernel computes it on 512-bit vectors (see can_convolve_by_tiles); other CPUs use the
/// direct algorithm. Measured on 512-bit vectors: resnet18 1.2 times as fast, squeezenet1_1 1.1 times, the largest
/// difference to torch's outputs the same as that of the direct algorithm (3e-6 of 1.7). On a Xeon of the Sapphire
/// Rapids generation 32 or more channels from 16 or more take 0.45 to 1.0 of the direct algorithm's time (16 to 32 on
/// 56 x 56: 1.14), 16 channels up to 1.8 times of it, and a first layer of 3 channels, computed as 16, 3 to 8 times of
/// it.
[[nodiscard]] inline bool suits_winograd(const Operation& op, const Dims& source, const Dims& destination) {
  return op.groups == 1 && op.kernel == Dims{3, 3} && op.strides == Dims{1, 1} && op.dilates == Dims{0, 0} &&
         destination[2] * destination[3] > 64 && source[1] >= 16 && destination[1] >= 32;
}

/// The layout of an image for davit's own kernel: channels in blocks of 16, or innermost; nothing for other layouts.
[[nodiscard]] inline std::optional<kernels::BlockedImage> blocked_image(const MemoryDesc& md) {
  const Blocking at = blocking_of(md);
  const Dims dims = dims_of(md);
  if (!at.known || dims.size() != 4 || dims[1] % kernels::winograd_block != 0) return {};
  const bool blocked = at.blocks == Dims{kernels::winograd_block} && at.axes == Dims{1};
  if (!blocked && (!at.is_plain() || at.strides[1] != 1)) return {};
  return kernels::BlockedImage{at.strides[0], blocked ? at.strides[1] : kernels::winograd_block, at.strides[2],
                               at.strides[3]};
}
/// The arguments of davit's own Winograd kernel; nothing if it cannot take the convolution, or the CPU has no 512-bit
/// vectors.
[[nodiscard]] inline std::optional<kernels::WinogradConvolution> can_convolve_by_tiles(const Operation& op,
                                                                                       const MemoryDesc& source,
                                                                                       const MemoryDesc& made) {
  const std::optional<kernels::BlockedImage> from = blocked_image(source), to = blocked_image(made);
  if (!from || !to || !has_wide_vectors() || kernels::widest_vectors() < 64) return {};
  const Dims in = dims_of(source), out = dims_of(made);
  const bool fits = in[0] == out[0] && in[2] + op.pad_left[0] + op.pad_right[0] - 2 == out[2] &&
                    in[3] + op.pad_left[1] + op.pad_right[1] - 2 == out[3];
  if (!fits || !suits_winograd(op, in, out)) return {};
  return kernels::WinogradConvolution{.images = in[0],
                                      .channels = in[1],
                                      .height = in[2],
                                      .width = in[3],
                                      .out_channels = out[1],
                                      .out_height = out[2],
                                      .out_width = out[3],
                                      .top = op.pad_left[0],
                                      .left = op.pad_left[1],
                                      .source = *from,
                                      .made = *to};
}

/// True for a convolution in groups whose channels do not fill vectors, or of one channel per group in dimensions that
/// the library's depthwise kernels lack.
[[nodiscard]] inline bool has_small_groups(const Operation& op, std::int64_t channels, std::int64_t filters) {
  if (op.groups == 1) return false;
  if (op.groups == channels && op.groups == filters) return op.kernel.size() != 2;
  return std::min(channels, filters) < op.groups * (has_wide_vectors() ? 16 : 8);
}

/// The layouts to request for a convolution's source and destination.
///
/// With 512-bit vectors oneDNN prefers channels_last for everything. Measured on a Xeon of the Sapphire Rapids
/// generation, blocks of 16 channels are faster for large images (mobilenet_v2 5 %, the 64-channel stage of resnet18 2
/// %), and allow parts of a concatenation to be computed in place; channels_last is faster for products with many
/// channels on small images (the last stage of resnet18 15 %). So a network starts blocked and changes where the gain
/// pays for the reorder.
[[nodiscard]] inline std::pair<MemoryDesc, MemoryDesc> convolution_layouts(const Operation& op, const Place& from,
                                                                           const Dims& source, const Dims& destination,
                                                                           DataType type) {
  using Tag = dnnl::memory::format_tag;
  const bool depthwise = op.groups > 1 && op.groups == source[1] && op.groups == destination[1];
  if (!has_wide_vectors() || source.size() != 4 || (op.groups > 1 && !depthwise) || destination[1] < 16)
    return {any(source, type), any(destination, type)};
  const Blocking own = blocking_of(from.md);
  const bool channels_last = own.is_plain() && source[1] > 1 && own.strides[1] == 1;
  const std::int64_t pixels = destination[2] * destination[3];
  const std::int64_t taps = op.kernel[0] * op.kernel[1];
  const std::int64_t most = op.strides[0] == 1 ? 28 * 28 : 64;
  bool last = channels_last && pixels <= 28 * 28;
  if (!depthwise && taps > 1) last = last || (pixels <= most && source[1] * taps >= 128 * 9);
  if (!depthwise && taps == 1 && op.strides[0] == 1) last = last || (pixels <= 64 && source[1] >= 256);
  const auto as = [type](const Dims& dims, Tag tag) { return MemoryDesc(dims, type, tag); };
  const Tag tag = last ? Tag::acdb : Tag::aBcd16b;
  return {source[1] < 16 ? any(source, type) : as(source, tag), as(destination, tag)};
}

}  // namespace davit::onednn_ops
