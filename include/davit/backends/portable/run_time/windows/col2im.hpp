// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/products/convolve.hpp"

namespace davit::portable_kernels {

namespace detail {

template <class C>
[[nodiscard]] ErrorCode compute_col2im(KernelCall& call, const ConvolutionMap& m) {
  ComputeBuffers<C> buffers(call);
  const auto in_id = buffers.read(call.tensor(0));
  const auto out_id = buffers.write(0);
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  const std::int64_t pixels = volume(m.image);
  const std::int64_t places = volume(m.places);
  C* out = buffers.out(out_id);
  std::fill_n(out, m.batch * m.channels * pixels, C{});
  const C* columns = buffers.in(in_id);
  for (std::int64_t n = 0; n < m.batch; ++n) {
    Tap tap(m, 0);
    for (std::int64_t t = 0; t < m.taps(); ++t, tap.next(m)) {
      C* channel = out + (n * m.channels + tap.channel) * pixels;
      for (std::int64_t place = 0; place < places;) {
        const PlaceRun run(m, place, places - place);
        place += run.count;
        const std::int64_t row = run.row(m, tap);
        const std::int64_t x = m.offset(2, tap.k[2]);
        const Inside inside(run.count, m.stride[2], x, m.image[2]);
        for (std::int64_t c = inside.begin; row >= 0 && c < inside.end; ++c)
          channel[row + x + c * m.stride[2]] += columns[c];
        columns += run.count;
      }
    }
  }
  return buffers.finish();
}

}  // namespace detail

/// col2im(self (N?, C * kh * kw, L), output_size (H, W), kernel_size, dilation, padding, stride) -> (N?, C, H, W):
/// sums patches back into images. Source: at::col2im.
[[nodiscard]] inline ErrorCode col2im(KernelCall& call) {
  const TensorView& input = call.tensor(0);
  ConvolutionMap m;
  const auto read = [&](operators::Parameter p, std::int64_t least, Spatial& out) {
    return answer(call, operators::read_spatial(KernelArguments(call), p, 2, least, least, out));
  };
  if (const ErrorCode code = read({"output_size", 1}, 1, m.image); code != ErrorCode::ok) return code;
  if (const ErrorCode code = read({"kernel_size", 2}, 1, m.kernel); code != ErrorCode::ok) return code;
  if (const ErrorCode code = read({"dilation", 3}, 1, m.dilation); code != ErrorCode::ok) return code;
  if (const ErrorCode code = read({"padding", 4}, 0, m.padding); code != ErrorCode::ok) return code;
  if (const ErrorCode code = read({"stride", 5}, 1, m.stride); code != ErrorCode::ok) return code;
  const bool batched = input.rank == 3;
  if ((!batched && input.rank != 2) || checked_numel(input) < 0)
    return call.refuse(ErrorCode::invalid_shape, "col2im: the input must have two or three dimensions");
  const std::int64_t rows = input.size(input.rank - 2u);
  if (rows == 0 || rows % volume(m.kernel) != 0)
    return call.refuse(ErrorCode::invalid_shape, "col2im: the input's rows are not a multiple of the kernel's size");
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t room = m.image[d] + 2 * m.padding[d] - m.dilation[d] * (m.kernel[d] - 1) - 1;
    if (room < 0) return call.refuse(ErrorCode::invalid_shape, "col2im: the kernel is larger than the padded output");
    m.places[d] = room / m.stride[d] + 1;
  }
  if (input.size(input.rank - 1u) != volume(m.places))
    return call.refuse(ErrorCode::invalid_shape, "col2im: the input does not have one column per place of the kernel");
  m.batch = batched ? input.size(0) : 1;
  m.channels = rows / volume(m.kernel);
  Sizes sizes;
  if (batched) sizes.push(m.batch);
  for (const std::int64_t size : {m.channels, m.image[1], m.image[2]}) sizes.push(size);
  if (const ErrorCode code = call.make(0, input.dtype, sizes); code != ErrorCode::ok) return code;
  if (input.dtype == ScalarType::bool_) return detail::compute_col2im<std::uint64_t>(call, m);
  return dispatch_floating(call, input.dtype, [&]<class C>() { return detail::compute_col2im<C>(call, m); });
}

inline constexpr auto col2im_ops = std::to_array<OpRow>({
    {"aten.col2im.default", col2im},
});

}  // namespace davit::portable_kernels
