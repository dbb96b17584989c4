// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "davit/core/shared_bytes.hpp"
#include "davit/formats/load_error.hpp"

namespace davit::formats::detail {

/// A forward reader of a pickle's bytes. Functions return false if bytes are missing; failure() then holds the reason.
class PickleStream {
 public:
  PickleStream(SharedBytes bytes, std::string_view label) : bytes_(std::move(bytes)), label_(label) {}

  [[nodiscard]] const SharedBytes& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::string_view label() const noexcept { return label_; }
  /// Returns the offset of the next byte.
  [[nodiscard]] std::uint32_t at() const noexcept { return static_cast<std::uint32_t>(at_); }
  /// Returns the offset of the current opcode.
  [[nodiscard]] std::uint32_t op_offset() const noexcept { return op_offset_; }
  [[nodiscard]] std::optional<Error>& failure() noexcept { return failure_; }

  bool opcode(std::uint64_t& code) {
    op_offset_ = at();
    return number(1, code);
  }
  bool skip(std::uint64_t count) {
    if (count > bytes_.size() - at_) return fail("the pickle ends too early");
    at_ += static_cast<std::size_t>(count);
    return true;
  }
  /// Reads a little-endian number of `width` bytes.
  bool number(std::size_t width, std::uint64_t& value) {
    if (!skip(width)) return false;
    value = 0;
    for (std::size_t i = 0; i < width; ++i)
      value |= std::to_integer<std::uint64_t>(bytes_.data()[at_ - width + i]) << (8 * i);
    return true;
  }
  bool characters(std::uint64_t size, std::string_view& text) {
    if (!skip(size)) return false;
    text = {reinterpret_cast<const char*>(bytes_.data()) + (at_ - size), static_cast<std::size_t>(size)};
    return true;
  }
  bool line(std::string_view& text) {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + at_, bytes_.size() - at_);
    const std::size_t end = rest.find('\n');
    if (end == rest.npos) return fail("the pickle ends too early");
    text = rest.substr(0, end);
    at_ += end + 1;
    return true;
  }
  /// Records a failure of the current opcode. Returns false.
  template <class... What>
  bool fail(const What&... what) {
    failure_ = corrupt(concat(label_, ", byte ", op_offset_), concat(what...)).error();
    return false;
  }

 private:
  SharedBytes bytes_;
  std::string_view label_;
  std::size_t at_ = 0;
  std::uint32_t op_offset_ = 0;
  std::optional<Error> failure_;
};

}  // namespace davit::formats::detail
