// SPDX-License-Identifier: MIT
#include "davit/formats/chrome_trace.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "../programs.hpp"
#include "davit/formats/json/json.hpp"

namespace {

using namespace davit;
using formats::ChromeTracer;

struct TemporaryFile {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("davit_trace_" + std::to_string(::getpid()) + ".json");
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

/// The JSON of a tracer.
formats::JsonDocument written(const ChromeTracer& tracer, const DebugMap& map = DebugMap()) {
  const TemporaryFile file;
  REQUIRE(tracer.write(file.path, map));
  std::ifstream in(file.path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  auto document = formats::parse_json(text, "trace");
  REQUIRE(document);
  return *std::move(document);
}
std::vector<formats::Json> events_of(const formats::JsonDocument& document) {
  const auto events = document.root().array("traceEvents");
  REQUIRE(events);
  return {events->begin(), events->end()};
}

}  // namespace

TEST_CASE("each operator is one complete event, with its handle and bytes") {
  using namespace std::chrono;
  const auto start = steady_clock::now();
  ChromeTracer tracer;
  tracer.begin_op(7, "aten.add.Tensor");
  std::this_thread::sleep_for(milliseconds(2));
  tracer.end_op(7, "aten.add.Tensor");
  const double elapsed = duration<double, std::micro>(steady_clock::now() - start).count();
  tracer.memory(7, 48);
  const auto document = written(tracer);
  const auto events = events_of(document);
  REQUIRE(events.size() == 1);
  CHECK(events[0].string("name").value() == "aten.add.Tensor");
  CHECK(events[0].string("ph").value() == "X");
  const double duration_us = events[0].number("dur").value();
  CHECK(duration_us >= 2000);
  CHECK(events[0].number("ts").value() + duration_us <= elapsed);  // since the tracer was made
  const auto args = events[0].at("args");
  REQUIRE(args);
  CHECK(args->integer("debug_handle").value() == 7);
  CHECK(args->integer("bytes").value() == 48);
}

TEST_CASE("operators inside an operator are within its time") {
  ChromeTracer tracer;
  tracer.begin_op(1, "outer");
  tracer.begin_op(2, "inner");
  tracer.end_op(2, "inner");
  tracer.end_op(1, "outer");
  tracer.end_op(3, "never begun");
  const auto document = written(tracer);
  const auto events = events_of(document);
  REQUIRE(events.size() == 2);
  CHECK(events[0].string("name").value() == "inner");
  CHECK(events[1].string("name").value() == "outer");
  CHECK(events[1].number("ts").value() <= events[0].number("ts").value());
  CHECK(events[1].number("dur").value() >= events[0].number("dur").value());
}

TEST_CASE("a delegate call is one event with its backend, and the operators inside it are within its time") {
  ChromeTracer tracer;
  tracer.begin_delegate("p0", "portable");
  tracer.begin_op(1, "aten.add.Tensor");
  tracer.end_op(1, "aten.add.Tensor");
  tracer.end_delegate("p0", "portable");
  const auto document = written(tracer);
  const auto events = events_of(document);
  REQUIRE(events.size() == 2);
  CHECK(events[0].string("cat").value() == "operator");
  CHECK(events[1].string("cat").value() == "delegate");
  CHECK(events[1].string("name").value() == "p0");
  const auto args = events[1].at("args");
  REQUIRE(args);
  CHECK(args->string("backend").value() == "portable");
  CHECK(!args->integer("debug_handle"));
  CHECK(events[1].number("ts").value() <= events[0].number("ts").value());
  CHECK(events[1].number("ts").value() + events[1].number("dur").value() >=
        events[0].number("ts").value() + events[0].number("dur").value());
}

TEST_CASE("an operator that fails in a delegate call leaves no event, and the call's own event is right") {
  ChromeTracer tracer;
  tracer.begin_delegate("p0", "portable");
  tracer.begin_op(1, "fails");
  tracer.end_delegate("p0", "portable");
  tracer.begin_delegate("p1", "portable");
  tracer.end_op(2, "never begun");
  tracer.end_delegate("p1", "portable");
  tracer.end_delegate("p2", "never begun");
  const auto document = written(tracer);
  const auto events = events_of(document);
  REQUIRE(events.size() == 2);
  CHECK(events[0].string("name").value() == "p0");
  CHECK(events[1].string("name").value() == "p1");
}

TEST_CASE(
    "operators carry node, module hierarchy and the innermost line of the model, where the debug map knows them") {
  GraphBuilder b;
  b.begin_graph();
  const auto x = b.input("x", ScalarType::float32, {});
  const auto metadata = b.metadata(programs::trace_of_add, "L__self__,,__main__.M;L__self___lin,lin,torch.nn.Linear");
  const ValueId y = b.call("aten.neg.default", {{"self", b.value(x)}}, "y", ScalarType::float32, {}, metadata);
  b.end_graph({y});
  const ExportedProgram program = programs::user_program(std::move(b).finish());
  DebugMap map;
  DebugHandleRecorder recorder(map);
  recorder.begin_method("forward", program.view());
  const DebugHandle handle = recorder.handle(0);
  ChromeTracer tracer;
  for (const DebugHandle h : {handle, handle + 1}) {
    tracer.begin_op(h, "aten.neg.default");
    tracer.end_op(h, "aten.neg.default");
  }
  const auto document = written(tracer, map);
  const auto events = events_of(document);
  REQUIRE(events.size() == 2);
  const auto known = events[0].at("args");
  REQUIRE(known);
  CHECK(known->string("node").value() == "y");
  CHECK(known->string("source").value() == "/home/user/model.py:5");
  CHECK(known->string("module_hierarchy").value().find("lin") != std::string_view::npos);
  const auto unknown = events[1].at("args");
  REQUIRE(unknown);
  CHECK(!unknown->string("node"));
}

TEST_CASE("a place is the innermost frame's file and line; text that is no traceback has none") {
  CHECK(formats::source_location(programs::trace_of_add) == "/home/user/model.py:5");
  CHECK(formats::source_location("File \"a.py\", line 12") == "a.py:12");
  CHECK(formats::source_location("").empty());
  CHECK(formats::source_location("File \"a.py\"").empty());
  CHECK(formats::source_location("File \"a\nb.py\", line 3, in f").empty());
}

TEST_CASE("clear forgets, and an inactive tracer keeps nothing") {
  ChromeTracer tracer;
  tracer.begin_op(1, "a");
  tracer.end_op(1, "a");
  tracer.clear();
  CHECK(events_of(written(tracer)).empty());
  ChromeTracer inactive(false);
  inactive.begin_op(1, "a");
  inactive.end_op(1, "a");
  inactive.memory(1, 8);
  CHECK(events_of(written(inactive)).empty());
}

TEST_CASE("a file that cannot be written is an error") {
  const auto result = ChromeTracer().write("/no such folder/trace.json", DebugMap());
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::io_error);
}
