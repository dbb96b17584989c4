// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "davit/formats/json/json_document.hpp"

namespace davit::formats::detail {

/// True if value `a` of one document equals value `b` of the other, including types. O(values).
[[nodiscard]] inline bool same(const JsonDocument& left, std::uint32_t a, const JsonDocument& right, std::uint32_t b) {
  const std::uint32_t count = left.after(a) - a;
  if (right.after(b) - b != count) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const JsonDocument::Node& x = left.node(a + i);
    const JsonDocument::Node& y = right.node(b + i);
    if (x.kind != y.kind || x.size != y.size) return false;
    const bool is_string = x.kind == JsonKind::string;
    if (is_string && left.string(a + i) != right.string(b + i)) return false;
    const bool is_number = x.kind == JsonKind::integer || x.kind == JsonKind::real;
    if (is_number && x.payload != y.payload) return false;
  }
  return true;
}

/// Iterates over sibling values of a document.
///
/// `Element` is constructed from a document and an index. `keys`: values between that index and the element's own
/// value, 1 for a member of an object, else 0.
template <class Element, std::uint32_t keys>
class JsonIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Element;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Element;

  JsonIterator() noexcept = default;
  JsonIterator(const JsonDocument& document, std::uint32_t index) noexcept : document_(&document), index_(index) {}

  [[nodiscard]] Element operator*() const noexcept { return Element(*document_, index_); }
  JsonIterator& operator++() noexcept {
    index_ = document_->after(index_ + keys);
    return *this;
  }
  JsonIterator operator++(int) noexcept {
    JsonIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const JsonIterator&, const JsonIterator&) = default;

 private:
  const JsonDocument* document_ = nullptr;
  std::uint32_t index_ = 0;
};

/// Appends a key of the file to a place, at most 80 bytes and without control characters.
inline void append_key(std::string& text, std::string_view key) {
  text += '.';
  for (const char c : key.substr(0, 80)) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  if (key.size() > 80) text += "...";
}

/// Returns the place of value `index`, for example `json.specs[3].arg`. Shortens long keys and deep nesting. O(values
/// before it).
[[nodiscard]] inline std::string place_of(const JsonDocument& document, std::uint32_t index) {
  constexpr std::size_t longest = 1000;
  std::string text(document.name());
  for (std::uint32_t at = 0; at != index;) {
    if (text.size() > longest) return text + "...";
    const bool is_object = document.node(at).kind == JsonKind::object;
    std::uint32_t child = at + (is_object ? 2 : 1);
    std::size_t number = 0;
    for (; document.after(child) <= index; ++number) child = document.after(child) + (is_object ? 1 : 0);
    if (is_object) {
      append_key(text, document.string(child - 1));
    } else {
      text += '[' + std::to_string(number) + ']';
    }
    at = child;
  }
  return text;
}

/// Returns the noun for a JSON kind in errors.
[[nodiscard]] inline std::string_view noun_of(JsonKind kind) noexcept {
  switch (kind) {
    case JsonKind::null: return "null";
    case JsonKind::false_: return "false";
    case JsonKind::true_: return "true";
    case JsonKind::integer: return "an integer";
    case JsonKind::real: return "a number that is no such integer";
    case JsonKind::string: return "a string";
    case JsonKind::array: return "an array";
    case JsonKind::object: return "an object";
  }
  return "?";
}

}  // namespace davit::formats::detail

namespace davit::formats {

class JsonArray;
class JsonObject;
struct JsonMember;

/// A value of a JsonDocument, with type-checked access. Errors name the place, for example
/// `json.signature.input_specs[3].parameter.arg.name`.
///
/// A pointer and an index, cheap to copy; the document must not move. The text of a place is only computed for an
/// error. A null member counts as missing. Keep the Result of array() or object() in a variable while you iterate: `for
/// (Json item : *json.array())` dangles with g++ before 15.
class Json {
 public:
  Json(const JsonDocument& document, std::uint32_t index) noexcept : document_(&document), index_(index) {}

