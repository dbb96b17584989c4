// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/library.hpp"

#include <doctest/doctest.h>

using namespace davit;
using onednn_ops::blocking_of;
using onednn_ops::DataType;
using onednn_ops::Dims;
using onednn_ops::is_row_major;
using onednn_ops::MemoryDesc;
using onednn_ops::strided;

TEST_CASE("strides of row-major order") {
  CHECK(onednn_ops::row_major_strides({2, 3, 4}) == Dims{12, 4, 1});
  CHECK(onednn_ops::row_major_strides({2, 0, 4}) == Dims{4, 4, 1});
  CHECK(onednn_ops::row_major_strides({5}) == Dims{1});
  CHECK(onednn_ops::count_of({2, 3, 4}) == 24);
  CHECK(onednn_ops::count_of({}) == 1);
}

TEST_CASE("row-major layouts") {
  CHECK(is_row_major(onednn_ops::plain({2, 3, 4}, DataType::f32)));
  CHECK_FALSE(is_row_major(strided({2, 3}, {1, 2}, DataType::f32)));
  CHECK_FALSE(is_row_major(strided({2, 3}, {4, 1}, DataType::f32)));  // gaps
  CHECK(is_row_major(strided({1, 3}, {100, 1}, DataType::f32)));      // the stride of one element does not matter
  CHECK(is_row_major(strided({3, 1}, {1, 7}, DataType::f32)));
  CHECK_FALSE(is_row_major(onednn_ops::any({2, 3}, DataType::f32)));
  CHECK_FALSE(is_row_major({{1, 16, 2, 2}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::nChw16c}));
}

TEST_CASE("blocks of channels") {
  const MemoryDesc md({1, 32, 2, 3}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::nChw16c);
  const onednn_ops::Blocking blocked = blocking_of(md);
  CHECK(blocked.known);
  CHECK_FALSE(blocked.is_plain());
  CHECK(blocked.strides == Dims{192, 96, 48, 16});
  CHECK(blocked.block_of(1) == 16);
  CHECK(blocked.block_of(2) == 1);
  const MemoryDesc twice({32, 32}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::BA16a16b4a);
  CHECK(blocking_of(twice).block_of(0) == 64);
  CHECK_FALSE(blocking_of(onednn_ops::any({2, 3}, DataType::f32)).known);
  CHECK(blocking_of(strided({2, 3}, {1, 2}, DataType::f32)).is_plain());
}

TEST_CASE("the same layout of another dtype") {
  const auto of = [](const MemoryDesc& md) { return onednn_ops::with_type(md, DataType::s8); };
  CHECK(of(strided({2, 3}, {1, 2}, DataType::f32)) == strided({2, 3}, {1, 2}, DataType::s8));
  const MemoryDesc blocked = of({{1, 32, 2, 3}, DataType::f32, dnnl::memory::format_tag::nChw16c});
  CHECK(onednn_ops::type_of(blocked) == DataType::s8);
  CHECK(onednn_ops::dims_of(blocked) == Dims{1, 32, 2, 3});
  CHECK(blocked.get_size() == 192);
  if (!is_row_major(blocked)) CHECK(blocking_of(blocked).block_of(1) == 16);
}
