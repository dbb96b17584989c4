// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/windows/vision.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::vision_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

}  // namespace

TEST_CASE("portable: of boxes that overlap the best stays") {
  KernelTest test;
  const EValue boxes = test.tensor(ScalarType::float32, {4, 4}, {0, 0, 2, 2, 0, 0, 2, 2.1, 5, 5, 6, 6, 0, 0, 2, 0.9});
  const EValue scores = test.tensor(ScalarType::float32, {4}, {0.5, 0.9, 0.1, 0.7});
  CHECK(test.run(vision_ops, "torchvision.nms.default", {boxes, scores, EValue(0.5)}) == ErrorCode::ok);
  CHECK(test.dtype() == ScalarType::int64);
  CHECK(test.values() == Numbers{1, 3, 2});
  CHECK(test.run(vision_ops, "torchvision.nms.default",
                 {test.view(boxes, {0, 4}, {4, 1}), test.view(scores, {0}, {1}), EValue(0.5)}) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{0});
  CHECK(test.run(vision_ops, "torchvision.nms.default", {boxes, test.view(scores, {3}, {1}), EValue(0.5)}) ==
        ErrorCode::invalid_shape);
}

TEST_CASE("portable: regions are averaged between pixels; regions without an image are refused") {
  KernelTest test;
  const EValue image = test.tensor(ScalarType::float32, {1, 1, 2, 2}, {0, 1, 2, 3});
  const EValue whole = test.tensor(ScalarType::float32, {1, 5}, {0, 0, 0, 2, 2});
  const auto align = [&](EValue rois) {
    return test.run(vision_ops, "torchvision.roi_align.default",
                    {image, rois, EValue(1.0), EValue(1), EValue(1), EValue(2), EValue(true)});
  };
  CHECK(align(whole) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1.5});
  CHECK(align(test.tensor(ScalarType::float32, {1, 5}, {1, 0, 0, 2, 2})) == ErrorCode::out_of_range);
  CHECK(align(test.tensor(ScalarType::float32, {1, 5}, {std::numeric_limits<double>::quiet_NaN(), 0, 0, 2, 2})) ==
        ErrorCode::out_of_range);
}

TEST_CASE("portable: a deformed convolution without offsets is a convolution") {
  KernelTest test;
  const EValue image = test.tensor(ScalarType::float32, {1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const EValue weight = test.tensor(ScalarType::float32, {1, 1, 2, 2}, {1, 0, 0, 1});
  const auto run = [&](EValue offset, EValue mask, bool masked) {
    return test.run(vision_ops, "torchvision.deform_conv2d.default",
                    {image, weight, offset, mask, test.tensor(ScalarType::float32, {1}, {10}), EValue(1), EValue(1),
                     EValue(0), EValue(0), EValue(1), EValue(1), EValue(1), EValue(1), EValue(masked)});
  };
  Numbers moved(32, 0.0);
  const EValue none = test.tensor(ScalarType::float32, {1, 8, 2, 2}, moved);
  CHECK(run(none, none, false) == ErrorCode::ok);
  CHECK(test.values() == Numbers{16, 18, 22, 24});
  for (std::size_t i = 0; i < 4; ++i) moved[4 + i] = 0.5;  // the first tap, half a pixel to the right
  CHECK(run(test.tensor(ScalarType::float32, {1, 8, 2, 2}, moved), none, false) == ErrorCode::ok);
  CHECK(test.values() == Numbers{16.5, 18.5, 22.5, 24.5});
  CHECK(run(none, none, true) == ErrorCode::invalid_shape);
}