  [[nodiscard]] JsonKind kind() const noexcept { return node().kind; }
  [[nodiscard]] bool is_null() const noexcept { return kind() == JsonKind::null; }
  [[nodiscard]] bool is_bool() const noexcept { return kind() == JsonKind::true_ || kind() == JsonKind::false_; }
  [[nodiscard]] bool is_integer() const noexcept { return kind() == JsonKind::integer; }
  [[nodiscard]] bool is_real() const noexcept { return kind() == JsonKind::real; }
  [[nodiscard]] bool is_string() const noexcept { return kind() == JsonKind::string; }
  [[nodiscard]] bool is_array() const noexcept { return kind() == JsonKind::array; }
  [[nodiscard]] bool is_object() const noexcept { return kind() == JsonKind::object; }

  /// @name Returns this value as a type.
  [[nodiscard]] Result<bool> boolean() const;
  /// Accepts a number without fraction or exponent that fits 64 bits.
  [[nodiscard]] Result<std::int64_t> integer() const;
  /// Accepts any number, and the strings "NaN", "Infinity", "-Infinity", which newer torch writes.
  [[nodiscard]] Result<double> number() const;
  /// Returns a view into the document.
  [[nodiscard]] Result<std::string_view> string() const;
  [[nodiscard]] Result<JsonArray> array() const;
  [[nodiscard]] Result<JsonObject> object() const;
  /// Returns the only member of an object with exactly one, torch's form of unions: `{"as_int": 3}`.
  [[nodiscard]] Result<JsonMember> tagged() const;

  /// @name Returns a member of this object. Errors: it is missing, null, duplicate, or of another type. O(members).
  [[nodiscard]] Result<Json> at(std::string_view key) const;
  [[nodiscard]] Result<bool> boolean(std::string_view key) const;
  [[nodiscard]] Result<std::int64_t> integer(std::string_view key) const;
  [[nodiscard]] Result<double> number(std::string_view key) const;
  [[nodiscard]] Result<std::string_view> string(std::string_view key) const;
  [[nodiscard]] Result<JsonArray> array(std::string_view key) const;
  [[nodiscard]] Result<JsonObject> object(std::string_view key) const;
  [[nodiscard]] Result<JsonMember> tagged(std::string_view key) const;

  /// Returns the member with this key; nullopt if it is missing or null. O(members).
  [[nodiscard]] Result<std::optional<Json>> find(std::string_view key) const;

  /// True if both are the same JSON, including types: 1, 1.0 and true differ, as do objects with other member order.
  /// NaN equals NaN. O(values).
  friend bool same(Json a, Json b);

  /// Makes an error at this place.
  [[nodiscard]] std::unexpected<Error> error(std::string_view what, std::string_view fix = {}) const;
  /// Makes the error "expected ..., found ..." at this place.
  [[nodiscard]] std::unexpected<Error> expected(std::string_view what) const;
  /// Returns this place as text, with long keys and deep nesting shortened. O(values before this one).
  [[nodiscard]] std::string place() const;

 private:
  friend class JsonArray;
  friend class JsonObject;

  [[nodiscard]] const JsonDocument::Node& node() const noexcept { return document_->node(index_); }
  [[nodiscard]] std::unexpected<Error> key_error(std::string_view key, std::string_view what) const;

  const JsonDocument* document_;
  std::uint32_t index_;
};

/// A member of an object: key (a view into the document) and value.
struct JsonMember {
  JsonMember(const JsonDocument& document, std::uint32_t index) noexcept
      : key(document.string(index)), value(document, index + 1) {}

  std::string_view key;
  Json value;
};

/// The elements of an array, in order, as a range of Json.
class JsonArray {
 public:
  using Iterator = detail::JsonIterator<Json, 0>;

  explicit JsonArray(Json array) noexcept : array_(array) {}
  [[nodiscard]] std::size_t size() const noexcept { return array_.node().size; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] Iterator begin() const noexcept { return {*array_.document_, array_.index_ + 1}; }
  [[nodiscard]] Iterator end() const noexcept { return {*array_.document_, array_.document_->after(array_.index_)}; }

 private:
  Json array_;
};

/// The members of an object, in text order, as a range of JsonMember. Keys may repeat in a malformed file.
class JsonObject {
 public:
  using Iterator = detail::JsonIterator<JsonMember, 1>;

  explicit JsonObject(Json object) noexcept : object_(object) {}
  [[nodiscard]] std::size_t size() const noexcept { return object_.node().size; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] Iterator begin() const noexcept { return {*object_.document_, object_.index_ + 1}; }
  [[nodiscard]] Iterator end() const noexcept { return {*object_.document_, object_.document_->after(object_.index_)}; }

