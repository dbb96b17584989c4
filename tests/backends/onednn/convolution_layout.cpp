// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/convolution_layout.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace davit;
using onednn_ops::DataType;
using onednn_ops::Dims;
using onednn_ops::MemoryDesc;
using onednn_ops::Operation;
using onednn_ops::OpKind;
using onednn_ops::suits_winograd;
using Tag = dnnl::memory::format_tag;

namespace {

/// A square convolution of images.
[[nodiscard]] Operation square(std::int64_t kernel, std::int64_t stride = 1, std::int64_t groups = 1) {
  Operation op{.kind = OpKind::convolution};
  op.kernel = {kernel, kernel};
  op.strides = {stride, stride};
  op.dilates = {0, 0};
  op.groups = groups;
  return op;
}

/// True if these layouts are requested; always true if the library has no wide vectors.
[[nodiscard]] bool asks_for(const Operation& op, const MemoryDesc& from, const Dims& source, Tag source_tag,
                            const Dims& destination, Tag tag) {
  const auto as = [](const Dims& dims, Tag t) {
    return MemoryDesc(dims, dnnl::memory::data_type::f32, onednn_ops::has_wide_vectors() ? t : Tag::any);
  };
  const auto [s, d] = onednn_ops::convolution_layouts(op, {from, 0}, source, destination, DataType::f32);
  return s == as(source, source_tag) && d == as(destination, tag);
}

}  // namespace

TEST_CASE("convolutions that suit Winograd's algorithm") {
  CHECK(suits_winograd(square(3), {1, 64, 16, 16}, {1, 64, 16, 16}));
  CHECK(suits_winograd(square(3), {1, 64, 5, 13}, {1, 64, 5, 13}));
  CHECK_FALSE(suits_winograd(square(3), {1, 64, 8, 8}, {1, 64, 8, 8}));
  CHECK_FALSE(suits_winograd(square(3, 2), {1, 64, 16, 16}, {1, 64, 16, 16}));
  CHECK_FALSE(suits_winograd(square(5), {1, 64, 16, 16}, {1, 64, 16, 16}));
  CHECK_FALSE(suits_winograd(square(3, 1, 2), {1, 64, 16, 16}, {1, 64, 16, 16}));
  CHECK(suits_winograd(square(3), {1, 16, 16, 16}, {1, 32, 16, 16}));
  CHECK_FALSE(suits_winograd(square(3), {1, 3, 16, 16}, {1, 32, 16, 16}));
  CHECK_FALSE(suits_winograd(square(3), {1, 64, 16, 16}, {1, 16, 16, 16}));
  Operation dilated = square(3);
  dilated.dilates = {1, 1};
  CHECK_FALSE(suits_winograd(dilated, {1, 64, 16, 16}, {1, 64, 16, 16}));
}

TEST_CASE("layouts that convolutions ask for where vectors are wide") {
  const auto image = [](std::int64_t channels, std::int64_t size) { return Dims{1, channels, size, size}; };
  const auto rows = [](const Dims& dims) { return onednn_ops::plain(dims, DataType::f32); };
  const auto last = [](const Dims& dims) { return MemoryDesc(dims, dnnl::memory::data_type::f32, Tag::acdb); };
  // large images are blocked, whatever their layout before
  const Dims large = image(64, 56);
  CHECK(asks_for(square(3), rows(large), large, Tag::aBcd16b, large, Tag::aBcd16b));
  CHECK(asks_for(square(3), last(large), large, Tag::aBcd16b, large, Tag::aBcd16b));
  // many channels on small images are innermost; few keep their layout
  const Dims many = image(256, 7);
  const Dims few = image(64, 7);
  CHECK(asks_for(square(3), rows(many), many, Tag::acdb, many, Tag::acdb));
  CHECK(asks_for(square(1), rows(many), many, Tag::acdb, many, Tag::acdb));
  CHECK(asks_for(square(1), rows(few), few, Tag::aBcd16b, few, Tag::aBcd16b));
  CHECK(asks_for(square(1), last(few), few, Tag::acdb, few, Tag::acdb));
  CHECK(asks_for(square(3, 2), rows(image(256, 14)), image(256, 14), Tag::acdb, many, Tag::acdb));
  CHECK(asks_for(square(3, 2), rows(image(256, 28)), image(256, 28), Tag::aBcd16b, image(256, 14), Tag::aBcd16b));
  // depthwise convolutions keep the layout of their operand
  CHECK(asks_for(square(3, 1, 256), rows(many), many, Tag::aBcd16b, many, Tag::aBcd16b));
  CHECK(asks_for(square(3, 1, 256), last(many), many, Tag::acdb, many, Tag::acdb));
  // the three channels of a picture are not blocked
  CHECK(asks_for(square(3), rows(image(3, 56)), image(3, 56), Tag::any, large, Tag::aBcd16b));
}

TEST_CASE("where the library chooses itself: few channels, groups, other ranks") {
  const auto chooses = [](const Operation& op, const Dims& source, const Dims& destination) {
    const auto [s, d] = onednn_ops::convolution_layouts(op, {onednn_ops::plain(source, DataType::f32), 0}, source,
                                                        destination, DataType::f32);
    return s == onednn_ops::any(source, DataType::f32) && d == onednn_ops::any(destination, DataType::f32);
  };
  CHECK(chooses(square(3), {1, 64, 56, 56}, {1, 8, 56, 56}));
  CHECK(chooses(square(3, 1, 2), {1, 64, 56, 56}, {1, 64, 56, 56}));
  CHECK(chooses(square(3), {1, 64, 56}, {1, 64, 56}));
}

TEST_CASE("images for davit's own 3 x 3 kernel, and the layout of their channels") {
  Operation op = square(3);
  op.pad_left = op.pad_right = {1, 1};
  const auto md = [](const Dims& dims, Tag tag) { return MemoryDesc(dims, DataType::f32, tag); };
  const auto takes = [&](const MemoryDesc& from, const MemoryDesc& to) {
    return onednn_ops::can_convolve_by_tiles(op, from, to).has_value();
  };
  const Dims dims{2, 32, 12, 10};
  const auto blocked = onednn_ops::blocked_image(md(dims, Tag::aBcd16b)),
             last = onednn_ops::blocked_image(md(dims, Tag::acdb));
  REQUIRE(blocked);
  REQUIRE(last);
  CHECK(blocked->image == 3840);
  CHECK(blocked->block == 1920);
  CHECK(blocked->row == 160);
  CHECK(blocked->pixel == 16);
  CHECK(last->block == 16);
  CHECK(last->row == 320);
  CHECK(last->pixel == 32);
  CHECK_FALSE(onednn_ops::blocked_image(md(dims, Tag::abcd)));
  CHECK_FALSE(onednn_ops::blocked_image(md(dims, Tag::aBcd8b)));
  CHECK_FALSE(onednn_ops::blocked_image(md({2, 24, 12, 10}, Tag::acdb)));
  const bool here = onednn_ops::has_wide_vectors() && kernels::widest_vectors() == 64;
  CHECK(takes(md(dims, Tag::aBcd16b), md(dims, Tag::acdb)) == here);
  CHECK_FALSE(takes(md(dims, Tag::aBcd16b), md({2, 32, 11, 10}, Tag::acdb)));  // inconsistent
  op.strides = {2, 2};
  CHECK_FALSE(takes(md(dims, Tag::aBcd16b), md({2, 32, 12, 10}, Tag::acdb)));
}
