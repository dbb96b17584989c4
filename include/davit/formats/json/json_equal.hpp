// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

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

}  // namespace davit::formats::detail