 private:
  Json object_;
};

inline Json JsonDocument::root() const noexcept { return {*this, 0}; }

inline Result<bool> Json::boolean() const {
  if (!is_bool()) return expected("true or false");
  return kind() == JsonKind::true_;
}

inline Result<std::int64_t> Json::integer() const {
  if (!is_integer()) return expected("an integer of 64 bits");
  return static_cast<std::int64_t>(node().payload);
}

inline Result<double> Json::number() const {
  if (is_real()) return std::bit_cast<double>(node().payload);
  if (is_integer()) return static_cast<double>(static_cast<std::int64_t>(node().payload));
  const std::string_view text = is_string() ? document_->string(index_) : std::string_view();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return expected("a number");
}

inline Result<std::string_view> Json::string() const {
  if (!is_string()) return expected("a string");
  return document_->string(index_);
}

inline Result<JsonArray> Json::array() const {
  if (!is_array()) return expected("an array");
  return JsonArray(*this);
}

inline Result<JsonObject> Json::object() const {
  if (!is_object()) return expected("an object");
  return JsonObject(*this);
}

inline Result<JsonMember> Json::tagged() const {
  if (!is_object()) return expected("an object with one key");
  if (node().size != 1) return error(concat("expected an object with exactly one key, found ", node().size));
  return *JsonObject(*this).begin();
}

inline Result<std::optional<Json>> Json::find(std::string_view key) const {
  if (!is_object()) return expected("an object");
  std::optional<Json> found;
  for (const JsonMember member : JsonObject(*this)) {
    if (member.key != key) continue;
    if (found) return key_error(key, "the key is there twice");
    found = member.value;
  }
  if (found && found->is_null()) found.reset();
  return found;
}

inline Result<Json> Json::at(std::string_view key) const {
  const Result<std::optional<Json>> found = find(key);
  if (!found) return error_of(found);
  if (!*found) return key_error(key, "the key is missing");
  return **found;
}

inline bool same(Json a, Json b) { return detail::same(*a.document_, a.index_, *b.document_, b.index_); }

namespace detail {

/// Reads a member of an object with a typed getter of Json.
template <class T>
Result<T> read_member(Json object, std::string_view key, Result<T> (Json::*read)() const) {
  const Result<Json> found = object.at(key);
  if (!found) return error_of(found);
  return ((*found).*read)();
}

}  // namespace detail

inline Result<bool> Json::boolean(std::string_view key) const {
  return detail::read_member<bool>(*this, key, &Json::boolean);
}
inline Result<std::int64_t> Json::integer(std::string_view key) const {
  return detail::read_member<std::int64_t>(*this, key, &Json::integer);
}
inline Result<double> Json::number(std::string_view key) const {
  return detail::read_member<double>(*this, key, &Json::number);
}
inline Result<std::string_view> Json::string(std::string_view key) const {
  return detail::read_member<std::string_view>(*this, key, &Json::string);
}
inline Result<JsonArray> Json::array(std::string_view key) const {
  return detail::read_member<JsonArray>(*this, key, &Json::array);
}
inline Result<JsonObject> Json::object(std::string_view key) const {
  return detail::read_member<JsonObject>(*this, key, &Json::object);
}
inline Result<JsonMember> Json::tagged(std::string_view key) const {
  return detail::read_member<JsonMember>(*this, key, &Json::tagged);
}

inline std::unexpected<Error> Json::error(std::string_view what, std::string_view fix) const {
  if (fix.empty()) fix = "the file is damaged or not of torch.export: export the program again";
  return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                               .stage = Stage::load,
                               .where = place(),
                               .what = Name::own(what),
                               .fix = Name::own(fix)});
}

inline std::unexpected<Error> Json::expected(std::string_view what) const {
  return error(concat("expected ", what, ", found ", detail::noun_of(kind())));
}

inline std::unexpected<Error> Json::key_error(std::string_view key, std::string_view what) const {
  std::unexpected<Error> made = error(what);
  std::string where(made.error().where.view());
  detail::append_key(where, key);
  made.error().where = Name::own(where);
  return made;
}

inline std::string Json::place() const { return detail::place_of(*document_, index_); }

}  // namespace davit::formats
