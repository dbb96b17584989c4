// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "davit/autotune/cost_table.hpp"
#include "davit/core/config.hpp"
#include "davit/core/error.hpp"

namespace davit::formats {

/// The version of the texts that print_cost_table writes.
inline constexpr std::int64_t cost_table_version = 1;

/// Reads what print_cost_table wrote; `name` is what errors call the text.
///
/// Errors: corrupt_data with the place in the text; version_mismatch. O(size log size).
[[nodiscard]] Result<CostTable> parse_cost_table(std::string_view text, std::string_view name = "costs");
/// Reads a file. Errors: io_error also.
[[nodiscard]] Result<CostTable> read_cost_table(const std::string& file);

/// The table as JSON, an entry a line, by key: equal tables give equal texts. O(entries).
[[nodiscard]] std::string print_cost_table(const CostTable& table);
/// Writes a file, at once: it holds the old table or the new one. Errors: io_error.
[[nodiscard]] Result<void> write_cost_table(const CostTable& table, const std::string& file);

}  // namespace davit::formats
