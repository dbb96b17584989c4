// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "davit/autotune/cost_table.hpp"
#include "davit/core/config.hpp"
#include "davit/core/error.hpp"

namespace davit::formats {

/// Version of the format of print_cost_table.
inline constexpr std::int64_t cost_table_version = 1;

/// Parses the text of print_cost_table. `name` is the text's name in errors.
///
/// Errors: corrupt_data with the place in the text; version_mismatch. O(size log size).
[[nodiscard]] Result<CostTable> parse_cost_table(std::string_view text, std::string_view name = "costs");
/// Reads a file. Errors: as parse_cost_table; io_error.
[[nodiscard]] Result<CostTable> read_cost_table(const std::string& file);

/// Prints the table as JSON, one entry per line, by key. Equal tables give equal texts. O(entries).
[[nodiscard]] std::string print_cost_table(const CostTable& table);
/// Writes a file atomically: afterwards it holds either the old or the new table. Errors: io_error.
[[nodiscard]] Result<void> write_cost_table(const CostTable& table, const std::string& file);

}  // namespace davit::formats
