// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"

/// Operators of torchvision: boxes, regions and deformed windows.
namespace davit::portable_kernels {

namespace detail {

/// nms(dets (N, 4), scores (N), iou_threshold) -> the boxes, best first, that no better kept box overlaps by more than
/// the threshold. O(N^2). Source: torchvision::nms.
[[nodiscard]] inline ErrorCode nms(KernelCall& call) {
  const TensorView& boxes = call.tensor(0);
  const TensorView& scores = call.tensor(1);
  if (boxes.rank != 2 || boxes.size(1) != 4 || scores.rank != 1 || scores.size(0) != boxes.size(0))
    return call.refuse(ErrorCode::invalid_shape, "nms takes N boxes of four numbers and N scores");
  if (boxes.dtype != scores.dtype)
    return call.refuse(ErrorCode::invalid_dtype, "boxes and scores must have the same dtype");
  const std::int64_t n = boxes.size(0);
  const double threshold = call.number(2);
  return dispatch_floating(call, boxes.dtype, [&]<class C>() -> ErrorCode {
    ComputeBuffers<C> buffers(call);
    const auto boxes_id = buffers.read(boxes);
    const auto scores_id = buffers.read(scores);
    const auto order_id = buffers.template buffer_of<std::int64_t>(n);
    if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
    const C* box = buffers.in(boxes_id);
    const C* score = buffers.in(scores_id);
    auto* const order = buffers.template at<std::int64_t>(order_id);
    std::iota(order, order + n, std::int64_t{0});
    // NaN before all others; equal scores by index, without the memory of stable_sort
    std::sort(order, order + n, [score](std::int64_t a, std::int64_t b) {
      const bool a_nan = std::isnan(score[a]), b_nan = std::isnan(score[b]);
      if (a_nan != b_nan) return a_nan;
      return a_nan || score[a] == score[b] ? a < b : score[a] > score[b];
    });
    const auto area = [box](std::int64_t i) {
      return (box[4 * i + 2] - box[4 * i]) * (box[4 * i + 3] - box[4 * i + 1]);
    };
    std::int64_t kept = 0;  // order[0, kept) are kept
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t i = order[k];
      bool keep = true;
      for (std::int64_t p = 0; p < kept && keep; ++p) {
        const std::int64_t j = order[p];
        const C width = std::min(box[4 * i + 2], box[4 * j + 2]) - std::max(box[4 * i], box[4 * j]);
        const C height = std::min(box[4 * i + 3], box[4 * j + 3]) - std::max(box[4 * i + 1], box[4 * j + 1]);
        const C both = std::max(width, C{}) * std::max(height, C{});
        keep = !(static_cast<double>(both / (area(i) + area(j) - both)) > threshold);
      }
      if (keep) order[kept++] = i;
    }
    if (const ErrorCode code = call.make(0, ScalarType::int64, {&kept, 1}); code != ErrorCode::ok) return code;
    std::copy_n(order, kept, call.output(0).template as<std::int64_t>());
    return ErrorCode::ok;
  });
}

/// Interpolates between four pixels of a plane; `outside` beyond it. Source: bilinear_interpolate of torchvision.
template <class C>
[[nodiscard]] C between_pixels(const C* plane, std::int64_t height, std::int64_t width, C y, C x) noexcept {
  const C top = std::floor(y), left = std::floor(x);
  const C down = y - top, right = x - left;
  const auto pixel = [&](C row, C column) {
    return row >= 0 && column >= 0 && row < static_cast<C>(height) && column < static_cast<C>(width)
               ? plane[static_cast<std::int64_t>(row) * width + static_cast<std::int64_t>(column)]
               : C{};
  };
  return (1 - down) * (1 - right) * pixel(top, left) + (1 - down) * right * pixel(top, left + 1) +
         down * (1 - right) * pixel(top + 1, left) + down * right * pixel(top + 1, left + 1);
}

/// roi_align(input (N, C, H, W), rois (K, 5), spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned) ->
/// (K, C, pooled_height, pooled_width). Source: torchvision::roi_align.
[[nodiscard]] inline ErrorCode roi_align(KernelCall& call) {
  const TensorView& input = call.tensor(0);
  const TensorView& rois = call.tensor(1);
  if (input.rank != 4 || rois.rank != 2 || rois.size(1) != 5)
    return call.refuse(ErrorCode::invalid_shape, "roi_align takes images (N, C, H, W) and regions (K, 5)");
  if (input.dtype != rois.dtype)
    return call.refuse(ErrorCode::invalid_dtype, "images and regions must have the same dtype");
  const std::int64_t rows = call.integer(3), columns = call.integer(4), ratio = call.integer(5);
  const Sizes sizes(std::array{rois.size(0), input.size(1), rows, columns});
  if (rows < 1 || columns < 1)
    return call.refuse(ErrorCode::invalid_argument, "roi_align: an output size is less than one");
  if (const ErrorCode code = call.make(0, input.dtype, sizes); code != ErrorCode::ok) return code;
  return dispatch_floating(call, input.dtype, [&]<class C>() -> ErrorCode {
    ComputeBuffers<C> buffers(call);
    const auto in_id = buffers.read(input);
    const auto rois_id = buffers.read(rois);
    const auto out_id = buffers.write(0);
    if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
    const std::int64_t channels = input.size(1), height = input.size(2), width = input.size(3);
    const auto scale = static_cast<C>(call.number(2));
    const bool aligned = call.boolean(6);
    const C shift = aligned ? C(0.5) : C{};
    C* out = buffers.out(out_id);
    for (std::int64_t k = 0; k < rois.size(0); ++k) {
      const C* roi = buffers.in(rois_id) + 5 * k;
      if (!(roi[0] >= 0 && roi[0] < static_cast<C>(input.size(0))))
        return call.refuse(ErrorCode::out_of_range, "roi_align: a region's image is not in the batch");
      const C left = roi[1] * scale - shift, top = roi[2] * scale - shift;
      C wide = roi[3] * scale - shift - left, high = roi[4] * scale - shift - top;
      if (!aligned) {
        wide = std::max(wide, C{1});
        high = std::max(high, C{1});
      }
      const C bin_high = high / static_cast<C>(rows), bin_wide = wide / static_cast<C>(columns);
      const double wanted_down = ratio > 0 ? static_cast<double>(ratio) : std::ceil(static_cast<double>(bin_high));
      const double wanted_across = ratio > 0 ? static_cast<double>(ratio) : std::ceil(static_cast<double>(bin_wide));
      if (!(wanted_down <= 65536 && wanted_across <= 65536))
        return call.refuse(ErrorCode::out_of_range, "roi_align: a region is too large or NaN");
      const auto down = static_cast<std::int64_t>(std::max(wanted_down, 0.0)),
                 across = static_cast<std::int64_t>(std::max(wanted_across, 0.0));
      const auto count = static_cast<C>(std::max<std::int64_t>(down * across, 1));
      for (std::int64_t c = 0; c < channels; ++c) {
        const C* plane = buffers.in(in_id) + (static_cast<std::int64_t>(roi[0]) * channels + c) * height * width;
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < columns; ++j) {
            C sum{};
            for (std::int64_t sy = 0; sy < down; ++sy) {
              const C y =
                  top + static_cast<C>(i) * bin_high + (static_cast<C>(sy) + C(0.5)) * bin_high / static_cast<C>(down);
              for (std::int64_t sx = 0; sx < across; ++sx) {
                const C x = left + static_cast<C>(j) * bin_wide +
                            (static_cast<C>(sx) + C(0.5)) * bin_wide / static_cast<C>(across);
                if (y < -1 || y > static_cast<C>(height) || x < -1 || x > static_cast<C>(width)) continue;
                const auto inside = [](C at, std::int64_t n) { return std::clamp(at, C{}, static_cast<C>(n - 1)); };
                sum += between_pixels(plane, height, width, inside(y, height), inside(x, width));
              }
            }
            *out++ = sum / count;
          }
      }
    }
    return buffers.finish();
  });
}

