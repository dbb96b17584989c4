// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <new>
#include <stdexcept>

#include "davit/core/error.hpp"

namespace davit::detail {

/// What `make` answers; memory that it cannot have is an Error of this stage. Without exceptions operator new ends the program.
template <class Make>
[[nodiscard, gnu::always_inline]] inline auto or_no_memory([[maybe_unused]] Stage stage, Make&& make) -> decltype(make()) {
#if defined(__cpp_exceptions)
  try {
    return make();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return std::unexpected(Error{.code = ErrorCode::out_of_memory, .stage = stage, .what = "there is no memory left"});
#else
  return make();
#endif
}

}  // namespace davit::detail
