// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/col2im.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/convolution_products.hpp"

using namespace davit;
using namespace davit::portable_kernels;

namespace {

/// Spreads a row of responses of two filters, and compares with the defining sums.
template <class C>
void check_row(std::int64_t width, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
               std::int64_t dilation) {
  CAPTURE(width);
  CAPTURE(kernel);
  CAPTURE(stride);
  CAPTURE(padding);
  CAPTURE(dilation);
  const ConvolutionMap m{.batch = 3,
                         .groups = 1,
                         .channels = 2,
                         .filters = 2,
                         .image = {1, 1, (width - 1) * stride - 2 * padding + (kernel - 1) * dilation + 1},
                         .places = {1, 1, width},
                         .kernel = {1, 1, kernel},
                         .stride = {1, 1, stride},
                         .padding = {0, 0, padding},
                         .dilation = {1, 1, dilation}};
  if (m.image[2] <= 0) return;
  std::vector<C> responses(static_cast<std::size_t>(m.batch * m.filters * width)),
      weight(static_cast<std::size_t>(m.filters * m.taps()));
  for (std::size_t i = 0; i < responses.size(); ++i) responses[i] = static_cast<C>(i * 5 % 7);
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<C>(i * 3 % 11);
  std::vector<C> image(static_cast<std::size_t>(m.batch * m.channels * m.image[2]), C{1}), expected = image;
  support::each_product(m, [&](auto x, auto y, auto w) {
    expected[std::size_t(x)] += responses[std::size_t(y)] * weight[std::size_t(w)];
  });
  std::vector<C> work(static_cast<std::size_t>(portable_kernels::detail::col2im_work<C>(m)));
  portable_kernels::detail::col2im<C>(m, 0, responses.data(), weight.data(), work.data(), image.data());
  CHECK(image == expected);
}

template <class C>
void check_rows() {
  for (const std::int64_t width : {1, 2, 3, 7, 16, 17, 35, 66, 600})
    for (std::int64_t kernel = 1; kernel <= 5; ++kernel)
      for (std::int64_t stride = 1; stride <= 3; ++stride)
        for (std::int64_t padding = 0; padding <= 4; ++padding)
          check_row<C>(width, kernel, stride, padding, kernel == 3 ? 2 : 1);
}

}  // namespace

TEST_CASE("responses are added to the pixels that their taps see, of rows of any width") {
  check_rows<float>();
  check_rows<double>();
  check_rows<std::uint64_t>();
}

TEST_CASE("images of few places are spread together") {
  ConvolutionMap m{.batch = 8,
                   .groups = 1,
                   .channels = 64,
                   .filters = 16,
                   .image = {1, 8, 8},
                   .places = {1, 4, 4},
                   .kernel = {1, 4, 4},
                   .stride = {1, 2, 2},
                   .padding = {0, 1, 1},
                   .dilation = {1, 1, 1}};
  CHECK(portable_kernels::detail::images_together<float>(m) > 1);
  m.batch = 1;
  CHECK(portable_kernels::detail::images_together<float>(m) == 1);
  m.batch = 8;
  m.places = {1, 64, 64};
  CHECK(portable_kernels::detail::images_together<float>(m) == 1);
}
