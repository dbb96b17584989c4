// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/pooling.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "backends/onednn/check.hpp"

using namespace davit;
using onednn_check::drafted;
using onednn_ops::Dims;
using support::Net;

namespace {

/// Parameters of an average over windows of 3 x 3 in an image of 7 x 7.
struct Average {
  std::int64_t size = 7;  ///< of the output image
  std::int64_t stride = 1;
  std::int64_t pad = 1;
  Argument counts_padding = {};
  Argument divisor = {};
};

[[nodiscard]] onednn_check::Described average(const Average& a) {
  return drafted([&](Net& n) {
    return n.op("aten.avg_pool2d.default", "y", {1, 2, a.size, a.size},
                {{"self", n.v(n.input("x", {1, 2, 7, 7}))},
                 {"kernel_size", n.ints({3, 3})},
                 {"stride", n.ints({a.stride})},
                 {"padding", n.ints({a.pad, a.pad})},
                 {"count_include_pad", a.counts_padding},
                 {"divisor_override", a.divisor}});
  });
}

}  // namespace

TEST_CASE("averages count their padding, or do not; they cannot overhang it while it counts") {
  using dnnl::algorithm;
  CHECK(average({}).op.algorithm == algorithm::pooling_avg_include_padding);
  CHECK(average({.counts_padding = GraphBuilder::boolean(false)}).op.algorithm ==
        algorithm::pooling_avg_exclude_padding);
  CHECK(average({.size = 5, .pad = 0}).op.algorithm == algorithm::pooling_avg_exclude_padding);
  CHECK(average({.size = 4, .stride = 2}).op.pad_right == Dims{1, 1});
  CHECK(average({.size = 3, .stride = 3, .pad = 1}).op.pad_right == Dims{1, 1});
  CHECK(average({.size = 3, .stride = 3, .pad = 0}).why == "ceil_mode reaches over the padding, which counts");
  const auto overhanging = average({.size = 3, .stride = 3, .pad = 0, .counts_padding = GraphBuilder::boolean(false)});
  CHECK(overhanging.why == "");
  CHECK(overhanging.op.pad_right == Dims{2, 2});
  CHECK(average({.divisor = GraphBuilder::integer(4)}).why == "the divisor is given");
  CHECK(average({.size = 11, .pad = 3}).why == "pooling: the padding is more than half of the kernel size");
  CHECK(average({.size = 5, .stride = 3, .pad = 0, .counts_padding = GraphBuilder::boolean(false)}).why ==
        "the padding is as wide as the kernel");
}

TEST_CASE("strides that are not given are the windows' sizes; maxima may be dilated") {
  const auto made = drafted([](Net& n) {
    return n.op("aten.max_pool1d.default", "y", {1, 2, 2},
                {{"self", n.v(n.input("x", {1, 2, 8}))}, {"kernel_size", n.ints({3})}, {"dilation", n.ints({2})}});
  });
  CHECK(made.why == "");
  CHECK(made.op.strides == Dims{3});
  CHECK(made.op.dilates == Dims{1});
  CHECK(made.op.pad_right == Dims{0});
  CHECK(made.op.algorithm == dnnl::algorithm::pooling_max);
  CHECK(drafted([](Net& n) {
          return n.op("aten.max_pool2d.default", "y", {2, 4, 4},
                      {{"self", n.v(n.input("x", {2, 8, 8}))}, {"kernel_size", n.ints({2, 2})}});
        }).why == "the input has no batch dimension");
}

TEST_CASE("adaptive averages have windows of one size") {
  const auto adaptive = [](support::Sizes from, support::Sizes to) {
    return drafted([&](Net& n) {
      return n.op("aten.adaptive_avg_pool2d.default", "y", to,
                  {{"self", n.v(n.input("x", from))}, {"output_size", n.ints({to.end()[-2], to.end()[-1]})}});
    });
  };
  CHECK(adaptive({1, 2, 6, 8}, {1, 2, 3, 2}).op.kernel == Dims{2, 4});
  CHECK(adaptive({1, 2, 6, 8}, {1, 2, 3, 2}).op.strides == Dims{2, 4});
  CHECK(adaptive({1, 2, 6, 8}, {1, 2, 4, 2}).why == "its windows differ in size");
  CHECK(adaptive({2, 6, 8}, {2, 3, 2}).why == "the input has no batch dimension");
}
