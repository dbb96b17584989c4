// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "davit/core/error.hpp"

namespace davit::formats {

/// Makes an error of reading a file. `where`: the member of the file, then the place in it.
[[nodiscard]] inline std::unexpected<Error> load_error(ErrorCode code, Name where, Name what, Name fix) {
  return std::unexpected(Error{
      .code = code, .stage = Stage::load, .where = std::move(where), .what = std::move(what), .fix = std::move(fix)});
}

/// Makes the error of a damaged or hostile file.
[[nodiscard]] inline std::unexpected<Error> corrupt(Name where, Name what) {
  return load_error(ErrorCode::corrupt_data, std::move(where), std::move(what),
                    "the file is damaged or not of torch.export: export the program again");
}

/// Quotes a name from a file for a message: at most 80 bytes, without control characters.
[[nodiscard]] inline std::string in_quotes(std::string_view name) {
  constexpr std::size_t longest = 80;
  std::string text = "'";
  for (const char c : name.substr(0, longest)) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text + (name.size() > longest ? "...'" : "'");
}

}  // namespace davit::formats
