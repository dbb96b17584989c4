// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "davit/core/evalue.hpp"
#include "davit/core/tensor.hpp"

namespace davit::formats {

/// A recorded input or output: a tensor, a number, a text or none.
struct RecordedValue {
  std::string name;
  EValue::Tag tag = EValue::Tag::none;
  Tensor tensor;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  bool opaque = false;         ///< a token, or of a type that cannot be recorded: not compared
  std::optional<double> rtol;  ///< tolerance of this value alone, if any
  std::optional<double> atol;

  /// Returns the value as a view of this object.
  [[nodiscard]] EValue value() const {
    switch (tag) {
      case EValue::Tag::tensor: return EValue(tensor.view());
      case EValue::Tag::int_: return EValue(integer);
      case EValue::Tag::float_: return EValue(real);
      case EValue::Tag::bool_: return EValue(integer != 0);
      case EValue::Tag::string: return EValue(std::string_view(text));
      default: return {};
    }
  }
};

}  // namespace davit::formats
