// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "davit/core/bytes.hpp"

namespace davit {

void ByteWriter::text(std::string_view s) {
  number(static_cast<std::uint64_t>(s.size()));
  raw(s.data(), s.size());
}

void ByteWriter::bytes(std::span<const std::byte> data) {
  number(static_cast<std::uint64_t>(data.size()));
  align(8);
  raw(data.data(), data.size());
}

void ByteWriter::align(std::size_t to) {
  while (out_.size() % to != 0) out_.push_back(std::byte{0});
}

std::vector<std::byte> ByteWriter::take() && noexcept { return std::move(out_); }

void ByteWriter::raw(const void* data, std::size_t size) {
  const auto* from = static_cast<const std::byte*>(data);
  out_.insert(out_.end(), from, from + size);
}

std::string_view ByteReader::text() noexcept {
  const std::size_t size = length();
  if (!take(size)) return {};
  return {reinterpret_cast<const char*>(bytes_.data() + at_ - size), size};
}

std::span<const std::byte> ByteReader::bytes() noexcept {
  const std::size_t size = length();
  align(8);
  if (!take(size)) return {};
  return bytes_.subspan(at_ - size, size);
}

std::size_t ByteReader::count(std::size_t least) noexcept {
  const std::size_t n = length();
  if (ok_ && n <= (bytes_.size() - at_) / least) return n;
  ok_ = false;
  return 0;
}

void ByteReader::align(std::size_t to) noexcept {
  const std::size_t aligned = (at_ + to - 1) / to * to;
  if (aligned > bytes_.size()) {
    ok_ = false;
  } else {
    at_ = aligned;
  }
}

std::size_t ByteReader::length() noexcept {
  const auto size = number<std::uint64_t>();
  if (size <= bytes_.size()) return static_cast<std::size_t>(size);
  ok_ = false;
  return 0;
}

bool ByteReader::take(std::size_t size) noexcept {
  if (!ok_ || size > bytes_.size() - at_) return ok_ = false;
  at_ += size;
  return true;
}

}  // namespace davit
