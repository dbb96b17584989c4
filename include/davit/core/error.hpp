// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

#include "davit/core/name.hpp"

namespace davit {

/// Stage of the pipeline in which an error occurred.
enum class Stage : std::uint8_t { load, verify, partition, preprocess, compile, execute, save };

enum class ErrorCode : std::uint8_t {
  ok = 0,
  invalid_argument,      ///< the interface does not take the caller's argument
  invalid_program,       ///< the program breaks a rule of torch.export's verifier
  invalid_shape,         ///< sizes, strides or rank do not fit
  invalid_dtype,         ///< the element type does not fit
  out_of_range,          ///< an index or a number is outside its range
  unsupported_operator,  ///< no backend takes the operator
  unsupported_argument,  ///< the operator is known, but not with these arguments
  not_found,             ///< the name does not exist
  not_available,         ///< the backend cannot run on this machine
  corrupt_data,          ///< a file or blob is damaged or hostile
  version_mismatch,      ///< the file or blob has another major version
  out_of_memory,
  io_error,
  assertion_failed,  ///< an assertion in the model failed
  failed,            ///< a backend failed for another reason
  cancelled,         ///< the run's stop condition was met
};

[[nodiscard]] constexpr std::string_view name_of(Stage stage) noexcept {
  switch (stage) {
    case Stage::load: return "load";
    case Stage::verify: return "verify";
    case Stage::partition: return "partition";
    case Stage::preprocess: return "preprocess";
    case Stage::compile: return "compile";
    case Stage::execute: return "execute";
    case Stage::save: return "save";
  }
  return "?";
}

[[nodiscard]] constexpr std::string_view name_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::ok: return "ok";
    case ErrorCode::invalid_argument: return "invalid argument";
    case ErrorCode::invalid_program: return "invalid program";
    case ErrorCode::invalid_shape: return "invalid shape";
    case ErrorCode::invalid_dtype: return "invalid dtype";
    case ErrorCode::out_of_range: return "out of range";
    case ErrorCode::unsupported_operator: return "unsupported operator";
    case ErrorCode::unsupported_argument: return "unsupported argument";
    case ErrorCode::not_found: return "not found";
    case ErrorCode::not_available: return "not available";
    case ErrorCode::corrupt_data: return "corrupt data";
    case ErrorCode::version_mismatch: return "version mismatch";
    case ErrorCode::out_of_memory: return "out of memory";
    case ErrorCode::io_error: return "input/output error";
    case ErrorCode::assertion_failed: return "assertion failed";
    case ErrorCode::failed: return "failed";
    case ErrorCode::cancelled: return "cancelled";
  }
  return "?";
}

/// Identifies a node of the source program in events and errors; -1 is no node.
using DebugHandle = std::int32_t;
inline constexpr DebugHandle no_debug_handle = -1;

/// Error result of a backend's execute: a code and a debug handle in four bytes, trivially copyable. A device has only
/// this; on a host the lowered module turns it into an Error with the model's source line.
class Fault {
 public:
  constexpr Fault() = default;
  constexpr Fault(ErrorCode code, DebugHandle handle = no_debug_handle) noexcept
      : bits_(static_cast<std::uint32_t>(handle) << 8 | static_cast<std::uint32_t>(code)) {}
  [[nodiscard]] constexpr ErrorCode code() const noexcept { return static_cast<ErrorCode>(bits_ & 0xffu); }
  /// Debug handle of the node, in 24 bits; -1 if there is none.
  [[nodiscard]] constexpr DebugHandle debug_handle() const noexcept { return static_cast<std::int32_t>(bits_) >> 8; }
  /// The four bytes as one number, the argument of `davit explain`.
  [[nodiscard]] constexpr std::uint32_t bits() const noexcept { return bits_; }
  [[nodiscard]] static constexpr Fault from_bits(std::uint32_t bits) noexcept {
    Fault fault;
    fault.bits_ = bits;
    return fault;
  }
  friend constexpr bool operator==(Fault, Fault) = default;

 private:
  std::uint32_t bits_ = 0xffffff00u | static_cast<std::uint32_t>(ErrorCode::failed);
};
static_assert(sizeof(Fault) == 4);

/// Result of a backend's execute.
using Status = std::expected<void, Fault>;

/// An error: its cause, its place and its fix. Every function that can fail on the host returns it.
struct Error {
  ErrorCode code = ErrorCode::failed;
  Stage stage = Stage::load;
  DebugHandle debug_handle = no_debug_handle;
  Name backend{};  ///< name of the backend, or empty
  Name where{};    ///< place in the model or file, such as "node add_1 (aten.add.Tensor)"
  Name what{};     ///< cause, as one sentence without a full stop
  Name fix{};      ///< action that mends it, or empty
  Name source{};   ///< the model's source lines with a caret, or empty

  friend constexpr bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = std::expected<T, Error>;

/// Passes the error of a failed result on, as a result of another type: `if (!x) return error_of(std::move(x));`
template <class T, class E>
[[nodiscard]] constexpr std::unexpected<E> error_of(std::expected<T, E>&& failed) {
  return std::unexpected(std::move(failed).error());
}
template <class T, class E>
[[nodiscard]] constexpr std::unexpected<E> error_of(const std::expected<T, E>& failed) {
  return std::unexpected(failed.error());
}

/// Renders an error as a sentence, followed by the model's source lines if known. O(size of the text).
[[nodiscard]] constexpr Name to_name(const Error& error) {
  const auto part = [](std::string_view before, std::string_view text, std::string_view after) {
    if (text.empty()) return Name();
    return concat(before, text, after);
  };
  // named because g++ 12 loses the temporaries of a call in constant evaluation
  const Name backend = part(" [", error.backend, "]");
  const Name where = part("", error.where, ": ");
  const std::string_view what = error.what.empty() ? name_of(error.code) : error.what.view();
  Name handle;
  if (error.debug_handle != no_debug_handle) handle = concat(" (debug handle ", error.debug_handle, ")");
  const Name fix = part("; ", error.fix, "");
  const Name source = part("\n", error.source, "");
  return concat(name_of(error.stage), backend, ": ", where, what, handle, fix, source);
}

/// Makes text of unknown origin (a name in a file, a source line) safe for a terminal: a control character other than
/// newline and tab becomes an escape such as "\x1b". O(size).
[[nodiscard]] std::string printable(std::string_view text);

/// Renders an error as to_name() does, with printable() applied.
[[nodiscard]] std::string to_string(const Error& error);
std::ostream& operator<<(std::ostream& out, const Error& error);

}  // namespace davit
