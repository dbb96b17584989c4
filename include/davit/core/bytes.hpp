// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "davit/core/target.hpp"

namespace davit {

/// Appends numbers, texts and arrays of plain structs to a vector of bytes (little endian, arrays aligned to 8).
class ByteWriter {
 public:
  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void number(T value) {
    raw(&value, sizeof value);
  }
  void text(std::string_view s);
  void bytes(std::span<const std::byte> data);
  template <class T>
    requires std::has_unique_object_representations_v<T>
  void array(std::span<const T> items) {
    number(static_cast<std::uint64_t>(items.size()));
    align(8);
    raw(items.data(), items.size_bytes());
  }
  void align(std::size_t to);
  [[nodiscard]] const std::vector<std::byte>& written() const noexcept { return out_; }
  [[nodiscard]] std::vector<std::byte> take() && noexcept;

 private:
  void raw(const void* data, std::size_t size);
  std::vector<std::byte> out_;
};

/// Reads the bytes of a ByteWriter. A read past the end or an impossible size sets an error state, in which every read
/// returns zeros and empty arrays: read everything, then check ok(). It touches nothing outside the bytes and allocates
/// nothing larger than them.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  [[nodiscard]] T number() noexcept {
    T value{};
    if (take(sizeof value)) std::memcpy(&value, bytes_.data() + at_ - sizeof value, sizeof value);
    return value;
  }
  [[nodiscard]] std::string_view text() noexcept;
  [[nodiscard]] std::span<const std::byte> bytes() noexcept;
  template <class T>
    requires std::has_unique_object_representations_v<T>
  [[nodiscard]] std::vector<T> array() {
    const std::size_t count = length();
    align(8);
    if (!ok_ || count > (bytes_.size() - at_) / sizeof(T)) {
      ok_ = false;
      return {};
    }
    std::vector<T> items(count);
    if (count != 0) std::memcpy(static_cast<void*>(items.data()), bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
    return items;
  }
  /// Reads a count of items that take at least `least` bytes each; 0, and the error state, if the rest of the bytes
  /// cannot hold them.
  [[nodiscard]] std::size_t count(std::size_t least = 1) noexcept;
  void align(std::size_t to) noexcept;
  void fail() noexcept { ok_ = false; }
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] bool at_end() const noexcept { return at_ == bytes_.size(); }
  [[nodiscard]] std::size_t position() const noexcept { return at_; }

 private:
  /// Reads a 64-bit length; sets the error state if the length exceeds the rest of the bytes.
  [[nodiscard]] std::size_t length() noexcept;
  [[nodiscard]] bool take(std::size_t size) noexcept;
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace davit
