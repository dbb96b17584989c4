// SPDX-License-Identifier: MIT
#pragma once

#include <rapidjson/encodedstream.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/core/limits.hpp"
#include "davit/core/real_from_chars.hpp"

namespace davit::formats {

class Json;

enum class JsonKind : std::uint8_t { null, false_, true_, integer, real, string, array, object };

/// A parsed JSON text as one table of values in text order; an object or array comes before its contents.
///
/// 16 bytes per value, plus the strings. RapidJSON's Document is not used: clang 19 rejects its version 1.1, and it
/// reads out of bounds when it converts some malformed numbers.
class JsonDocument {
 public:
  /// A value. Children of an object alternate: key, value, key, value.
  struct Node {
    JsonKind kind = JsonKind::null;
    std::uint32_t size = 0;     ///< bytes of a string, elements of an array, members of an object
    std::uint64_t payload = 0;  ///< integer, bits of a real, offset of a string, or index of the next sibling
  };

  /// Returns the text's name for errors.
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  /// Returns the root value. It views this document, which must not move.
  [[nodiscard]] Json root() const noexcept;

  [[nodiscard]] const Node& node(std::uint32_t index) const noexcept { return nodes_[index]; }
  /// Returns the index of the next sibling, after all contents of this value.
  [[nodiscard]] std::uint32_t after(std::uint32_t index) const noexcept {
    return nodes_[index].kind < JsonKind::array ? index + 1 : static_cast<std::uint32_t>(nodes_[index].payload);
  }
  /// Returns the text of a string value.
  [[nodiscard]] std::string_view string(std::uint32_t index) const noexcept {
    return std::string_view(text_).substr(static_cast<std::size_t>(nodes_[index].payload), nodes_[index].size);
  }

 private:
  friend class JsonHandler;
  std::vector<Node> nodes_;
  std::string text_;
  std::string name_;
};

/// Fills a document from the events of RapidJSON's reader.
class JsonHandler {
 public:
  using Ch = char;
  using Size = rapidjson::SizeType;

  JsonHandler(JsonDocument& document, std::string_view name, const Limits& limits)
      : document_(document), limits_(limits) {
    document_.name_ = name;
  }
  /// Returns the reason why parsing stopped, unless it was a malformed number.
  [[nodiscard]] const char* refusal() const noexcept { return refusal_; }

  bool Null() { return add(JsonKind::null); }
  bool Bool(bool b) { return add(b ? JsonKind::true_ : JsonKind::false_); }
  bool Int(int i) { return Int64(i); }
  bool Uint(unsigned i) { return Int64(i); }
  bool Int64(std::int64_t i) { return add(JsonKind::integer, static_cast<std::uint64_t>(i)); }
  bool Uint64(std::uint64_t i) { return Double(static_cast<double>(i)); }
  bool Double(double d) { return add(JsonKind::real, std::bit_cast<std::uint64_t>(d)); }
  bool Key(const char* text, Size size, bool copy) { return String(text, size, copy); }
  bool String(const char* text, Size size, bool) {
    if (!add(JsonKind::string, document_.text_.size(), size)) return false;
    document_.text_.append(text, size);
    return true;
  }
  bool RawNumber(const char* text, Size size, bool);
  bool StartObject() { return open(JsonKind::object); }
  bool StartArray() { return open(JsonKind::array); }
  bool EndObject(Size members) { return close(members); }
  bool EndArray(Size elements) { return close(elements); }

 private:
  bool add(JsonKind kind, std::uint64_t payload = 0, std::uint32_t size = 0) {
    if (document_.nodes_.size() >= limits_.max_nodes) return refuse("it has more values than Limits::max_nodes");
    document_.nodes_.push_back({kind, size, payload});
    return true;
  }
  bool refuse(const char* why) noexcept {
    refusal_ = why;
    return false;
  }
  bool open(JsonKind kind) {
    if (open_.size() >= limits_.max_depth) return refuse("it is nested deeper than Limits::max_depth");
    open_.push_back(document_.nodes_.size());
    return add(kind);
  }
  bool close(Size size) {
    JsonDocument::Node& node = document_.nodes_[open_.back()];
    open_.pop_back();
    node.size = size;
    node.payload = document_.nodes_.size();
    return true;
  }

  JsonDocument& document_;
  Limits limits_;
  const char* refusal_ = nullptr;
  std::vector<std::size_t> open_;
};

/// Handles a number, NaN or infinity. An integer outside int64 becomes the nearest real.
inline bool JsonHandler::RawNumber(const char* text, Size size, bool) {
  const std::string_view number(text, size);
  const bool negative = number.starts_with('-');
  const char first = number[negative ? 1 : 0];
  if (first == 'N') return Double(std::numeric_limits<double>::quiet_NaN());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (first == 'I') return Double(negative ? -infinity : infinity);
  std::int64_t i = 0;
  const bool whole = number.find_first_of(".eE") == number.npos;
  if (whole && std::from_chars(text, text + size, i).ec == std::errc()) return Int64(i);
  double d = 0;
  return real_from_chars(text, text + size, d).ec == std::errc() && Double(d);
}

/// Parses JSON text as Python's json module writes it: UTF-8, with bare NaN, Infinity and -Infinity as numbers.
///
/// `name` is the text's name in errors. Nesting uses no call stack. A number out of the range of double is an error.
/// O(size) time and memory.
[[nodiscard]] inline Result<JsonDocument> parse_json(std::string_view text, std::string_view name = "json",
                                                     const Limits& limits = {}) {
  const auto fail = [name](const auto&... what) {
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .stage = Stage::load,
                                 .where = Name::own(name),
                                 .what = concat(what...),
                                 .fix = "export the program again"});
  };
  constexpr std::uint64_t most = std::uint64_t{1} << 32;  // maximum of a node index
  if (text.size() > limits.max_parsed_bytes || text.size() >= most)
    return fail("the JSON text is larger than Limits::max_parsed_bytes");
  constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag |
                             rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
  JsonDocument document;
  JsonHandler handler(document, name, limits);
  rapidjson::MemoryStream memory(text.data(), text.size());
  rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> stream(memory);
  rapidjson::Reader reader;
  const rapidjson::ParseResult outcome = reader.Parse<flags>(stream, handler);
  // RapidJSON treats a NUL as the end of the text
  if (!outcome.IsError() && stream.Tell() == text.size()) return document;
  if (!outcome.IsError()) return fail("not JSON at byte ", stream.Tell(), ": a NUL, and more behind it");
  if (handler.refusal() != nullptr) return fail(handler.refusal(), ", at byte ", outcome.Offset());
  if (outcome.Code() == rapidjson::kParseErrorTermination) {
    return fail("the number at byte ", outcome.Offset(), " is out of range");
  }
  std::string_view reason = rapidjson::GetParseError_En(outcome.Code());
  if (reason.ends_with('.')) reason.remove_suffix(1);
  return fail("not JSON at byte ", outcome.Offset(), ": ", reason);
}

}  // namespace davit::formats
