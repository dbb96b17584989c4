// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "davit/core/tensor_view.hpp"

namespace davit {

/// A value that passes through a delegate call: nothing, a tensor, a number, text, or a list of such values.
///
/// Trivially copyable; tensors, text and lists are views whose owner outlives the call. The name is ExecuTorch's.
class EValue {
 public:
  enum class Tag : std::uint8_t { none, tensor, int_, float_, bool_, string, list };

  constexpr EValue() noexcept : int_(0) {}
  constexpr EValue(TensorView tensor) noexcept : tensor_(tensor), tag_(Tag::tensor) {}
  constexpr EValue(std::int64_t value) noexcept : int_(value), tag_(Tag::int_) {}
  constexpr EValue(int value) noexcept : int_(value), tag_(Tag::int_) {}
  constexpr EValue(double value) noexcept : float_(value), tag_(Tag::float_) {}
  constexpr EValue(bool value) noexcept : bool_(value), tag_(Tag::bool_) {}
  constexpr EValue(std::string_view value) noexcept : string_(value), tag_(Tag::string) {}
  constexpr EValue(const char* value) noexcept : EValue(std::string_view(value)) {}
  constexpr EValue(std::span<const EValue> items) noexcept : list_{items.data(), items.size()}, tag_(Tag::list) {}

  /// Makes this none.
  constexpr void clear() noexcept { tag_ = Tag::none; }

  [[nodiscard]] constexpr Tag tag() const noexcept { return tag_; }
  [[nodiscard]] constexpr bool is_none() const noexcept { return tag_ == Tag::none; }
  [[nodiscard]] constexpr bool is_tensor() const noexcept { return tag_ == Tag::tensor; }
  [[nodiscard]] constexpr bool is_int() const noexcept { return tag_ == Tag::int_; }
  [[nodiscard]] constexpr bool is_float() const noexcept { return tag_ == Tag::float_; }
  [[nodiscard]] constexpr bool is_bool() const noexcept { return tag_ == Tag::bool_; }
  [[nodiscard]] constexpr bool is_string() const noexcept { return tag_ == Tag::string; }
  [[nodiscard]] constexpr bool is_list() const noexcept { return tag_ == Tag::list; }
  /// An int, a float or a bool: what an operator schema calls `Scalar`.
  [[nodiscard]] constexpr bool is_number() const noexcept { return is_int() || is_float() || is_bool(); }

  // Each accessor requires the tag of its name; the pointer forms answer nullptr for another tag.
  [[nodiscard]] constexpr const TensorView& tensor() const noexcept { return tensor_; }
  [[nodiscard]] constexpr TensorView& tensor() noexcept { return tensor_; }
  [[nodiscard]] constexpr std::int64_t as_int() const noexcept { return int_; }
  [[nodiscard]] constexpr double as_float() const noexcept { return float_; }
  [[nodiscard]] constexpr bool as_bool() const noexcept { return bool_; }
  [[nodiscard]] constexpr std::string_view as_string() const noexcept { return string_; }
  [[nodiscard]] constexpr std::span<const EValue> as_list() const noexcept { return {list_.data, list_.size}; }
  [[nodiscard]] constexpr const TensorView* tensor_if() const noexcept { return is_tensor() ? &tensor_ : nullptr; }

  /// Any number as a double; requires is_number().
  [[nodiscard]] constexpr double number() const noexcept {
    return is_float() ? float_ : is_int() ? static_cast<double>(int_) : (bool_ ? 1.0 : 0.0);
  }
  /// Any number as an integer, floats truncated (values outside int64 give the nearest end); requires is_number().
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
