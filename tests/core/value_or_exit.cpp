// SPDX-License-Identifier: MIT
#include "davit/core/value_or_exit.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>

using namespace davit;

namespace {

/// Text that a process running `run` prints to stderr, and its exit status.
template <class Do>
std::pair<std::string, int> outcome(const Do& run) {
  int pipe[2] = {};
  REQUIRE(::pipe(pipe) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe[1], STDERR_FILENO);
    run();
    ::_exit(42);
  }
  ::close(pipe[1]);
  std::string text;
  for (char c = 0; ::read(pipe[0], &c, 1) == 1;) text += c;
  ::close(pipe[0]);
  int status = -1;
  ::waitpid(child, &status, 0);
  return {text, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}
const Error error{.code = ErrorCode::not_found,
                  .stage = Stage::load,
                  .where = "x",
                  .what = "it is not there",
                  .fix = "look elsewhere"};

}  // namespace

TEST_CASE("a value comes out of a Result, moved, or as a reference to it") {
  CHECK(*value_or_exit(Result<std::unique_ptr<int>>(std::make_unique<int>(3))) == 3);
  Result<int> named = 4;
  value_or_exit(named) = 5;
  CHECK(*named == 5);
  const Result<int> fixed = 6;
  CHECK(&value_or_exit(fixed) == &*fixed);
  value_or_exit(Result<void>());
  value_or_exit(Status());
}
TEST_CASE("an Error is printed, and the process exits with status 1") {
  CHECK(outcome([] { (void)value_or_exit(Result<int>(std::unexpected(error))); }) ==
        std::pair(to_string(error) + "\n", 1));
  CHECK(outcome([] { value_or_exit(Result<void>(std::unexpected(error))); }) == std::pair(to_string(error) + "\n", 1));
  CHECK(outcome([] { value_or_exit(Status(std::unexpected(Fault(ErrorCode::out_of_range, 7)))); }) ==
        std::pair(std::string("execute: out of range (debug handle 7)\n"), 1));
}
