// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/builder.hpp"

#include <doctest/doctest.h>

#include <optional>

using namespace davit;
using onednn_ops::blocking_of;
using onednn_ops::DataType;
using onednn_ops::Dims;
using onednn_ops::dims_of;
using onednn_ops::MemoryDesc;
using onednn_ops::part_offset;
using onednn_ops::Place;
using onednn_ops::plain;
using onednn_ops::reshaped;
using onednn_ops::strided;
using Tag = dnnl::memory::format_tag;

TEST_CASE("other sizes without moving anything") {
  const Place rows{plain({2, 6}, DataType::f32), 3, 48};
  const std::optional<Place> cube = reshaped(rows, {2, 3, 2});
  REQUIRE(cube);
  CHECK(cube->md == plain({2, 3, 2}, DataType::f32));
  CHECK(cube->storage == 3);
  CHECK(cube->offset == 48);
  const Place columns{strided({6, 2}, {1, 6}, DataType::f32), 3, 48};  // [2, 6], transposed
  CHECK(reshaped(columns, {6, 2})->md == columns.md);
  CHECK_FALSE(reshaped(columns, {12}));
  const std::optional<Place> split = reshaped(columns, {3, 2, 2});
  REQUIRE(split);
  CHECK(blocking_of(split->md).strides == Dims{2, 1, 6});
  CHECK(split->storage == 3);
  CHECK(split->offset == 48);
}

TEST_CASE("a block of which one element is used is no place for other sizes") {
  const Place image{MemoryDesc({2, 1, 10, 5}, dnnl::memory::data_type::f32, Tag::nChw16c), 0};
  CHECK_FALSE(reshaped(image, {20, 5}));
  CHECK(reshaped(image, {2, 1, 10, 5}));
}

TEST_CASE("sizes that contradict the place's throw") {
  CHECK_THROWS_AS((void)reshaped({plain({2, 6}, DataType::f32), 0}, {2, 5}), dnnl::error);
  CHECK_THROWS_AS((void)reshaped({strided({6, 2}, {1, 6}, DataType::f32), 0}, {13}), dnnl::error);
}

TEST_CASE("dimension d of the permuted place is dimension permutation[d] of the place") {
  const Place turned = onednn_ops::permuted({plain({2, 3, 4}, DataType::f32), 5, 8}, {2, 0, 1});
  CHECK(dims_of(turned.md) == Dims{4, 2, 3});
  CHECK(blocking_of(turned.md).strides == Dims{1, 12, 4});
  CHECK(turned.storage == 5);
  CHECK(turned.offset == 8);
}

TEST_CASE("slices begin further on; a selection has a dimension less, at least one") {
  const Place whole{plain({4, 6}, DataType::f32), 1, 16};
  const Place part = onednn_ops::sliced(whole, 1, 3, 2, 2);
  CHECK(dims_of(part.md) == Dims{4, 2});
  CHECK(blocking_of(part.md).strides == Dims{6, 2});
  CHECK(part.offset == 16 + 3 * sizeof(float));
  const Place again = onednn_ops::sliced(part, 0, 2, 1, 1);
  CHECK(again.offset == 16 + (3 + 2 * 6) * sizeof(float));
  const Place row = onednn_ops::without_dimension(again, 0);
  CHECK(dims_of(row.md) == Dims{2});
  CHECK(blocking_of(row.md).strides == Dims{2});
  CHECK(row.offset == again.offset);
  const Place one = onednn_ops::without_dimension({plain({1}, DataType::f32), 1}, 0);
  CHECK(dims_of(one.md) == Dims{1});
}

TEST_CASE("the places of parts in a concatenation, if each is contiguous") {
  const auto image = [](std::int64_t batch, std::int64_t channels, Tag tag) {
    return MemoryDesc({batch, channels, 2, 3}, dnnl::memory::data_type::f32, tag);
  };
  CHECK(part_offset(plain({5, 4}, DataType::f32), plain({2, 4}, DataType::f32), 0, 3) == 3 * 4 * sizeof(float));
  CHECK(part_offset(plain({1, 5, 4}, DataType::f32), plain({1, 2, 4}, DataType::f32), 1, 3) == 3 * 4 * sizeof(float));
  CHECK_FALSE(part_offset(plain({3, 5, 4}, DataType::f32), plain({3, 2, 4}, DataType::f32), 1, 3));
  CHECK_FALSE(part_offset(plain({5, 4}, DataType::f32), strided({2, 4}, {1, 2}, DataType::f32), 0, 3));
  const MemoryDesc blocked = image(1, 48, Tag::nChw16c);
  CHECK(part_offset(blocked, image(1, 16, Tag::nChw16c), 1, 32) == 32 * 6 * sizeof(float));
  CHECK(part_offset(blocked, image(1, 32, Tag::nChw16c), 1, 0) == 0u);
  CHECK_FALSE(part_offset(blocked, image(1, 32, Tag::nChw16c), 1, 8));
  CHECK_FALSE(part_offset(blocked, image(1, 24, Tag::nChw16c), 1, 16));  // half a block is padding
  CHECK_FALSE(part_offset(blocked, image(1, 16, Tag::nhwc), 1, 32));
  CHECK_FALSE(part_offset(image(2, 48, Tag::nChw16c), image(2, 16, Tag::nChw16c), 1, 32));
  CHECK_FALSE(part_offset(image(1, 48, Tag::nhwc), image(1, 16, Tag::nhwc), 1, 32));
  CHECK_FALSE(part_offset(onednn_ops::any({5, 4}, DataType::f32), plain({2, 4}, DataType::f32), 0, 3));
}
