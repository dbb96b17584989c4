// SPDX-License-Identifier: MIT
#include "davit/core/segments.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace davit;
using Bytes = std::vector<std::byte>;

namespace {

Tensor ramp(std::vector<std::int64_t> sizes) {
  Tensor t = Tensor::zeros(ScalarType::float32, sizes);
  for (std::int64_t i = 0; i < t.numel(); ++i) t.view().as<float>()[i] = static_cast<float>(i);
  return t;
}
SegmentReader reader_of(const SegmentWriter& writer) {
  std::vector<SharedBytes> segments;
  for (const std::span<const std::byte> segment : writer.segments()) segments.push_back(SharedBytes::copy_of(segment));
  return SegmentReader(std::move(segments));
}

}  // namespace

TEST_CASE("equal bytes get one number, at any address; others a new one") {
  const Bytes a(100, std::byte{1});
  const Bytes b(100, std::byte{1});
  const Bytes c(101, std::byte{1});
  SegmentWriter writer;
  CHECK(writer.add(a) == 0);
  CHECK(writer.add(c) == 1);
  CHECK(writer.add(b) == 0);
  CHECK(writer.add({}) == 2);
  CHECK(writer.add({}) == 2);
  REQUIRE(writer.segments().size() == 3);
  CHECK(writer.segments()[0].data() == a.data());
}

TEST_CASE("owned bytes stay while others are added, and are dropped if they are there already") {
  SegmentWriter writer;
  for (unsigned char i = 0; i < 200; ++i) CHECK(writer.add_owned(Bytes(10, std::byte{i})) == i);
  CHECK(writer.add_owned(Bytes(10, std::byte{7})) == 7);
  CHECK(writer.segments().size() == 200);
  for (unsigned char i = 0; i < 200; ++i) CHECK(std::ranges::equal(writer.segments()[i], Bytes(10, std::byte{i})));
}

TEST_CASE("a reader knows its segments and no others") {
  const SegmentReader none;
  CHECK(none.size() == 0);
  CHECK(none.find(0) == nullptr);
  SegmentWriter writer;
  (void)writer.add_owned(Bytes(3, std::byte{5}));
  const SegmentReader reader = reader_of(writer);
  CHECK(reader.find(0)->size() == 3);
  CHECK(reader.find(1) == nullptr);
  CHECK(reader.find(UINT32_MAX) == nullptr);
}

TEST_CASE("a tensor goes to a segment with the bytes that it views, and comes back as a view of it") {
  const Tensor whole = ramp({3, 4});
  Tensor part = whole;
  part.sizes = {2, 2};
  part.strides = {4, 1};
  part.storage_offset = 5;
  part.requires_grad = true;
  SegmentWriter segments;
  ByteWriter out;
  write_tensor(out, whole, segments);
  write_tensor(out, part, segments);
  write_tensor(out, ramp({3, 4}), segments);
  write_tensor(out, ramp({0, 4}), segments);
  CHECK(segments.segments().size() == 3);
  CHECK(segments.segments()[1].size() == 6 * sizeof(float));
  const SegmentReader reader = reader_of(segments);
  ByteReader in(out.written());
  for (const Tensor& expected : {whole, part, whole}) {
    const auto read = read_tensor(in, reader);
    REQUIRE(read);
    CHECK(read->sizes == expected.sizes);
    CHECK(read->strides == expected.strides);
    CHECK(read->requires_grad == expected.requires_grad);
    CHECK(*read->view().as<float>() == *expected.view().as<float>());
  }
  const auto empty = read_tensor(in, reader);
  REQUIRE(empty);
  CHECK(empty->numel() == 0);
  CHECK(in.at_end());
}

TEST_CASE("a tensor that its segment cannot hold, or whose segment is not there, is an error") {
  const auto refused = [](std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides, std::uint32_t segment,
                          ScalarType dtype) {
    SegmentWriter segments;
    (void)segments.add_owned(Bytes(16, std::byte{0}));
    ByteWriter out;
    out.number(dtype);
    out.array(std::span<const std::int64_t>(sizes));
    out.array(std::span<const std::int64_t>(strides));
    out.number(std::uint8_t{0});
    out.number(segment);
    ByteReader in(out.written());
    const auto read = read_tensor(in, reader_of(segments));
    return !read && read.error().code == ErrorCode::corrupt_data;
  };
  constexpr auto f32 = ScalarType::float32;
  CHECK(!refused({4}, {1}, 0, f32));
  CHECK(!refused({1 << 20}, {0}, 0, f32));
  CHECK(refused({5}, {1}, 0, f32));
  CHECK(refused({2}, {4}, 0, f32));
  CHECK(refused({4}, {1}, 1, f32));
  CHECK(refused({4}, {1, 1}, 0, f32));
  CHECK(refused({-1}, {1}, 0, f32));
  CHECK(refused({2}, {-1}, 0, f32));
  CHECK(refused({INT64_MAX, INT64_MAX}, {0, 0}, 0, f32));
  CHECK(refused({INT64_MAX, INT64_MAX}, {INT64_MAX, 1}, 0, f32));
  CHECK(refused({4}, {1}, 0, ScalarType::undefined));
  CHECK(refused({4}, {1}, 0, static_cast<ScalarType>(200)));
  CHECK(refused(std::vector<std::int64_t>(17, 1), std::vector<std::int64_t>(17, 1), 0, f32));
}

