// SPDX-License-Identifier: MIT
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "davit/core/tensor_view.hpp"

namespace davit {

namespace detail {
/// A type with a TensorView: Tensor, StaticTensor.
template <class T>
concept HasTensorView = requires(const T& tensor) {
  { tensor.view() } -> std::same_as<TensorView>;
};
}  // namespace detail

/// A value that passes through a delegate call: none, a tensor, a number, a string, or a list of such values.
///
/// Trivially copyable; tensors, strings and lists are views whose owner must outlive the call. Converts from every
/// integer type whose values fit into int64_t; not from pointers. The name is ExecuTorch's.
class EValue {
 public:
  enum class Tag : std::uint8_t { none, tensor, int_, float_, bool_, string, list };

  constexpr EValue() noexcept : int_(0) {}
  constexpr EValue(TensorView tensor) noexcept : tensor_(tensor), tag_(Tag::tensor) {}
  template <detail::HasTensorView T>
  constexpr EValue(const T& tensor) noexcept : EValue(tensor.view()) {}
  template <detail::HasTensorView T>
  constexpr EValue(const T&& tensor) noexcept : EValue(tensor.view()) {
    static_assert(
        std::is_trivially_destructible_v<T>,
        "davit: an EValue views its tensor, and this one is a temporary that ends before it; give the tensor a name");
  }
  constexpr EValue(std::int64_t value) noexcept : int_(value), tag_(Tag::int_) {}
  template <std::integral T>
  constexpr EValue(T value) noexcept : EValue(static_cast<std::int64_t>(value)) {
    static_assert(std::numeric_limits<T>::digits <= 63,
                  "davit: the int of an EValue is an int64_t, which does not hold all values of this type; cast it to "
                  "std::int64_t "
                  "where you know that it fits");
  }
  constexpr EValue(double value) noexcept : float_(value), tag_(Tag::float_) {}
  constexpr EValue(float value) noexcept : EValue(static_cast<double>(value)) {}
  constexpr EValue(bool value) noexcept : bool_(value), tag_(Tag::bool_) {}
  constexpr EValue(std::string_view value) noexcept : string_(value), tag_(Tag::string) {}
  template <std::size_t N>
  constexpr EValue(const char (&literal)[N]) noexcept
      : EValue(std::string_view(literal, N).substr(0, std::string_view(literal, N).find('\0'))) {}
  constexpr EValue(std::span<const EValue> items) noexcept : list_{items.data(), items.size()}, tag_(Tag::list) {}
  template <class T>
    requires(std::is_pointer_v<T> || std::is_null_pointer_v<T>)
  constexpr EValue(T) noexcept : EValue() {
    static_assert(!std::is_same_v<T, T>,
                  "davit: a pointer is no EValue, for it does not say how much it points at; pass "
                  "davit::tensor(std::span(pointer, count), "
                  "sizes), or std::string_view(pointer) for text");
  }

  /// Sets the value to none.
  constexpr void clear() noexcept { tag_ = Tag::none; }

  [[nodiscard]] constexpr Tag tag() const noexcept { return tag_; }
  [[nodiscard]] constexpr bool is_none() const noexcept { return tag_ == Tag::none; }
  [[nodiscard]] constexpr bool is_tensor() const noexcept { return tag_ == Tag::tensor; }
  [[nodiscard]] constexpr bool is_int() const noexcept { return tag_ == Tag::int_; }
  [[nodiscard]] constexpr bool is_float() const noexcept { return tag_ == Tag::float_; }
  [[nodiscard]] constexpr bool is_bool() const noexcept { return tag_ == Tag::bool_; }
  [[nodiscard]] constexpr bool is_string() const noexcept { return tag_ == Tag::string; }
  [[nodiscard]] constexpr bool is_list() const noexcept { return tag_ == Tag::list; }
  /// True for an int, a float or a bool, the type `Scalar` of operator schemas.
  [[nodiscard]] constexpr bool is_number() const noexcept { return is_int() || is_float() || is_bool(); }

  // Each accessor requires its tag. Accessors of memory assert that, unless NDEBUG is defined (a check would cost time
  // at each call of a backend). The pointer forms return nullptr for another tag.
  [[nodiscard]] constexpr const TensorView& tensor() const noexcept {
    assert(is_tensor());
    return tensor_;
  }
  [[nodiscard]] constexpr TensorView& tensor() noexcept {
    assert(is_tensor());
    return tensor_;
  }
  [[nodiscard]] constexpr std::int64_t as_int() const noexcept { return int_; }
  [[nodiscard]] constexpr double as_float() const noexcept { return float_; }
  [[nodiscard]] constexpr bool as_bool() const noexcept { return bool_; }
  [[nodiscard]] constexpr std::string_view as_string() const noexcept {
    assert(is_string());
    return string_;
  }
  [[nodiscard]] constexpr std::span<const EValue> as_list() const noexcept {
    assert(is_list());
    return {list_.data, list_.size};
  }
  [[nodiscard]] constexpr const TensorView* tensor_if() const noexcept { return is_tensor() ? &tensor_ : nullptr; }

  /// Any number as a double; requires is_number().
  [[nodiscard]] constexpr double number() const noexcept {
    return is_float() ? float_ : is_int() ? static_cast<double>(int_) : (bool_ ? 1.0 : 0.0);
  }
  /// Any number as an integer: floats are truncated, and clamped to int64; requires is_number().
  [[nodiscard]] constexpr std::int64_t integer() const noexcept {
    if (is_int()) return int_;
    if (is_bool()) return bool_ ? 1 : 0;
    if (!(float_ > -0x1p63)) return INT64_MIN;
    return float_ < 0x1p63 ? static_cast<std::int64_t>(float_) : INT64_MAX;
  }

 private:
  struct List {
    const EValue* data;
    std::size_t size;
  };
  union {
    TensorView tensor_;
    std::int64_t int_;
    double float_;
    bool bool_;
    std::string_view string_;
    List list_;
  };
  Tag tag_ = Tag::none;
};

[[nodiscard]] constexpr std::string_view name_of(EValue::Tag tag) noexcept {
  switch (tag) {
    case EValue::Tag::none: return "NoneType";
    case EValue::Tag::tensor: return "Tensor";
    case EValue::Tag::int_: return "int";
    case EValue::Tag::float_: return "float";
    case EValue::Tag::bool_: return "bool";
    case EValue::Tag::string: return "str";
    case EValue::Tag::list: return "List";
  }
  return "?";
}

}  // namespace davit
