// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "davit/core/scalar_type.hpp"
#include "davit/formats/json/json.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/program/graph.hpp"

namespace davit::formats {

/// Converts a scalar type number of torch.export's schema (not c10's); `undefined` if unknown.
/// Source: torch._export.serde.schema.ScalarType.
[[nodiscard]] constexpr ScalarType schema_scalar_type(std::int64_t number) noexcept {
  switch (number) {
    case 1: return ScalarType::uint8;
    case 2: return ScalarType::int8;
    case 3: return ScalarType::int16;
    case 4: return ScalarType::int32;
    case 5: return ScalarType::int64;
    case 6: return ScalarType::float16;
    case 7: return ScalarType::float32;
    case 8: return ScalarType::float64;
    case 9: return ScalarType::complex32;
    case 10: return ScalarType::complex64;
    case 11: return ScalarType::complex128;
    case 12: return ScalarType::bool_;
    case 13: return ScalarType::bfloat16;
    case 28: return ScalarType::uint16;
    case 29: return ScalarType::float8_e4m3fn;
    case 30: return ScalarType::float8_e5m2;
    case 31: return ScalarType::float8_e4m3fnuz;
    case 32: return ScalarType::float8_e5m2fnuz;
    case 33: return ScalarType::float8_e8m0fnu;
    case 34: return ScalarType::uint32;
    case 35: return ScalarType::uint64;
    default: return ScalarType::undefined;
  }
}

/// Reads a scalar type. Errors: an unknown number.
[[nodiscard]] inline Result<ScalarType> read_scalar_type(Json json) {
  const Result<std::int64_t> number = json.integer();
  if (!number) return error_of(number);
  const ScalarType type = schema_scalar_type(*number);
  if (type == ScalarType::undefined) return json.error(concat("scalar type ", *number, " is not known"));
  return type;
}

/// Reads a layout. Errors: an unknown number.
[[nodiscard]] inline Result<Layout> read_layout(Json json) {
  const Result<std::int64_t> number = json.integer();
  if (!number) return error_of(number);
  if (*number < 0 || *number > static_cast<std::int64_t>(Layout::strided))
    return json.error(concat("layout ", *number, " is not known"));
  return static_cast<Layout>(*number);
}

/// Reads a memory format. Errors: an unknown number.
[[nodiscard]] inline Result<MemoryFormat> read_memory_format(Json json) {
  const Result<std::int64_t> number = json.integer();
  if (!number) return error_of(number);
  if (*number < 0 || *number > static_cast<std::int64_t>(MemoryFormat::preserve))
    return json.error(concat("memory format ", *number, " is not known"));
  return static_cast<MemoryFormat>(*number);
}

/// Reads `{"type": "cuda", "index": 0}` in torch's notation: "cuda:0"; "cpu" without an index.
[[nodiscard]] inline Result<std::string> read_device(Json json) {
  const Result<std::string_view> type = json.string("type");
  if (!type) return error_of(type);
  const auto index = json.find("index");
  if (!index) return error_of(index);
  std::string device(*type);
  if (!*index) return device;
  const Result<std::int64_t> number = (*index)->integer();
  if (!number) return error_of(number);
  return device + ':' + std::to_string(*number);
}

}  // namespace davit::formats
