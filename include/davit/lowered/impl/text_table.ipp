// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "davit/lowered/text_table.hpp"

namespace davit {

std::string TextTable::print() const {
  if (rows.empty()) return {};
  std::vector<std::size_t> width;
  for (const std::string& title : headline) width.push_back(title.size());
  for (const std::vector<std::string>& row : rows)
    for (std::size_t c = 0; c < row.size() && c < width.size(); ++c) width[c] = std::max(width[c], row[c].size());
  std::string out = line(headline, width);
  for (const std::vector<std::string>& row : rows) out += line(row, width);
  return out;
}

std::string TextTable::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& width) const {
  std::string out;
  for (std::size_t c = 0; c < cells.size() && c < width.size(); ++c) {
    const std::string padding(width[c] - cells[c].size(), ' ');
    out += "  " + (numeric[c] ? padding + cells[c] : cells[c] + padding);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

}  // namespace davit
