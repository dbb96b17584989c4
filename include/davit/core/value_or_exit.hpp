// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>

#include "davit/core/error.hpp"

namespace davit {

namespace detail {
[[noreturn]] inline void exit_with(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::exit(1);
}
}  // namespace detail

/// Returns the value of a Result; prints an Error to stderr and exits with status 1. For first programs and
/// experiments; a library should return the Error. For an lvalue Result it returns a reference to the value.
template <class T>
[[nodiscard]] T value_or_exit(Result<T>&& result) {
  if (!result) detail::exit_with(to_string(result.error()));
  return *std::move(result);
}
template <class T>
[[nodiscard]] T& value_or_exit(Result<T>& result) {
  if (!result) detail::exit_with(to_string(result.error()));
  return *result;
}
template <class T>
[[nodiscard]] const T& value_or_exit(const Result<T>& result) {
  if (!result) detail::exit_with(to_string(result.error()));
  return *result;
}
/// As above for a result without a value: Result<void>, and the Status of a typed or a static call.
inline void value_or_exit(const Result<void>& result) {
  if (!result) detail::exit_with(to_string(result.error()));
}
inline void value_or_exit(const Status& status) {
  if (status) return;
  const Fault fault = status.error();
  detail::exit_with(
      to_string(Error{.code = fault.code(), .stage = Stage::execute, .debug_handle = fault.debug_handle()}));
}

}  // namespace davit
