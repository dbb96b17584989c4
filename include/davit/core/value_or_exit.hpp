// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "davit/core/error.hpp"

namespace davit {

namespace detail {
/// Prints the error to stderr, and exits with status 1.
[[noreturn]] void exit_with(const Error& error);
}  // namespace detail

/// Returns the value of a Result; prints an Error to stderr and exits with status 1. For first programs and
/// experiments; a library should return the Error. For an lvalue Result it returns a reference to the value.
template <class T>
[[nodiscard]] T value_or_exit(Result<T>&& result) {
  if (!result) detail::exit_with(result.error());
  return *std::move(result);
}
template <class T>
[[nodiscard]] T& value_or_exit(Result<T>& result) {
  if (!result) detail::exit_with(result.error());
  return *result;
}
template <class T>
[[nodiscard]] const T& value_or_exit(const Result<T>& result) {
  if (!result) detail::exit_with(result.error());
  return *result;
}
/// As above for a result without a value: Result<void>, and the Status of a typed or a static call.
inline void value_or_exit(const Result<void>& result) {
  if (!result) detail::exit_with(result.error());
}
inline void value_or_exit(const Status& status) {
  if (status) return;
  const Fault fault = status.error();
  detail::exit_with({.code = fault.code(), .stage = Stage::execute, .debug_handle = fault.debug_handle()});
}

}  // namespace davit
