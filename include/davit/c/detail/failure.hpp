// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

#include "davit/c/davit.h"
#include "davit/core/error.hpp"

namespace davit::c_api {

/// Converts a code to its number in C. A code without a number does not compile (-Wswitch).
[[nodiscard]] constexpr std::int32_t number_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::ok: return DAVIT_OK;
    case ErrorCode::invalid_argument: return DAVIT_INVALID_ARGUMENT;
    case ErrorCode::invalid_program: return DAVIT_INVALID_PROGRAM;
    case ErrorCode::invalid_shape: return DAVIT_INVALID_SHAPE;
    case ErrorCode::invalid_dtype: return DAVIT_INVALID_DTYPE;
    case ErrorCode::out_of_range: return DAVIT_OUT_OF_RANGE;
    case ErrorCode::unsupported_operator: return DAVIT_UNSUPPORTED_OPERATOR;
    case ErrorCode::unsupported_argument: return DAVIT_UNSUPPORTED_ARGUMENT;
    case ErrorCode::not_found: return DAVIT_NOT_FOUND;
    case ErrorCode::not_available: return DAVIT_NOT_AVAILABLE;
    case ErrorCode::corrupt_data: return DAVIT_CORRUPT_DATA;
    case ErrorCode::version_mismatch: return DAVIT_VERSION_MISMATCH;
    case ErrorCode::out_of_memory: return DAVIT_OUT_OF_MEMORY;
    case ErrorCode::io_error: return DAVIT_IO_ERROR;
    case ErrorCode::assertion_failed: return DAVIT_ASSERTION_FAILED;
    case ErrorCode::failed: return DAVIT_FAILED;
    case ErrorCode::cancelled: return DAVIT_CANCELLED;
  }
  return DAVIT_FAILED;
}

/// The object behind a davit_error.
struct Failure {
  Failure(std::int32_t code_, std::string text_) : code(code_), text(std::move(text_)) {}
  Failure(const Error& error) : code(number_of(error.code)), text(to_string(error)) {}
  std::int32_t code;
  std::string text;
};

template <class T>
using Expected = std::expected<T, Failure>;
using Done = Expected<void>;

/// Makes the error of a call with wrong arguments: `where` is the function or the argument.
[[nodiscard]] inline std::unexpected<Error> refuse(ErrorCode code, Name where, Name what, Name fix) {
  return std::unexpected(Error{.code = code,
                               .stage = Stage::execute,
                               .where = std::move(where),
                               .what = std::move(what),
                               .fix = std::move(fix)});
}

}  // namespace davit::c_api
