// SPDX-License-Identifier: MIT
// Runs that are cancelled at each of their nodes leave the state as it was.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "../../tools/davit/recorded_case.hpp"
#include "../support/data.hpp"
#include "../support/error_in.hpp"
#include "davit/backends/portable.hpp"
#include "davit/core/value_or_exit.hpp"
#include "davit/formats/checkpoint.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"

using namespace davit;
using support::error_in;

namespace {

/// Requests a stop when the node of number `at` begins.
struct StopAt {
  static constexpr bool enabled = true;
  std::stop_source source{};
  int at = -1;
  int seen = 0;
  void begin_op(DebugHandle, std::string_view) {
    if (seen++ == at) source.request_stop();
  }
  void end_op(DebugHandle, std::string_view) {}
  void memory(DebugHandle, std::size_t) {}
};

struct Model {
  std::string name;
  LoweredProgram lowered;
  std::vector<formats::RecordedRun> runs;
};
Model read(std::string_view name) {
  const formats::CaseFiles files = formats::CaseFiles::folder(test_data("models/" + std::string(name)));
  auto recorded = formats::read_case(files);
  REQUIRE(recorded);
  const auto program = formats::read_pt2(test_data("models/" + std::string(name) + "/" + recorded->program).string());
  REQUIRE(program);
  const auto lowered = to_backend<portable>(*program);
  REQUIRE(lowered);
  return {std::string(name), *lowered, std::move(recorded->runs)};
}
std::vector<EValue> inputs_of(const formats::RecordedRun& run) {
  std::vector<EValue> inputs;
  for (const formats::RecordedValue& value : run.inputs) inputs.push_back(value.value());
  return inputs;
}

}  // namespace

TEST_CASE("a run cancelled at any node of five models leaves state as it was, and runs afterwards") {
  for (const std::string_view name : {"cache", "regions", "seed", "loop", "branches"}) {
    CAPTURE(name);
    const Model model = read(name);
    StopAt stop;
    Session session = *Session::make(model.lowered, {.limits = {}, .tracer = TracerRef(stop)});
    Session undisturbed = *Session::make(model.lowered);
    int cancelled = 0;
    for (const formats::RecordedRun& run : model.runs) {
      const std::vector<EValue> inputs = inputs_of(run);
      const auto before = formats::save_state(session);
      for (int at = 0;; ++at) {
        stop = StopAt{.source = {}, .at = at, .seen = 0};
        session.stop_when(stop.source);
        const auto outputs = session.run(0, inputs);
        session.stop_when({});
        if (outputs) break;  // stopped in its last node, or not at all
        ++cancelled;
        CHECK(outputs.error().code == ErrorCode::cancelled);
        CHECK(outputs.error().what == "the run was cancelled: a stop was requested");
        CHECK_FALSE(outputs.error().where.empty());
        CHECK(formats::save_state(session) == before);
      }
      REQUIRE(undisturbed.run(0, inputs));
      CHECK(formats::save_state(session) == formats::save_state(undisturbed));
    }
    CHECK(cancelled > 1);
  }
}

TEST_CASE("a deadline that has passed cancels before the first node, and none cancels nothing") {
  const Model model = read("cache");
  Session session = *Session::make(model.lowered);
  const std::vector<EValue> inputs = inputs_of(model.runs[0]);
  const auto before = formats::save_state(session);
  session.stop_when(std::chrono::steady_clock::now());
  const Error error = error_in(session.run(0, inputs));
  CHECK(error.code == ErrorCode::cancelled);
  CHECK(error.stage == Stage::execute);
  CHECK(error.what == "the run was cancelled: its deadline has passed");
  CHECK(formats::save_state(session) == before);
  session.stop_when(std::chrono::steady_clock::now() + std::chrono::hours(1));
  CHECK(session.run(0, inputs));
  session.stop_when({});
  CHECK(session.run(0, inputs));
}

TEST_CASE("a session without state asks its condition too, and is as fast as before when it has none") {
  const Model model = read("digits_mlp_b1");
  Session session = *Session::make(model.lowered);
  const std::vector<EValue> inputs = inputs_of(model.runs[0]);
  for (int i = 0; i < 3; ++i) REQUIRE(session.run(0, inputs));
  std::stop_source source;
  session.stop_when(source);
  REQUIRE(session.run(0, inputs));
  source.request_stop();
  CHECK(error_in(session.run(0, inputs)).code == ErrorCode::cancelled);
  session.stop_when({});
  CHECK(session.run(0, inputs));
}

TEST_CASE("a deadline in the future lets a loop run to its end") {
  const Model model = read("loop");
  Session session = *Session::make(model.lowered);
  const std::vector<EValue> inputs = inputs_of(model.runs[0]);
  session.stop_when(std::chrono::steady_clock::now() + std::chrono::hours(1));
  CHECK(session.run(0, inputs));
}
