// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "davit/core/evalue.hpp"
#include "davit/core/tensor.hpp"
#include "davit/formats/case_files.hpp"
#include "davit/formats/case_tensor.hpp"
#include "davit/formats/json/json.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/recorded_value.hpp"

namespace davit::formats::detail {

/// Reads a real number, or the text of a value that JSON numbers cannot express.
[[nodiscard]] inline Result<double> real_of(const Json& json) {
  if (!json.is_string()) return json.number();
  const Result<std::string_view> text = json.string();
  if (*text == "NaN" || *text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (*text == "Infinity" || *text == "inf") return std::numeric_limits<double>::infinity();
  if (*text == "-Infinity" || *text == "-inf") return -std::numeric_limits<double>::infinity();
  return json.expected("a number");
}

/// Reads an optional tolerance, a non-negative number.
[[nodiscard]] inline Result<void> read_tolerance(const Json& json, std::string_view key, std::optional<double>& to) {
  const Result<std::optional<Json>> found = json.find(key);
  if (!found) return error_of(found);
  if (!*found) return {};
  const Result<double> value = (**found).number();
  if (!value) return error_of(value);
  if (!(*value >= 0)) return (**found).error("a tolerance is a number of 0 or more", case_fix);
  to = *value;
  return {};
}

/// Reads a number or a text into `out`.
[[nodiscard]] inline Result<void> read_case_scalar(const Json& json, std::string_view type, RecordedValue& out) {
  const Result<Json> value = json.at("value");
  if (!value) return error_of(value);
  if (type == "int") {
    const Result<std::int64_t> v = value->integer();
    if (!v) return error_of(v);
    out.tag = EValue::Tag::int_;
    out.integer = *v;
  } else if (type == "float") {
    const Result<double> v = real_of(*value);
    if (!v) return error_of(v);
    out.tag = EValue::Tag::float_;
    out.real = *v;
  } else if (type == "bool") {
    const Result<bool> v = value->boolean();
    if (!v) return error_of(v);
    out.tag = EValue::Tag::bool_;
    out.integer = *v ? 1 : 0;
  } else if (type == "str") {
    const Result<std::string_view> v = value->string();
    if (!v) return error_of(v);
    out.tag = EValue::Tag::string;
    out.text = *v;
  } else {
    return json.expected("a type: tensor, int, float, bool, str or none");
  }
  return {};
}

/// Reads a recorded input or output.
[[nodiscard]] inline Result<RecordedValue> read_case_value(const CaseFiles& files, const Json& json) {
  RecordedValue out;
  const Result<std::string_view> type = json.string("type");
  if (!type) return error_of(type);
  if (const auto name = json.find("name"); name && *name && (**name).is_string()) out.name = *(**name).string();
  if (Result<void> read = read_tolerance(json, "rtol", out.rtol); !read) return error_of(std::move(read));
  if (Result<void> read = read_tolerance(json, "atol", out.atol); !read) return error_of(std::move(read));
  const Result<std::optional<Json>> kind = json.find("kind");
  const bool is_token = kind && *kind && (**kind).string().value_or("") == "TOKEN";
  out.opaque = *type == "other" || is_token;
  if (*type == "none" || out.opaque) return out;
  if (*type == "tensor") {
    Result<Tensor> tensor = read_case_tensor(files, json);
    if (!tensor) return error_of(std::move(tensor));
    out.tag = EValue::Tag::tensor;
    out.tensor = std::move(*tensor);
    return out;
  }
  if (Result<void> read = read_case_scalar(json, *type, out); !read) return error_of(std::move(read));
  return out;
}

}  // namespace davit::formats::detail
