// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backends/portable/dispatch.hpp"

namespace davit::portable_kernels {

/// Collects operands and answers the dtype torch computes them in: tensors with dimensions count first, 0-dimensional
/// tensors next, plain numbers last; a lower one counts only if it is of a higher category.
/// Source: at::native::result_type.
class ResultType {
 public:
  constexpr ResultType& add(const EValue& v) noexcept {
    if (const TensorView* t = v.tensor_if()) {
      ScalarType& of = t->rank == 0 ? zero_ : dimensioned_;
      of = promote(of, t->dtype);
    } else if (v.is_number()) {
      number_ = promote(number_, v.is_float() ? ScalarType::float32 : v.is_int() ? ScalarType::int64 : ScalarType::bool_);
    }
    return *this;
  }
  [[nodiscard]] constexpr ScalarType get() const noexcept { return combine(dimensioned_, combine(zero_, number_)); }

 private:
  [[nodiscard]] static constexpr ScalarType combine(ScalarType higher, ScalarType lower) noexcept {
    if (higher == ScalarType::undefined) return lower;
    if (lower == ScalarType::undefined || is_complex(higher) || is_floating(higher)) return higher;
    if (higher == ScalarType::bool_ || is_floating(lower) || is_complex(lower)) return promote(higher, lower);
    return higher;
  }
  ScalarType dimensioned_ = ScalarType::undefined;
  ScalarType zero_ = ScalarType::undefined;
  ScalarType number_ = ScalarType::undefined;
};

/// The dtype of a floating-point function of a tensor of this dtype: itself, or float32 for integers and bool.
[[nodiscard]] constexpr ScalarType float_type(ScalarType type) noexcept {
  return is_integral(type) ? ScalarType::float32 : type;
}

/// A tensor or a number as a tensor: a number is kept here as a 0-dimensional double, int64 or bool.
class Operand {
 public:
  explicit Operand(const EValue& v) noexcept {
    if (const TensorView* t = v.tensor_if()) {
      view_ = *t;
    } else if (v.is_float()) {
      real_ = v.as_float();
      view_ = {&real_, nullptr, nullptr, 0, ScalarType::float64};
    } else if (v.is_int()) {
      integer_ = v.as_int();
      view_ = {&integer_, nullptr, nullptr, 0, ScalarType::int64};
    } else if (v.is_bool()) {
      truth_ = v.as_bool();
      view_ = {&truth_, nullptr, nullptr, 0, ScalarType::bool_};
    }
  }
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  [[nodiscard]] const TensorView& view() const noexcept { return view_; }
  [[nodiscard]] bool present() const noexcept { return view_.dtype != ScalarType::undefined; }

 private:
  TensorView view_;
  double real_ = 0;
  std::int64_t integer_ = 0;
  bool truth_ = false;
};

namespace detail {
template <class To, class From>
[[nodiscard]] To load_element(const void* data, std::int64_t at) noexcept {
  return convert<To>(static_cast<const From*>(data)[at]);
}
}  // namespace detail

/// A function that reads element `at` of data of a dtype as T.
template <class T>
using Loader = T (*)(const void* data, std::int64_t at) noexcept;
template <class T>
[[nodiscard]] ErrorCode find_loader(ScalarType from, Loader<T>& out) noexcept {
  return dispatch_any(from, [&]<class S>() {
    out = detail::load_element<T, S>;
    return ErrorCode::ok;
  });
}

/// Writes a tensor's elements, converted to T, to `to` in row-major order.
template <class T>
[[nodiscard]] ErrorCode convert_elements(const TensorView& from, T* to) {
  if (from.dtype == scalar_type_of<T>) {
    const T* source = from.as<T>();
    for_each_index<1>(from.sizes(), {strides_of(from)}, [&](std::int64_t i) { *to++ = source[i]; });
    return ErrorCode::ok;
  }
  Loader<T> load = nullptr;
  if (const ErrorCode code = find_loader<T>(from.dtype, load); code != ErrorCode::ok) return code;
  for_each_index<1>(from.sizes(), {strides_of(from)}, [&](std::int64_t i) { *to++ = load(from.data, i); });
  return ErrorCode::ok;
}

}  // namespace davit::portable_kernels
