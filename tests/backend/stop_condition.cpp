// SPDX-License-Identifier: MIT
#include "davit/backend/stop_condition.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <stop_token>
#include <string_view>

using namespace davit;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

static_assert(!StopCondition().is_set());
static_assert(std::is_constructible_v<StopCondition, std::stop_source&>);
static_assert(!std::is_constructible_v<StopCondition, std::stop_token>);
static_assert(!std::is_constructible_v<StopCondition, std::stop_token, Clock::time_point>);
static_assert(!std::is_constructible_v<StopCondition, std::chrono::system_clock::time_point>);

TEST_CASE("a condition without token and deadline is never met") { CHECK(StopCondition().reason() == nullptr); }

TEST_CASE("a token and its source are asked each time") {
  std::stop_source source;
  const std::stop_token token = source.get_token();
  const StopCondition of_source(source), of_token(token);
  CHECK(of_source.is_set());
  CHECK(of_source.reason() == nullptr);
  CHECK(of_token.reason() == nullptr);
  source.request_stop();
  CHECK(std::string_view(of_source.reason()) == "the run was cancelled: a stop was requested");
  CHECK(of_token.reason() != nullptr);
}

TEST_CASE("a deadline is met when it has passed") {
  CHECK(StopCondition(Clock::now() + 1h).is_set());
  CHECK(StopCondition(Clock::now() + 1h).reason() == nullptr);
  CHECK(std::string_view(StopCondition(Clock::now() - 1ns).reason()) ==
        "the run was cancelled: its deadline has passed");
  CHECK(StopCondition(std::chrono::time_point<Clock, std::chrono::seconds>(1s)).reason() != nullptr);
  CHECK(StopCondition(Clock::time_point::max()).reason() == nullptr);
  std::stop_source source;
  const StopCondition both(source, Clock::now() + 1h);
  CHECK(both.reason() == nullptr);
  source.request_stop();
  CHECK(both.reason() != nullptr);
}