/// deform_conv2d(input (N, C, H, W), weight (O, C / groups, kh, kw), offset (N, 2 * G * kh * kw, H', W'), mask (N, G *
/// kh * kw, H', W'), bias (O), strides, paddings, dilations, groups, offset groups G, use_mask): a convolution with an
/// offset per tap. Source: torchvision::deform_conv2d.
[[nodiscard]] inline ErrorCode deform_conv2d(KernelCall& call) {
  const TensorView& input = call.tensor(0);
  const TensorView& weight = call.tensor(1);
  const TensorView& offset = call.tensor(2);
  const TensorView& mask = call.tensor(3);
  const TensorView& bias = call.tensor(4);
  const auto wrong = [&](const char* what) { return call.refuse(ErrorCode::invalid_shape, what); };
  if (input.rank != 4 || weight.rank != 4 || offset.rank != 4 || bias.rank != 1)
    return wrong("deform_conv2d takes images, weights, offsets and a bias");
  for (const TensorView* t : {&weight, &offset, &bias})
    if (t->dtype != input.dtype)
      return call.refuse(ErrorCode::invalid_dtype, "deform_conv2d: the operands must have the same dtype");
  const auto integer = [&](std::size_t i) {
    return std::clamp<std::int64_t>(call.integer(i), -1, std::int64_t{1} << 30);
  };
  const std::array stride{integer(5), integer(6)}, pad{integer(7), integer(8)}, dilation{integer(9), integer(10)};
  const std::int64_t groups = integer(11), offset_groups = integer(12), channels = input.size(1),
                     outputs = weight.size(0);
  const bool masked = call.boolean(13);
  std::array<std::int64_t, 2> out{};
  for (std::size_t d = 0; d < 2; ++d) {
    if (stride[d] < 1 || pad[d] < 0 || dilation[d] < 1 || weight.size(2 + d) > (1 << 20))
      return wrong("deform_conv2d: a stride, padding or dilation is wrong");
    const std::int64_t room = input.size(2 + d) + 2 * pad[d] - dilation[d] * (weight.size(2 + d) - 1) - 1;
    if (room < 0) return wrong("deform_conv2d: the kernel is larger than the image");
    out[d] = room / stride[d] + 1;
  }
  const std::int64_t taps = weight.size(2) * weight.size(3), places = davit::checked_numel(out, max_numel);
  const auto fits = [&](const TensorView& t, std::int64_t n) {
    return std::ranges::equal(t.sizes(), std::array{input.size(0), n * offset_groups * taps, out[0], out[1]});
  };
  if (groups < 1 || offset_groups < 1 || channels % groups != 0 || outputs % groups != 0 ||
      channels % offset_groups != 0 || weight.size(1) != channels / groups || bias.size(0) != outputs || places < 0 ||
      !fits(offset, 2) || (masked && !fits(mask, 1)))
    return wrong("deform_conv2d: the sizes of the operands do not fit");
  if (const ErrorCode code = call.make(0, input.dtype, Sizes(std::array{input.size(0), outputs, out[0], out[1]}));
      code != ErrorCode::ok)
    return code;
  return dispatch_floating(call, input.dtype, [&]<class C>() {
    ComputeBuffers<C> buffers(call);
    const auto in_id = buffers.read(input), weight_id = buffers.read(weight), offset_id = buffers.read(offset),
               bias_id = buffers.read(bias);
    const auto mask_id = masked ? buffers.read(mask) : offset_id;
    const auto out_id = buffers.write(0);
    const auto columns_id = buffers.buffer(channels * taps);
    if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
    const std::int64_t height = input.size(2), width = input.size(3), inner = channels / groups * taps;
    C* const columns = buffers.out(columns_id);
    for (std::int64_t n = 0; n < input.size(0); ++n)
      for (std::int64_t p = 0; p < places; ++p) {
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t t = 0; t < taps; ++t) {
            const std::int64_t g = (n * offset_groups + c / (channels / offset_groups)) * taps + t;
            const C* by = buffers.in(offset_id) + 2 * g * places + p;
            // NOLINTNEXTLINE(bugprone-integer-division): rows and columns
            const C y = static_cast<C>(p / out[1] * stride[0] - pad[0] + t / weight.size(3) * dilation[0]) + by[0];
            const C x = static_cast<C>(p % out[1] * stride[1] - pad[1] + t % weight.size(3) * dilation[1]) + by[places];
            const bool inside = y > -1 && x > -1 && y < static_cast<C>(height) && x < static_cast<C>(width);
            const C value =
                inside ? between_pixels(buffers.in(in_id) + (n * channels + c) * height * width, height, width, y, x)
                       : C{};
            columns[c * taps + t] = masked ? value * buffers.in(mask_id)[g * places + p] : value;
          }
        for (std::int64_t o = 0; o < outputs; ++o) {
          const C* from = columns + o / (outputs / groups) * inner;
          const C* by = buffers.in(weight_id) + o * inner;
          C sum = buffers.in(bias_id)[o];
          for (std::int64_t i = 0; i < inner; ++i) sum += from[i] * by[i];
          buffers.out(out_id)[(n * outputs + o) * places + p] = sum;
        }
      }
    return buffers.finish();
  });
}

}  // namespace detail

inline constexpr auto vision_ops = std::to_array<OpRow>({
    {"torchvision.deform_conv2d.default", detail::deform_conv2d},
    {"torchvision.nms.default", detail::nms},
    {"torchvision.roi_align.default", detail::roi_align},
});

}  // namespace davit::portable_kernels
