// SPDX-License-Identifier: MIT
#include "davit/formats/chrome_trace.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "davit/formats/json.hpp"

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

/// What a tracer writes, as JSON.
formats::JsonDocument written(const ChromeTracer& tracer) {
  const TemporaryFile file;
  REQUIRE(tracer.write(file.path, DebugMap()));
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
  ChromeTracer tracer;
  tracer.begin_op(7, "aten.add.Tensor");
  tracer.end_op(7, "aten.add.Tensor");
  tracer.memory(7, 48);
  const auto document = written(tracer);
  const auto events = events_of(document);
  REQUIRE(events.size() == 1);
  CHECK(events[0].string("name").value() == "aten.add.Tensor");
  CHECK(events[0].string("ph").value() == "X");
  CHECK(events[0].number("ts").value() >= 0);
  CHECK(events[0].number("dur").value() >= 0);
  const auto args = events[0].at("args");
  REQUIRE(args);
  CHECK(args->integer("debug_handle").value() == 7);
  CHECK(args->integer("bytes").value() == 48);
}

TEST_CASE("operators inside an operator lie within its time") {
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
