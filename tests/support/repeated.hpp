// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace support {

/// A text, repeated.
[[nodiscard]] inline std::string repeated(std::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

}  // namespace support
