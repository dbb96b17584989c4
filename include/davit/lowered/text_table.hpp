// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "davit/core/config.hpp"

namespace davit {

/// A text table with column titles, for reports.
struct TextTable {
  std::vector<std::string> headline;
  std::vector<bool> numeric;  ///< per column: right-aligned
  std::vector<std::vector<std::string>> rows;

  /// Prints the table with aligned columns, indented by two spaces; empty if there are no rows. O(size of the text).
  [[nodiscard]] std::string print() const;

 private:
  [[nodiscard]] std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& width) const;
};

}  // namespace davit
