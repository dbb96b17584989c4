// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"
#include "davit/runtime/outputs.hpp"

namespace davit {

namespace detail {

/// Checks that an EValue holds a T and converts it.
template <class T>
struct Converter;
template <>
struct Converter<EValue> {
  static bool fits(const EValue&) noexcept { return true; }
  static EValue get(const EValue& v) noexcept { return v; }
};
template <>
struct Converter<TensorView> {
  static bool fits(const EValue& v) noexcept { return v.is_tensor(); }
  static TensorView get(const EValue& v) noexcept { return v.tensor(); }
};
template <>
struct Converter<std::int64_t> {
  static bool fits(const EValue& v) noexcept { return v.is_int(); }
  static std::int64_t get(const EValue& v) noexcept { return v.as_int(); }
};
template <>
struct Converter<double> {
  static bool fits(const EValue& v) noexcept { return v.is_float(); }
  static double get(const EValue& v) noexcept { return v.as_float(); }
};
template <>
struct Converter<bool> {
  static bool fits(const EValue& v) noexcept { return v.is_bool(); }
  static bool get(const EValue& v) noexcept { return v.as_bool(); }
};
template <>
struct Converter<std::string_view> {
  static bool fits(const EValue& v) noexcept { return v.is_string(); }
  static std::string_view get(const EValue& v) noexcept { return v.as_string(); }
};
template <class T>
struct Converter<std::optional<T>> {
  static bool fits(const EValue& v) noexcept { return v.is_none() || Converter<T>::fits(v); }
  static std::optional<T> get(const EValue& v) noexcept {
    return v.is_none() ? std::nullopt : std::optional<T>(Converter<T>::get(v));
  }
};

template <class T>
inline constexpr std::size_t tuple_size = 0;
template <class... T>
inline constexpr std::size_t tuple_size<std::tuple<T...>> = sizeof...(T);
template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

}  // namespace detail

/// Converts the values that forward() returns to R: one value, or a std::tuple of all values in order. A std::tuple of
/// one element is treated like its element. Errors: invalid_argument if number or kinds differ. Source: the isinstance
/// checks that torch's lowered methods make on a backend's results.
template <class R>
[[nodiscard]] Result<R> convert_outputs(const Outputs& outputs) {
  constexpr std::size_t wanted = detail::is_tuple<R> ? detail::tuple_size<R> : 1;
  const auto bad = [](Name what) {
    return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                 .stage = Stage::execute,
                                 .what = std::move(what),
                                 .fix = "ask for the type that the method returns"});
  };
  if (const std::size_t found = outputs.size(); found != wanted)
    return bad(concat("Expected ", wanted, " elements in a list but found ", found));
  if constexpr (detail::is_tuple<R>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> Result<R> {
      std::size_t mismatch = wanted;
      ((mismatch == wanted && !detail::Converter<std::tuple_element_t<I, R>>::fits(outputs[I]) ? void(mismatch = I)
                                                                                               : void()),
       ...);
      if (mismatch != wanted)
        return bad(concat("output ", mismatch, " is of type '", name_of(outputs[mismatch]->tag()), "'"));
      return R(detail::Converter<std::tuple_element_t<I, R>>::get(outputs[I])...);
    }(std::make_index_sequence<wanted>{});
  } else {
    const EValue& value = outputs[0];
    if (!detail::Converter<R>::fits(value)) return bad(concat("the output is of type '", name_of(value.tag()), "'"));
    return detail::Converter<R>::get(value);
  }
}

}  // namespace davit
