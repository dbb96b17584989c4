// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "davit/core/content_hash.hpp"
#include "davit/core/segments.hpp"

namespace davit {

namespace {

/// In the place of the hash of a segment that lies outside: it is not in the table.
constexpr std::uint64_t outside_hash = 0xffffffffffffffffu;

}  // namespace

std::uint32_t SegmentWriter::add(std::span<const std::byte> bytes) {
  constexpr std::uint32_t none = 0xffffffffu;
  if (!outside_.empty() && !bytes.empty())
    if (const std::uint32_t known = number_outside(bytes.data(), bytes.size()); known != Outside::unused) return known;
  const auto number = static_cast<std::uint32_t>(segments_.size());
  if (2 * (segments_.size() + 1) > numbers_.size()) grow();
  const std::uint64_t hash = content_hash(bytes);
  std::size_t at = static_cast<std::size_t>(hash) & (numbers_.size() - 1);
  for (; numbers_[at] != none; at = (at + 1) & (numbers_.size() - 1)) {
    const std::span<const std::byte> known = segments_[numbers_[at]];
    if (hashes_[numbers_[at]] != hash || known.size() != bytes.size()) continue;
    if (bytes.empty() || std::memcmp(known.data(), bytes.data(), bytes.size()) == 0) return numbers_[at];
  }
  numbers_[at] = number;
  hashes_.push_back(hash);
  segments_.push_back(bytes);
  return number;
}

void SegmentWriter::grow() {
  constexpr std::uint32_t none = 0xffffffffu;
  std::size_t size = std::max<std::size_t>(16, numbers_.size());
  while (size < 2 * (segments_.size() + 1)) size *= 2;
  numbers_.assign(size, none);
  for (std::uint32_t i = 0; i < hashes_.size(); ++i) {
    if (hashes_[i] == outside_hash) continue;
    std::size_t at = static_cast<std::size_t>(hashes_[i]) & (numbers_.size() - 1);
    while (numbers_[at] != none) at = (at + 1) & (numbers_.size() - 1);
    numbers_[at] = i;
  }
}

std::uint32_t SegmentWriter::add_owned(std::vector<std::byte> bytes) {
  owned_.push_back(std::move(bytes));
  const std::size_t before = segments_.size();
  const std::uint32_t number = add(owned_.back());
  if (segments_.size() == before) owned_.pop_back();
  return number;
}

void SegmentWriter::keep_outside(std::vector<Outside> outside) {
  outside_ = std::move(outside);
  std::ranges::sort(outside_, [](const Outside& a, const Outside& b) {
    return a.bytes.data() != b.bytes.data() ? std::less<>()(a.bytes.data(), b.bytes.data()) : a.name < b.name;
  });
}

std::uint32_t SegmentWriter::number_outside(const std::byte* at, std::size_t size) {
  const auto address = [](const Outside& each) { return each.bytes.data(); };
  std::uint32_t number = Outside::unused;
  for (auto it = std::ranges::lower_bound(outside_, at, std::less<>(), address);
       it != outside_.end() && it->bytes.data() == at; ++it) {  // tied weights have several names
    if (it->bytes.size() != size) continue;
    if (number == Outside::unused) number = it->number;
    if (number == Outside::unused) {
      number = static_cast<std::uint32_t>(segments_.size());
      hashes_.push_back(outside_hash);
      segments_.emplace_back();
    }
    it->number = number;
  }
  return number;
}

std::span<const std::span<const std::byte>> SegmentWriter::segments() const noexcept { return segments_; }

SegmentReader::SegmentReader(std::vector<SharedBytes> segments) noexcept : segments_(std::move(segments)) {}

bool is_stored(const Tensor& t) noexcept {
  if (size_of(t.dtype) == 0 || t.sizes.size() > max_rank || t.sizes.size() != t.strides.size() ||
      checked_numel(t.sizes) < 0)
    return false;
  const std::int64_t extent = storage_extent(t.sizes, t.strides, t.storage_offset, size_of(t.dtype));
  return extent >= 0 && static_cast<std::size_t>(extent) <= t.storage.size();
}

std::span<const std::byte> reachable_bytes(const Tensor& t) noexcept {
  if (!is_stored(t)) return {};
  const std::int64_t extent = storage_extent(t.sizes, t.strides, t.storage_offset, size_of(t.dtype));
  const std::size_t begin = static_cast<std::size_t>(t.storage_offset) * size_of(t.dtype);
  if (extent == 0) return {};
  return t.storage.bytes().subspan(begin, static_cast<std::size_t>(extent) - begin);
}

void write_tensor(ByteWriter& out, const Tensor& t, SegmentWriter& segments) {
  out.number(t.dtype);
  out.array(std::span<const std::int64_t>(t.sizes));
  out.array(std::span<const std::int64_t>(t.strides));
  out.number(static_cast<std::uint8_t>(t.requires_grad));
  out.number(segments.add(reachable_bytes(t)));
}

Result<Tensor> read_tensor(ByteReader& in, const SegmentReader& segments) {
  Tensor t;
  t.dtype = in.number<ScalarType>();
  t.sizes = in.array<std::int64_t>();
  t.strides = in.array<std::int64_t>();
  t.requires_grad = in.number<std::uint8_t>() != 0;
  const SharedBytes* segment = segments.find(in.number<std::uint32_t>());
  const std::int64_t extent =
      t.sizes.size() == t.strides.size() ? storage_extent(t.sizes, t.strides, 0, size_of(t.dtype)) : -1;
  if (!in.ok() || size_of(t.dtype) == 0 || t.sizes.size() > max_rank || extent < 0 || checked_numel(t.sizes) < 0 ||
      segment == nullptr || static_cast<std::size_t>(extent) > segment->size())
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .where = concat("tensor, byte ", in.position()),
                                 .what = "its sizes and strides reach outside its segment, or its dtype is unknown",
                                 .fix = "save the program again"});
  t.storage = t.dtype == ScalarType::bool_ ? SharedBytes::bools(*segment) : *segment;
  if (t.storage.size() != segment->size())
    return std::unexpected(
        Error{.code = ErrorCode::out_of_memory, .where = "tensor", .what = "no memory for its bytes"});
  return t;
}

}  // namespace davit
