// SPDX-License-Identifier: MIT
#include "davit/core/error.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <utility>

using namespace davit;

namespace {

constexpr bool check_sentence() {
  const Error full{.code = ErrorCode::invalid_shape,
                   .stage = Stage::execute,
                   .debug_handle = 7,
                   .backend = "npu",
                   .where = "node 'add'",
                   .what = "sizes differ",
                   .fix = "reshape",
                   .source = "  File \"m.py\", line 1"};
  return to_name(full) ==
             "execute [npu]: node 'add': sizes differ (debug handle 7); reshape\n  File \"m.py\", line 1" &&
         to_name(Error{}) == "load: failed" &&
         to_name(Error{.code = ErrorCode::io_error, .stage = Stage::save}) == "save: input/output error";
}
static_assert(check_sentence());

constexpr bool check_fault() {
  for (const DebugHandle handle : {-1, 0, 1, 9999, (1 << 23) - 1}) {
    const Fault fault(ErrorCode::out_of_range, handle);
    if (fault.code() != ErrorCode::out_of_range || fault.debug_handle() != handle) return false;
  }
  return Fault().code() == ErrorCode::failed && Fault().debug_handle() == no_debug_handle &&
         Fault(ErrorCode::failed) == Fault() && Fault(ErrorCode::failed, 1) != Fault();
}
static_assert(check_fault());

constexpr bool check_names() {
  for (int stage = 0; stage <= static_cast<int>(Stage::save); ++stage)
    if (name_of(static_cast<Stage>(stage)) == "?") return false;
  for (int code = 0; code <= static_cast<int>(ErrorCode::failed); ++code)
    if (name_of(static_cast<ErrorCode>(code)) == "?") return false;
  return name_of(static_cast<Stage>(99)) == "?" && name_of(static_cast<ErrorCode>(99)) == "?";
}
static_assert(check_names());

/// The error of a failed result, in a result of another type.
constexpr bool check_error_of() {
  const Result<int> failed = std::unexpected(Error{.code = ErrorCode::io_error, .what = "it broke"});
  const Result<bool> copy = error_of(failed);
  Result<int> own = failed;
  const Result<void> moved = error_of(std::move(own));
  const Status status = error_of(Status(std::unexpected(Fault(ErrorCode::out_of_range, 7))));
  return copy.error() == failed.error() && moved.error() == failed.error() &&
         status.error() == Fault(ErrorCode::out_of_range, 7);
}
static_assert(check_error_of());

}  // namespace

TEST_CASE("an error reads as a sentence, with its known parts") { CHECK(check_sentence()); }
TEST_CASE("a fault packs code and handle in four bytes") { CHECK(check_fault()); }
TEST_CASE("every stage and code has a name") { CHECK(check_names()); }
TEST_CASE("the error of a result passes on to one of another type") { CHECK(check_error_of()); }
TEST_CASE("errors print") {
  std::ostringstream out;
  out << Error{.what = "it broke"};
  CHECK(out.str() == "load: it broke");
  CHECK(to_string(Error{.what = "it broke"}) == "load: it broke");
}

TEST_CASE("output for a terminal cannot command it") {
  CHECK(printable("a\x1b[2J\r\b\x7f") == "a\\x1b[2J\\x0d\\x08\\x7f");
  CHECK(printable("\xc2\x9b"
                  "31m") ==
        "\\x9b"
        "31m");
  CHECK(printable("gr\xc3\xb6\xc3\x9f"
                  "e\n\tx") ==
        "gr\xc3\xb6\xc3\x9f"
        "e\n\tx");
  CHECK(to_string(Error{.where = "\x1b]0;x\x07", .what = "bad"}).find('\x1b') == std::string::npos);
}
