// SPDX-License-Identifier: MIT
#pragma once

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cmath>
#include <string_view>

namespace tool {

/// Writes objects of named members, and lists of such objects.
class JsonRows {
 public:
  explicit JsonRows(rapidjson::StringBuffer& buffer) : out_(buffer) {}

  template <class Members>
  void object(Members&& members) {
    out_.StartObject();
    members();
    out_.EndObject();
  }
  template <class Rows, class Members>
  void list(const char* key, const Rows& rows, Members&& members) {
    out_.Key(key);
    out_.StartArray();
    for (const auto& row : rows) object([&] { members(row); });
    out_.EndArray();
  }
  void text(const char* key, std::string_view value) {
    out_.Key(key);
    out_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }
  /// A number, or null for one that JSON has not.
  void number(const char* key, double value) {
    out_.Key(key);
    if (std::isfinite(value)) out_.Double(value);
    if (!std::isfinite(value)) out_.Null();
  }
  void flag(const char* key, bool value) {
    out_.Key(key);
    out_.Bool(value);
  }

 private:
  rapidjson::Writer<rapidjson::StringBuffer> out_;
};

}  // namespace tool
