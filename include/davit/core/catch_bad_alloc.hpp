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

/// What `make` answers, or `answer(code, sentence)` if it throws: memory that it cannot have is out_of_memory, other
/// exceptions are failed, with what they say. Without exceptions it is a call of `make`, and operator new ends the
/// program.
template <class Make, class Answer>
[[gnu::always_inline]] inline auto or_caught(Make&& make, [[maybe_unused]] Answer&& answer) -> decltype(make()) {
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

/// What `make` answers; memory that it cannot have, or another exception of what it calls, is an Error of this stage.
template <class Make>
[[nodiscard, gnu::always_inline]] inline auto catch_bad_alloc(Stage stage, Make&& make) -> decltype(make()) {
  return or_caught(make, [stage](ErrorCode code, Name what) -> decltype(make()) {
    return std::unexpected(Error{.code = code, .stage = stage, .what = std::move(what)});
  });
}

}  // namespace davit::detail
