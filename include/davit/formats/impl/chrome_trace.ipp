// SPDX-License-Identifier: MIT
#pragma once

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/debug_handles.hpp"
#include "davit/backend/execute_context.hpp"
#include "davit/formats/chrome_trace.hpp"
#include "davit/formats/mapped_file.hpp"

namespace davit::formats {

std::string source_location(std::string_view stack_trace) {
  constexpr std::string_view file = "File \"";
  constexpr std::string_view line = "\", line ";
  const std::size_t frame = stack_trace.rfind(file);
  if (frame == std::string_view::npos) return {};
  const std::string_view rest = stack_trace.substr(frame + file.size());
  const std::size_t end = rest.find(line);
  if (end == std::string_view::npos || rest.find('\n') < end) return {};
  const std::string_view number = rest.substr(end + line.size());
  const std::size_t digits = std::min(number.find_first_not_of("0123456789"), number.size());
  return std::string(rest.substr(0, end)) + ":" + std::string(number.substr(0, digits));
}

void ChromeTracer::end_delegate(std::string_view tag, std::string_view backend) {
  if (!active_) return;
  while (!open_.empty() && !open_.back().delegate) open_.pop_back();
  if (!open_.empty()) close(no_debug_handle, tag, backend);
}

void ChromeTracer::clear() {
  events_.clear();
  open_.clear();
  start_ = Clock::now();
}

Result<void> ChromeTracer::write(const std::string& path, const DebugMap& map) const {
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
    text("cat", event.backend.empty() ? "operator" : "delegate");
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
    if (!event.backend.empty()) {
      text("backend", event.backend);
    } else {
      json.Key("debug_handle");
      json.Int(event.handle);
      json.Key("bytes");
      json.Uint64(event.bytes);
    }
    DebugInfo info;
    if (map.find(event.handle, info)) {
      text("node", info.node);
      text("module_hierarchy", module_hierarchy(info.nn_module_stack).view());
      if (const std::string source = source_location(info.stack_trace); !source.empty()) text("source", source);
    }
    json.EndObject();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return write_file(path, std::string_view(buffer.GetString(), buffer.GetSize()));
}

namespace detail {
[[nodiscard]] double microseconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double, std::micro>(d).count();
}
}  // namespace detail

void ChromeTracer::close(DebugHandle handle, std::string_view name, std::string_view backend) {
  const auto now = Clock::now();
  const auto begin = open_.back().begin;
  open_.pop_back();
  events_.push_back({handle, std::string(name), std::string(backend), detail::microseconds(begin - start_),
                     detail::microseconds(now - begin), 0});
}

}  // namespace davit::formats
