// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>
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

  constexpr Name(const Name& other) : data_(other.data_), size_(other.size_), owned_(other.owned_) {
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
  constexpr ~Name() {
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

  /// A copy of `text` that this name owns.
  [[nodiscard]] static constexpr Name own(std::string_view text) {
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

/// The decimal digits of an integer, kept in a small buffer; usable in constant evaluation.
class Digits {
 public:
  constexpr explicit Digits(std::integral auto value) noexcept {
    std::uint64_t rest = static_cast<std::uint64_t>(value);
    bool negative = false;
    if constexpr (std::signed_integral<decltype(value)>) {
      negative = value < 0;
      if (negative) rest = 0 - rest;
    }
    do {
      buffer_[--begin_] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (negative) buffer_[--begin_] = '-';
  }
  [[nodiscard]] constexpr std::string_view view() const noexcept {
    return {buffer_ + begin_, sizeof(buffer_) - begin_};
  }

 private:
  char buffer_[24] = {};
  std::size_t begin_ = sizeof(buffer_);
};

template <class T>
constexpr decltype(auto) piece(const T& part) {
  if constexpr (std::same_as<T, char>) {
    return std::string_view(&part, 1);
  } else if constexpr (std::integral<T>) {
    return Digits(part);
  } else {
    return std::string_view(part);
  }
}

}  // namespace detail

[[nodiscard]] constexpr Name concat() noexcept {
  return {};
}
/// Joins strings, characters and integers into one name; works in constant evaluation. O(total size).
template <class... Parts>
[[nodiscard]] constexpr Name concat(const Parts&... parts) {
  const auto view_of = [](const auto& p) -> std::string_view {
    if constexpr (requires { p.view(); }) {
      return p.view();
    } else {
      return p;
    }
  };
  return [&](const auto&... pieces) {
    std::size_t size = (std::size_t{0} + ... + view_of(pieces).size());
    if (size == 0) return Name();
    char* text = new char[size];
    char* at = text;
    const auto put = [&at](std::string_view s) {
      for (char c : s) *at++ = c;
    };
    (put(view_of(pieces)), ...);
    Name joined = Name::own({text, size});
    delete[] text;
    return joined;
  }(detail::piece(parts)...);
}

}  // namespace davit

#if !defined(DAVIT_COMPILED)
#include "davit/core/impl/name.ipp"
#endif
