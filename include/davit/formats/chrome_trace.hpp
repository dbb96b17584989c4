// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "davit/backend/debug_handles.hpp"
#include "davit/backend/execute_context.hpp"

namespace davit::formats {

/// A tracer that keeps the events of a session and writes them in Chrome's trace format.
class ChromeTracer {
 public:
  static constexpr bool enabled = true;

  explicit ChromeTracer(bool active = true) : active_(active) {}

  void begin_op(DebugHandle, std::string_view) {
    if (active_) open_.push_back(Clock::now());
  }
  void end_op(DebugHandle handle, std::string_view name) {
    if (!active_ || open_.empty()) return;
    const auto now = Clock::now();
    const auto begin = open_.back();
    open_.pop_back();
    events_.push_back({handle, std::string(name), microseconds(begin - start_), microseconds(now - begin), 0});
  }
  /// Bytes of an output of the operator that ended last.
  void memory(DebugHandle, std::size_t bytes) {
    if (active_ && !events_.empty()) events_.back().bytes += bytes;
  }
  /// Forgets the events so far.
  void clear() {
    events_.clear();
    open_.clear();
    start_ = Clock::now();
  }

  /// Writes the events, each with its debug handle, output bytes, node and module hierarchy. Errors: io_error.
  [[nodiscard]] Result<void> write(const std::filesystem::path& path, const DebugMap& map) const {
    rapidjson::StringBuffer buffer;
    rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
    const auto text = [&](const char* key, std::string_view value) {
      json.Key(key);
      json.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
    };
    json.StartObject();
    json.Key("traceEvents");
    json.StartArray();
    for (const Event& event : events_) {
      json.StartObject();
      text("name", event.name);
      text("ph", "X");
      json.Key("ts");
      json.Double(event.begin);
      json.Key("dur");
      json.Double(event.duration);
      json.Key("pid");
      json.Int(1);
      json.Key("tid");
      json.Int(1);
      json.Key("args");
      json.StartObject();
      json.Key("debug_handle");
      json.Int(event.handle);
      json.Key("bytes");
      json.Uint64(event.bytes);
      DebugInfo info;
      if (map.find(event.handle, info)) {
        text("node", info.node);
        text("module_hierarchy", module_hierarchy(info.nn_module_stack).view());
      }
      json.EndObject();
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
    std::ofstream out(path, std::ios::binary);
    out.write(buffer.GetString(), static_cast<std::streamsize>(buffer.GetSize()));
    if (!out.flush())
      return std::unexpected(Error{.code = ErrorCode::io_error,
                                   .stage = Stage::save,
                                   .where = Name(path.string()),
                                   .what = "it cannot be written"});
    return {};
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Event {
    DebugHandle handle;
    std::string name;
    double begin;
    double duration;
    std::uint64_t bytes;
  };
  [[nodiscard]] static double microseconds(Clock::duration d) {
    return std::chrono::duration<double, std::micro>(d).count();
  }
  bool active_;
  Clock::time_point start_ = Clock::now();
  std::vector<Clock::time_point> open_;  ///< when the operators that have not ended began, innermost last
  std::vector<Event> events_;
};
static_assert(Tracer<ChromeTracer>);

}  // namespace davit::formats