TEST_CASE("bools of a package are 0 or 1, for any bytes") {
  const Bytes odd{std::byte{0}, std::byte{1}, std::byte{2}, std::byte{255}};
  Tensor t = Tensor::zeros(ScalarType::bool_, std::vector<std::int64_t>{4});
  std::memcpy(t.storage.writable(), odd.data(), odd.size());
  SegmentWriter segments;
  ByteWriter out;
  write_tensor(out, t, segments);
  ByteReader in(out.written());
  const auto read = read_tensor(in, reader_of(segments));
  REQUIRE(read.has_value());
  CHECK(std::vector<std::byte>(read->storage.bytes().begin(), read->storage.bytes().end()) ==
        Bytes{std::byte{0}, std::byte{1}, std::byte{1}, std::byte{1}});
}

TEST_CASE("bytes that stay outside are empty segments, known by their address and size") {
  const Bytes all(600, std::byte{7}), equal = all;
  const std::span<const std::byte> bytes(all);
  SegmentWriter segments;
  segments.keep_outside({{.name = "b", .bytes = bytes.subspan(100, 100)},
                         {.name = "a", .bytes = bytes.first(100)},
                         {.name = "tied", .bytes = bytes.first(100)},
                         {.name = "unused", .bytes = bytes.subspan(300, 100)}});
  const std::uint32_t a = segments.add(bytes.first(100)), b = segments.add(bytes.subspan(100, 100));
  CHECK(a != b);
  CHECK(segments.add(bytes.first(100)) == a);
  const std::uint32_t inside = segments.add(bytes.first(50)), none = segments.add({});
  CHECK(segments.add(std::span(equal).first(100)) != a);  // equal bytes that lie elsewhere
  for (std::size_t size = 1; size < 40; ++size) (void)segments.add(bytes.subspan(200, size));  // the table grows
  CHECK(segments.add({}) == none);
  CHECK(segments.add(bytes.subspan(100, 100)) == b);
  CHECK(segments.segments()[a].empty());
  CHECK(segments.segments()[inside].size() == 50);
  for (const SegmentWriter::Outside& each : segments.outside())
    CHECK(each.number == (each.name == "b" ? b : each.name == "unused" ? SegmentWriter::Outside::unused : a));
}

TEST_CASE("many segments outside before one inside") {
  const Bytes all(4000, std::byte{7});
  const std::span<const std::byte> bytes(all);
  std::vector<SegmentWriter::Outside> outside;
  for (std::size_t i = 0; i < 100; ++i) outside.push_back({.name = "w", .bytes = bytes.subspan(20 * i, 20)});
  SegmentWriter segments;
  segments.keep_outside(outside);
  for (std::size_t i = 0; i < 100; ++i) CHECK(segments.add(bytes.subspan(20 * i, 20)) == i);
  const std::uint32_t inside = segments.add(bytes.subspan(2000, 30));
  CHECK(inside == 100);
  CHECK(segments.add(bytes.subspan(2500, 30)) == inside);
}

TEST_CASE("is_stored: sizes and strides fit each other, and the elements lie in the storage") {
  const Tensor good = ramp({2, 3});
  CHECK(is_stored(good));
  CHECK(reachable_bytes(good).size() == 24);
  const auto is_bad = [&](auto&& change) {
    Tensor bad = good;
    change(bad);
    return !is_stored(bad) && reachable_bytes(bad).empty();
  };
  CHECK(is_bad([](Tensor& t) { t.storage = {}; }));
  CHECK(is_bad([](Tensor& t) { t.storage = t.storage.part(0, 20); }));
  CHECK(is_bad([](Tensor& t) { t.storage_offset = 1; }));
  CHECK(is_bad([](Tensor& t) { t.storage_offset = -1; }));
  CHECK(is_bad([](Tensor& t) { t.strides = {3}; }));
  CHECK(is_bad([](Tensor& t) { t.strides = {}; }));
  CHECK(is_bad([](Tensor& t) { t.strides = {-3, 1}; }));
  CHECK(is_bad([](Tensor& t) { t.strides = {INT64_MAX, 1}; }));
  CHECK(is_bad([](Tensor& t) { t.sizes = {-2, 3}; }));
  CHECK(is_bad([](Tensor& t) { t.dtype = ScalarType::undefined; }));
  CHECK(is_bad([](Tensor& t) { t.sizes = t.strides = std::vector<std::int64_t>(max_rank + 1, 1); }));
  Tensor empty = good;
  empty.sizes = {0, 3};
  empty.storage = {};
  CHECK(is_stored(empty));
}
