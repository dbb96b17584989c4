// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "davit/core/config.hpp"

namespace davit {

/// Rows of text with a headline, for reports.
struct TextTable {
  std::vector<std::string> headline;
  std::vector<bool> numeric;  ///< per column: aligned to the right
  std::vector<std::vector<std::string>> rows;

  /// The table with aligned columns, each line indented by two; nothing without rows. O(size of the text).
  [[nodiscard]] std::string print() const;

 private:
  [[nodiscard]] std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& width) const;
};

}  // namespace davit
