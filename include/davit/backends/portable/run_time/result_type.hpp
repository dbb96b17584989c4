// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/run_time/dispatch.hpp"
#include "davit/kernels/blocks.hpp"

namespace davit::portable_kernels {

/// Collects the operands of a call and finds torch's result dtype.
class ResultType {
 public:
  [[gnu::noinline]] constexpr ResultType& add(const EValue& v) noexcept {
    if (const TensorView* t = v.tensor_if()) {
      ScalarType& of = t->rank == 0 ? type_.zero : type_.dimensioned;
      of = promote(of, t->dtype);
    } else if (v.is_number()) {
      type_.number = promote(type_.number, v.is_float() ? ScalarType::float32
                                           : v.is_int() ? ScalarType::int64
                                                        : ScalarType::bool_);
    }
    return *this;
  }
  [[nodiscard, gnu::noinline]] constexpr ScalarType get() const noexcept { return type_.get(); }

 private:
  PromotedType type_;
};

/// The dtype of a floating-point function of a tensor of this dtype: the same, or float32 for integers and bool.
[[nodiscard]] constexpr ScalarType float_type(ScalarType type) noexcept {
  return is_integral(type) ? ScalarType::float32 : type;
}

/// A tensor, or a number as a tensor: a number is stored here as a 0-dimensional double, int64 or bool.
class Operand {
 public:
  [[gnu::noinline]] explicit Operand(const EValue& v) noexcept {
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

/// Stores a number as an element of a dtype: floats are truncated for integers, and converted to bool by != 0. False if
/// the dtype is complex, or the value no number.
[[nodiscard, gnu::noinline]] inline bool store_scalar(const EValue& number, ScalarType type, void* to) noexcept {
  if (!number.is_number()) return false;
  if (is_floating(type)) return kernels::store_element(number.number(), type, to);
  const std::int64_t integer = type == ScalarType::bool_ ? number.number() != 0 : number.integer();
  return kernels::store_element(integer, type, to);
}
/// Element `at` of a tensor as a float, a double or an int64; its dtype is real.
template <class T>
[[nodiscard]] T element_as(const TensorView& t, std::int64_t at) noexcept {
  T value{};
  (void)kernels::load_element(static_cast<const std::byte*>(t.data) + at * static_cast<std::int64_t>(size_of(t.dtype)),
                              t.dtype, value);
  return value;
}

[[nodiscard]] constexpr bool is_whole_complex(ScalarType type) noexcept {
  return type == ScalarType::complex64 || type == ScalarType::complex128;
}
/// An element of any real or complex dtype; `at` is in elements.
[[nodiscard]] inline std::complex<double> complex_at(const TensorView& t, std::int64_t at) noexcept {
  if (t.dtype == ScalarType::complex64) return t.as<std::complex<float>>()[at];
  if (t.dtype == ScalarType::complex128) return t.as<std::complex<double>>()[at];
  return element_as<double>(t, at);
}
/// Stores an element: the real part for a real dtype, != 0 for bool.
inline void store_complex(const TensorView& t, std::int64_t at, std::complex<double> z) noexcept {
  if (t.dtype == ScalarType::complex64)
    t.as<std::complex<float>>()[at] = std::complex<float>(z);
  else if (t.dtype == ScalarType::complex128)
    t.as<std::complex<double>>()[at] = z;
  else
    (void)kernels::store_element(t.dtype == ScalarType::bool_ ? static_cast<double>(z != 0.0) : z.real(), t.dtype,
                                 t.element_at(at));
}

/// Writes a tensor's elements, converted to a dtype, to `to`, with these strides; complex numbers are converted as in
/// store_complex.
[[nodiscard, gnu::noinline]] inline ErrorCode convert_elements(const TensorView& from, ScalarType type, void* to,
                                                               std::span<const std::int64_t> strides) {
  if (from.dtype != type && (is_whole_complex(from.dtype) || is_whole_complex(type))) {
    for (const ScalarType each : {from.dtype, type})
      if (!is_whole_complex(each) && !kernels::is_real(each)) return ErrorCode::invalid_dtype;
    const TensorView out{to, from.sizes_data, strides.data(), from.rank, type};
    if (from.numel() != 0)
      for_each_index<2>(from.sizes(), {strides_of(from), Sizes(strides)},
                        [&](std::int64_t at, std::int64_t i) { store_complex(out, i, complex_at(from, at)); });
    return ErrorCode::ok;
  }
  const bool real = kernels::convert_elements(from.sizes(), from.data, from.dtype, from.strides(), to, type, strides);
  return real ? ErrorCode::ok : ErrorCode::invalid_dtype;
}
/// convert_elements into row-major order.
[[nodiscard]] inline ErrorCode convert_elements(const TensorView& from, ScalarType type, void* to) {
  Sizes strides(from.sizes());
  contiguous_strides(from.sizes(), {strides.values.data(), strides.rank});
  return convert_elements(from, type, to, strides);
}
}  // namespace davit::portable_kernels
