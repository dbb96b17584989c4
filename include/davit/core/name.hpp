// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>
#include <utility>

#include "davit/core/config.hpp"

namespace davit {

/// An immutable string that either points at a literal or owns a copy.
///
/// A literal is bound at compile time and costs nothing; run-time text is copied. Both forms work in constant
/// evaluation. Size: 16 bytes. Copies of owned text are O(size).
class Name {
 public:
  constexpr Name() noexcept = default;

  template <std::size_t N>
  consteval Name(const char (&literal)[N]) noexcept : data_(literal), size_(N - 1) {}

  template <class S>
    requires(std::convertible_to<const S&, std::string_view> && !std::is_array_v<S>)
  constexpr Name(const S& text) : Name(own(std::string_view(text))) {}

  [[gnu::noinline]] constexpr Name(const Name& other) : data_(other.data_), size_(other.size_), owned_(other.owned_) {
    if (owned_) data_ = copy_of(other.view());
  }
  constexpr Name(Name&& other) noexcept { swap(other); }
  constexpr Name& operator=(Name other) noexcept {
    swap(other);
    return *this;
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfree-nonheap-object"  // g++ 12 does not see that a literal is never owned
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // nor which alternative of a variant it destroys
  [[gnu::noinline]] constexpr ~Name() {
    if (owned_) delete[] data_;
  }
#pragma GCC diagnostic pop

  constexpr void swap(Name& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(owned_, other.owned_);
  }

  [[nodiscard]] constexpr std::string_view view() const noexcept { return {data_, size_}; }
  constexpr operator std::string_view() const noexcept { return view(); }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }

  friend constexpr bool operator==(const Name& a, const Name& b) noexcept { return a.view() == b.view(); }
  friend constexpr auto operator<=>(const Name& a, const Name& b) noexcept { return a.view() <=> b.view(); }
  template <class S>
    requires(std::convertible_to<const S&, std::string_view> && !std::same_as<S, Name>)
  friend constexpr bool operator==(const Name& a, const S& b) noexcept {
    return a.view() == std::string_view(b);
  }
  friend std::ostream& operator<<(std::ostream& out, const Name& name);

  /// Takes ownership of `text`, which is from new char[size].
  [[nodiscard]] static constexpr Name adopt(const char* text, std::size_t size) noexcept {
    return {text, static_cast<std::uint32_t>(size), true};
  }
  /// Returns a name that owns a copy of `text`.
  [[nodiscard, gnu::noinline]] static constexpr Name own(std::string_view text) {
    if (text.empty()) return {};
    return {copy_of(text), static_cast<std::uint32_t>(text.size()), true};
  }

 private:
  [[nodiscard]] static constexpr const char* copy_of(std::string_view text) {
    char* const copy = new char[text.size()];
    for (std::size_t i = 0; i < text.size(); ++i) copy[i] = text[i];
    return copy;
  }

  constexpr Name(const char* data, std::uint32_t size, bool owned) noexcept : data_(data), size_(size), owned_(owned) {}

  const char* data_ = "";
  std::uint32_t size_ = 0;
  bool owned_ = false;
};

namespace detail {

/// One argument of concat: text, or the decimal digits of an integer; usable in constant evaluation.
class NamePart {
 public:
  constexpr NamePart(std::string_view text) noexcept : text_(text) {}
  constexpr NamePart(char character) noexcept : size_(1) { digits_[sizeof(digits_) - 1] = character; }
  template <std::integral T>
  constexpr NamePart(T value) noexcept {
    if constexpr (std::signed_integral<T>) {
      write(value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value), value < 0);
    } else {
      write(value, false);
    }
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept {
    return size_ == 0 ? text_ : std::string_view(digits_ + sizeof(digits_) - size_, size_);
  }

 private:
  template <class = void>
  [[gnu::noinline]] constexpr void write(std::uint64_t rest, bool negative) noexcept {
    do {
      digits_[sizeof(digits_) - ++size_] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (negative) digits_[sizeof(digits_) - ++size_] = '-';
  }

  std::string_view text_{};
  char digits_[23] = {};
  std::uint8_t size_ = 0;
};

template <class = void>
[[nodiscard, gnu::noinline]] constexpr Name join(const NamePart* parts, std::size_t count) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < count; ++i) size += parts[i].view().size();
  if (size == 0) return {};
  char* const text = new char[size];
  char* at = text;
  for (std::size_t i = 0; i < count; ++i)
    for (const char c : parts[i].view()) *at++ = c;
  return Name::adopt(text, size);
}

}  // namespace detail

/// Joins strings, characters and integers into one name; works in constant evaluation. O(total size).
template <class... Parts>
[[nodiscard]] constexpr Name concat(const Parts&... parts) {
  if constexpr (sizeof...(Parts) == 0) {
    return {};
  } else {
    const detail::NamePart list[] = {detail::NamePart(parts)...};
    return detail::join(list, sizeof...(Parts));
  }
}

}  // namespace davit
