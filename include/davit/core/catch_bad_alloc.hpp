// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <expected>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "davit/core/error.hpp"

namespace davit::detail {

/// Returns make(), or `answer(code, sentence)` if it throws: code out_of_memory for std::bad_alloc and
/// std::length_error, code failed with the exception's text for others. With -fno-exceptions it only calls `make`, and
/// a failing operator new ends the program.
template <class Make, class Answer>
[[gnu::always_inline]] inline auto catch_exceptions(Make&& make, [[maybe_unused]] Answer&& answer) -> decltype(make()) {
#if defined(__cpp_exceptions)
  try {
    return make();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  } catch (const std::exception& thrown) {
    return answer(ErrorCode::failed, concat("an exception was thrown: ", std::string_view(thrown.what())));
  } catch (...) {
    return answer(ErrorCode::failed, Name("an exception was thrown that is no std::exception"));
  }
  return answer(ErrorCode::out_of_memory, Name("there is no memory left"));
#else
  return make();
#endif
}

/// Returns make(); an exception becomes an Error of this stage: out_of_memory or failed, as in catch_exceptions.
template <class Make>
[[nodiscard, gnu::always_inline]] inline auto catch_bad_alloc(Stage stage, Make&& make) -> decltype(make()) {
  return catch_exceptions(make, [stage](ErrorCode code, Name what) -> decltype(make()) {
    return std::unexpected(Error{.code = code, .stage = stage, .what = std::move(what)});
  });
}

}  // namespace davit::detail
